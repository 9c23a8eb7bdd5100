/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute the cost of every function: its own (self), and with the functions it calls (total). A
 * function is a name in a module, see profile_frame_name().
 */
#ifndef SKEIN_ANALYZE_FUNCTIONS_H
#define SKEIN_ANALYZE_FUNCTIONS_H

#include "analyze/names.h"
#include "analyze/profile.h"
#include "analyze/tree.h"

/* The functions of a profile, numbered. The numbers serve as labels of a tree by function. */
struct symbols {
	struct names names; /* "name\0module" under each number, then "\0" if inlined */
	uint32_t *of_frame; /* by index of frame */
	uint32_t unknown; /* number of "[unknown]" */
};

/* Number the functions of a profile. Return 0 or -ENOMEM; free the symbols with symbols_free(). */
int symbols_of(struct symbols *out, const struct profile *p);
/*
 * Like symbols_of(), with the names and modules that are the same in two recordings even if
 * something was rebuilt in between (diff_names.h).
 */
int symbols_in_common(struct symbols *out, const struct profile *p);
/*
 * Add a name that no frame has, such as that of a process, as another label. Return 0 or -ENOMEM.
 */
int symbols_add(struct symbols *s, const char *name, uint32_t *out);
void symbols_free(struct symbols *s);
const char *symbol_name(const struct symbols *s, uint32_t symbol);
/*
 * Return labels by index of frame like of_frame, but with separate numbers, which are added to s,
 * for inlined functions. The caller frees the array; NULL without memory.
 */
uint32_t *symbols_with_inlined(struct symbols *s, const struct profile *p);
bool symbol_is_inlined(const struct symbols *s, uint32_t symbol);
/*
 * Return the path of the module; for symbols_in_common() without folders; "" if it is not known.
 */
const char *symbol_module(const struct symbols *s, uint32_t symbol);

/*
 * Set alike[i] if the i-th of count symbols has the same name and module_short_name() as another of
 * them; alike must be zeroed. Return 0 or -ENOMEM.
 */
int symbols_find_alike(const struct symbols *s, const uint32_t *list, size_t count, bool *alike);

struct function_cost {
	uint32_t symbol;
	uint64_t self_count, self_weight, total_count, total_weight;
};

struct functions {
	/* in decreasing order of self weight, then of total weight; then by name and module */
	VECTOR(struct function_cost) list;
};

/*
 * Compute the costs from a tree whose labels are symbols. Recursion counts once: a function's total
 * already includes its recursive calls. Return 0 or -ENOMEM.
 */
int functions_of(struct functions *out, const struct tree *t, const struct symbols *s);
/*
 * Like functions_of() for the samples of an event, directly from their stacks. Return 0 or -ENOMEM.
 */
int functions_of_stacks(struct functions *out, const struct profile *p, uint32_t event,
			const struct symbols *s);
/*
 * Fill *out with the Python functions of *all. Native and kernel code that a Python function calls
 * counts as part of it: its self samples are those that ended in the function itself or in such
 * code. Return 0 or -ENOMEM.
 */
int functions_of_python(struct functions *out, const struct functions *all, const struct profile *p,
			uint32_t event, const struct symbols *s);
/*
 * Make the sorted list of functions from costs by number of symbol, without functions whose
 * total_count is 0. Return 0 or -ENOMEM.
 */
int functions_sort(struct functions *out, const struct function_cost *costs,
		   const struct symbols *s);
void functions_free(struct functions *f);

#endif
