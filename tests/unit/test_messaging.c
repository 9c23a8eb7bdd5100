// SPDX-License-Identifier: Apache-2.0
/*
 * Bound the size of a switch on disk, with a made-up load like `perf bench sched messaging`: 10
 * groups of 20 senders and 20 receivers on two CPUs, a million switches. Senders send to the
 * receivers of their group in turn until they are preempted or must wait for room; a woken thread
 * waits for its CPU. The records are the same in every run, and the bounds are close to the sizes
 * of the writer, so that the loss of an encoding is found. Sizes of the real load are in
 * docs/performance.md.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "suite.h"
#include "synthetic.h"
#include "trace/trace.h"

#define GROUPS 10u
#define SIDE 20u /* senders of a group, and receivers */
#define THREADS (GROUPS * SIDE * 2)
#define CPUS 2u
#define SWITCHES 1000000u
#define STAMP 64u /* ns, as sched.resolution */
#define SECOND 1000000000ULL
#define START (1000 * SECOND)
#define FLUSH 4096u

/* Bytes per switch: 1 % more than the writer takes. */
#define RECORDS_BYTES 5.28
#define FILE_BYTES 6.12

struct made {
	uint64_t order;
	enum record_kind kind;
	union {
		struct slice slice;
		struct edge edge;
	} record;
};

struct worker {
	uint64_t ready; /* ns: time of its wake-up */
	unsigned int cpu, next; /* next: for a sender, the receiver of its next message */
	bool waits;
};

struct queue {
	unsigned int workers[THREADS];
	unsigned int head, count;
	uint64_t now; /* ns: the CPU has slices until this time */
};

struct load {
	struct sink *sink;
	struct worker workers[THREADS];
	struct queue cpus[CPUS];
	struct made made[FLUSH * 4];
	unsigned int count;
	uint64_t random, switches, tick;
};

static uint64_t below(struct load *l, uint64_t limit)
{
	return (synthetic_random(&l->random) >> 20) % limit;
}

/* Return ns, on a logarithmic scale from 64 to 64 << powers. */
static uint64_t about(struct load *l, unsigned int powers)
{
	uint64_t scale = 1ULL << (powers - 3 + below(l, 4));

	return STAMP * (scale + below(l, scale));
}

static void put(struct load *l, enum record_kind kind, const void *record)
{
	struct error err = {0};

	ck_assert_msg(!sink_put(l->sink, kind, record, &err), "%s", err.text);
}

static int compare(const void *a, const void *b)
{
	const struct made *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->kind == y->kind ? 0 : x->kind < y->kind ? -1 : 1;
}

/* Put the records that are older than all later ones, in their order. */
static void flush(struct load *l, uint64_t until)
{
	struct error err = {0};
	unsigned int done = 0;

	qsort(l->made, l->count, sizeof(*l->made), compare);
	while (done < l->count && l->made[done].order <= until) {
		put(l, l->made[done].kind, &l->made[done].record);
		done++;
	}
	memmove(l->made, l->made + done, (l->count - done) * sizeof(*l->made));
	l->count -= done;
	if (until < l->tick)
		return;
	ck_assert_msg(!sink_tick(l->sink, until, &err), "%s", err.text);
	l->tick = until + SECOND;
}

static struct made *make(struct load *l, enum record_kind kind, uint64_t order)
{
	struct made *m = &l->made[l->count++];

	*m = (struct made){.order = order, .kind = kind};
	return m;
}

static void enqueue(struct load *l, unsigned int worker, uint64_t time)
{
	struct worker *w = &l->workers[worker];
	struct queue *q = &l->cpus[w->cpu];

	w->waits = false;
	w->ready = time;
	q->workers[(q->head + q->count++) % THREADS] = worker;
}

static uint64_t lane_of(unsigned int worker)
{
	return 1 + CPUS + worker;
}

static void wake(struct load *l, unsigned int waker, unsigned int worker, uint64_t time)
{
	struct worker *w = &l->workers[worker];

	if (!w->waits)
		return;
	if (!below(l, 16))
		w->cpu = !w->cpu;
	make(l, KIND_EDGE, time)->record.edge = (struct edge){.time = time,
							      .end = time,
							      .from = lane_of(waker),
							      .to = lane_of(worker),
							      .kind = EDGE_WAKEUP,
							      .value = w->cpu + 1};
	enqueue(l, worker, time);
}

static unsigned int group_of(unsigned int worker)
{
	return worker / (2 * SIDE) * 2 * SIDE;
}

static bool sends(unsigned int worker)
{
	return worker % (2 * SIDE) >= SIDE;
}

/* Run a thread from time on: return when it ends, and whether it is preempted then. */
static uint64_t run(struct load *l, unsigned int worker, uint64_t time, bool *preempted)
{
	struct worker *w = &l->workers[worker];
	uint64_t end = time + about(l, sends(worker) ? 12 : 10);

	*preempted = sends(worker) ? !below(l, 3) : !below(l, 32);
	if (!sends(worker)) {
		wake(l, worker, group_of(worker) + SIDE + (unsigned int)below(l, SIDE),
		     end - STAMP);
		return end;
	}
	for (uint64_t at = time + about(l, 7); at < end; at += about(l, 8))
		wake(l, worker, group_of(worker) + w->next++ % SIDE, at);
	return end;
}

