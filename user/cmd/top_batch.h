/* SPDX-License-Identifier: Apache-2.0 */
/* `skein top -b`: print the rows of the screen as plain text, window after window. */
#ifndef SKEIN_CMD_TOP_BATCH_H
#define SKEIN_CMD_TOP_BATCH_H

#include "cmd/table.h"
#include "cmd/top_draw.h"

/* Print at most rows rows. Return 0, -ENOMEM, or -EPIPE if writing failed for any reason. */
int top_batch(const struct screen *s, const struct top_ui *ui, const struct top_head *head,
	      size_t rows);

#endif
