// SPDX-License-Identifier: Apache-2.0
/*
 * Determines what a thread waits for, by the system call in which it sleeps. A sleep that signals
 * cannot interrupt is a wait for a disk, in all calls except those that wait for a child. A sleep
 * outside a system call is a wait for a page.
 */
#include "capture/waits.h"

#include <stddef.h>
#include <sys/syscall.h>

/* System calls that wait and that every architecture has, by what they wait for. */
#define LOCK_CALLS(X) X(futex) X(semop) X(semtimedop) X(flock)
#define SLEEP_CALLS(X) X(nanosleep) X(clock_nanosleep)
#define POLL_CALLS(X) X(ppoll) X(pselect6) X(epoll_pwait)
#define PIPE_CALLS(X) \
	X(read) X(readv) X(write) X(writev) X(pread64) X(preadv) X(pwrite64) X(pwritev) \
	X(preadv2) X(pwritev2) X(recvfrom) X(recvmsg) X(recvmmsg) X(sendto) X(sendmsg) \
	X(sendmmsg) X(accept) X(accept4) X(connect) X(splice) X(tee) X(vmsplice) X(sendfile) \
	X(mq_timedreceive) X(mq_timedsend) X(msgrcv) X(msgsnd)
#define CHILD_CALLS(X) X(wait4) X(waitid) X(clone)
#define IO_CALLS(X) X(io_getevents) X(fsync) X(fdatasync) X(sync) X(syncfs) X(msync)

#define LOCK_CALL(name) [__NR_##name] = WAIT_LOCK,
#define SLEEP_CALL(name) [__NR_##name] = WAIT_SLEEP,
#define POLL_CALL(name) [__NR_##name] = WAIT_POLL,
#define PIPE_CALL(name) [__NR_##name] = WAIT_PIPE,
#define CHILD_CALL(name) [__NR_##name] = WAIT_CHILD,
#define IO_CALL(name) [__NR_##name] = WAIT_IO,

static const uint8_t classes[] = {
	LOCK_CALLS(LOCK_CALL) SLEEP_CALLS(SLEEP_CALL) POLL_CALLS(POLL_CALL) PIPE_CALLS(PIPE_CALL)
		CHILD_CALLS(CHILD_CALL) IO_CALLS(IO_CALL)
#ifdef __NR_poll /* x86: older calls that newer architectures lack */
			[__NR_poll] = WAIT_POLL,
	[__NR_select] = WAIT_POLL, [__NR_epoll_wait] = WAIT_POLL, [__NR_vfork] = WAIT_CHILD,
#endif
	/*
	 * Numbers of 2019 and later are the same on all architectures, but headers may not have
	 * them yet.
	 */
	[426] = WAIT_POLL, /* io_uring_enter */
	[435] = WAIT_CHILD, /* clone3 */
	[441] = WAIT_POLL, /* epoll_pwait2 */
	[449] = WAIT_LOCK, /* futex_waitv */
	[455] = WAIT_LOCK, /* futex_wait */
};

static enum wait_class class_of_call(unsigned int call)
{
	unsigned int number = call - 1;

	if (!call || number >= sizeof(classes) || !classes[number])
		return WAIT_OTHER;
	return (enum wait_class)classes[number];
}

enum slice_state waits_state(unsigned int state, unsigned int flags)
{
	static const uint8_t states[] = {
		[WIRE_RUNNABLE] = STATE_RUNNABLE, [WIRE_PREEMPTED] = STATE_PREEMPTED,
		[WIRE_SLEEPING] = STATE_SLEEPING, [WIRE_DISK] = STATE_DISK,
		[WIRE_STOPPED] = STATE_STOPPED,	  [WIRE_DEAD] = STATE_DEAD,
		[WIRE_PARKED] = STATE_PARKED,	  [WIRE_UNUSED] = STATE_UNUSED,
		[WIRE_RUNNING] = STATE_RUNNING,
	};

	if (flags & WIRE_PREV_THROTTLED)
		return STATE_THROTTLED;
	return state < sizeof(states) ? (enum slice_state)states[state] : STATE_UNKNOWN;
}

/* Return the class of a wait that signals cannot interrupt. */
static enum wait_class disk_class(unsigned int call)
{
	if (!call)
		return WAIT_FAULT;
	return class_of_call(call) == WAIT_CHILD ? WAIT_CHILD : WAIT_IO;
}

/* Return the class that a runtime gives to a wait in a futex; WAIT_NONE: none. */
static enum wait_class class_of_lock(unsigned int lock)
{
	static const uint8_t locks[] = {
		[WIRE_LOCK_MONITOR] = WAIT_MONITOR,	[WIRE_LOCK_OBJECT_WAIT] = WAIT_OBJECT_WAIT,
		[WIRE_LOCK_PARK] = WAIT_PARK,		[WIRE_LOCK_SLEEP] = WAIT_SLEEP,
		[WIRE_LOCK_SAFEPOINT] = WAIT_SAFEPOINT, [WIRE_LOCK_GIL] = WAIT_GIL,
		[WIRE_LOCK_GIL_STATE] = WAIT_GIL,
	};

	return lock < sizeof(locks) ? (enum wait_class)locks[lock] : WAIT_NONE;
}

enum wire_lock waits_lock(unsigned int word)
{
	return (enum wire_lock)(word >> WIRE_CALL_BITS);
}

enum wait_class waits_class(unsigned int state, unsigned int flags, unsigned int word)
{
	const unsigned int call = word & ((1U << WIRE_CALL_BITS) - 1);
	const enum wait_class lock = class_of_lock(waits_lock(word));

	if (flags & WIRE_PREV_THROTTLED)
		return WAIT_THROTTLED;
	if (state == WIRE_STOPPED || state == WIRE_PARKED || state == WIRE_UNUSED)
		return WAIT_OTHER;
	if (state != WIRE_SLEEPING && state != WIRE_DISK)
		return WAIT_NONE;
	if (flags & (WIRE_PREV_KTHREAD | WIRE_PREV_COMPAT))
		return state == WIRE_DISK || flags & WIRE_PREV_IOWAIT ? WAIT_IO : WAIT_OTHER;
	if (state == WIRE_DISK)
		return disk_class(call);
	if (flags & WIRE_PREV_IOWAIT)
		return call ? WAIT_IO : WAIT_FAULT;
	if (lock)
		return lock;
	return call ? class_of_call(call) : WAIT_FAULT;
}
