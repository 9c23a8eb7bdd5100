/* SPDX-License-Identifier: Apache-2.0 */
/* C++ and Rust names as their programmers wrote them. */
#ifndef SKEIN_SYMBOLIZERS_DEMANGLE_H
#define SKEIN_SYMBOLIZERS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Longer mangled names are left as they are. libiberty itself leaves C++ names of more than 1,024
 * bytes.
 */
#define MANGLED_MAX (64u << 10)

/*
 * Demangling within bounds (demangle_run.h), and results in one place per hash of the name, of
 * which the newest wins. At most one per process, used by the thread that made it.
 */
struct demangler;

struct demangler *demangler_new(void);
void demangler_free(struct demangler *d);

/* What the names of one file have taken so far; begins as zeros. */
struct demangle_cost {
	uint32_t names; /* that were demangled */
	uint32_t ticks; /* of the time that this took: demangle_run.h */
};

/* The names that follow are those of the file that has this cost, which must outlive them. */
void demangler_charge(struct demangler *d, struct demangle_cost *cost);

/*
 * Write the demangled name, without the hash that ends Rust's legacy names,
 * into buf and return 1; or return 0 if name is not mangled, and -ETIME if it takes too much time
 * or memory, or its file has taken too much before. A result of more
 * than size - 1 bytes is cut and ends with U+2026. A suffix " [module]" stays. size is at most
 * ANSWER_NAME_MAX + 1.
 */
int demangle(struct demangler *d, const char *name, char *buf, size_t size);

/* Copy text as demangle() does: cut to size - 1 bytes, ending with U+2026. Returns its length. */
size_t copy_cut(const char *text, char *buf, size_t size);

/*
 * The demangled name, or NULL if name stays as it is. Valid until the next
 * call. Longer results are cut as above.
 */
const char *demangler_get(struct demangler *d, const char *name);
/* Whether the last name stayed as it is because it, or its file, takes too much. */
bool demangler_refused(const struct demangler *d);

#endif
