/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a recording for a person, on stderr: a line while it runs, a summary at its end. */
#ifndef SKEIN_CMD_RECORD_SUMMARY_H
#define SKEIN_CMD_RECORD_SUMMARY_H

#include <stdbool.h>

#include "capture/capture.h"
#include "trace/trace.h"

struct progress_line {
	bool shown; /* only on a terminal */
	bool announces; /* say once that it waits to record, and once that it records */
	bool waited; /* it has said that it waits */
	uint64_t last; /* when the line was last drawn, ns since the start */
	bool finishing;
};

/* announce: also print a line of its own when the recording begins, terminal or not. */
void progress_line_begin(struct progress_line *l, bool quiet, bool announce);
/* Show the progress. duration is the requested duration of the recording in ns; 0 if open. */
void progress_line_print(struct progress_line *l, const struct capture_progress *p,
			 uint64_t duration);
void progress_line_end(struct progress_line *l);

/*
 * Show the summary: one line, and one for each loss that matters; all: also the account, every loss
 * and what recording cost. path is the path of the trace; NULL if the trace is not kept, and t is
 * not read then.
 */
void record_summary_print(const struct capture_summary *s, const struct trace_stats *t,
			  const char *path, bool all);

/* Show what the default does not record. switches: of the machine, in a time, ns. */
void record_summary_hint(uint64_t switches, uint64_t time);

/*
 * Warn of a recording without what was asked for, and show what helps. comm: the glob of the names
 * of threads, or NULL; command: a command was recorded.
 */
void record_summary_warn_empty(const struct capture_summary *s, const char *comm, bool command);

#endif
