/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The wire between the kernel side and user space: the only header that both
 * include. On the kernel side vmlinux.h has come before it.
 */
#ifndef SKEIN_BPF_EVENT_H
#define SKEIN_BPF_EVENT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "bpf/unwind/python_layout.h"
#include "bpf/unwind/rule.h"

/*
 * Frames are 64-bit words whose top byte is a tag. Addresses carry their tag
 * by nature: user addresses have a zero top byte, kernel addresses 0xff. The
 * walkers of runtimes use tags in between, and may use more words per frame.
 */
#define WIRE_TAG_SHIFT 56
#define WIRE_TAG_USER 0x00 /* native pc; a return address unless it is the first */
#define WIRE_TAG_EXACT 0x01 /* native pc that a signal interrupted */
#define WIRE_TAG_KERNEL 0xff /* kernel pc; a return address unless it is the first */
/*
 * A Python frame is two words: the address of its code object under one of these tags, then
 * PYTHON_PLACE(). Python frames come apart from native ones, innermost first; a native call
 * of the evaluation loop runs those up to and with the next _ENTRY, or up to the next _SHIM.
 */
#define WIRE_TAG_PYTHON 0x02 /* a frame; the same native call runs the next one too */
#define WIRE_TAG_PYTHON_ENTRY 0x03 /* a frame; a native call began with it */
#define WIRE_TAG_PYTHON_SHIM 0x04 /* no frame: a native call began here; the second word is 0 */

#define WIRE_MAX_KERNEL 127 /* the default of perf_event_max_stack */
#define WIRE_MAX_USER 1024
#define WIRE_MAX_PYTHON 1024 /* pairs of words */
#define WIRE_STACK_BYTES 131072 /* the near ends of the stacks of compilers and interpreters */
#define WIRE_OUTER_BYTES 65536 /* of longer stacks: rustc's have one frame of half a megabyte */

enum wire_kind { WIRE_SAMPLE = 1 };

/* Flags of a sample. */
enum wire_flag {
	WIRE_KERNEL_MODE = 1, /* the sample hit the kernel */
	WIRE_KTHREAD = 2, /* a kernel thread: there is no user stack to have */
	WIRE_NO_MM = 4, /* a user thread without address space: it is exiting */
	WIRE_NO_USER = 8, /* user frames were not asked for */
	WIRE_UNFINISHED = 16, /* the walk stands in a struct wire_unfinished */
	WIRE_BEGUN = 32, /* a struct wire_unfinished has it as it began, finished or not */
	WIRE_PENDING = 64, /* unfinished for want of a table; else a mapping was not known yet */
};

/* A file as the kernel numbers it: device is major << 20 | minor. */
struct wire_file {
	__u64 inode;
	__u32 device;
	__u32 unused;
};

#define WIRE_CALM_MAX 1024 /* programs whose begin wakes nobody */

/* How long the consumer sleeps if nobody wakes it. */
enum wire_sleep {
	WIRE_AWAKE,
	WIRE_SLEEPS_BRIEFLY, /* some periods of the clock: what only lacks its mappings can wait */
	WIRE_SLEEPS_LONG,
};

/* What is known of the Python side of a sample's thread. */
enum wire_python {
	WIRE_PYTHON_PROCESS = 1, /* the walker knew the process to be one with an interpreter */
	WIRE_PYTHON_THREAD = 2, /* the thread is one of an interpreter's */
	WIRE_PYTHON_GIL = 4, /* it holds the interpreter's lock */
	WIRE_PYTHON_COLLECTING = 8, /* and collects garbage */
	WIRE_PYTHON_NEW = 16, /* a code object was not seen before, as far as that is remembered */
};

/*
 * One sample, in a BPF ring buffer: this header, then the frames, kernel part
 * first, then the user's, then Python's, each part leaf first.
 */
struct wire_sample {
	__u64 time; /* CLOCK_BOOTTIME, ns */
	__u64 born; /* of the process: start_boottime of its main thread, ns */
	__u64 cgroup; /* id in the hierarchy that user space chose */
	__u32 pid; /* tgid, initial pid namespace */
	__u32 tid;
	__u32 cpu;
	__u16 kernel_frames; /* words */
	__u16 user_frames; /* words */
	__u8 kind; /* enum wire_kind */
	__u8 flags; /* enum wire_flag */
	__u8 user_end; /* how the user walk ended: enum stack_end of base/record.h */
	__u8 event; /* index of the sampled event */
	__u32 ns_pid; /* pid in the innermost pid namespace of the process; 0 unknown */
	__u16 python_words;
	__u8 python; /* enum wire_python */
	__u8 python_end; /* how the walk of Python frames ended, as user_end */
	__u32 unused;
	/* __u64 frames[kernel_frames + user_frames + python_words] follow */
};

/* Behind the frames of a sample with one of these comes a struct wire_unfinished. */
#define WIRE_SAVED (WIRE_UNFINISHED | WIRE_BEGUN)

/*
 * Where a walk stands that could not be finished in the kernel, because a
 * mapping or a table was not there yet: user space goes on from here. Where it
 * began, if that was asked for, so that it can be walked again. The thread's
 * stack follows, from address stack on, and of a long one its other end.
 */
struct wire_unfinished {
	__u64 version; /* of the mappings that the walk knew; 0: none */
	__u64 stack;
	__u64 outer; /* where the thread's outermost frames are, if the stack is longer than that */
	__u64 pc, sp, fp, base;
	__u64 registers[UNWIND_REGISTERS];
	__u32 bytes; /* of stack that follow, a multiple of 8 */
	__u32 outer_bytes; /* behind them; 0: none */
	__u8 exact; /* pc was interrupted there */
	__u8 known; /* registers are those of pc's frame */
	__u8 unmapped; /* pc lay in no mapping, else its table was not ready */
	__u8 unused[5];
};

