// SPDX-License-Identifier: Apache-2.0
/*
 * The process table: records are passed to it one by one, and the entities that it writes are
 * checked.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/clock.h"
#include "capture/process_private.h"
#include "process_stubs.h"
#include "world.h"

#define MOST 64

/* A sink that keeps the last state of every process and thread. */
static struct {
	struct sink sink;
	struct process processes[MOST];
	struct thread threads[MOST];
	char names[2][MOST][COMM_SIZE];
} kept;

static int keep(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	const struct process *p = record;
	const struct thread *t = record;

	(void)s;
	(void)err;
	if (kind == KIND_PROCESS) {
		kept.processes[p->id] = *p;
		strcpy(kept.names[0][p->id], p->comm);
	} else if (kind == KIND_THREAD) {
		kept.threads[t->id] = *t;
		strcpy(kept.names[1][t->id], t->comm);
	}
	return 0;
}

static const struct sink_ops keep_ops = {.put = keep};

static const char *no_path(void *context, uint64_t id)
{
	(void)context;
	return id == 7 ? "/seven" : "";
}

/* The arena of tables for the walkers; NULL: none. */
static struct arena *shown;

/* Return whether a process may be sampled; NULL: all may. */
static bool (*selecting)(void *context, uint32_t pid);

/* Programs that were reported as calm (see bpf/calm.h). */
static const struct object *calm[MOST];
static unsigned int calm_count;

static void note_calm(void *context, const struct object *program)
{
	(void)context;
	calm[calm_count++] = program;
}

static const char *comm_of_outsiders(void *context, uint32_t tid)
{
	(void)context;
	return tid == 70 ? "nsenter" : "";
}

static struct process_table *table(const char *glob)
{
	const struct process_context c = {
		.arena = shown,
		.sink = &kept.sink,
		.host = 1,
		.comm_glob = glob,
		.selected = selecting,
		.calm = note_calm,
		.cgroup_path = no_path,
		.place = no_process_place,
		.unrecorded_comm = comm_of_outsiders,
	};
	struct process_table *t = NULL;

	memset(&kept, 0, sizeof(kept));
	kept.sink = (struct sink){&keep_ops, WANT_ALL};
	ck_assert_int_eq(process_table_new(&t, &c, NULL), 0);
	return t;
}

static void life(struct process_table *t, enum life_kind kind, uint32_t pid, uint32_t parent,
		 uint64_t time, const char *text, int exec)
{
	const struct life_record l = {
		.kind = kind,
		.pid = pid,
		.tid = pid,
		.parent_pid = parent,
		.parent_tid = parent,
		.text = text,
		.exec = exec,
	};

	ck_assert_int_eq(process_table_life(t, &l, time, NULL), 0);
}

/* How many processes and threads the table has. */
static unsigned int held(const struct process_table *t)
{
	return HASH_COUNT(t->processes) + HASH_COUNT(t->threads);
}

static struct thread_entry *meet(struct process_table *t, uint32_t pid, uint64_t time,
				 uint64_t born)
{
	const struct sampled_task s = {.pid = pid, .tid = pid, .time = time, .born = born};
	struct resolved_task r;

	ck_assert_int_eq(process_table_resolve(t, &s, &r, NULL), 0);
	return r.thread;
}

START_TEST(an_exec_begins_another_program)
{
	struct process_table *t = table(NULL);
	uint64_t before, after;

	life(t, LIFE_COMM, 1, 0, 10, "shell", 0);
	life(t, LIFE_FORK, 2, 1, 20, NULL, 0);
	before = meet(t, 2, 21, 20)->id;
	life(t, LIFE_COMM, 2, 0, 30, "ls", 1);
	after = meet(t, 2, 31, 20)->id;
	ck_assert_uint_ne(before, after);
	ck_assert_str_eq(kept.names[1][before], "shell");
	ck_assert_str_eq(kept.names[1][after], "ls");
	ck_assert_uint_eq(kept.threads[before].end, 30);
	ck_assert_uint_ne(kept.threads[before].process, kept.threads[after].process);
	ck_assert_uint_eq(kept.processes[kept.threads[before].process].end, 30);
	ck_assert_uint_eq(kept.processes[kept.threads[after].process].end, 0);
	process_table_free(t);
}
END_TEST

