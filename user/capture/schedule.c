// SPDX-License-Identifier: Apache-2.0
/*
 * Turns records of switches and wake-ups into slices and edges. A CPU's slice is emitted when it
 * ends, a wake-up when it happens. The record of a switch determines the slice that ends, since the
 * record names both the thread that leaves the CPU and the one that gets it.
 */
#include "capture/schedule_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/clock.h"
#include "capture/waits.h"

/* Duration (ns) after which a slice is emitted in parts. */
#define LONG_SLICE NSEC_PER_SEC

int schedule_new(struct schedule **out, const struct schedule_context *c, struct error *err)
{
	struct schedule *s = calloc(1, sizeof(*s));

	if (!s)
		return error_errno(err, -ENOMEM, "switches");
	s->c = *c;
	s->epoch = 1;
	s->cpus = calloc(c->cpus, sizeof(*s->cpus));
	if (!s->cpus) {
		schedule_free(s);
		return error_errno(err, -ENOMEM, "switches");
	}
	*out = s;
	return 0;
}

void schedule_free(struct schedule *s)
{
	if (!s)
		return;
	free(s->cpus);
	free(s);
}

/* Return a number that changes whenever a tid of a record may belong to another thread entry. */
static uint64_t threads_generation(const struct schedule *s)
{
	return process_table_generation(s->c.table) + namespace_generation(s->c.namespace);
}

static int resolve_cached_thread(struct schedule *s, struct cached_thread *k, uint32_t tid,
				 uint64_t time, struct error *err)
{
	const struct own_numbers own = namespace_own(s->c.namespace, 0, tid);
	struct resolved_task of;
	int ret = process_table_resolve_thread(s->c.table, own, time, &of, err);

	if (ret)
		return ret;
	if (of.unknown)
		s->c.unknown(s->c.context, own.tid);
	k->tid = tid;
	k->thread = of.thread;
	k->wanted = own.tid != NUMBER_OUTSIDE &&
		    (!s->c.wanted || s->c.wanted(s->c.context, of.process, k->thread));
	k->generation = threads_generation(s) + 1;
	return 0;
}

int schedule_find_thread(struct schedule *s, uint32_t tid, uint64_t time,
			 const struct cached_thread **out, struct error *err)
{
	struct cached_thread *k = &s->known[tid % CACHED_THREADS];
	int ret = 0;

	if (k->tid != tid || k->generation != threads_generation(s) + 1)
		ret = resolve_cached_thread(s, k, tid, time, err);
	if (ret)
		k->generation = 0;
	else
		k->thread->seen = s->epoch;
	*out = k;
	return ret;
}

/* Emit the lane of a CPU that has none yet. Return 0 or a negative errno. */
static int cpu_lane(struct schedule *s, struct scheduled_cpu *c, struct error *err)
{
	unsigned int cpu = (unsigned int)(c - s->cpus);
	char name[32];
	struct lane lane = {
		.host = s->c.host,
		.kind = LANE_CPU,
		.number = cpu,
		.name = name,
	};

	if (c->lane)
		return 0;
	snprintf(name, sizeof(name), "CPU %u", cpu);
	lane.id = c->lane = ++*s->c.last_lane;
	return put_lane(s->c.sink, &lane, err);
}

int schedule_cpu_lane(struct schedule *s, unsigned int cpu, uint64_t *out, struct error *err)
{
	int ret = cpu_lane(s, &s->cpus[cpu], err);

	*out = s->cpus[cpu].lane;
	return ret;
}

static int interrupt_lane(struct schedule *s, unsigned int cpu, enum interrupt kind, uint64_t *out,
			  struct error *err)
{
	struct scheduled_cpu *c = &s->cpus[cpu];
	char name[64];
	struct lane lane = {
		.host = s->c.host,
		.kind = LANE_INTERRUPT,
		.number = kind,
		.name = name,
	};
	int ret = cpu_lane(s, c, err);

	if (!ret && !c->interrupts[kind]) {
		lane.parent = c->lane;
		snprintf(name, sizeof(name), "%s on CPU %u", interrupt_word(kind), cpu);
		lane.id = c->interrupts[kind] = ++*s->c.last_lane;
		ret = put_lane(s->c.sink, &lane, err);
	}
	*out = c->interrupts[kind];
	return ret;
}

/*
 * Return the state of a CPU without a thread from c->since to time: OFFLINE if the CPU was found
 * offline in this time, else IDLE. A finding before time is then used up.
 */
