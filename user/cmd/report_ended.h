/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that ended before they were to, because their traces had no room left. */
#ifndef SKEIN_CMD_REPORT_ENDED_H
#define SKEIN_CMD_REPORT_ENDED_H

#include "base/json.h"
#include "cmd/report.h"

/* A line for each; nothing for others. */
void report_put_ended(const struct report *r, const struct screen *s);
/* The member "ended": a list of them. */
void report_json_ended(struct json *j, const struct report *r);

#endif
