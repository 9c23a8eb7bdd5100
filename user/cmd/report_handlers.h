/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a report about interrupts. */
#ifndef SKEIN_CMD_REPORT_HANDLERS_H
#define SKEIN_CMD_REPORT_HANDLERS_H

#include "analyze/handler_sums.h"
#include "base/json.h"
#include "cmd/report.h"

/* Print the table of r->events.handlers. Return 0 or -ENOMEM. */
int report_handlers_table(const struct report *r, const struct screen *to);
/* Write them as JSON. */
void report_handlers_json(struct json *j, const struct report *r);

#endif