/* The first process of a container is forked by one outside of the recorder's pid namespace. */
START_TEST(a_child_of_an_unknown_parent_has_a_name)
{
	struct process_table *t = table(NULL);
	const struct thread_entry *th;

	(void)meet(t, 0, 5, 0); /* the idle thread is not the parent */
	life(t, LIFE_FORK, 70, 0, 10, NULL, 0);
	th = meet(t, 70, 11, 10);
	ck_assert_str_eq(kept.names[1][th->id], "nsenter");
	ck_assert_str_eq(process_table_of_pid(t, 70)->name.comm, "nsenter");
	process_table_free(t);
}
END_TEST

START_TEST(a_renamed_thread_keeps_its_process)
{
	struct process_table *t = table(NULL);
	uint64_t before, after;

	life(t, LIFE_COMM, 5, 0, 10, "one", 0);
	before = meet(t, 5, 11, 0)->id;
	life(t, LIFE_COMM, 5, 0, 20, "two", 0);
	after = meet(t, 5, 21, 0)->id;
	ck_assert_uint_ne(before, after);
	ck_assert_str_eq(kept.names[1][before], "one");
	ck_assert_str_eq(kept.names[1][after], "two");
	ck_assert_uint_eq(kept.threads[before].process, kept.threads[after].process);
	process_table_free(t);
}
END_TEST

START_TEST(a_pid_used_again_is_another_process)
{
	struct process_table *t = table(NULL);
	uint64_t first, second, third;

	life(t, LIFE_FORK, 9, 1, NSEC_PER_SEC, NULL, 0);
	first = kept.threads[meet(t, 9, NSEC_PER_SEC + 1, NSEC_PER_SEC)->id].process;
	life(t, LIFE_EXIT, 9, 1, 2 * NSEC_PER_SEC, NULL, 0);
	life(t, LIFE_FORK, 9, 1, 3 * NSEC_PER_SEC, NULL, 0);
	second = kept.threads[meet(t, 9, 3 * NSEC_PER_SEC + 1, 3 * NSEC_PER_SEC)->id].process;
	ck_assert_uint_ne(first, second);
	ck_assert_uint_eq(kept.processes[first].end, 2 * NSEC_PER_SEC);
	/*
	 * the side-band lost the second process's end and the third one's start: the sample has its
	 * birth
	 */
	third = kept.threads[meet(t, 9, 9 * NSEC_PER_SEC, 8 * NSEC_PER_SEC)->id].process;
	ck_assert_uint_ne(second, third);
	process_table_free(t);
}
END_TEST

START_TEST(the_last_thread_ends_the_process)
{
	struct process_table *t = table(NULL);
	struct life_record thread = {
		.kind = LIFE_FORK, .pid = 3, .tid = 4, .parent_pid = 3, .parent_tid = 3};
	uint64_t process;

	life(t, LIFE_FORK, 3, 1, 10, NULL, 0);
	ck_assert_int_eq(process_table_life(t, &thread, 11, NULL), 0);
	process = kept.threads[meet(t, 3, 12, 10)->id].process;
	life(t, LIFE_EXIT, 3, 1, 20, NULL, 0);
	ck_assert_uint_eq(kept.processes[process].end, 0);
	thread.kind = LIFE_EXIT;
	ck_assert_int_eq(process_table_life(t, &thread, 30, NULL), 0);
	ck_assert_uint_eq(kept.processes[process].end, 30);
	process_table_free(t);
}
END_TEST

static void thread_life(struct process_table *t, enum life_kind kind, uint32_t pid, uint32_t tid,
			uint64_t time)
{
	const struct life_record l = {
		.kind = kind,
		.pid = pid,
		.tid = tid,
		.parent_pid = pid,
		.parent_tid = pid,
	};

	ck_assert_int_eq(process_table_life(t, &l, time, NULL), 0);
}

