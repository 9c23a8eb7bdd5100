// SPDX-License-Identifier: Apache-2.0
/*
 * Find lanes and threads by their ids, and the tracks that a record concerns. The states themselves
 * are derived in lane_track.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/index.h"
#include "analyze/lane_track.h"
#include "analyze/states.h"

#define NO_NAME UINT32_MAX
#define NAMES_BEFORE_PRUNING 8
#define RESOLUTION_MAX 64 /* stamps of slices are rounded down by less than this many ns */

/* One thread.id of a lane. */
struct lane_name {
	uint64_t thread;
	uint32_t next; /* index in states.names of an older thread.id of the lane, or NO_NAME */
};

/* A lane of LANE_STATES_SLICES: there may be many, so they have no tracks. */
struct sliced_lane {
	uint64_t end; /* of its last slice, ns */
	enum lane_kind kind;
};

struct states {
	struct lane_tracks tracks;
	struct index lanes, threads; /* id -> index in tracks.list */
	VECTOR(struct sliced_lane) sliced;
	struct index sliced_by_id; /* lane.id -> index in sliced */
	VECTOR(uint32_t) free; /* indexes of unused items of tracks.list */
	VECTOR(struct lane_name) names;
	uint32_t free_names;
	uint64_t last_lane; /* highest lane id put; unknown lanes below have been forgotten */
	/* the latest time (ns) up to which the states of a forgotten thread were reported */
	uint64_t forgotten_until;
};

static int states_no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

int states_new(struct states **out, const struct states_events *events, struct error *err)
{
	struct states *s = calloc(1, sizeof(*s));

	if (!s)
		return states_no_memory(err);
	s->tracks.events = *events;
	s->free_names = NO_NAME;
	*out = s;
	return 0;
}

void states_free(struct states *s)
{
	if (!s)
		return;
	vector_free(&s->tracks.list);
	vector_free(&s->tracks.cpus);
	vector_free(&s->tracks.known);
	vector_free(&s->free);
	vector_free(&s->names);
	vector_free(&s->sliced);
	index_free(&s->sliced_by_id);
	index_free(&s->lanes);
	index_free(&s->threads);
	free(s);
}

static struct lane_track *find_lane_track(struct states *s, const struct index *x, uint64_t id)
{
	uint32_t at = index_get(x, id);

	return at == INDEX_NONE ? NULL : &s->tracks.list.items[at];
}

/* Forget the names of t from *link on, to the end of the list. */
static void forget_lane_names(struct states *s, struct lane_track *t, uint32_t *link)
{
	uint32_t at = *link;

	*link = NO_NAME;
	while (at != NO_NAME) {
		struct lane_name *n = &s->names.items[at];
		uint32_t next = n->next;

		index_remove(&s->threads, n->thread);
		n->next = s->free_names;
		s->free_names = at;
		t->name_count--;
		at = next;
	}
}

/* Forget a dead thread. Later records that refer to its lane or its names are ignored. */
static int forget_thread(struct states *s, struct lane_track *t, struct error *err)
{
	if (vector_push(&s->free, (uint32_t)(t - s->tracks.list.items)) < 0)
		return states_no_memory(err);
	if (s->forgotten_until < t->marks[0].time)
		s->forgotten_until = t->marks[0].time;
	forget_lane_names(s, t, &t->names);
	lane_track_remove_known(&s->tracks, t);
	index_remove(&s->lanes, t->lane);
	lane_track_init(t, 0);
	return 0;
}

static int add_lane_track(struct states *s, uint64_t lane, struct lane_track **out,
			  struct error *err)
{
	uint32_t at = (uint32_t)s->tracks.list.count;

	if (s->free.count)
		at = s->free.items[s->free.count - 1];
	else if (at == UINT32_MAX || vector_reserve(&s->tracks.list, 1) < 0)
		return states_no_memory(err);
	if (index_put(&s->lanes, lane, at) < 0)
		return states_no_memory(err);
	if (s->free.count)
		s->free.count--;
	else
		s->tracks.list.count++;
	*out = &s->tracks.list.items[at];
	lane_track_init(*out, lane);
	(*out)->names = NO_NAME;
	(*out)->prune_at = NAMES_BEFORE_PRUNING;
	return 0;
}

