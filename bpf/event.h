/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Records and shared memory between the BPF programs and user space: the only header that both
 * include. BPF programs include vmlinux.h before it.
 */
#ifndef SKEIN_BPF_EVENT_H
#define SKEIN_BPF_EVENT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "bpf/probe_operand.h"
#include "bpf/unwind/hotspot_layout.h"
#include "bpf/unwind/python_layout.h"
#include "bpf/unwind/rule.h"

/*
 * Frames are 64-bit words whose top byte is a tag (WIRE_TAG_SHIFT). The top byte of an address is
 * already its tag: 0 in user addresses, 0xff in kernel addresses. The walkers of language runtimes
 * use tags in between, and may use more than one word per frame. Those of Java (0x05 to 0x07) are
 * in hotspot_layout.h.
 */
#define WIRE_TAG_USER 0x00 /* native pc; a return address unless it is the first */
#define WIRE_TAG_EXACT 0x01 /* native pc that a signal interrupted */
#define WIRE_TAG_KERNEL 0xff /* kernel pc; a return address unless it is the first */
/*
 * A Python frame is two words: the address of its code object under one of these tags, then
 * PYTHON_PLACE(). Python frames are sent separately from native ones, innermost first; a native
 * call of the evaluation loop runs the frames up to and including the next _ENTRY, or up to the
 * next _SHIM.
 */
/* a frame; the same native call also runs the next frame, unless a _SHIM follows */
#define WIRE_TAG_PYTHON 0x02
#define WIRE_TAG_PYTHON_ENTRY 0x03 /* a frame; a native call began with this frame */
#define WIRE_TAG_PYTHON_SHIM 0x04 /* no frame: a native call began here; the second word is 0 */

#define WIRE_MAX_KERNEL 127 /* the default of perf_event_max_stack */
#define WIRE_MAX_USER 1024
#define WIRE_MAX_PYTHON 1024 /* pairs of words */
/* most bytes copied at the inner end of a stack; enough for compilers and interpreters */
#define WIRE_STACK_BYTES 131072
/* most bytes copied at the outer end of longer stacks: rustc has one frame of 528 KiB */
#define WIRE_OUTER_BYTES 65536
/*
 * most bytes of the record of a wait that has not ended: less than the buffer of a BPF iterator,
 * which takes a record as a whole
 */
#define WIRE_OPEN_WAIT_BYTES 32736

enum wire_kind {
	WIRE_SAMPLE = 1, /* of the sampling clock */
	WIRE_WAIT, /* the stack of a thread that has waited; a struct wire_wait precedes its frames
		    */
	WIRE_WAKER, /* the stack of a thread that ends a wait; a struct wire_wait as well */
	/* the stack of a thread whose wait has not ended; a struct wire_wait as well */
	WIRE_OPEN_WAIT,
	/* the stack of a thread that hits a probe; a struct wire_hit precedes its frames */
	WIRE_HIT,
};

/* Flags of a sample. */
enum wire_flag {
	WIRE_KERNEL_MODE = 1, /* the sample hit the kernel */
	WIRE_KTHREAD = 2, /* a kernel thread, which has no user stack */
	WIRE_NO_MM = 4, /* a user thread that has no user stack, because it is exiting or in exec */
	WIRE_NO_USER = 8, /* user frames were not requested */
	WIRE_UNFINISHED = 16, /* the walk is unfinished; struct wire_unfinished has its state */
	WIRE_INITIAL_STATE =
		32, /* struct wire_unfinished has the walk's initial state, finished or not */
	/* with WIRE_UNFINISHED: a table is not ready; without this flag, a mapping is not known */
	WIRE_PENDING = 64,
	/* a thread outside of the recorder's pid namespace, whose user frames cannot be resolved */
	WIRE_OUTSIDE = 128,
};

/* A file by the kernel's numbers; device is major << 20 | minor. */
struct wire_file {
	__u64 inode;
	__u32 device;
	__u32 unused;
};

#define WIRE_CALM_MAX 1024 /* programs whose exec does not wake the consumer */

