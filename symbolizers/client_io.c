// SPDX-License-Identifier: Apache-2.0
/*
 * Send messages to the worker and receive its replies, without blocking and with every reply
 * checked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "symbolizers/client_private.h"

/*
 * An object is marked bad when this many workers have died over it. One death is not enough, since
 * something else may have killed the worker.
 */
#define STRIKES_MAX 3
#define SENT_MAX 16 /* maximum number of requests sent at a time */
/*
 * Send no more while the sent requests are expected to take this many ns: a new request of another
 * owner has to wait for them.
 */
#define BUSY_MAX 20000000
#define RECEIVE_MAX 256 /* maximum number of messages received in one call of symbolizer_poll() */

static void mark_object_bad(struct symbolizer *s, struct client_object *o)
{
	const struct source_facts killed = {.status = -EIO};

	if (!o->bad)
		s->stats.bad_objects++;
	o->bad = true;
	o->read = true;
	o->facts.bad = true;
	if (s->events.facts && !o->forgotten)
		s->events.facts(s->events.context, o->id, &o->facts);
	if (s->options.kind == WORKER_SOURCES && s->events.sources && !o->forgotten)
		s->events.sources(s->events.context, o->id, &killed);
}

struct request *request_complete_first(struct symbolizer *s)
{
	struct request *r = request_dequeue(&s->sent);

	helper_received(&s->worker, true);
	fair_served(&s->waiting, r->object->owner);
	r->object->strikes = 0;
	return r;
}

static int handle_object_facts(struct symbolizer *s, const struct reply_reader *from)
{
	struct request *r = request_first(&s->sent);
	struct client_object *o = r->object;
	bool requested = r->type == MESSAGE_READ || r->type == MESSAGE_REFRESH;
	int ret = requested ? reply_read_facts(&o->facts, from) : -EBADMSG;

	if (ret < 0)
		return ret;
	o->read = true;
	if (o->facts.bad && !o->bad)
		s->stats.bad_objects++;
	o->bad = o->facts.bad;
	request_free(request_complete_first(s));
	if (s->events.facts && !o->forgotten)
		s->events.facts(s->events.context, o->id, &o->facts);
	return 0;
}

/* Pass the methods of a Java frame, the reply to q, to their event. */
static void pass_java_places(const struct symbolizer *s, const struct request *r,
			     const struct message_lookup *q, const struct source_place *places,
			     unsigned int count)
{
	const struct java_places p = {
		.address = q->address,
		.place = q->place,
		.places = places,
		.count = count,
		.inferred = r->place_flags & PLACE_INFERRED,
		.freed = r->place_flags & PLACE_FREED,
	};

	if (s->events.java)
		s->events.java(s->events.context, r->object->id, &p);
}

/*
 * Pass the reply to the next lookup of r to its event: as a symbol, in which NULL texts become "",
 * or in a symbolizer of sources as no places.
 */
static void request_pass_reply(struct symbolizer *s, struct request *r, const struct symbol *reply)
{
	const struct message_lookup *q = &r->lookups.items[r->replied++];
	struct symbol symbol = *reply;

	s->pending--;
	s->stats.replied++;
	if (s->options.kind == WORKER_SOURCES && s->events.places)
		s->events.places(s->events.context, r->object->id, q->address, NULL, 0);
	if (r->object->kind == OBJECT_JAVA)
		pass_java_places(s, r, q, NULL, 0);
	if (s->options.kind == WORKER_SOURCES || r->object->kind == OBJECT_JAVA ||
	    !s->events.symbol)
		return;
	symbol.place = q->place;
	symbol.name = symbol.name ? symbol.name : "";
	symbol.system_name = symbol.system_name ? symbol.system_name : "";
	symbol.file = symbol.file ? symbol.file : "";
	s->events.symbol(s->events.context, r->object->id, q->address, &symbol);
}

/*
 * Pass the places of the next lookup of r, which have all arrived, to the event places. known:
 * there are any. Return 0 or -ENOMEM.
 */