/* Forget the names that are older than the current one, since no later record uses these. */
static void prune_lane_names(struct states *s, struct lane_track *t)
{
	uint32_t at = t->names;

	while (at != NO_NAME && s->names.items[at].thread != t->thread)
		at = s->names.items[at].next;
	if (at != NO_NAME)
		forget_lane_names(s, t, &s->names.items[at].next);
	t->prune_at = 2 * t->name_count;
	if (t->prune_at < NAMES_BEFORE_PRUNING)
		t->prune_at = NAMES_BEFORE_PRUNING;
}

static int add_lane_name(struct states *s, struct lane_track *t, uint64_t thread, struct error *err)
{
	uint32_t at = s->free_names, lane = (uint32_t)(t - s->tracks.list.items);
	struct lane_name *n;

	if (at == NO_NAME) {
		at = (uint32_t)s->names.count;
		if (at == NO_NAME || vector_reserve(&s->names, 1) < 0)
			return states_no_memory(err);
		s->names.items[s->names.count++].next = NO_NAME;
		s->free_names = at;
	}
	if (index_put(&s->threads, thread, lane) < 0)
		return states_no_memory(err);
	n = &s->names.items[at];
	s->free_names = n->next;
	*n = (struct lane_name){.thread = thread, .next = t->names};
	t->names = at;
	if (!t->thread)
		t->thread = thread;
	if (++t->name_count >= t->prune_at)
		prune_lane_names(s, t);
	return 0;
}

static bool is_sliced_lane(const struct states *s, uint64_t lane)
{
	return index_get(&s->sliced_by_id, lane) != INDEX_NONE;
}

static int states_put_thread(struct states *s, const struct thread *r, struct error *err)
{
	struct lane_track *t, *named;
	int ret = 0;

	if (!r->lane || !r->id)
		return 0;
	t = find_lane_track(s, &s->lanes, r->lane);
	if (!t && r->lane <= s->last_lane) { /* the thread is dead and forgotten */
		s->tracks.disorder += is_sliced_lane(s, r->lane);
		return 0;
	}
	if (!t)
		ret = add_lane_track(s, r->lane, &t, err);
	if (ret < 0)
		return ret;
	named = find_lane_track(s, &s->threads, r->id);
	if ((named && named != t) || (t->kind && t->kind != LANE_THREAD)) {
		s->tracks.disorder++;
		return 0;
	}
	if (r->id >= t->newest) {
		t->newest = r->id;
		t->dies = r->end;
	}
	return named ? 0 : add_lane_name(s, t, r->id, err);
}

static int add_sliced_lane(struct states *s, const struct lane *r, bool again, struct error *err)
{
	/* a lane that is put again may have been a thread's, whose states were reported */
	const struct sliced_lane l = {.kind = (enum lane_kind)r->kind,
				      .end = again ? s->forgotten_until : 0};
	uint32_t at = index_get(&s->sliced_by_id, r->id);

	if (at != INDEX_NONE) {
		s->tracks.disorder += s->sliced.items[at].kind != r->kind;
		return 0;
	}
	if (s->sliced.count >= UINT32_MAX - 1 || vector_push(&s->sliced, l) < 0 ||
	    index_put(&s->sliced_by_id, r->id, (uint32_t)s->sliced.count - 1) < 0)
		return states_no_memory(err);
	return 0;
}