/* How long the consumer of the ring buffers sleeps unless it is woken. */
enum wire_sleep {
	WIRE_AWAKE, /* not at all, or so briefly that nothing needs to wake the consumer */
	/* for some periods of the sampling clock: samples that only lack mappings can wait */
	WIRE_SLEEPS_BRIEFLY,
	WIRE_SLEEPS_LONG, /* up to some 100 ms */
};

/* State of the sampled thread's Python interpreter (flags). */
enum wire_python {
	WIRE_PYTHON_PROCESS = 1, /* the walker knew that the process has an interpreter */
	WIRE_PYTHON_THREAD = 2, /* the thread has a state in an interpreter */
	WIRE_PYTHON_GIL = 4, /* the thread holds the interpreter's lock */
	/* the thread holds the lock while the interpreter collects garbage */
	WIRE_PYTHON_COLLECTING = 8,
	/* a code object of the stack is not in the walker's cache of code objects */
	WIRE_PYTHON_NEW = 16,
};

/* What the walker found in the code of a JVM (flags). */
enum wire_java {
	WIRE_JAVA_FRAMES = 1, /* the stack has Java frames */
	WIRE_JAVA_NEW = 2, /* a frame's code is not in the walker's cache */
};

/* The wait for which a stack was taken. */
struct wire_wait {
	/* ns from the switch that began the wait to the wake-up; 0: its beginning is not known */
	__u64 length;
	__u64 argument; /* the first argument of the system call in which the thread waits */
	__u32 other; /* tid, initial pid namespace: in a WIRE_WAKER, the thread that is woken */
	__u16 period; /* number of the period with which it was chosen */
	__u16 call; /* system call + 1; 0: none */
};

#define WIRE_WAIT_WORDS (sizeof(struct wire_wait) / sizeof(__u64))

/* Events of which stacks of hits are taken, a power of two: enum hit_event of base/probes.h. */
#define WIRE_HIT_EVENTS 2

/* The hit of a probe for which a stack was taken. */
struct wire_hit {
	__u32 event; /* below WIRE_HIT_EVENTS */
	__u32 weight; /* 1 / the probability with which it was chosen */
};

#define WIRE_HIT_WORDS (sizeof(struct wire_hit) / sizeof(__u64))

/*
 * One sample in a BPF ring buffer: this header, a struct wire_wait or wire_hit if its kind says so,
 * then the kernel, user and Python frames, each part leaf first.
 */
struct wire_sample {
	__u64 time; /* CLOCK_BOOTTIME, ns */
	__u64 born; /* start_boottime of the process's main thread, ns */
	__u64 cgroup; /* id in the hierarchy that user space chose */
	__u32 pid; /* tgid, initial pid namespace */
	__u32 tid;
	__u32 cpu;
	__u16 kernel_frames; /* words */
	__u16 user_frames; /* words */
	__u8 kind; /* enum wire_kind */
	__u8 flags; /* enum wire_flag */
	__u8 user_end; /* how the user walk ended: enum stack_end of base/record.h */
	__u8 event; /* of a sample of the clock: index of its rate */
	__u32 ns_pid; /* pid in the innermost pid namespace of the process; 0: unknown */
	__u16 python_words;
	__u8 python; /* enum wire_python */
	__u8 python_end; /* how the walk of Python frames ended: enum stack_end */
	__u32 bytes; /* of the whole record of a wait that has not ended; else 0 */
	__u8 java; /* enum wire_java */
	__u8 unused[7];
	/* __u64 frames[kernel_frames + user_frames + python_words] follow */
};

/* A struct wire_unfinished follows the frames of a sample that has one of these flags. */
#define WIRE_SAVED (WIRE_UNFINISHED | WIRE_INITIAL_STATE)

/*
 * The state of a walk that could not be finished in the kernel, because a mapping or a table was
 * missing: user space continues the walk from this state. With WIRE_INITIAL_STATE, this is the
 * state at the beginning of the walk, so that the whole stack can be walked again. A copy of the
 * thread's stack follows, from address stack on; then, without WIRE_INITIAL_STATE and if the stack
 * is longer than this copy, a copy of its outer end.
 */
