/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's reply about the sites of probes. */
#ifndef SKEIN_SYMBOLIZERS_WORKER_PROBES_H
#define SKEIN_SYMBOLIZERS_WORKER_PROBES_H

#include "symbolizers/protocol.h"
#include "symbolizers/stamp.h"

/* Reply to MESSAGE_PROBES. Return 0, or a negative errno when no reply can be sent any more. */
int worker_reply_probes(int socket, const struct message *request, const struct probe_wanted *w,
			const struct stamped_file *file);

#endif
