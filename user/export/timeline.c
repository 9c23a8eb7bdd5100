// SPDX-License-Identifier: Apache-2.0
/*
 * Convert records to the activity of CPUs and threads. A profile without sums keeps the entities.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups.h"
#include "export/timeline.h"

/*
 * A CPU whose last tile ends at most this many ns before the recording has no hole at the end: time
 * stamps of slices are rounded down (to 64 ns), the end of the recording is not.
 */
#define ROUNDING_NS 1000

#define CONCURRENCY_NAME(NAME, text) text,
const char *const concurrency_names[CONCURRENCY_COUNT] = {CONCURRENCIES(CONCURRENCY_NAME)};
#undef CONCURRENCY_NAME

static int timeline_error(struct timeline *t, int ret, struct error *err)
{
	return ret < 0 ? error_errno(err, ret, "cannot write %s", t->ops->what) : 0;
}

static int keep_profile(void *context, const struct profile *p, struct error *err)
{
	struct timeline *t = context;

	(void)err;
	t->profile = p;
	return 0;
}

struct timeline_lane *timeline_lane(const struct timeline *t, uint64_t id)
{
	uint32_t at = index_get(&t->lane_of, id);

	return at == INDEX_NONE ? NULL : &t->lanes.items[at];
}

struct timeline_lane *timeline_cpu(const struct timeline *t, uint64_t number)
{
	uint32_t at = index_get(&t->cpu_of, number);

	return at == INDEX_NONE ? NULL : &t->lanes.items[at];
}

/*
 * Return the number that is added to the pids of the host of a process. Readers identify processes
 * by pid only, but processes of two hosts may have the same pid.
 */
static uint64_t host_first_number(const struct timeline *t, uint32_t process)
{
	const struct host *h =
		process == PROFILE_NONE
			? NULL
			: profile_host_of(t->profile, &t->profile->processes[process].p);

	return h ? (uint64_t)(h - t->profile->hosts) * TIMELINE_HOST_NUMBERS : 0;
}

uint64_t timeline_pid(const struct timeline *t, uint32_t process)
{
	return process == PROFILE_NONE
		       ? 0
		       : host_first_number(t, process) + t->profile->processes[process].p.pid;
}

struct timeline_identity timeline_identity(const struct timeline *t, uint32_t thread)
{
	const struct profile_thread *of = &t->profile->threads[thread];
	return (struct timeline_identity){
		.pid = timeline_pid(t, of->process),
		.tid = host_first_number(t, of->process) + of->t.tid,
		.comm = thread_display_name(&of->t),
	};
}

struct timeline_owner timeline_owner_of(const struct timeline *t, uint64_t lane)
{
	struct lane_owner owner = lane_owners_find(&t->spans.owners, lane);
	struct timeline_owner found = {PROFILE_NONE, PROFILE_NONE};
	const struct timeline_lane *l = timeline_lane(t, lane);

	if (owner.process)
		found.process = index_get(&t->process_of, owner.process);
	if (owner.thread)
		found.thread = l && l->thread != PROFILE_NONE
				       ? l->thread
				       : index_get(&t->thread_of, owner.thread);
	return found;
}

static int timeline_put_lane(struct timeline *t, const struct lane *r)
{
	struct timeline_lane l = {.lane = *r, .thread = PROFILE_NONE};

	if (t->begun || !r->id || index_get(&t->lane_of, r->id) != INDEX_NONE)
		return 0;
	l.lane.name = NULL;
	if (vector_push(&t->lanes, l) < 0)
		return -ENOMEM;
	if (r->kind == LANE_CPU && index_put(&t->cpu_of, r->number, (uint32_t)t->lanes.count - 1))
		return -ENOMEM;
	return index_put(&t->lane_of, r->id, (uint32_t)t->lanes.count - 1);
}