START_TEST(an_exit_told_twice_ends_nobody_else)
{
	struct process_table *t = table(NULL);
	uint64_t process;

	life(t, LIFE_FORK, 3, 1, 10, NULL, 0);
	thread_life(t, LIFE_FORK, 3, 4, 11);
	thread_life(t, LIFE_FORK, 3, 5, 12);
	process = kept.threads[meet(t, 3, 13, 10)->id].process;
	thread_life(t, LIFE_EXIT, 3, 4, 20);
	thread_life(t, LIFE_EXIT, 3, 4, 21);
	thread_life(t, LIFE_EXIT, 3, 77, 22); /* a thread that the table does not know */
	life(t, LIFE_EXIT, 3, 1, 23, NULL, 0);
	ck_assert_uint_eq(kept.processes[process].end, 0);
	thread_life(t, LIFE_EXIT, 3, 5, 24);
	ck_assert_uint_eq(kept.processes[process].end, 24);
	process_table_free(t);
}
END_TEST

/* Linux reports the main thread's exit, then the exec under the main thread's number. */
START_TEST(a_thread_that_execs_leaves_nothing_behind)
{
	struct process_table *t = table(NULL);
	uint64_t now = NSEC_PER_SEC;

	for (uint32_t i = 0; i < 100; i++, now += NSEC_PER_MSEC) {
		life(t, LIFE_FORK, 1000 + 2 * i, 1, now, NULL, 0);
		thread_life(t, LIFE_FORK, 1000 + 2 * i, 1001 + 2 * i, now + 1);
		life(t, LIFE_EXIT, 1000 + 2 * i, 1, now + 2, NULL, 0);
		life(t, LIFE_COMM, 1000 + 2 * i, 1, now + 3, "next", 1);
		life(t, LIFE_EXIT, 1000 + 2 * i, 1, now + 4, NULL, 0);
	}
	ck_assert_int_eq(process_table_tick(t, now + 10 * NSEC_PER_SEC, NULL), 0);
	ck_assert_uint_eq(held(t), 0);
	process_table_free(t);
}
END_TEST

START_TEST(a_scan_names_who_was_sampled_unknown)
{
	struct process_table *t = table(NULL);
	const struct scanned_process p = {.pid = 9, .born = 10, .comm = "late", .exe = ""};
	const struct scanned_thread th = {.pid = 9, .tid = 9, .comm = "late"};
	uint64_t id = meet(t, 9, 20, 10)->id;

	ck_assert_str_eq(kept.names[1][id], "");
	ck_assert_int_eq(process_table_scanned(t, &p), 0);
	ck_assert_int_eq(process_table_scanned_thread(t, &th, 30), 0);
	ck_assert_str_eq(kept.names[1][id], "late");
	ck_assert_uint_eq(meet(t, 9, 40, 10)->id, id);
	process_table_free(t);
}
END_TEST

START_TEST(names_are_matched_at_their_moment)
{
	struct process_table *t = table("ma*");

	life(t, LIFE_COMM, 5, 0, 10, "other", 0);
	ck_assert(!meet(t, 5, 11, 0)->name.selected);
	ck_assert(!process_table_comm_matched(t));
	ck_assert(!process_table_comm_known(t));
	life(t, LIFE_COMM, 5, 0, 20, "main", 0);
	ck_assert(process_table_comm_known(t));
	ck_assert(!process_table_comm_matched(t));
	ck_assert(meet(t, 5, 21, 0)->name.selected);
	ck_assert(process_table_comm_matched(t));
	process_table_free(t);
}
END_TEST

START_TEST(the_table_does_not_grow_with_the_recording)
{
	struct process_table *t = table(NULL);
	uint64_t now = NSEC_PER_SEC;

	for (uint32_t i = 0; i < 100000; i++, now += NSEC_PER_MSEC) {
		life(t, LIFE_FORK, 10 + i % 30000, 1, now, NULL, 0);
		life(t, LIFE_EXIT, 10 + i % 30000, 1, now + 1, NULL, 0);
		if (i % 1000 == 0)
			ck_assert_int_eq(process_table_tick(t, now, NULL), 0);
	}
	process_table_tick(t, now + 10 * NSEC_PER_SEC, NULL);
	ck_assert_uint_eq(held(t), 0);
	process_table_free(t);
}
END_TEST

