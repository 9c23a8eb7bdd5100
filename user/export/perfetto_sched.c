// SPDX-License-Identifier: Apache-2.0
/*
 * Export CPUs and thread states to Perfetto in the form of the kernel's own tracepoints.
 *
 * A switch holds the thread that leaves, its state, and the thread that follows; all CPU slices
 * and most thread states follow from switches. Wakings hold the waker of a thread. Other known
 * states of a thread (asleep when the recording began) are written as task state events, which
 * need no switch.
 *
 * Where records are lost, a thread called [records lost] has the CPU without running, and threads
 * get the state that the reader shows as unknown. The format has no other way to express unknown
 * states.
 */
#include <stdlib.h>

#include "export/perfetto.h"

#define EVENTS_BYTES (64 << 10) /* of one bundle */

enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST_EVENTS = 3 };
enum {
	EVENT_TIMESTAMP = 1,
	EVENT_PID = 2,
	EVENT_SWITCH = 4,
	EVENT_COMMON_FLAGS = 5,
	EVENT_WAKING = 20,
	EVENT_FREE = 240
};
enum {
	SWITCH_PREV_COMM = 1,
	SWITCH_PREV_PID,
	SWITCH_PREV_PRIO,
	SWITCH_PREV_STATE,
	SWITCH_NEXT_COMM,
	SWITCH_NEXT_PID,
	SWITCH_NEXT_PRIO
};
enum { WAKING_COMM = 1, WAKING_PID, WAKING_PRIO, WAKING_SUCCESS, WAKING_TARGET_CPU };
enum { FREE_COMM = 1, FREE_PID, FREE_PRIO };
enum { TASK_STATE_CPU = 1, TASK_STATE_COMM, TASK_STATE_TID, TASK_STATE_STATE, TASK_STATE_PRIO };

#define NORMAL_PRIORITY 120 /* priorities are not recorded */
#define FLAG_HARD_INTERRUPT 0x08
/* Gaps examined on both sides of the time at which the state of a thread becomes unknown. */
#define GAPS_NEAR 256

/* Values of prev_state in sched_switch, since Linux 4.14. */
enum {
	PREV_RUNNABLE = 0,
	PREV_SLEEPING = 1,
	PREV_DISK = 2,
	PREV_STOPPED = 4,
	PREV_DEAD = 0x10,
	PREV_PARKED = 0x40,
	PREV_IDLE = 0x80,
	PREV_PREEMPTED = 0x100,
	PREV_UNKNOWN = 0xfe00 /* no real state; shown as unknown */
};
enum shown { SHOWN_NOTHING = -1, SHOWN_RUNNING = -2 };

/* States of a task state event. */
enum {
	TASK_RUNNABLE = 2,
	TASK_SLEEPING = 4,
	TASK_DISK = 5,
	TASK_STOPPED = 6,
	TASK_DEAD = 7,
	TASK_GONE = 8
};

struct perfetto_task {
	uint64_t tid;
	const char *comm;
};

/* A CPU switches from the thread prev, which is in prev_state afterwards, to the thread next. */
struct perfetto_switch {
	uint64_t cpu, time;
	struct perfetto_task prev;
	int64_t prev_state;
	struct perfetto_task next;
};

static int64_t perfetto_prev_state(uint64_t state)
{
	switch (state) {
	case STATE_RUNNABLE:
	case STATE_RUNNING: /* the thread goes on running */
		return PREV_RUNNABLE;
	case STATE_PREEMPTED:
	case STATE_THROTTLED: /* the kernel's tracepoint reports throttled threads as preempted */
		return PREV_PREEMPTED;
	case STATE_SLEEPING:
		return PREV_SLEEPING;
	case STATE_DISK:
		return PREV_DISK;
	case STATE_STOPPED:
		return PREV_STOPPED;
	case STATE_DEAD:
		return PREV_DEAD;
	case STATE_PARKED:
		return PREV_PARKED;
	case STATE_UNUSED:
		return PREV_IDLE;
	default:
		return PREV_UNKNOWN;
	}
}

