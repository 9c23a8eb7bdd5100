/* SPDX-License-Identifier: Apache-2.0 */
/* The target of a request: its path, and the parameters of its query. */
#ifndef SKEIN_HTTP_TARGET_H
#define SKEIN_HTTP_TARGET_H

#include <stdint.h>

#include "http/refusal.h"

#define HTTP_TARGET_MAX 4096 /* bytes */
#define HTTP_PARAMETERS_MAX 32

struct http_parameter {
	const char *name, *value;
};

struct http_target {
	char text[HTTP_TARGET_MAX + 1]; /* as it came, and then what the others point into */
	unsigned int count;
	struct http_parameter parameters[HTTP_PARAMETERS_MAX];
};

/*
 * Take a target apart. Afterwards text is the path, as it came. Return why it is refused, or NULL:
 * it is too long, has bytes that are not printable ASCII, a wrong %, a name twice or none, or a
 * value with control characters or that is not UTF-8.
 */
const struct http_refusal *http_target_parse(struct http_target *t, const char *target);

/* Return the value of a parameter, or NULL. */
const char *http_target_find(const struct http_target *t, const char *name);

/* Read decimal digits. Return 0, or -EINVAL or -ERANGE with *value unchanged. */
int http_number_parse(const char *text, uint64_t *value);

#endif
