/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors are negative errnos; the words for the user travel beside them in a
 * struct error that the caller owns. Libraries fill it and never print;
 * commands print it (base/log.h) and choose the exit code.
 */
#ifndef SKEIN_BASE_ERROR_H
#define SKEIN_BASE_ERROR_H

struct error {
	char text[1024]; /* one line, and hints behind newlines, a line each; "" if nothing was said */
};

/*
 * Say what went wrong and return code, so that it can be said and returned in
 * one expression: return error_set(err, -errno, "cannot open %s", path).
 * "%m"-like detail is added by the caller. err may be NULL. code must be
 * negative.
 */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, with ": " and strerror(-code) behind the text. */
int error_errno(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "context: " in front of what was said, and return code. */
int error_wrap(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Add a line that helps, such as the command that mends it. It stays behind what error_wrap() says
 * later, and goes with the next error_set() or error_errno().
 */
void error_hint(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
