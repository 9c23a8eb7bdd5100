/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming JSON writer. The writer keeps track of commas and nesting. Strings are made valid
 * UTF-8 and escaped so that they are also safe inside an HTML script element (no literal "<", ">",
 * "&", U+2028 or U+2029).
 */
#ifndef SKEIN_BASE_JSON_H
#define SKEIN_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	unsigned int depth;
	bool indent; /* one member per line */
	bool first; /* nothing has been written yet in the innermost container */
	bool after_key;
};

void json_begin(struct json *j, FILE *out, bool indent);
/* Write a final newline and flush. Return 0 or the negative errno of the stream. */
int json_end(struct json *j);

void json_object(struct json *j);
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);
void json_key(struct json *j, const char *key);
void json_text(struct json *j, const char *text);
void json_uint(struct json *j, uint64_t value);
void json_int(struct json *j, int64_t value);
void json_real(struct json *j, double value); /* writes null when value is not finite */
/* Write value in units of 10^-digits exactly: (1234500, 3) is 1234.500. */
void json_decimal(struct json *j, int64_t value, unsigned int digits);
void json_bool(struct json *j, bool value);
void json_null(struct json *j);

/* Write a value that is valid JSON already, and as safe as what this writer writes. */
void json_raw(struct json *j, const char *json);

/* Each of these writes a key and a value. */
void json_key_text(struct json *j, const char *key, const char *text);
void json_key_uint(struct json *j, const char *key, uint64_t value);
void json_key_int(struct json *j, const char *key, int64_t value);
void json_key_real(struct json *j, const char *key, double value);

/* Write a field of a record (base/record.h) with the field's name as the key. */
struct field;
void json_key_field(struct json *j, const struct field *f, const void *record);

#endif
