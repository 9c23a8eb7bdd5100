// SPDX-License-Identifier: Apache-2.0
/* Requests the names of frames when they are new, and puts the frames with their names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/event.h"
#include "capture/clock.h"
#include "capture/intern_private.h"

/*
 * Maximum number of frames that wait for a later perf map or debug file, or for kallsyms to be read
 * again.
 */
#define MISSING_MAX (1 << 16)

void intern_forget_pending(struct intern *n, struct pending_name *w)
{
	n->names.missing -= w->missing;
	HASH_DEL(n->names.waiting, w);
	free(w);
}

void intern_free_names(struct intern *n)
{
	struct pending_name *w, *next;

	HASH_ITER (hh, n->names.waiting, w, next)
		intern_forget_pending(n, w);
	free(n->names.mangled);
}

static struct frame named_frame(const struct pending_name *w, const struct frame *name)
{
	return (struct frame){
		.id = w->frame,
		.kind = w->kind,
		.mapping = w->key.object,
		/* the first word of a Java frame has a tag */
		.address = w->key.address & ~(w->kind == FRAME_JAVA ? WIRE_TAG_MASK : 0),
		.function = name->function,
		.line = name->line,
		.flags = name->flags | (w->loop ? FRAME_FLAG_INTERPRETER : 0),
	};
}

int intern_put_named(struct intern *n, const struct pending_name *w, const struct frame *name,
		     struct error *err)
{
	const struct frame f = named_frame(w, name);

	return put_frame(n->sink, &f, err);
}

static int put_unnamed_frame(struct intern *n, const struct pending_name *w, struct error *err)
{
	const struct frame none = {0};

	return intern_put_named(n, w, &none, err);
}

static int request_name(struct intern *n, struct pending_name *w)
{
	w->requested = true;
	n->names.urgent |= w->kind == FRAME_JIT;
	if (w->kind == FRAME_PYTHON)
		return intern_python_request(&n->python, &w->key);
	if (w->kind == FRAME_JAVA)
		return intern_java_request(n, &w->key);
	return symbolizer_lookup(n->symbolizer, w->key.object, w->key.address);
}

static void note_missing(struct intern *n, struct pending_name *w)
{
	if (!w->missing && w->kind == FRAME_KERNEL)
		objects_miss_kernel_name(n->objects);
	n->names.missing += !w->missing;
	w->missing = w->emitted = true;
	w->requested = false;
}

/*
 * Put a frame without its name, and keep the frame waiting (within MISSING_MAX), because a perf map
 * may be written later.
 */
static int keep_for_later(struct intern *n, struct pending_name *w, struct error *err)
{
	int ret = w->emitted ? 0 : put_unnamed_frame(n, w, err);

	if (w->missing || n->names.missing < MISSING_MAX)
		note_missing(n, w);
	else
		intern_forget_pending(n, w);
	return ret;
}

/*
 * Record that a new frame waits for its name. Request the name now if the frame's object is open;
 * intern_object_updated() requests it when the object is opened later. Return 0 or a negative
 * errno.
 */
static int await_name(struct intern *n, const struct frame_key *key, uint64_t frame,
		      struct error *err)
{
	const struct object *o = key->object;
	struct pending_name *w = calloc(1, sizeof(*w)), *known = NULL;
	int ret = 0;

	if (!w)
		return -ENOMEM;
	w->key.object = o->id;
	w->key.address = key->address;
	w->key.place = key->kind == FRAME_PYTHON || key->kind == FRAME_JAVA ? key->place
		       : key->loop					    ? PLACE_LOOP
									    : PLACE_PLAIN;
	w->frame = frame;
	w->kind = key->kind;
	w->loop = key->loop;
	HASH_FIND(hh, n->names.waiting, &w->key, sizeof(w->key), known);
	/*
	 * The frame's id was evicted while its name was pending: the new frame takes the place of
	 * the old one, which is put without a name.
	 */
	if (known) {
		ret = known->emitted ? 0 : put_unnamed_frame(n, known, err);
		intern_forget_pending(n, known);
	}
	HASH_ADD(hh, n->names.waiting, key, sizeof(w->key), w);
	if (!HASH_HAS(hh, w)) {
		free(w);
		return -ENOMEM;
	}
	if (!ret && o->state == OBJECT_KNOWN)
		ret = request_name(n, w);
	else if (!ret && o->state == OBJECT_UNREADABLE)
		ret = keep_for_later(n, w, err);
	return ret;
}

