/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definitions shared by the client's files: client.c (objects), client_io.c (messages),
 * client_places.c, client_python.c, client_tables.c.
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
#include "symbolizers/python_code.h"
#include "symbolizers/python_file.h"
#include "symbolizers/stamp.h"
#include "symbolizers/unwind/table.h"
#include "symbolizers/unwind/table_cache.h"

struct kernel_symbol {
	uint64_t address, size;
	char *name;
};

struct client_object {
	uint64_t id;
	enum object_kind kind;
	uint32_t owner; /* uid of the user on whose behalf the object is read */
	int fd, debug_fd, common_fd; /* -1: none, or closed because there were too many */
	struct stamp stamp; /* of fd, when the object was added */
	struct python_interpreter *python; /* of OBJECT_PYTHON; else NULL */
	uint64_t generation; /* of the worker that has the object; 0: none */
	bool debug_sent, common_sent; /* whether they were sent to that worker */
	size_t symbols_sent; /* how many of symbols were sent to that worker */
	VECTOR(struct kernel_symbol) symbols; /* added by symbolizer_add_kernel_symbol() */
	struct request *gathering; /* lookups until symbolizer_flush(); NULL: none */
	struct request *queued_lookups; /* lookups that wait for their turn; NULL: none */
	unsigned int strikes; /* number of workers that died over the object since its last reply */
	size_t requests; /* number of pending requests about the object */
	bool read, bad, forgotten;
	bool struck; /* the object is bad because workers died over it */
	bool unwinding; /* a request for the object's unwind table is pending */
	bool inspecting; /* a request to inspect the object is pending */
	struct object_facts facts;
	UT_hash_handle hh; /* the list is in order of use, least recent first */
};

struct request {
	struct queue_item item;
	struct client_object *object;
	enum message_type type; /* READ, REFRESH, LOOKUP, KEY, TABLE, PAGES, INSPECT, SOURCES or
				 * FORGET */
	uint64_t sequence; /* sequence number with which it was sent */
	VECTOR(struct message_lookup) lookups; /* for LOOKUP: addresses; for PAGES: page numbers */
	/* number of questions that have replies; replies come in order */
	size_t replied;
	/* of TABLE: the key is requested; the key has arrived */
	bool wants_key, keyed;
	bool urgent; /* for PAGES: see symbolizer_request_pages() */
	struct unwind_key key; /* key for the cache, if keyed */
	char *table; /* bytes of the table received so far; NULL with a size: memory ran out */
	size_t table_size, received;
	VECTOR(char) places; /* records received so far for the next question */
	unsigned int place_count;
};

struct symbolizer {
	struct symbolizer_events events;
	struct symbolizer_stats stats;
	struct client_object *objects;
	struct queue gathering, sent;
	struct fair waiting;
	struct symbolizer *second; /* second symbolizer, for suspicious files; or NULL */
	bool is_second;
	uint64_t pending, gathered, tables_pending, keys_pending, sequence;
	/* bytes that a worker of sources may use; 0: not a symbolizer of sources */
	uint64_t memory;
	struct table_cache *cache; /* NULL: none */
	unsigned int files, files_max;

	struct helper worker;

	char payload[PAYLOAD_MAX];
};

static inline struct request *request_first(const struct queue *q)
{
	return (struct request *)q->first;
}

static inline void request_enqueue(struct queue *q, struct request *r)
{
	queue_put(q, &r->item, sizeof(*r));
}

static inline struct request *request_dequeue(struct queue *q)
{
	return (struct request *)queue_take(q);
}

/* Make a request about an object, for request_schedule(). NULL without memory. */
struct request *request_new(struct client_object *o, enum message_type type);
/* Make a request and queue it. Return 0 or -ENOMEM. */
int request_submit(struct symbolizer *s, struct client_object *o, enum message_type type);
void request_free(struct request *r);
/*
 * Add an object, like symbolizer_add(). The object owns python, which is only for OBJECT_PYTHON,
 * from now on, also on failure.
 */
int client_object_add(struct symbolizer *s, uint64_t id, enum object_kind kind, int fd,
		      struct python_interpreter *python);
/* Add a lookup, as symbolizer_lookup(). o may be NULL: -ENOENT. */
int client_object_request(struct symbolizer *s, struct client_object *o,
			  const struct message_lookup *q);
