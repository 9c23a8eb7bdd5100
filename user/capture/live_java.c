// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the JVMs among the processes: has their memory opened, requests what the BPF walkers need
 * of them, again while a JVM is starting, and passes that to the walkers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/live.h"
#include "symbolizers/hotspot_tables.h"

/*
 * Time (ns) after which a JVM that is starting is asked again; it grows from the first to the
 * second, by the first each RETRY_SAME attempts. The worker needs some 0.2 ms to find that there is
 * no interpreter yet. Java code that runs before the JVM is known is not walked; beside other
 * programs a JVM may take a second to start.
 */
#define RETRY_FIRST (5 * NSEC_PER_MSEC)
#define RETRY_LONGEST (200 * NSEC_PER_MSEC)
#define RETRY_SAME 8
/* A process that maps libjvm, but does not start a JVM in so many attempts (minutes), has none. */
#define ATTEMPTS_MAX 1500

static void stop_awaiting(struct live *l, struct object *o)
{
	l->walkers.jvms_awaited -= o->java.awaited;
	o->java.awaited = false;
}

static void describe_jvm(struct object *o, int status, const struct jvm_facts *f,
			 const char *reason)
{
	char text[256];

	jvms_describe(text, sizeof(text), status, f, reason);
	free(o->java.described);
	o->java.described = strdup(text);
	o->java.reported = false;
}

static void request_jvm(struct live *l, struct object *o)
{
	o->java.attempts++;
	if (symbolizer_request_jvm(l->helpers.symbolizer, o->id) < 0)
		stop_awaiting(l, o);
}

void live_java_updated(struct live *l, struct object *o)
{
	if (o->kind != MAPPING_JAVA || o->java.attempts)
		return;
	if (o->state == OBJECT_KNOWN && !live_walks_stacks(l)) {
		live_jvms_known(l, o);
	} else if (o->state == OBJECT_KNOWN) {
		request_jvm(l, o);
	} else if (o->state == OBJECT_UNREADABLE) {
		stop_awaiting(l, o);
		describe_jvm(o, -EACCES, NULL, "the memory of its process cannot be opened");
	}
}

uint32_t live_jvm_of(void *context, struct process_entry *p)
{
	struct live *l = context;
	struct hotspot_file f;

	if (!p->code.java && jvms_find(&f, p->space)) {
		const struct mapped_place at = process_entry_place(p);

		if (live_walks_stacks(l))
			program_expect_java(l->program);
		p->code.java = objects_new_java(l->objects, &at, &f);
		if (!p->code.java)
			return 0;
		objects_use(p->code.java);
		live_jvms_add(l, p->code.java);
		p->code.java->java.awaited = live_walks_stacks(l);
		l->walkers.jvms_awaited += p->code.java->java.awaited;
		objects_need(l->objects, p->code.java);
		live_java_updated(l, p->code.java); /* it may have failed at once */
	}
	return p->code.java ? p->code.java->java.number : 0;
}

bool live_java_pending(const struct live *l)
{
	return l->walkers.jvms_awaited ||
	       (l->walkers.jvms.generation && symbolizer_tables_pending(l->helpers.symbolizer));
}

static void retry_later(struct live *l, struct object *o, uint64_t now)
{
	uint64_t wait = RETRY_FIRST * (1 + o->java.attempts / RETRY_SAME);

	if (o->java.attempts >= ATTEMPTS_MAX || vector_push(&l->walkers.jvms_starting, o->id) < 0)
		return;
	o->java.retry_at = now + (wait < RETRY_LONGEST ? wait : RETRY_LONGEST);
}

/*
 * Have the facts of a JVM that is known requested again: it makes the last of its stubs, those of
 * the compilers, after others have run for a while, and on a slow machine even the interpreter may
 * not have been complete.
 */
static void ask_again(struct live *l, struct object *o, uint64_t now)
{
	static const uint64_t after[] = {60 * NSEC_PER_MSEC, 300 * NSEC_PER_MSEC, 2 * NSEC_PER_SEC,
					 10 * NSEC_PER_SEC};

	if (o->java.replies >= sizeof(after) / sizeof(*after))
		return;
	o->java.retry_at = now + after[o->java.replies++];
	(void)vector_push(&l->walkers.jvms_starting, o->id);
}

/*
 * Return whether a JVM is to be asked again. While the walker is being loaded, that would be in
 * vain: it takes some ms of CPU time, which the JVM and the loading thread need.
 */
static bool is_retry_due(const struct live *l, struct object *o, uint64_t now)
{
	if (now < o->java.retry_at)
		return false;
	if (!program_is_loading_java(l->program))
		return true;
	o->java.retry_at = now + RETRY_FIRST;
	return false;
}

void live_java_poll(struct live *l, uint64_t now)
{
	size_t left = 0;

	for (size_t i = 0; i < l->walkers.jvms_starting.count; i++) {
		uint64_t id = l->walkers.jvms_starting.items[i];
		struct object *o = objects_by_id(l->objects, id);

		if (o && o->users && is_retry_due(l, o, now))
			request_jvm(l, o);
		else if (o && o->users)
			l->walkers.jvms_starting.items[left++] = id;
	}
	l->walkers.jvms_starting.count = left;
}

uint64_t live_java_next(const struct live *l)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < l->walkers.jvms_starting.count; i++) {
		const struct object *o =
			objects_by_id(l->objects, l->walkers.jvms_starting.items[i]);

		if (o && o->java.retry_at < next)
			next = o->java.retry_at;
	}
	return next;
}

