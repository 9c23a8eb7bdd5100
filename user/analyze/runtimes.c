// SPDX-License-Identifier: Apache-2.0
/* Find the runtime of stacks and processes, and count samples without names (runtimes.h). */
#include "analyze/runtimes.h"

#include <errno.h>
#include <stdlib.h>

/* What is on the path from the root to a frame. */
enum runtime_mark {
	HAS_NAMED = 1, /* generated code with a name */
	HAS_UNNAMED = 2, /* generated code without a name */
	HAS_READ = 4, /* a frame that was read */
};

/* The runtime of a stack or process (RUNTIME_COUNT: none), and enum runtime_mark. */
struct runtime_of {
	uint8_t kind, marks;
};

struct runtime_paths {
	struct runtime_of *frames, *stacks, *processes;
};

static void free_runtime_paths(struct runtime_paths *r)
{
	free(r->frames);
	free(r->stacks);
	free(r->processes);
}

/* Generated code belongs to the runtime of the other frames of its stack, or of its process. */
static struct runtime_of frame_runtime(const struct profile *p, const struct profile_frame *f,
				       const uint8_t *of_mapping)
{
	struct runtime_of r = {.kind = RUNTIME_COUNT};
	bool named = f->function != PROFILE_NONE && *p->functions[f->function].f.name;

	if (f->f.kind == FRAME_NATIVE && f->mapping != PROFILE_NONE)
		r.kind = of_mapping[f->mapping];
	else if (f->f.kind == FRAME_JIT)
		r.marks = named ? HAS_NAMED : HAS_UNNAMED;
	else if (f->f.kind == FRAME_JAVA)
		r = (struct runtime_of){RUNTIME_JAVA, HAS_READ};
	return r;
}

/* Set the runtimes of frames. Return 0 or -ENOMEM. */
static int find_frame_runtimes(struct runtime_paths *r, const struct profile *p)
{
	uint8_t *of_mapping = malloc((size_t)p->count.mappings + 1);

	r->frames = calloc((size_t)p->count.frames + 1, sizeof(*r->frames));
	if (!of_mapping || !r->frames) {
		free(of_mapping);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < p->count.mappings; i++)
		of_mapping[i] = p->mappings[i].m.kind == MAPPING_FILE
					? (uint8_t)runtime_of_file(p->mappings[i].m.path)
					: RUNTIME_COUNT;
	for (uint32_t i = 0; i < p->count.frames; i++)
		r->frames[i] = frame_runtime(p, &p->frames[i], of_mapping);
	free(of_mapping);
	return 0;
}

/* The runtime nearest to the root is the program's, unless that is one that is read. */
static void add_runtime(struct runtime_of *to, struct runtime_of more)
{
	if (to->kind == RUNTIME_COUNT || to->kind == RUNTIME_PYTHON)
		to->kind = more.kind == RUNTIME_COUNT ? to->kind : more.kind;
	to->marks |= more.marks;
}

/* Combine the frames of all paths; parents precede their children. */
static int find_stack_runtimes(struct runtime_paths *r, const struct profile *p)
{
	const struct runtime_of none = {.kind = RUNTIME_COUNT};

	r->stacks = calloc((size_t)p->count.stacks + 1, sizeof(*r->stacks));
	if (!r->stacks)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		r->stacks[i] = s->parent == PROFILE_NONE ? none : r->stacks[s->parent];
		if (s->frame != PROFILE_NONE)
			add_runtime(&r->stacks[i], r->frames[s->frame]);
	}
	return 0;
}

static uint32_t process_of_sum(const struct profile *p, const struct profile_sum *s)
{
	return s->thread == PROFILE_NONE ? PROFILE_NONE : p->threads[s->thread].process;
}

/* A process has the runtime of its program, else of the first of its stacks that has one. */
static int find_process_runtimes(struct runtime_paths *r, const struct profile *p)
{
	r->processes = calloc((size_t)p->count.processes + 1, sizeof(*r->processes));
	if (!r->processes)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.processes; i++)
		r->processes[i].kind = (uint8_t)runtime_of_file(p->processes[i].p.exe);
	for (uint32_t i = 0; i < p->count.sums; i++) {
		const struct profile_sum *s = &p->sums[i];
		uint32_t process = process_of_sum(p, s);

		if (process != PROFILE_NONE && s->stack != PROFILE_NONE)
			add_runtime(&r->processes[process], r->stacks[s->stack]);
	}
	return 0;
}