static int pass_places(struct symbolizer *s, struct request *r, bool known)
{
	struct source_place places[SOURCE_PLACES_MAX];
	unsigned int count = known ? r->places.count : 0;
	const struct message_lookup *q;
	char *texts = NULL;

	if (known && place_records_decode(&r->places, places, &texts) < 0)
		return -ENOMEM;
	q = &r->lookups.items[r->replied++];
	r->places.bytes.count = r->places.count = 0;
	s->pending--;
	s->stats.replied++;
	if (r->object->kind == OBJECT_JAVA)
		pass_java_places(s, r, q, places, count);
	else if (s->events.places)
		s->events.places(s->events.context, r->object->id, q->address, places, count);
	free(texts);
	return 0;
}

static int handle_place(struct symbolizer *s, struct request *r, struct reply_reader *from)
{
	uint32_t flags;
	int ret = -EBADMSG;

	if (s->options.kind == WORKER_SOURCES || r->object->kind == OBJECT_JAVA)
		ret = reply_read_place(&r->places, from, r->lookups.items[r->replied].address,
				       &flags);
	if (ret < 0)
		return ret;
	s->stats.mangled += !!(flags & PLACE_MANGLED);
	r->place_flags = flags;
	return flags & PLACE_LAST ? pass_places(s, r, flags & PLACE_KNOWN) : 0;
}

static int handle_symbol(struct symbolizer *s, struct request *r, bool code,
			 struct reply_reader *from)
{
	const struct message_lookup *q = &r->lookups.items[r->replied];
	struct symbol_reply reply;
	int ret = code ? reply_read_code(&reply, from, q) : reply_read_symbol(&reply, from, q);

	if (ret < 0 || (code && r->object->kind != OBJECT_PYTHON))
		return -EBADMSG;
	s->stats.mangled += !!(reply.symbol.flags & SYMBOL_MANGLED);
	request_pass_reply(s, r, &reply.symbol);
	return 0;
}

static int client_handle_replies(struct symbolizer *s, const struct message *m,
				 struct reply_reader *from)
{
	struct request *r = request_first(&s->sent);
	int ret = r->type == MESSAGE_LOOKUP ? 0 : -EBADMSG;

	for (uint32_t i = 0; !ret && i < m->count; i++) {
		if (r->replied >= r->lookups.count)
			return -EBADMSG;
		ret = m->type == MESSAGE_PLACES
			      ? handle_place(s, r, from)
			      : handle_symbol(s, r, m->type == MESSAGE_CODE_REPLIES, from);
	}
	if (!ret && r->replied == r->lookups.count)
		request_free(request_complete_first(s));
	return ret;
}

static void end_sources(struct symbolizer *s, struct request *r, const struct source_facts *f)
{
	struct client_object *o = r->object;

	if (s->events.sources && !o->forgotten)
		s->events.sources(s->events.context, o->id, f);
	request_free(r);
}

static int handle_source_facts(struct symbolizer *s, const struct reply_reader *from)
{
	enum message_type type = request_first(&s->sent)->type;
	const struct client_object *o = request_first(&s->sent)->object;
	struct source_facts f;

	if (s->options.kind != WORKER_SOURCES ||
	    (type != MESSAGE_SOURCES && type != MESSAGE_LOOKUP) ||
	    reply_read_source_facts(&f, from) < 0)
		return -EBADMSG;
	if (type == MESSAGE_SOURCES)
		end_sources(s, request_complete_first(s), &f);
	else if (s->events.sources && !o->forgotten)
		s->events.sources(s->events.context, o->id, &f);
	return 0;
}

static void end_inspection(struct symbolizer *s, struct request *r, const struct inspected_file *f)
{
	struct client_object *o = r->object;

	o->requests.inspection = false;
	s->inspections--;
	if (s->events.hotspot && f->hotspot.objects.address[0] && !o->forgotten)
		s->events.hotspot(s->events.context, o->id, &f->hotspot);
	if (s->events.python && !o->forgotten)
		s->events.python(s->events.context, o->id, &f->python);
	request_free(r);
}

