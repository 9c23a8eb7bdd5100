// SPDX-License-Identifier: Apache-2.0
/*
 * Request unwind tables. With a cache, the client first requests the key of a table, and the table
 * only if the cache has none for that key. Tables from the worker and from the cache are checked in
 * the client's own memory before they are passed to the event.
 *
 * Also replaces workers, for a caller that limits the memory that their tables and names take.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/client_private.h"

int symbolizer_use_cache(struct symbolizer *s, const char *directory)
{
	struct table_cache *cache;
	int ret = table_cache_open(&cache, directory, TABLE_CACHE_BUDGET);

	if (ret < 0)
		return ret;
	table_cache_close(s->cache);
	s->cache = cache;
	return 0;
}

int symbolizer_request_table(struct symbolizer *s, uint64_t object)
{
	struct client_object *o;
	bool keyed;
	int ret;

	s = symbolizer_of_object(s, object);
	o = client_object_lookup(s, object);
	if (!o || (o->kind != OBJECT_ELF && o->kind != OBJECT_JAVA))
		return -ENOENT;
	if (o->requests.table)
		return 0;
	client_object_touch(s, o);
	keyed = s->cache && o->kind == OBJECT_ELF; /* the cache is for files */
	ret = request_submit(s, o, keyed ? MESSAGE_KEY : MESSAGE_TABLE);
	if (ret < 0)
		return ret;
	o->requests.table = true;
	s->unwind.tables++;
	s->unwind.keys += keyed;
	return 0;
}

int symbolizer_request_pages(struct symbolizer *s, uint64_t object,
			     const struct unwind_page_list *q, bool urgent)
{
	struct client_object *o = client_object_lookup(s, object);
	struct request *r;
	int rc = 0;

	if (!o || o->kind != OBJECT_ELF)
		return -ENOENT;
	if (!q->count || q->count > LOOKUPS_MAX)
		return -EINVAL;
	client_object_touch(s, o);
	r = request_new(o, MESSAGE_PAGES);
	if (!r)
		return -ENOMEM;
	r->urgent = urgent;
	/*
	 * A page whose number cannot be stored for lack of memory is not requested, and the reply
	 * does not have it.
	 */
	for (size_t i = 0; rc >= 0 && i < q->count; i++)
		rc = vector_push(&r->lookups, ((struct message_lookup){.address = q->pages[i]}));
	if (!r->lookups.count) {
		request_free(r);
		return -ENOMEM;
	}
	request_schedule(s, r);
	helper_wake(&s->worker);
	return 0;
}

uint64_t symbolizer_tables_pending(const struct symbolizer *s)
{
	const struct symbolizer *memory = s->others[OTHER_MEMORY];

	return s->unwind.tables + (memory ? memory->unwind.tables : 0);
}

uint64_t symbolizer_keys_pending(const struct symbolizer *s)
{
	return s->unwind.keys;
}

static bool is_whole_table(const struct queue_item *item, const void *context)
{
	const struct request *r = (const struct request *)item;

	(void)context;
	return r->type == MESSAGE_KEY || r->type == MESSAGE_TABLE;
}

void symbolizer_drop_tables(struct symbolizer *s)
{
	struct symbolizer *other;
	struct fair_owner *w, *next;
	struct request *r;

	FOR_EACH_OTHER (s, other)
		symbolizer_drop_tables(other);
	HASH_ITER (hh, s->waiting.owners, w, next) {
		struct queue theirs = fair_pick(&s->waiting, w, is_whole_table, NULL);

		while ((r = request_dequeue(&theirs))) {
			r->object->requests.table = false;
			s->unwind.tables--;
			s->unwind.keys -= r->type == MESSAGE_KEY;
			request_free(r);
		}
	}
}

void request_end_table(struct symbolizer *s, struct request *r, int status,
		       const struct unwind_table *t)
{
	struct client_object *o = r->object;

	if (r->type == MESSAGE_PAGES) {
		if (s->events.pages && !o->forgotten)
			s->events.pages(s->events.context, o->id, status, t);
		request_free(r);
		return;
	}
	o->requests.table = false;
	s->unwind.tables--;
	s->unwind.keys -= r->type == MESSAGE_KEY;
	if (status < 0 && !o->forgotten)
		s->stats.tables_failed++;
	if (s->events.table && !o->forgotten)
		s->events.table(s->events.context, o->id, status, t);
	request_free(r);
}

void request_restart_table(struct request *r)
{
	free(r->table);
	r->table = NULL;
	r->table_size = r->received = 0;
	r->keyed = false;
}

/* Complete r with the table that the cache has for its key; without one, request the table. */
static void lookup_cached_table(struct symbolizer *s, struct request *r)
{
	struct unwind_table t;
	void *bytes;

	if (table_cache_get(s->cache, &r->key, &bytes, &t) == 0) {
		s->stats.tables_cached++;
		request_end_table(s, r, 0, &t);
		free(bytes);
		return;
	}
	if (r->object->forgotten) { /* queued after the FORGET, r would wait for it forever */
		request_end_table(s, r, -ECANCELED, NULL);
		return;
	}
	s->unwind.keys--;
	r->type = MESSAGE_TABLE;
	r->wants_key = true;
	request_schedule(s, r);
}