struct wire_unfinished {
	__u64 version; /* of the mappings that the walk used; 0: none */
	__u64 stack;
	__u64 outer; /* address of the copied outer end; valid if outer_bytes is not 0 */
	__u64 pc, sp, fp, base;
	__u64 registers[UNWIND_REGISTERS];
	__u32 bytes; /* bytes of stack that follow, a multiple of 8 */
	__u32 outer_bytes; /* bytes of the copied outer end, after those of stack; 0: none */
	__u8 exact; /* the thread was interrupted at pc; otherwise pc is a return address */
	__u8 known; /* registers[] belong to the frame of pc; otherwise only sp, fp and base do */
	/* in an unfinished walk: no known mapping contains pc; otherwise its table is not ready */
	__u8 unmapped;
	__u8 cut; /* the stack may be longer than the copy, which has reached a bound */
	__u8 unused[4];
};

/* A pid namespace below the initial one. Set before loading. */
struct wire_namespace {
	__u32 level; /* depth below the initial namespace; 0: the initial one, without numbers */
	__u32 inode; /* of /proc/PID/ns/pid */
};

#define WIRE_CGROUP_LEVELS 32

/* A control group; level 0 is the root of the hierarchy. */
struct wire_cgroup {
	__u64 id;
	char name[128]; /* of its directory; cut */
};

/* The host name that a thread sees. */
struct wire_host_name {
	__u64 born; /* start_boottime of the thread */
	__u32 inode; /* of /proc/PID/ns/uts */
	char name[68]; /* the kernel keeps at most 64 bytes and a NUL; the rest is padding */
};

/* Conditions for a thread to be recorded (flags). */
enum wire_condition {
	WIRE_IF_PID = 1, /* its process is among selected_pids */
	WIRE_IF_TID = 2, /* it is among selected_tids */
	WIRE_IF_CGROUP = 4, /* it is in wire_selection.cgroup, or in one below that */
	WIRE_IF_NAMESPACE = 8, /* it has a number in wire_selection.namespace */
};

/* Selection of the recorded threads: all given conditions must hold. Set before loading. */
struct wire_selection {
	__u64 cgroup; /* id */
	__u32 level; /* depth of the cgroup below the root; UINT32_MAX: unknown */
	int cgroup_subsys; /* -1: the unified hierarchy, else a v1 controller's id */
	int shown_subsys; /* hierarchy of the cgroups shown in records; values as above */
	__u32 conditions; /* enum wire_condition; 0: every thread is recorded */
	struct wire_namespace namespace; /* the recorder's own */
};

/*
 * The life of a thread whose number in the recorder's pid namespace is not its number in the
 * initial one. Sent by bpf/namespace.bpf.c.
 */
enum wire_number_kind {
	WIRE_NUMBER_ALIVE = 1, /* it was born, or was alive when all threads were listed */
	WIRE_NUMBER_FREED, /* its number may be given to another thread */
};

struct wire_number {
	__u64 time; /* CLOCK_BOOTTIME, ns */
	__u32 kind; /* enum wire_number_kind */
	__u32 pid, tid; /* in the initial pid namespace */
	__u32 own_pid, own_tid; /* in the recorder's; 0: the thread is outside of it */
	char comm[16], process_comm[16]; /* names of the thread and of its main thread */
	__u32 unused;
};

/*
 * Context switches and wake-ups: records of 16 bytes in an array per CPU, overwritten from its
 * beginning when it is full. All hooks run with interrupts off, so each array has one writer and
 * needs no lock.
 *
 * From its lowest bit on, head has the time (CLOCK_BOOTTIME in ns, modulo 2^48), kind (4 bits), how
 * (4 bits) and detail (8 bits); body has three numbers of 22, 22 and 20 bits. 22 bits suffice for a
 * thread id (PID_MAX_LIMIT).
 *
 *   kind     how                    detail                    body
 *   SWITCH   state of previous      WIRE_PREV_*               next, previous, WIRE_CALL()
 *   WAKING   enum wire_context      0                         woken, current, CPU of woken
 *   NEW      enum wire_context      0                         new, current, CPU of new
 *   MIGRATE  0                      0                         moved, its old CPU, its new CPU
 */
struct wire_switch {
	__u64 head;
	__u64 body;
};

/*
 * What a thread of a JVM or of a Python interpreter waits for in a futex, as its runtime says. See
 * bpf/runtime_lock.h.
 */
