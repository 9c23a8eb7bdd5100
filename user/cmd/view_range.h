/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of requests about a part of a recording, for the files view*.c. */
#ifndef SKEIN_CMD_VIEW_RANGE_H
#define SKEIN_CMD_VIEW_RANGE_H

#include "cmd/view_samples.h"

/* What a request gets that view_read_choice() refuses. */
#define VIEW_RANGE_SENSELESS "from, to, process, lane: numbers, of what is there"

/*
 * Read the parameters from and to (ns since the start of the recording), and process or lane,
 * which may all be absent. Return 0, or a negative errno if they make no sense.
 */
int view_read_choice(const struct view_server *v, const struct http_request *q,
		     struct view_choice *c);

#endif