static enum slice_state empty_state(struct scheduled_cpu *c, uint64_t time)
{
	bool offline = c->offline && c->since <= c->offline && time > c->offline;

	if (c->offline && time > c->offline)
		c->offline = 0;
	return offline ? STATE_OFFLINE : STATE_IDLE;
}

/*
 * Emit the CPU's open slice up to time, and start the next one there. left: how the running thread
 * left the CPU.
 */
static int close_slice(struct schedule *s, struct scheduled_cpu *c, uint64_t time,
		       struct leaving left, struct error *err)
{
	enum slice_state empty = empty_state(c, time);
	struct slice r = {
		.time = schedule_round_time(c->since),
		.end = schedule_round_time(time),
		.state = c->running.tid ? STATE_RUNNING : empty,
		.value = c->thread,
		.left = c->thread || left.state == STATE_IDLE ? left.state : STATE_NONE,
		.wait = c->thread ? left.wait : WAIT_NONE,
	};
	int ret = cpu_lane(s, c, err);

	r.lane = c->lane;
	c->since = time;
	return ret || r.time == r.end ? ret : put_slice(s->c.sink, &r, err);
}

/* Set the thread that has the CPU from now on. */
static int set_running_thread(struct schedule *s, struct scheduled_cpu *c,
			      struct switched_thread running, uint64_t time, struct error *err)
{
	const struct cached_thread *k;
	int ret;

	c->running = running;
	c->thread = 0;
	c->certain = true;
	if (!running.tid || running.other)
		return 0;
	ret = schedule_find_thread(s, running.tid, time, &k, err);
	if (ret || !k->wanted)
		return ret;
	c->thread = k->thread->id;
	return schedule_runs(s, k->thread, time, err);
}

/*
 * Emit a slice with the state of a thread on the thread's lane, which is set in r. time: ns. Does
 * nothing for tid 0 or a thread that is not selected.
 */
static int put_thread_state(struct schedule *s, uint32_t tid, uint64_t time, struct slice r,
			    struct error *err)
{
	const struct cached_thread *k;
	int ret = tid ? schedule_find_thread(s, tid, time, &k, err) : 0;

	if (ret || !tid || !k->wanted)
		return ret;
	r.lane = k->thread->lane;
	return put_slice(s->c.sink, &r, err);
}

/*
 * A thread outside of the recorder's pid namespace may come as selected if it was being reaped; see
 * is_in_own_namespace() of bpf/select.h.
 */
static struct switched_thread previous_thread(const struct schedule *s, const struct wire_switch *r)
{
	const struct own_numbers own = namespace_own(s->c.namespace, 0, switch_second(r));

	return (struct switched_thread){switch_second(r), switch_detail(r) & WIRE_PREV_UNSELECTED ||
								  own.tid == NUMBER_OUTSIDE};
}

/*
 * Process a switch in which another thread leaves the CPU than the one that got it last: the kernel
 * did not report a switch in between. The states of the CPU and of both threads are unknown since
 * the last record: the earlier thread left at some time, and the other thread got the CPU at some
 * time, after it had slept or waited.
 */
static int on_unreported_switch(struct schedule *s, struct scheduled_cpu *c,
				const struct wire_switch *r, uint64_t time, struct error *err)
{
	const struct switched_thread previous = previous_thread(s, r);
	const struct leaving left = schedule_leaving(r);
	struct slice state = {
		.time = schedule_round_time(time),
		.state = STATE_UNKNOWN,
		/* start of the time in which the state is not certain */
		.value = c->since < time ? schedule_round_time(c->since) : 0,
	};
	struct slice hole = {
		.time = schedule_round_time(c->since),
		.end = schedule_round_time(time),
		.state = STATE_UNKNOWN,
		.value = c->thread,
	};
	const struct cached_thread *k;
	int ret = cpu_lane(s, c, err);

	if (ret)
		return ret;
	hole.lane = c->lane;
	s->counts.unreported++;
	if (!hole.value && previous.tid && !previous.other) {
		ret = schedule_find_thread(s, previous.tid, time, &k, err);
		hole.value = ret ? 0 : k->thread->id;
	}
	if (!ret && hole.value && hole.time < hole.end)
		ret = put_slice(s->c.sink, &hole, err);
	if (!ret && !c->running.other)
		ret = put_thread_state(s, c->running.tid, time, state, err);
	state.state = left.state;
	state.wait = left.wait;
	if (!ret && !previous.other)
		ret = put_thread_state(s, previous.tid, time, state, err);
	c->since = time;
	return ret;
}

