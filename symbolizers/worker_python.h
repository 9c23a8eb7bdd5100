/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's part in Python: code objects, which it remembers, and files with interpreters. */
#ifndef SKEIN_SYMBOLIZERS_WORKER_PYTHON_H
#define SKEIN_SYMBOLIZERS_WORKER_PYTHON_H

#include <stdbool.h>
#include <sys/queue.h>

#include "symbolizers/protocol.h"
#include "symbolizers/python_code.h"
#include "symbolizers/worker_tables.h"

/* Code objects of all processes that are remembered; the least recently used go first. */
#define CODES_BYTES_MAX (32u << 20)

/* The longest answer that worker_python_answer() writes. */
#define CODE_ANSWER_MAX (sizeof(struct message_code_answer) + PYTHON_NAME_MAX + PYTHON_FILE_MAX)

struct code;

/* Of all processes. */
struct codes {
	TAILQ_HEAD(, code) used; /* least recently used first */
	struct code *shared; /* by what forked processes have in common */
	size_t bytes;
};

/* One process. Zeroed memory is one without code objects. */
struct code_process {
	struct message_python python;
	struct code *codes;
};

/* Take the payload of a MESSAGE_OBJECT: false if there is no sense in it. */
bool worker_python_begin(struct code_process *p, const void *payload, size_t size);
/* Forget its code objects. */
void worker_python_end(struct code_process *p, struct codes *all);

/*
 * Write the answer to a question about a process, whose memory is behind fd (-1: not any more).
 * Returns its size.
 */
size_t worker_python_answer(char to[CODE_ANSWER_MAX], struct code_process *p, struct codes *all,
			    int fd, const struct message_question *q);

/* Answer MESSAGE_INSPECT, as worker_answer_unwind() does. */
int worker_answer_inspect(int socket, const struct message *request,
			  const struct table_source *source);

#endif
