/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every function cost: alone (self) and with all that it called (total).
 * A function is a name in a module, see profile_frame_name().
 */
#ifndef SKEIN_ANALYZE_FUNCTIONS_H
#define SKEIN_ANALYZE_FUNCTIONS_H

#include "analyze/names.h"
#include "analyze/profile.h"
#include "analyze/tree.h"

/* The functions of a profile, numbered; the labels of a tree by function. */
struct symbols {
	struct names names; /* "name\0module" under each number; behind them "\0" if inlined */
	uint32_t *of_frame; /* by index of frame */
	uint32_t unknown; /* the number of "[unknown]" */
};

int symbols_of(struct symbols *ret, const struct profile *p);
/* By names and modules that two recordings have in common, whatever was built anew between them. */
int symbols_in_common(struct symbols *ret, const struct profile *p);
/* The number of a name that no frame has, such as a process's, to be a label beside them. */
int symbols_add(struct symbols *s, const char *name, uint32_t *ret);
void symbols_free(struct symbols *s);
const char *symbol_name(const struct symbols *s, uint32_t symbol);
/*
 * Labels by index of frame as in of_frame, but that inlined functions have numbers of their own.
 * Freed by the caller; NULL without memory.
 */
uint32_t *symbols_with_inlined(struct symbols *s, const struct profile *p);
bool symbol_is_inlined(const struct symbols *s, uint32_t symbol);
/* Whole path of the module; "" if it is not known. */
const char *symbol_module(const struct symbols *s, uint32_t symbol);

struct function_cost {
	uint32_t symbol;
	uint64_t self_count, self_weight, total_count, total_weight;
};

struct functions {
	VECTOR(struct function_cost) list; /* hottest first: self, then total, then name */
};

/*
 * From a tree whose labels are symbols. Recursion counts once: what a function
 * has below itself is already in its total.
 */
int functions_of(struct functions *ret, const struct tree *t, const struct symbols *s);
/* The same of the samples of an event, straight from their stacks. 0 or -ENOMEM. */
int functions_of_stacks(struct functions *ret, const struct profile *p, uint32_t event,
			const struct symbols *s);
/*
 * Of them, those of Python, with what they call in native code and in the kernel as theirs: self is
 * what ended in them or in what such functions called.
 */
int functions_of_python(struct functions *ret, const struct functions *all,
			const struct profile *p, uint32_t event, const struct symbols *s);
/* From costs by number of symbol: those that cost anything, sorted. 0 or -ENOMEM. */
int functions_sort(struct functions *ret, const struct function_cost *costs,
		   const struct symbols *s);
void functions_free(struct functions *f);

#endif
