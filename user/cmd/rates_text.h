/* SPDX-License-Identifier: Apache-2.0 */
/* Shows at which rates a profile was sampled. */
#ifndef SKEIN_CMD_RATES_TEXT_H
#define SKEIN_CMD_RATES_TEXT_H

#include "analyze/rates.h"
#include "cmd/report.h"

struct json;

/* Write the rate of an event, or the highest and lowest one: "19 Hz", "19 to 3 Hz". Return buf. */
char *rates_show(const struct profile *p, uint32_t event, char *buf, size_t size);
/* Show for how long each rate was used, and why, if there were several. */
void report_put_rates(const struct report *r, const struct screen *s);
void report_json_put_rates(struct json *j, const struct report *r);

#endif