void live_java_facts(struct live *l, uint64_t object, int status, const struct jvm_facts *f,
		     const char *reason)
{
	struct object *o = objects_by_id(l->objects, object);
	struct process_entry *p;
	bool loading = false;

	if (!o || o->kind != MAPPING_JAVA)
		return;
	if (!status) {
		status = jvms_send(&l->walkers.jvms, o, f, &o->java.number);
		loading = status == -EAGAIN;
		reason = loading ? "their walker is being loaded" : "";
	}
	if (!loading)
		stop_awaiting(l, o);
	if (!status && f->has_table)
		objects_request_made_table(l->objects, o);
	/* one that is known may have ended before it was requested again */
	if (!status || !o->java.replies)
		describe_jvm(o, status, f, reason);
	if (status == -EAGAIN)
		retry_later(l, o, clock_boot_ns());
	else if (!status)
		ask_again(l, o, clock_boot_ns());
	if (!status)
		live_jvms_known(l, o);
	p = process_table_of_pid(l->processes, o->mapped.pid);
	if (status || !p || p->code.java != o)
		return;
	process_table_mark_unsent(l->processes, p);
	l->walkers.remapped = true;
}

void live_java_tidy(struct live *l)
{
	struct jvms *j = &l->walkers.jvms;

	for (uint32_t i = 0; i < HOTSPOT_PROCESSES_MAX; i++) {
		const struct object *o =
			j->objects[i] ? objects_by_id(l->objects, j->objects[i]) : NULL;

		if (!o || !o->users)
			j->objects[i] = 0;
	}
}

/*
 * Return whether a walk that has left its first frame may have taken a wrong way: it has ended
 * where no stack ends. (Then user space may still have to finish it, at an address that is no
 * code.)
 */
static bool has_gone_wrong(const struct wire_sample *s)
{
	if (s->flags & WIRE_UNFINISHED)
		return !(s->flags & WIRE_PENDING);
	return s->user_end == END_JAVA || s->user_end == END_UNREADABLE ||
	       s->user_end == END_UNMAPPED || s->user_end == END_BAD_ROW;
}

static bool begins_java_frame(uint64_t word)
{
	const uint64_t tag = word >> WIRE_TAG_SHIFT;

	return tag == WIRE_TAG_JAVA_COMPILED || tag == WIRE_TAG_JAVA_INTERPRETED ||
	       tag == WIRE_TAG_JAVA_BLOB;
}

/* Return whether a frame of two words is the code of an adapter. */
static bool is_adapter(const uint64_t *words)
{
	return words[0] >> WIRE_TAG_SHIFT == WIRE_TAG_JAVA_BLOB &&
	       (words[1] & 0xff) == HOTSPOT_ADAPTER;
}

/*
 * Return the index of the words of the last frame at which a walk may have taken a wrong way: in a
 * method or an adapter that was interrupted, or that has called native code or a stub. Return count
 * if there is none.
 */
static uint32_t find_wrong_frame(const uint64_t *words, uint32_t count)
{
	bool called = true; /* the frame has not called Java code */
	uint32_t found = count;

	for (uint32_t i = 0; i + 1 < count;) {
		const bool java = begins_java_frame(words[i]);
		const bool method = words[i] >> WIRE_TAG_SHIFT == WIRE_TAG_JAVA_COMPILED;

		if (called && java && (method || is_adapter(words + i)))
			found = i;
		called = !java || words[i] >> WIRE_TAG_SHIFT == WIRE_TAG_JAVA_BLOB;
		i += java ? 2 : 1;
	}
	return found;
}

/* Return the place of the instruction that was interrupted, or of the call that is not over. */
static uint64_t place_of_frame(const uint64_t *words, bool first)
{
	uint64_t place = words[1];

	if (is_adapter(words))
		place = HOTSPOT_COMPILED_PLACE(0, words[1] >> 8); /* from the blob on */
	return place - !first;
}

void live_java_request_rows(struct live *l, const struct process_entry *p,
			    const struct wire_sample *s)
{
	const uint64_t *words = live_sample_frames(s) + s->kernel_frames;
	const struct object *o = p->code.java;
	uint64_t blob, place, hash, *known;
	uint32_t at;

	if (!o || o->state != OBJECT_KNOWN || !has_gone_wrong(s))
		return;
	at = find_wrong_frame(words, s->user_frames);
	if (at == s->user_frames)
		return;
	blob = words[at] & ~WIRE_TAG_MASK;
	place = place_of_frame(words + at, !at);
	hash = hotspot_hash_word(hotspot_hash_word(hotspot_hash_word(0, o->id), blob), place);
	known = &l->walkers.java_places[hash % LIVE_JAVA_PLACES];
	if (*known == hash)
		return;
	if (!symbolizer_request_java_code(l->helpers.symbolizer, o->id, blob, place))
		*known = hash;
}

void live_java_rows(struct live *l, uint64_t object, const struct hotspot_code_key *key,
		    const struct hotspot_code_rows *rows)
{
	const struct object *o = objects_by_id(l->objects, object);
	struct hotspot_code_key of = *key;

	if (!o || o->kind != MAPPING_JAVA || !o->java.number)
		return;
	of.number = o->java.number;
	/* Without room, or without rows, walks end as before. */
	(void)program_set_java_code(l->program, &of, rows);
}
