/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Make names of functions fit. A demangled name of C++ or Rust spells out what its source leaves
 * to the language: return types of templates, default arguments of templates, namespaces that only
 * version a library. The short name leaves these out; names of other languages stay as they are.
 */
#ifndef SKEIN_BASE_NAME_H
#define SKEIN_BASE_NAME_H

#include <stddef.h>

/*
 * Write the short form of a name, or the name itself if it has none, cut to size-1 bytes. The
 * result is as clean as the name was. Return buf.
 */
char *name_short(const char *name, char *buf, size_t size);

/* How much of a name is left out where it does not fit, in the order in which it is tried. */
enum name_form {
	NAME_WHOLE,
	NAME_WITHOUT_PARAMETERS, /* the contents of "(...)" become U+2026 */
	NAME_WITHOUT_ARGUMENTS, /* of "<...>", too */
	NAME_FORMS
};

/* Write a form of a clean name to buf, cut to size-1 bytes. Return buf. */
char *name_form(const char *name, enum name_form form, char *buf, size_t size);

/*
 * Copy a clean name, made to fit into columns: lists of parameters, then template arguments become
 * U+2026, and what is too long even then is cut in its middle, so that the namespace and the
 * function's own name remain. Return buf.
 */
char *name_fit(const char *name, unsigned int columns, char *buf, size_t size);

#endif
