// SPDX-License-Identifier: Apache-2.0
/*
 * Requests the methods of Java frames, and puts the frames with them. Methods that the compiler
 * inlined are put as the functions inlined at the frame's address.
 */
#include <errno.h>

#include "bpf/event.h"
#include "capture/intern_private.h"

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