/* Find an object that is not forgotten, or NULL. */
struct client_object *client_object_lookup(const struct symbolizer *s, uint64_t id);
/* Move an object to the end of the list, as the one most recently used. */
void client_object_touch(struct symbolizer *s, struct client_object *o);
void client_object_free(struct symbolizer *s, struct client_object *o);

/*
 * client_io.c: remove the first sent request, whose reply is complete, from the queue, and return
 * it. The caller then owns the request.
 */
struct request *request_complete_first(struct symbolizer *s);
/* Return whether text ends within size bytes and has only characters of allowed. */
bool client_text_has_only(const char *text, size_t size, const char *allowed);
/*
 * Pass the reply to the next question of a request to the event symbol. NULL texts in *reply
 * become "".
 */
void request_pass_reply(struct symbolizer *s, struct request *r, const struct symbol *reply);

/* client_tables.c: return whether the request is about an unwind table. */
static inline bool request_is_table(const struct request *r)
{
	return r->type == MESSAGE_KEY || r->type == MESSAGE_TABLE || r->type == MESSAGE_PAGES;
}
/*
 * Process a message of the worker about the first sent request. Return 0, or -EBADMSG if the
 * message is invalid.
 */
int client_handle_table(struct symbolizer *s, const struct message *m, size_t size);
/* Report the status of a request that is in no queue any more, and free the request. */
void request_end_table(struct symbolizer *s, struct request *r, int status,
		       const struct unwind_table *t);
/* Reset a request after its worker was lost: the next worker sends the table from its start. */
void request_restart_table(struct request *r);

/* client_python.c: process the next record of a MESSAGE_CODE_REPLIES, at *at, and advance *at. */
int client_handle_code_reply(struct symbolizer *s, struct request *r, size_t *at, size_t size);
/*
 * Process the MESSAGE_PYTHON that replies to the first sent request. Return 0, or -EBADMSG if it is
 * invalid.
 */
int client_handle_python(struct symbolizer *s, size_t size);
/* Report the facts of a request that is in no queue any more, and free the request. */
void request_end_inspect(struct symbolizer *s, struct request *r, const struct python_file *f);

/* client_places.c: process the next record of a MESSAGE_PLACES, at *at, and advance *at. */
int client_handle_place(struct symbolizer *s, struct request *r, size_t *at, size_t size);
/*
 * Process a MESSAGE_SOURCE_FACTS about the first sent request. Return 0, or -EBADMSG if it is
 * invalid.
 */
int client_handle_source_facts(struct symbolizer *s, size_t size);
/* Report the facts of a request that is in no queue any more, and free the request. */
void request_end_sources(struct symbolizer *s, struct request *r, const struct source_facts *f);

/* Return whether the request is about a file, and not about its symbols. */
static inline bool request_is_of_file(const struct request *r)
{
	return request_is_table(r) || r->type == MESSAGE_INSPECT;
}

/*
 * Return the rank of a request among those of its owner; lower ranks are sent first. Rank 0: code
 * objects, which vanish with their processes while files stay, and urgent pages, for which walks
 * wait. Rank 1: a key, which takes little time and may make a table unnecessary. Tables and names
 * take equally long, and take turns.
 */
static inline unsigned int request_rank(const struct request *r)
{
	if (r->urgent || (r->type == MESSAGE_LOOKUP && r->object->kind == OBJECT_PYTHON))
		return 0;
	return request_is_of_file(r) && r->type != MESSAGE_TABLE ? 1 : 2;
}

/* Return the symbolizer that reads an object: s itself, or s->second. */
static inline struct symbolizer *symbolizer_of_object(struct symbolizer *s, uint64_t id)
{
	return s->second && !client_object_lookup(s, id) && client_object_lookup(s->second, id)
		       ? s->second
		       : s;
}

/* Queue a request, which is sent in the turn of its owner. Return 0 or -ENOMEM. */
static inline int request_schedule(struct symbolizer *s, struct request *r)
{
	return fair_put(&s->waiting, r->object->owner, request_rank(r), &r->item, sizeof(*r));
}
/* client_io.c: report the failure of a request without a worker, and free the request. */
void request_fail(struct symbolizer *s, struct request *r);

#endif