static int states_put_lane(struct states *s, const struct lane *r, struct error *err)
{
	struct lane_track *t = find_lane_track(s, &s->lanes, r->id);
	bool again = r->id <= s->last_lane;
	int ret = 0;

	if (!again)
		s->last_lane = r->id;
	if (t && t->kind) {
		s->tracks.disorder += t->kind != r->kind;
		return 0;
	}
	if (r->id && !t &&
	    (lane_traits(r->kind)->states == LANE_STATES_SLICES || is_sliced_lane(s, r->id)))
		return add_sliced_lane(s, r, again, err);
	if (!r->id || !lane_kind_has_cells(r->kind) || (t && r->kind == LANE_CPU)) {
		s->tracks.disorder += !r->id || t;
		return 0;
	}
	if (!t)
		ret = add_lane_track(s, r->id, &t, err);
	if (!ret &&
	    again) /* A forgotten thread; its states until forgotten_until have been reported. */
		t->marks[0].time = s->forgotten_until;
	if (!ret && r->kind == LANE_CPU)
		ret = vector_push(&s->tracks.cpus, (uint32_t)(t - s->tracks.list.items));
	else if (!ret && r->number && !find_lane_track(s, &s->threads, r->number))
		ret = add_lane_name(s, t, r->number, err);
	if (ret < 0)
		return states_no_memory(err);
	t->kind = (uint8_t)r->kind;
	if (r->kind == LANE_CPU)
		t->cpu = r->number + 1;
	return 0;
}

/*
 * Mark the time [time, end), in which records of a CPU are missing, as a gap: the state of every
 * thread that does not run on another CPU is unknown.
 */
static int gap_known_tracks(struct states *s, uint64_t time, uint64_t end, struct error *err)
{
	size_t i = 0;

	while (i < s->tracks.known.count) {
		uint32_t at = s->tracks.known.items[i];
		int ret = lane_track_gap(&s->tracks, &s->tracks.list.items[at], time, end, err);

		if (ret < 0)
			return ret;
		i += i < s->tracks.known.count && s->tracks.known.items[i] == at;
	}
	return 0;
}

/*
 * Report a hole between two slices of a CPU as UNKNOWN. Undamaged slices leave no holes, so a hole
 * is handled like lost records.
 */
static int fill_cpu_hole(struct states *s, struct lane_track *t, uint64_t time, struct error *err)
{
	const struct stretch x = {
		.time = t->marks[0].time,
		.end = time,
		.lane = t->lane,
		.kind = LANE_CPU,
		.state = STATE_UNKNOWN,
	};
	int ret;

	if (!t->alive || time <= x.time)
		return 0;
	ret = s->tracks.events.stretch(s->tracks.events.context, &x, err);
	t->marks[0].state = STATE_UNKNOWN;
	return ret < 0 ? ret : gap_known_tracks(s, x.time, time, err);
}

static int states_run_thread(struct states *s, struct lane_run *run, struct error *err)
{
	struct slice *r = &run->slice;
	struct lane_track *t = r->value ? find_lane_track(s, &s->threads, r->value) : NULL;
	int ret;

	if (!t || t->kind != LANE_THREAD)
		return 0;
	if (r->left && !state_is_off_cpu(r->left)) {
		/*
		 * A thread that keeps running at the end of its slice has got a new name; its next
		 * slice follows at once.
		 */
		s->tracks.disorder += r->left != STATE_RUNNING;
		r->left = 0;
	}
	if (r->wait >= WAIT_COUNT) {
		s->tracks.disorder++;
		r->wait = WAIT_OTHER;
	}
	ret = lane_track_run(&s->tracks, t, run, err);
	return ret < 0 || r->left != STATE_DEAD ? ret : forget_thread(s, t, err);
}

static int states_put_cpu_slice(struct states *s, struct lane_track *t, const struct slice *r,
				struct error *err)
{
	struct stretch x = {.time = r->time, .end = r->end, .lane = t->lane, .kind = LANE_CPU};
	bool runs = r->state == STATE_RUNNING;
	int ret;

