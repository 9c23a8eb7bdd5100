/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the functions that the files of checks, checkup*.c, share. */
#ifndef SKEIN_CAPTURE_CHECKS_H
#define SKEIN_CAPTURE_CHECKS_H

#include "capture/checkup.h"

/* Set the verdict to VERDICT_OK, with a text that says what was found. */
void finding_set_ok(struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Set the verdict to VERDICT_MISSING, with a text that says what failed. needs: NEED_BIT()s of the
 * needs that would fix the failure; 0: unknown.
 */
void finding_set_missing(struct finding *f, uint64_t needs, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Like finding_set_missing(), for programs that could not be loaded or events that could not be
 * opened: the text is the first line of err, the needs are needs_refused(code). code: a negative
 * errno.
 */
void finding_set_failed(struct finding *f, int code, const struct error *err);

/* checkup_others.c */
void check_mappings(struct finding *f);
void check_root(struct finding *f);
void check_map_files(struct finding *f);
void check_memory(struct finding *f);

/* checkup_worker.c, checkup_itself.c */
void check_worker(struct finding *f);
void check_helpers(struct finding *f);
void check_itself(struct finding *f, const struct checkup_options *o);

#endif