int intern_new_frame(struct intern *n, const struct frame_key *key, uint64_t id, struct error *err)
{
	struct object *o = key->object;
	struct frame f = {
		.id = id,
		.kind = key->kind,
		.address = key->address & ~(key->kind == FRAME_JAVA ? WIRE_TAG_MASK : 0),
		.flags = key->loop ? FRAME_FLAG_INTERPRETER : 0,
	};

	if (o) {
		objects_need(n->objects, o);
		o->sampled = true;
		f.mapping = o->id;
	}
	if (o && (o->state != OBJECT_UNREADABLE || key->kind == FRAME_JIT))
		return await_name(n, key, id, err);
	return put_frame(n->sink, &f, err);
}

/*
 * Return the key of a function: a hash of its object, start, first line, file and name. Object and
 * start are not enough, since several Python functions may be at one address in turn.
 */
static struct cache_key function_key(uint64_t object, const struct symbol *s)
{
	uint64_t identity[] = {object, s->start, s->first_line};
	struct cache_key file = cache_hash_in(cache_hash(identity, sizeof(identity)).low, s->file,
					      s->file ? strlen(s->file) : 0);

	if (s->system_name && *s->system_name) /* methods of one name have signatures */
		file = cache_hash_in(file.low, s->system_name, strlen(s->system_name));
	return cache_hash_in(file.low, s->name, strlen(s->name));
}

int intern_function(struct intern *n, uint64_t object, const struct symbol *s, uint64_t *out,
		    struct error *err)
{
	struct cache_key key = function_key(object, s);
	struct function f = {
		.mapping = object,
		.name = s->name,
		.system_name = s->system_name,
		.file = s->file,
		.line = s->first_line,
		.address = s->start,
	};

	if (cache_get(n->functions, key, out))
		return 0;
	f.id = *out = ++n->last_function;
	cache_put(n->functions, key, f.id);
	return put_function(n->sink, &f, err);
}

/* Return whether a name that is missing now may become known later. */
static bool may_get_name(const struct intern *n, const struct pending_name *w)
{
	const struct object *o;

	if (w->kind != FRAME_NATIVE)
		return w->kind != FRAME_PYTHON && w->kind != FRAME_JAVA;
	o = objects_by_id(n->objects, w->key.object);
	return o && o->file.debug.awaited;
}

bool intern_take_urgent(struct intern *n)
{
	bool urgent = n->names.urgent || n->python.urgent;

	n->names.urgent = n->python.urgent = false;
	return urgent;
}

const char *intern_mangled(const struct intern *n)
{
	return n->names.mangled;
}

static void note_mangled(struct intern *n, const struct pending_name *w)
{
	const struct object *o = objects_by_id(n->objects, w->key.object);

	if (!n->names.mangled && o && o->path)
		n->names.mangled = strdup(o->path);
}

static void resolve_name(struct intern *n, struct pending_name *w, const struct symbol *s)
{
	struct frame f = {.flags = FRAME_FLAG_LOOKED_UP, .line = s->line};
	int ret = 0;

	if (s->flags & SYMBOL_MANGLED)
		note_mangled(n, w);
	if (s->flags & SYMBOL_START)
		f.flags |= FRAME_FLAG_START;
	if (s->flags & SYMBOL_FREED)
		f.flags |= FRAME_FLAG_FREED;
	if (s->flags & SYMBOL_FOUND)
		ret = intern_function(n, w->key.object, s, &f.function, &n->why);
	if (!ret)
		ret = intern_put_named(n, w, &f, &n->why);
	if (ret && !n->error)
		n->error = ret;
	if (!*s->name && may_get_name(n, w) && (w->missing || n->names.missing < MISSING_MAX)) {
		note_missing(n, w);
		return;
	}
	f = named_frame(w, &f);
	if (n->places.inlines && !ret)
		intern_request_places(n, &f, s);
	intern_forget_pending(n, w);
}

