/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors are negative errno values; a struct error that the caller owns carries the message for the
 * user. Libraries fill it and never print; commands print it (base/log.h) and choose the exit code.
 */
#ifndef SKEIN_BASE_ERROR_H
#define SKEIN_BASE_ERROR_H

struct error {
	char text[1024]; /* one line, then one line per hint; "" if there is no message */
};

/*
 * Set the message and return code, so that a function can do both in one expression: return
 * error_set(err, -errno, "cannot open %s", path). The message contains no text for code. err may be
 * NULL. code must be negative.
 */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like error_set(), with ": " and strerror(-code) appended to the text. */
int error_errno(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Put the formatted text and ": " in front of the message that is already set (or of
 * strerror(-code) if there is none), and return code.
 */
int error_wrap(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Add a line that helps the user, such as the command that removes the cause. The hint stays at the
 * end when error_wrap() is called later, and is removed by the next error_set() or error_errno().
 */
void error_hint(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
