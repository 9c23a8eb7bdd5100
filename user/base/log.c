// SPDX-License-Identifier: Apache-2.0
/*
 * Write messages to stderr. Each line is written by one call, so that lines of two processes are
 * not interleaved.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"

/* A setting of the whole process; a command sets it right after it has parsed its options. */
static bool log_quiet;

void log_set_quiet(bool quiet)
{
	log_quiet = quiet;
}

__attribute__((format(printf, 2, 0))) static void log_line(const char *prefix, const char *format,
							   va_list args)
{
	char raw[4096], clean[4096], line[sizeof(clean) + 32];

	vsnprintf(raw, sizeof(raw), format, args);
	snprintf(line, sizeof(line), "skein: %s%s\n", prefix,
		 text_clean(raw, clean, sizeof(clean)));
	fputs(line, stderr);
}

int log_error(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line("", format, args);
	va_end(args);
	return code;
}

int log_failure(int code, const struct error *err)
{
	const char *at = err ? err->text : "";

	if (!*at)
		return log_error(code, "%s", code < 0 ? strerror(-code) : "failed");
	while (*at) {
		int length = (int)strcspn(at, "\n");

		log_error(code, "%.*s", length, at);
		at += length + (at[length] == '\n');
	}
	return code;
}

void log_warn(const char *format, ...)
{
	va_list args;

	if (log_quiet)
		return;
	va_start(args, format);
	log_line("warning: ", format, args);
	va_end(args);
}

void log_info(const char *format, ...)
{
	va_list args;

	if (log_quiet)
		return;
	va_start(args, format);
	log_line("", format, args);
	va_end(args);
}
