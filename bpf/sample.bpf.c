// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * Sampling of the thread on each CPU with its stack: one program attached to a perf event of every
 * CPU.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/account.h"
#include "bpf/calm.h"
#include "bpf/event.h"
#include "bpf/ring.h"
#include "bpf/sample_end.h"
#include "bpf/steal.h"
#include "bpf/wait_stack.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by user space before loading. */
const volatile bool with_idle = false;

/*
 * The programs of java.bpf.c that walk stacks in processes with a known JVM, in place of these: few
 * machines have a JVM, and the verifier takes its time for the walker of Java frames. User space
 * enters them, each in a map of its own, because a map takes programs of one kind only.
 */
struct java_program_map {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};

struct java_program_map java_sample SEC(".maps");
struct java_program_map java_wait SEC(".maps");
struct java_program_map java_waker SEC(".maps");

static long user_walk_loop_step(__u32 i, void *context)
{
	return user_walk_step(*(struct user_walk **)context, false);
}

/* Walk a user stack by the programs for processes with a JVM, which end it, too; else here. */
static __always_inline void walk_native_by_loop(void *ctx, void *java, struct user_walk *u)
{
	if (u->status != WALK_CALLER)
		return;
	if (u->walk.hotspot) {
		bpf_tail_call(ctx, java, 0);
		u->walk.hotspot = 0; /* those programs are not there */
	}
	bpf_loop(WIRE_MAX_USER + 1, user_walk_loop_step, &u, 0);
}

static __always_inline __u32 read_kernel_stack(void *ctx, __u64 *words)
{
	long bytes = bpf_get_stack(ctx, words, WIRE_MAX_KERNEL * sizeof(__u64), 0);

	return bytes > 0 ? bytes / sizeof(__u64) : 0;
}

/*
 * Take the kernel frames and prepare the walk of the user stack. Return 0 if there is a user stack
 * to walk.
 */
static __always_inline int begin_sample_stack(struct bpf_perf_event_data *ctx, struct user_walk *u,
					      struct task_struct *task)
{
	struct wire_sample *s = &u->sample;
	bool in_kernel = (__s64)PT_REGS_IP(&ctx->regs) < 0;
	__u32 kernel = 0;

	if (in_kernel)
		s->flags |= WIRE_KERNEL_MODE;
	if (with_kernel_stack && in_kernel)
		kernel = read_kernel_stack(ctx, u->words);
	if (!begin_stack(u, task, kernel, kernel))
		return 1;
	take_user_registers(&u->walk, ctx, task, in_kernel);
	return user_walk_begin_native(u, task, user_mode(ctx, task, in_kernel), s->time);
}

/*
 * Count the sample; if it is selected, begin its stack. Return the sample under construction, NULL
 * if there is none; the caller walks the user stack if its status is WALK_CALLER.
 */
static __always_inline struct user_walk *begin_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now = bpf_ktime_get_boot_ns();
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_clock *c = bpf_map_lookup_elem(&clocks, &cpu);
	struct user_walk *u = bpf_map_lookup_elem(&sample_scratch, &cpu);
	struct wire_account *a;

	if (!c || !u)
		return NULL;
	if (task->pid == 0 && !with_idle) {
		account_idle_sample(c, bpf_ktime_get_ns());
		return NULL;
	}
	a = clock_account(c);
	if (!account_sample(a, bpf_ktime_get_ns(), stolen_time(task)))
		return NULL;
	if (!is_selected_thread(task)) {
		a->filtered++;
		return NULL;
	}
	describe_sample(&u->sample, task, WIRE_SAMPLE, cpu, now);
	u->sample.event = c->rate;
	if (!begin_sample_stack(ctx, u, task))
		u->status = WALK_CALLER;
	return u;
}

SEC("?perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct user_walk *u = begin_sample(ctx);

	if (!u)
		return 0;
	walk_native_by_loop(ctx, &java_sample, u);
	user_walk_end_native(u);
	walk_python_by_loop(u);
	return end_sample(ctx, u);
}

/* Before Linux 5.17, without bpf_loop(), the walk continues by tail calls, at most 33 of them. */
#define FRAMES_PER_CALL 64
#define PYTHON_STEPS_PER_CALL 64

enum walk_program { WALK_PROGRAM_NATIVE, WALK_PROGRAM_PYTHON, WALK_PROGRAMS };

/* User space enters continue_native() and continue_python() here. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, WALK_PROGRAMS);
	__type(key, __u32);
	__type(value, __u32);
} walk_programs SEC(".maps");

/* A global function, so that the verifier checks it once and not for every frame. */
__noinline int user_walk_step_global(struct user_walk *u)
{
	return u ? user_walk_step(u, true) : 1;
}

static __always_inline int walk_python_by_tail_calls(struct bpf_perf_event_data *ctx,
						     struct user_walk *u)
{
	user_walk_end_native(u);
	if (user_walk_begin_python(u, bpf_get_current_task_btf()))
		bpf_tail_call(ctx, &walk_programs, WALK_PROGRAM_PYTHON);
	return end_sample(ctx, u);
}