	if ((!runs && r->state != STATE_IDLE && r->state != STATE_OFFLINE &&
	     r->state != STATE_UNKNOWN) ||
	    r->end < r->time) {
		s->tracks.disorder++;
		return 0;
	}
	ret = fill_cpu_hole(s, t, r->time, err);
	if (ret < 0)
		return ret;
	if (x.time < t->marks[0].time) {
		s->tracks.disorder++;
		x.time = t->marks[0].time;
	}
	if (x.time > x.end)
		return 0;
	x.state = (enum slice_state)r->state;
	x.thread = runs ? r->value : 0;
	x.whole = t->alive && t->marks[0].state != STATE_UNKNOWN && x.time == r->time &&
		  r->state != STATE_UNKNOWN;
	t->alive = true;
	t->marks[0] = (struct lane_mark){.time = x.end, .state = (uint8_t)r->state};
	if (runs)
		ret = states_run_thread(s, &(struct lane_run){*r, x.time, t->cpu, x.whole}, err);
	x.whole = x.whole && (!runs || r->left || !r->value);
	if (!ret && x.time < x.end)
		ret = s->tracks.events.stretch(s->tracks.events.context, &x, err);
	if (ret < 0 || r->state != STATE_UNKNOWN || r->value)
		/*
		 * UNKNOWN with a value is a switch that the kernel did not report. This is no gap
		 * for all threads: the threads concerned have slices on their own lanes.
		 */
		return ret;
	if (s->tracks.gap < x.end)
		s->tracks.gap = x.end;
	return gap_known_tracks(s, x.time, x.end, err);
}

/* Put a gap of one thread: its state from r->value to r->time is not known. */
static int states_put_uncertain(struct states *s, struct lane_track *t, const struct slice *r,
				struct error *err)
{
	const struct lane_mark m = {.time = r->value, .state = STATE_UNKNOWN};

	if (lane_track_last(t)->state == STATE_NONE)
		return lane_track_mark(&s->tracks, t, &m, err);
	return lane_track_gap(&s->tracks, t, r->value, r->time, err);
}

static int states_put_observed(struct states *s, struct lane_track *t, const struct slice *r,
			       struct error *err)
{
	const struct lane_mark m = {
		.time = r->time,
		.state = (uint8_t)r->state,
		.wait = r->wait < WAIT_COUNT ? (uint8_t)r->wait : WAIT_OTHER,
	};
	uint8_t last = lane_track_last(t)->state;
	int ret;

	s->tracks.disorder += r->wait >= WAIT_COUNT || r->end;
	if (r->value && r->value < r->time) {
		ret = states_put_uncertain(s, t, r, err);
		if (ret < 0 || r->state == STATE_UNKNOWN)
			return ret;
		last = STATE_UNKNOWN;
	}
	if (r->state != STATE_RUNNING && !state_is_off_cpu(r->state)) {
		s->tracks.disorder++;
		return 0;
	}
	if (r->state == STATE_DEAD) {
		ret = lane_track_cut(&s->tracks, t, r->time, UINT64_MAX, err);
		return ret < 0 ? ret : forget_thread(s, t, err);
	}
	/*
	 * A state that follows from the thread's records is more reliable than one that was only
	 * observed.
	 */
	if (last != STATE_NONE && last != STATE_UNKNOWN)
		return 0;
	return lane_track_mark(&s->tracks, t, &m, err);
}

bool state_of_sliced_lane(uint64_t state)
{
	return state != STATE_NONE && state < STATE_COUNT && state != STATE_DEAD &&
	       state != STATE_UNKNOWN;
}

static int states_put_sliced(struct states *s, struct sliced_lane *l, const struct slice *r,
			     struct error *err)
{
	struct stretch x = {
		.time = r->time < l->end ? l->end : r->time,
		.end = r->end,
		.lane = r->lane,
		.thread = r->state == STATE_RUNNING ? r->value : 0,
		.state = (enum slice_state)r->state,
		.wait = r->wait < WAIT_COUNT ? (enum wait_class)r->wait : WAIT_OTHER,
		.kind = l->kind,
		.whole = r->time >= l->end,
	};

	s->tracks.disorder += r->time < l->end || r->wait >= WAIT_COUNT;
	if (x.time >= x.end || !state_of_sliced_lane(r->state)) {
		s->tracks.disorder += r->time >= l->end && r->state != STATE_UNKNOWN;
		return 0;
	}
	l->end = x.end;
	return s->tracks.events.stretch(s->tracks.events.context, &x, err);
}

