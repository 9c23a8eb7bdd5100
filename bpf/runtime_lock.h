/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Determines what a thread of a runtime waits for when it goes to sleep in a futex, by the state
 * that its runtime keeps of it. The thread is current, so it cannot change that state meanwhile;
 * its memory is hostile, but can only lie about itself. Sources: OpenJDK, osThread.hpp
 * (ThreadState), globalDefinitions.hpp (JavaThreadState).
 */
#ifndef SKEIN_BPF_RUNTIME_LOCK_H
#define SKEIN_BPF_RUNTIME_LOCK_H

#include "bpf/event.h"
#include "bpf/task.h"

/* The primitive of monitor_class.h. */
static __always_inline bool user_read(void *to, __u32 bytes, __u64 address)
{
	return !bpf_probe_read_user(to, bytes, (const void *)address);
}

#include "bpf/monitor_class.h"

#if defined(__TARGET_ARCH_x86)
#define FUTEX_CALL 202
#else
#define FUTEX_CALL 98
#endif

/* enum ThreadState of HotSpot */
#define HOTSPOT_OS_RUNNABLE 2
#define HOTSPOT_OS_MONITOR 3
#define HOTSPOT_OS_CONDITION 4
#define HOTSPOT_OS_OBJECT_WAIT 5
#define HOTSPOT_OS_SLEEPING 7
#define HOTSPOT_THREAD_BLOCKED 10 /* enum JavaThreadState */

/* Set by user space while there are processes in runtimes. */
__u32 with_runtimes = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_runtimes);
} runtimes SEC(".maps");

/* The arguments of a futex call. */
struct futex_wait {
	__u64 address;
	bool timed; /* it ends after a time */
};

static __always_inline struct futex_wait futex_wait_of(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

#if defined(__TARGET_ARCH_x86)
	return (struct futex_wait){regs->di, regs->r10 != 0};
#else
	return (struct futex_wait){regs->orig_x0, regs->regs[3] != 0};
#endif
}

static __always_inline bool is_within(__u64 address, const struct wire_range *range)
{
	return address - range->low < range->high - range->low;
}

/* Return the number of a thread in its innermost pid namespace. */
static __always_inline __u32 runtime_tid(struct task_struct *task)
{
	struct pid *pid = task->thread_pid;

	return pid && !pid->level ? task->pid : task_inner_pid(task);
}

/*
 * A condition on which the JVM makes a thread wait: that of the thread's own Parker, which is a
 * part of its JavaThread; with a time, Thread.sleep(); else an operation of the JVM.
 */
static __always_inline enum wire_lock java_condition(const struct wire_java_thread *t,
						     const struct futex_wait *w)
{
	if (w->address - t->thread < t->thread_bytes)
		return WIRE_LOCK_PARK;
	return w->timed ? WIRE_LOCK_SLEEP : WIRE_LOCK_SAFEPOINT;
}

/* Return whether the JVM has stopped the thread, which is not in a wait of its own. */
static __always_inline bool java_is_blocked(const struct wire_java_thread *t)
{
	__u32 state;

	return !bpf_probe_read_user(&state, sizeof(state), (void *)t->thread + t->thread_state) &&
	       state == HOTSPOT_THREAD_BLOCKED;
}

/* The part of an OSThread that is read. */
struct os_thread_part {
	__u8 bytes[WIRE_OS_THREAD_MAX + 1];
};

static __always_inline __u32 os_thread_int(const struct os_thread_part *part, __u16 offset)
{
	return *(const __u32 *)&part->bytes[offset & (WIRE_OS_THREAD_MAX & ~3)];
}

/* *class: as for runtime_lock(). */
static __always_inline enum wire_lock java_lock(const struct wire_java_thread *t, __u32 tid,
						const struct futex_wait *w, __u64 *class)
{
	struct os_thread_part part;

	/* An OSThread that was freed may be another's by now: both are read at once. */
	if (bpf_probe_read_user(&part, t->os_bytes & WIRE_OS_THREAD_MAX, (void *)t->os_thread) ||
	    os_thread_int(&part, t->os_tid) != tid)
		return WIRE_LOCK_UNKNOWN;
	switch (os_thread_int(&part, t->os_state)) {
	case HOTSPOT_OS_MONITOR:
		return monitor_lock(t, class);
	case HOTSPOT_OS_OBJECT_WAIT:
		return WIRE_LOCK_OBJECT_WAIT;
	case HOTSPOT_OS_CONDITION:
		return java_condition(t, w);
	case HOTSPOT_OS_SLEEPING:
		return WIRE_LOCK_SLEEP;
	case HOTSPOT_OS_RUNNABLE:
		return java_is_blocked(t) ? WIRE_LOCK_SAFEPOINT : WIRE_LOCK_UNKNOWN;
	default:
		return WIRE_LOCK_UNKNOWN;
	}
}

/*
 * A thread that wants the lock waits for a time and asks for it then (CPython, take_gil() of
 * Python/ceval_gil.c). One that gave it up waits without a time, until another thread has it.
 */
static __always_inline enum wire_lock gil_lock(const struct futex_wait *w)
{
	return w->timed ? WIRE_LOCK_GIL : WIRE_LOCK_GIL_STATE;
}

/*
 * Return what the current thread, which goes to sleep in a futex, waits for. *class: the
 * WIRE_CLASS() of the object whose monitor it is; not set if that is not known.
 */
static __always_inline enum wire_lock runtime_lock(struct task_struct *task, __u64 *class)
{
	const struct futex_wait w = futex_wait_of(task);
	enum wire_lock lock = WIRE_LOCK_UNKNOWN;
	__u32 zero = 0, pid = task->tgid, tid = runtime_tid(task);
	const struct wire_java_thread *t;
	const struct wire_runtime *p;
	struct wire_runtimes *r;

	r = bpf_map_lookup_elem(&runtimes, &zero);
	if (!r)
		return WIRE_LOCK_UNKNOWN;
	t = &r->threads[wire_java_slot(pid, tid)];
	if (t->pid == pid && t->tid == tid)
		lock = java_lock(t, tid, &w, class);
	if (lock)
		return lock;
	p = &r->processes[pid & (WIRE_RUNTIMES - 1)];
	return p->pid == pid && is_within(w.address, &p->gil) ? gil_lock(&w) : WIRE_LOCK_UNKNOWN;
}

#endif
