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

/* The longest reply that worker_python_answer() writes. */
#define CODE_ANSWER_MAX (sizeof(struct message_code_answer) + PYTHON_NAME_MAX + PYTHON_FILE_MAX)

struct code;

/* The code objects of all processes. */
struct codes {
	TAILQ_HEAD(, code) used; /* least recently used first */
	struct code *shared; /* found by struct shared_key */
	size_t bytes;
};

/* One process. Zeroed memory is a process without code objects. */
struct code_process {
	struct message_python python;
	struct code *codes;
};

/* Read the payload of a MESSAGE_OBJECT. Return false if it is invalid. */
bool worker_python_begin(struct code_process *p, const void *payload, size_t size);
/* Drop the code objects of a process. */
void worker_python_end(struct code_process *p, struct codes *all);

/*
 * Write the reply to a question about a process whose memory is open as fd (-1: it is no longer
 * open). Return the size of the reply.
 */
size_t worker_python_answer(char to[CODE_ANSWER_MAX], struct code_process *p, struct codes *all,
			    int fd, const struct message_question *q);

/* Reply to MESSAGE_INSPECT. Return 0, or a negative errno when no reply can be sent any more. */
int worker_answer_inspect(int socket, const struct message *request,
			  const struct table_source *source);

#endif
