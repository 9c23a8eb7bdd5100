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
#include "symbolizers/hotspot_layout.h"
#include "symbolizers/python_code.h"
#include "symbolizers/unwind/table_cache.h"
#include "symbolizers/worker.h"

struct kernel_symbol {
	uint64_t address, size;
	char *name;
};

struct client_file {
	int fd; /* -1: none, or closed because there were too many */
	bool sent; /* to the worker that has the object; unused for client_object.file */
};

/*
 * The data of a runtime that is sent with an object: of OBJECT_PYTHON a struct python_interpreter,
 * of OBJECT_JAVA a struct hotspot_objects.
 */
struct runtime_data {
	void *data; /* on the heap; NULL: other kinds have none */
	size_t size; /* bytes */
};

struct client_object {
	uint64_t id;
	enum object_kind kind;
	uint32_t owner; /* uid of the user on whose behalf the object is read */
	/*
	 * The object's file, its separate debug file, and the file of debugging information that
	 * dwz made common to several files. file is sent with the object, the other two later, once
	 * the caller has added them.
	 */
	struct client_file file, debug, common;
	struct stamp stamp; /* of file, when the object was added */
	struct runtime_data runtime;
	uint64_t generation; /* of the worker that has the object; 0: none */
	size_t symbols_sent; /* how many of symbols were sent to the worker of generation */
	VECTOR(struct kernel_symbol) symbols; /* added by symbolizer_add_kernel_symbol() */
	struct {
		struct request *gathering; /* until symbolizer_flush(); NULL: none */
		struct request *queued; /* waits for its turn; NULL: none */
	} lookups;
	unsigned int strikes; /* workers that died over the object since a reply about it */
	struct {
		size_t count;
		unsigned int code; /* pending JAVA_CODE */
		/* whether a request of this type is pending */
		bool table, inspection, jvm, counters, threads;
	} requests; /* pending requests about the object */
	bool read, bad, forgotten;
	bool struck; /* bad because a worker hung or several workers died over the object */
	struct object_facts facts;
	UT_hash_handle hh; /* in the order of use, least recent first */
};

struct request {
	struct queue_item item;
	struct client_object *object;
	/*
	 * READ, REFRESH, LOOKUP, KEY, TABLE, PAGES, INSPECT, PROBES, SOURCES, JVM, JAVA_CODE,
	 * JVM_PERF, JVM_THREADS or FORGET
	 */
	enum message_type type;
	uint64_t sequence; /* sequence number with which the request was sent last */
	VECTOR(struct message_lookup)
	lookups; /* for LOOKUP and JAVA_CODE: addresses; for PAGES: page numbers; for PROBES: what
		  */
	size_t replied; /* how many of lookups have replies, which come in order */
	/* for TABLE: the reply begins with the key, if the worker has one; the key has arrived */
	bool wants_key, keyed;
	bool urgent; /* for PAGES: see symbolizer_request_pages() */
	struct unwind_key key; /* key for the cache, if keyed */
	char *table; /* bytes received so far; NULL although table_size is set: no memory */
	size_t table_size, received;
	struct place_records places; /* received so far for lookups.items[replied] */
	uint32_t place_flags; /* enum place_flag of the last record */
};

/* Symbolizers with workers of their own, so that their objects do not wait for other ones. */
enum other_symbolizer {
	OTHER_SUSPICIOUS, /* files whose reader may hang */
	OTHER_MEMORY, /* memory of processes: names may be gone while a large file is read */
	OTHER_SYMBOLIZERS,
};