static int handle_inspected(struct symbolizer *s, const struct reply_reader *from)
{
	struct inspected_file f;

	if (request_first(&s->sent)->type != MESSAGE_INSPECT || reply_read_inspected(&f, from) < 0)
		return -EBADMSG;
	end_inspection(s, request_complete_first(s), &f);
	return 0;
}

/*
 * Record that a request is pending no more: its event may then request the same again. The caller
 * frees it.
 */
static void end_jvm_request(struct request *r)
{
	bool *pending = object_pending_flag(r->object, r->type);

	if (pending)
		*pending = false;
	else
		r->object->requests.code--;
}

static void pass_jvm(struct symbolizer *s, const struct request *r, const struct message_jvm *m)
{
	const struct client_object *o = r->object;

	if (s->events.jvm && !o->forgotten)
		s->events.jvm(s->events.context, o->id, m->status, &m->jvm, m->reason);
}

static void pass_java_code(struct symbolizer *s, const struct request *r,
			   const struct message_java_rows *m)
{
	const struct client_object *o = r->object;
	const struct hotspot_code_key key = {
		.address = m->lookup.address,
		.id = HOTSPOT_PLACE_ID(m->lookup.place),
	};

	if (s->events.java_code && !m->status && !o->forgotten)
		s->events.java_code(s->events.context, o->id, &key, &m->rows);
}

static void pass_counters(struct symbolizer *s, const struct request *r,
			  const struct message_jvm_counters *m)
{
	const struct client_object *o = r->object;

	if (s->events.jvm_counters && !o->forgotten)
		s->events.jvm_counters(s->events.context, o->id, m->status, &m->perf, m->reason);
}

static void pass_threads(struct symbolizer *s, const struct request *r,
			 const struct message_thread_list *m, const struct hotspot_thread *threads,
			 unsigned int count)
{
	const struct client_object *o = r->object;
	const struct jvm_thread_list list = {
		.status = m->status,
		.reason = m->reason,
		.last = m->last,
		.layout = &m->layout,
		.threads = threads,
		.count = count,
	};

	if (s->events.jvm_threads && !o->forgotten)
		s->events.jvm_threads(s->events.context, o->id, &list);
}

static int handle_jvm_facts(struct symbolizer *s, const struct reply_reader *from)
{
	struct message_jvm m;
	struct request *r;

	if (reply_read_jvm(&m, from) < 0)
		return -EBADMSG;
	r = request_complete_first(s);
	end_jvm_request(r);
	pass_jvm(s, r, &m);
	request_free(r);
	return 0;
}

static int handle_java_rows(struct symbolizer *s, const struct reply_reader *from)
{
	struct request *r = request_first(&s->sent);
	struct message_java_rows m;

	if (reply_read_java_rows(&m, from, r->lookups.items) < 0)
		return -EBADMSG;
	r = request_complete_first(s);
	end_jvm_request(r);
	pass_java_code(s, r, &m);
	request_free(r);
	return 0;
}

static int handle_counters(struct symbolizer *s, const struct reply_reader *from)
{
	struct message_jvm_counters m;
	struct request *r;

	if (reply_read_counters(&m, from) < 0)
		return -EBADMSG;
	r = request_complete_first(s);
	end_jvm_request(r);
	pass_counters(s, r, &m);
	request_free(r);
	return 0;
}

static int handle_threads(struct symbolizer *s, const struct message *m,
			  const struct reply_reader *from)
{
	struct hotspot_thread threads[THREADS_PER_MESSAGE];
	struct message_thread_list list;
	struct request *r = request_first(&s->sent);

	if (reply_read_threads(&list, from, m->count) < 0)
		return -EBADMSG;
	memcpy(threads, from->at + sizeof(list), m->count * sizeof(*threads));
	for (uint32_t i = 0; i < m->count; i++) {
		if (!hotspot_thread_check(&threads[i]))
			return -EBADMSG;
	}
	if (list.last) {
		r = request_complete_first(s);
		end_jvm_request(r);
	}
	pass_threads(s, r, &list, threads, m->count);
	if (list.last)
		request_free(r);
	return 0;
}

