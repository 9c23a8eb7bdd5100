/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search in names by the plain part of regular expressions, as the page's search reads them: "."
 * is any character, "|" stands between alternatives, "^" and "$" are the begin and the end of a
 * name, "\" takes the meaning from one of these, and all else means itself. A text without capitals
 * ignores case (of ASCII). Repetitions, classes and groups are refused, so that a match takes at
 * most the length of the name times that of the text, whatever both are.
 */
#ifndef SKEIN_BASE_PATTERN_H
#define SKEIN_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_LENGTH_MAX 256 /* bytes of a text */

struct pattern {
	/* a byte, or one of enum pattern_sign in pattern.c */
	short signs[PATTERN_LENGTH_MAX + 1];
	size_t count;
	bool any_case;
};

/*
 * Read a text. Return 0, or -EINVAL with *p unchanged if it is empty, too long, has an empty
 * alternative, or something that is refused.
 */
int pattern_parse(struct pattern *p, const char *text);

/* Return whether the pattern matches a part of a name. */
bool pattern_matches(const struct pattern *p, const char *name);

#endif
