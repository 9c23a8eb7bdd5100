// SPDX-License-Identifier: Apache-2.0
/*
 * What HotSpot's probes report: what its VM thread does while all others stand still, and what its
 * other threads do beside the program. The events of one thread nest, so each lane is a stack.
 */
#include "capture/clock.h"
#include "capture/runtime_meanings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Begin of the names of memory pools that are not part of the heap. */
static const char *const other_pools[] = {"Code", "Metaspace", "Compressed Class Space"};

/* The cause of a JVM that does not collect. */
#define NO_CAUSE "No GC"

static bool is_heap_pool(const struct pool_usage *pool)
{
	for (size_t i = 0; i < sizeof(other_pools) / sizeof(other_pools[0]); i++)
		if (!strncmp(pool->name, other_pools[i], strlen(other_pools[i])))
			return false;
	return true;
}

/* Begin a span of the VM thread; takes args. */
static int begin_of_vm(struct runtime_lanes *p, const struct probe_event *e, struct open_span s,
		       struct error *err)
{
	int ret = runtime_vm_lane(p, e->process, err);

	p->vm_thread = e->thread->tid;
	s.time = e->time;
	s.origin = runtime_origin(e);
	if (ret) {
		free(s.name);
		free(s.args);
		return ret;
	}
	return track_begin(p->events, &p->vm, &s, err);
}

/*
 * End the innermost span of a kind (with a key, if it is not 0) of the VM thread. *begin: when it
 * began, ns; 0: that is not known.
 */
static int end_of_vm(struct runtime_lanes *p, const struct probe_event *e, enum span_kind kind,
		     uint64_t key, struct error *err)
{
	size_t found = track_find(p->events, &p->vm, kind, key);

	p->vm_thread = e->thread->tid;
	if (found)
		return track_end(p->events, &p->vm, found - 1, e->time, err);
	track_unpaired(p->events, &p->vm, e, kind, true);
	return 0;
}

/* Drop an open span of a kind that cannot nest, with all inside of it: its end is missing. */
static void drop_stale(struct runtime_lanes *p, enum span_kind kind, uint64_t time)
{
	size_t found = track_find(p->events, &p->vm, kind, 0);

	if (found)
		track_drop(p->events, &p->vm, found - 1, time);
}

/* Put a part of a safepoint. */
static int put_vm_part(struct runtime_lanes *p, enum span_kind kind, uint64_t begin, uint64_t end,
		       struct error *err)
{
	const struct open_span s = {.time = begin, .kind = kind, .origin = ORIGIN_NOTE};

	return runtime_put_span(p->events, p->vm.lane, &s, end, err);
}

static int begin_safepoint(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	size_t open = p->vm.open.count;

	drop_stale(p, SPAN_SAFEPOINT, e->time);
	/* The VM thread begins a safepoint only outside of everything else. */
	if (open && p->vm.epoch == p->events->epoch)
		track_drop(p->events, &p->vm, 0, e->time);
	p->operation_end = 0;
	p->reached = false;
	return begin_of_vm(p, e, (struct open_span){.kind = SPAN_SAFEPOINT}, err);
}

static int end_safepoint(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	size_t found = track_find(p->events, &p->vm, SPAN_SAFEPOINT, 0);
	uint64_t left = p->operation_end;
	int ret = 0;

	if (found && left)
		ret = put_vm_part(p, SPAN_LEAVING, left, e->time, err);
	p->operation_end = 0;
	p->reached = false;
	return ret ? ret : end_of_vm(p, e, SPAN_SAFEPOINT, 0, err);
}

static const char *thread_name(const struct thread_entry *t)
{
	return t->runtime_name ? t->runtime_name : t->name.comm;
}

static void request_operation(struct runtime_lanes *p, const struct probe_event *e)
{
	struct operation_request *q = &p->requests[p->next_request++ % RUNTIME_REQUESTS];

	q->key = runtime_key(e->texts[0]);
	q->tid = e->thread->tid;
	snprintf(q->thread, sizeof(q->thread), "%s", thread_name(e->thread));
}

/* Return the oldest request for an operation, NULL if there is none. */
static struct operation_request *find_request(struct runtime_lanes *p, uint64_t key)
{
	for (uint32_t i = 0; i < RUNTIME_REQUESTS; i++) {
		struct operation_request *q =
			&p->requests[(p->next_request + i) % RUNTIME_REQUESTS];

		if (q->key == key)
			return q;
	}
	return NULL;
}

/* Return the arguments of an operation: who requested it; NULL if that is not known. */
static char *operation_args(struct runtime_lanes *p, uint64_t key)
{
	struct operation_request *q = find_request(p, key);
	struct json *j;

	if (!q)
		return NULL;
	q->key = 0;
	j = runtime_args_begin(p->events);
	json_key_text(j, "requested_by", q->thread);
	json_key_uint(j, "tid", q->tid);
	return runtime_args_end(p->events);
}

