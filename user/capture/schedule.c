// SPDX-License-Identifier: Apache-2.0
/*
 * The arrays of all CPUs are merged by time. A CPU's slice is put when it ends,
 * a wake-up when it happens; what ends is certain from the record itself,
 * which names who left and who came.
 */
#include "capture/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "capture/clock.h"
#include "capture/waits.h"

/* Records copied at once, of all CPUs and of each. */
#define BATCH_ALL (1U << 18)
#define BATCH_LEAST 4096
/* A slice longer than that is put in parts. */
#define LONG_SLICE NSEC_PER_SEC
/* Threads whose ids are at hand. */
#define KNOWN (1U << 12)

/* In a queue: records before this one were overwritten; their number is the body. */
#define RECORD_GAP 15

#define TIME_MASK ((1ULL << WIRE_TIME_BITS) - 1)
#define TID_MASK ((1U << WIRE_TID_BITS) - 1)

/* Who a number stands for, while the process table's generation is the same. */
struct known {
	uint64_t generation; /* + 1; 0: free */
	struct thread_entry *thread;
	uint32_t tid;
	bool wanted;
};

struct cpu {
	VECTOR(struct wire_switch) queue;
	size_t head; /* those before are done */
	uint64_t passed; /* all that is older has been copied, ns */
	uint64_t lane; /* lane.id; 0: not met yet */
	uint64_t interrupts[INTERRUPT_COUNT]; /* lane.id of each kind; 0: not met yet */
	uint64_t since; /* of the open slice, ns */
	uint64_t last; /* time of the last record, ns */
	uint64_t thread; /* thread.id of who runs; 0: nobody, or nobody asked for */
	uint32_t tid; /* of who runs */
	bool runs; /* it is recorded */
	bool gone; /* it was, and is offline */
	bool other; /* who runs was not asked for: what follows may not be recorded */
	bool certain; /* who runs has been told */
};

struct schedule {
	struct schedule_context c;
	unsigned int cpu_count, batch;
	struct cpu *cpus;
	unsigned int *heap; /* CPUs with records, the oldest first */
	unsigned int heap_count;
	uint64_t now; /* after the last copying: what the 48 bits of a stamp count back from */
	uint64_t mark; /* of the last release */
	uint64_t other; /* when a record of other rings is due, ns */
	uint64_t epoch; /* grows with every loss: what was known of threads is not any more */
	bool more, wish;
	struct schedule_counts counts;
	struct known known[KNOWN];
};

int schedule_new(struct schedule **ret, const struct schedule_context *c, struct error *err)
{
	struct schedule *s = calloc(1, sizeof(*s));

	if (!s)
		return error_errno(err, -ENOMEM, "switches");
	s->c = *c;
	s->cpu_count = switches_cpus(c->switches);
	s->batch = BATCH_ALL / s->cpu_count;
	if (s->batch < BATCH_LEAST)
		s->batch = BATCH_LEAST;
	s->epoch = 1;
	s->cpus = calloc(s->cpu_count, sizeof(*s->cpus));
	s->heap = calloc(s->cpu_count, sizeof(*s->heap));
	if (!s->cpus || !s->heap) {
		schedule_free(s);
		return error_errno(err, -ENOMEM, "switches");
	}
	*ret = s;
	return 0;
}

void schedule_free(struct schedule *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; s->cpus && i < s->cpu_count; i++)
		vector_free(&s->cpus[i].queue);
	free(s->cpus);
	free(s->heap);
	free(s);
}

static uint64_t rounded(uint64_t time)
{
	return time & ~(uint64_t)(SCHEDULE_RESOLUTION - 1);
}

static uint64_t time_of(const struct schedule *s, const struct wire_switch *r)
{
	return s->now - ((s->now - r->head) & TIME_MASK);
}

static unsigned int kind_of(const struct wire_switch *r)
{
	return r->head >> WIRE_TIME_BITS & 15;
}

static unsigned int how_of(const struct wire_switch *r)
{
	return r->head >> (WIRE_TIME_BITS + 4) & 15;
}

static unsigned int detail_of(const struct wire_switch *r)
{
	return (unsigned int)(r->head >> (WIRE_TIME_BITS + 8));
}

static uint32_t first_of(const struct wire_switch *r)
{
	return (uint32_t)r->body & TID_MASK;
}

static uint32_t second_of(const struct wire_switch *r)
{
	return (uint32_t)(r->body >> WIRE_TID_BITS) & TID_MASK;
}

