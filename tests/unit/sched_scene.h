/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small recording of the scheduler, as a source: 100 ms of two CPUs, with sums that can be
 * checked by hand. tests/readers/make_sched.c writes it to a file. Times in ms, and the thread that
 * ran between them:
 *
 *	CPU 0	0 load 10 db 30 load 40 idle 60 load 70 idle 80 load 100
 *	CPU 1	0 idle 20 db-io 25 idle 50 db-io 60 evil 65 idle 70 evil 72 idle 80 db 90 idle
 *		92 lost 100
 */
#ifndef SKEIN_TESTS_SCHED_SCENE_H
#define SKEIN_TESTS_SCHED_SCENE_H

#include "base/pipe.h"

#define SCHED_START 1000000000ULL
#define MS 1000000ULL
#define AT(ms) (SCHED_START + (ms)*MS)

/* Ids of threads; the id of a thread's lane is LANE_OF(id). */
enum { SCENE_DB = 1, SCENE_DB_IO, SCENE_LOAD, SCENE_EVIL, SCENE_KWORKER };
enum { SCENE_CPU_0 = 1, SCENE_CPU_1, SCENE_TIMER = 21, SCENE_BLOCK };
#define LANE_OF(thread) (10 + (thread))

static const struct host sched_scene_hosts[] = {
	{1, "web-1", "m", "b", "6.1.0-18-amd64", "x86_64", 2, 8ULL << 30, 1700000000000000000LL, 0,
	 SCHED_START, AT(100)},
};
static const struct process sched_scene_processes[] = {
	{1, 1, 100, 100, 1, 5, SCHED_START, 0, "db", "/usr/bin/db", "/system.slice/db.service", ""},
	{2, 1, 200, 200, 1, 6, SCHED_START, 0, "load", "/usr/bin/load", "/user.slice", ""},
	{3, 1, 300, 7, 1, 7, SCHED_START, 0, "e\x1b[2Jvil;\n\xff", "/x",
	 "/docker/0123456789abcdef0123", "0123456789abcdef0123"},
	{4, 1, 2, 2, 0, 1, SCHED_START, 0, "kworker/0:1", "", "/", ""},
};
static const struct thread sched_scene_threads[] = {
	{SCENE_DB, 1, 100, SCHED_START, 0, "db", LANE_OF(SCENE_DB)},
	{SCENE_DB_IO, 1, 101, SCHED_START, 0, "db-io", LANE_OF(SCENE_DB_IO)},
	{SCENE_LOAD, 2, 200, SCHED_START, 0, "load", LANE_OF(SCENE_LOAD)},
	{SCENE_EVIL, 3, 300, SCHED_START, 0, "e\x1b[2Jvil;\n\xff", LANE_OF(SCENE_EVIL)},
	{SCENE_KWORKER, 4, 2, SCHED_START, 0, "kworker/0:1", LANE_OF(SCENE_KWORKER)},
};
static const struct lane sched_scene_lanes[] = {
	{SCENE_CPU_0, 1, 0, LANE_CPU, 0, "CPU 0"},
	{SCENE_CPU_1, 1, 0, LANE_CPU, 1, "CPU 1"},
	{LANE_OF(SCENE_DB), 1, 0, LANE_THREAD, SCENE_DB, ""},
	{LANE_OF(SCENE_DB_IO), 1, 0, LANE_THREAD, SCENE_DB_IO, ""},
	{LANE_OF(SCENE_LOAD), 1, 0, LANE_THREAD, SCENE_LOAD, ""},
	{LANE_OF(SCENE_EVIL), 1, 0, LANE_THREAD, SCENE_EVIL, ""},
	{LANE_OF(SCENE_KWORKER), 1, 0, LANE_THREAD, SCENE_KWORKER, ""},
	{SCENE_TIMER, 1, SCENE_CPU_0, LANE_INTERRUPT, INTERRUPT_TIMER, ""},
	{SCENE_BLOCK, 1, SCENE_CPU_1, LANE_INTERRUPT, INTERRUPT_BLOCK, ""},
};

