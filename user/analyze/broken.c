// SPDX-License-Identifier: Apache-2.0
/* Count whole and broken stacks, and group the broken ones by reason and module. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/broken.h"
#include "analyze/names.h"

/*
 * The completeness of a sample's stack. BROKEN: the user part was not walked to its root. NO_STACK:
 * the stack has no frame, although a user part was due. NO_USER: the sample cannot have a user
 * part.
 */
enum stack_verdict_kind { COMPLETE, BROKEN, NO_STACK, NO_USER };

struct stack_verdict {
	enum stack_verdict_kind kind;
	unsigned int reason; /* enum stack_end of BROKEN, enum no_user of NO_USER */
};

const char *no_user_word(enum no_user why)
{
	static const char *const words[] = {
#define NO_USER_WORD(NAME, word) [NO_USER_##NAME] = word,
		NO_USER_STACKS(NO_USER_WORD)
#undef NO_USER_WORD
	};

	return words[why];
}

/* The only part of stacks that was recorded, if --stacks excluded the other. */
struct recorded_parts {
	bool user_only, kernel_only;
};

static struct recorded_parts find_recorded_parts(const struct profile *p)
{
	struct recorded_parts r = {false, false};

	for (uint32_t i = 0; i < p->count.infos; i++) {
		if (strcmp(p->infos[i].key, "option.stacks"))
			continue;
		r.user_only = !strcmp(p->infos[i].value, "user");
		r.kernel_only = !strcmp(p->infos[i].value, "kernel");
	}
	return r;
}

/*
 * Return whether the stack is that of a kernel thread. Such a stack is whole although its root is
 * in the kernel.
 */
static bool is_kernel_thread_stack(const struct profile *p, uint32_t stack)
{
	uint32_t root = p->roots[stack];

	return p->ends[stack] == END_WALKED && root != PROFILE_NONE &&
	       p->frames[root].f.kind == FRAME_KERNEL;
}

/*
 * Return the verdict on a stack. The stack of a user thread is never empty: if the walk failed, the
 * stack contains a frame with the reason. So without kernel stacks in the recording, an empty stack
 * is that of a kernel thread.
 */
static struct stack_verdict judge_stack_end(const struct profile *p, struct recorded_parts recorded,
					    uint32_t stack)
{
	enum stack_end end = profile_stack_end(p, stack);

	if (recorded.kernel_only)
		return (struct stack_verdict){NO_USER, NO_USER_NOT_RECORDED};
	if (stack == PROFILE_NONE)
		return recorded.user_only ? (struct stack_verdict){NO_USER, NO_USER_KERNEL_THREAD}
					  : (struct stack_verdict){NO_STACK, 0};
	if (end == END_NO_MEMORY_MAP)
		return (struct stack_verdict){NO_USER, NO_USER_NO_MEMORY_MAP};
	if (end == END_NOT_TAKEN) /* no sample at all */
		return (struct stack_verdict){COMPLETE, 0};
	if (end == END_OUTSIDE)
		return (struct stack_verdict){NO_USER, NO_USER_OUTSIDE};
	if (is_kernel_thread_stack(p, stack))
		return (struct stack_verdict){NO_USER, NO_USER_KERNEL_THREAD};
	return (struct stack_verdict){end == END_WALKED ? COMPLETE : BROKEN, end};
}

static void count_stack_verdict(struct completeness *c, struct stack_verdict v, uint64_t samples)
{
	c->samples += samples;
	if (v.kind == NO_USER) {
		c->no_user[v.reason] += samples;
		return;
	}
	c->due += samples;
	if (v.kind == COMPLETE)
		c->complete += samples;
	else if (v.kind == BROKEN)
		c->broken[v.reason] += samples;
	else
		c->no_stack += samples;
}

void completeness_of(struct completeness *out, const struct profile *p, uint32_t event)
{
	struct recorded_parts recorded = find_recorded_parts(p);

	*out = (struct completeness){0};
	for (uint32_t i = 0; i < p->count.sums; i++)
		if (p->sums[i].event == event)
			count_stack_verdict(out, judge_stack_end(p, recorded, p->sums[i].stack),
					    p->sums[i].count);
}

struct breakage_builder {
	struct names modules;
	struct index seen; /* (reason, module) -> index in the list */
	struct breakages made;
};

/*
 * Return the path of the module of a stack's root frame. Return "" if no root frame is known, or if
 * the root is in the kernel: then no frame of the user part is known, and the kernel is not at
 * fault.
 */
static const char *module_at_fault(const struct profile *p, uint32_t stack)
{
	uint32_t root = stack == PROFILE_NONE ? PROFILE_NONE : p->roots[stack];

	if (root == PROFILE_NONE || p->frames[root].f.kind == FRAME_KERNEL)
		return "";
	return profile_module_path(p, p->frames[root].mapping);
}

static int add_breakage(struct breakage_builder *b, const struct profile *p,
			const struct profile_sum *s, struct stack_verdict v)
{
	struct breakage fresh = {
		.reason = v.kind == NO_STACK ? "no stack" : stack_end_word(v.reason),
		.module = module_at_fault(p, s->stack),
	};
	uint32_t module, at;
	uint64_t key;

	if (names_intern_text(&b->modules, fresh.module, &module) < 0)
		return -ENOMEM;
	key = (uint64_t)(v.kind == NO_STACK ? END_COUNT : v.reason) << 32 | module;
	at = index_get(&b->seen, key);
	if (at == INDEX_NONE) {
		at = b->made.list.count;
		if (vector_push(&b->made.list, fresh) < 0 || index_put(&b->seen, key, at) < 0)
			return -ENOMEM;
	}
	b->made.list.items[at].count += s->count;
	return 0;
}

static int compare_breakages(const void *a, const void *b)
{
	const struct breakage *x = a, *y = b;
	int order = strcmp(x->reason, y->reason);

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return order ? order : strcmp(x->module, y->module);
}

int breakages_of(struct breakages *out, const struct profile *p, uint32_t event)
{
	struct recorded_parts recorded = find_recorded_parts(p);
	struct breakage_builder b = {0};
	int ret = 0;

	for (uint32_t i = 0; i < p->count.sums && !ret; i++) {
		const struct profile_sum *s = &p->sums[i];
		struct stack_verdict v = judge_stack_end(p, recorded, s->stack);

		if (s->event == event && (v.kind == BROKEN || v.kind == NO_STACK))
			ret = add_breakage(&b, p, s, v);
	}
	names_free(&b.modules);
	index_free(&b.seen);
	if (ret < 0) {
		breakages_free(&b.made);
		return ret;
	}
	if (b.made.list.count)
		qsort(b.made.list.items, b.made.list.count, sizeof(struct breakage),
		      compare_breakages);
	*out = b.made;
	return 0;
}

void breakages_free(struct breakages *b)
{
	vector_free(&b->list);
}
