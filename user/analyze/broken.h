/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count how many user stacks of one event are complete, and for what reason and in which module the
 * other stacks broke. Samples that cannot have a user stack are counted separately: otherwise, many
 * such samples would make the share of complete stacks look better than it is.
 */
#ifndef SKEIN_ANALYZE_BROKEN_H
#define SKEIN_ANALYZE_BROKEN_H

#include "analyze/profile.h"
#include "base/vector.h"

/* Reasons for which a sample cannot have a user stack. X(NAME, "which samples") */
#define NO_USER_STACKS(X) \
	X(KERNEL_THREAD, "kernel threads") \
	X(NO_MEMORY_MAP, "threads starting or ending") /* the stack ends as END_NO_MEMORY_MAP */ \
	X(OUTSIDE, "outside of this pid namespace") /* the stack ends as END_OUTSIDE */ \
	X(NOT_RECORDED, "not asked for") /* recorded with kernel stacks only */

#define NO_USER_ENUM(NAME, word) NO_USER_##NAME,
enum no_user { NO_USER_STACKS(NO_USER_ENUM) NO_USER_COUNT };
#undef NO_USER_ENUM

const char *no_user_word(enum no_user why);

/* Numbers of samples; samples = due + sum of no_user, due = complete + sum of broken + no_stack. */
struct completeness {
	uint64_t samples;
	uint64_t no_user[NO_USER_COUNT];
	uint64_t due; /* samples that have a user stack or should have one */
	uint64_t complete; /* stack complete from the start of the thread to the innermost frame */
	uint64_t broken[END_COUNT]; /* by enum stack_end */
	uint64_t no_stack; /* samples without any frame, not even an END frame with the reason */
};

void completeness_of(struct completeness *out, const struct profile *p, uint32_t event);

struct breakage {
	const char *reason; /* stack_end_word(), or "no stack"; static */
	/*
	 * The module of the outermost known frame, Python frames excepted, where the walk ended, as
	 * profile_module_path() names it; "" if that frame is in the kernel or in no known module.
	 */
	const char *module;
	uint64_t count; /* samples */
};

struct breakages {
	VECTOR(struct breakage) list; /* most samples first, then by reason and module */
};

/*
 * Group the due samples whose stack is not complete. Return 0 or -ENOMEM. The profile must outlive
 * the result, which the caller frees with breakages_free().
 */
int breakages_of(struct breakages *out, const struct profile *p, uint32_t event);
void breakages_free(struct breakages *b);

#endif
