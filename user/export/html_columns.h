/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of integers for the page: varints (7 bits a byte, low ones first) as base64, which a
 * browser decodes into typed arrays much faster than it parses numbers.
 */
#ifndef SKEIN_EXPORT_HTML_COLUMNS_H
#define SKEIN_EXPORT_HTML_COLUMNS_H

#include <stdint.h>

#include "base/json.h"
#include "base/vector.h"

/* Zeroed: an empty column. */
struct html_column {
	VECTOR(uint8_t) bytes;
	uint64_t last; /* of html_column_delta() */
	int error; /* sticky: -ENOMEM */
};

void html_column_put(struct html_column *c, uint64_t value);
/* A value that is near to the one before: their difference, as zigzag. */
void html_column_delta(struct html_column *c, uint64_t value);
/* Write it as a member of an object, and free it: 0 or the error that stuck. */
int html_column_end(struct html_column *c, struct json *j, const char *key);

#endif
