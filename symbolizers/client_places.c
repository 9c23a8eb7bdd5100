// SPDX-License-Identifier: Apache-2.0
/* Request lines and inlined functions from a worker of sources, and check its replies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/client_private.h"

/* The largest errno value. */
#define ERRNO_MAX 4095

int symbolizer_sources(struct symbolizer *s, uint64_t object)
{
	struct object *o = object_lookup(s, object);

	if (!o || o->kind != OBJECT_ELF)
		return -ENOENT;
	object_touch(s, o);
	return request_put(s, o, MESSAGE_SOURCES);
}

void sources_end(struct symbolizer *s, struct request *r, const struct source_facts *f)
{
	struct object *o = r->object;

	if (s->events.sources && !o->forgotten)
		s->events.sources(s->events.context, o->id, f);
	request_free(r);
}

static bool is_text(const char *text, size_t size)
{
	return strnlen(text, size) < size;
}

/*
 * Return whether the facts are valid. Their texts become parts of paths that a privileged process
 * opens; that process checks them again.
 */
static bool is_sound(const struct source_facts *f)
{
	return f->status <= 0 && f->status >= -ERRNO_MAX &&
	       is_word(f->build_id, sizeof(f->build_id), "0123456789abcdef") &&
	       is_word(f->common_id, sizeof(f->common_id), "0123456789abcdef") &&
	       is_text(f->common, sizeof(f->common)) &&
	       is_text(f->debuglink, sizeof(f->debuglink)) && !strchr(f->debuglink, '/');
}

/*
 * Process a MESSAGE_SOURCE_FACTS. Check bools as bytes: any value but 0 and 1 in a bool would be
 * undefined.
 */
int sources_take(struct symbolizer *s, size_t size)
{
	enum message_type type = first_request(&s->sent)->type;
	const struct object *o = first_request(&s->sent)->object;
	const char *p = s->payload;
	struct source_facts f;

	if (!s->memory || (type != MESSAGE_SOURCES && type != MESSAGE_ASK) || size != sizeof(f) ||
	    p[offsetof(struct source_facts, wants_debug)] & ~1 ||
	    p[offsetof(struct source_facts, wants_common)] & ~1)
		return -EBADMSG;
	memcpy(&f, p, sizeof(f));
	if (!is_sound(&f))
		return -EBADMSG;
	if (type == MESSAGE_SOURCES)
		sources_end(s, request_take(s), &f);
	else if (s->events.sources && !o->forgotten)
		s->events.sources(s->events.context, o->id, &f);
	return 0;
}

/* Copy a text of a record to *to, append a NUL, and advance both pointers. */
static const char *take_text(char **to, const char **from, uint16_t size)
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
static const char *read_place(struct source_place *ret, const char *at, char **room)
{
	struct message_place m;

	memcpy(&m, at, sizeof(m));
	at += sizeof(m);
	*ret = (struct source_place){.line = m.line, .declared_line = m.declared_line};
	ret->name = take_text(room, &at, m.name);
	ret->system_name = take_text(room, &at, m.system_name);
	ret->declared = take_text(room, &at, m.declared);
	ret->file = take_text(room, &at, m.file);
	return at;
}

/* Pass the places of the next question to the event, when all of them have arrived. */
static int tell(struct symbolizer *s, struct request *r, bool known)
{
	uint64_t address = r->questions.items[r->answered].address;
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
		at = read_place(&places[i], at, &room);
	r->answered++;
	r->places.count = r->place_count = 0;
	s->pending--;
	s->stats.answered++;
	if (s->events.places)
		s->events.places(s->events.context, r->object->id, address, places, count);
	free(texts);
	return 0;
}

int place_take(struct symbolizer *s, struct request *r, size_t *at, size_t size)
{
	struct message_place m;
	size_t whole;

	if (!s->memory || size - *at < sizeof(m) || r->answered >= r->questions.count)
		return -EBADMSG;
	memcpy(&m, s->payload + *at, sizeof(m));
	whole = sizeof(m) + m.name + m.system_name + m.declared + m.file;
	if (m.address != r->questions.items[r->answered].address || whole > size - *at ||
	    m.name > ANSWER_NAME_MAX || m.system_name > ANSWER_NAME_MAX ||
	    m.declared > ANSWER_NAME_MAX || m.file > ANSWER_NAME_MAX ||
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
	return m.flags & PLACE_LAST ? tell(s, r, m.flags & PLACE_KNOWN) : 0;
}