/* Mappings passed to the walkers, by pid; the version is 0 after the end. */
static struct unwind_process given[MOST];
static unsigned int tellings;

static int teller(void *context, uint32_t pid, const struct unwind_process *p)
{
	const int *refuse = context;

	tellings++;
	if (*refuse)
		return *refuse;
	given[pid] = p ? *p : (struct unwind_process){0};
	return 0;
}

static int report_processes(struct process_table *t, int refuse)
{
	tellings = 0;
	return process_table_send(t, teller, &refuse, clock_boot_ns());
}

static void maps(struct process_table *t, uint32_t pid, uint64_t start)
{
	const struct life_record l = {
		.kind = LIFE_MMAP,
		.pid = pid,
		.tid = pid,
		.start = start,
		.end = start + 4096,
		.text = "//anon",
	};

	ck_assert_int_eq(process_table_life(t, &l, clock_boot_ns(), NULL), 0);
}

static struct process_entry *entry(struct process_table *t, uint32_t pid)
{
	const struct sampled_task s = {.pid = pid, .tid = pid, .time = clock_boot_ns()};
	struct resolved_task r;

	ck_assert_int_eq(process_table_resolve(t, &s, &r, NULL), 0);
	return r.process;
}

static struct world *begin_telling(struct process_table **t)
{
	struct world *world = world_new(1 << 20);

	memset(given, 0, sizeof(given));
	shown = world->arena;
	*t = table(NULL);
	shown = NULL;
	life(*t, LIFE_COMM, 5, 0, clock_boot_ns(), "one", 0);
	maps(*t, 5, 0x1000);
	return world;
}

START_TEST(walkers_are_told_of_what_changes)
{
	struct process_table *t;
	struct world *world = begin_telling(&t);
	uint64_t first;

	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 1);
	first = given[5].version;
	ck_assert_uint_ne(first, 0);
	ck_assert_uint_eq(given[5].count, 1);
	ck_assert_uint_eq(given[5].settled, 0);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 0);
	maps(t, 5, 0x5000);
	maps(t, 5, 0x7000);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 1);
	ck_assert_uint_gt(given[5].version, first);
	ck_assert_uint_eq(given[5].count, 3);
	process_table_free(t);
	world_free(world);
}
END_TEST

START_TEST(births_are_told_if_they_are_exact)
{
	const struct sampled_task s = {.pid = 5, .tid = 5, .born = 4711, .time = 5000};
	struct process_table *t;
	struct world *world = begin_telling(&t);
	struct resolved_task r;

	report_processes(t, 0);
	ck_assert_uint_eq(given[5].born, 0);
	ck_assert_int_eq(process_table_resolve(t, &s, &r, NULL), 0);
	maps(t, 5, 0x5000);
	report_processes(t, 0);
	ck_assert_uint_eq(given[5].born, 4711);
	process_table_free(t);
	world_free(world);
}
END_TEST

START_TEST(children_are_told_what_their_parent_was_not)
{
	struct process_table *t;
	struct world *world = begin_telling(&t);

	/* the fork came before the parent's mappings were passed: both are passed */
	life(t, LIFE_FORK, 6, 5, clock_boot_ns(), NULL, 0);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 2);
	ck_assert_uint_eq(given[6].version, given[5].version);
	ck_assert_uint_eq(given[6].mappings, given[5].mappings);
	/* the fork came while they were passed; its record is read later */
	life(t, LIFE_FORK, 7, 5, 20, NULL, 0);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 1);
	/* the fork came after: the BPF programs have copied the entry, also for a grandchild */
	life(t, LIFE_FORK, 8, 5, clock_boot_ns(), NULL, 0);
	life(t, LIFE_FORK, 9, 8, clock_boot_ns(), NULL, 0);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 0);
	/* a change of mappings is passed, also to a later child */
	maps(t, 9, 0x5000);
	life(t, LIFE_FORK, 10, 9, clock_boot_ns(), NULL, 0);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 2);
	ck_assert_uint_ne(given[9].version, given[5].version);
	ck_assert_uint_eq(given[10].version, given[9].version);
	process_table_free(t);
	world_free(world);
}
END_TEST

