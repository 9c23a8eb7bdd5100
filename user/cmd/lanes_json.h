/* SPDX-License-Identifier: Apache-2.0 */
/* Write a timeline as JSON: report --timeline --json. */
#ifndef SKEIN_CMD_LANES_JSON_H
#define SKEIN_CMD_LANES_JSON_H

#include "lanes/lanes.h"

/*
 * Compute the columns of the chosen rows and write them: of each lane how busy it was (0 to
 * STROKE_FULL) and with what, and what it did else; of each counter its least, most and last value.
 * Return 0, or a negative errno with the cause in *err.
 */
int lanes_json(struct lanes *l, FILE *out, struct error *err);

#endif
