/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between the symbolizer's client and its worker. One message is one packet of a
 * SOCK_SEQPACKET pair: a header and a bounded payload, with at most one descriptor. Both ends are
 * the same program, so structs are sent as they are in memory; but the worker reads hostile files,
 * so the client checks every field that the worker sends.
 */
#ifndef SKEIN_SYMBOLIZERS_PROTOCOL_H
#define SKEIN_SYMBOLIZERS_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

enum message_type {
	/*
	 * fd, and struct stamp, or struct python_interpreter for OBJECT_PYTHON. Replaces an object
	 * of the same number.
	 */
	MESSAGE_OBJECT = 1,
	MESSAGE_DEBUG, /* fd of a separate debug file */
	MESSAGE_SYMBOL, /* struct message_symbol and its name: an added kernel symbol */
	MESSAGE_FORGET,
	MESSAGE_READ, /* reply: FACTS */
	MESSAGE_REFRESH, /* fd; reply: FACTS */
	/*
	 * count times struct message_lookup; reply: one or more REPLIES or CODE_REPLIES, in the
	 * order of the questions
	 */
	MESSAGE_LOOKUP,
	MESSAGE_KEY, /* reply: KEY_REPLY or NO_TABLE */
	/*
	 * Reply: TABLE_PARTs or NO_TABLE. With wants_key, KEY_REPLY comes first if there is a key
	 * of the very bytes from which the table is made; these may have changed since the last
	 * KEY.
	 */
	MESSAGE_TABLE,
	MESSAGE_INSPECT, /* reply: PYTHON */
	/*
	 * count times struct message_lookup: address is the number of a page of the unwind table,
	 * place is 0. Reply: TABLE_PARTs of pages that satisfy unwind_pages_check(), or NO_TABLE.
	 */
	MESSAGE_PAGES,
	/*
	 * A worker of sources handles LOOKUP (reply: PLACES), COMMON and SOURCES, but no other
	 * requests.
	 */
	MESSAGE_COMMON, /* fd of the file into which dwz moved common debugging information */
	MESSAGE_SOURCES, /* reply: SOURCE_FACTS */
	/* Messages from the worker. */
	MESSAGE_HEARTBEAT, /* the worker is still working on that request */
	MESSAGE_FACTS, /* struct object_facts */
	MESSAGE_REPLIES, /* count times struct message_reply and its texts */
	MESSAGE_CODE_REPLIES, /* count times struct message_code_reply and its texts */
	MESSAGE_KEY_REPLY, /* struct unwind_key */
	/*
	 * The next bytes of an unwind table. A file could carry more bytes than a message, but the
	 * worker has no file that it may write to.
	 */
	MESSAGE_TABLE_PART,
	MESSAGE_NO_TABLE,
	MESSAGE_PYTHON, /* struct python_file */
	MESSAGE_SOURCE_FACTS, /* struct source_facts; also amid PLACES, if no more can be found */
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
	uint64_t object;
	/* sequence number of the request, repeated in each message of the reply */
	uint64_t sequence;
};

struct message_symbol {
	uint64_t address, size;
};

struct message_lookup {
	uint64_t address;
	uint64_t place; /* PYTHON_PLACE() in a code object, else 0 */
};

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
	PLACE_KNOWN = 2, /* if not set, this place is the only one of the address, and empty */
	PLACE_MANGLED = 4, /* the name is not demangled, since demangling takes too much time */
};

/* A function at an address. An address has one or more, innermost first. */
struct message_place {
	uint64_t address;
	uint32_t line, declared_line;
	uint32_t flags; /* enum place_flag */
	/* bytes of the four texts that follow the struct, without NUL */
	uint16_t name, system_name, declared, file;
	uint32_t reserved; /* 0 */
};

#define PAYLOAD_MAX (64 * 1024)
/* Longest name in a reply, in bytes; a longer name is cut and ends with U+2026. */
#define REPLY_NAME_MAX 4096
#define LOOKUPS_MAX 512

_Static_assert(LOOKUPS_MAX * sizeof(struct message_lookup) <= PAYLOAD_MAX,
	       "a full LOOKUP must fit");
_Static_assert(sizeof(struct message_reply) + 2 * REPLY_NAME_MAX <= PAYLOAD_MAX,
	       "the longest reply must fit");
_Static_assert(sizeof(struct message_place) + 4 * (REPLY_NAME_MAX + 1) <= PAYLOAD_MAX,
	       "the longest place must fit");

/* Send one message, and wait for room in the socket. Return 0 or a negative errno. */
int message_send(int socket, const struct message *m, const void *payload, size_t size);
/* Send a message of a reply to a request, with the numbers of the request. */
static inline int message_reply(int socket, const struct message *request, enum message_type type,
				const void *payload, size_t size)
{
	struct message m = *request;

	m.type = type;
	return message_send(socket, &m, payload, size);
}
/* As message_send(), without waiting: -EAGAIN. fd (or -1) is passed as a copy. */
int message_send_now(int socket, const struct message *m, const void *payload, size_t size, int fd);

/*
 * Receive one message; payload has room for PAYLOAD_MAX bytes. The caller owns *out_fd; it is -1 if
 * no descriptor came. Return the payload's size, -EPIPE when the other end is closed, -EBADMSG for
 * an invalid packet, or another negative errno.
 */
int message_receive(int socket, struct message *m, void *payload, int *out_fd, int flags);

#endif