START_TEST(a_new_program_has_mappings_of_its_own)
{
	struct process_table *t;
	struct world *world = begin_telling(&t);
	uint64_t first;

	report_processes(t, 0);
	first = given[5].version;
	life(t, LIFE_COMM, 5, 0, clock_boot_ns(), "two", 1);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 0); /* no mappings are known yet */
	life(t, LIFE_FORK, 6, 5, clock_boot_ns(), NULL, 0);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(given[6].count, 0);
	maps(t, 5, 0x9000);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_gt(given[5].version, first);
	ck_assert_uint_eq(given[5].count, 1);
	process_table_free(t);
	world_free(world);
}
END_TEST

START_TEST(the_end_of_who_was_told_is_told)
{
	struct process_table *t;
	struct world *world = begin_telling(&t);
	uint64_t before = clock_boot_ns();

	report_processes(t, 0);
	/* processes that the walkers do not know are not removed */
	life(t, LIFE_FORK, 6, 1, clock_boot_ns(), NULL, 0);
	maps(t, 6, 0x1000);
	life(t, LIFE_EXIT, 6, 1, clock_boot_ns(), NULL, 0);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 0);
	/* the process ended while it was passed, so the BPF programs may have removed it before */
	life(t, LIFE_EXIT, 5, 0, before, NULL, 0);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 1);
	ck_assert_uint_eq(given[5].version, 0);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 0);
	process_table_free(t);
	world_free(world);
}
END_TEST

/* The BPF programs remove a known process themselves, when the kernel frees it. */
START_TEST(the_end_of_who_was_told_before_is_not_told)
{
	struct process_table *t;
	struct world *world = begin_telling(&t);

	report_processes(t, 0);
	life(t, LIFE_FORK, 6, 5, clock_boot_ns(), NULL, 0);
	life(t, LIFE_EXIT, 6, 5, clock_boot_ns(), NULL, 0);
	life(t, LIFE_EXIT, 5, 0, clock_boot_ns(), NULL, 0);
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 0);
	process_table_free(t);
	world_free(world);
}
END_TEST

START_TEST(what_nobody_knows_is_settled)
{
	struct process_table *t;
	struct world *world = begin_telling(&t);

	report_processes(t, 0);
	process_table_mark_settled(t, entry(t, 5));
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(given[5].settled, 1);
	process_table_mark_settled(t, entry(t, 5)); /* already settled: nothing is passed */
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 0);
	maps(t, 5, 0x5000); /* a new mapping ends the settled state */
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(given[5].settled, 0);
	process_table_free(t);
	world_free(world);
}
END_TEST

START_TEST(what_could_not_be_told_is_told_when_it_is_missed)
{
	struct process_table *t;
	struct world *world = begin_telling(&t);

	life(t, LIFE_COMM, 6, 0, clock_boot_ns(), "two", 0);
	maps(t, 6, 0x1000);
	ck_assert_int_eq(report_processes(t, -E2BIG), -E2BIG);
	ck_assert_uint_eq(tellings, 2); /* an error for one process does not hold back the others */
	process_table_mark_unsent(t, entry(t, 5));
	process_table_mark_unsent(t, entry(t, 5));
	ck_assert_int_eq(report_processes(t, 0), 0);
	ck_assert_uint_eq(tellings, 1);
	ck_assert_uint_ne(given[5].version, 0);
	/* the arena has no room for the mappings of both */
	for (uint64_t i = 0; i < 10000; i++) {
		maps(t, 5, 0x10000 + i * 8192);
		maps(t, 6, 0x10000 + i * 8192);
	}
	ck_assert_int_eq(report_processes(t, 0), -ENOSPC);
	ck_assert_uint_eq(tellings, 1);
	process_table_free(t);
	world_free(world);
}
END_TEST

static bool is_unknown_at(struct process_table *t, uint32_t pid, bool kernel, uint64_t time)
{
	const struct sampled_task s = {.pid = pid, .tid = pid, .time = time, .kernel = kernel};
	struct resolved_task r;

	ck_assert_int_eq(process_table_resolve(t, &s, &r, NULL), 0);
	ck_assert(!r.unknown || r.process->scan == SCAN_RUNNING);
	return r.unknown;
}

