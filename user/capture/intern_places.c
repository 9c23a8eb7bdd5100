// SPDX-License-Identifier: Apache-2.0
/*
 * Adds lines and inlined functions to frames (--inlines). A frame is first put with its name as
 * usual; when its places are known, the frame is put again, together with the functions inlined at
 * its address. A Java frame gets its name in the same way, and once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/event.h"
#include "capture/inlines.h"
#include "capture/intern_private.h"

#define PLACED_ENTRIES (1 << 15)
/* Maximum number of bytes of the frames that wait for inlines.c; most of the bytes are names. */
#define PENDING_PLACES_BYTES_MAX (16u << 20)

/* A frame as it was put, with its names after the struct. */
struct pending_places {
	struct {
		uint64_t object, address;
	} key;
	struct pending_places *same; /* next frame at the same address of the object */
	struct frame frame;
	const char *name, *system_name; /* names of the frame's function */
	uint64_t start; /* start of the frame's function */
	size_t bytes;
	UT_hash_handle hh;
	char texts[];
};

void intern_use_inlines(struct intern *n, struct inlines *inlines)
{
	n->places.placed = cache_new(PLACED_ENTRIES);
	if (n->places.placed)
		n->places.inlines = inlines;
}

static void forget_pending_places(struct intern *n, struct pending_places *p)
{
	while (p) {
		struct pending_places *same = p->same;

		n->places.pending_bytes -= p->bytes;
		free(p);
		p = same;
	}
}

void intern_free_places(struct intern *n)
{
	struct pending_places *p, *next;

	HASH_ITER (hh, n->places.pending, p, next) {
		HASH_DEL(n->places.pending, p);
		forget_pending_places(n, p);
	}
	cache_free(n->places.placed);
}

static struct pending_places *new_pending_places(struct intern *n, const struct frame *f,
						 const struct symbol *s)
{
	size_t name = strlen(s->name) + 1, system_name = strlen(s->system_name) + 1;
	size_t bytes = sizeof(struct pending_places) + name + system_name;
	struct pending_places *p;

	if (n->places.pending_bytes + bytes > PENDING_PLACES_BYTES_MAX)
		return NULL;
	p = calloc(1, bytes);
	if (!p)
		return NULL;
	p->key.object = f->mapping;
	p->key.address = f->address;
	p->frame = *f;
	p->start = s->start;
	p->bytes = bytes;
	p->name = memcpy(p->texts, s->name, name);
	p->system_name = memcpy(p->texts + name, s->system_name, system_name);
	n->places.pending_bytes += bytes;
	return p;
}

/*
 * Request the places of a frame of a file. Without room here or in inlines.c, the frame counts as
 * unrequested, and stays as it was put.
 */
void intern_request_places(struct intern *n, const struct frame *f, const struct symbol *s)
{
	const struct object *o = objects_by_id(n->objects, f->mapping);
	struct pending_places *p, *known = NULL;

	if (f->kind != FRAME_NATIVE || !o || o->kind != MAPPING_FILE)
		return;
	p = new_pending_places(n, f, s);
	if (!p) {
		inlines_count_unrequested(n->places.inlines);
		return;
	}
	HASH_FIND(hh, n->places.pending, &p->key, sizeof(p->key), known);
	if (known) { /* the address has been requested already */
		p->same = known->same;
		known->same = p;
		return;
	}
	HASH_ADD(hh, n->places.pending, key, sizeof(p->key), p);
	if (!HASH_HAS(hh, p)) {
		inlines_count_unrequested(n->places.inlines);
		forget_pending_places(n, p);
	} else if (inlines_request(n->places.inlines, f->mapping, f->address) < 0) {
		HASH_DEL(n->places.pending, p);
		forget_pending_places(n, p);
	}
}

/*
 * Put the frame's function again, with the file and line of its definition, unless that was done
 * before. If only debugging information has a name for the function, intern the function. own: the
 * outermost place, which is that of the function itself.
 */
static int place_function(struct intern *n, struct pending_places *p,
			  const struct source_place *own)
{
	const uint64_t identity[] = {p->frame.function};
	const struct symbol s = {
		.name = own->name,
		.system_name = own->system_name,
		.file = own->declared,
		.first_line = own->declared_line,
		.start = p->start,
	};
	const struct function f = {
		.id = p->frame.function,
		.mapping = p->frame.mapping,
		.name = p->name,
		.system_name = p->system_name,
		.file = own->declared,
		.line = own->declared_line,
		.address = p->start,
	};
	struct cache_key key;
	uint64_t none;

	if (!*p->name)
		return *own->name ? intern_function(n, p->frame.mapping, &s, &p->frame.function,
						    &n->why)
				  : 0;
	key = cache_hash(identity, sizeof(identity));
	if (!*own->declared || cache_get(n->places.placed, key, &none))
		return 0;
	cache_put(n->places.placed, key, 0);
	return put_function(n->sink, &f, &n->why);
}