/* The first operation of a safepoint ends the time in which it is reached, and is its purpose. */
static int reach_safepoint(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	size_t found = track_find(p->events, &p->vm, SPAN_SAFEPOINT, 0);
	struct open_span *s;
	struct json *j;

	if (!found || p->reached)
		return 0;
	p->reached = true;
	s = &p->vm.open.items[found - 1];
	j = runtime_args_begin(p->events);
	json_key_text(j, "operation", e->texts[0]);
	s->args = runtime_args_end(p->events);
	return put_vm_part(p, SPAN_REACHING, s->time, e->time, err);
}

static int begin_operation(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	uint64_t key = runtime_key(e->texts[0]);
	int ret = reach_safepoint(p, e, err);

	if (ret)
		return ret;
	return begin_of_vm(p, e,
			   (struct open_span){.kind = SPAN_OPERATION,
					      .key = key,
					      .name = runtime_text(e->texts[0]),
					      .args = operation_args(p, key)},
			   err);
}

static int end_operation(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	uint64_t key = e->texts[0][0] ? runtime_key(e->texts[0]) : 0;

	if (track_find(p->events, &p->vm, SPAN_SAFEPOINT, 0))
		p->operation_end = e->time;
	return end_of_vm(p, e, SPAN_OPERATION, key, err);
}

static int begin_stop(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	struct json *j;
	char *args = NULL;

	drop_stale(p, SPAN_GC_STOP, e->time);
	if (e->argument_count) {
		j = runtime_args_begin(p->events);
		json_key(j, "full");
		json_bool(j, e->arguments[0] & 1);
		args = runtime_args_end(p->events);
	}
	return begin_of_vm(p, e, (struct open_span){.kind = SPAN_GC_STOP, .args = args}, err);
}

/* Return the time of the JVM's own clock that a timer is passed as an argument; 0: none. */
static int64_t jvm_clock(const struct probe_event *e, unsigned int argument)
{
	return argument < e->argument_count && e->arguments[argument] < INT64_MAX
		       ? (int64_t)e->arguments[argument]
		       : 0;
}

/*
 * Return what to add to the JVM's clock for a pause or phase. The probes come later than the stamps
 * that they pass, by some us, or more if the JVM first writes its log or is preempted: the least
 * difference so far is the offset of the clocks. A jump of more than a second (suspend) is no
 * delay.
 */
static int64_t jvm_clock_offset(struct runtime_lanes *p, const struct open_span *s,
				const struct probe_event *e, int64_t end)
{
	int64_t first = (int64_t)s->time - s->number, last = (int64_t)e->time - end;
	int64_t least = first < last ? first : last;

	if (!p->clock || p->clock > least || least - p->clock > (int64_t)NSEC_PER_SEC)
		p->clock = least;
	return p->clock;
}

/*
 * End a pause or phase at the times that the JVM itself took for its log, if they are plausible:
 * inside of the span around it, after those in it, and not after the probes.
 */
static int end_timed(struct runtime_lanes *p, struct track *t, const struct probe_event *e,
		     size_t position, struct error *err)
{
	struct open_span *s = &t->open.items[position];
	uint64_t outer = position ? s[-1].time : 0, end = e->time, begin;
	int64_t stop = jvm_clock(e, 1), offset;

	if (s->number && stop >= s->number) {
		offset = jvm_clock_offset(p, s, e, stop);
		begin = (uint64_t)(s->number + offset);
		end = (uint64_t)(stop + offset);
		if (begin <= s->time && s->time - begin < NSEC_PER_SEC)
			s->time = begin > outer ? begin : outer;
		if (end < s->time || end > e->time || e->time - end > NSEC_PER_SEC)
			end = e->time;
		if (end < t->last_end)
			end = t->last_end < e->time ? t->last_end : e->time;
	}
	return track_end(p->events, t, position, end, err);
}

/*
 * Remember a span for the comparison with what the JVM counts, by the times of its probes: the JVM
 * counts a pause between them. Without memory for it, the comparison reports one too few.
 */
static void remember(struct runtime_lanes *p, const struct probe_event *e, enum span_kind kind,
		     uint64_t manager)
{
	const struct counted_span s = {e->time, e->time, manager, kind};

	if (p->counted.count < RUNTIME_COUNTED)
		(void)vector_push(&p->counted, s);
}

static void remember_pause_end(struct runtime_lanes *p, uint64_t time)
{
	if (p->pausing)
		p->counted.items[p->pausing - 1].end = time;
	p->pausing = 0;
}

static void remember_pause(struct runtime_lanes *p, const struct probe_event *e)
{
	const size_t before = p->counted.count;

	remember_pause_end(p, e->time);
	remember(p, e, SPAN_PAUSE, 0);
	if (p->counted.count == before)
		return;
	p->pausing = p->counted.count;
	p->counted.items[before].end = UINT64_MAX;
}

