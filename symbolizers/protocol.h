/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between the symbolizer's client and its worker. One message is one packet of a
 * SOCK_SEQPACKET pair: a header and a bounded payload, with at most one descriptor. Both ends are
 * the same program, so structs are sent as they are in memory. But the worker reads hostile files
 * and may be under their control, so the client trusts no field that the worker sends.
 */
#ifndef SKEIN_SYMBOLIZERS_PROTOCOL_H
#define SKEIN_SYMBOLIZERS_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizers/hotspot_perf.h"
#include "symbolizers/hotspot_tables.h"
#include "symbolizers/hotspot_threads.h"
#include "symbolizers/jvm_facts.h"
#include "symbolizers/probe_sites.h"
#include "symbolizers/python_file.h"

enum message_type {
	/*
	 * Add an object: its fd, and struct stamp, or struct python_interpreter for OBJECT_PYTHON,
	 * or struct hotspot_objects for OBJECT_JAVA.
	 * The object replaces an object of the same number.
	 */
	MESSAGE_OBJECT = 1,
	MESSAGE_DEBUG, /* fd of a separate debug file */
	MESSAGE_SYMBOL, /* struct message_symbol and its name: an added kernel symbol */
	MESSAGE_FORGET, /* free the object */
	MESSAGE_LIMIT, /* object: the bytes of worker_options.memory from now on; no reply */
	MESSAGE_READ, /* reply: FACTS */
	MESSAGE_REFRESH, /* fd, which may be missing; reply: FACTS */
	/*
	 * count times struct message_lookup. Reply: one or more REPLIES, CODE_REPLIES (for
	 * OBJECT_PYTHON) or PLACES (for OBJECT_JAVA, and from a worker of sources), in the order of
	 * the lookups.
	 */
	MESSAGE_LOOKUP,
	MESSAGE_KEY, /* reply: KEY_REPLY or NO_TABLE */
	/*
	 * Reply: TABLE_PARTs or NO_TABLE. With wants_key, a KEY_REPLY comes before TABLE_PARTs if a
	 * key was computed from the very bytes from which the table is made. The file may have
	 * changed since the reply to MESSAGE_KEY.
	 */
	MESSAGE_TABLE,
	MESSAGE_INSPECT, /* reply: INSPECTED */
	/*
	 * count times struct message_lookup: address is the number of a page of the unwind table
	 * (file offset >> UNWIND_PAGE_SHIFT), place is 0. Reply: TABLE_PARTs of pages that satisfy
	 * unwind_pages_check(), or NO_TABLE.
	 */
	MESSAGE_PAGES,
	/*
	 * The next two are for a worker of sources (WORKER_SOURCES), which is also sent OBJECT,
	 * DEBUG, FORGET and LOOKUP, but no other messages.
	 */
	MESSAGE_COMMON, /* fd of the file into which dwz moved common debugging information */
	MESSAGE_SOURCES, /* reply: SOURCE_FACTS */
	MESSAGE_JVM, /* for OBJECT_JAVA; reply: JVM_FACTS */
	/*
	 * For OBJECT_JAVA: one struct message_lookup, the address of a blob, and the place in it as
	 * HOTSPOT_COMPILED_PLACE(), in an adapter from the blob on. Reply: JAVA_ROWS.
	 */
	MESSAGE_JAVA_CODE,
	MESSAGE_JVM_PERF, /* for OBJECT_JAVA; reply: JVM_COUNTERS */
	MESSAGE_JVM_THREADS, /* for OBJECT_JAVA; reply: THREAD_LISTs */
	/*
	 * For OBJECT_ELF: one struct message_lookup that is probe_query_packed(). Reply:
	 * PROBE_SITES.
	 */
	MESSAGE_PROBES,
	/* Messages from the worker. */
	MESSAGE_HEARTBEAT, /* the worker is still processing the request with this sequence */
	MESSAGE_FACTS, /* struct object_facts */
	MESSAGE_REPLIES, /* count times struct message_reply and its texts */
	MESSAGE_CODE_REPLIES, /* count times struct message_code_reply and its texts */
	MESSAGE_KEY_REPLY, /* struct unwind_key */
	/*
	 * The next bytes of an unwind table. A shared file would avoid the limit on the size of a
	 * message, but the worker has no file that it may write to.
	 */
	MESSAGE_TABLE_PART,
	MESSAGE_NO_TABLE,
	MESSAGE_INSPECTED, /* struct inspected_file */
	MESSAGE_JVM_FACTS, /* struct message_jvm */
	MESSAGE_JAVA_ROWS, /* struct message_java_rows */
	MESSAGE_JVM_COUNTERS, /* struct message_jvm_counters */
	/* struct message_thread_list, and count times struct hotspot_thread */
	MESSAGE_THREAD_LIST,
	MESSAGE_PROBE_SITES, /* struct message_probes, cut after the last site */
	MESSAGE_SOURCE_FACTS, /* struct source_facts; also between PLACES, to give up a file */
	MESSAGE_PLACES, /* count times struct message_place and its texts */
};

struct message {
	uint32_t type; /* enum message_type */
	union {
		uint32_t count; /* of structs in the payload */
		uint32_t kind; /* of OBJECT: enum object_kind */
		uint32_t wants_key; /* of TABLE: 1 or 0 */
		uint32_t table_size; /* of TABLE_PART: bytes of the whole table */
		uint32_t error; /* of NO_TABLE: the reason, a positive errno */
	};
	uint64_t object; /* number of the object, chosen by the owner of the client */
	/* sequence number of the request, repeated in each message of the reply */
	uint64_t sequence;
};

struct message_symbol {
	uint64_t address, size;
};

