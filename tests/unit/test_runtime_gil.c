// SPDX-License-Identifier: Apache-2.0
/* runtime_gil.c: who held the lock of a Python interpreter while others waited (runtime_run.h). */
#include "capture/runtime_gil.h"
#include "runtime_run.h"

#define A 200
#define B 201
#define C 202

static uint64_t epoch = 1;

static void pass(uint64_t us, uint32_t tid, struct schedule_event t)
{
	t.time = stamp(us);
	t.epoch = epoch;
	t.thread = task(tid, stamp(us)).thread;
	ck_assert_int_eq(runtime_gil_event(run.events, &t, NULL), 0);
}

static void leaves(uint64_t us, uint32_t tid, enum slice_state state, enum wire_lock lock)
{
	pass(us, tid, (struct schedule_event){.kind = THREAD_LEAVES, .state = state, .lock = lock});
}

/* The thread sleeps until it gets the lock, or 5 ms are over. */
static void waits(uint64_t us, uint32_t tid)
{
	leaves(us, tid, STATE_SLEEPING, WIRE_LOCK_GIL);
}

/* waker 0: a timer */
static void woken(uint64_t us, uint32_t tid, uint32_t waker)
{
	pass(us, tid,
	     (struct schedule_event){.kind = THREAD_IS_WOKEN,
				     .waker = waker ? task(waker, stamp(us)).thread : NULL});
}

static void runs(uint64_t us, uint32_t tid)
{
	pass(us, tid, (struct schedule_event){.kind = THREAD_RUNS});
}

static void held(const char *expected)
{
	end(100000);
	ck_assert_str_eq(spans(), expected);
	ck_assert_uint_eq(kept.lost, 0);
	over();
}

/* Two threads hand the lock over, as CPython does with each request after 5 ms. */
START_TEST(handed_over)
{
	begin();
	waits(100, B);
	woken(5100, B, 0); /* 5 ms are over: B asks for the lock */
	runs(5110, B);
	waits(5120, B);
	woken(5200, B, A); /* A gives it up, */
	leaves(5210, A, STATE_SLEEPING, WIRE_LOCK_GIL_STATE);
	runs(5220, B);
	woken(5230, A, B); /* and waits until B has it, */
	runs(5240, A);
	waits(5250, A); /* and wants it again. */
	woken(10250, A, 0);
	runs(10260, A);
	waits(10270, A);
	woken(10300, A, B);
	held("GIL 100-5200 GIL \"thread 200\" {\"tid\":200,\"given_to\":201}\n"
	     "GIL 5250-10300 GIL \"thread 201\" {\"tid\":201,\"given_to\":200}\n");
}
END_TEST

/* Of three threads one always waits: the lane has no gaps but those in which none has the lock. */
START_TEST(several_wait)
{
	begin();
	waits(100, B);
	waits(200, C);
	woken(1000, B, A);
	runs(1050, B);
	waits(1100, A);
	woken(2000, C, B);
	runs(2010, C);
	woken(3000, A, C);
	held("GIL 100-1000 GIL \"thread 200\" {\"tid\":200,\"given_to\":201}\n"
	     "GIL 1050-2000 GIL \"thread 201\" {\"tid\":201,\"given_to\":202}\n"
	     "GIL 2010-3000 GIL \"thread 202\" {\"tid\":202,\"given_to\":200}\n");
}
END_TEST

/* A thread that was woken finds that another one was faster, or that a mutex is taken. */
START_TEST(another_is_faster)
{
	begin();
	waits(100, B);
	woken(200, B, A);
	runs(250, B);
	leaves(260, B, STATE_SLEEPING, WIRE_LOCK_GIL_STATE);
	woken(270, B, C);
	runs(280, B);
	waits(290, B);
	woken(900, B, C);
	held("GIL 100-200 GIL \"thread 200\" {\"tid\":200,\"given_to\":201}\n"
	     "GIL 200-900 GIL \"thread 202\" {\"tid\":202,\"given_to\":201}\n");
}
END_TEST