enum wire_lock {
	WIRE_LOCK_UNKNOWN, /* it is no such thread, or what its runtime says makes no sense */
	WIRE_LOCK_MONITOR,
	WIRE_LOCK_OBJECT_WAIT,
	WIRE_LOCK_PARK,
	WIRE_LOCK_SLEEP,
	WIRE_LOCK_SAFEPOINT,
	WIRE_LOCK_GIL, /* until it gets the lock, or a time is over */
	WIRE_LOCK_GIL_STATE, /* of the lock itself: until another thread has got it */
};

/* A system call + 1 (0: none), of WIRE_CALL_BITS bits, and above it an enum wire_lock. */
#define WIRE_CALL_BITS 10
#define WIRE_CALL(call, lock) ((call) | (lock) << WIRE_CALL_BITS)

struct wire_range {
	__u64 low, high; /* addresses; high is exclusive */
};

/* A process whose threads' waits have classes of their own. */
struct wire_runtime {
	struct wire_range gil; /* memory of a Python interpreter's locks; empty: it has none */
	__u32 pid; /* in the initial pid namespace; 0: the slot is free */
	__u32 java; /* 1: its threads may be among wire_runtimes.threads; used by user space */
};

#define WIRE_OS_THREAD_MAX 255 /* bytes of an OSThread that are read at once; JDK 17 has 216 */

/*
 * A thread of a JVM: where the JVM keeps its state. One cache line, since it is read at each sleep.
 */
struct wire_java_thread {
	__u64 os_thread; /* address in its OSThread, from which on os_bytes are read */
	__u64 thread; /* address of its JavaThread */
	__u32 pid; /* in the initial pid namespace; 0: the slot is free */
	__u32 tid; /* in the innermost pid namespace of the process */
	__u32 thread_bytes; /* of the JavaThread, which holds the Parker of the thread */
	__u32 list; /* number of the list of threads that it was last in; used by user space */
	/* offsets of ints: among the os_bytes, the tid and enum ThreadState; in the JavaThread */
	__u16 os_tid, os_state, thread_state;
	__u16 os_bytes; /* WIRE_OS_THREAD_MAX at most */
	struct hotspot_monitor_layout monitor;
} __attribute__((aligned(64)));

/*
 * The class of an object, by its name: the address of the Symbol, of WIRE_CLASS_BITS bits, and
 * above it the random number of the Symbol, 0: that could not be read.
 */
#define WIRE_CLASS_BITS 48
#define WIRE_CLASS(symbol, number) ((symbol) | (__u64)(number) << WIRE_CLASS_BITS)

#define WIRE_RUNTIMES 4096 /* a power of two: a process has the slot of its pid's low bits */
#define WIRE_JAVA_SLOT_BITS 14

/* Shared with user space, which writes it. pid is written last, and cleared first. */
struct wire_runtimes {
	struct wire_java_thread threads[1 << WIRE_JAVA_SLOT_BITS];
	struct wire_runtime processes[WIRE_RUNTIMES];
};

/* Return the slot of a thread; of several threads with the same slot, one has it. */
static inline __u32 wire_java_slot(__u32 pid, __u32 tid)
{
	return (tid + pid * 0x9e3779b1U) & ((1U << WIRE_JAVA_SLOT_BITS) - 1);
}

#define WIRE_TIME_BITS 48
#define WIRE_TID_BITS 22

enum wire_switch_kind {
	WIRE_SWITCH = 1,
	WIRE_WAKING,
	WIRE_NEW, /* woken for the first time */
	/* a move to another CPU; part of the wake-up if directly after a WAKING of the thread */
	WIRE_MIGRATE,
	/*
	 * directly before a SWITCH whose thread goes to sleep to enter a monitor; the body is the
	 * WIRE_CLASS() of the monitor's object
	 */
	WIRE_MONITOR,
};

/* The state in which a thread left the CPU, the same for all kernel versions. */
enum wire_state {
	WIRE_RUNNABLE,
	WIRE_PREEMPTED, /* inside the kernel; on the way back to user mode it is WIRE_RUNNABLE */
	WIRE_SLEEPING,
	WIRE_DISK,
	WIRE_STOPPED,
	WIRE_DEAD,
	WIRE_PARKED,
	WIRE_UNUSED, /* a kernel thread that waits for work */
	WIRE_RUNNING, /* in snapshots only */
};

