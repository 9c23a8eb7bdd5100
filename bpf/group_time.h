/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Layouts of the sums of time per control group that group_time.bpf.c keeps, shared with user
 * space. Whatever a machine does, their maps have less than GROUP_MAPS_MAX bytes.
 */
#ifndef SKEIN_BPF_GROUP_TIME_H
#define SKEIN_BPF_GROUP_TIME_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define GROUP_MAPS_MAX (8 << 20)

/*
 * What a thread of a group does, in the order of the columns of a group: X(NAME, enum slice_state,
 * enum wait_class). From LOCK on, a thread is blocked and needs a wake-up.
 */
#define GROUP_COLUMNS(X) \
	X(RUNS, RUNNING, NONE) \
	X(WOKEN, RUNNABLE, NONE) /* it was woken, or is new, and waits for a CPU */ \
	X(PREEMPTED, PREEMPTED, NONE) /* it left a CPU and could go on */ \
	X(THROTTLED, THROTTLED, THROTTLED) \
	X(UNKNOWN, UNKNOWN, NONE) /* what it did was not seen */ \
	X(LOCK, SLEEPING, LOCK) X(IO, SLEEPING, IO) X(SLEEP, SLEEPING, SLEEP) \
	X(POLL, SLEEPING, POLL) X(FAULT, SLEEPING, FAULT) X(PIPE, SLEEPING, PIPE) \
	X(CHILD, SLEEPING, CHILD) X(OTHER, SLEEPING, OTHER) \
	X(DISK_IO, DISK, IO) X(DISK_FAULT, DISK, FAULT) X(DISK_CHILD, DISK, CHILD) \
	X(STOPPED, STOPPED, OTHER) X(PARKED, PARKED, OTHER) X(UNUSED, UNUSED, OTHER)

#define ENUM_GROUP_COLUMN(N, state, wait) GROUP_##N,
enum group_column { GROUP_COLUMNS(ENUM_GROUP_COLUMN) GROUP_COLUMN_COUNT };
#undef ENUM_GROUP_COLUMN

/* Groups that have rows at a time. Row 0 is of all that have no room, and of threads without one.
 */
#define GROUP_ROWS_BITS 10
#define GROUP_ROWS (1 << GROUP_ROWS_BITS)
#define GROUP_ROW_OTHER 0

struct group_sum {
	__u64 ns, count; /* of states that have ended */
};

#define GROUP_COLUMN_ROOM 20 /* columns of a row; the last are not used */

/* The sums of some CPUs, as many as GROUP_SHARDS_MAX at most for all of them. */
struct group_shard {
	struct group_sum sums[GROUP_ROWS * GROUP_COLUMN_ROOM];
};

#define GROUP_SHARDS_MAX 8

/* Which group has a row. User space frees a row in two steps, so that it has no writer then. */
struct group_rows {
	__u64 ids[GROUP_ROWS]; /* of the control group; 0: the row is free */
	__u8 turns[GROUP_ROWS]; /* counts the groups that had the row */
	__u64 refused; /* look-ups of groups that found no row */
	__u64 displaced; /* threads that found no slot: what they did off a CPU is unknown */
};

/* A thread: its state since when. */
struct group_slot {
	__u32 tid; /* 0: the slot is free */
	__u16 row; /* of its group, when it left the CPU last */
	__u8 turn; /* of that row */
	__u8 column; /* enum group_column; GROUP_RUNS: it has a CPU */
	__u64 since; /* ns */
};

/*
 * A hook is hardly longer than another clock reading, so only some are timed. A prime number: hooks
 * follow each other in patterns, such as wake-up and switch, of which it must not time one part.
 */
#define GROUP_HOOKS_TIMED 61

#define GROUP_SLOT_SETS (1 << 16) /* by the low bits of the thread's number */
#define GROUP_SLOT_WAYS 4 /* threads whose numbers share these bits; one cache line */

struct group_slots {
	struct group_slot ways[GROUP_SLOT_SETS][GROUP_SLOT_WAYS];
};

/* Which thread has a CPU. */
struct group_cpu {
	__u64 since; /* ns; 0: no switch was seen yet */
	/* since, without its low GROUP_ROWS_BITS, and the row of the thread there; 0: it is idle */
	__u64 runs;
	__u32 tid;
	__u32 hooks; /* runs of the hooks; one of GROUP_HOOKS_TIMED is timed */
	__u64 spent; /* ns that the hooks have taken, from those that were timed */
	__u32 unused[8]; /* up to a cache line */
};

/*
 * How a wait is found in group_column_of_wait: by its kind, and by its system call + 1, 0: none;
 * threads without system calls of this machine (of the kernel, and 32-bit ones) have a place, too.
 */
enum group_wait { GROUP_WAIT_SLEEPING, GROUP_WAIT_IO, GROUP_WAIT_DISK, GROUP_WAIT_KINDS };
#define GROUP_CALLS 2048
#define GROUP_CALL_FOREIGN 1024

#endif
