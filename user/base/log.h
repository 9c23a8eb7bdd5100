/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of commands to the user at the terminal, on stderr. Libraries do not use these
 * functions.
 */
#ifndef SKEIN_BASE_LOG_H
#define SKEIN_BASE_LOG_H

#include <stdbool.h>

#include "base/error.h"

/* Choose once, for the whole process, whether only errors are printed. */
void log_set_quiet(bool quiet);

/*
 * Print "skein: TEXT\n" with control characters in the text replaced (text_clean()). Return code, a
 * negative errno or an exit status, so that a failure is printed and returned in one expression.
 */
int log_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Print err->text as an error and its hints as lines of their own. If the text is empty, print
 * strerror(-code), or "failed" if code is not negative. Return code.
 */
int log_failure(int code, const struct error *err);
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