static int states_put_slice(struct states *s, const struct slice *r, struct error *err)
{
	struct lane_track *t = find_lane_track(s, &s->lanes, r->lane);
	uint32_t sliced;

	if (t && t->kind == LANE_CPU)
		return states_put_cpu_slice(s, t, r, err);
	if (t && t->kind == LANE_THREAD)
		return states_put_observed(s, t, r, err);
	sliced = index_get(&s->sliced_by_id, r->lane);
	if (!t && sliced != INDEX_NONE)
		return states_put_sliced(s, &s->sliced.items[sliced], r, err);
	s->tracks.disorder += t || r->lane > s->last_lane;
	return 0;
}

static int states_put_edge(struct states *s, const struct edge *r, struct error *err)
{
	struct lane_track *t;

	if (r->kind != EDGE_WAKEUP && r->kind != EDGE_FORK)
		return 0;
	t = find_lane_track(s, &s->lanes, r->to);
	if (!t || t->kind != LANE_THREAD) {
		s->tracks.disorder += t || r->to > s->last_lane;
		return 0;
	}
	/* In a file, threads come with their ends: ignore a wake-up after the end of a thread. */
	if (!t->alive && t->dies && r->time > t->dies)
		return 0;
	return lane_track_wake(&s->tracks, t, r, err);
}

int states_put(struct states *s, enum record_kind kind, const void *record, struct error *err)
{
	switch (kind) {
	case KIND_THREAD:
		return states_put_thread(s, record, err);
	case KIND_LANE:
		return states_put_lane(s, record, err);
	case KIND_SLICE:
		return states_put_slice(s, record, err);
	case KIND_EDGE:
		return states_put_edge(s, record, err);
	default:
		return 0;
	}
}

uint64_t states_settled(const struct states *s)
{
	return lane_tracks_settled(&s->tracks);
}

/*
 * Return whether the thread's last record was lost, while its entity says that the thread has
 * ended.
 */
static bool died_unrecorded(const struct lane_track *t, uint64_t time)
{
	return t->dies && t->dies < time && lane_track_last(t)->state == STATE_UNKNOWN;
}

static int states_cut_thread(struct states *s, struct lane_track *t, uint64_t time,
			     uint64_t settled, struct error *err)
{
	int ret;

	if (!died_unrecorded(t, time))
		return lane_track_cut(&s->tracks, t, time, settled, err);
	time = t->dies > lane_track_last(t)->time ? t->dies : lane_track_last(t)->time;
	ret = lane_track_cut(&s->tracks, t, time, settled, err);
	return ret < 0 ? ret : forget_thread(s, t, err);
}

int states_cut(struct states *s, uint64_t time, struct error *err)
{
	uint64_t settled = states_settled(s);
	int ret = 0;

	s->tracks.cut = time;
	for (size_t i = 0; i < s->tracks.list.count && !ret; i++)
		if (s->tracks.list.items[i].kind == LANE_THREAD)
			ret = states_cut_thread(s, &s->tracks.list.items[i], time, settled, err);
	return ret;
}

/*
 * Return the end of the recording in the resolution of slices: stamps of slices are rounded down,
 * but the end of the recording is not, and all lanes must end at one time.
 */
static uint64_t states_end_of_slices(const struct states *s, uint64_t time)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < s->tracks.cpus.count; i++) {
		const struct lane_track *t = &s->tracks.list.items[s->tracks.cpus.items[i]];

		if (latest < t->marks[0].time)
			latest = t->marks[0].time;
	}
	return latest && latest < time && time - latest < RESOLUTION_MAX ? latest : time;
}

int states_end(struct states *s, uint64_t time, struct error *err)
{
	int ret = states_cut(s, states_end_of_slices(s, time), err);

	if (ret < 0)
		return ret;
	index_free(&s->lanes);
	index_free(&s->threads);
	s->tracks.list.count = s->tracks.cpus.count = s->tracks.known.count = 0;
	s->free.count = s->names.count = s->sliced.count = 0;
	index_free(&s->sliced_by_id);
	s->free_names = NO_NAME;
	return 0;
}

