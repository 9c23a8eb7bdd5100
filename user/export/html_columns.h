/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encode columns of integers for the page: varints (7 bits per byte, low bits first) as base64,
 * which a browser decodes into typed arrays much faster than it parses numbers.
 */
#ifndef SKEIN_EXPORT_HTML_COLUMNS_H
#define SKEIN_EXPORT_HTML_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/vector.h"

/* A column; zeroed memory is an empty one. */
struct html_column {
	VECTOR(uint8_t) bytes;
	uint64_t last; /* previous value of html_column_delta() */
	int error; /* 0, or -ENOMEM after the first failure, after which no value is added */
};

/* Add a value. Errors are kept in c->error. */
void html_column_put(struct html_column *c, uint64_t value);
/* Add a value as its difference to c->last, zigzag-encoded: few bytes for similar values. */
void html_column_delta(struct html_column *c, uint64_t value);
/* Write the column as a member of a JSON object, and free the column. Return 0 or -ENOMEM. */
int html_column_end(struct html_column *c, struct json *j, const char *key);

/* Return bytes as base64, which the caller frees; NULL if memory ran out. */
char *html_base64(const uint8_t *bytes, size_t size);

#endif
