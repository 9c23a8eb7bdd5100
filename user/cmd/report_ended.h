/* SPDX-License-Identifier: Apache-2.0 */
/* Show recordings that ended early because their traces had no room left. */
#ifndef SKEIN_CMD_REPORT_ENDED_H
#define SKEIN_CMD_REPORT_ENDED_H

#include "base/json.h"
#include "cmd/report.h"

/* Print a paragraph for each of these recordings; nothing if there are none. */
void report_put_ended(const struct report *r, const struct screen *s);
/* Write the member "ended", a list of these recordings. */
void report_json_ended(struct json *j, const struct report *r);

#endif