static void end_slice(struct load *l, unsigned int cpu, const struct slice *s)
{
	make(l, KIND_SLICE, s->end)->record.slice = *s;
	l->cpus[cpu].now = s->end;
	l->switches++;
}

/* Make the CPU's next slice: of the first thread in its queue, or idle until there is one. */
static void step(struct load *l, unsigned int cpu)
{
	struct queue *q = &l->cpus[cpu];
	struct slice s = {.time = q->now, .lane = 1 + cpu, .state = STATE_IDLE};
	unsigned int worker = q->workers[q->head];
	bool preempted;

	s.end = !q->count ? l->cpus[!cpu].now + STAMP : l->workers[worker].ready;
	if (s.end > s.time)
		end_slice(l, cpu, &s);
	if (!q->count)
		return;
	q->head = (q->head + 1) % THREADS;
	q->count--;
	s.time = q->now;
	s.end = run(l, worker, s.time, &preempted);
	s.state = STATE_RUNNING;
	s.value = 1 + worker;
	s.left = preempted ? STATE_RUNNABLE : STATE_SLEEPING;
	s.wait = preempted ? WAIT_NONE : WAIT_PIPE;
	end_slice(l, cpu, &s);
	l->workers[worker].waits = true;
	if (preempted)
		enqueue(l, worker, s.end);
}

static void put_entities(struct load *l)
{
	put(l, KIND_HOST,
	    &(struct host){.id = 1, .hostname = "made up", .cpus = CPUS, .start = START});
	for (unsigned int i = 0; i < CPUS; i++)
		put(l, KIND_LANE,
		    &(struct lane){.id = 1 + i, .host = 1, .kind = LANE_CPU, .number = i});
	for (unsigned int i = 0; i < THREADS; i++) {
		put(l, KIND_PROCESS,
		    &(struct process){
			    .id = 1 + i, .host = 1, .pid = 100 + i, .comm = "sched-messaging"});
		put(l, KIND_LANE,
		    &(struct lane){
			    .id = lane_of(i), .host = 1, .kind = LANE_THREAD, .number = 100 + i});
		put(l, KIND_THREAD,
		    &(struct thread){.id = 1 + i,
				     .lane = lane_of(i),
				     .process = 1 + i,
				     .tid = 100 + i,
				     .comm = "sched-messaging"});
	}
}

static void write_load(struct load *l)
{
	put_entities(l);
	for (unsigned int i = 0; i < CPUS; i++)
		l->cpus[i].now = START;
	for (unsigned int i = 0; i < THREADS; i++) {
		l->workers[i].cpu = i / (2 * SIDE) % CPUS;
		enqueue(l, i, START);
	}
	l->tick = START + SECOND;
	while (l->switches < SWITCHES) {
		step(l, l->cpus[0].now <= l->cpus[1].now ? 0 : 1);
		if (l->count > FLUSH)
			flush(l, l->cpus[0].now < l->cpus[1].now ? l->cpus[0].now : l->cpus[1].now);
	}
	flush(l, l->cpus[0].now > l->cpus[1].now ? l->cpus[0].now : l->cpus[1].now);
}

static double ask(const char *path, const char *sql)
{
	sqlite3_stmt *stmt;
	sqlite3 *db;
	double ret;

	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	ret = sqlite3_column_double(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return ret;
}

START_TEST(a_switch_is_small)
{
	static struct load l = {.random = 17};
	char path[] = "/tmp/skein-messaging-test-XXXXXX";
	struct error err = {0};
	double records, file;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	unlink(path);
	ck_assert_msg(!trace_writer(&l.sink, path, &err), "%s", err.text);
	write_load(&l);
	ck_assert_msg(!l.sink->ops->finish(l.sink, &err), "%s", err.text);
	sink_free(l.sink);
	records = ask(path, "SELECT sum(length(data)) FROM chunk WHERE kind IN ('slice', 'edge')");
	file = ask(path, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
	records /= (double)l.switches;
	file /= (double)l.switches;
	printf("%" PRIu64 " switches, bytes of each: %.3f of slices and edges, %.3f of the file\n",
	       l.switches, records, file);
	ck_assert_double_eq(ask(path, "SELECT sum(records) FROM chunk WHERE kind = 'slice'"),
			    (double)l.switches);
	ck_assert_double_gt(ask(path, "SELECT sum(records) FROM chunk WHERE kind = 'edge'"),
			    0.5 * (double)l.switches);
	ck_assert_double_lt(records, RECORDS_BYTES);
	ck_assert_double_lt(file, FILE_BYTES);
	unlink(path);
}
END_TEST

SUITE("messaging", a_switch_is_small)
