/* SPDX-License-Identifier: Apache-2.0 */
/* What a person sees of a recording: a line while it runs, a summary at its end. On stderr. */
#ifndef SKEIN_CMD_RECORD_SUMMARY_H
#define SKEIN_CMD_RECORD_SUMMARY_H

#include <stdbool.h>

#include "capture/capture.h"
#include "trace/trace.h"

struct progress_line {
	bool shown; /* on a terminal only */
	uint64_t last; /* when it was drawn, ns of elapsed time */
	bool finishing;
};

void progress_begin(struct progress_line *l, bool quiet);
/* duration: of the recording as asked for, ns; 0: open. */
void progress_show(struct progress_line *l, const struct capture_progress *p, uint64_t duration);
void progress_end(struct progress_line *l);

/* path: of the trace, NULL if it is not kept. */
void summary_show(const struct capture_summary *s, const struct trace_stats *t, const char *path);

#endif
