/* SPDX-License-Identifier: Apache-2.0 */
/* Demangle C++ and Rust names. */
#ifndef SKEIN_SYMBOLIZERS_DEMANGLE_H
#define SKEIN_SYMBOLIZERS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Longest mangled name that is demangled, in bytes. (libiberty itself refuses C++ names of more
 * than 1,024 bytes.)
 */
#define MANGLED_MAX (64u << 10)

/*
 * Demangles names within bounds on time and memory (demangle_run.h), and caches results in a table
 * by hash of the name; a newer result replaces an older one with the same hash. There is at most
 * one demangler per process, used by the thread that made it.
 */
struct demangler;

/* Make a demangler; NULL without memory. Free it with demangler_free(). */
struct demangler *demangler_new(void);
void demangler_free(struct demangler *d);

/* The demangling cost of one file's names so far; begins as zeros. */
struct demangle_cost {
	uint32_t names; /* names demangled */
	uint32_t ticks; /* ticks (demangle_run.h) that this took */
};

/*
 * From now on, add the cost of demangling to *cost, which is the sum of one file. *cost must stay
 * valid until the next call.
 */
void demangler_charge(struct demangler *d, struct demangle_cost *cost);

/* Copy text, cut to size - 1 bytes and then ending with U+2026. Return the length of the copy. */
size_t demangle_copy_cut(const char *text, char *buf, size_t size);

/*
 * The demangled name, without the hash at the end of Rust's legacy names; a suffix " [module]"
 * stays. NULL if name stays unchanged. Valid until the next call. A result of more than
 * REPLY_NAME_MAX bytes is cut and ends with U+2026.
 */
const char *demangler_get(struct demangler *d, const char *name);
/*
 * Return whether the last name was not demangled because it, or its file, takes too much time or
 * memory.
 */
bool demangler_refused(const struct demangler *d);

#endif
