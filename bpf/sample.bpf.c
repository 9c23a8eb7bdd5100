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
#include "bpf/steal.h"
#include "bpf/wait_stack.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set by user space before loading. */
const volatile bool with_idle = false;
const volatile bool save_all = false; /* send registers and stack memory with every sample */
/* send SIGSTOP to the sampled thread, to compare its stack with a debugger's */
const volatile bool stop_sampled = false;

#define SIGSTOP 19

/* One entry per CPU, shared with user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the number of possible CPUs, set by user space */
	__type(key, __u32);
	__type(value, struct wire_account);
} accounts SEC(".maps");

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

static __always_inline int end_sample(struct bpf_perf_event_data *ctx, struct user_walk *u)
{
	struct wire_sample *s = &u->sample;
	__u32 words = u->at, cpu = s->cpu;
	struct wire_account *a = bpf_map_lookup_elem(&accounts, &cpu);

	if (save_all && s->user_end != WALK_END_CODE_32_BIT &&
	    (s->user_frames || s->flags & WIRE_UNFINISHED)) {
		take_user_registers(&u->walk, ctx, bpf_get_current_task_btf(),
				    s->flags & WIRE_KERNEL_MODE);
		s->flags |= WIRE_INITIAL_STATE;
	}
	if (s->flags & WIRE_SAVED)
		words += user_walk_save(u, bpf_get_current_task_btf(), !save_all);
	if (a && !send_stack(u, words))
		a->written++;
	else if (a)
		a->ring_full++;
	if (stop_sampled && u->status == WALK_FINISHED && s->user_frames)
		bpf_send_signal_thread(SIGSTOP); /* to this thread, not to any of the process */
	return 0;
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
	struct wire_account *a = bpf_map_lookup_elem(&accounts, &cpu);
	struct user_walk *u = bpf_map_lookup_elem(&sample_scratch, &cpu);

	if (!a || !u)
		return NULL;
	if (task->pid == 0 && !with_idle) {
		account_idle_sample(a, now);
		return NULL;
	}
	if (!account_sample(a, now, stolen_time(task)))
		return NULL;
	if (!is_selected_thread(task)) {
		a->filtered++;
		return NULL;
	}
	describe_sample(&u->sample, task, WIRE_SAMPLE, cpu, now);
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
	if (u->status == WALK_CALLER)
		bpf_loop(WIRE_MAX_USER + 1, user_walk_loop_step, &u, 0);
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
	return u ? user_walk_step(u) : 1;
}

__noinline int python_walk_step_global(struct python_walk *w, struct user_walk *u)
{
	return w && u ? python_walk_step(w, u->words) : 1;
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

/* state is PWR_EVENT_EXIT, which is -1, when the CPU leaves an idle state. */
SEC("?tp_btf/cpu_idle")
int BPF_PROG(idle, unsigned int state, unsigned int cpu_id)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_account *a = bpf_map_lookup_elem(&accounts, &cpu);
	__u64 now = bpf_ktime_get_boot_ns();

	if (!a)
		return 0;
	if (state == (__u32)-1)
		account_idle_end(a, now, stolen_time(bpf_get_current_task_btf()));
	else
		account_idle_begin(a, now);
	return 0;
}

/* The children of a selected process are selected from their first instruction. */
SEC("?tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct *parent, struct task_struct *child)
{
	if (wanted.conditions & WIRE_IF_PID)
		select_child_process(parent, child);
	process_forked(parent, child);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(follow_exec, struct task_struct *task)
{
	process_executed(task->tgid);
	if (consumer_sleeps != WIRE_AWAKE &&
	    (!(wanted.conditions & WIRE_IF_PID) || is_selected_process(task)) &&
	    (!wanted.namespace.level || is_in_own_namespace(task)) && !is_calm_program(task))
		wake_consumer();
	return 0;
}

/* Forget a process when its main thread is freed, since another process may reuse its pid. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(forget_process, struct task_struct *task)
{
	if (task->pid != task->tgid)
		return 0;
	if (wanted.conditions & WIRE_IF_PID)
		unselect_process(task);
	process_ended(task->tgid);
	return 0;
}