/*
 * Return whether a switch was not reported: another thread leaves the CPU than the one that got it
 * last. Between two unselected threads switches are not recorded.
 */
static bool is_switch_missing(const struct scheduled_cpu *c, struct switched_thread previous)
{
	return c->certain && c->running.tid != previous.tid &&
	       !(c->running.other && previous.other);
}

static int on_switch(struct schedule *s, struct scheduled_cpu *c, const struct wire_switch *r,
		     uint64_t time, struct error *err)
{
	const struct switched_thread previous = previous_thread(s, r);
	const struct switched_thread next = {switch_first(r),
					     switch_detail(r) & WIRE_NEXT_UNSELECTED};
	int ret = 0;

	if (!c->runs)
		return 0;
	s->counts.switches++;
	if (is_switch_missing(c, previous)) {
		ret = on_unreported_switch(s, c, r, time, err);
		if (!ret)
			ret = schedule_leaves(s, c, &previous, r, err);
		return ret ? ret : set_running_thread(s, c, next, time, err);
	}
	/*
	 * Take the previous thread of the record as the running one if the running thread is not
	 * certain: at the start of the recording, after lost records, and where switches of
	 * unselected threads are not recorded.
	 */
	if (!c->certain || c->running.other || c->running.tid != previous.tid)
		ret = set_running_thread(s, c, previous, time, err);
	if (!ret)
		ret = close_slice(s, c, time, schedule_leaving(r), err);
	if (!ret)
		ret = schedule_leaves(s, c, &previous, r, err);
	return ret ? ret : set_running_thread(s, c, next, time, err);
}

static enum interrupt interrupt_of(unsigned int context)
{
	static const uint8_t interrupts[] = {
		[WIRE_BY_TASK] = INTERRUPT_OTHER,      [WIRE_BY_TIMER] = INTERRUPT_TIMER,
		[WIRE_BY_NETWORK] = INTERRUPT_NETWORK, [WIRE_BY_BLOCK] = INTERRUPT_BLOCK,
		[WIRE_BY_IPI] = INTERRUPT_IPI,	       [WIRE_BY_INTERRUPT] = INTERRUPT_OTHER,
	};

	return context < sizeof(interrupts) ? (enum interrupt)interrupts[context] : INTERRUPT_OTHER;
}

static int find_waker(struct schedule *s, const struct switch_record *woken, uint64_t time,
		      struct found_waker *out, struct error *err)
{
	const struct wire_switch *r = &woken->wire;
	const struct cached_thread *k;
	int ret;

	*out = (struct found_waker){.interrupt = interrupt_of(switch_how(r))};
	if (switch_how(r) != WIRE_BY_TASK || !switch_second(r))
		return interrupt_lane(s, woken->cpu, out->interrupt, &out->lane, err);
	ret = schedule_find_thread(s, switch_second(r), time, &k, err);
	if (ret)
		return ret;
	*out = (struct found_waker){k->thread->lane, k->thread->id, INTERRUPT_NONE, k->thread};
	return 0;
}

static int on_waking(struct schedule *s, const struct switch_record *woken, uint64_t time,
		     struct error *err)
{
	const struct wire_switch *r = &woken->wire;
	struct edge e = {
		.time = schedule_round_time(time),
		.end = schedule_round_time(time),
		.kind = switch_kind(r) == WIRE_NEW ? EDGE_FORK : EDGE_WAKEUP,
		.value = woken->target + 1,
	};
	const struct cached_thread *k;
	struct thread_entry *thread;
	struct found_waker waker = {0};
	int ret = schedule_find_thread(s, switch_first(r), time, &k, err);

	if (ret || !k->wanted)
		return ret;
	thread = k->thread;
	e.to = thread->lane;
	ret = find_waker(s, woken, time, &waker, err);
	e.from = waker.lane;
	if (!ret)
		ret = schedule_is_woken(s, thread, time, &waker, err);
	s->counts.wakeups++;
	return ret ? ret : put_edge(s->c.sink, &e, err);
}

/* Process a migration without a wake-up, such as load balancing between CPUs. */
static int on_migration(struct schedule *s, const struct wire_switch *r, uint64_t time,
			struct error *err)
{
	unsigned int from = switch_second(r), to = switch_number(r);
	struct edge e = {
		.time = schedule_round_time(time),
		.end = schedule_round_time(time),
		.kind = EDGE_MIGRATION,
	};
	const struct cached_thread *k;
	int ret;

