// SPDX-License-Identifier: Apache-2.0
/*
 * Derive the states of one thread from its records.
 *
 * A wake-up may come before the end of the slice after which the thread sleeps: the thread was
 * switching out. If the thread runs again without another wake-up, and no records were lost in
 * between, that early wake-up counts, and the thread was runnable from the end of the slice on.
 */
#include <errno.h>
#include <string.h>

#include "analyze/lane_track.h"

bool state_is_off_cpu(uint64_t state)
{
	return state && state < STATE_COUNT && state != STATE_RUNNING && state != STATE_IDLE &&
	       state != STATE_OFFLINE;
}

bool state_is_asleep(uint64_t state)
{
	return state_is_off_cpu(state) && state != STATE_RUNNABLE && state != STATE_PREEMPTED &&
	       state != STATE_UNKNOWN;
}

static bool state_is_runnable(uint8_t state)
{
	return state == STATE_RUNNABLE || state == STATE_PREEMPTED;
}

void lane_track_init(struct lane_track *t, uint64_t lane)
{
	memset(t, 0, sizeof(*t));
	t->lane = lane;
	t->count = 1;
}

/* Remove a track from tracks.known; the last item of that list takes its place. */
void lane_track_remove_known(struct lane_tracks *s, struct lane_track *t)
{
	uint32_t at = t->known - 1, moved;

	if (!t->known)
		return;
	moved = s->known.items[--s->known.count];
	s->known.items[at] = moved;
	s->list.items[moved].known = at + 1;
	t->known = 0;
}

int lane_track_update_known(struct lane_tracks *s, struct lane_track *t, struct error *err)
{
	uint8_t state = lane_track_last(t)->state;
	bool known = state != STATE_NONE && state != STATE_UNKNOWN;

	t->alive = true;
	if (known == !!t->known)
		return 0;
	if (!known) {
		lane_track_remove_known(s, t);
		return 0;
	}
	if (vector_push(&s->known, (uint32_t)(t - s->list.items)) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	t->known = (uint32_t)s->known.count;
	return 0;
}

uint64_t lane_tracks_settled(const struct lane_tracks *s)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < s->cpus.count; i++) {
		uint64_t time = s->list.items[s->cpus.items[i]].marks[0].time;

		if (time < least)
			least = time;
	}
	return least;
}

/* Report the stretch of a mark until the next one. */
static int report_lane_mark(struct lane_tracks *s, struct lane_track *t, const struct lane_mark *m,
			    const struct lane_mark *next, struct error *err)
{
	struct stretch x = {
		.time = m->time,
		.end = next->time,
		.lane = t->lane,
		.kind = t->kind,
		.thread = t->thread,
		.state = m->state,
		.wait = m->wait,
		.whole = m->exact && next->exact,
	};

	if (m->state == STATE_UNKNOWN) /* After a gap, the CPU of the thread is not known either. */
		t->cpu = 0;
	if (m->state == STATE_NONE || m->time >= next->time)
		return 0;
	x.cpu = m->state == STATE_RUNNING ? 0 : t->cpu;
	if (m->state == STATE_RUNNABLE) {
		x.waker = m->waker;
		x.target = m->target;
	}
	return s->events.stretch(s->events.context, &x, err);
}

/* Remove marks [from, to). If the base is among them, the caller must insert a new one. */
static void remove_lane_marks(struct lane_track *t, unsigned int from, unsigned int to)
{
	memmove(&t->marks[from], &t->marks[to], (t->count - to) * sizeof(t->marks[0]));
	t->count -= to - from;
}

/*
 * Return the index of the mark whose state holds at a time: the last mark that is not later, or the
 * base if all are later.
 */
static unsigned int lane_mark_at(const struct lane_track *t, uint64_t time)
{
	unsigned int i = 0;

	while (i + 1 < t->count && t->marks[i + 1].time <= time)
		i++;
	return i;
}

/*
 * Make the mark whose state holds at time the base; call this when the states before time have been
 * reported.
 */
static void settle_base(struct lane_track *t, uint64_t time)
{
	unsigned int held = lane_mark_at(t, time);

	if (held) {
		t->marks[0] = t->marks[held];
		remove_lane_marks(t, 1, held + 1);
		t->early = false;
	}
	if (t->marks[0].state != STATE_NONE && t->marks[0].time < time) {
		t->marks[0].time = time;
		t->marks[0].exact = false;
	}
}