static unsigned int number_of(const struct wire_switch *r)
{
	return (unsigned int)(r->body >> 2 * WIRE_TID_BITS);
}

static int put_gap(struct cpu *c, uint64_t time, uint64_t lost)
{
	struct wire_switch gap = {
		.head = (time & TIME_MASK) | (uint64_t)RECORD_GAP << WIRE_TIME_BITS,
		.body = lost,
	};

	return vector_push(&c->queue, gap);
}

static void drop_done(struct cpu *c)
{
	size_t left = c->queue.count - c->head;

	if (!c->head)
		return;
	memmove(c->queue.items, c->queue.items + c->head, left * sizeof(*c->queue.items));
	c->queue.count = left;
	c->head = 0;
}

/* Time of the youngest record that was copied of a CPU. */
static uint64_t youngest(const struct cpu *c)
{
	return c->queue.count ? c->queue.items[c->queue.count - 1].head : c->last;
}

static int take_from(struct schedule *s, unsigned int cpu, uint64_t now)
{
	struct cpu *c = &s->cpus[cpu];
	uint64_t lost, before;
	size_t count;
	bool more;

	drop_done(c);
	before = youngest(c);
	if (vector_reserve(&c->queue, s->batch + 1) < 0)
		return -ENOMEM;
	/* one place is kept for what tells of a gap */
	count = switches_take(s->c.switches, cpu, c->queue.items + c->queue.count + 1, s->batch,
			      &lost, &more);
	if (lost && put_gap(c, before, lost) < 0)
		return -ENOMEM;
	if (!lost)
		memmove(c->queue.items + c->queue.count, c->queue.items + c->queue.count + 1,
			count * sizeof(*c->queue.items));
	c->queue.count += count;
	c->passed = now;
	if (more) {
		s->more = true;
		c->passed = 0; /* until its last record, see schedule_mark() */
	}
	return 0;
}

int schedule_take(struct schedule *s)
{
	uint64_t now = boot_now();
	int ret = 0;

	s->more = false;
	for (unsigned int i = 0; !ret && i < s->cpu_count; i++)
		ret = take_from(s, i, now);
	s->now = boot_now();
	return ret;
}

uint64_t schedule_mark(const struct schedule *s)
{
	uint64_t mark = UINT64_MAX;

	for (unsigned int i = 0; i < s->cpu_count; i++) {
		const struct cpu *c = &s->cpus[i];
		struct wire_switch last = {.head = youngest(c)};
		uint64_t passed = c->passed ? c->passed : time_of(s, &last);

		if (passed < mark)
			mark = passed;
	}
	return mark > ORDER_MARGIN ? mark - ORDER_MARGIN : 0;
}

bool schedule_has_more(const struct schedule *s)
{
	return s->more;
}

bool schedule_take_wish(struct schedule *s)
{
	bool wish = s->wish;

	s->wish = false;
	return wish;
}

/* A heap of CPUs by the time of their oldest record. */
static uint64_t next_time(const struct schedule *s, unsigned int cpu)
{
	const struct cpu *c = &s->cpus[cpu];

	return time_of(s, &c->queue.items[c->head]);
}

