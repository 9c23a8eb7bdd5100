/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the checks share. */
#ifndef SKEIN_CAPTURE_CHECKS_H
#define SKEIN_CAPTURE_CHECKS_H

#include "capture/checkup.h"

/* Record success, with a text of what was found. */
void finding_set_ok(struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Record a failure; needs: NEED_BIT()s that would fix it, 0 unknown. */
void finding_set_missing(struct finding *f, uint64_t needs, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Record a failed load or open with the error's text; needs_refused() gives the needs. */
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
