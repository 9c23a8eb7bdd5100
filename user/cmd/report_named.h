/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the self time of a report has names, and what gives names to the rest. */
#ifndef SKEIN_CMD_REPORT_NAMED_H
#define SKEIN_CMD_REPORT_NAMED_H

#include "base/json.h"
#include "cmd/report.h"
#include "cmd/table.h"

/* Show the share, and if it is low the modules without names and what to do. */
void report_put_named(const struct report *r, const struct screen *s);
/* Write the member "named". */
void report_json_put_named(struct json *j, const struct report *r);

#endif