static void sift_down(struct schedule *s, unsigned int at)
{
	unsigned int cpu = s->heap[at], child;
	uint64_t time = next_time(s, cpu);

	while ((child = 2 * at + 1) < s->heap_count) {
		if (child + 1 < s->heap_count &&
		    next_time(s, s->heap[child + 1]) < next_time(s, s->heap[child]))
			child++;
		if (next_time(s, s->heap[child]) >= time)
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = cpu;
}

static void make_heap(struct schedule *s)
{
	s->heap_count = 0;
	for (unsigned int i = 0; i < s->cpu_count; i++)
		if (s->cpus[i].head < s->cpus[i].queue.count)
			s->heap[s->heap_count++] = i;
	for (unsigned int i = s->heap_count / 2; i-- > 0;)
		sift_down(s, i);
}

/* When the record behind the oldest one's CPU is due: it has its turn until then. */
static uint64_t second_time(const struct schedule *s)
{
	uint64_t time = UINT64_MAX;

	for (unsigned int i = 1; i < 3 && i < s->heap_count; i++)
		if (next_time(s, s->heap[i]) < time)
			time = next_time(s, s->heap[i]);
	return time;
}

static int find_known(struct schedule *s, struct known *k, uint32_t tid, uint64_t time,
		      struct error *err)
{
	struct process_entry *p;
	bool unknown;
	int ret = process_table_thread(s->c.table, tid, time, &p, &k->thread, &unknown, err);

	if (ret)
		return ret;
	if (unknown)
		s->c.unknown(s->c.context, tid);
	k->tid = tid;
	k->wanted = !s->c.wanted || s->c.wanted(s->c.context, p, k->thread);
	k->generation = process_table_generation(s->c.table) + 1;
	return 0;
}

/* The thread of a number at a time. 0 and *ret, which is valid until the next call. */
static int thread_of(struct schedule *s, uint32_t tid, uint64_t time, const struct known **ret,
		     struct error *err)
{
	struct known *k = &s->known[tid % KNOWN];
	int result = 0;

	if (k->tid != tid || k->generation != process_table_generation(s->c.table) + 1)
		result = find_known(s, k, tid, time, err);
	if (result)
		k->generation = 0;
	else
		k->thread->seen = s->epoch;
	*ret = k;
	return result;
}

static int cpu_lane(struct schedule *s, unsigned int cpu, struct error *err)
{
	struct cpu *c = &s->cpus[cpu];
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

static int interrupt_lane(struct schedule *s, unsigned int cpu, enum interrupt kind,
			  uint64_t *ret, struct error *err)
{
	struct cpu *c = &s->cpus[cpu];
	char name[64];
	struct lane lane = {
		.host = s->c.host,
		.parent = c->lane,
		.kind = LANE_INTERRUPT,
		.number = kind,
		.name = name,
	};
	int result = 0;

	if (!c->interrupts[kind]) {
		snprintf(name, sizeof(name), "%s on CPU %u", interrupt_word(kind), cpu);
		lane.id = c->interrupts[kind] = ++*s->c.last_lane;
		result = put_lane(s->c.sink, &lane, err);
	}
	*ret = c->interrupts[kind];
	return result;
}

/* Put the open slice as far as time, and begin the next one there. */
static int close_slice(struct schedule *s, struct cpu *c, uint64_t time, enum slice_state left,
		       enum wait_class wait, struct error *err)
{
	struct slice r = {
		.time = rounded(c->since),
		.end = rounded(time),
		.lane = c->lane,
		.state = c->tid ? STATE_RUNNING : STATE_IDLE,
		.value = c->thread,
		.left = c->thread || left == STATE_IDLE ? left : STATE_NONE,
		.wait = c->thread ? wait : WAIT_NONE,
	};

	c->since = time;
	return r.time < r.end ? put_slice(s->c.sink, &r, err) : 0;
}

/* Who has the CPU now. other: nobody who was asked for. */
static int take_cpu(struct schedule *s, struct cpu *c, uint32_t tid, bool other, uint64_t time,
		    struct error *err)
{
	const struct known *k;
	int ret;

	c->tid = tid;
	c->thread = 0;
	c->certain = true;
	c->other = other;
	if (!tid || other)
		return 0;
	ret = thread_of(s, tid, time, &k, err);
	if (!ret && k->wanted)
		c->thread = k->thread->id;
	return ret;
}

/* In the state of a thread from time on; since when it is not certain what it did, 0: it is. */
static int put_seen(struct schedule *s, uint32_t tid, uint64_t time, enum slice_state state,
		    enum wait_class wait, uint64_t since, struct error *err)
{
	struct slice r = {
		.time = rounded(time),
		.state = state,
		.wait = wait,
		.value = rounded(since),
	};
	const struct known *k;
	int ret = tid ? thread_of(s, tid, time, &k, err) : 0;

	if (ret || !tid || !k->wanted)
		return ret;
	r.lane = k->thread->lane;
	return put_slice(s->c.sink, &r, err);
}

/*
 * Somebody leaves who has never come: the kernel has not told of a switch. Who
 * was there has left at some time, who leaves has come at some time, and has slept or
 * waited before; more is not known.
 */
static int on_untold(struct schedule *s, struct cpu *c, const struct wire_switch *r, uint64_t time,
		     struct error *err)
{
	unsigned int how = how_of(r), detail = detail_of(r);
	struct slice hole = {
		.time = rounded(c->since),
		.end = rounded(time),
		.lane = c->lane,
		.state = STATE_UNKNOWN,
		.value = c->thread,
	};
	const struct known *k;
	int ret = 0;

	s->counts.untold++;
	if (!hole.value && second_of(r)) {
		ret = thread_of(s, second_of(r), time, &k, err);
		hole.value = ret ? 0 : k->thread->id;
	}
	if (!ret && hole.value && hole.time < hole.end)
		ret = put_slice(s->c.sink, &hole, err);
	if (!ret)
		ret = put_seen(s, c->tid, time, STATE_UNKNOWN, WAIT_NONE, c->since, err);
	if (!ret)
		ret = put_seen(s, second_of(r), time, waits_state(how, detail),
			       waits_class(how, detail, number_of(r)), c->since, err);
	c->since = time;
	return ret;
}

static int on_switch(struct schedule *s, struct cpu *c, const struct wire_switch *r, uint64_t time,
		     struct error *err)
{
	unsigned int how = how_of(r), detail = detail_of(r);
	uint32_t next = first_of(r), previous = second_of(r);
	enum slice_state left = waits_state(how, detail);
	int ret = 0;

	if (!c->runs)
		return 0;
	s->counts.switches++;
	if (c->certain && c->tid != previous && !c->other && !(detail & WIRE_LEFT_OTHER)) {
		ret = on_untold(s, c, r, time, err);
		return ret ? ret : take_cpu(s, c, next, detail & WIRE_NEXT_OTHER, time, err);
	}
	/* the record knows better than we, at the begin and where others are not recorded */
	if (!c->certain || c->tid != previous)
		ret = take_cpu(s, c, previous, detail & WIRE_LEFT_OTHER, time, err);
	if (!ret)
		ret = close_slice(s, c, time, left, waits_class(how, detail, number_of(r)), err);
	if (!ret)
		ret = take_cpu(s, c, next, detail & WIRE_NEXT_OTHER, time, err);
	return ret;
}

static enum interrupt interrupt_of(unsigned int context)
{
	static const uint8_t interrupts[] = {
		[WIRE_BY_TASK] = INTERRUPT_OTHER,   [WIRE_BY_TIMER] = INTERRUPT_TIMER,
		[WIRE_BY_NETWORK] = INTERRUPT_NETWORK, [WIRE_BY_BLOCK] = INTERRUPT_BLOCK,
		[WIRE_BY_IPI] = INTERRUPT_IPI,	    [WIRE_BY_INTERRUPT] = INTERRUPT_OTHER,
	};

	return context < sizeof(interrupts) ? (enum interrupt)interrupts[context] :
					      INTERRUPT_OTHER;
}

/* The lane of what woke somebody: a thread, or an interrupt. */
static int waker_lane(struct schedule *s, unsigned int cpu, const struct wire_switch *r,
		      uint64_t time, uint64_t *ret, struct error *err)
{
	const struct known *k;
	int result;

	if (how_of(r) != WIRE_BY_TASK || !second_of(r))
		return interrupt_lane(s, cpu, interrupt_of(how_of(r)), ret, err);
	result = thread_of(s, second_of(r), time, &k, err);
	if (!result)
		*ret = k->thread->lane;
	return result;
}

/* A wake-up is followed at once by what moves the thread to another CPU, if that is so. */
static unsigned int target_of(struct cpu *c, const struct wire_switch *r)
{
	const struct wire_switch *next = r + 1;

	if (c->head < c->queue.count && kind_of(next) == WIRE_MIGRATE &&
	    first_of(next) == first_of(r)) {
		c->head++;
		return number_of(next);
	}
	return number_of(r);
}

static int on_waking(struct schedule *s, unsigned int cpu, const struct wire_switch *r,
		     uint64_t time, struct error *err)
{
	struct edge e = {
		.time = rounded(time),
		.end = rounded(time),
		.kind = kind_of(r) == WIRE_NEW ? EDGE_FORK : EDGE_WAKEUP,
		.value = target_of(&s->cpus[cpu], r) + 1,
	};
	const struct known *k;
	int ret = thread_of(s, first_of(r), time, &k, err);

	if (ret || !k->wanted)
		return ret;
	e.to = k->thread->lane;
	ret = waker_lane(s, cpu, r, time, &e.from, err);
	s->counts.wakeups++;
	return ret ? ret : put_edge(s->c.sink, &e, err);
}

/* Not at a wake-up: somebody evens out what the CPUs have to do. */
static int on_migration(struct schedule *s, const struct wire_switch *r, uint64_t time,
			struct error *err)
{
	unsigned int from = second_of(r), to = number_of(r);
	struct edge e = {
		.time = rounded(time),
		.end = rounded(time),
		.kind = EDGE_MIGRATION,
	};
	const struct known *k;
	int ret;

	if (from >= s->cpu_count || to >= s->cpu_count || !first_of(r))
		return 0;
	ret = thread_of(s, first_of(r), time, &k, err);
	if (ret || !k->wanted)
		return ret;
	e.value = k->thread->id;
	ret = cpu_lane(s, from, err);
	if (!ret)
		ret = cpu_lane(s, to, err);
	e.from = s->cpus[from].lane;
	e.to = s->cpus[to].lane;
	s->counts.migrations++;
	return ret ? ret : put_edge(s->c.sink, &e, err);
}

/* When it is certain again who has the CPU: at the next switch that was copied. */
static uint64_t end_of_gap(const struct schedule *s, const struct cpu *c)
{
	for (size_t i = c->head; i < c->queue.count; i++)
		if (kind_of(&c->queue.items[i]) == WIRE_SWITCH)
			return time_of(s, &c->queue.items[i]);
	return s->now;
}

static int on_gap(struct schedule *s, unsigned int cpu, uint64_t lost, struct error *err)
{
	struct cpu *c = &s->cpus[cpu];
	uint64_t begin = c->last > c->since ? c->last : c->since, end = end_of_gap(s, c);
	struct slice hole = {
		.time = rounded(begin),
		.end = rounded(end),
		.lane = c->lane,
		.state = STATE_UNKNOWN,
	};
	struct loss loss = {
		.host = s->c.host,
		.cpu = cpu + 1,
		.reason = LOSS_SWITCHES_LOST,
		.time = begin,
		.end = end,
		.count = lost,
	};
	int ret;

	s->counts.lost += lost;
	s->epoch++;
	s->wish = true;
	ret = put_loss(s->c.sink, &loss, err);
	if (ret || !c->runs)
		return ret;
	if (c->certain)
		ret = close_slice(s, c, begin, STATE_NONE, WAIT_NONE, err);
	else
		hole.time = rounded(c->since);
	if (!ret && hole.time < hole.end)
		ret = put_slice(s->c.sink, &hole, err);
	c->since = end;
	c->certain = false;
	c->thread = c->tid = 0;
	return ret;
}

/* Stamps of one CPU never go back, but for a clock that jumps. */
static uint64_t forwards(struct schedule *s, struct cpu *c, uint64_t time)
{
	if (time >= c->last) {
		c->last = time;
		return time;
	}
	s->counts.disorder++;
	return c->last;
}

static int release_one(struct schedule *s, unsigned int cpu, struct error *err)
{
	struct cpu *c = &s->cpus[cpu];
	const struct wire_switch *r = &c->queue.items[c->head++];
	uint64_t time;

	if (kind_of(r) == RECORD_GAP)
		return on_gap(s, cpu, r->body, err);
	time = forwards(s, c, time_of(s, r));
	switch (kind_of(r)) {
	case WIRE_SWITCH:
		return on_switch(s, c, r, time, err);
	case WIRE_WAKING:
	case WIRE_NEW:
		return on_waking(s, cpu, r, time, err);
	case WIRE_MIGRATE:
		return on_migration(s, r, time, err);
	default:
		s->counts.disorder++;
		return 0;
	}
}

/* Records of one CPU for as long as no other's are older, and nothing else is due. */
static int release_run(struct schedule *s, unsigned int cpu, uint64_t until, struct error *err)
{
	struct cpu *c = &s->cpus[cpu];
	uint64_t time;
	int ret = 0;

	while (!ret && c->head < c->queue.count && (time = next_time(s, cpu)) <= until) {
		if (s->other <= time) {
			ret = s->c.before(s->c.context, time, err);
			s->other = s->c.next(s->c.context);
		}
		if (!ret)
			ret = release_one(s, cpu, err);
	}
	return ret;
}

int schedule_release(struct schedule *s, uint64_t mark, struct error *err)
{
	int ret = 0;

	make_heap(s);
	s->other = s->c.next(s->c.context);
	while (!ret && s->heap_count && next_time(s, s->heap[0]) <= mark) {
		unsigned int cpu = s->heap[0];
		uint64_t until = second_time(s);

		ret = release_run(s, cpu, until < mark ? until : mark, err);
		if (s->cpus[cpu].head == s->cpus[cpu].queue.count)
			s->heap[0] = s->heap[--s->heap_count];
		if (s->heap_count)
			sift_down(s, 0);
	}
	s->mark = mark;
	return ret;
}

static int found_running(struct schedule *s, const struct wire_task *t, uint64_t thread)
{
	struct cpu *c = t->cpu < s->cpu_count ? &s->cpus[t->cpu] : NULL;

	if (c && c->runs && !c->certain && c->since <= t->time) {
		c->tid = t->tid;
		c->thread = thread;
		c->certain = true;
	}
	return 0;
}

int schedule_found(struct schedule *s, const struct wire_task *t, struct error *err)
{
	const struct sampled_task task = {
		.pid = t->pid,
		.tid = t->tid,
		.ns_pid = t->ns_pid,
		.born = t->born,
		.cgroup = t->cgroup,
		.time = t->time,
		.kernel = t->flags & WIRE_LEFT_KTHREAD,
	};
	struct slice r = {
		.time = rounded(t->time),
		.state = waits_state(t->state, t->flags),
		.wait = waits_class(t->state, t->flags, t->call),
	};
	struct process_entry *p;
	struct thread_entry *th;
	bool unknown;
	int ret = process_table_meet(s->c.table, &task, &p, &th, &unknown, err);

	if (ret || (s->c.wanted && !s->c.wanted(s->c.context, p, th)))
		return ret;
	if (r.state == STATE_RUNNING)
		return found_running(s, t, th->id);
	if (th->seen == s->epoch || r.state == STATE_DEAD)
		return 0;
	th->seen = s->epoch;
	r.lane = th->lane;
	return put_slice(s->c.sink, &r, err);
}

int schedule_renamed(struct schedule *s, uint32_t tid, uint64_t time, struct error *err)
{
	for (unsigned int i = 0; i < s->cpu_count; i++) {
		struct cpu *c = &s->cpus[i];
		int ret;

		if (!c->runs || !c->certain || c->tid != tid || time < c->since)
			continue;
		ret = close_slice(s, c, time, STATE_RUNNING, WAIT_NONE, err);
		return ret ? ret : take_cpu(s, c, tid, false, time, err);
	}
	return 0;
}

static int put_offline(struct schedule *s, struct cpu *c, uint64_t time, struct error *err)
{
	const struct slice r = {
		.time = rounded(c->since),
		.end = rounded(time),
		.lane = c->lane,
		.state = STATE_OFFLINE,
	};

	c->since = time;
	return c->gone && r.time < r.end ? put_slice(s->c.sink, &r, err) : 0;
}

int schedule_cpu_begins(struct schedule *s, unsigned int cpu, uint64_t time, struct error *err)
{
	struct cpu *c = &s->cpus[cpu];
	int ret;

	if (c->runs)
		return 0;
	ret = put_offline(s, c, time, err);
	if (ret)
		return ret;
	c->runs = true;
	c->gone = false;
	c->certain = false;
	c->tid = 0;
	c->thread = 0;
	c->since = time;
	switches_want(s->c.switches, cpu, true);
	return cpu_lane(s, cpu, err);
}

int schedule_cpu_ends(struct schedule *s, unsigned int cpu, uint64_t time, struct error *err)
{
	struct cpu *c = &s->cpus[cpu];

	if (!c->runs)
		return 0;
	switches_want(s->c.switches, cpu, false);
	c->runs = false;
	c->gone = true;
	return time > c->since ? close_slice(s, c, time, STATE_NONE, WAIT_NONE, err) : 0;
}

int schedule_tick(struct schedule *s, struct error *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->cpu_count; i++) {
		struct cpu *c = &s->cpus[i];

		if (c->runs && c->certain && s->mark > c->since + LONG_SLICE)
			ret = close_slice(s, c, s->mark, c->tid ? STATE_RUNNING : STATE_IDLE,
					  WAIT_NONE, err);
	}
	return ret;
}

void schedule_stop(struct schedule *s)
{
	for (unsigned int i = 0; i < s->cpu_count; i++)
		switches_want(s->c.switches, i, false);
}

int schedule_end(struct schedule *s, uint64_t time, struct error *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->cpu_count; i++)
		if (s->cpus[i].gone)
			ret = put_offline(s, &s->cpus[i], time, err);
		else
			ret = schedule_cpu_ends(s, i, time, err);
	return ret;
}

void schedule_counts(const struct schedule *s, struct schedule_counts *ret)
{
	*ret = s->counts;
}
