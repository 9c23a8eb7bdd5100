/* SPDX-License-Identifier: Apache-2.0 */
/* Read what walkers need of a JVM, and the names of Java frames, in the worker. */
#ifndef SKEIN_SYMBOLIZERS_WORKER_JAVA_H
#define SKEIN_SYMBOLIZERS_WORKER_JAVA_H

#include <stdbool.h>

#include "symbolizers/hotspot_names.h"
#include "symbolizers/hotspot_once.h"
#include "symbolizers/protocol.h"

/* One JVM. Zeroed memory is a JVM of which nothing is known yet. */
struct java_process {
	struct hotspot_objects objects; /* addresses in the process */
	struct hotspot_tables *tables; /* NULL: not read yet, or dropped, to be read again */
	struct hotspot_names *names; /* NULL: the tables were not read yet, or lack an entry */
	/* from the facts until the table is requested; NULL: not read yet, or not understood */
	struct hotspot_once *once;
	struct hotspot_layout layout; /* zeroed: not read yet */
};

/* Bytes of the longest record of a place of a Java frame. */
#define JAVA_PLACE_MAX \
	(sizeof(struct message_place) + 2 * (HOTSPOT_CLASS_MAX + HOTSPOT_NAME_MAX) + \
	 HOTSPOT_SIGNATURE_MAX + HOTSPOT_FILE_MAX + 4)

/*
 * Initialize *p with the payload of a MESSAGE_OBJECT, a struct hotspot_objects. Return false if the
 * payload is invalid; then *p is zeroed.
 */
bool worker_java_begin(struct java_process *p, const void *payload, size_t size);
void worker_java_end(struct java_process *p);

/*
 * Reply to MESSAGE_JVM. fd: memory of the process, or -1; p may be NULL. Return 0, or a negative
 * errno when no reply can be sent any more.
 */
int worker_reply_jvm(int socket, const struct message *request, struct java_process *p, int fd);

/*
 * Reply to MESSAGE_JAVA_CODE. fd: as above. Return 0, or a negative errno when no reply can be sent
 * any more.
 */
int worker_reply_java_rows(int socket, const struct message *request, struct java_process *p,
			   int fd, const struct message_lookup *q);

/* Reply to MESSAGE_JVM_PERF and MESSAGE_JVM_THREADS, in the same way as to MESSAGE_JVM. */
int worker_reply_jvm_counters(int socket, const struct message *request, struct java_process *p,
			      int fd);
int worker_reply_jvm_threads(int socket, const struct message *request, struct java_process *p,
			     int fd);

/* Reply to MESSAGE_TABLE, in the same way; p is not NULL. */
int worker_reply_jvm_table(int socket, const struct message *request, struct java_process *p,
			   int fd);

/*
 * Find the methods of a frame, innermost first. fd: memory of the process, or -1 if it is not open
 * any more. Return their number, at most HOTSPOT_FRAMES_MAX, 0 if none are known; *flags then says
 * why (enum place_flag). Texts are valid until the next call for p.
 */
unsigned int worker_java_find(struct hotspot_frame out[HOTSPOT_FRAMES_MAX], struct java_process *p,
			      int fd, const struct message_lookup *q, uint32_t *flags);

/* Return the bytes that are kept of a JVM: its tables, and names. */
size_t worker_java_bytes(const struct java_process *p);
/*
 * Drop what can be read again, as long as the JVM lives, until these bytes are at most limit: the
 * oldest names, then the tables.
 */
void worker_java_trim(struct java_process *p, size_t limit);

/*
 * Write the record (struct message_place and its texts) of one method of an address; NULL: an empty
 * record. flags: enum place_flag. Return its size in bytes.
 */
size_t worker_java_write(char to[JAVA_PLACE_MAX], uint64_t address, const struct hotspot_frame *f,
			 uint32_t flags);

#endif