static int handle_table_key(struct symbolizer *s, const struct reply_reader *from)
{
	struct request *r = request_first(&s->sent);
	bool before = r->type == MESSAGE_TABLE && r->wants_key && !r->keyed && !r->received;
	int ret = -EBADMSG;

	if (r->type == MESSAGE_KEY || before)
		ret = reply_read_key(&r->key, from);
	if (ret < 0 || r->key.size != r->object->stamp.size)
		return -EBADMSG;
	if (before)
		r->keyed = true;
	else
		lookup_cached_table(s, request_complete_first(s));
	return 0;
}

static void finish_received_pages(struct symbolizer *s, struct request *r)
{
	struct unwind_table t = {0};
	char *bytes = r->table;
	int rc = -ENOMEM;

	r->table = NULL;
	if (bytes)
		rc = unwind_pages_check(&t, bytes, r->table_size);
	request_end_table(s, r, rc, rc ? NULL : &t);
	free(bytes);
}

/*
 * Check a table of which all bytes have arrived, pass it to the event table, and put it into the
 * cache if it is valid and its key has arrived.
 */
static void finish_received_table(struct symbolizer *s, struct request *r)
{
	struct unwind_key key = r->key;
	bool keep = r->keyed && s->cache;
	struct unwind_table t = {0};
	char *bytes = r->table;
	int rc = -ENOMEM;

	r->table = NULL;
	if (bytes)
		rc = unwind_table_check(&t, bytes, r->table_size);
	s->stats.tables_made += !rc;
	request_end_table(s, r, rc, rc ? NULL : &t);
	if (!rc && keep)
		table_cache_put(s->cache, &key, &t);
	free(bytes);
}

static int handle_table_part(struct symbolizer *s, const struct message *m,
			     const struct reply_reader *from)
{
	struct request *r = request_first(&s->sent);

	if ((r->type != MESSAGE_TABLE && r->type != MESSAGE_PAGES) || !from->left ||
	    m->table_size > UNWIND_TABLE_MAX)
		return -EBADMSG;
	if (!r->received) {
		r->table_size = m->table_size;
		r->table = malloc(r->table_size);
	}
	if (m->table_size != r->table_size || from->left > r->table_size - r->received)
		return -EBADMSG;
	if (r->table)
		memcpy(r->table + r->received, from->at, from->left);
	r->received += from->left;
	if (r->received != r->table_size)
		return 0;
	if (r->type == MESSAGE_PAGES)
		finish_received_pages(s, request_complete_first(s));
	else
		finish_received_table(s, request_complete_first(s));
	return 0;
}

static int handle_no_table(struct symbolizer *s, const struct message *m,
			   const struct reply_reader *from)
{
	if (!request_is_table(request_first(&s->sent)) || from->left || !m->error ||
	    m->error > INT_MAX)
		return -EBADMSG;
	request_end_table(s, request_complete_first(s), -(int)m->error, NULL);
	return 0;
}

int client_handle_table(struct symbolizer *s, const struct message *m,
			const struct reply_reader *from)
{
	switch (m->type) {
	case MESSAGE_KEY_REPLY:
		return handle_table_key(s, from);
	case MESSAGE_TABLE_PART:
		return handle_table_part(s, m, from);
	case MESSAGE_NO_TABLE:
		return handle_no_table(s, m, from);
	}
	return -EBADMSG;
}

_Static_assert(1 + OTHER_SYMBOLIZERS == SYMBOLIZER_WORKERS_MAX, "one worker each");

unsigned int symbolizer_pids(struct symbolizer *s, pid_t out[static SYMBOLIZER_WORKERS_MAX])
{
	struct symbolizer *other;
	unsigned int count = 0;

	if (helper_is_running(&s->worker))
		out[count++] = s->worker.pid;
	FOR_EACH_OTHER (s, other)
		if (helper_is_running(&other->worker))
			out[count++] = other->worker.pid;
	return count;
}

bool symbolizer_replace_worker(struct symbolizer *s, pid_t pid)
{
	struct symbolizer *other;

	FOR_EACH_OTHER (s, other)
		if (symbolizer_replace_worker(other, pid))
			return true;
	if (!helper_is_running(&s->worker) || s->worker.pid != pid)
		return false;
	client_end_worker(s);
	helper_wake(&s->worker);
	return true;
}

bool symbolizer_limit_worker(struct symbolizer *s, pid_t pid, uint64_t bytes)
{
	struct symbolizer *other;

	FOR_EACH_OTHER (s, other)
		if (symbolizer_limit_worker(other, pid, bytes))
			return true;
	if (!helper_is_running(&s->worker) || s->worker.pid != pid)
		return false;
	s->options.memory = bytes;
	s->limit_unsent = true;
	helper_wake(&s->worker);
	return true;
}
