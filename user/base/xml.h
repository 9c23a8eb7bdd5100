/* SPDX-License-Identifier: Apache-2.0 */
/* Text inside XML 1.0: well-formed whatever it is made of. */
#ifndef SKEIN_BASE_XML_H
#define SKEIN_BASE_XML_H

#include <stddef.h>
#include <stdio.h>

/*
 * Write text as content of an element or of an attribute in quotes: markup is escaped, bytes that
 * are no UTF-8 and characters that XML 1.0 has no place for (its production 2: most controls,
 * U+FFFE, U+FFFF) become U+FFFD.
 */
void xml_put(FILE *out, const char *text);

/* How many bytes xml_put() would write. */
size_t xml_size(const char *text);

#endif