static bool is_unknown(struct process_table *t, uint32_t pid, bool kernel)
{
	return is_unknown_at(t, pid, kernel, 99);
}

START_TEST(who_has_nothing_mapped_is_scanned_once)
{
	struct process_table *t = table(NULL);

	ck_assert(is_unknown(t, 7, false));
	ck_assert(!is_unknown(t, 7, false));
	ck_assert(entry(t, 7)->scan == SCAN_RUNNING);
	process_table_scan_over(t, 7);
	process_table_scan_over(t, 4711);
	/* the scan found no mappings, so no other scan is needed */
	ck_assert(!is_unknown(t, 7, false));
	ck_assert_int_eq(entry(t, 7)->scan, SCAN_OVER);
	/* the table knows of the fork, but not the parent */
	life(t, LIFE_FORK, 8, 4711, 10, NULL, 0);
	ck_assert(is_unknown(t, 8, false));
	/*
	 * A new program's mappings have records, which follow, unless they were lost; kernel
	 * threads and the idle thread have none.
	 */
	life(t, LIFE_COMM, 7, 0, 20, "two", 1);
	ck_assert(!is_unknown(t, 7, false));
	ck_assert(is_unknown_at(t, 7, false, 2 * NSEC_PER_SEC));
	ck_assert(is_unknown(t, 9, true)); /* a kernel thread is scanned once for its name */
	process_table_scan_over(t, 9);
	ck_assert(!is_unknown(t, 9, true));
	ck_assert(!is_unknown(t, 0, true));
	process_table_free(t);
}
END_TEST

START_TEST(who_is_known_with_mappings_is_not_scanned)
{
	struct process_table *t = table(NULL);

	life(t, LIFE_COMM, 7, 0, 10, "one", 0);
	maps(t, 7, 0x1000);
	ck_assert(!is_unknown(t, 7, false));
	life(t, LIFE_FORK, 8, 7, 20, NULL, 0);
	ck_assert(!is_unknown(t, 8, false));
	process_table_free(t);
}
END_TEST

/* /proc shows the mapping that is there when it is read, which may be after the record's time. */
START_TEST(a_scan_replaces_no_reported_mapping)
{
	const struct scanned_mapping later = {
		.pid = 7, .start = 0x1000, .end = 0x9000, .offset = 0x10000, .path = ""};
	struct process_table *t = table(NULL);
	const struct space_mapping *m;

	life(t, LIFE_COMM, 7, 0, 10, "one", 1);
	maps(t, 7, 0x4000);
	ck_assert_int_eq(process_table_scanned_mapping(t, &later, 20), 0);
	m = space_find(entry(t, 7)->space, 0x4000);
	ck_assert_uint_eq(m->start, 0x4000);
	ck_assert_uint_eq(m->offset, 0);
	m = space_find(entry(t, 7)->space, 0x3fff);
	ck_assert_uint_eq(m->offset, 0x10000);
	m = space_find(entry(t, 7)->space, 0x8fff);
	ck_assert_uint_eq(m->start - m->offset, (uint64_t)0x1000 - 0x10000);
	process_table_free(t);
}
END_TEST

static bool is_seven(void *context, uint32_t pid)
{
	(void)context;
	return pid == 7;
}

static size_t followed(struct process_table *t, uint32_t pid)
{
	maps(t, pid, 0x1000);
	return process_table_of_pid(t, pid)->space->mappings.count;
}

