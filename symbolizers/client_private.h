/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the client's files share: client.c (objects), client_io.c (messages), client_places.c,
 * client_python.c, client_tables.c.
 */
#ifndef SKEIN_SYMBOLIZERS_CLIENT_PRIVATE_H
#define SKEIN_SYMBOLIZERS_CLIENT_PRIVATE_H

#include <sys/types.h>

#include "base/fair.h"
#include "base/hash.h"
#include "base/helper.h"
#include "base/queue.h"
#include "base/vector.h"
#include "symbolizers/client.h"
#include "symbolizers/protocol.h"
#include "symbolizers/python_file.h"
#include "symbolizers/stamp.h"
#include "symbolizers/table_cache.h"
#include "symbolizers/unwind_table.h"

struct kernel_symbol {
	uint64_t address, size;
	char *name;
};

struct object {
	uint64_t id;
	enum object_kind kind;
	uint32_t owner; /* uid for whose sake it is read */
	int fd, debug_fd, common_fd; /* -1: none, or closed because there were too many */
	struct stamp stamp;		      /* of fd, when it was added */
	struct message_python *python;	      /* of OBJECT_PYTHON; else NULL */
	uint64_t generation;		      /* of the worker that knows it; 0: none */
	bool debug_sent, common_sent;	      /* to that worker */
	size_t symbols_sent;		      /* to that worker */
	VECTOR(struct kernel_symbol) symbols; /* added ones */
	struct request *gathering;	      /* questions that wait for symbolizer_flush(), */
	struct request *asking;		      /* or for their turn; NULL: none */
	unsigned int strikes; /* workers that died over it, since it last was answered */
	size_t requests;      /* not answered */
	bool read, bad, forgotten;
	bool struck;	 /* bad because workers died over it */
	bool unwinding;	 /* its table has been asked for */
	bool inspecting; /* its interpreter has been asked for */
	struct object_facts facts;
	UT_hash_handle hh; /* the list is in order of use, oldest first */
};

struct request {
	struct queue_item item;
	struct object *object;
	enum message_type type; /* READ, REFRESH, ASK, KEY, TABLE, INSPECT, SOURCES or FORGET */
	uint64_t sequence;	/* with which it was sent */
	VECTOR(struct message_question) questions; /* of ASK */
	size_t answered;			   /* of those, in order */
	bool wants_key, keyed;			   /* of TABLE */
	bool urgent;				   /* of PAGES */
	struct unwind_key key;			   /* what the table is kept under, if keyed */
	char *table; /* what came of it; NULL with a size: there was no memory */
	size_t table_size, received;
	VECTOR(char) places; /* records of the next question, as they came */
	unsigned int place_count;
};

struct symbolizer {
	struct symbolizer_events events;
	struct symbolizer_stats stats;
	struct object *objects;
	struct queue gathering, sent;
	struct fair waiting;
	struct symbolizer *aside; /* reads suspicious files, with a worker of its own; or NULL */
	bool is_aside;
	uint64_t pending, gathered, tables_pending, keys_pending, sequence;
	uint64_t memory;	   /* of a worker of sources; 0: it is one of names */
	struct table_cache *cache; /* NULL: none */
	unsigned int files, files_max;

	struct helper worker;

	char payload[PAYLOAD_MAX];
};

static inline struct request *first_request(const struct queue *q)
{
	return (struct request *)q->first;
}

static inline void put_request(struct queue *q, struct request *r)
{
	queue_put(q, &r->item, sizeof(*r));
}

static inline struct request *take_request(struct queue *q)
{
	return (struct request *)queue_take(q);
}

/* A request about an object, for request_wait(). NULL without memory. */
struct request *request_new(struct object *o, enum message_type type);
/* Have a request sent. 0 or -ENOMEM. */
int request_put(struct symbolizer *s, struct object *o, enum message_type type);
void request_free(struct request *r);
/*
 * What symbolizer_add() does. python, of OBJECT_PYTHON only, is owned by the object from now on,
 * also on failure.
 */
