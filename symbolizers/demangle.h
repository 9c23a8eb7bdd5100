/* SPDX-License-Identifier: Apache-2.0 */
/* C++ and Rust names as their programmers wrote them. */
#ifndef SKEIN_SYMBOLIZERS_DEMANGLE_H
#define SKEIN_SYMBOLIZERS_DEMANGLE_H

#include <stddef.h>

/* Longer mangled names are left as they are: demangling can take more than linear time. */
#define MANGLED_MAX (64u << 10)

/*
 * Write the demangled name, without the hash that ends Rust's legacy names,
 * into buf and return 1; or return 0 if name is not mangled. A result of more
 * than size - 1 bytes is cut and ends with U+2026. A suffix " [module]" stays.
 */
int demangle(const char *name, char *buf, size_t size);

/* Copy text as demangle() does: cut to size - 1 bytes, ending with U+2026. Returns its length. */
size_t copy_cut(const char *text, char *buf, size_t size);

/* Results of demangle(), in one place per hash of the name: bounded, newest wins. */
struct demangler;

struct demangler *demangler_new(void);
void demangler_free(struct demangler *d);

/*
 * The demangled name, or NULL if name is not mangled. Valid until the next
 * call. Names longer than size bytes are cut as above.
 */
const char *demangler_get(struct demangler *d, const char *name);

#endif