struct symbolizer {
	struct symbolizer_events events;
	struct symbolizer_stats stats;
	struct client_object *objects;
	struct queue gathering, sent;
	struct queue delayed; /* requests that could not be added to waiting for lack of memory */
	struct fair waiting;
	struct symbolizer *others[OTHER_SYMBOLIZERS]; /* NULL: not started yet */
	bool is_other; /* it belongs to another symbolizer, and to its cache */
	uint64_t pending, gathered, inspections, sequence;
	struct {
		uint64_t tables; /* pending requests about unwind tables */
		uint64_t keys; /* of these, those for keys */
	} unwind;
	struct table_cache *cache; /* NULL: none */
	unsigned int files;
	struct worker_options options; /* as a worker that starts now gets them */
	bool limit_unsent; /* the present worker does not know options.memory yet */

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

/* client.c: make a request about an object, for request_schedule(). Return NULL without memory. */
struct request *request_new(struct client_object *o, enum message_type type);
/* Make a request and queue it. Return 0 or -ENOMEM. */
int request_submit(struct symbolizer *s, struct client_object *o, enum message_type type);
/*
 * Queue a request until the turn of its owner. If there is no memory for that, symbolizer_poll()
 * queues the request later.
 */
void request_schedule(struct symbolizer *s, struct request *r);
void request_free(struct request *r);
/* Return the object of that number; NULL if there is none or it was forgotten. */
struct client_object *client_object_lookup(const struct symbolizer *s, uint64_t id);
/* Move an object to the end of s->objects, as the most recently used. */
void client_object_touch(struct symbolizer *s, struct client_object *o);
void client_object_free(struct symbolizer *s, struct client_object *o);

/*
 * client_io.c: remove the first sent request, whose reply is complete, from the queue, and charge
 * the worker's time for the request to its user. Return the request, which the caller then owns.
 */
struct request *request_complete_first(struct symbolizer *s);

/* Return whether names are read from the memory of a process, which may end. */
static inline bool object_is_of_runtime(const struct client_object *o)
{
	return o->kind == OBJECT_PYTHON || o->kind == OBJECT_JAVA;
}

/* Return whether the request is about an unwind table. */
static inline bool request_is_table(const struct request *r)
{
	return r->type == MESSAGE_KEY || r->type == MESSAGE_TABLE || r->type == MESSAGE_PAGES;
}
/*
 * client_tables.c: process a message of the worker about the first sent request, which should be a
 * request about an unwind table. Return 0, or -EBADMSG if the message is invalid.
 */
int client_handle_table(struct symbolizer *s, const struct message *m,
			const struct reply_reader *from);
/*
 * Pass the result of a request about an unwind table to its event, and free the request, which is
 * in no queue any more.
 */
void request_end_table(struct symbolizer *s, struct request *r, int status,
		       const struct unwind_table *t);
/* Reset a request whose worker was lost: the next worker sends the table from its start. */
void request_restart_table(struct request *r);

/* Return whether the request is about a JVM itself, and not about names. */
static inline bool request_is_of_jvm(const struct request *r)
{
	return r->type == MESSAGE_JVM || r->type == MESSAGE_JAVA_CODE ||
	       r->type == MESSAGE_JVM_PERF || r->type == MESSAGE_JVM_THREADS;
}

/* Return the flag that a request of this type is pending; NULL: there may be several. */
static inline bool *object_pending_flag(struct client_object *o, enum message_type type)
{
	if (type == MESSAGE_JVM)
		return &o->requests.jvm;
	if (type == MESSAGE_JVM_PERF)
		return &o->requests.counters;
	return type == MESSAGE_JVM_THREADS ? &o->requests.threads : NULL;
}

/* Return whether the request needs only the bytes of a file, and not its symbols. */
static inline bool request_is_of_file(const struct request *r)
{
	return request_is_table(r) || r->type == MESSAGE_INSPECT || r->type == MESSAGE_PROBES;
}

/*
 * Return the rank of a request among those of its owner; lower ranks are sent first. Rank 0: code
 * objects and methods, which vanish with their processes while files stay, and urgent pages, for
 * which walks wait. Rank 1: other pages, inspections, probes and keys, which take little time; a
 * key may make a request for a table unnecessary. Rank 2: all others, in the order of the requests.
 */
static inline unsigned int request_rank(const struct request *r)
{
	if (r->urgent || r->type == MESSAGE_JVM || r->type == MESSAGE_JVM_PERF ||
	    (r->type == MESSAGE_LOOKUP && object_is_of_runtime(r->object)))
		return 0;
	return request_is_of_file(r) && r->type != MESSAGE_TABLE ? 1 : 2;
}

/* Return the first other symbolizer from number *at on that is started, and move *at after it. */
static inline struct symbolizer *next_other_symbolizer(const struct symbolizer *s, unsigned int *at)
{
	while (*at < OTHER_SYMBOLIZERS) {
		struct symbolizer *other = s->others[(*at)++];

		if (other)
			return other;
	}
	return NULL;
}

/* Let other be each other symbolizer of s that is started. */
#define FOR_EACH_OTHER(s, other) \
	for (unsigned int other##_at = 0; ((other) = next_other_symbolizer(s, &other##_at));)

/* Return the symbolizer that reads an object: the other one that alone has the object, else s. */
static inline struct symbolizer *symbolizer_of_object(struct symbolizer *s, uint64_t id)
{
	struct symbolizer *other;

	if (client_object_lookup(s, id))
		return s;
	FOR_EACH_OTHER (s, other)
		if (client_object_lookup(other, id))
			return other;
	return s;
}

/* client_io.c: end the worker; what it was asked is asked of the next one. */
void client_end_worker(struct symbolizer *s);

#endif
