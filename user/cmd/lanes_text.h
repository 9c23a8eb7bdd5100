/* SPDX-License-Identifier: Apache-2.0 */
/* Print the lanes of a timeline as text. */
#ifndef SKEIN_CMD_LANES_TEXT_H
#define SKEIN_CMD_LANES_TEXT_H

#include "cmd/canvas.h"
#include "lanes/lanes.h"

/*
 * Compute the strokes of the chosen rows and print everything: the axis, the rows, the legend, and
 * losses. Return 0, or a negative errno with the cause in *err.
 */
int lanes_text(struct lanes *l, const struct screen *s, const struct canvas *c, struct error *err);

/* Set counts[reason], for each enum loss_reason, to what was lost in the range. */
void lanes_count_losses(const struct lanes *l, uint64_t counts[static LOSS_COUNT]);

#endif
