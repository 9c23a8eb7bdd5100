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

#define WIRE_MAX_KERNEL 127 /* the default of perf_event_max_stack */
#define WIRE_MAX_USER 1024
#define WIRE_STACK_BYTES 16384

enum wire_kind { WIRE_SAMPLE = 1 };

/* Flags of a sample. */
enum wire_flag {
	WIRE_KERNEL_MODE = 1, /* the sample hit the kernel */
	WIRE_KTHREAD = 2, /* a kernel thread: there is no user stack to have */
	WIRE_NO_MM = 4, /* a user thread without address space: it is exiting */
	WIRE_NO_USER = 8, /* user frames were not asked for */
	WIRE_UNFINISHED = 16, /* the walk stands in a struct wire_unfinished */
	WIRE_BEGUN = 32, /* a struct wire_unfinished has it as it began, finished or not */
};

/*
 * One sample, in a BPF ring buffer: this header, then the frames, kernel part
 * first, each part leaf first.
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
	/* __u64 frames[kernel_frames + user_frames] follow */
};

/* Behind the frames of a sample with one of these comes a struct wire_unfinished. */
#define WIRE_SAVED (WIRE_UNFINISHED | WIRE_BEGUN)

/*
 * Where a walk stands that could not be finished in the kernel, because a
 * mapping or a table was not there yet: user space goes on from here. Where it
 * began, if that was asked for, so that it can be walked again. The thread's
 * stack follows, from address stack on.
 */
struct wire_unfinished {
	__u64 version; /* of the mappings that the walk knew; 0: none */
	__u64 stack;
	__u64 pc, sp, fp, base;
	__u64 registers[UNWIND_REGISTERS];
	__u32 bytes; /* of stack that follow */
	__u8 exact; /* pc was interrupted there */
	__u8 known; /* registers are those of pc's frame */
	__u8 unmapped; /* pc lay in no mapping, else its table was not ready */
	__u8 unused;
};

/* What became of the samples due on one CPU, counted where it happens. */
struct wire_account {
	__u64 runs; /* of the program */
	__u64 written;
	__u64 filtered;
	__u64 idle; /* periods that fell into idle time, sampled or not */
	__u64 ring_full;
	/*
	 * The sampling clock ticks on a fixed grid: origin + n * period. Idle
	 * CPUs are not sampled reliably, so the idle hooks count the grid
	 * points that fall into idle time.
	 */
	__u64 origin; /* ns, refined by every sample; first set by user space */
	__u64 period; /* ns; 0: the event is no clock and does not tick when idle */
	__u64 last; /* number of the last grid point accounted for */
	__u64 idle_since; /* ns; 0: the CPU is not idle */
} __attribute__((aligned(64))); /* no two CPUs in one cache line */

#endif
