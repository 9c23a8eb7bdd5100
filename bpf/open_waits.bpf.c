// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * Stacks of threads whose waits have not ended: an iterator over all threads, which user space runs
 * at the end of a recording and for each copy of a trace. It may sleep, and so reads memory that is
 * swapped out, too. The stack of a thread that sleeps does not change, and user space keeps only
 * those of threads that were not woken meanwhile.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/unwind/remote.h"

#include "bpf/stack.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Of threads that are visited after this time (ns), and after the reader has used so much CPU time
 * (ns), only the innermost frames are taken. Set by user space.
 */
__u64 open_waits_deadline = 0;
__u64 open_waits_budget = 0;

/* Frames of JVMs may come. Set by user space before loading. */
const volatile bool with_java = false;

#define OPEN_WAIT_WORDS ((WIRE_OPEN_WAIT_BYTES - sizeof(struct wire_sample)) / sizeof(__u64))
#define OPEN_WAIT_STACK_BLOCKS 16 /* of REMOTE_BLOCK bytes, of a stack that is not walked here */
#define BLOCK_WORDS (REMOTE_BLOCK / sizeof(__u64))

/* The record under construction. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct user_walk);
} open_wait_scratch SEC(".maps");

struct remote_loop {
	struct task_struct *task;
	struct user_walk *user;
	struct python_walk *python;
	struct remote_memory *memory;
};

struct sched_entity___runtime {
	__u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

struct task_struct___runtime {
	struct sched_entity___runtime se;
} __attribute__((preserve_access_index));

/* Return whether the reader has no time left for stacks. The kernel counts its time in ticks. */
static __always_inline bool is_late(__u64 now)
{
	struct task_struct___runtime *reader = (void *)bpf_get_current_task_btf();

	return now > open_waits_deadline || reader->se.sum_exec_runtime >= open_waits_budget;
}

static __always_inline bool task_waits(struct task_struct *task)
{
	const struct task_struct___wait *w = (void *)task;
	enum wire_state state = decode_task_state(task->__state);

	return !w->on_cpu && (state == WIRE_SLEEPING || state == WIRE_DISK);
}

static long remote_native_step(__u32 i, void *context)
{
	const struct remote_loop *l = context;
	struct remote_memory *m = l->memory;
	struct user_walk *u = l->user;
	__u32 at = u->at;
	int over;

	bpf_probe_read_kernel(&m->native, sizeof(m->native), &u->walk);
	over = user_walk_step(u, with_java);
	if (!m->missing)
		return over;
	bpf_probe_read_kernel(&u->walk, sizeof(u->walk), &m->native);
	u->at = at;
	remote_fetch(m, l->task);
	return 0;
}

/* Walk the native frames. late: keep only the innermost one. */
static __always_inline void walk_native(const struct remote_loop *l, bool late)
{
	struct user_walk *u = l->user;

	take_entry_registers(&u->walk, l->task);
	if (late)
		user_walk_end_at_pc(u, WALK_END_NO_TIME);
	else if (!user_walk_begin_native(u, l->task, entry_mode(l->task), u->sample.time)) {
		if (!with_java)
			u->walk.hotspot = 0;
		if (u->walk.hotspot) /* Java frames take more than the stack */
			l->memory->most = REMOTE_MAX;
		bpf_loop(WIRE_MAX_USER + 1 + REMOTE_MAX, remote_native_step, (void *)l, 0);
	}
	if (l->memory->exhausted &&
	    (u->walk.end == WALK_END_UNREADABLE || u->walk.end == WALK_END_JAVA))
		u->walk.end = WALK_END_COPY_END;
}

/* Begin the walk of Python frames. Return 1 when memory->begun is set. */
static long remote_python_begin(__u32 i, void *context)
{
	const struct remote_loop *l = context;
	struct remote_memory *m = l->memory;
	bool begun = user_walk_begin_python(l->user, l->task) != NULL;

	if (m->missing) {
		remote_fetch(m, l->task);
		return 0;
	}
	m->begun = begun;
	return 1;
}

static long remote_python_step(__u32 i, void *context)
{
	const struct remote_loop *l = context;
	struct remote_memory *m = l->memory;
	int over;

	bpf_probe_read_kernel(&m->python, sizeof(m->python), l->python);
	over = python_walk_step(l->python, l->user->words);
	if (!m->missing)
		return over;
	bpf_probe_read_kernel(l->python, sizeof(*l->python), &m->python);
	remote_fetch(m, l->task);
	return 0;
}