/* Return whether a frame is generated code, or of a runtime whose functions may lack names. */
static bool has_unread_runtime(const struct runtime_paths *r, const struct profile *p)
{
	for (uint32_t i = 0; i < p->count.frames; i++) {
		const struct runtime_of *f = &r->frames[i];

		if (f->marks & (HAS_NAMED | HAS_UNNAMED) ||
		    (f->kind != RUNTIME_COUNT && *runtime_table[f->kind].names))
			return true;
	}
	return false;
}

/*
 * Find the runtimes of all frames, stacks and processes. Return 1; 0 if there is nothing to find,
 * or -ENOMEM. The caller frees *r with free_runtime_paths() in any case.
 */
static int find_runtime_paths(struct runtime_paths *r, const struct profile *p)
{
	int ret = find_frame_runtimes(r, p);

	if (ret || !has_unread_runtime(r, p))
		return ret;
	ret = find_stack_runtimes(r, p);
	if (!ret)
		ret = find_process_runtimes(r, p);
	return ret ? ret : 1;
}

/* Return the runtime of a stack: of its frames, else of its process; NULL if there is none. */
static const struct runtime *runtime_of_stack(struct runtime_of stack, struct runtime_of process)
{
	uint8_t kind = stack.kind;

	if (kind == RUNTIME_COUNT || kind == RUNTIME_PYTHON)
		kind = process.kind;
	return kind == RUNTIME_COUNT ? NULL : &runtime_table[kind];
}

/* Return whether a stack has frames in which a runtime may have interpreted functions. */
static bool is_interpreted(const struct runtime *of, struct runtime_of stack)
{
	return of->interprets && of == runtime_table + stack.kind;
}

/* Count the samples of a sum if functions of a runtime lack names in them. */
static void add_runtime_sum(struct runtime_shares *out, const struct profile_sum *s,
			    struct runtime_of stack, struct runtime_of process)
{
	const struct runtime *of = runtime_of_stack(stack, process);

	if (!of || !*of->names || process.marks & (HAS_NAMED | HAS_READ))
		return;
	if (stack.marks & HAS_UNNAMED || is_interpreted(of, stack))
		out->samples[of - runtime_table] += s->count;
}

int runtime_shares_of(struct runtime_shares *out, const struct profile *p, uint32_t event)
{
	struct runtime_paths r = {0};
	int ret = find_runtime_paths(&r, p);

	if (ret >= 0)
		*out = (struct runtime_shares){0};
	for (uint32_t i = 0; i < p->count.sums && ret > 0; i++) {
		const struct profile_sum *s = &p->sums[i];
		uint32_t process = process_of_sum(p, s);

		if (s->event == event && process != PROFILE_NONE && s->stack != PROFILE_NONE)
			add_runtime_sum(out, s, r.stacks[s->stack], r.processes[process]);
	}
	free_runtime_paths(&r);
	return ret < 0 ? ret : 0;
}

bool runtime_share_matters(uint64_t samples, uint64_t all)
{
	return samples && samples >= all / 100;
}

/*
 * Return whether frames may be missing on a stack: functions that are interpreted, or the callers
 * of generated code without frame pointers.
 */
static bool may_lack_frames(struct runtime_of stack, struct runtime_of process)
{
	const struct runtime *of = runtime_of_stack(stack, process);

	if (!of)
		return false;
	if (is_interpreted(of, stack))
		return true;
	if (of->pointers == POINTERS_NEVER)
		return stack.marks & (HAS_NAMED | HAS_UNNAMED);
	return of->pointers == POINTERS_WITH_NAMES && stack.marks & HAS_UNNAMED &&
	       !(process.marks & HAS_NAMED);
}

int runtimes_mark_ends(struct profile *p)
{
	struct runtime_paths r = {0};
	int ret = find_runtime_paths(&r, p);

	for (uint32_t i = 0; i < p->count.sums && ret > 0; i++) {
		uint32_t stack = p->sums[i].stack, process = process_of_sum(p, &p->sums[i]);

		if (stack != PROFILE_NONE && process != PROFILE_NONE &&
		    p->ends[stack] == END_WALKED &&
		    may_lack_frames(r.stacks[stack], r.processes[process]))
			p->ends[stack] = END_NO_WALKER;
	}
	free_runtime_paths(&r);
	return ret < 0 ? ret : 0;
}