/* Process a message about the first sent request, which is one about a JVM. */
static int handle_jvm(struct symbolizer *s, const struct message *m,
		      const struct reply_reader *from)
{
	const struct request *r = request_first(&s->sent);

	if (r->type == MESSAGE_JVM && m->type == MESSAGE_JVM_FACTS)
		return handle_jvm_facts(s, from);
	if (r->type == MESSAGE_JAVA_CODE && m->type == MESSAGE_JAVA_ROWS)
		return handle_java_rows(s, from);
	if (r->type == MESSAGE_JVM_PERF && m->type == MESSAGE_JVM_COUNTERS)
		return handle_counters(s, from);
	if (r->type == MESSAGE_JVM_THREADS && m->type == MESSAGE_THREAD_LIST)
		return handle_threads(s, m, from);
	return -EBADMSG;
}

/* Report that a request about a JVM has failed, and free it. It is in no queue any more. */
static void request_fail_jvm(struct symbolizer *s, struct request *r)
{
	static const char lost[] = "its worker was lost";
	struct message_jvm jvm = {.status = -EIO};
	struct message_jvm_counters counters = {.status = -EIO};
	struct message_thread_list threads = {.status = -EIO, .last = 1};

	memcpy(jvm.reason, lost, sizeof(lost));
	memcpy(counters.reason, lost, sizeof(lost));
	memcpy(threads.reason, lost, sizeof(lost));
	end_jvm_request(r);
	if (r->type == MESSAGE_JVM)
		pass_jvm(s, r, &jvm);
	else if (r->type == MESSAGE_JVM_PERF)
		pass_counters(s, r, &counters);
	else if (r->type == MESSAGE_JVM_THREADS)
		pass_threads(s, r, &threads, NULL, 0);
	request_free(r);
}

static void end_probes(struct symbolizer *s, struct request *r, int status,
		       const struct probe_sites *found)
{
	if (s->events.probes && !r->object->forgotten)
		s->events.probes(s->events.context, r->object->id, status, status ? NULL : found);
	request_free(r);
}

static int handle_probes(struct symbolizer *s, const struct reply_reader *from)
{
	const struct request *r = request_first(&s->sent);
	struct message_probes *m;
	int ret = -EBADMSG;

	if (r->type != MESSAGE_PROBES)
		return -EBADMSG;
	m = malloc(sizeof(*m));
	if (!m) {
		end_probes(s, request_complete_first(s), -ENOMEM, NULL);
		return 0;
	}
	ret = reply_read_probes(m, from, r->object->stamp.size, s->options.pattern_count);
	if (!ret)
		end_probes(s, request_complete_first(s), m->status, &m->found);
	free(m);
	return ret;
}

static int client_handle_message(struct symbolizer *s, const struct message *m, size_t size)
{
	const struct request *r = request_first(&s->sent);
	struct reply_reader from = {s->payload, size};

	helper_received(&s->worker, false);
	if (!r || m->sequence != r->sequence || m->object != r->object->id)
		return -EBADMSG;
	if (m->type == MESSAGE_HEARTBEAT)
		return 0;
	if (m->type == MESSAGE_FACTS)
		return handle_object_facts(s, &from);
	if (m->type == MESSAGE_REPLIES || m->type == MESSAGE_CODE_REPLIES ||
	    m->type == MESSAGE_PLACES)
		return client_handle_replies(s, m, &from);
	if (m->type == MESSAGE_SOURCE_FACTS)
		return handle_source_facts(s, &from);
	if (m->type == MESSAGE_INSPECTED)
		return handle_inspected(s, &from);
	if (request_is_of_jvm(r))
		return handle_jvm(s, m, &from);
	if (m->type == MESSAGE_PROBE_SITES)
		return handle_probes(s, &from);
	return client_handle_table(s, m, &from);
}