/* A slice or an edge (of kind WAKEUP), in the order in which they are put. */
static const struct sched_scene_record {
	struct slice slice;
	struct edge edge; /* kind 0: the record is a slice */
} sched_scene_records[] = {
#define SEEN(thread, state, wait) \
	{{SCHED_START, 0, LANE_OF(thread), state, 0, 0, wait}, {0}}
#define RAN(cpu, from, to, thread, left, wait) \
	{{AT(from), AT(to), cpu, STATE_RUNNING, thread, left, wait}, {0}}
#define IDLE(cpu, from, to) \
	{{AT(from), AT(to), cpu, STATE_IDLE, 0, 0, 0}, {0}}
#define LOST(cpu, from, to) \
	{{AT(from), AT(to), cpu, STATE_UNKNOWN, 0, 0, 0}, {0}}
#define WOKE(at, from, to, cpu) \
	{{0}, {AT(at), AT(at), from, to, EDGE_WAKEUP, cpu, 0}}
	SEEN(SCENE_DB, STATE_SLEEPING, WAIT_POLL),
	SEEN(SCENE_DB_IO, STATE_SLEEPING, WAIT_LOCK),
	SEEN(SCENE_EVIL, STATE_STOPPED, 0),
	SEEN(SCENE_KWORKER, STATE_UNUSED, 0),
	WOKE(8, SCENE_TIMER, LANE_OF(SCENE_DB), 1),
	RAN(SCENE_CPU_0, 0, 10, SCENE_LOAD, STATE_PREEMPTED, 0),
	WOKE(19, LANE_OF(SCENE_DB), LANE_OF(SCENE_DB_IO), 2),
	IDLE(SCENE_CPU_1, 0, 20),
	RAN(SCENE_CPU_1, 20, 25, SCENE_DB_IO, STATE_DISK, WAIT_IO),
	RAN(SCENE_CPU_0, 10, 30, SCENE_DB, STATE_SLEEPING, WAIT_LOCK),
	RAN(SCENE_CPU_0, 30, 40, SCENE_LOAD, STATE_SLEEPING, WAIT_SLEEP),
	WOKE(46, SCENE_BLOCK, LANE_OF(SCENE_DB_IO), 2),
	IDLE(SCENE_CPU_1, 25, 50),
	WOKE(55, LANE_OF(SCENE_DB_IO), LANE_OF(SCENE_EVIL), 2),
	WOKE(57, SCENE_TIMER, LANE_OF(SCENE_LOAD), 1),
	IDLE(SCENE_CPU_0, 40, 60),
	RAN(SCENE_CPU_1, 50, 60, SCENE_DB_IO, STATE_SLEEPING, WAIT_LOCK),
	RAN(SCENE_CPU_1, 60, 65, SCENE_EVIL, STATE_RUNNABLE, 0),
	RAN(SCENE_CPU_0, 60, 70, SCENE_LOAD, STATE_SLEEPING, WAIT_POLL),
	IDLE(SCENE_CPU_1, 65, 70),
	RAN(SCENE_CPU_1, 70, 72, SCENE_EVIL, STATE_SLEEPING, WAIT_CHILD),
	WOKE(78, SCENE_TIMER, LANE_OF(SCENE_LOAD), 1),
	WOKE(79, SCENE_BLOCK, LANE_OF(SCENE_DB), 2),
	IDLE(SCENE_CPU_0, 70, 80),
	IDLE(SCENE_CPU_1, 72, 80),
	RAN(SCENE_CPU_1, 80, 90, SCENE_DB, STATE_SLEEPING, WAIT_PIPE),
	IDLE(SCENE_CPU_1, 90, 92),
	LOST(SCENE_CPU_1, 92, 100),
	RAN(SCENE_CPU_0, 80, 100, SCENE_LOAD, 0, 0),
#undef SEEN
#undef RAN
#undef IDLE
#undef LOST
#undef WOKE
};

static const struct loss sched_scene_losses[] = {
	{1, 1, 0, 2, LOSS_SWITCHES_LOST, AT(92), AT(100), 1234, 0},
};

#define SCHED_SCENE_PUT(kind, list) \
	for (size_t i = 0; i < sizeof(list) / sizeof((list)[0]) && !rc; i++) \
		rc = put_##kind(to, &(list)[i], err);

static inline int sched_scene_run(struct source *s, struct sink *to, struct error *err)
{
	size_t count = sizeof(sched_scene_records) / sizeof(sched_scene_records[0]);
	int rc = 0;

	(void)s;
	SCHED_SCENE_PUT(host, sched_scene_hosts)
	SCHED_SCENE_PUT(process, sched_scene_processes)
	SCHED_SCENE_PUT(thread, sched_scene_threads)
	SCHED_SCENE_PUT(lane, sched_scene_lanes)
	for (size_t i = 0; i < count && !rc; i++) {
		const struct sched_scene_record *r = &sched_scene_records[i];

		rc = r->edge.kind ? put_edge(to, &r->edge, err) : put_slice(to, &r->slice, err);
	}
	SCHED_SCENE_PUT(loss, sched_scene_losses)
	return rc;
}

static inline void sched_scene_free(struct source *s)
{
	(void)s;
}

/* Return the scene as a source, which need not be freed. */
static inline struct source *sched_scene_source(void)
{
	static const struct source_ops ops = {.run = sched_scene_run, .free = sched_scene_free};
	static struct source s = {.ops = &ops};

	return &s;
}

#endif