static int begin_pause(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	remember_pause(p, e);
	drop_stale(p, SPAN_PAUSE, e->time);
	return begin_of_vm(p, e,
			   (struct open_span){.kind = SPAN_PAUSE,
					      .number = jvm_clock(e, 2),
					      .name = runtime_text(e->texts[0])},
			   err);
}

static int end_pause(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	size_t found = track_find(p->events, &p->vm, SPAN_PAUSE, 0);

	remember_pause_end(p, e->time);
	p->vm_thread = e->thread->tid;
	if (found)
		return end_timed(p, &p->vm, e, found - 1, err);
	track_unpaired(p->events, &p->vm, e, SPAN_PAUSE, true);
	return 0;
}

/* Find the open collection of a manager. Return its position + 1 in *of; 0: none. */
static size_t find_collection(struct runtime_lanes *p, uint64_t key, struct track **of)
{
	size_t found = track_find(p->events, &p->vm, SPAN_COLLECTION, key);

	*of = &p->vm;
	for (int i = 0; !found && p->concurrent && i < RUNTIME_CONCURRENT; i++) {
		*of = &p->concurrent[i].track;
		found = track_find(p->events, *of, SPAN_COLLECTION, key);
	}
	return found;
}

static struct pool_usage *find_pool(struct collection *c, const char *name)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (!strcmp(c->pools[i].name, name))
			return &c->pools[i];
	return NULL;
}

/* Add a pool and what it has, as the note reports: initial, used, committed, greatest, bytes. */
static struct pool_usage *add_pool(struct collection *c, const struct probe_event *e)
{
	struct pool_usage *pool;

	if (c->count == RUNTIME_POOLS)
		return NULL;
	pool = &c->pools[c->count++];
	snprintf(pool->name, sizeof(pool->name), "%s", e->texts[1]);
	pool->before = e->arguments[5];
	return pool;
}

static struct thread_cause *find_cause(struct runtime_lanes *p, uint32_t tid)
{
	for (int i = 0; i < RUNTIME_CAUSES; i++)
		if (p->causes[i].tid == tid)
			return &p->causes[i];
	return NULL;
}

/*
 * Keep the cause for which a thread collects. The JVM sets its counter sun.gc.cause before it
 * collects, and to "No GC" afterwards.
 */
static void set_cause(struct runtime_lanes *p, const struct probe_event *e)
{
	struct thread_cause *c = find_cause(p, e->thread->tid);

	if (!c)
		c = &p->causes[p->next_cause++ % RUNTIME_CAUSES];
	c->tid = e->thread->tid;
	snprintf(c->text, sizeof(c->text), "%s", strcmp(e->texts[0], NO_CAUSE) ? e->texts[0] : "");
}

/* Begin a collection with its first pool. */
static int begin_collection(struct runtime_lanes *p, const struct probe_event *e, uint64_t key,
			    struct error *err)
{
	struct open_span s = {
		.time = e->time,
		.key = key,
		.kind = SPAN_COLLECTION,
		.origin = runtime_origin(e),
	};
	struct track *t = NULL;
	int ret;

	if (e->thread->tid == p->vm_thread) {
		t = &p->vm;
		ret = runtime_vm_lane(p, e->process, err);
	} else {
		ret = runtime_concurrent_of(p, e, true, &t, err);
	}
	if (ret)
		return ret;
	if (!t) {
		runtime_count_unpaired(p->events, e->time, e->time);
		return 0;
	}
	s.collection = calloc(1, sizeof(*s.collection));
	if (!s.collection)
		return error_errno(err, -ENOMEM, "collections");
	if (find_cause(p, e->thread->tid))
		memcpy(s.collection->cause, find_cause(p, e->thread->tid)->text,
		       sizeof(s.collection->cause));
	s.collection->begun = 1;
	add_pool(s.collection, e);
	s.name = runtime_text(e->texts[0]);
	remember(p, e, SPAN_COLLECTION, key);
	return track_begin(p->events, t, &s, err);
}

/* Handle the begin for one pool. */
static int begin_pool(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	uint64_t key = runtime_key(e->texts[0]);
	struct track *t;
	size_t found = find_collection(p, key, &t);
	struct collection *c = found ? t->open.items[found - 1].collection : NULL;

	/* it goes on, but the ends of its pools are missing */
	if (c && (c->ended || find_pool(c, e->texts[1]))) {
		track_drop(p->events, t, found - 1, e->time);
		c = NULL;
	}
	if (!c)
		return begin_collection(p, e, key, err);
	c->begun++;
	add_pool(c, e);
	return 0;
}

