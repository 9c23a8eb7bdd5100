/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definitions shared by the client's files: client.c (objects and requests), client_io.c
 * (messages), client_tables.c (unwind tables).
 */
#ifndef SKEIN_SYMBOLIZERS_CLIENT_PRIVATE_H
#define SKEIN_SYMBOLIZERS_CLIENT_PRIVATE_H

#include <sys/types.h>

#include "base/fair.h"
#include "base/hash.h"
#include "base/helper.h"
#include "base/queue.h"
#include "symbolizers/client_replies.h"
#include "symbolizers/python_code.h"
#include "symbolizers/unwind/table_cache.h"
#include "symbolizers/worker.h"

struct kernel_symbol {
	uint64_t address, size;
	char *name;
};

struct client_file {
	int fd; /* -1: none, or closed because there were too many */
	bool sent; /* to the worker that has the object */
};

struct client_object {
	uint64_t id;
	enum object_kind kind;
	uint32_t owner; /* uid of the user on whose behalf it is read */
	/*
	 * The file; its debugging information in another file; and what that shares with other
	 * files (dwz). The first is sent with the object, the others when they are found.
	 */
	struct client_file file, debug, common;
	struct stamp stamp; /* of file, when the object was added */
	struct python_interpreter *python; /* of OBJECT_PYTHON; else NULL */
	uint64_t generation; /* of the worker that has the object; 0: none */
	size_t symbols_sent; /* how many of symbols were sent to that worker */
	VECTOR(struct kernel_symbol) symbols; /* added by symbolizer_add_kernel_symbol() */
	struct {
		struct request *gathering; /* until symbolizer_flush(); NULL: none */
		struct request *queued; /* waits for its turn; NULL: none */
	} lookups;
	unsigned int strikes; /* workers that died over it since its last reply */
	struct {
		size_t count;
		bool table, inspection; /* whether one of this type is pending */
	} requests; /* pending ones */
	bool read, bad, forgotten;
	bool struck; /* bad because workers died over it */
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
	size_t replied; /* how many of lookups have replies, which come in order */
	/* of TABLE: the key is requested; the key has arrived */
	bool wants_key, keyed;
	bool urgent; /* for PAGES: see symbolizer_request_pages() */
	struct unwind_key key; /* key for the cache, if keyed */
	char *table; /* bytes of the table received so far; NULL with a size: memory ran out */
	size_t table_size, received;
	struct place_records places; /* received so far for the next of lookups */
};

struct symbolizer {
	struct symbolizer_events events;
	struct symbolizer_stats stats;
	struct client_object *objects;
	struct queue gathering, sent;
	struct queue delayed; /* requests for which waiting had no memory */
	struct fair waiting;
	struct symbolizer *second; /* second symbolizer, for suspicious files; or NULL */
	bool is_second;
	uint64_t pending, gathered, tables_pending, keys_pending, sequence;
	struct table_cache *cache; /* NULL: none */
	unsigned int files;
	struct worker_options options;

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

/* client.c: make a request about an object, for request_schedule(). NULL without memory. */
struct request *request_new(struct client_object *o, enum message_type type);
/* Make a request and queue it. Return 0 or -ENOMEM. */
int request_submit(struct symbolizer *s, struct client_object *o, enum message_type type);
/*
 * Queue a request until the turn of its owner. Without memory for that, symbolizer_poll() tries
 * again.
 */
void request_schedule(struct symbolizer *s, struct request *r);
void request_free(struct request *r);
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

/* client_tables.c: return whether the request is about an unwind table. */
static inline bool request_is_table(const struct request *r)
{
	return r->type == MESSAGE_KEY || r->type == MESSAGE_TABLE || r->type == MESSAGE_PAGES;
}
/*
 * Process a message of the worker about the first sent request. Return 0, or -EBADMSG if the
 * message is invalid.
 */
int client_handle_table(struct symbolizer *s, const struct message *m,
			const struct reply_reader *from);
/* Report the end of a request, which is in no queue any more, and free it. */
void request_end_table(struct symbolizer *s, struct request *r, int status,
		       const struct unwind_table *t);
/* Reset a request after its worker was lost: the next worker sends the table from its start. */
void request_restart_table(struct request *r);

/* Whether the request is about a file, and not about its symbols. */
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

#endif