SEC("?perf_event")
int continue_native(struct bpf_perf_event_data *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct user_walk *u = bpf_map_lookup_elem(&sample_scratch, &cpu);
	int over = 0;

	if (!u)
		return 0;
	for (int i = 0; i < FRAMES_PER_CALL && !over; i++)
		over = user_walk_step_global(u);
	if (!over)
		bpf_tail_call(ctx, &walk_programs, WALK_PROGRAM_NATIVE);
	return walk_python_by_tail_calls(ctx, u);
}

SEC("?perf_event")
int continue_python(struct bpf_perf_event_data *ctx)
{
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	struct user_walk *u = bpf_map_lookup_elem(&sample_scratch, &cpu);
	struct python_walk *w = bpf_map_lookup_elem(&python_scratch, &zero);
	int over = 0;

	if (!u || !w)
		return 0;
	for (int i = 0; i < PYTHON_STEPS_PER_CALL && !over; i++)
		over = python_walk_step_global(w, u);
	if (!over) {
		bpf_tail_call(ctx, &walk_programs, WALK_PROGRAM_PYTHON);
		w->end = WALK_END_DEPTH; /* no tail calls are left */
	}
	user_walk_end_python(u, w);
	return end_sample(ctx, u);
}

SEC("?perf_event")
int sample_by_tail_calls(struct bpf_perf_event_data *ctx)
{
	struct user_walk *u = begin_sample(ctx);

	if (!u)
		return 0;
	if (u->status == WALK_CALLER)
		bpf_tail_call(ctx, &walk_programs, WALK_PROGRAM_NATIVE);
	return walk_python_by_tail_calls(ctx, u);
}

/* Take the stack of the thread that has been switched in, if its wait was chosen. */
static __always_inline int take_wait_stack(void *ctx)
{
	struct wire_cpu *c;
	struct user_walk *u = begin_wait_stack(&c);

	if (!u)
		return 0;
	walk_native_by_loop(ctx, &java_wait, u);
	return end_wait_stack(u, c, WIRE_WAIT);
}

/* The end of __schedule(), in the context of the thread that has been switched in. */
SEC("?tp_btf/sched_exit_tp")
int BPF_PROG(wait_ended)
{
	return take_wait_stack(ctx);
}

/* The interrupt that sched.bpf.c requests where there is no such tracepoint. */
SEC("?" WAIT_INTERRUPT)
int BPF_PROG(wait_ended_interrupt)
{
	return take_wait_stack(ctx);
}

/* Entered from on_waking() of sched.bpf.c: take the stack of the thread that wakes another one. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(waker, struct task_struct *woken)
{
	struct wire_cpu *c;
	struct user_walk *u = begin_waker_stack(woken, &c);

	if (!u)
		return 0;
	walk_native_by_loop(ctx, &java_waker, u);
	return end_wait_stack(u, c, WIRE_WAKER);
}

/* state is PWR_EVENT_EXIT, which is -1, when the CPU leaves an idle state. */
SEC("?tp_btf/cpu_idle")
int BPF_PROG(idle, unsigned int state, unsigned int cpu_id)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_clock *c = bpf_map_lookup_elem(&clocks, &cpu);
	__u64 now = bpf_ktime_get_ns();

	if (!c)
		return 0;
	if (state == (__u32)-1)
		account_idle_end(c, now, stolen_time(bpf_get_current_task_btf()));
	else
		account_idle_begin(c, now);
	/* every hook is as short as another clock reading, so only some are timed */
	if (!(++c->hooks % WIRE_HOOKS_TIMED))
		c->spent += WIRE_HOOKS_TIMED * (bpf_ktime_get_ns() - now);
	return 0;
}

/* Count the time since began (ns) as time that skein's programs took. */
static __always_inline void count_hook_time(__u64 began)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_clock *c = bpf_map_lookup_elem(&clocks, &cpu);

	if (c)
		count_time_spent(c, began);
}

/* The children of a selected process are selected from their first instruction. */
SEC("?tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct *parent, struct task_struct *child)
{
	__u64 began = bpf_ktime_get_boot_ns();

	if (wanted.conditions & WIRE_IF_PID)
		select_child_process(parent, child);
	process_forked(parent, child);
	count_hook_time(began);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(follow_exec, struct task_struct *task)
{
	__u64 began = bpf_ktime_get_boot_ns();

	process_executed(task->tgid);
	if (consumer_sleeps != WIRE_AWAKE &&
	    (!(wanted.conditions & WIRE_IF_PID) || is_selected_process(task)) &&
	    (!wanted.namespace.level || is_in_own_namespace(task)) && !is_calm_program(task))
		wake_consumer();
	count_hook_time(began);
	return 0;
}

/* Forget a process when its main thread is freed, since another process may reuse its pid. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(forget_process, struct task_struct *task)
{
	__u64 began = bpf_ktime_get_boot_ns();

	if (task->pid != task->tgid)
		return 0;
	if (wanted.conditions & WIRE_IF_PID)
		unselect_process(task);
	process_ended(task->tgid);
	count_hook_time(began);
	return 0;
}