static int put_inlined_at(struct intern *n, const struct pending_places *p,
			  const struct source_place *at, unsigned int depth, bool own)
{
	const struct symbol s = {
		.name = at->name,
		.system_name = at->system_name,
		.file = at->declared,
		.first_line = at->declared_line,
	};
	struct inlined i = {
		.frame = p->frame.id,
		.depth = depth,
		.function = own ? p->frame.function : 0,
		.file = at->file,
		.line = at->line,
	};
	int ret = 0;

	if (!own && *at->name)
		ret = intern_function(n, p->frame.mapping, &s, &i.function, &n->why);
	return ret ? ret : put_inlined(n->sink, &i, &n->why);
}

/*
 * Put the frame again with its line, and its places, unless no function is inlined and the line is
 * in the file of the function's definition.
 */
static int put_frame_places(struct intern *n, struct pending_places *p,
			    const struct source_place *places, unsigned int count)
{
	const struct source_place *own = &places[count - 1];
	int ret = place_function(n, p, own);

	p->frame.line = own->line;
	if (!ret)
		ret = put_frame(n->sink, &p->frame, &n->why);
	if (count == 1 && !strcmp(own->file, own->declared))
		return ret;
	for (unsigned int i = 0; !ret && i < count; i++)
		ret = put_inlined_at(n, p, &places[i], i, i + 1 == count);
	return ret;
}

void intern_handle_places(struct intern *n, uint64_t object, uint64_t address,
			  const struct source_place *places, unsigned int count)
{
	struct {
		uint64_t object, address;
	} key = {object, address};
	struct pending_places *p = NULL;
	int ret = 0;

	HASH_FIND(hh, n->places.pending, &key, sizeof(key), p);
	if (!p)
		return;
	HASH_DEL(n->places.pending, p);
	for (struct pending_places *at = p; count && at && !ret; at = at->same)
		ret = put_frame_places(n, at, places, count);
	if (ret && !n->error)
		n->error = ret;
	forget_pending_places(n, p);
}

int intern_java_request(struct intern *n, const struct python_name *f)
{
	n->names.urgent = true;
	return symbolizer_lookup_java(n->symbolizer, f->object, f->address, f->place);
}

int intern_prefetch_java(struct intern *n, const struct process_entry *p, const uint64_t *user,
			 unsigned int words)
{
	struct object *o = p->code.java;
	int ret = 0;

	if (!o || o->state != OBJECT_KNOWN)
		return 0;
	for (unsigned int i = 0; !ret && i + 1 < words; i++) {
		const struct python_name f = {o->id, user[i], user[i + 1]};
		uint64_t none, tag = user[i] >> WIRE_TAG_SHIFT;
		struct cache_key key;

		if (tag < WIRE_TAG_JAVA_COMPILED || tag > WIRE_TAG_JAVA_BLOB)
			continue;
		i++;
		key = cache_hash(&f, sizeof(f));
		if (cache_get(n->python.prefetched, key, &none))
			continue;
		ret = intern_java_request(n, &f);
		if (!ret)
			cache_put(n->python.prefetched, key, 0);
	}
	/* After other errors, the name is requested again when the frame is interned. */
	return ret == -ENOMEM ? ret : 0;
}

static int intern_method(struct intern *n, uint64_t object, const struct source_place *at,
			 uint64_t *out)
{
	const struct symbol s = {
		.name = at->name,
		.system_name = at->system_name,
		.file = at->declared,
	};

	return intern_function(n, object, &s, out, &n->why);
}

/* Put the methods of a frame, whose own is own. */
static int put_methods(struct intern *n, const struct pending_name *w, const struct java_places *p,
		       uint64_t own)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < p->count; i++) {
		struct inlined row = {
			.frame = w->frame,
			.depth = i,
			.function = own,
			.file = p->places[i].declared,
			.line = p->places[i].line,
		};

		if (i + 1 < p->count)
			ret = intern_method(n, w->key.object, &p->places[i], &row.function);
		if (!ret)
			ret = put_inlined(n->sink, &row, &n->why);
	}
	return ret;
}

void intern_handle_java(struct intern *n, uint64_t object, const struct java_places *p)
{
	struct pending_name *w = intern_pending_name(n, object, p->address, p->place);
	struct frame f = {.flags = FRAME_FLAG_LOOKED_UP};
	int ret = 0;

	if (!w)
		return;
	f.flags |= (p->freed ? FRAME_FLAG_FREED : 0) | (p->inferred ? FRAME_FLAG_INFERRED : 0);
	if (p->count) {
		const struct source_place *own = &p->places[p->count - 1];

		f.line = own->line;
		ret = intern_method(n, object, own, &f.function);
	}
	if (!ret)
		ret = intern_put_named(n, w, &f, &n->why);
	if (!ret && p->count > 1)
		ret = put_methods(n, w, p, f.function);
	if (ret && !n->error)
		n->error = ret;
	intern_forget_pending(n, w);
}
