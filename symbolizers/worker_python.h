/* SPDX-License-Identifier: Apache-2.0 */
/* Read code objects and keep them, and search files for interpreters, in the worker. */
#ifndef SKEIN_SYMBOLIZERS_WORKER_PYTHON_H
#define SKEIN_SYMBOLIZERS_WORKER_PYTHON_H

#include <stdbool.h>
#include <sys/queue.h>

#include "symbolizers/protocol.h"
#include "symbolizers/python_code.h"
#include "symbolizers/worker_tables.h"

/* Bytes of the longest reply that worker_python_reply() writes. */
#define CODE_REPLY_MAX (sizeof(struct message_code_reply) + PYTHON_NAME_MAX + PYTHON_FILE_MAX)

struct cached_code;

/* The code objects of all processes. */
struct code_cache {
	TAILQ_HEAD(, cached_code) used; /* least recently used first */
	struct cached_code *shared; /* hash table by struct shared_code_key */
	size_t bytes; /* of all code objects */
	size_t most; /* bytes; above this, the least recently used ones are dropped */
};

/* The code objects of one process. Zeroed memory is a process without code objects. */
struct code_process {
	struct python_interpreter python;
	struct cached_code *codes; /* hash table by struct code_key */
};

/*
 * Initialize *p with the payload of a MESSAGE_OBJECT, a struct python_interpreter. Return false if
 * the payload is invalid; then *p is zeroed.
 */
bool worker_python_begin(struct code_process *p, const void *payload, size_t size);
/* Drop the code objects of a process from *p and *all. */
void worker_python_end(struct code_process *p, struct code_cache *all);
/* Let all code objects take at most these bytes. */
void worker_python_limit(struct code_cache *all, size_t most);

/*
 * Write the reply to the lookup q, a struct message_code_reply and its texts. fd is the process's
 * memory, or -1 if it is no longer open: then only code objects that were kept have names. Return
 * the size of the reply in bytes.
 */
size_t worker_python_reply(char to[CODE_REPLY_MAX], struct code_process *p, struct code_cache *all,
			   int fd, const struct message_lookup *q);

/* Reply to MESSAGE_INSPECT. Return 0, or a negative errno when no reply can be sent any more. */
int worker_reply_inspect(int socket, const struct message *request,
			 const struct stamped_file *file);

#endif