static int each_open_mark(const struct lane_track *t,
			  int (*each)(void *context, const struct stretch *s), void *context)
{
	int ret = 0;

	for (unsigned int i = 0; i < t->count && !ret; i++) {
		const struct lane_mark *m = &t->marks[i];
		const struct stretch x = {
			.time = m->time,
			.lane = t->lane,
			.thread = t->thread,
			.state = m->state,
			.wait = m->wait,
			.cpu = t->cpu,
			.waker = m->state == STATE_RUNNABLE ? m->waker : 0,
			.target = m->state == STATE_RUNNABLE ? m->target : 0,
			.whole = m->exact,
		};

		ret = each(context, &x);
	}
	return ret;
}

int states_each(const struct states *s, int (*each)(void *context, const struct stretch *s),
		void *context)
{
	int ret = 0;

	for (size_t i = 0; i < s->tracks.list.count && !ret; i++) {
		const struct lane_track *t = &s->tracks.list.items[i];
		const struct lane_mark *base = &t->marks[0];

		if (!t->alive)
			continue;
		ret = each_open_mark(t, each, context);
		/* A wake-up whose effect is not certain yet is a stretch without a state. */
		if (!ret && t->early)
			ret = each(context, &(struct stretch){.time = base->time,
							      .lane = t->lane,
							      .waker = base->waker,
							      .target = base->target});
		if (!ret && t->woken > base->time)
			ret = each(context, &(struct stretch){.time = t->woken,
							      .lane = t->lane,
							      .waker = t->waker,
							      .target = t->target});
	}
	return ret;
}

/*
 * Restore a wake-up that states_each() reported: the early wake-up of the base if it has the
 * time of the base, else the last wake-up of a thread that may be running.
 */
static void resume_wake(struct states *s, struct lane_track *t, const struct stretch *open)
{
	uint32_t target = open->target > UINT32_MAX ? 0 : (uint32_t)open->target;

	if (open->time <= t->marks[0].time && !state_is_asleep(t->marks[0].state)) {
		s->tracks.disorder++;
		return;
	}
	if (open->time <= t->marks[0].time) {
		t->early = true;
		t->marks[0].waker = open->waker;
		t->marks[0].target = target;
		return;
	}
	t->woken = open->time;
	t->waker = open->waker;
	t->target = target;
}

static int resume_mark(struct states *s, struct lane_track *t, const struct stretch *open,
		       struct error *err)
{
	const struct lane_mark m = {
		.time = open->time,
		.waker = open->waker,
		.target = open->target > UINT32_MAX ? 0 : (uint32_t)open->target,
		.state = (uint8_t)open->state,
		.wait = (uint8_t)open->wait,
		.exact = open->whole,
	};

	if (!t->alive)
		t->marks[0] = m;
	else if (t->count == LANE_TRACK_MARKS || m.time < lane_track_last(t)->time)
		s->tracks.disorder++;
	else
		t->marks[t->count++] = m;
	t->thread = open->thread;
	t->cpu = open->cpu;
	return lane_track_update_known(&s->tracks, t, err);
}

static void resume_cpu(struct states *s, struct lane_track *t, const struct stretch *open)
{
	t->alive = true;
	t->marks[0] = (struct lane_mark){.time = open->time, .state = (uint8_t)open->state};
	if (open->state == STATE_UNKNOWN && s->tracks.gap < open->time)
		s->tracks.gap = open->time;
}

int states_resume(struct states *s, const struct stretch *open, struct error *err)
{
	struct lane_track *t = find_lane_track(s, &s->lanes, open->lane);
	uint64_t state = open->state, wait = open->wait;
	bool sane = t && t->kind && state < STATE_COUNT && wait < WAIT_COUNT;

	if (sane && t->kind == LANE_CPU) {
		resume_cpu(s, t, open);
		return 0;
	}
	if (!sane || state == STATE_DEAD ||
	    (state && state != STATE_RUNNING && !state_is_off_cpu(state))) {
		s->tracks.disorder++;
		return 0;
	}
	if (state != STATE_NONE || !t->alive)
		return resume_mark(s, t, open, err);
	resume_wake(s, t, open);
	return 0;
}

uint64_t states_disorder(const struct states *s)
{
	return s->tracks.disorder;
}