/*
 * Receive and process the messages that have arrived, at most RECEIVE_MAX. Return 0, or a negative
 * errno after which the worker must be killed.
 */
static int client_receive_replies(struct symbolizer *s)
{
	struct message m;
	int size, fd;

	for (int i = 0; i < RECEIVE_MAX && s->worker.socket >= 0; i++) {
		size = message_receive(s->worker.socket, &m, s->payload, &fd, MSG_DONTWAIT);
		if (size == -EAGAIN)
			return 0;
		if (size >= 0 && fd >= 0)
			close(fd);
		if (size >= 0)
			size = client_handle_message(s, &m, (size_t)size);
		if (size < 0)
			return size;
	}
	return 0;
}

static int client_send_object(struct symbolizer *s, struct client_object *o)
{
	struct message m = {.object = o->id};
	int ret = 0;

	if (o->generation != s->worker.generation) {
		m.type = MESSAGE_OBJECT;
		m.kind = o->kind;
		ret = message_send_now(
			s->worker.socket, &m, o->runtime.data ? o->runtime.data : &o->stamp,
			o->runtime.data ? o->runtime.size : sizeof(o->stamp), o->file.fd);
		if (ret < 0)
			return ret;
		o->generation = s->worker.generation;
		o->debug.sent = o->common.sent = false;
		o->symbols_sent = 0;
	}
	if (o->debug.fd >= 0 && !o->debug.sent) {
		m.type = MESSAGE_DEBUG;
		ret = message_send_now(s->worker.socket, &m, NULL, 0, o->debug.fd);
		o->debug.sent = ret == 0;
	}
	if (!ret && o->common.fd >= 0 && !o->common.sent) {
		m.type = MESSAGE_COMMON;
		ret = message_send_now(s->worker.socket, &m, NULL, 0, o->common.fd);
		o->common.sent = ret == 0;
	}
	while (!ret && o->symbols_sent < o->symbols.count) {
		const struct kernel_symbol *k = &o->symbols.items[o->symbols_sent];
		struct message_symbol symbol = {k->address, k->size};
		char buf[sizeof(symbol) + REPLY_NAME_MAX];
		size_t length = strlen(k->name);

		m.type = MESSAGE_SYMBOL;
		memcpy(buf, &symbol, sizeof(symbol));
		memcpy(buf + sizeof(symbol), k->name, length);
		ret = message_send_now(s->worker.socket, &m, buf, sizeof(symbol) + length, -1);
		if (!ret)
			o->symbols_sent++;
	}
	return ret;
}

/*
 * Complete a request that is not sent to a worker: report its failure, and free it. If it is about
 * symbols, the object is marked bad.
 */
static void request_fail(struct symbolizer *s, struct request *r)
{
	const struct symbol bad = {.flags = SYMBOL_BAD_OBJECT};
	const struct inspected_file none = {.python.support = PYTHON_NONE};
	const struct source_facts no_sources = {.status = -EIO};

	if (request_is_table(r)) {
		request_end_table(s, r, -EIO, NULL);
		return;
	}
	if (r->type == MESSAGE_INSPECT) {
		end_inspection(s, r, &none);
		return;
	}
	if (r->type == MESSAGE_PROBES) {
		end_probes(s, r, -EIO, NULL);
		return;
	}
	if (request_is_of_jvm(r)) {
		request_fail_jvm(s, r);
		return;
	}
	if (r->type == MESSAGE_SOURCES) {
		end_sources(s, r, &no_sources);
		return;
	}
	if (!r->object->bad)
		mark_object_bad(s, r->object);
	while (r->replied < r->lookups.count)
		request_pass_reply(s, r, &bad);
	request_free(r);
}