static bool is_blocked_state(int64_t shown)
{
	return shown > 0 && shown != PREV_PREEMPTED;
}

static struct perfetto_lane *own_lane(struct perfetto *p, const struct timeline_lane *lane)
{
	return &p->lanes[lane - p->timeline.lanes.items];
}

static void close_bundle(struct perfetto *p, struct perfetto_stream *s)
{
	if (!s->open)
		return;
	if (s->lossy)
		protobuf_varint(&s->buf, BUNDLE_LOST_EVENTS, 1);
	protobuf_end(&s->buf, s->bundle);
	protobuf_end(&s->buf, s->packet);
	s->open = s->lossy = false;
	perfetto_flush(p, s);
}

/* Begin an event of a CPU whose current thread is tid; end it with end_sched_event(). */
static size_t begin_sched_event(struct perfetto_stream *s, uint64_t cpu, uint64_t time,
				uint64_t tid)
{
	size_t mark;

	if (!s->open) {
		s->packet = protobuf_begin(&s->buf, TRACE_PACKET);
		s->bundle = protobuf_begin(&s->buf, PACKET_FTRACE_EVENTS);
		protobuf_varint(&s->buf, BUNDLE_CPU, cpu);
		s->open = true;
	}
	mark = protobuf_begin(&s->buf, BUNDLE_EVENT);
	protobuf_varint(&s->buf, EVENT_TIMESTAMP, time);
	protobuf_varint(&s->buf, EVENT_PID, tid);
	return mark;
}

static void end_sched_event(struct perfetto *p, struct perfetto_stream *s, size_t mark)
{
	protobuf_end(&s->buf, mark);
	perfetto_fail(p, s->buf.error);
	if (s->buf.size > EVENTS_BYTES)
		close_bundle(p, s);
}

static void write_sched_switch(struct perfetto *p, struct perfetto_stream *s,
			       const struct perfetto_switch *w)
{
	size_t event = begin_sched_event(s, w->cpu, w->time, w->prev.tid);
	size_t mark = protobuf_begin(&s->buf, EVENT_SWITCH);

	perfetto_text(p, &s->buf, SWITCH_PREV_COMM, w->prev.comm);
	protobuf_varint(&s->buf, SWITCH_PREV_PID, w->prev.tid);
	protobuf_varint(&s->buf, SWITCH_PREV_PRIO, NORMAL_PRIORITY);
	protobuf_varint(&s->buf, SWITCH_PREV_STATE, (uint64_t)w->prev_state);
	perfetto_text(p, &s->buf, SWITCH_NEXT_COMM, w->next.comm);
	protobuf_varint(&s->buf, SWITCH_NEXT_PID, w->next.tid);
	protobuf_varint(&s->buf, SWITCH_NEXT_PRIO, NORMAL_PRIORITY);
	protobuf_end(&s->buf, mark);
	end_sched_event(p, s, event);
}

static struct perfetto_task task_of_thread(const struct perfetto *p, uint32_t thread)
{
	struct timeline_identity w = timeline_identity(&p->timeline, thread);

	return (struct perfetto_task){w.tid & INT32_MAX, w.comm};
}

static struct perfetto_task task_of_tile(const struct perfetto *p, const struct tile *tile)
{
	if (tile->state == STATE_IDLE)
		return (struct perfetto_task){0, "swapper"};
	if (tile->state == STATE_UNKNOWN)
		return (struct perfetto_task){TID_LOST + (tile->cpu & 0xffff), "[records lost]"};
	if (tile->state == STATE_OFFLINE)
		return (struct perfetto_task){TID_OFFLINE + (tile->cpu & 0xffff), "[offline]"};
	if (tile->thread == PROFILE_NONE)
		return (struct perfetto_task){TID_OTHER + (tile->cpu & 0xffff), "[not recorded]"};
	return task_of_thread(p, tile->thread);
}