struct message_lookup {
	uint64_t address;
	uint64_t place; /* second word of a frame for OBJECT_PYTHON and OBJECT_JAVA, else 0 */
};

/* What a file has besides symbols and unwind information. */
struct inspected_file {
	struct python_file python;
	struct hotspot_file hotspot;
};

/* What a JVM says of itself. */
struct message_jvm {
	int32_t status; /* 0, or a negative errno: jvm is not set */
	uint32_t reserved; /* 0 */
	struct jvm_facts jvm;
	char reason[128]; /* of a failure */
};

/* The counters of a JVM. */
struct message_jvm_counters {
	int32_t status; /* 0, or a negative errno: perf is not set */
	uint32_t reserved; /* 0 */
	struct hotspot_perf perf;
	char reason[128]; /* of a failure */
};

/* A part of the list of a JVM's threads. */
struct message_thread_list {
	int32_t status; /* 0, or a negative errno: there are no threads */
	uint32_t last; /* 1 in the last part, else 0 */
	struct hotspot_thread_layout layout;
	char reason[128]; /* of a failure */
};

#define THREADS_PER_MESSAGE 256 /* most of them */

/* How to leave the code around a place. */
struct message_java_rows {
	int32_t status; /* 0, or a negative errno: rows is not set */
	uint32_t reserved; /* 0 */
	struct message_lookup lookup;
	struct hotspot_code_rows rows;
};

/* Where probes of a file can be attached. */
struct message_probes {
	int32_t status; /* 0, or a negative errno: there are no sites */
	uint32_t reserved; /* 0 */
	struct probe_sites found;
};

/* Pack what to look for; its patterns are those of the worker's options. */
static inline struct message_lookup probe_query_packed(const struct probe_wanted *w)
{
	return (struct message_lookup){
		.address = w->parts | (uint64_t)w->runtime << 32,
		.place = w->mask,
	};
}

static inline void probe_query_unpack(struct probe_wanted *w, const struct message_lookup *q)
{
	w->parts = (uint32_t)q->address;
	w->runtime = (uint32_t)(q->address >> 32);
	w->mask = q->place;
}

struct message_reply {
	uint64_t address, start, size;
	uint32_t flags; /* enum symbol_flag */
	uint16_t name; /* bytes of the two texts that follow the struct, without NUL */
	uint16_t system_name;
};

struct message_code_reply {
	struct message_lookup lookup;
	uint32_t first_line, line;
	uint32_t flags; /* enum symbol_flag */
	uint16_t name; /* bytes of the two texts that follow the struct, without NUL */
	uint16_t file;
};

enum place_flag {
	PLACE_LAST = 1, /* the last place of this address */
	PLACE_KNOWN = 2, /* not set: nothing is known of the address, and this record is empty */
	PLACE_MANGLED = 4, /* the name is not demangled, since demangling takes too much time */
	PLACE_INFERRED = 8, /* OBJECT_JAVA: the place of a near address is taken for that of this */
	PLACE_FREED = 16, /* OBJECT_JAVA: the address now has other code */
};

/* A function at an address. An address has one or more of these records, innermost first. */
struct message_place {
	uint64_t address;
	uint32_t line, declared_line;
	uint32_t flags; /* enum place_flag */
	/* bytes of the four texts that follow the struct, without NUL */
	uint16_t name, system_name, declared, file;
	uint32_t reserved; /* 0 */
};

#define PAYLOAD_MAX (64 * 1024)
/* Longest text in a reply, in bytes; a longer text is cut and ends with U+2026. */
#define REPLY_NAME_MAX 4096
#define LOOKUPS_MAX 512 /* in one message */

_Static_assert(LOOKUPS_MAX * sizeof(struct message_lookup) <= PAYLOAD_MAX,
	       "a full LOOKUP must fit");
_Static_assert(sizeof(struct message_probes) <= PAYLOAD_MAX, "all sites must fit");
_Static_assert(sizeof(struct message_reply) + 2 * REPLY_NAME_MAX <= PAYLOAD_MAX,
	       "the longest reply must fit");
_Static_assert(sizeof(struct message_thread_list) % 8 == 0, "threads follow without padding");
_Static_assert(sizeof(struct message_thread_list) +
			       THREADS_PER_MESSAGE * sizeof(struct hotspot_thread) <=
		       PAYLOAD_MAX,
	       "a full part of a list of threads must fit");
_Static_assert(sizeof(struct message_place) + 4 * (REPLY_NAME_MAX + 1) <= PAYLOAD_MAX,
	       "the longest place must fit");

/* Send one message; block until the socket has room for it. Return 0 or a negative errno. */
int message_send(int socket, const struct message *m, const void *payload, size_t size);
/* Send a message of a reply, with the object and the sequence number of the request. */
static inline int message_reply(int socket, const struct message *request, enum message_type type,
				const void *payload, size_t size)
{
	struct message m = *request;

	m.type = type;
	return message_send(socket, &m, payload, size);
}
/*
 * Like message_send(), but return -EAGAIN if the socket has no room. Unless fd is -1, the receiver
 * gets a duplicate of it; the caller keeps fd.
 */
int message_send_now(int socket, const struct message *m, const void *payload, size_t size, int fd);

/*
 * Receive one message; payload has room for PAYLOAD_MAX bytes. flags: those of recvmsg(2). The
 * caller owns *out_fd, which is -1 if no descriptor came. Return the payload's size, -EPIPE when
 * the other end is closed, -EBADMSG for a packet that is too short or too long, or another negative
 * errno; on failure *out_fd is untouched.
 */
int message_receive(int socket, struct message *m, void *payload, int *out_fd, int flags);

#endif