static int send_forget(struct symbolizer *s, struct fair_owner *w, struct request *r)
{
	struct message m = {.type = MESSAGE_FORGET, .object = r->object->id};
	struct client_object *o;
	int ret = 0;

	if (r->object->generation == s->worker.generation)
		ret = message_send_now(s->worker.socket, &m, NULL, 0, -1);
	if (ret < 0)
		return ret;
	fair_take(&s->waiting, w);
	o = r->object;
	request_free(r);
	client_object_free(s, o);
	return 0;
}

/*
 * Return whether a request must not be sent: the worker does not have the object and its file is
 * closed; the object is bad; or nobody needs the reply.
 */
static bool is_request_useless(const struct symbolizer *s, const struct request *r)
{
	const struct client_object *o = r->object;

	if (o->generation != s->worker.generation && o->file.fd < 0)
		return true;
	/* a file with bad symbols may still have a table */
	return request_is_of_file(r) ? o->struck || o->forgotten : o->bad;
}

/*
 * Send the first request of an owner, after its object if the worker does not have that yet. A
 * request that is useless completes at once. Return 0, or a negative errno of sending; the request
 * then stays in the queue of its owner.
 */
static int send_first_request(struct symbolizer *s, struct fair_owner *w, struct request *r)
{
	struct client_object *o = r->object;
	struct message m = {.type = r->type, .object = o->id, .sequence = s->sequence + 1};
	size_t left;
	int ret;

	if (is_request_useless(s, r)) {
		fair_take(&s->waiting, w);
		request_fail(s, r);
		return 0;
	}
	left = r->lookups.count - r->replied;
	if (r->wants_key)
		m.wants_key = true;
	else
		m.count = (uint32_t)left;
	ret = client_send_object(s, o);
	if (!ret)
		ret = message_send_now(s->worker.socket, &m,
				       left ? &r->lookups.items[r->replied] : NULL,
				       left * sizeof(*r->lookups.items),
				       r->type == MESSAGE_REFRESH ? o->file.fd : -1);
	if (ret < 0)
		return ret;
	if (o->lookups.queued == r)
		o->lookups.queued = NULL;
	r->sequence = ++s->sequence;
	if (!s->sent.first)
		fair_begin(&s->waiting);
	fair_take(&s->waiting, w);
	request_enqueue(&s->sent, r);
	return 0;
}

/*
 * Return whether a request has to wait: a FORGET waits until all other requests about its object
 * are complete, all other types wait until fewer than SENT_MAX requests are sent.
 */
static bool must_request_wait(const struct symbolizer *s, const struct request *r)
{
	return r->type == MESSAGE_FORGET ? r->object->requests.count > 1
					 : s->sent.count >= SENT_MAX;
}

/* Return whether the expected time for all sent requests reaches BUSY_MAX. */
static bool is_worker_busy(const struct symbolizer *s)
{
	const struct request *r;
	uint64_t ns = 0;

	for (r = request_first(&s->sent); r; r = (const struct request *)r->item.next) {
		const struct fair_owner *w = fair_owner_of(&s->waiting, r->object->owner);

		ns += w ? w->usual : 0;
	}
	return ns >= BUSY_MAX;
}

static int send_limit(struct symbolizer *s)
{
	const struct message m = {.type = MESSAGE_LIMIT, .object = s->options.memory};
	int ret = s->limit_unsent ? message_send_now(s->worker.socket, &m, NULL, 0, -1) : 0;

	s->limit_unsent = s->limit_unsent && ret;
	return ret;
}

/*
 * Send requests as far as possible. Return 0, or a negative errno after which the worker must be
 * killed.
 */