/* Return the prev_state with which the thread of a tile leaves the CPU. */
static int64_t prev_state_of_tile(const struct tile *tile)
{
	if (tile->state == STATE_IDLE)
		return PREV_RUNNABLE;
	return tile->thread == PROFILE_NONE ? PREV_IDLE : perfetto_prev_state(tile->next_state);
}

static int note_gap(struct perfetto *p, const struct tile *tile, size_t lane)
{
	struct perfetto_gap g = {tile->time, tile->end, tile->time, (uint32_t)lane};

	if (p->gaps.count && p->gaps.items[p->gaps.count - 1].newest > g.newest)
		g.newest = p->gaps.items[p->gaps.count - 1].newest;
	p->lanes[lane].events.lossy = true;
	return vector_push(&p->gaps, g);
}

/* Write that a thread was freed; another thread may reuse its tid afterwards. */
static void write_thread_freed(struct perfetto *p, struct perfetto_stream *s, uint64_t cpu,
			       uint64_t time, struct perfetto_task task)
{
	size_t event = begin_sched_event(s, cpu, time, task.tid);
	size_t mark = protobuf_begin(&s->buf, EVENT_FREE);

	perfetto_text(p, &s->buf, FREE_COMM, task.comm);
	protobuf_varint(&s->buf, FREE_PID, task.tid);
	protobuf_varint(&s->buf, FREE_PRIO, NORMAL_PRIORITY);
	protobuf_end(&s->buf, mark);
	end_sched_event(p, s, event);
}

static struct perfetto_process *own_process(struct perfetto *p, uint32_t thread)
{
	uint32_t process = p->timeline.profile->threads[thread].process;

	return process == PROFILE_NONE ? NULL : &p->processes[process];
}

static bool is_leader(const struct perfetto *p, uint32_t thread)
{
	uint32_t process = p->timeline.profile->threads[thread].process;

	return (timeline_pid(&p->timeline, process) & INT32_MAX) == task_of_thread(p, thread).tid;
}

/*
 * Write that a dead thread was freed. The reader ends all threads of a process when the leader (the
 * thread whose tid is the pid) is freed, but the leader often dies before the others. So a leader
 * is freed only after all threads of its process have ended, by free_leaders().
 */
static void note_death(struct perfetto *p, struct perfetto_stream *s, const struct tile *tile,
		       struct perfetto_task task)
{
	struct perfetto_process *of = own_process(p, tile->thread);

	if (of && is_leader(p, tile->thread))
		of->leader_died = true;
	else if (of) /* after the switch at which the thread leaves */
		write_thread_freed(p, s, tile->cpu, tile->end + 1, task);
}

static void free_leaders(struct perfetto *p, struct perfetto_stream *s, uint64_t cpu)
{
	const struct profile *profile = p->timeline.profile;

	for (uint32_t i = 0; i < profile->count.processes; i++) {
		struct perfetto_task leader = {timeline_pid(&p->timeline, i) & INT32_MAX,
					       profile->processes[i].p.comm};

		if (p->processes[i].leader_died) /* after the leader's death */
			write_thread_freed(p, s, cpu, p->processes[i].ended + 2, leader);
	}
}

/*
 * Note that a placeholder (a pseudo thread) has a CPU because nothing is known of the CPU, or
 * because the CPU is offline. A placeholder must not add to the running time of threads: its slice
 * on the CPU stays, but its state is set to sleeping 1 ns after it got the CPU (not at the same
 * time, because events with equal time stamps have no order among streams). These states are
 * written at the end, since write_unknown() adds placeholders in no order of time.
 */
static void note_placeholder(struct perfetto *p, uint64_t time, uint64_t end, uint64_t cpu,
			     struct perfetto_task task)
{
	struct perfetto_placeholder h = {time, end, cpu, task.tid, task.comm};

	perfetto_fail(p, vector_push(&p->placeholders, h));
}

