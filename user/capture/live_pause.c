// SPDX-License-Identifier: Apache-2.0
/*
 * Lets a live capture begin later than its command, and pause. In a pause no CPU is sampled and no
 * switch is recorded, so that no sample is due; processes are still followed. CPU lanes show the
 * time as unknown, and a span says why.
 */
#include "capture/live.h"

#define NAME_OF_PAUSES "not recorded"

bool live_wants_pause(const struct live *l)
{
	return l->options.when.wants_pause && l->options.when.wants_pause(l->options.context);
}

void live_note_cue(struct live *l, bool starts, uint64_t time)
{
	struct live_pause *p = &l->times.pause;

	if (time < p->cue)
		return;
	p->cue = time;
	p->starts = starts;
}

void live_pass_cue(struct live *l)
{
	struct live_pause *p = &l->times.pause;

	if (p->cue && l->options.when.cue)
		l->options.when.cue(l->options.context, p->starts);
	p->cue = 0;
}

static void pause_recording(struct live *l)
{
	live_stop_cpus(l);
	live_follow_hits(l, false);
	l->times.pause.since = clock_boot_ns();
	l->times.pause.closed = false;
}

/* Close the slices when all records before the pause have been handled. */
static int close_slices(struct live *l, struct error *err)
{
	if (l->times.pause.closed || l->rings.mark < l->times.pause.since)
		return 0;
	l->times.pause.closed = true;
	return l->switches.schedule ? schedule_end(l->switches.schedule, l->times.pause.since, err)
				    : 0;
}

/* Emit the lane of pauses with the first of them. */
static int put_lane_of_pauses(struct live *l, struct error *err)
{
	const struct lane lane = {.id = l->switches.last_lane + 1,
				  .host = HOST_ID,
				  .kind = LANE_RUNTIME,
				  .name = "recording"};
	int ret;

	if (l->times.pause.lane)
		return 0;
	ret = put_lane(l->sink, &lane, err);
	if (!ret)
		l->times.pause.lane = l->switches.last_lane = lane.id;
	return ret;
}

/* Each pause has a name of its own, since the sink may have forgotten that of the one before. */
int live_end_pause(struct live *l, uint64_t now, struct error *err)
{
	const struct name name = {.id = l->probes.last_name + 1, .text = NAME_OF_PAUSES};
	struct span span = {
		.time = l->times.pause.since,
		.end = now,
		.kind = SPAN_NOT_RECORDED,
		.name = name.id,
	};
	int ret;

	if (!l->times.pause.since)
		return 0;
	ret = put_lane_of_pauses(l, err);
	if (!ret)
		ret = put_name(l->sink, &name, err);
	if (ret)
		return ret;
	l->probes.last_name = name.id;
	span.lane = l->times.pause.lane;
	l->times.pause.total += now - l->times.pause.since;
	l->times.pause.since = 0;
	return put_span(l->sink, &span, err);
}

static int resume(struct live *l, struct error *err)
{
	uint64_t now = clock_boot_ns();
	int ret = live_end_pause(l, now, err);

	if (!ret && l->switches.array)
		ret = switches_forget_waits(l->switches.array, err);
	if (!ret && l->switches.schedule)
		ret = schedule_resume(l->switches.schedule, now, err);
	l->switches.begun = false;
	l->times.resumed = now;
	live_follow_hits(l, true);
	if (!ret)
		ret = live_follow_cpus(l, err);
	return !ret && l->switches.array ? live_snapshot_threads(l, err) : ret;
}

int live_follow_pause(struct live *l, struct error *err)
{
	bool wanted;
	int ret = 0;

	live_pass_cue(l);
	wanted = live_wants_pause(l);
	if (wanted && !l->times.pause.since)
		pause_recording(l);
	if (l->times.pause.since)
		ret = close_slices(l, err);
	if (!ret && !wanted && l->times.pause.since && l->times.pause.closed)
		ret = resume(l, err);
	l->progress.paused = l->times.pause.since;
	return ret;
}
