/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of commands to the person at the terminal, on stderr. Libraries do not use this. */
#ifndef SKEIN_BASE_LOG_H
#define SKEIN_BASE_LOG_H

#include "base/error.h"

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

/* Process-wide, set once by main(). Errors are shown at every level. */
void log_set_level(enum log_level level);

/* "skein: TEXT\n". Control characters in the text are escaped. Returns code, so that a failure
 * is said and returned in one expression; code is a negative errno or an exit status. */
int log_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Print err->text (or strerror(-code) when it is empty) as an error, its hints as lines of their
 * own, and return code.
 */
int log_failure(int code, const struct error *err);
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