/* Which threads are recorded: all conditions given must hold. Set before loading. */
struct wire_selection {
	__u64 cgroup; /* id */
	__u32 level; /* depth of it below the root; UINT32_MAX: unknown */
	int cgroup_subsys; /* -1: the unified hierarchy, else a v1 controller's id */
	int shown_subsys; /* the same, of the cgroups that records tell */
	__u8 by_pid, by_tid, by_cgroup;
	__u8 unused;
};

/*
 * Who had the CPU and who woke whom: records of 16 bytes in an array per CPU,
 * overwritten from its begin when it is full. Both hooks run with interrupts
 * off, so that a CPU's array has one writer and needs no lock.
 *
 * head: time (WIRE_TIME_BITS, ns), kind, how, detail; body: two thread ids and
 * a number, by kind. Thread ids have 22 bits (PID_MAX_LIMIT).
 *
 *   kind     how                    detail                    body
 *   SWITCH   state of who left      WIRE_LEFT_*               next, previous, syscall + 1
 *   WAKING   enum wire_context      0                         woken, current, its CPU
 *   NEW      enum wire_context      0                         new, current, its CPU
 *   MIGRATE  0                      0                         moved, CPU it leaves, CPU it goes to
 */
struct wire_switch {
	__u64 head;
	__u64 body;
};

#define WIRE_TIME_BITS 48
#define WIRE_TID_BITS 22

enum wire_switch_kind {
	WIRE_SWITCH = 1,
	WIRE_WAKING,
	WIRE_NEW, /* woken for the first time */
	WIRE_MIGRATE, /* right behind a WAKING of the same thread: where it is to run */
};

/* The state in which a thread left the CPU, told in one way by all kernels. */
enum wire_state {
	WIRE_RUNNABLE,
	WIRE_PREEMPTED, /* inside the kernel */
	WIRE_SLEEPING,
	WIRE_DISK,
	WIRE_STOPPED,
	WIRE_DEAD,
	WIRE_PARKED,
	WIRE_UNUSED, /* a kernel thread that waits for work */
	WIRE_RUNNING, /* in snapshots only */
};

enum wire_left {
	WIRE_LEFT_IOWAIT = 1,
	WIRE_LEFT_THROTTLED = 2,
	WIRE_LEFT_COMPAT = 4, /* the system call has a number of the 32-bit table */
	WIRE_LEFT_KTHREAD = 8,
	WIRE_LEFT_OTHER = 16, /* who left, or runs, is not selected: only that it ran is told */
	WIRE_NEXT_OTHER = 32, /* who comes is not; with both, one of them is nobody: idle */
};

/* What was going on where a thread was woken. */
enum wire_context {
	WIRE_BY_TASK, /* the current thread did it, be it through a softirq that it raised itself */
	WIRE_BY_TIMER,
	WIRE_BY_NETWORK,
	WIRE_BY_BLOCK,
	WIRE_BY_IPI,
	WIRE_BY_INTERRUPT, /* some other */
};

/* Of each CPU; shared with user space. */
struct wire_cpu {
	__u64 written; /* records, ever; a record is visible once it is counted */
	__u8 wanted; /* set by user space: this CPU is recorded */
	/* what interrupts this CPU now, for the kernel side alone */
	__u32 raiser; /* thread that has raised the softirqs in raised */
	__u16 raised; /* mask of softirqs */
	/* inside a high-resolution timer, a device's handler, what another CPU asked for */
	__u8 in_timer, in_device, in_ipi;
	__u8 softirq; /* number + 1 of the one being served */
	__u8 by_task; /* that one was raised by the thread it runs on */
} __attribute__((aligned(64))); /* no two CPUs in one cache line */

/* A thread as a snapshot finds it. */
struct wire_task {
	__u64 time; /* ns, taken before anything else was looked at */
	__u64 born; /* of the process */
	__u64 cgroup;
	__u32 pid, tid, ns_pid;
	__u32 cpu;
	__u16 call; /* system call + 1, 0 none */
	__u8 state; /* enum wire_state */
	__u8 flags; /* enum wire_left */
	char comm[16];
	__u32 unused;
};

/*
 * What became of the samples due on one CPU, counted where it happens. Each period that is due ends
 * as one of: a sample (runs, which become written, filtered or ring_full), idle, stolen, delayed or
 * skipped.
 */
struct wire_account {
	__u64 runs; /* of the program, but for those that count as stolen */
	__u64 written;
	__u64 filtered;
	__u64 idle; /* periods that fell into idle time, sampled or not */
	__u64 ring_full;
	__u64 stolen; /* periods that ended while the host had taken the CPU away */
	__u64 delayed; /* periods that ended before a late tick: one tick came for several */
	__u64 skipped; /* periods whose tick came, but the kernel did not run the program */
	/*
	 * The sampling clock ticks on a fixed grid: origin + n * period. Idle
	 * CPUs are not sampled reliably, so the idle hooks count the grid
	 * points that fall into idle time.
	 */
	__u64 origin; /* ns, refined by every sample; first set by user space */
	__u64 period; /* ns; 0: the event is no clock and does not tick when idle */
	__u64 last; /* number of the last grid point accounted for */
	__u64 idle_since; /* ns; 0: the CPU is not idle */
	__u64 steal; /* ns that the host had taken from the CPU, ever, when that was last read */
	__s64 debt; /* ns of that which are not counted as stolen periods yet */
	__u64 lag; /* ns after its grid point of the earliest of the last samples */
	__u64 lags; /* how many samples that covers */
} __attribute__((aligned(64))); /* no two CPUs in one cache line */

#endif
