// SPDX-License-Identifier: Apache-2.0
/* Request lines and inlined functions from a worker of sources, and check its replies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/client_private.h"

/* The largest errno value. */
#define ERRNO_MAX 4095

int symbolizer_request_sources(struct symbolizer *s, uint64_t object)
{
	struct client_object *o = client_object_lookup(s, object);

	if (!o || o->kind != OBJECT_ELF)
		return -ENOENT;
	client_object_touch(s, o);
	return request_submit(s, o, MESSAGE_SOURCES);
}

void request_end_sources(struct symbolizer *s, struct request *r, const struct source_facts *f)
{
	struct client_object *o = r->object;

	if (s->events.sources && !o->forgotten)
		s->events.sources(s->events.context, o->id, f);
	request_free(r);
}

static bool is_text_terminated(const char *text, size_t size)
{
	return strnlen(text, size) < size;
}

/*
 * Return whether the facts are valid. Their texts become parts of paths that a privileged process
 * opens; that process checks them again.
 */
static bool are_source_facts_valid(const struct source_facts *f)
{
	return f->status <= 0 && f->status >= -ERRNO_MAX &&
	       client_text_has_only(f->build_id, sizeof(f->build_id), "0123456789abcdef") &&
	       client_text_has_only(f->common_id, sizeof(f->common_id), "0123456789abcdef") &&
	       is_text_terminated(f->common, sizeof(f->common)) &&
	       is_text_terminated(f->debuglink, sizeof(f->debuglink)) && !strchr(f->debuglink, '/');
}

/*
 * Process a MESSAGE_SOURCE_FACTS. Check bools as bytes: any value but 0 and 1 in a bool would be
 * undefined.
 */
int client_handle_source_facts(struct symbolizer *s, size_t size)
{
	enum message_type type = request_first(&s->sent)->type;
	const struct client_object *o = request_first(&s->sent)->object;
	const char *p = s->payload;
	struct source_facts f;

	if (!s->memory || (type != MESSAGE_SOURCES && type != MESSAGE_LOOKUP) ||
	    size != sizeof(f) || p[offsetof(struct source_facts, wants_debug)] & ~1 ||
	    p[offsetof(struct source_facts, wants_common)] & ~1)
		return -EBADMSG;
	memcpy(&f, p, sizeof(f));
	if (!are_source_facts_valid(&f))
		return -EBADMSG;
	if (type == MESSAGE_SOURCES)
		request_end_sources(s, request_complete_first(s), &f);
	else if (s->events.sources && !o->forgotten)
		s->events.sources(s->events.context, o->id, &f);
	return 0;
}

/* Copy a text of a record to *to, append a NUL, and advance both pointers. */
static const char *copy_place_text(char **to, const char **from, uint16_t size)
{
	char *text = *to;

	memcpy(text, *from, size);
	text[size] = '\0';
	*from += size;
	*to += size + 1;
	return text;
}

/*
 * Decode the gathered record at at, and return the position of the next one. Texts are stored at
 * *room, which has one extra byte for each.
 */
static const char *read_place_record(struct source_place *out, const char *at, char **room)
{
	struct message_place m;

	memcpy(&m, at, sizeof(m));
	at += sizeof(m);
	*out = (struct source_place){.line = m.line, .declared_line = m.declared_line};
	out->name = copy_place_text(room, &at, m.name);
	out->system_name = copy_place_text(room, &at, m.system_name);
	out->declared = copy_place_text(room, &at, m.declared);
	out->file = copy_place_text(room, &at, m.file);
	return at;
}

/* Pass the places of the next question to the event, when all of them have arrived. */
static int pass_places(struct symbolizer *s, struct request *r, bool known)
{
	uint64_t address = r->lookups.items[r->replied].address;
	struct source_place places[SOURCE_PLACES_MAX];
	unsigned int count = known ? r->place_count : 0;
	const char *at = r->places.items;
	char *texts = NULL, *room;

	if (count) {
		texts = malloc(r->places.count + 4 * (size_t)count);
		if (!texts)
			return -ENOMEM;
	}
	room = texts;
	for (unsigned int i = 0; i < count; i++)
		at = read_place_record(&places[i], at, &room);
	r->replied++;
	r->places.count = r->place_count = 0;
	s->pending--;
	s->stats.replied++;
	if (s->events.places)
		s->events.places(s->events.context, r->object->id, address, places, count);
	free(texts);
	return 0;
}

int client_handle_place(struct symbolizer *s, struct request *r, size_t *at, size_t size)
{
	struct message_place m;
	size_t whole;

	if (!s->memory || size - *at < sizeof(m) || r->replied >= r->lookups.count)
		return -EBADMSG;
	memcpy(&m, s->payload + *at, sizeof(m));
	whole = sizeof(m) + m.name + m.system_name + m.declared + m.file;
	if (m.address != r->lookups.items[r->replied].address || whole > size - *at ||
	    m.name > REPLY_NAME_MAX || m.system_name > REPLY_NAME_MAX ||
	    m.declared > REPLY_NAME_MAX || m.file > REPLY_NAME_MAX ||
	    r->place_count == SOURCE_PLACES_MAX || m.line > INT32_MAX ||
	    m.declared_line > INT32_MAX || (!(m.flags & PLACE_KNOWN) && r->place_count))
		return -EBADMSG;
	if (vector_reserve(&r->places, whole) < 0)
		return -ENOMEM;
	memcpy(r->places.items + r->places.count, s->payload + *at, whole);
	r->places.count += whole;
	r->place_count++;
	s->stats.mangled += !!(m.flags & PLACE_MANGLED);
	*at += whole;
	return m.flags & PLACE_LAST ? pass_places(s, r, m.flags & PLACE_KNOWN) : 0;
}
