/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the report about what the threads of services did. */
#ifndef SKEIN_CMD_REPORT_SERVICES_H
#define SKEIN_CMD_REPORT_SERVICES_H

#include "analyze/group_times.h"
#include "base/json.h"
#include "cmd/report.h"
#include "cmd/table.h"

/* Print the table of r->events.services. Return 0 or -ENOMEM. */
int report_services_table(const struct report *r, const struct screen *to);
/* Write the key "services" and its value. */
void report_services_json(struct json *j, const struct report *r);

#endif
