/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encode columns of integers for the page: varints (7 bits per byte, low bits first) as base64,
 * which a browser decodes into typed arrays much faster than it parses numbers.
 */
#ifndef SKEIN_EXPORT_HTML_COLUMNS_H
#define SKEIN_EXPORT_HTML_COLUMNS_H

#include <stdint.h>

#include "base/json.h"
#include "base/vector.h"

/* A column; zeroed memory is an empty one. */
struct html_column {
	VECTOR(uint8_t) bytes;
	uint64_t last; /* previous value of html_column_delta() */
	int error; /* sticky: -ENOMEM */
};

void html_column_put(struct html_column *c, uint64_t value);
/* Add a value near the previous one, as their difference in zigzag encoding. */
void html_column_delta(struct html_column *c, uint64_t value);
/* Write the column as a member of an object, and free it. Return 0 or the sticky error. */
int html_column_end(struct html_column *c, struct json *j, const char *key);

#endif
