// SPDX-License-Identifier: Apache-2.0
/* Search in names by plain patterns (pattern.h). */
#include "base/pattern.h"

#include <errno.h>
#include <string.h>

#define SYNTAX "^$\\.*+?()[]{}|/" /* what may follow a backslash */
#define REFUSED "*+?()[]{}"

enum pattern_sign { SIGN_ANY = 256, SIGN_OR, SIGN_BEGIN, SIGN_END };

static char lower_of(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool pattern_has_capital(const char *text)
{
	for (; *text; text++)
		if (*text != lower_of(*text))
			return true;
	return false;
}

/* Read the sign at *text, of which more than one byte is passed if it is escaped. */
static int read_sign(const char **text, short *sign)
{
	char c = *(*text)++;

	if (strchr(REFUSED, c))
		return -EINVAL;
	if (c == '\\') {
		c = **text;
		if (!c || !strchr(SYNTAX, c))
			return -EINVAL;
		(*text)++;
		*sign = (unsigned char)c;
		return 0;
	}
	*sign = c == '.'   ? SIGN_ANY
		: c == '|' ? SIGN_OR
		: c == '^' ? SIGN_BEGIN
		: c == '$' ? SIGN_END
			   : (unsigned char)c;
	return 0;
}

/* Return whether the signs make sense: no empty alternative, "^" and "$" at its ends only. */
static bool is_pattern(const struct pattern *p)
{
	size_t content = 0; /* signs of the alternative that are characters */

	for (size_t i = 0; i < p->count; i++) {
		short sign = p->signs[i];

		if (sign == SIGN_OR) {
			if (!content)
				return false;
			content = 0;
		} else if (sign == SIGN_BEGIN) {
			if (i && p->signs[i - 1] != SIGN_OR)
				return false;
		} else if (sign == SIGN_END) {
			if (i + 1 < p->count && p->signs[i + 1] != SIGN_OR)
				return false;
		} else {
			content++;
		}
	}
	return content > 0;
}

int pattern_parse(struct pattern *p, const char *text)
{
	struct pattern made = {.any_case = !pattern_has_capital(text)};

	if (strlen(text) > PATTERN_LENGTH_MAX)
		return -EINVAL;
	while (*text)
		if (read_sign(&text, &made.signs[made.count++]) < 0)
			return -EINVAL;
	if (!is_pattern(&made))
		return -EINVAL;
	*p = made;
	return 0;
}

/* Return the end of the character of UTF-8 at a place. */
static const char *end_of_character(const char *at)
{
	at++;
	while ((*at & 0xc0) == 0x80)
		at++;
	return at;
}

/* Return whether the signs from first to before end match at a place of a name. */
static bool alternative_at(const struct pattern *p, size_t first, size_t end, const char *at)
{
	for (size_t i = first; i < end; i++) {
		short sign = p->signs[i];

		if (sign == SIGN_END)
			return !*at;
		if (!*at)
			return false;
		if (sign == SIGN_ANY) {
			at = end_of_character(at);
			continue;
		}
		if (sign != (unsigned char)(p->any_case ? lower_of(*at) : *at))
			return false;
		at++;
	}
	return true;
}

static bool alternative_in(const struct pattern *p, size_t first, size_t end, const char *name)
{
	if (p->signs[first] == SIGN_BEGIN)
		return alternative_at(p, first + 1, end, name);
	for (; *name; name++)
		if (alternative_at(p, first, end, name))
			return true;
	return false;
}

bool pattern_matches(const struct pattern *p, const char *name)
{
	size_t first = 0;

	for (size_t i = 0; i <= p->count; i++) {
		if (i < p->count && p->signs[i] != SIGN_OR)
			continue;
		if (alternative_in(p, first, i, name))
			return true;
		first = i + 1;
	}
	return false;
}