static void write_pools(struct json *j, const struct collection *c)
{
	json_key(j, "pools");
	json_array(j);
	for (uint32_t i = 0; i < c->count; i++) {
		const struct pool_usage *pool = &c->pools[i];

		/* Code and metadata hardly ever change in a collection. */
		if (!pool->ended || (!is_heap_pool(pool) && pool->before == pool->after))
			continue;
		json_object(j);
		json_key_text(j, "name", pool->name);
		json_key_uint(j, "used_before", pool->before);
		json_key_uint(j, "used_after", pool->after);
		json_key_uint(j, "committed", pool->committed);
		json_object_end(j);
	}
	json_array_end(j);
}

static char *collection_args(struct runtime_events *r, const struct collection *c)
{
	struct json *j = runtime_args_begin(r);

	if (c->cause[0])
		json_key_text(j, "cause", c->cause);
	write_pools(j, c);
	return runtime_args_end(r);
}

static uint64_t heap_used(const struct collection *c, bool after)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->count; i++)
		if (is_heap_pool(&c->pools[i]))
			sum += after ? c->pools[i].after : c->pools[i].before;
	return sum;
}

/*
 * While all threads stand still, the heap has what it had at the begin until its use falls at the
 * end.
 */
static int count_heap(struct runtime_lanes *p, const struct probe_event *e, const struct track *t,
		      const struct collection *c, struct error *err)
{
	bool last = c->ended == c->begun;

	if (!last && (c->ended > 1 || t != &p->vm))
		return 0;
	return runtime_events_count(
		p->events, e->process, e->time,
		&(struct runtime_quantity){"heap used", (int64_t)heap_used(c, last)}, err);
}

/* Handle the end for one pool: that of the last one ends the collection. */
static int end_pool(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	struct track *t;
	size_t found = find_collection(p, runtime_key(e->texts[0]), &t);
	struct collection *c = found ? t->open.items[found - 1].collection : NULL;
	struct pool_usage *pool = c ? find_pool(c, e->texts[1]) : NULL;
	int ret;

	if (!c) {
		track_unpaired(p->events, &p->vm, e, SPAN_COLLECTION, true);
		return 0;
	}
	if (pool) {
		pool->after = e->arguments[5];
		pool->committed = e->arguments[6];
		pool->ended = true;
	}
	c->ended++;
	ret = count_heap(p, e, t, c, err);
	if (ret || c->ended < c->begun)
		return ret;
	t->open.items[found - 1].args = collection_args(p->events, c);
	return track_end(p->events, t, found - 1, e->time, err);
}

static int begin_phase(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	struct open_span s = {
		.time = e->time,
		.kind = SPAN_PHASE,
		.origin = runtime_origin(e),
	};
	struct track *t;
	int ret = runtime_concurrent_of(p, e, true, &t, err);

	if (ret)
		return ret;
	if (!t) {
		runtime_count_unpaired(p->events, e->time, e->time);
		return 0;
	}
	remember(p, e, SPAN_PHASE, 0);
	s.number = jvm_clock(e, 2);
	s.name = runtime_text(e->texts[0]);
	return track_begin(p->events, t, &s, err);
}

/* The end of a phase has no name: phases of one thread nest. */
static int end_phase(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	struct track *t;
	size_t found;
	int ret = runtime_concurrent_of(p, e, false, &t, err);

	found = !ret && t ? track_find(p->events, t, SPAN_PHASE, 0) : 0;
	if (found)
		return end_timed(p, t, e, found - 1, err);
	if (!ret)
		track_unpaired(p->events, &p->vm, e, SPAN_PHASE, true);
	return ret;
}

int runtime_hotspot_probe(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	switch (e->row->meaning) {
	case PROBE_SAFEPOINT_BEGIN:
		return begin_safepoint(p, e, err);
	case PROBE_SAFEPOINT_END:
		return end_safepoint(p, e, err);
	case PROBE_OPERATION_REQUEST:
		request_operation(p, e);
		return 0;
	case PROBE_OPERATION_BEGIN:
		return begin_operation(p, e, err);
	case PROBE_OPERATION_END:
		return end_operation(p, e, err);
	case PROBE_STOP_BEGIN:
		return begin_stop(p, e, err);
	case PROBE_STOP_END:
		return end_of_vm(p, e, SPAN_GC_STOP, 0, err);
	case PROBE_COLLECTION_BEGIN:
		return begin_pool(p, e, err);
	case PROBE_COLLECTION_END:
		return end_pool(p, e, err);
	case PROBE_CAUSE:
		set_cause(p, e);
		return 0;
	case PROBE_PAUSE_BEGIN:
		return begin_pause(p, e, err);
	case PROBE_PAUSE_END:
		return end_pause(p, e, err);
	case PROBE_PHASE_BEGIN:
		return begin_phase(p, e, err);
	case PROBE_PHASE_END:
		return end_phase(p, e, err);
	default:
		return 0;
	}
}