static int send_waiting(struct symbolizer *s)
{
	struct fair_owner *w;
	int ret = send_limit(s);

	while (!ret && !is_worker_busy(s) && (w = fair_next_owner(&s->waiting))) {
		struct request *r = (struct request *)fair_first(w);

		if (must_request_wait(s, r))
			break;
		ret = r->type == MESSAGE_FORGET ? send_forget(s, w, r)
						: send_first_request(s, w, r);
	}
	helper_expect(&s->worker, s->sent.first, ret == -EAGAIN);
	/* -ETOOMANYREFS: too many descriptors are in flight; the next poll tries again. */
	return ret == -EAGAIN || ret == -ETOOMANYREFS ? 0 : ret;
}

/* Return sent requests to the queues of their owners, before those that already wait. */
static void client_requeue_sent(struct symbolizer *s)
{
	struct queue turned = {0};
	struct request *r;

	while ((r = request_dequeue(&s->sent))) {
		struct queue one = {0};

		request_restart_table(r);
		r->places.bytes.count = r->places.count = 0;
		request_enqueue(&one, r);
		queue_append(&one, &turned);
		turned = one;
	}
	while ((r = request_dequeue(&turned)))
		if (fair_return(&s->waiting, r->object->owner, request_rank(r), &r->item) < 0)
			request_enqueue(&s->delayed, r);
}

static void schedule_delayed(struct symbolizer *s)
{
	struct queue delayed = s->delayed;
	struct request *r;

	s->delayed = (struct queue){0};
	while ((r = request_dequeue(&delayed)))
		request_schedule(s, r);
}

void client_end_worker(struct symbolizer *s)
{
	struct client_object *current = s->sent.first ? request_first(&s->sent)->object : NULL;

	helper_kill(&s->worker);
	s->stats.restarts++;
	if (current)
		fair_served(&s->waiting, current->owner);
	client_requeue_sent(s);
}

static void lose_worker(struct symbolizer *s, bool stuck)
{
	struct client_object *blamed = s->sent.first ? request_first(&s->sent)->object : NULL;

	client_end_worker(s);
	if (blamed && stuck)
		fair_hold(&s->waiting, blamed->owner);
	if (blamed && (stuck || ++blamed->strikes >= STRIKES_MAX)) {
		blamed->struck = true;
		mark_object_bad(s, blamed);
	}
}

/* Receive replies and send requests. After a negative errno the worker must be killed. */
static int client_exchange_messages(struct symbolizer *s)
{
	int ret = client_receive_replies(s);

	return ret ? ret : send_waiting(s);
}

/* Add the statistics of one of s->others to those of s, and clear them. */
static void move_stats(struct symbolizer *s, struct symbolizer *other)
{
	struct symbolizer_stats *to = &s->stats, *from = &other->stats;

	to->requested += from->requested;
	to->replied += from->replied;
	to->restarts += from->restarts;
	to->bad_objects += from->bad_objects;
	to->mangled += from->mangled;
	to->tables_made += from->tables_made;
	to->tables_cached += from->tables_cached;
	to->tables_failed += from->tables_failed;
	*from = (struct symbolizer_stats){0};
}

const struct symbolizer_stats *symbolizer_stats(struct symbolizer *s)
{
	struct symbolizer *other;

	FOR_EACH_OTHER (s, other)
		move_stats(s, other);
	return &s->stats;
}

int symbolizer_poll(struct symbolizer *s, uint64_t now, struct error *err)
{
	struct symbolizer *other;
	uint64_t generation = s->worker.generation;
	int ret;

	FOR_EACH_OTHER (s, other) {
		ret = symbolizer_poll(other, now, err);
		if (ret < 0)
			return ret;
	}
	helper_begin_poll(&s->worker, now);
	s->waiting.now = now;
	schedule_delayed(s);
	if (helper_is_running(&s->worker)) {
		ret = client_exchange_messages(s);
		if (ret < 0 || helper_is_stuck(&s->worker))
			lose_worker(s, ret == 0);
	}
	ret = helper_restart(&s->worker, err);
	if (ret < 0)
		return ret;
	if (s->worker.generation != generation && send_waiting(s) < 0)
		lose_worker(s, false);
	return 0;
}
