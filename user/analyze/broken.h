/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How whole the user stacks of one event are, and what broke the others: why,
 * and in which module. A sample that has no user stack to have is told apart,
 * so that many of them do not make the share look better than it is.
 */
#ifndef SKEIN_ANALYZE_BROKEN_H
#define SKEIN_ANALYZE_BROKEN_H

#include "analyze/profile.h"
#include "base/vector.h"

/* Why there is no user stack to have. X(NAME, "of whom or what") */
#define NO_USER_STACKS(X) \
	X(KERNEL_THREAD, "kernel threads") \
	X(NO_MEMORY_MAP, "threads starting or ending") /* END_NO_MEMORY_MAP */ \
	X(NOT_ASKED, "not asked for") /* recorded with kernel stacks only */

#define NO_USER_ENUM(NAME, word) NO_USER_##NAME,
enum no_user { NO_USER_STACKS(NO_USER_ENUM) NO_USER_COUNT };
#undef NO_USER_ENUM

const char *no_user_word(enum no_user why);

/* Samples; samples = due + all of no_user, due = complete + all of broken + no_stack. */
struct completeness {
	uint64_t samples;
	uint64_t no_user[NO_USER_COUNT];
	uint64_t due; /* have a user stack, or should have one */
	uint64_t complete; /* from where the thread begins to where it stood */
	uint64_t broken[END_COUNT]; /* by how they ended */
	uint64_t no_stack; /* not even a reason is known */
};

void completeness_of(struct completeness *ret, const struct profile *p, uint32_t event);

struct breakage {
	const char *reason; /* stack_end_word(), or "no stack"; static */
	/*
	 * Of the outermost frame known, where the walk stood when it ended, as
	 * profile_module_path() says it; "" if that is no frame of the user part.
	 */
	const char *module;
	uint64_t count; /* samples */
};

struct breakages {
	VECTOR(struct breakage) list; /* most samples first, then by reason and module */
};

/* Of the samples due that are not complete: 0 or -ENOMEM. The profile must outlive them. */
int breakages_of(struct breakages *ret, const struct profile *p, uint32_t event);
void breakages_free(struct breakages *b);

#endif