int perfetto_tile(struct timeline *t, struct timeline_lane *lane, const struct tile *tile)
{
	struct perfetto *p = (struct perfetto *)t;
	struct perfetto_lane *own = own_lane(p, lane);
	struct perfetto_task next = task_of_tile(p, tile), prev = {own->running, own->comm};

	if (!own->comm)
		prev = (struct perfetto_task){0, "swapper"};
	/* Write no switch if a thread was only renamed while it ran. */
	if (!own->goes_on || prev.tid != next.tid)
		write_sched_switch(p, &own->events,
				   &(struct perfetto_switch){tile->cpu, tile->time, prev,
							     own->prev_state, next});
	if (tile->state == STATE_UNKNOWN || tile->state == STATE_OFFLINE)
		note_placeholder(p, tile->time, tile->end, tile->cpu, next);
	own->goes_on = tile->next_state == STATE_RUNNING;
	own->running = (uint32_t)next.tid;
	own->comm = next.comm;
	own->prev_state = prev_state_of_tile(tile);
	own->last_end = tile->end;
	if (tile->state == STATE_UNKNOWN)
		perfetto_fail(p, note_gap(p, tile, (size_t)(lane - t->lanes.items)));
	if (tile->thread != PROFILE_NONE && tile->next_state == STATE_DEAD)
		note_death(p, &own->events, tile, next);
	return p->error;
}

/*
 * Return the stream for a waking, its CPU in *cpu and the waker in *task. The CPU is that of the
 * waker, or if that is not known, the CPU chosen for the woken thread or CPU 0, since the reader
 * does not use the CPU of a waking. Return NULL if there is no such CPU.
 */
static struct perfetto_stream *waker_stream(struct perfetto *p, const struct stretch *s,
					    uint64_t *cpu, struct perfetto_task *task)
{
	struct timeline_lane *lane = timeline_lane(&p->timeline, s->waker);
	struct timeline_lane *of = NULL;

	*task = (struct perfetto_task){0, "swapper"};
	if (lane && lane->lane.kind == LANE_INTERRUPT) {
		of = timeline_lane(&p->timeline, lane->lane.parent);
		if (lane->lane.number < INTERRUPT_COUNT)
			task->tid = TID_INTERRUPT + lane->lane.number;
	} else if (lane && lane->thread != PROFILE_NONE) {
		*task = task_of_thread(p, lane->thread);
		if (lane->last.end)
			of = timeline_cpu(&p->timeline, lane->last.cpu);
	}
	if (!of || of->lane.kind != LANE_CPU)
		of = timeline_cpu(&p->timeline, s->target ? s->target - 1 : 0);
	if (!of)
		return NULL;
	*cpu = of->lane.number;
	return &own_lane(p, of)->events;
}

static void write_waking(struct perfetto *p, uint64_t time, const struct stretch *s,
			 struct perfetto_task woken)
{
	struct perfetto_task waker;
	uint64_t cpu;
	struct perfetto_stream *stream = waker_stream(p, s, &cpu, &waker);
	size_t event, mark;

	if (!stream)
		return;
	event = begin_sched_event(stream, cpu, time, waker.tid);
	if (waker.tid >= TID_INTERRUPT)
		protobuf_varint(&stream->buf, EVENT_COMMON_FLAGS, FLAG_HARD_INTERRUPT);
	mark = protobuf_begin(&stream->buf, EVENT_WAKING);
	perfetto_text(p, &stream->buf, WAKING_COMM, woken.comm);
	protobuf_varint(&stream->buf, WAKING_PID, woken.tid);
	protobuf_varint(&stream->buf, WAKING_PRIO, NORMAL_PRIORITY);
	if (s->target)
		protobuf_varint(&stream->buf, WAKING_TARGET_CPU, s->target - 1);
	protobuf_end(&stream->buf, mark);
	end_sched_event(p, stream, event);
}

static void write_task_state(struct perfetto *p, uint64_t time, unsigned int state,
			     struct perfetto_task task, uint64_t cpu)
{
	struct protobuf *buf = &p->packets.buf;
	size_t packet = perfetto_begin_packet(p, time, SEQUENCE_STATES);
	size_t mark = protobuf_begin(buf, PACKET_TASK_STATE);