enum wire_prev_flag {
	WIRE_PREV_IOWAIT = 1,
	WIRE_PREV_THROTTLED = 2,
	WIRE_PREV_COMPAT = 4, /* the system call is a number of the 32-bit table */
	WIRE_PREV_KTHREAD = 8,
	/* the previous thread is not selected; in a snapshot: the thread, which runs, is not */
	WIRE_PREV_UNSELECTED = 16,
	/* the next thread is not selected; with both flags, one of the two is the idle thread */
	WIRE_NEXT_UNSELECTED = 32,
};

/* Context in which a thread was woken. */
enum wire_context {
	/* by the current thread, also through a softirq that the current thread raised */
	WIRE_BY_TASK,
	WIRE_BY_TIMER,
	WIRE_BY_NETWORK,
	WIRE_BY_BLOCK,
	WIRE_BY_IPI,
	WIRE_BY_INTERRUPT, /* any other interrupt */
};

/*
 * The period T of the choice of waits: a wait of length d is chosen with the probability d / T, at
 * most 1. Word: T (ns, below 2^32) << WIRE_PERIOD_BITS | its number in user space's list.
 */
#define WIRE_PERIOD_BITS 10

/* Stacks of waits on one CPU, see bpf/wait.h: asked = taken + missed + ring_full. */
struct wire_cpu_waits {
	__u64 request; /* slot of the thread that was switched in last, if its stack is to be taken
			*/
	__u64 random; /* state of the generator of random numbers */
	__u32 requested; /* that thread's tid */
	__u8 walking; /* a walk uses this CPU's memory for walks */
	__u64 chosen; /* waits that were chosen when this CPU woke the thread */
	__u64 asked, taken; /* of waits that were chosen, when this CPU ran the thread again */
	__u64 missed; /* the thread left the CPU again before the hook that takes its stack ran */
	__u64 displaced; /* another thread took the slot while the thread waited for a CPU */
	__u64 ring_full;
	__u64 wakers_asked, wakers_taken, wakers_missed, wakers_ring_full;
	__u64 waker_time, waker_length; /* of the waking whose waker's stack is to be taken, ns */
	__u64 spent; /* ns in which stacks of waits and of wakers were taken */
};

/* State of one CPU; shared with user space. */
struct wire_cpu {
	__u64 written; /* total records; a record is visible once it is counted here */
	__u8 wanted; /* set by user space: this CPU is recorded */
	__u64 hooks; /* runs of the hooks of switches and wake-ups; some are timed */
	/* ns that these have taken, with the choice of waits, without stacks, from those timed */
	__u64 spent;
	/* interrupts in which this CPU is; only the BPF programs use the members from here on */
	__u32 raiser; /* thread that raised the softirqs in raised */
	__u16 raised; /* mask of softirqs */
	/* set inside a high-resolution timer, a device's handler, an inter-processor interrupt */
	__u8 in_timer, in_device, in_ipi;
	__u8 softirq; /* number + 1 of the softirq being served; 0: none */
	__u8 by_task; /* the thread on this CPU raised the softirq being served */
	struct wire_cpu_waits waits;
} __attribute__((aligned(64))); /* no two CPUs in one cache line */

/*
 * What serves interrupts on a CPU, as slots of struct wire_handlers: softirqs by their number (enum
 * softirq), interrupts of CPUs' own vectors from WIRE_VECTORS on (enum wire_vector), those of
 * devices by their number from WIRE_DEVICES on. Devices with larger numbers share the last slot.
 */
#define WIRE_VECTORS 16
#define WIRE_DEVICES 32
#define WIRE_HANDLERS 1024 /* a power of two */

enum wire_vector {
	WIRE_LOCAL_TIMER,
	WIRE_RESCHEDULE,
	WIRE_CALL_FUNCTION,
	WIRE_CALL_FUNCTION_SINGLE,
	WIRE_IRQ_WORK,
	WIRE_IPI, /* any interrupt of another CPU, where the kernel names them by a text only */
};

