// SPDX-License-Identifier: Apache-2.0
/* runtime_locks.c: slots of processes and threads of runtimes. */
#include <string.h>

#include "capture/runtime_locks.h"
#include "suite.h"

static struct wire_runtimes r;
static const struct hotspot_thread_layout layout = {
	.os_state = 16,
	.os_tid = 208,
	.thread_state = 824,
	.thread_bytes = 1384,
	.monitor = {.pending = 776, .head = HOTSPOT_HEAD_NARROW}};

static struct wire_java_thread *add(uint32_t pid, uint32_t tid, uint32_t number, const char *name)
{
	const struct java_thread_list list = {.pid = pid, .number = number, .layout = &layout};
	struct hotspot_thread t = {.address = 0x1000, .os_thread = 0x5000, .tid = tid};

	strcpy(t.name, name);
	runtime_locks_add_thread(&r, &list, &t);
	return &r.threads[wire_java_slot(pid, tid)];
}

static void end_list(uint32_t pid, uint32_t number)
{
	const struct java_thread_list list = {.pid = pid, .number = number, .layout = &layout};

	runtime_locks_end_list(&r, &list);
}

static bool is_odd(void *context, uint32_t pid)
{
	(void)context;
	return pid % 2;
}

START_TEST(a_process_keeps_its_slot)
{
	const struct wire_range gil = {100, 200};

	ck_assert(runtime_locks_set(&r, 7, &gil, false));
	ck_assert_uint_eq(r.processes[7].pid, 7);
	ck_assert_uint_eq(r.processes[7].gil.high, 200);
	ck_assert(!runtime_locks_set(&r, 7 + WIRE_RUNTIMES, NULL, true));
	ck_assert(runtime_locks_set(&r, 7, NULL, true));
	ck_assert_uint_eq(r.processes[7].gil.high, 0);
	ck_assert_uint_eq(r.processes[7].java, 1);
	ck_assert(!runtime_locks_set(&r, 0, NULL, true));
}
END_TEST

START_TEST(a_thread_leads_to_its_state)
{
	const struct wire_java_thread *t = add(7, 9, 1, "worker");

	ck_assert_uint_eq(t->pid, 7);
	ck_assert_uint_eq(t->tid, 9);
	ck_assert_uint_eq(t->os_thread, 0x5000 + 16);
	ck_assert_uint_eq(t->os_bytes, 208 + 4 - 16);
	ck_assert_uint_eq(t->os_tid, 208 - 16);
	ck_assert_uint_eq(t->os_state, 0);
	ck_assert_uint_eq(t->thread_state, 824);
	ck_assert_uint_eq(t->thread, 0x1000);
	ck_assert_uint_eq(t->thread_bytes, 1384);
	ck_assert_uint_eq(t->monitor.pending, 776);
	ck_assert_uint_eq(t->monitor.head, HOTSPOT_HEAD_NARROW);
}
END_TEST

START_TEST(threads_of_the_jvm_itself_have_no_slot)
{
	ck_assert_uint_eq(add(7, 9, 1, "C2 CompilerThread0")->pid, 0);
	ck_assert_uint_eq(add(7, 9, 1, "DestroyJavaVM")->pid, 0);
	ck_assert_uint_eq(add(0, 9, 1, "worker")->pid, 0);
	ck_assert_uint_eq(add(7, 9, 1, "")->pid, 7);
}
END_TEST

START_TEST(threads_that_are_no_more_listed)
{
	const struct wire_java_thread *stays = add(7, 9, 1, "a"), *goes = add(7, 10, 1, "b");
	const struct wire_java_thread *other = add(8, 9, 5, "c");

	end_list(7, 1);
	ck_assert_uint_eq(goes->pid, 7);
	add(7, 9, 2, "a");
	end_list(7, 2);
	ck_assert_uint_eq(stays->pid, 7);
	ck_assert_uint_eq(goes->pid, 0);
	ck_assert_uint_eq(other->pid, 8);
}
END_TEST

START_TEST(processes_that_have_gone)
{
	const struct wire_java_thread *stays = add(7, 9, 1, "a"), *goes = add(8, 9, 1, "b");

	ck_assert(runtime_locks_set(&r, 7, NULL, true));
	ck_assert(runtime_locks_set(&r, 8, NULL, true));
	ck_assert_uint_eq(runtime_locks_sweep(&r, is_odd, NULL), 1);
	ck_assert_uint_eq(r.processes[8].pid, 0);
	ck_assert_uint_eq(stays->pid, 7);
	ck_assert_uint_eq(goes->pid, 0);
}
END_TEST

SUITE("runtime_locks", a_process_keeps_its_slot, a_thread_leads_to_its_state,
      threads_of_the_jvm_itself_have_no_slot, threads_that_are_no_more_listed,
      processes_that_have_gone)