	protobuf_varint(buf, TASK_STATE_CPU, cpu);
	perfetto_text(p, buf, TASK_STATE_COMM, task.comm);
	protobuf_varint(buf, TASK_STATE_TID, task.tid);
	protobuf_varint(buf, TASK_STATE_STATE, state);
	protobuf_varint(buf, TASK_STATE_PRIO, NORMAL_PRIORITY);
	protobuf_end(buf, mark);
	perfetto_end_packet(p, packet);
}

/*
 * Return a gap that contains a time and the ns after that time; NULL if there is none among the
 * nearest gaps.
 */
static const struct perfetto_gap *gap_at(const struct perfetto *p, uint64_t time)
{
	size_t low = 0, high = p->gaps.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->gaps.items[middle].newest <= time)
			low = middle + 1;
		else
			high = middle;
	}
	high = low + GAPS_NEAR < p->gaps.count ? low + GAPS_NEAR : p->gaps.count;
	low = low > GAPS_NEAR ? low - GAPS_NEAR : 0;
	for (size_t i = high; i-- > low;) {
		const struct perfetto_gap *g = &p->gaps.items[i];

		if (time >= g->time && time < g->end && time + 1 < g->end)
			return g;
	}
	return NULL;
}

/*
 * Write that a thread's state is unknown from a time on; write nothing if that time is in no gap.
 * The only way to express an unknown state is a switch: within the gap the thread gets the gap's
 * CPU for zero time and leaves it in an unknown state.
 */
static void write_unknown(struct perfetto *p, uint64_t time, struct perfetto_task task)
{
	const struct perfetto_gap *g = gap_at(p, time);
	struct perfetto_stream *s;
	struct perfetto_task lost;
	uint64_t cpu;

	if (!g)
		return;
	s = &p->lanes[g->lane].events;
	cpu = p->timeline.lanes.items[g->lane].lane.number;
	lost = (struct perfetto_task){TID_LOST + (cpu & 0xffff), "[records lost]"};
	write_sched_switch(p, s, &(struct perfetto_switch){cpu, time + 1, lost, PREV_IDLE, task});
	write_sched_switch(p, s,
			   &(struct perfetto_switch){cpu, time + 1, task, PREV_UNKNOWN, lost});
	note_placeholder(p, time + 1, g->end, cpu, lost);
}

static void write_corrected_state(struct perfetto *p, uint64_t time, int64_t state,
				  struct perfetto_task task, uint64_t cpu)
{
	switch (state) {
	case PREV_UNKNOWN:
		write_unknown(p, time, task);
		break;
	case PREV_RUNNABLE:
	case PREV_PREEMPTED:
		write_task_state(p, time, TASK_RUNNABLE, task, cpu);
		break;
	case PREV_DISK:
		write_task_state(p, time, TASK_DISK, task, cpu);
		break;
	case PREV_STOPPED:
		write_task_state(p, time, TASK_STOPPED, task, cpu);
		break;
	default:
		write_task_state(p, time, TASK_SLEEPING, task, cpu);
	}
}

/* Return the state that the reader shows for a thread before a stretch, see perfetto_lane.shown. */
static int64_t state_shown_at(const struct perfetto_lane *own, const struct timeline_lane *lane)
{
	if (own->ran)
		return perfetto_prev_state(lane->last.next_state);
	return own->last_end ? own->shown : SHOWN_NOTHING;
}