struct pending_name *intern_pending_name(const struct intern *n, uint64_t object, uint64_t address,
					 uint64_t place)
{
	const struct python_name key = {object, address, place};
	struct pending_name *w = NULL;

	HASH_FIND(hh, n->names.waiting, &key, sizeof(key), w);
	return w;
}

void intern_handle_symbol(struct intern *n, uint64_t object, uint64_t address,
			  const struct symbol *s)
{
	struct pending_name *w = intern_pending_name(n, object, address, s->place);

	if (w)
		resolve_name(n, w, s);
	w = s->place ? NULL : intern_pending_name(n, object, address, PLACE_LOOP);
	if (w && w->loop)
		resolve_name(n, w, s);
}

/*
 * Request the name of a frame whose object is open. If the object cannot be opened, put the frame
 * without a name; a frame of generated code waits for a later perf map. Return 0 or a negative
 * errno.
 */
static int request_or_give_up(struct intern *n, struct object *o, struct pending_name *w)
{
	int ret;

	if (o->state == OBJECT_KNOWN)
		return w->requested && !w->missing ? 0 : request_name(n, w);
	if (o->state != OBJECT_UNREADABLE)
		return 0;
	if (w->kind == FRAME_JIT)
		return keep_for_later(n, w, &n->why);
	ret = put_unnamed_frame(n, w, &n->why);
	intern_forget_pending(n, w);
	return ret;
}

void intern_object_updated(struct intern *n, struct object *o, bool changed)
{
	struct pending_name *w, *next;
	int ret = 0;

	if (changed)
		n->epoch++;
	intern_python_updated(&n->python, o);
	HASH_ITER (hh, n->names.waiting, w, next) {
		if (w->key.object != o->id)
			continue;
		ret = request_or_give_up(n, o, w);
		if (ret && !n->error)
			n->error = ret;
	}
}

/*
 * Return whether a waiting frame can no longer get a name: its file is forgotten, or the process of
 * its generated code has exited.
 */
static bool is_hopeless(const struct intern *n, const struct pending_name *w)
{
	const struct object *o = objects_by_id(n->objects, w->key.object);

	return w->missing && (!o || (o->kind == MAPPING_JIT && !o->users && !w->requested));
}

/*
 * Put a frame that will not get a name any more as unready. If the last reply had no name for the
 * frame, the frame is not unready, since more time would not have helped.
 */
static int put_last(struct intern *n, const struct pending_name *w, struct error *err)
{
	const struct frame unready = {.flags = FRAME_FLAG_UNREADY};

	if (w->missing && !w->requested)
		return 0;
	n->names.unready++;
	return intern_put_named(n, w, &unready, err);
}

uint64_t intern_unready(const struct intern *n)
{
	return n->names.unready;
}

int intern_tick(struct intern *n, bool last, struct error *err)
{
	struct pending_name *w, *next;
	int ret = n->error;

	if (ret)
		return error_set(err, ret, "%s", n->why.text);
	memories_tick(&n->python.memories, clock_boot_ns());
	HASH_ITER (hh, n->names.waiting, w, next) {
		if (last)
			ret = put_last(n, w, err);
		else if (!w->emitted)
			ret = put_unnamed_frame(n, w, err);
		if (ret)
			return ret;
		w->emitted = true;
		if (last || is_hopeless(n, w))
			intern_forget_pending(n, w);
	}
	return 0;
}
