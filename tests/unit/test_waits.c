// SPDX-License-Identifier: Apache-2.0
/* waits.c: the class of a wait by the thread's state and system call. */
#include <sys/syscall.h>

#include "capture/waits.h"
#include "suite.h"

static enum wait_class class_in(unsigned int state, long call, unsigned int flags)
{
	return waits_class(state, flags, (unsigned int)(call + 1));
}

#define NO_CALL (-1)

START_TEST(by_call)
{
	ck_assert_int_eq(class_in(WIRE_SLEEPING, __NR_futex, 0), WAIT_LOCK);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, __NR_clock_nanosleep, 0), WAIT_SLEEP);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, __NR_ppoll, 0), WAIT_POLL);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, __NR_epoll_pwait, 0), WAIT_POLL);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, 426, 0), WAIT_POLL);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, __NR_read, 0), WAIT_PIPE);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, __NR_recvfrom, 0), WAIT_PIPE);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, __NR_wait4, 0), WAIT_CHILD);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, __NR_rt_sigsuspend, 0), WAIT_OTHER);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, 1022, 0), WAIT_OTHER);
}
END_TEST

static enum wait_class class_with(enum wire_lock lock, unsigned int flags)
{
	return waits_class(WIRE_SLEEPING, flags, WIRE_CALL(__NR_futex + 1, lock));
}

START_TEST(by_the_state_of_a_runtime)
{
	ck_assert_int_eq(class_with(WIRE_LOCK_UNKNOWN, 0), WAIT_LOCK);
	ck_assert_int_eq(class_with(WIRE_LOCK_MONITOR, 0), WAIT_MONITOR);
	ck_assert_int_eq(class_with(WIRE_LOCK_OBJECT_WAIT, 0), WAIT_OBJECT_WAIT);
	ck_assert_int_eq(class_with(WIRE_LOCK_PARK, 0), WAIT_PARK);
	ck_assert_int_eq(class_with(WIRE_LOCK_SLEEP, 0), WAIT_SLEEP);
	ck_assert_int_eq(class_with(WIRE_LOCK_SAFEPOINT, 0), WAIT_SAFEPOINT);
	ck_assert_int_eq(class_with(WIRE_LOCK_GIL, 0), WAIT_GIL);
	ck_assert_int_eq(class_with(WIRE_LOCK_GIL_STATE, 0), WAIT_GIL);
	ck_assert_int_eq(class_with(WIRE_LOCK_GIL_STATE + 1, 0), WAIT_LOCK);
	ck_assert_int_eq(class_with(63, 0), WAIT_LOCK);
	ck_assert_int_eq(class_with(WIRE_LOCK_GIL, WIRE_PREV_COMPAT), WAIT_OTHER);
}
END_TEST

START_TEST(of_a_disk)
{
	ck_assert_int_eq(class_in(WIRE_DISK, __NR_read, 0), WAIT_IO);
	ck_assert_int_eq(class_in(WIRE_DISK, __NR_read, WIRE_PREV_IOWAIT), WAIT_IO);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, __NR_read, WIRE_PREV_IOWAIT), WAIT_IO);
	ck_assert_int_eq(class_in(WIRE_DISK, __NR_clone, 0), WAIT_CHILD);
	ck_assert_int_eq(class_in(WIRE_DISK, 435, 0), WAIT_CHILD);
}
END_TEST

START_TEST(of_a_page)
{
	ck_assert_int_eq(class_in(WIRE_DISK, NO_CALL, WIRE_PREV_IOWAIT), WAIT_FAULT);
	ck_assert_int_eq(class_in(WIRE_DISK, NO_CALL, 0), WAIT_FAULT);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, NO_CALL, 0), WAIT_FAULT);
}
END_TEST

/* A 32-bit call's number stands for another call in the table of 64-bit calls. */
START_TEST(where_calls_tell_nothing)
{
	ck_assert_int_eq(class_in(WIRE_SLEEPING, __NR_futex, WIRE_PREV_COMPAT), WAIT_OTHER);
	ck_assert_int_eq(class_in(WIRE_SLEEPING, NO_CALL, WIRE_PREV_KTHREAD), WAIT_OTHER);
	ck_assert_int_eq(class_in(WIRE_DISK, NO_CALL, WIRE_PREV_KTHREAD), WAIT_IO);
	ck_assert_int_eq(class_in(WIRE_STOPPED, __NR_futex, 0), WAIT_OTHER);
	ck_assert_int_eq(class_in(WIRE_UNUSED, NO_CALL, WIRE_PREV_KTHREAD), WAIT_OTHER);
}
END_TEST

START_TEST(not_at_all)
{
	ck_assert_int_eq(class_in(WIRE_RUNNABLE, __NR_read, 0), WAIT_NONE);
	ck_assert_int_eq(class_in(WIRE_PREEMPTED, __NR_read, 0), WAIT_NONE);
	ck_assert_int_eq(class_in(WIRE_DEAD, __NR_exit, 0), WAIT_NONE);
	ck_assert_int_eq(class_in(WIRE_RUNNABLE, NO_CALL, WIRE_PREV_THROTTLED), WAIT_THROTTLED);
	ck_assert_int_eq(class_in(15, NO_CALL, 0), WAIT_NONE);
}
END_TEST

START_TEST(states)
{
	ck_assert_int_eq(waits_state(WIRE_RUNNABLE, 0), STATE_RUNNABLE);
	ck_assert_int_eq(waits_state(WIRE_RUNNABLE, WIRE_PREV_THROTTLED), STATE_THROTTLED);
	ck_assert_int_eq(waits_state(WIRE_PREEMPTED, 0), STATE_PREEMPTED);
	ck_assert_int_eq(waits_state(WIRE_SLEEPING, 0), STATE_SLEEPING);
	ck_assert_int_eq(waits_state(WIRE_DISK, 0), STATE_DISK);
	ck_assert_int_eq(waits_state(WIRE_DEAD, 0), STATE_DEAD);
	ck_assert_int_eq(waits_state(15, 0), STATE_UNKNOWN);
}
END_TEST

SUITE("waits", by_call, by_the_state_of_a_runtime, of_a_disk, of_a_page, where_calls_tell_nothing,
      not_at_all, states)
