/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's part in unwind tables: it makes them and sends them in pieces. */
#ifndef SKEIN_SYMBOLIZERS_WORKER_TABLES_H
#define SKEIN_SYMBOLIZERS_WORKER_TABLES_H

#include "symbolizers/beat.h"
#include "symbolizers/protocol.h"
#include "symbolizers/stamp.h"

struct table_source {
	int fd; /* of an ELF file; -1: there is none (any more) */
	struct stamp stamp;
	struct beat *beat;
};

/*
 * Answer MESSAGE_PAGES, whose questions these are. 0, or a negative errno when nobody can be
 * answered any more.
 */
int worker_answer_pages(int socket, const struct message *request,
			const struct message_question *questions,
			const struct table_source *source);

/*
 * Answer MESSAGE_KEY or MESSAGE_TABLE. 0, or a negative errno when nobody can be answered any
 * more. Blocks while the client does not read.
 */
int worker_answer_unwind(int socket, const struct message *request,
			 const struct table_source *source);

#endif
