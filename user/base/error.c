// SPDX-License-Identifier: Apache-2.0
/*
 * Fill struct error. The text is first formatted into a separate buffer and then cleaned into the
 * struct, so that arguments may point into the old text, and a hostile path cannot add a second
 * line: only error_hint() adds lines.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

struct draft {
	char text[2 * sizeof(((struct error *)0)->text)];
	size_t length;
};

__attribute__((format(printf, 2, 0))) static void draft_add_list(struct draft *d,
								 const char *format, va_list args)
{
	size_t room = sizeof(d->text) - d->length;
	int n = vsnprintf(d->text + d->length, room, format, args);

	if (n > 0)
		d->length += (size_t)n < room ? (size_t)n : room - 1;
}

__attribute__((format(printf, 2, 3))) static void draft_add(struct draft *d, const char *format,
							    ...)
{
	va_list args;

	va_start(args, format);
	draft_add_list(d, format, args);
	va_end(args);
}

/* Store the formatted text, followed by ": suffix" unless suffix is NULL, cleaned, in *err. */
__attribute__((format(printf, 3, 0))) static void
error_format(struct error *err, const char *suffix, const char *format, va_list args)
{
	struct draft d = {.length = 0};

	draft_add_list(&d, format, args);
	if (suffix)
		draft_add(&d, ": %s", suffix);
	text_clean(d.text, err->text, sizeof(err->text));
}

int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	error_format(err, NULL, format, args);
	va_end(args);
	return code;
}

int error_errno(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	error_format(err, strerror(-code), format, args);
	va_end(args);
	return code;
}

/* Append one or more lines, which are already clean, to the text; cut what does not fit. */
static void error_append(struct error *err, const char *line)
{
	size_t used = strlen(err->text);

	snprintf(err->text + used, sizeof(err->text) - used, "\n%s", line);
}

int error_wrap(struct error *err, int code, const char *format, ...)
{
	struct error before;
	char *hints;
	va_list args;

	if (!err)
		return code;
	before = *err;
	hints = strchr(before.text, '\n');
	if (hints)
		*hints++ = '\0';
	va_start(args, format);
	error_format(err, before.text[0] ? before.text : strerror(-code), format, args);
	va_end(args);
	if (hints)
		error_append(err, hints);
	return code;
}

void error_hint(struct error *err, const char *format, ...)
{
	struct error hint = {""};
	va_list args;

	if (!err)
		return;
	va_start(args, format);
	error_format(&hint, NULL, format, args);
	va_end(args);
	error_append(err, hint.text);
}
