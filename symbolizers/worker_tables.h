/* SPDX-License-Identifier: Apache-2.0 */
/* Make unwind tables in the worker, and send them in parts. */
#ifndef SKEIN_SYMBOLIZERS_WORKER_TABLES_H
#define SKEIN_SYMBOLIZERS_WORKER_TABLES_H

#include "symbolizers/protocol.h"
#include "symbolizers/stamp.h"

/*
 * Reply to a MESSAGE_PAGES with these lookups, request->count of them. Return 0, also after a
 * NO_TABLE, or a negative errno when no reply can be sent any more. Blocks while the client does
 * not read.
 */
int worker_reply_pages(int socket, const struct message *request,
		       const struct message_lookup *lookups, const struct stamped_file *file);

/*
 * Reply to MESSAGE_KEY or MESSAGE_TABLE. Return 0, also after a NO_TABLE, or a negative errno when
 * no reply can be sent any more. Blocks while the client does not read.
 */
int worker_reply_table(int socket, const struct message *request, const struct stamped_file *file);

/*
 * Reply to MESSAGE_TABLE with a table in memory; bytes may be NULL: there is none. Return as
 * worker_reply_table().
 */
int worker_reply_made_table(int socket, const struct message *request, const void *bytes,
			    size_t size);

#endif
