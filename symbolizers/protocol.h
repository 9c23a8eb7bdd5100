/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the symbolizer's client and its worker say to each other: one message
 * is one packet of a SOCK_SEQPACKET pair, a header and a bounded payload, with
 * at most one descriptor beside it. Both ends are the same program, so structs
 * travel as they are; but the worker reads hostile files, so the client checks
 * every word of it.
 */
#ifndef SKEIN_SYMBOLIZERS_PROTOCOL_H
#define SKEIN_SYMBOLIZERS_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind/python_layout.h"

enum message_type {
	/* To the worker. What names an object unknown to it is answered as bad. */
	/*
	 * fd, struct stamp, or struct message_python if it is one; count is its kind: replaces what
	 * was known of that object
	 */
	MESSAGE_OBJECT = 1,
	MESSAGE_DEBUG,	/* fd of a separate debug file */
	MESSAGE_SYMBOL, /* struct message_symbol and its name: an added kernel symbol */
	MESSAGE_FORGET,
	MESSAGE_READ,	 /* answered by FACTS */
	MESSAGE_REFRESH, /* fd; answered by FACTS */
	/*
	 * count struct message_question; answered by ANSWERS or CODE_ANSWERS, in their order, in
	 * one or more
	 */
	MESSAGE_ASK,
	MESSAGE_KEY, /* answered by KEY_IS or NO_TABLE */
	/*
	 * Answered by PARTs or NO_TABLE. count 1: KEY_IS comes first if there is a key of the very
	 * bytes that the table is made of, which may have changed since the last KEY.
	 */
	MESSAGE_TABLE,
	MESSAGE_INSPECT, /* answered by PYTHON */
	/*
	 * count struct message_question: address is the number of a page of the unwind table, place
	 * 0. Answered by PARTs of what unwind_pages_check() demands, or NO_TABLE.
	 */
	MESSAGE_PAGES,
	/* A worker of sources answers no other questions than ASK, with PLACES, and: */
	MESSAGE_COMMON,	 /* fd of what dwz took out of debugging information */
	MESSAGE_SOURCES, /* answered by SOURCE_FACTS */
	/* From the worker. */
	MESSAGE_BEAT,	      /* still at work on that request */
	MESSAGE_FACTS,	      /* struct object_facts */
	MESSAGE_ANSWERS,      /* count times struct message_answer and its texts */
	MESSAGE_CODE_ANSWERS, /* count times struct message_code_answer and its texts */
	MESSAGE_KEY_IS,	      /* struct unwind_key */
	/*
	 * The next bytes of an unwind table, of count in all. Larger things than messages could
	 * travel in a file, but the worker has none that it may write to.
	 */
	MESSAGE_PART,
	MESSAGE_NO_TABLE, /* count is why, an errno */
	MESSAGE_PYTHON,	  /* struct python_file */
	MESSAGE_SOURCE_FACTS, /* struct source_facts; also amid PLACES, when no more are known */
	MESSAGE_PLACES,	      /* count times struct message_place and its texts */
};

struct message {
	uint32_t type; /* enum message_type */
	uint32_t count;
	uint64_t object;
	uint64_t sequence; /* of the request, repeated in what answers it */
};

struct message_symbol {
	uint64_t address, size;
};

/* An interpreter, of the process whose memory the object is. */
struct message_python {
	struct python_layout layout;
	uint64_t code_type;
};

struct message_question {
	uint64_t address;
	uint64_t place; /* PYTHON_PLACE() in a code object, else 0 */
};

struct message_answer {
	uint64_t address, start, size;
	uint32_t flags; /* enum symbol_flag */
	uint16_t name;	/* bytes of the two texts that follow, without NUL */
	uint16_t system_name;
};

struct message_code_answer {
	struct message_question question;
	uint32_t first_line, line;
	uint32_t flags; /* enum symbol_flag */
	uint16_t name;	/* bytes of the two texts that follow, without NUL */
	uint16_t file;
};

enum place_flag {
	PLACE_LAST = 1,	 /* no more come of this address */
	PLACE_KNOWN = 2, /* else it is the only one, and empty */
	PLACE_MANGLED = 4, /* the name would have taken too much to demangle */
};

/* A function at an address; an address has one or several, the innermost first. */
struct message_place {
	uint64_t address;
	uint32_t line, declared_line;
	uint32_t flags; /* enum place_flag */
	/* bytes of the four texts that follow, without NUL */
	uint16_t name, system_name, declared, file;
	uint32_t reserved; /* 0 */
};

#define PAYLOAD_MAX (64 * 1024)
/* Longest name in an answer, in bytes; what is longer is cut and ends with U+2026. */
#define ANSWER_NAME_MAX 4096
#define ASK_MAX 512

_Static_assert(ASK_MAX * sizeof(struct message_question) <= PAYLOAD_MAX, "a full ASK must fit");
_Static_assert(sizeof(struct message_answer) + 2 * ANSWER_NAME_MAX <= PAYLOAD_MAX,
	       "the longest answer must fit");
_Static_assert(sizeof(struct message_place) + 4 * (ANSWER_NAME_MAX + 1) <= PAYLOAD_MAX,
	       "the longest place must fit");

/*
 * Send one message; fd (or -1) is handed over as a copy. flags: those of
 * sendmsg(2). 0 or a negative errno.
 */
int message_send(int socket, const struct message *m, const void *payload, size_t size, int fd,
		 int flags);

/*
 * Receive one message: payload has room for PAYLOAD_MAX bytes. *ret_fd is
 * owned by the caller, -1 if none came. Returns the payload's size, -EPIPE
 * when the other end is gone, -EBADMSG for a packet that is no message, or
 * another negative errno.
 */
int message_receive(int socket, struct message *m, void *payload, int *ret_fd, int flags);

#endif
