/* SPDX-License-Identifier: Apache-2.0 */
/* Write text inside XML 1.0 so that the document is well-formed whatever the text contains. */
#ifndef SKEIN_BASE_XML_H
#define SKEIN_BASE_XML_H

#include <stddef.h>
#include <stdio.h>

/*
 * Write text as content of an element or of a quoted attribute. Markup is escaped. Bytes that are
 * not UTF-8, characters that XML 1.0 does not allow (its production 2: most control characters,
 * U+FFFE, U+FFFF), and carriage returns, which readers would change, become U+FFFD.
 */
void xml_put(FILE *out, const char *text);

/* Return the number of bytes that xml_put() would write. */
size_t xml_size(const char *text);

#endif
