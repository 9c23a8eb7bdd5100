/* SPDX-License-Identifier: Apache-2.0 */
/* Read code objects and keep them, and search files for interpreters, in the worker. */
#ifndef SKEIN_SYMBOLIZERS_WORKER_PYTHON_H
#define SKEIN_SYMBOLIZERS_WORKER_PYTHON_H

#include <stdbool.h>
#include <sys/queue.h>

#include "symbolizers/protocol.h"
#include "symbolizers/python_code.h"
#include "symbolizers/worker_tables.h"

/*
 * Maximum bytes of code objects kept, of all processes; the least recently used ones are dropped
 * first.
 */
#define CODES_BYTES_MAX (32u << 20)

/* The longest reply that worker_python_reply() writes. */
#define CODE_REPLY_MAX (sizeof(struct message_code_reply) + PYTHON_NAME_MAX + PYTHON_FILE_MAX)

struct cached_code;

/* The code objects of all processes. */
struct code_cache {
	TAILQ_HEAD(, cached_code) used; /* least recently used first */
	struct cached_code *shared; /* found by struct shared_code_key */
	size_t bytes;
};

/* One process. Zeroed memory is a process without code objects. */
struct code_process {
	struct python_interpreter python;
	struct cached_code *codes;
};

/* Read the payload of a MESSAGE_OBJECT. Return false if it is invalid. */
bool worker_python_begin(struct code_process *p, const void *payload, size_t size);
/* Drop the code objects of a process. */
void worker_python_end(struct code_process *p, struct code_cache *all);

/*
 * Write the reply to a question about a process whose memory is open as fd (-1: it is no longer
 * open). Return the size of the reply.
 */
size_t worker_python_reply(char to[CODE_REPLY_MAX], struct code_process *p, struct code_cache *all,
			   int fd, const struct message_lookup *q);

/* Reply to MESSAGE_INSPECT. Return 0, or a negative errno when no reply can be sent any more. */
int worker_reply_inspect(int socket, const struct message *request,
			 const struct stamped_file *file);

#endif