/* Report the marks until next, where another state begins. */
static int report_lane_marks_until(struct lane_tracks *s, struct lane_track *t,
				   const struct lane_mark *next, struct error *err)
{
	unsigned int held = lane_mark_at(t, next->time);
	int ret = 0;

	for (unsigned int i = 0; i < held && !ret; i++)
		ret = report_lane_mark(s, t, &t->marks[i], &t->marks[i + 1], err);
	return ret < 0 ? ret : report_lane_mark(s, t, &t->marks[held], next, err);
}

/*
 * If the base has an early wake-up, and no other mark (wake-up or gap) came before the thread got a
 * CPU at the time ran, the early wake-up has made the thread runnable.
 */
static void apply_early_wakeup(struct lane_track *t, uint64_t ran)
{
	if (!t->early || lane_mark_at(t, ran))
		return;
	t->marks[0].state = STATE_RUNNABLE;
	t->marks[0].wait = WAIT_NONE;
}

/*
 * Set the base after a slice: the state that the thread took on when it left the CPU, or UNKNOWN.
 * Marks after the slice stay.
 */
static void lane_track_leave_cpu(struct lane_tracks *s, struct lane_track *t,
				 const struct slice *slice)
{
	struct lane_mark base = {.time = slice->end, .state = STATE_UNKNOWN};
	unsigned int later = 1;
	bool known = slice->left && slice->left != STATE_UNKNOWN && slice->end >= s->gap;

	if (known) {
		base.state = (uint8_t)slice->left;
		base.wait = state_is_asleep(base.state) ? (uint8_t)slice->wait : WAIT_NONE;
		base.exact = true;
	}
	t->early = state_is_asleep(base.state) && t->woken > slice->time && t->woken <= slice->end;
	if (t->early) {
		base.waker = t->waker;
		base.target = t->target;
	}
	/*
	 * Remove marks before the end of the slice, and also at its end if the slice gives the new
	 * state, which is more reliable than a state observed at that time.
	 */
	while (later < t->count &&
	       (t->marks[later].time < slice->end || (known && t->marks[later].time == slice->end)))
		later++;
	remove_lane_marks(t, 1, later);
	t->marks[0] = base;
	t->woken = 0;
}

int lane_track_run(struct lane_tracks *s, struct lane_track *t, const struct lane_run *run,
		   struct error *err)
{
	const struct slice *slice = &run->slice;
	uint64_t reported = t->marks[0].time;
	struct lane_mark begin = {.time = run->from, .exact = run->begun};
	struct stretch x = {
		.end = slice->end, .lane = t->lane, .kind = t->kind, .state = STATE_RUNNING};
	int ret;

	if (begin.time < reported) {
		s->disorder += reported != s->cut;
		begin = (struct lane_mark){.time = reported};
	}
	if (begin.time > slice->end)
		return 0;
	apply_early_wakeup(t, begin.time);
	ret = report_lane_marks_until(s, t, &begin, err);
	if (ret < 0)
		return ret;
	t->cpu = run->cpu;
	t->thread = slice->value;
	x.time = begin.time;
	x.thread = t->thread;
	x.cpu = t->cpu;
	x.whole = begin.exact && slice->left && slice->left != STATE_UNKNOWN;
	if (x.time < x.end)
		ret = s->events.stretch(s->events.context, &x, err);
	lane_track_leave_cpu(s, t, slice);
	return ret < 0 ? ret : lane_track_update_known(s, t, err);
}

/*
 * Extend the first gap after the base over the mark that follows, or, if there is no gap, turn the
 * last two marks into one. This makes room for at least one mark.
 */
static void widen_first_gap(struct lane_track *t)
{
	unsigned int gap = 1;

	while (gap + 2 < t->count && t->marks[gap].state != STATE_UNKNOWN)
		gap++;
	t->marks[gap] = (struct lane_mark){.time = t->marks[gap].time, .state = STATE_UNKNOWN};
	if (gap + 2 < t->count && t->marks[gap + 2].state == STATE_UNKNOWN)
		remove_lane_marks(t, gap + 1, gap + 3);
	else
		remove_lane_marks(t, gap + 1, gap + 2);
}

/*
 * Make room for one more mark. If the first mark after the base lies before every slice that is
 * still to come, that mark is certain: the state until then is reported, and the mark becomes the
 * base. Otherwise a mark is dropped and its time becomes UNKNOWN, which loses nothing if a slice
 * turns out to cover that time.
 */