/* All runs of one handler on one CPU. */
struct wire_handler {
	__u64 count;
	__u64 time; /* ns, without what interrupted it */
	__u64 longest; /* ns, with what interrupted it */
	__u64 lost; /* runs for which the ring had no room */
};

#define WIRE_HANDLER_DEPTH 4

/*
 * The handlers of one CPU; shared with user space, which sets wanted. Interrupts come with
 * interrupts off and nest if a driver serves several sources by one; a softirq may be interrupted.
 */
struct wire_handlers {
	struct {
		__u64 since; /* ns */
		__u32 slot;
		__u32 unused;
	} open[WIRE_HANDLER_DEPTH];
	__u32 depth; /* of interrupts being served */
	__u32 wanted; /* this CPU is recorded */
	__u64 hard_time; /* ns in interrupts so far */
	__u64 softirq_since; /* ns; 0: none is being served */
	__u64 softirq_hard_time; /* hard_time then */
	__u64 unpaired; /* begins without their ends, and too deep ones */
	__u64 ends; /* runs of the hooks at ends; inexact, as one may interrupt another */
	__u64 spent; /* ns in all hooks, from the runs that are timed */
	struct wire_handler slots[WIRE_HANDLERS];
} __attribute__((aligned(64)));

#define WIRE_HANDLER_NAME 32

/* The name of a device's driver, as the kernel shows it in /proc/interrupts; cut. */
struct wire_handler_name {
	char text[WIRE_HANDLER_NAME];
};

/* A run of a handler that was long enough, in a BPF ring buffer. */
struct wire_handled {
	__u64 time, end; /* CLOCK_BOOTTIME, ns */
	__u32 cpu;
	__u32 slot;
};

/* A thread in a snapshot of all threads. */
struct wire_task {
	__u64 time; /* ns, read before all other members */
	__u64 born; /* start_boottime of the process's main thread, ns */
	__u64 cgroup;
	__u32 pid, tid, ns_pid;
	__u32 cpu;
	__u16 call; /* WIRE_CALL() */
	__u8 state; /* enum wire_state */
	__u8 flags; /* enum wire_prev_flag */
	char comm[16];
	__u32 unused;
};

/*
 * Accounting of the samples due on one CPU, counted where they are taken or omitted. Each due
 * period ends as one of: a sample (runs, of which each becomes written, filtered or ring_full),
 * idle, stolen, delayed or skipped.
 */
struct wire_account {
	__u64 runs; /* runs of the program, except those counted as stolen */
	__u64 written;
	__u64 filtered;
	__u64 idle; /* periods that ended in idle time, whether the program ran for them or not */
	__u64 ring_full;
	__u64 stolen; /* periods that ended while the host had taken the CPU away */
	__u64 delayed; /* periods that a late tick covers besides the last one, unless stolen */
	__u64 skipped; /* periods whose tick came in time, but the kernel did not run the program */
	/*
	 * The sampling clock ticks on a fixed grid: origin + n * period. Idle CPUs are not sampled
	 * reliably, so the idle hooks count the grid points in idle time. The origin is first set
	 * by user space, then refined with every sample.
	 */
	__u64 origin; /* ns of CLOCK_MONOTONIC */
	__u64 period; /* ns; 0: the event is not a clock, or sampling has ended */
	__u64 last; /* number of the last grid point accounted for */
	__u64 steal; /* total ns that the host had taken from this CPU at the last reading */
	__s64 debt; /* ns of steal that are not yet counted as stolen periods */
	__u64 lag; /* least ns from the grid point to the sample in the last lag_samples samples */
	__u64 lag_samples;
};

/* Most rates among which a recording changes; a power of two. */
#define WIRE_RATES 8

/*
 * The sampling of one CPU: an event and an account for each rate. One event at a time is enabled,
 * so the others' accounts stand still.
 */
struct wire_clock {
	__u64 idle_since; /* ns of CLOCK_MONOTONIC; 0: the CPU is not idle */
	__u64 rate; /* index of the enabled event; written by user space while all are disabled */
	__u64 spent; /* ns that the sampling programs have taken */
	__u64 hooks; /* runs of the idle hooks; one of WIRE_HOOKS_TIMED is timed */
	struct wire_account accounts[WIRE_RATES]; /* by rate */
} __attribute__((aligned(64))); /* no two CPUs in one cache line */