START_TEST(what_others_map_is_not_followed)
{
	struct process_table *t;

	selecting = is_seven;
	t = table(NULL);
	life(t, LIFE_COMM, 6, 0, 10, "six", 0);
	life(t, LIFE_COMM, 7, 0, 10, "seven", 0);
	ck_assert_uint_eq(followed(t, 6), 0);
	ck_assert_uint_eq(followed(t, 7), 1);
	/* children are followed if their parents are */
	life(t, LIFE_FORK, 8, 7, 20, NULL, 0);
	life(t, LIFE_FORK, 9, 6, 20, NULL, 0);
	life(t, LIFE_COMM, 8, 0, 21, "eight", 1);
	life(t, LIFE_COMM, 9, 0, 21, "nine", 1);
	ck_assert_uint_eq(followed(t, 8), 1);
	ck_assert_uint_eq(followed(t, 9), 0);
	/* a sample shows that the process is recorded */
	ck_assert(is_unknown(t, 9, false));
	ck_assert_uint_eq(followed(t, 9), 1);
	process_table_free(t);
	selecting = NULL;
}
END_TEST

#define LONG_AGO (10 * NSEC_PER_SEC)
#define NOW (100 * NSEC_PER_SEC)

/* Run a program once, with a library unless NULL. Return how many programs became calm. */
static unsigned int run_once(struct object *program, struct object *library, const char *comm)
{
	struct space_mapping m = {.start = 0x1000, .end = 0x2000, .object = program};
	struct space_mapping l = {.start = 0x5000, .end = 0x6000, .object = library};
	struct process_table *t = table(NULL);
	struct process_entry *p;

	calm_count = 0;
	life(t, LIFE_COMM, 5, 0, NOW, comm, 0);
	p = process_table_of_pid(t, 5);
	p->code.program = program;
	ck_assert_int_eq(space_map(&p->space, &m), 0);
	if (library)
		ck_assert_int_eq(space_map(&p->space, &l), 0);
	life(t, LIFE_EXIT, 5, 0, NOW + 1, NULL, 0);
	process_table_free(t);
	return calm_count;
}

/* The next start of a calm program does not wake the consumer, so nothing of it may be urgent. */
START_TEST(programs_that_lacked_nothing_are_calm)
{
	struct object gzip = {.kind = MAPPING_FILE, .file.settled = LONG_AGO};
	struct object libc = {.kind = MAPPING_FILE, .file.settled = LONG_AGO};
	struct object vdso = {.kind = MAPPING_VDSO};
	struct object unread = {.kind = MAPPING_FILE};
	struct object fresh = {.kind = MAPPING_FILE, .file.settled = NOW};
	struct object python = {.kind = MAPPING_FILE, .file.settled = LONG_AGO, .python.layout = 1};

	ck_assert_uint_eq(run_once(&gzip, &unread, "gzip"), 0);
	ck_assert_uint_eq(run_once(&gzip, &fresh, "gzip"), 0);
	ck_assert_uint_eq(run_once(&gzip, &python, "gzip"), 0);
	ck_assert_uint_eq(run_once(&python, &libc, "python"), 0);
	ck_assert_uint_eq(run_once(&gzip, &libc, "gzip"), 1);
	ck_assert_ptr_eq(calm[0], &gzip);
	ck_assert_uint_eq(run_once(&gzip, &libc, "gzip"), 0); /* gzip is already calm */
	gzip.file.calm = false;
	ck_assert_uint_eq(run_once(&gzip, &vdso, "gzip"), 1);
}
END_TEST

SUITE("process", a_child_of_an_unknown_parent_has_a_name, programs_that_lacked_nothing_are_calm,
      who_has_nothing_mapped_is_scanned_once, who_is_known_with_mappings_is_not_scanned,
      a_scan_replaces_no_reported_mapping, walkers_are_told_of_what_changes,
      births_are_told_if_they_are_exact, children_are_told_what_their_parent_was_not,
      a_new_program_has_mappings_of_its_own, the_end_of_who_was_told_is_told,
      the_end_of_who_was_told_before_is_not_told, what_nobody_knows_is_settled,
      what_could_not_be_told_is_told_when_it_is_missed, an_exec_begins_another_program,
      a_renamed_thread_keeps_its_process, a_pid_used_again_is_another_process,
      the_last_thread_ends_the_process, an_exit_told_twice_ends_nobody_else,
      a_thread_that_execs_leaves_nothing_behind, a_scan_names_who_was_sampled_unknown,
      what_others_map_is_not_followed, names_are_matched_at_their_moment,
      the_table_does_not_grow_with_the_recording)