	if (from >= s->c.cpus || to >= s->c.cpus || !switch_first(r))
		return 0;
	ret = schedule_find_thread(s, switch_first(r), time, &k, err);
	if (ret || !k->wanted)
		return ret;
	e.value = k->thread->id;
	ret = cpu_lane(s, &s->cpus[from], err);
	if (!ret)
		ret = cpu_lane(s, &s->cpus[to], err);
	e.from = s->cpus[from].lane;
	e.to = s->cpus[to].lane;
	s->counts.migrations++;
	return ret ? ret : put_edge(s->c.sink, &e, err);
}

/*
 * Process the loss of records that were overwritten: the state of the CPU is unknown until
 * gap->end. The next switch determines again which thread has the CPU.
 */
static int on_gap(struct schedule *s, const struct switch_record *gap, struct error *err)
{
	struct scheduled_cpu *c = &s->cpus[gap->cpu];
	uint64_t begin = c->last > c->since ? c->last : c->since;
	struct slice hole = {
		.time = schedule_round_time(begin),
		.end = schedule_round_time(gap->end),
		.state = STATE_UNKNOWN,
	};
	struct loss loss = {
		.id = ++*s->c.last_loss,
		.host = s->c.host,
		.cpu = gap->cpu + 1,
		.reason = LOSS_SWITCHES_LOST,
		.time = begin,
		.end = gap->end,
		.count = gap->wire.body,
	};
	int ret;

	s->counts.lost += loss.count;
	s->epoch++;
	s->snapshot_due = true;
	ret = put_loss(s->c.sink, &loss, err);
	if (ret || !c->runs)
		return ret;
	ret = cpu_lane(s, c, err);
	if (ret)
		return ret;
	hole.lane = c->lane;
	if (c->certain)
		ret = close_slice(s, c, begin, (struct leaving){STATE_NONE, WAIT_NONE}, err);
	else
		hole.time = schedule_round_time(c->since);
	if (!ret && hole.time < hole.end)
		ret = put_slice(s->c.sink, &hole, err);
	c->since = gap->end;
	c->certain = false;
	c->thread = c->class = c->running.tid = 0;
	return ret;
}

/*
 * Return a stamp that is not below the CPU's last one. Stamps of one CPU never decrease unless the
 * clock jumps.
 */
static uint64_t not_before_last(struct schedule *s, struct scheduled_cpu *c, uint64_t time)
{
	if (time >= c->last) {
		c->last = time;
		return time;
	}
	s->counts.disorder++;
	return c->last;
}

int schedule_record(struct schedule *s, const struct switch_record *r, struct error *err)
{
	struct scheduled_cpu *c = &s->cpus[r->cpu];
	uint64_t time;
	int ret;

	if (switch_kind(&r->wire) == SWITCH_GAP)
		return on_gap(s, r, err);
	time = not_before_last(s, c, r->time);
	switch (switch_kind(&r->wire)) {
	case WIRE_MONITOR:
		c->class = r->wire.body;
		return 0;
	case WIRE_SWITCH:
		ret = on_switch(s, c, &r->wire, time, err);
		c->class = 0;
		return ret;
	case WIRE_WAKING:
	case WIRE_NEW:
		return on_waking(s, r, time, err);
	case WIRE_MIGRATE:
		return on_migration(s, &r->wire, time, err);
	default:
		s->counts.disorder++;
		return 0;
	}
}

bool schedule_take_snapshot_due(struct schedule *s)
{
	bool snapshot_due = s->snapshot_due;

	s->snapshot_due = false;
	return snapshot_due;
}

/*
 * Set the running thread of a CPU whose running thread is not known. thread: its thread.id; 0: the
 * thread is not selected.
 */
static int set_found_running(struct schedule *s, const struct wire_task *t, uint64_t thread)
{
	struct scheduled_cpu *c = t->cpu < s->c.cpus ? &s->cpus[t->cpu] : NULL;

	if (c && c->runs && !c->certain && c->since <= t->time) {
		c->running = (struct switched_thread){t->tid, !thread};
		c->thread = thread;
		c->certain = true;
	}
	return 0;
}