int perfetto_stretch(struct timeline *t, struct timeline_lane *lane, const struct stretch *s)
{
	struct perfetto *p = (struct perfetto *)t;
	struct perfetto_lane *own = own_lane(p, lane);
	int64_t state = perfetto_prev_state(s->state), shown = state_shown_at(own, lane);
	struct perfetto_task task = task_of_thread(p, lane->thread);
	/*
	 * If the thread ran until s->time, the switch by which it left the CPU has that time stamp
	 * and must come first.
	 */
	uint64_t time = s->time + own->ran;

	if (s->state == STATE_RUNNING)
		state = SHOWN_RUNNING;
	else if (s->state == STATE_RUNNABLE && s->waker && (is_blocked_state(shown) || shown < 0))
		write_waking(p, time, s, task);
	else if (state == PREV_UNKNOWN && shown == SHOWN_NOTHING)
		state = SHOWN_NOTHING;
	else if (state != shown)
		write_corrected_state(p, time, state, task, s->cpu ? s->cpu - 1 : 0);
	if (s->wait)
		perfetto_wait_began(p, lane, s);
	else if (s->state == STATE_RUNNING)
		perfetto_wait_ended(p, lane, s);
	own->ran = s->state == STATE_RUNNING;
	own->shown = state;
	own->last_end = s->end;
	return p->error;
}

/* End the last slice of a CPU at the end of its last tile, and write the rest of its stream. */
static void end_cpu(struct perfetto *p, const struct timeline_lane *lane)
{
	struct perfetto_lane *own = own_lane(p, lane);
	int64_t state = own->prev_state == PREV_UNKNOWN ? PREV_RUNNABLE : own->prev_state;

	if (!own->comm)
		return;
	write_sched_switch(p, &own->events,
			   &(struct perfetto_switch){lane->lane.number,
						     own->last_end,
						     {own->running, own->comm},
						     state,
						     {0, "swapper"}});
	if (!p->leaders_freed)
		free_leaders(p, &own->events, lane->lane.number);
	p->leaders_freed = true;
	close_bundle(p, &own->events);
}

/*
 * End a thread whose last stretch ends before the recording, unless a switch has already shown that
 * the thread died; otherwise the reader would extend its last state.
 */
static void end_thread(struct perfetto *p, const struct timeline_lane *lane)
{
	const struct perfetto_lane *own = own_lane(p, lane);
	struct perfetto_process *of = own_process(p, lane->thread);
	unsigned int state = TASK_GONE;

	if (of && of->ended < own->last_end)
		of->ended = own->last_end;
	if (!own->last_end || own->last_end >= p->timeline.end ||
	    (own->ran && lane->last.next_state == STATE_DEAD))
		return;
	if (of && is_leader(p, lane->thread)) {
		of->leader_died = true;
		state = TASK_DEAD;
	}
	write_task_state(p, own->last_end + own->ran, state, task_of_thread(p, lane->thread), 0);
}

static int by_cpu_and_time(const void *a, const void *b)
{
	const struct perfetto_placeholder *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

/*
 * Write that a placeholder sleeps, once for each period in which it keeps the CPU for more than 1
 * ns.
 */
static void write_placeholders(struct perfetto *p)
{
	const struct perfetto_placeholder *items = p->placeholders.items;
	size_t count = p->placeholders.count;

	if (count)
		qsort(p->placeholders.items, count, sizeof(*items), by_cpu_and_time);
	for (size_t i = 0; i < count; i++) {
		const struct perfetto_placeholder *h = &items[i];
		bool again = i + 1 < count && h[1].cpu == h->cpu && h[1].time <= h->time + 1;

		if (!again && h->time + 1 < h->end)
			write_task_state(p, h->time + 1, TASK_SLEEPING,
					 (struct perfetto_task){h->tid, h->comm}, h->cpu);
	}
}

void perfetto_sched_end(struct perfetto *p)
{
	const struct timeline_lane *lanes = p->timeline.lanes.items;

	for (size_t i = 0; i < p->lane_count; i++)
		if (lanes[i].lane.kind == LANE_THREAD && lanes[i].thread != PROFILE_NONE)
			end_thread(p, &lanes[i]);
	for (size_t i = 0; i < p->lane_count; i++)
		if (lanes[i].lane.kind == LANE_CPU)
			end_cpu(p, &lanes[i]);
	write_placeholders(p);
}
