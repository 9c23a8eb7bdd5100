/* SPDX-License-Identifier: Apache-2.0 */
/* Demangle C++ and Rust names. */
#ifndef SKEIN_SYMBOLIZERS_DEMANGLE_H
#define SKEIN_SYMBOLIZERS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Mangled names of this many bytes or more are not demangled. (libiberty itself refuses C++ names
 * of more than 1,024 bytes.)
 */
#define MANGLED_MAX (64u << 10)

/*
 * Demangles names within bounds on time and memory (demangle_run.h), and caches results in slots of
 * a table, chosen by the hash of the name; a newer result replaces the older one in its slot. There
 * is at most one demangler per process, used by the thread that made it.
 */
struct demangler;

/*
 * Make a demangler; NULL without memory. Free it with demangler_free(). If its timer could not be
 * made, it refuses every mangled name.
 */
struct demangler *demangler_new(void);
void demangler_free(struct demangler *d);

/* The demangling cost of one file's names so far; begins as zeros. */
struct demangle_cost {
	uint32_t names; /* names passed to libiberty */
	uint32_t ticks; /* ticks (demangle_run.h) that this took */
};

/*
 * From now on, add the cost of demangling to *cost, which is the sum of one file. *cost must stay
 * valid until the next call.
 */
void demangler_charge(struct demangler *d, struct demangle_cost *cost);

/*
 * Copy text to buf, which has size bytes. A text that does not fit is cut and ends with U+2026; if
 * size is less than 4, nothing of it is copied. Return the length of the copy.
 */
size_t demangle_copy_cut(const char *text, char *buf, size_t size);

/*
 * Return the demangled name, without the hash at the end of Rust's legacy names, but with its
 * suffix " [module]" if there is one. Return NULL if name is not mangled or could not be demangled.
 * The result is valid until the next call; one of more than REPLY_NAME_MAX bytes is cut and ends
 * with U+2026.
 */
const char *demangler_get(struct demangler *d, const char *name);
/*
 * Return whether the last name was not demangled because the name takes too much time or memory,
 * its file has taken too much time, or there is no timer.
 */
bool demangler_refused(const struct demangler *d);

#endif