int schedule_task_found(struct schedule *s, const struct wire_task *t, struct error *err)
{
	const struct own_numbers own = namespace_own(s->c.namespace, t->pid, t->tid);
	const struct sampled_task task = {
		.pid = own.pid,
		.tid = own.tid,
		.ns_pid = t->ns_pid,
		.born = t->born,
		.cgroup = t->cgroup,
		.time = t->time,
		.kernel = t->flags & WIRE_PREV_KTHREAD,
	};
	struct slice r = {
		.time = schedule_round_time(t->time),
		.state = waits_state(t->state, t->flags),
		.wait = waits_class(t->state, t->flags, t->call),
	};
	struct resolved_task of;
	struct thread_entry *th;
	int ret;

	if (t->flags & WIRE_PREV_UNSELECTED || own.tid == NUMBER_OUTSIDE)
		return set_found_running(s, t, 0);
	ret = process_table_resolve(s->c.table, &task, &of, err);
	if (ret || (s->c.wanted && !s->c.wanted(s->c.context, of.process, of.thread)))
		return ret;
	th = of.thread;
	if (r.state == STATE_RUNNING)
		return set_found_running(s, t, th->id);
	if (th->seen == s->epoch || r.state == STATE_DEAD)
		return 0;
	th->seen = s->epoch;
	if (s->c.waits && (r.state == STATE_SLEEPING || r.state == STATE_DISK))
		th->wait = (struct thread_wait){.epoch = s->epoch,
						.left = t->time,
						.wait = (uint8_t)r.wait,
						.cpu = (uint16_t)t->cpu};
	r.lane = th->lane;
	return put_slice(s->c.sink, &r, err);
}

int schedule_renamed(struct schedule *s, uint32_t own_tid, uint64_t time, struct error *err)
{
	uint32_t tid = namespace_global(s->c.namespace, own_tid);

	for (unsigned int i = 0; i < s->c.cpus; i++) {
		struct scheduled_cpu *c = &s->cpus[i];
		int ret;

		/* Unselected threads stay unselected after a rename. */
		if (!c->runs || !c->certain || c->running.other || c->running.tid != tid ||
		    time < c->since)
			continue;
		ret = close_slice(s, c, time, (struct leaving){STATE_RUNNING, WAIT_NONE}, err);
		return ret ? ret : set_running_thread(s, c, c->running, time, err);
	}
	return 0;
}

int schedule_cpu_begins(struct schedule *s, unsigned int cpu, uint64_t time, bool online,
			struct error *err)
{
	struct scheduled_cpu *c = &s->cpus[cpu];

	c->runs = true;
	c->certain = !online;
	c->since = time;
	c->offline = online ? 0 : time;
	return online ? cpu_lane(s, c, err) : 0;
}

void schedule_cpu_gone(struct schedule *s, unsigned int cpu, uint64_t time)
{
	struct scheduled_cpu *c = &s->cpus[cpu];

	if (c->runs && !c->offline)
		c->offline = time;
}

int schedule_tick(struct schedule *s, uint64_t mark, struct error *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->c.cpus; i++) {
		struct scheduled_cpu *c = &s->cpus[i];
		struct leaving left = {.wait = WAIT_NONE};
		bool was_offline;

		if (!c->runs || !c->certain || mark <= c->since + LONG_SLICE ||
		    (c->offline && !c->lane))
			continue;
		was_offline = c->offline && c->offline < mark;
		left.state = c->running.tid ? STATE_RUNNING : STATE_IDLE;
		ret = close_slice(s, c, mark, left, err);
		c->offline = was_offline ? mark : c->offline;
	}
	return ret;
}

int schedule_end(struct schedule *s, uint64_t time, struct error *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->c.cpus; i++) {
		struct scheduled_cpu *c = &s->cpus[i];

		/* A CPU that was never online has no slices. */
		if (c->runs && time > c->since && (c->lane || !c->offline))
			ret = close_slice(s, c, time, (struct leaving){STATE_NONE, WAIT_NONE}, err);
		c->runs = false;
	}
	return ret;
}

int schedule_resume(struct schedule *s, uint64_t time, struct error *err)
{
	int ret = 0;

	s->epoch++;
	for (unsigned int i = 0; !ret && i < s->c.cpus; i++) {
		const struct scheduled_cpu *c = &s->cpus[i];
		const struct slice hole = {
			.time = schedule_round_time(c->since),
			.end = schedule_round_time(time),
			.lane = c->lane,
			.state = STATE_UNKNOWN,
		};

		if (c->lane && hole.time < hole.end)
			ret = put_slice(s->c.sink, &hole, err);
		s->cpus[i].thread = s->cpus[i].running.tid = 0;
	}
	return ret;
}

uint64_t schedule_epoch(const struct schedule *s)
{
	return s->epoch;
}

const struct schedule_counts *schedule_counts(const struct schedule *s)
{
	return &s->counts;
}