#define WIRE_HOOKS_TIMED 16
/*
 * One of so many runs of the hooks of switches and wake-ups is timed: a prime, since a switch often
 * follows a wake-up, and both are to be timed.
 */
#define WIRE_SWITCH_HOOKS_TIMED 61
/* The same of hits of probes, which often come in pairs. */
#define WIRE_HITS_TIMED 61
/*
 * The same of the hooks at the ends of interrupts, whose time counts twice: those at begins, which
 * do less, are taken to need as long.
 */
#define WIRE_INTERRUPTS_TIMED 61

/* Most sites of probes of a recording, and what a site's texts are: base/probes.h has both, too. */
#define WIRE_PROBE_SITES_MAX 4096
#define WIRE_PROBE_TEXTS_MAX 2
#define WIRE_PROBE_TEXT_BYTES 96

/* A site of a probe. */
struct wire_probe_site {
	__u32 place; /* low bits of its offset in the file */
	__u8 count; /* of operands */
	/* arguments with the address and the length of a text, + 1, as struct probe_row.texts */
	struct {
		__u8 address, length;
	} texts[WIRE_PROBE_TEXTS_MAX];
	__u8 wakes; /* a hit wakes the consumer: it begins or ends the recording */
	__u8 event; /* number + 1 of the event of which stacks are taken here; 0: none */
	__u8 unused[5];
	struct probe_window window;
	struct probe_operand operands[PROBE_OPERANDS_MAX];
};

/*
 * Two hits of a thread at one place of a file, with the same stack pointer, in less than this time
 * (ns), are one if they came by different sites: two overlay file systems may show one file as two.
 */
#define WIRE_HIT_AGAIN 100000

/* A hit of a probe, in a BPF ring buffer. */
struct wire_probe {
	__u64 time; /* CLOCK_BOOTTIME, ns */
	__u64 born; /* start_boottime of the process's main thread, ns */
	__u64 cgroup; /* id in the hierarchy that user space chose */
	__u32 pid; /* tgid, initial pid namespace */
	__u32 tid;
	__u32 ns_pid; /* pid in the innermost pid namespace of the process; 0: unknown */
	__u32 site; /* index */
	/*
	 * Hits of all CPUs that were lost so far, modulo 2^32: where it grows from one hit to the
	 * next of a thread, some in between may be missing.
	 */
	__u32 lost;
	__u32 unused;
	__u64 stack_pointer;
	__u64 arguments[PROBE_OPERANDS_MAX]; /* the first wire_probe_site.count are set */
};

/* A hit of a site with texts. */
struct wire_probe_texts {
	struct wire_probe hit;
	char texts[WIRE_PROBE_TEXTS_MAX][WIRE_PROBE_TEXT_BYTES]; /* each with a NUL */
};

/*
 * Stacks of the hits of one event on one CPU: chosen = taken + missed + ring_full. How they are
 * chosen: bpf/hit_choice.h.
 */
struct wire_hit_stacks {
	__u64 window; /* when the present window began, ns */
	__u32 hits; /* in this window */
	__u32 shift; /* a hit is chosen with the probability 1 / 2^shift */
	__u32 drawn; /* hits chosen in this window with the present shift */
	__u32 unused;
	__u64 chosen, taken;
	/* a preempted thread had its stack taken on this CPU, or the walker was not loaded yet */
	__u64 missed;
	__u64 ring_full;
};

/* Shared with user space. */
struct wire_probe_cpu {
	__u64 lost; /* hits for which the ring had no room */
	__u32 walking; /* 1: a stack of a hit is being taken */
	/* the last hit of which a stack might have been taken */
	__u32 last_tid, last_site, last_place;
	__u64 last_stack_pointer, last_time;
	__u64 spent; /* ns in which stacks of hits were taken */
	__u64 hits; /* runs of the probes' program; some are timed */
	__u64 hits_spent; /* ns that these have taken, without stacks, from those that were timed */
	struct wire_hit_stacks stacks[WIRE_HIT_EVENTS];
} __attribute__((aligned(64))); /* no two CPUs in one cache line */

#endif