/* While others wait, a thread that sleeps still has the lock; else it may have given it up. */
START_TEST(sleeps_with_the_lock)
{
	begin();
	waits(100, B);
	waits(110, C);
	woken(200, B, A);
	runs(210, B);
	leaves(300, B, STATE_SLEEPING, WIRE_LOCK_UNKNOWN);
	woken(900, B, 0);
	runs(910, B);
	woken(1000, C, B);
	runs(1010, C);
	leaves(1100, C, STATE_SLEEPING, WIRE_LOCK_UNKNOWN); /* nobody waits */
	waits(5000, A);
	woken(6000, A, C);
	held("GIL 100-200 GIL \"thread 200\" {\"tid\":200,\"given_to\":201}\n"
	     "GIL 210-1000 GIL \"thread 201\" {\"tid\":201,\"given_to\":202}\n"
	     "GIL 5000-6000 GIL \"thread 202\" {\"tid\":202,\"given_to\":200}\n");
}
END_TEST

/*
 * The lock is given up while the thread that waits for it looks at it: nobody is woken. The thread
 * that gave it up waits again, long after its own last wait.
 */
START_TEST(given_up_in_between)
{
	begin();
	waits(100, B);
	woken(200, B, A);
	runs(210, B);
	waits(300, A);
	woken(5300, A, 0);
	runs(5310, A);
	waits(5320, A);
	woken(10320, A, 0);
	runs(10330, A); /* B gives it up now */
	waits(10400, B);
	woken(15400, B, A);
	held("GIL 100-200 GIL \"thread 200\" {\"tid\":200,\"given_to\":201}\n"
	     "GIL 300-10400 GIL \"thread 201\" {\"tid\":201}\n"
	     "GIL 10400-15400 GIL \"thread 200\" {\"tid\":200,\"given_to\":201}\n");
}
END_TEST

/* A thread that has no CPU for long has not got the lock in that time. */
START_TEST(preempted)
{
	begin();
	waits(100, B);
	woken(5100, B, 0);
	runs(5110, B);
	leaves(5111, B, STATE_PREEMPTED, WIRE_LOCK_UNKNOWN);
	runs(45000, B);
	waits(45010, B);
	woken(50000, B, A);
	runs(50010, B);
	leaves(50020, B, STATE_PREEMPTED, WIRE_LOCK_UNKNOWN);
	waits(50030, A);
	runs(60000, B);
	woken(60010, A, B);
	held("GIL 100-50000 GIL \"thread 200\" {\"tid\":200,\"given_to\":201}\n"
	     "GIL 50030-60010 GIL \"thread 201\" {\"tid\":201,\"given_to\":200}\n");
}
END_TEST

/* Nobody else wanted the lock. */
START_TEST(nobody_waits)
{
	begin();
	waits(100, B);
	woken(200, B, A);
	runs(210, B);
	leaves(50000, B, STATE_SLEEPING, WIRE_LOCK_GIL_STATE);
	woken(50010, B, C);
	held("GIL 100-200 GIL \"thread 200\" {\"tid\":200,\"given_to\":201}\n");
}
END_TEST

/* A thread of another process gives up nothing; neither does who wakes one that gave it up. */
START_TEST(other_wakers)
{
	struct schedule_event t = {.kind = THREAD_IS_WOKEN, .time = stamp(200), .epoch = epoch};

	begin();
	waits(100, B);
	t.thread = task(B, stamp(200)).thread;
	t.waker = task_of(PID + 1000, 2000, stamp(200)).thread;
	ck_assert_int_eq(runtime_gil_event(run.events, &t, NULL), 0);
	leaves(300, C, STATE_SLEEPING, WIRE_LOCK_GIL_STATE);
	woken(400, C, A);
	runs(410, C);
	held("");
}
END_TEST

/* What was known before records were lost is forgotten. */
START_TEST(lost_records)
{
	begin();
	waits(100, B);
	epoch++;
	woken(500, B, A);
	runs(510, B);
	waits(600, C);
	woken(700, C, B);
	held("GIL 600-700 GIL \"thread 201\" {\"tid\":201,\"given_to\":202}\n");
}
END_TEST

SUITE("runtime gil", handed_over, several_wait, another_is_faster, sleeps_with_the_lock,
      given_up_in_between, preempted, nobody_waits, other_wakers, lost_records)