static int make_room_for_mark(struct lane_tracks *s, struct lane_track *t, struct error *err)
{
	uint64_t settled, first = t->marks[1].time;
	int ret;

	if (t->count < LANE_TRACK_MARKS)
		return 0;
	settled = lane_tracks_settled(s);
	if (settled >= first) {
		ret = report_lane_marks_until(s, t, &t->marks[1], err);
		settle_base(t, first);
		return ret;
	}
	widen_first_gap(t);
	return 0;
}

int lane_track_mark(struct lane_tracks *s, struct lane_track *t, const struct lane_mark *m,
		    struct error *err)
{
	struct lane_mark new = *m;
	int ret;

	if (new.time < lane_track_last(t)->time) {
		s->disorder += t->count > 1 || lane_track_last(t)->time != s->cut;
		new.time = lane_track_last(t)->time;
		new.exact = false;
	}
	if (new.time < s->gap)
		new = (struct lane_mark){.time = new.time, .state = STATE_UNKNOWN};
	if (new.state != lane_track_last(t)->state) {
		ret = make_room_for_mark(s, t, err);
		if (ret < 0)
			return ret;
		t->marks[t->count++] = new;
	}
	return lane_track_update_known(s, t, err);
}

int lane_track_wake(struct lane_tracks *s, struct lane_track *t, const struct edge *edge,
		    struct error *err)
{
	const struct lane_mark m = {
		.time = edge->time,
		.waker = edge->from,
		.target = edge->value > UINT32_MAX ? 0 : (uint32_t)edge->value,
		.state = STATE_RUNNABLE,
		.exact = true,
	};
	uint8_t state = lane_track_last(t)->state;

	t->woken = m.time;
	t->waker = m.waker;
	t->target = m.target;
	if (state_is_runnable(state) || state == STATE_RUNNING)
		return 0;
	return lane_track_mark(s, t, &m, err);
}

/*
 * Usually the gap begins at the present time and becomes the last mark. A gap that is discovered
 * late removes the marks within it.
 */
int lane_track_gap(struct lane_tracks *s, struct lane_track *t, uint64_t time, uint64_t end,
		   struct error *err)
{
	struct lane_mark unknown = {.time = time, .state = STATE_UNKNOWN};
	unsigned int from = 0, to;
	int ret;

	ret = make_room_for_mark(s, t, err);
	if (ret < 0)
		return ret;
	while (from < t->count && t->marks[from].time < time)
		from++;
	if (!from && t->marks[0].state == STATE_NONE)
		from = 1;
	for (to = from; to < t->count && t->marks[to].time < end;)
		to++;
	if (!from || t->marks[from - 1].state == STATE_NONE) {
		if (from == to)
			return 0;
		unknown.time = t->marks[from].time;
	}
	t->early = t->early && from;
	remove_lane_marks(t, from, to);
	if (!from || t->marks[from - 1].state != STATE_UNKNOWN) {
		memmove(&t->marks[from + 1], &t->marks[from],
			(t->count - from) * sizeof(t->marks[0]));
		t->marks[from] = unknown;
		t->count++;
	}
	return lane_track_update_known(s, t, err);
}

/*
 * Return since when the thread may have been running, before the given time, in a slice that has
 * not come yet; the given time if it cannot have been.
 */
static uint64_t uncertain_since(const struct lane_track *t, uint64_t time, uint64_t settled)
{
	for (unsigned int i = 0; i < t->count && t->marks[i].time < time; i++) {
		uint64_t from = t->marks[i].time > settled ? t->marks[i].time : settled;
		uint64_t end = i + 1 < t->count ? t->marks[i + 1].time : time;

		if (state_is_runnable(t->marks[i].state) || (!i && t->early))
			if (from < (end < time ? end : time))
				return from;
	}
	return time;
}

int lane_track_cut(struct lane_tracks *s, struct lane_track *t, uint64_t time, uint64_t settled,
		   struct error *err)
{
	struct lane_mark unknown = {.state = STATE_UNKNOWN};
	int ret;

	if (t->marks[0].time >= time)
		return 0;
	unknown.time = uncertain_since(t, time, settled);
	ret = report_lane_marks_until(s, t, &unknown, err);
	settle_base(t, unknown.time);
	if (ret < 0 || unknown.time >= time)
		return ret;
	ret = report_lane_mark(s, t, &unknown, &(struct lane_mark){.time = time}, err);
	settle_base(t, time);
	return ret;
}
