/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a report as text, which report_text() puts in order. */
#ifndef SKEIN_CMD_REPORT_PARTS_H
#define SKEIN_CMD_REPORT_PARTS_H

#include "cmd/report.h"

/* Show where the time went, as the options ask for. Return 0 or -ENOMEM. */
int report_put_body(const struct report *r, const struct screen *s);

/* Write a weight in the unit of the report's event into buf and return buf. */
char *report_show_weight(const struct report *r, uint64_t weight, char *buf, size_t size);

/*
 * Show by how much the lost samples may change the shares, if they matter (so that a reader of the
 * tables must know) or if they do not, as requested.
 */
void report_put_error(const struct report *r, const struct screen *s, bool matters);
/* Show the account of all due samples of the whole recording. */
void report_put_account(const struct report *r, const struct screen *s);
/* Show the refused files, the losses by reason, and what the trace lacks. */
void report_put_losses(const struct report *r, const struct screen *s);
/* Return the text that explains why the report has no samples, in buf or static. */
const char *report_why_empty(const struct report *r, char *buf, size_t size);

#endif