int object_add(struct symbolizer *s, uint64_t id, enum object_kind kind, int fd,
	       struct message_python *python);
/* What symbolizer_ask() does. o may be NULL: -ENOENT. */
int object_ask(struct symbolizer *s, struct object *o, const struct message_question *q);
/* An object that is not forgotten, or NULL. */
struct object *object_lookup(const struct symbolizer *s, uint64_t id);
/* It is used: to the end of the list. */
void object_touch(struct symbolizer *s, struct object *o);
void object_free(struct symbolizer *s, struct object *o);

/* client_io.c: the first request that was sent has been answered: it is the caller's now. */
struct request *request_take(struct symbolizer *s);
bool is_word(const char *text, size_t size, const char *allowed);
/* The answer to the next question of a request; what is NULL in *answer is "". */
void answer_tell(struct symbolizer *s, struct request *r, const struct symbol *answer);

/* client_tables.c: is it about an unwind table? */
static inline bool request_is_table(const struct request *r)
{
	return r->type == MESSAGE_KEY || r->type == MESSAGE_TABLE || r->type == MESSAGE_PAGES;
}
/* What the worker says to the first request that was sent. 0, or -EBADMSG for a lie. */
int table_take(struct symbolizer *s, const struct message *m, size_t size);
/* Answer a request that is in no queue any more, and free it. */
void table_end(struct symbolizer *s, struct request *r, int status, const struct unwind_table *t);
/* The worker is lost: the next one begins at the beginning. */
void table_restart(struct request *r);

/* client_python.c: the next answer of a MESSAGE_CODE_ANSWERS, at *at, which moves behind it. */
int code_answer_take(struct symbolizer *s, struct request *r, size_t *at, size_t size);
/* The MESSAGE_PYTHON that the first request was sent for. 0, or -EBADMSG for a lie. */
int inspect_take(struct symbolizer *s, size_t size);
/* Answer a request that is in no queue any more, and free it. */
void inspect_end(struct symbolizer *s, struct request *r, const struct python_file *f);

/* client_places.c: the next record of a MESSAGE_PLACES, at *at, which moves behind it. */
int place_take(struct symbolizer *s, struct request *r, size_t *at, size_t size);
/* The MESSAGE_SOURCE_FACTS that the first request was sent for. 0, or -EBADMSG for a lie. */
int sources_take(struct symbolizer *s, size_t size);
/* Answer a request that is in no queue any more, and free it. */
void sources_end(struct symbolizer *s, struct request *r, const struct source_facts *f);

/* Is it about a file, and not its symbols? */
static inline bool request_is_of_file(const struct request *r)
{
	return request_is_table(r) || r->type == MESSAGE_INSPECT;
}

/*
 * When it goes, of what its owner waits for: code objects and their processes go, files stay. Walks
 * stand at urgent pages. A
 * key is short work, and may bring a table. Tables and names are as long, and take turns.
 */
static inline unsigned int request_rank(const struct request *r)
{
	if (r->urgent || (r->type == MESSAGE_ASK && r->object->kind == OBJECT_PYTHON))
		return 0;
	return request_is_of_file(r) && r->type != MESSAGE_TABLE ? 1 : 2;
}

/* Who reads that object: s itself, or its helper aside. */
static inline struct symbolizer *reader_of(struct symbolizer *s, uint64_t id)
{
	return s->aside && !object_lookup(s, id) && object_lookup(s->aside, id) ? s->aside : s;
}

/* Have it sent when its owner's turn comes. 0 or -ENOMEM. */
static inline int request_wait(struct symbolizer *s, struct request *r)
{
	return fair_put(&s->waiting, r->object->owner, request_rank(r), &r->item, sizeof(*r));
}
/* client_io.c: answer it without a worker, and free it. */
void request_refuse(struct symbolizer *s, struct request *r);

#endif
