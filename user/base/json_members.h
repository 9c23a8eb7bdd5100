/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read the members of one flat JSON object, such as the arguments of a span (span.args). The text
 * is hostile: it is read up to its first mistake, into buffers of fixed sizes, without recursion.
 */
#ifndef SKEIN_BASE_JSON_MEMBERS_H
#define SKEIN_BASE_JSON_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

enum json_type {
	JSON_TEXT, /* a string */
	JSON_INT, /* an integer that fits into int64_t, or is not negative and fits into uint64_t */
	JSON_REAL, /* any other number */
	JSON_WORD, /* true, false or null */
	JSON_NESTED, /* an array or object, as its JSON text */
};

struct json_member {
	enum json_type type;
	/* NUL-terminated; longer ones are cut. A string is decoded, and still hostile. */
	char name[64], text[1024];
	bool negative; /* of JSON_INT */
	uint64_t value; /* of JSON_INT; negative: the bits of an int64_t */
	double real; /* of JSON_INT and JSON_REAL */
};

/*
 * Read the next member. *at is the JSON text at first, and is moved past what was read. Return
 * false at the end of the object, or where the text is no valid object of members.
 */
bool json_member_next(const char **at, struct json_member *out);

/* Find a member by its name. Return false if the object has none, and leave *out undefined. */
bool json_member_find(const char *object, const char *name, struct json_member *out);

/* Write a member with its key. Nested ones are written as a string of their JSON text. */
void json_key_member(struct json *j, const struct json_member *m);

#endif