static __always_inline void walk_python(struct remote_loop *l)
{
	__u32 scratch = 1; /* as user_walk_begin_python() chooses it */

	l->memory->most = REMOTE_MAX;
	l->memory->begun = 0;
	l->python = bpf_map_lookup_elem(&python_scratch, &scratch);
	if (!l->python || !l->user->python.layout)
		return;
	bpf_loop(8, remote_python_begin, l, 0);
	if (!l->memory->begun)
		return;
	bpf_loop(PYTHON_STEPS_MAX + REMOTE_MAX, remote_python_step, l, 0);
	user_walk_end_python(l->user, l->python);
}

/* Copy one block of the stack. Return 1 if it is the last. */
static long copy_stack_block(__u32 i, void *context)
{
	const struct remote_loop *l = context;
	struct user_walk *u = l->user;
	__u64 at = u->at, next;
	struct wire_unfinished *to;

	keep_in_register(at);
	if (at > OPEN_WAIT_WORDS - UNFINISHED_WORDS)
		return 1;
	to = (struct wire_unfinished *)&u->words[at];
	to->cut = i == OPEN_WAIT_STACK_BLOCKS;
	next = at + UNFINISHED_WORDS + to->bytes / sizeof(__u64);
	keep_in_register(next);
	if (to->cut || next > OPEN_WAIT_WORDS - BLOCK_WORDS) {
		to->cut = 1;
		return 1;
	}
	if (bpf_copy_from_user_task(&u->words[next], REMOTE_BLOCK, (void *)(to->stack + to->bytes),
				    l->task, 0))
		return 1;
	to->bytes += REMOTE_BLOCK;
	return 0;
}

/*
 * Store the walk's state and a part of the stack, from which user space continues. Return the
 * number of words stored.
 */
static __always_inline __u32 save_open_wait(const struct remote_loop *l)
{
	struct user_walk *u = l->user;
	__u64 at = u->at;
	struct wire_unfinished *to;

	keep_in_register(at);
	if (at > OPEN_WAIT_WORDS - UNFINISHED_WORDS)
		return 0;
	to = (struct wire_unfinished *)&u->words[at];
	begin_unfinished(to, u);
	to->stack = (u->walk.sp - WALK_RED_ZONE) & ~(REMOTE_BLOCK - 1ULL);
	bpf_loop(OPEN_WAIT_STACK_BLOCKS + 1, copy_stack_block, (void *)l, 0);
	return UNFINISHED_WORDS + to->bytes / sizeof(__u64);
}

/* Take the stack of a thread, and return the number of words of its record. */
static __always_inline __u32 take_open_wait(struct remote_loop *l, bool late)
{
	struct user_walk *u = l->user;
	struct wire_wait wait = {0};
	__u32 words = WIRE_WAIT_WORDS;
	long kernel = 0;

	u->sample.flags |= WIRE_KERNEL_MODE;
	if (!task_is_kernel_thread(l->task))
		wait.call = entry_call(l->task, &wait.argument);
	__builtin_memcpy(u->words, &wait, sizeof(wait));
	if (with_kernel_stack)
		kernel = bpf_get_task_stack(l->task, &u->words[WIRE_WAIT_WORDS],
					    WIRE_MAX_KERNEL * sizeof(__u64), 0);
	kernel = kernel > 0 ? kernel / sizeof(__u64) : 0;
	remote_begin(l->memory);
	if (begin_stack(u, l->task, words + kernel, kernel))
		walk_native(l, late);
	user_walk_end_native(u);
	walk_python(l);
	words = u->at;
	if (u->sample.flags & WIRE_SAVED)
		words += save_open_wait(l);
	return words;
}

SEC("?iter.s/task")
int open_waits(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u64 now = bpf_ktime_get_boot_ns(), size;
	struct remote_loop l = {.task = task};
	__u32 zero = 0;

	if (!task || !task_waits(task) || !is_selected_thread(task))
		return 0;
	l.user = bpf_map_lookup_elem(&open_wait_scratch, &zero);
	l.memory = bpf_map_lookup_elem(&remote_memory, &zero);
	if (!l.user || !l.memory)
		return 0;
	describe_sample(&l.user->sample, task, WIRE_OPEN_WAIT, task_cpu_of(task), now);
	size = sizeof(struct wire_sample) + take_open_wait(&l, is_late(now)) * sizeof(__u64);
	keep_in_register(size);
	if (size > WIRE_OPEN_WAIT_BYTES)
		size = WIRE_OPEN_WAIT_BYTES;
	l.user->sample.bytes = size;
	bpf_seq_write(ctx->meta->seq, &l.user->sample, size);
	return 0;
}