static int timeline_index_threads(struct timeline *t)
{
	for (uint32_t i = 0; i < t->profile->count.threads; i++) {
		const struct thread *r = &t->profile->threads[i].t;
		struct timeline_lane *l = timeline_lane(t, r->lane);

		if (l && l->lane.kind == LANE_THREAD &&
		    (l->thread == PROFILE_NONE || t->profile->threads[l->thread].t.id < r->id))
			l->thread = i;
		if (index_put(&t->thread_of, r->id, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int timeline_index_processes(struct timeline *t)
{
	int ret = 0;

	for (uint32_t i = 0; i < t->profile->count.processes && !ret; i++)
		ret = index_put(&t->process_of, t->profile->processes[i].p.id, i);
	return ret;
}

/* Called at the first sample, slice or edge, or at the end, when all entities are known. */
static int timeline_begin(struct timeline *t, struct error *err)
{
	int ret = t->entities->ops->finish(t->entities, err);

	if (ret < 0)
		return ret;
	t->begun = true;
	ret = timeline_index_threads(t);
	if (!ret)
		ret = timeline_index_processes(t);
	for (uint32_t i = 0; i < t->profile->count.events && !ret; i++)
		ret = index_put(&t->event_of, t->profile->events[i].id,
				profile_event_like(t->profile, i));
	t->from += t->profile->host.start;
	t->to = t->to ? t->to + t->profile->host.start : UINT64_MAX;
	for (int i = 0; i < CONCURRENCY_COUNT; i++)
		t->concurrencies[i].start = t->from;
	if (!ret)
		ret = t->ops->begin(t);
	return timeline_error(t, ret, err);
}

static int timeline_put_tile(struct timeline *t, struct timeline_lane *cpu, const struct tile *tile)
{
	enum concurrencies counted =
		tile->state == STATE_RUNNING ? CONCURRENCY_RUNNING : CONCURRENCY_UNKNOWN;
	bool counts = tile->state == STATE_RUNNING || tile->state == STATE_UNKNOWN;
	struct tile part = *tile;

	cpu->last = *tile;
	if (tile->end > t->end)
		t->end = tile->end;
	if (part.time > t->to || (t->cut && part.end < t->from))
		return 0;
	if (t->cut && part.time < t->from)
		part.time = t->from;
	if (part.end > t->to) {
		part.end = t->to;
		part.next_state = STATE_NONE;
	}
	if (counts && concurrency_add(&t->concurrencies[counted], part.time, part.end) < 0)
		return -ENOMEM;
	return t->ops->tile(t, cpu, &part);
}

/* Add a tile of unknown state from the end of a CPU's last tile up to a time. */
static int timeline_put_hole(struct timeline *t, struct timeline_lane *cpu, uint64_t until)
{
	const struct tile hole = {.time = cpu->last.end,
				  .end = until,
				  .cpu = cpu->lane.number,
				  .state = STATE_UNKNOWN,
				  .thread = PROFILE_NONE};

	return cpu->last.end && cpu->last.end < until ? timeline_put_tile(t, cpu, &hole) : 0;
}

static int timeline_put_cpu_slice(struct timeline *t, struct timeline_lane *cpu,
				  const struct slice *s)
{
	struct tile tile = {.time = s->time,
			    .end = s->end,
			    .cpu = cpu->lane.number,
			    .state = (enum slice_state)s->state,
			    .thread = PROFILE_NONE,
			    .next_state = s->left < STATE_COUNT ? s->left : 0};
	struct timeline_lane *lane = NULL;
	int ret;

	t->slices++;
	if (s->state != STATE_RUNNING && s->state != STATE_IDLE && s->state != STATE_UNKNOWN &&
	    s->state != STATE_OFFLINE)
		return 0;
	if (tile.time < cpu->last.end)
		tile.time = cpu->last.end;
	if (tile.time > tile.end || (tile.time == tile.end && s->state != STATE_RUNNING))
		return 0;
	if (s->state == STATE_RUNNING)
		tile.thread = index_get(&t->thread_of, s->value);
	ret = timeline_put_hole(t, cpu, tile.time);
	if (!ret)
		ret = timeline_put_tile(t, cpu, &tile);
	if (tile.thread != PROFILE_NONE)
		lane = timeline_lane(t, t->profile->threads[tile.thread].t.lane);
	if (lane)
		lane->last = tile;
	return ret;
}

static int timeline_put_slice(struct timeline *t, const struct slice *s, struct error *err)
{
	/* Report earlier states of the thread before lane->last becomes this slice. */
	int ret = states_put(t->states, KIND_SLICE, s, err);
	struct timeline_lane *lane = timeline_lane(t, s->lane);

	if (ret < 0 || !lane || lane->lane.kind != LANE_CPU)
		return ret;
	return timeline_error(t, timeline_put_cpu_slice(t, lane, s), err);
}

static int on_stretch(void *context, const struct stretch *s, struct error *err)
{
	struct timeline *t = context;
	struct timeline_lane *lane = timeline_lane(t, s->lane);
	struct stretch part = *s;
	int ret = 0;

	if (!lane || lane->lane.kind != LANE_THREAD || lane->thread == PROFILE_NONE ||
	    s->time >= t->to || (t->cut && s->end <= t->from))
		return 0;
	if (t->cut && part.time < t->from) {
		part.time = t->from;
		part.waker = 0;
	}
	if (part.end > t->to)
		part.end = t->to;
	if (s->state == STATE_RUNNABLE || s->state == STATE_PREEMPTED)
		ret = concurrency_add(&t->concurrencies[CONCURRENCY_RUNNABLE], part.time, part.end);
	if (!ret)
		ret = t->ops->stretch(t, lane, &part);
	return timeline_error(t, ret, err);
}

/* Handle a sample, slice, edge, span or counter; all entities come before the first of these. */
static int timeline_put_record(struct timeline *t, enum record_kind kind, const void *record,
			       struct error *err)
{
	int ret = t->begun ? 0 : timeline_begin(t, err);

	if (ret < 0)
		return ret;
	if (kind == KIND_SLICE)
		return timeline_put_slice(t, record, err);
	if (kind == KIND_EDGE)
		return states_put(t->states, kind, record, err);
	if (kind == KIND_SPAN || kind == KIND_COUNTER)
		return timeline_error(t, shown_spans_put(&t->spans, kind, record), err);
	return timeline_error(t, t->ops->sample(t, record), err);
}

static int timeline_put(struct sink *s, enum record_kind kind, const void *record,
			struct error *err)
{
	struct timeline *t = (struct timeline *)s;
	int ret = 0;

	if (kind == KIND_SAMPLE || kind == KIND_SLICE || kind == KIND_EDGE || kind == KIND_SPAN ||
	    kind == KIND_COUNTER)
		return timeline_put_record(t, kind, record, err);
	if (kind == KIND_LOSS)
		return timeline_error(t, vector_push(&t->losses, *(const struct loss *)record),
				      err);
	if (t->ops->spans && (kind == KIND_LANE || kind == KIND_THREAD || kind == KIND_NAME))
		ret = timeline_error(t, shown_spans_put(&t->spans, kind, record), err);
	if (!ret && kind == KIND_LANE)
		ret = timeline_error(t, timeline_put_lane(t, record), err);
	if (!ret && (kind == KIND_LANE || kind == KIND_THREAD) && !t->ops->no_lanes)
		ret = states_put(t->states, kind, record, err);
	return ret || t->begun ? ret : sink_put(t->entities, kind, record, err);
}

static int by_loss_time(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	return x->time != y->time ? (x->time < y->time ? -1 : 1)
				  : (x->id > y->id) - (x->id < y->id);
}

/* Keep the losses within the requested range, in the order of time. */
static void sort_losses(struct timeline *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->losses.count; i++) {
		struct loss *l = &t->losses.items[i];

		if (l->time > t->to || l->end < t->from)
			continue;
		if (l->time < t->from)
			l->time = t->from;
		t->losses.items[kept++] = *l;
	}
	t->losses.count = kept;
	if (kept)
		qsort(t->losses.items, kept, sizeof(struct loss), by_loss_time);
}

/* What had not ended did so at the latest when its process did. */
static void end_open_spans(struct timeline *t)
{
	for (size_t i = 0; i < t->spans.list.count; i++) {
		struct shown_span *s = &t->spans.list.items[i];
		uint32_t process = s->open ? timeline_owner_of(t, s->lane).process : PROFILE_NONE;

		if (process != PROFILE_NONE)
			s->end = t->profile->processes[process].p.end;
	}
}

static int timeline_finish(struct sink *s, struct error *err)
{
	struct timeline *t = (struct timeline *)s;
	int ret = t->begun ? 0 : timeline_begin(t, err);

	if (ret < 0)
		return ret;
	if (!t->slices && t->ops->no_samples && !t->spans.list.count)
		return error_set(err, -ENODATA,
				 "the trace has no records of the scheduler, so there "
				 "is no timeline: record with -e sched");
	if (t->profile->host.end > t->end)
		t->end = t->profile->host.end;
	for (size_t i = 0; i < t->lanes.count && !ret && !t->ops->no_lanes; i++)
		if (t->lanes.items[i].lane.kind == LANE_CPU &&
		    t->end - t->lanes.items[i].last.end > ROUNDING_NS)
			ret = timeline_error(t, timeline_put_hole(t, &t->lanes.items[i], t->end),
					     err);
	if (!ret)
		ret = states_end(t->states, t->end, err);
	if (ret < 0)
		return ret;
	if (t->end > t->to)
		t->end = t->to;
	sort_losses(t);
	end_open_spans(t);
	ret = timeline_error(t, shown_spans_sort(&t->spans, t->cut ? t->from : 0, t->end), err);
	return ret < 0 ? ret : timeline_error(t, t->ops->end(t), err);
}

static void timeline_free(struct sink *s)
{
	struct timeline *t = (struct timeline *)s;

	if (t->ops->free)
		t->ops->free(t);
	states_free(t->states);
	sink_free(t->entities);
	vector_free(&t->lanes);
	vector_free(&t->losses);
	index_free(&t->lane_of);
	index_free(&t->cpu_of);
	index_free(&t->thread_of);
	index_free(&t->event_of);
	index_free(&t->process_of);
	shown_spans_free(&t->spans);
	for (int i = 0; i < CONCURRENCY_COUNT; i++)
		concurrency_free(&t->concurrencies[i]);
	free(t);
}

static const struct sink_ops timeline_sink_ops = {
	.put = timeline_put,
	.finish = timeline_finish,
	.free = timeline_free,
};

int timeline_new(struct timeline **out, size_t size, const struct timeline_ops *ops,
		 const struct export_options *o, struct error *err)
{
	struct timeline *t = calloc(1, size);
	const struct states_events events = {.stretch = on_stretch, .context = t};
	int ret = t ? states_new(&t->states, &events, err)
		    : error_errno(err, -ENOMEM, "cannot write %s", ops->what);

	if (ret < 0)
		goto out;
	ret = profile_sink(&t->entities, &o->view, keep_profile, t, err);
	if (ret < 0) {
		states_free(t->states);
		goto out;
	}
	t->ops = ops;
	t->from = o->from;
	t->to = o->to;
	t->cut = o->from;
	t->sink.ops = &timeline_sink_ops;
	t->sink.wants = WANTS(WANT_ENTITIES);
	if (!ops->no_lanes)
		t->sink.wants |= WANT(SLICE) | WANT(EDGE);
	if (ops->spans)
		t->sink.wants |= WANT(SPAN) | WANT(COUNTER);
	if (!ops->no_samples)
		t->sink.wants |= WANT(SAMPLE);
	*out = t;
	return 0;
out:
	free(t);
	return ret;
}
