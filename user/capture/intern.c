// SPDX-License-Identifier: Apache-2.0
/* Interning: stacks, frames and functions, each under an id of its own. */
#include "capture/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/cache.h"
#include "bpf/event.h"

/* Entries per generation: 24 bytes each, two generations. */
#define STACK_ENTRIES (1 << 15)
#define PATH_ENTRIES (1 << 16)
#define NODE_ENTRIES (1 << 16)
#define FRAME_ENTRIES (1 << 16)
#define FUNCTION_ENTRIES (1 << 15)
/* Frames that may wait for a later perf map, or for kallsyms to be read again. */
#define MOST_MISSING (1 << 16)

/* A frame whose name has been asked for. */
struct waiting {
	struct {
		uint64_t object, address;
	} key;
	uint64_t frame; /* frame.id */
	enum frame_kind kind;
	bool emitted; /* without its name */
	bool asked; /* and not answered yet */
	bool missing; /* generated code or a module's: a later perf map or kallsyms may tell */
	UT_hash_handle hh;
};

struct intern {
	struct objects *objects;
	struct symbolizer *symbolizer;
	struct sink *sink;
	struct cache *stacks; /* words in a version of a space -> stack.id */
	struct cache *paths; /* the same of the words of callers only */
	struct cache *nodes; /* parent, frame -> stack.id */
	struct cache *frames; /* object, address, pass -> frame.id */
	struct cache *functions; /* object, start, name -> function.id */
	struct waiting *waiting;
	unsigned int missing; /* of those */
	uint64_t last_stack, last_frame, last_function;
	bool urgent; /* a name was asked for that cannot wait */
	uint64_t epoch; /* counts renewed objects */
	int error; /* of the sink, while naming */
	struct error why;
};

int intern_new(struct intern **ret, struct objects *objects, struct symbolizer *symbolizer,
	       struct sink *sink, struct error *err)
{
	struct intern *n = calloc(1, sizeof(*n));

	if (n) {
		n->objects = objects;
		n->symbolizer = symbolizer;
		n->sink = sink;
		n->stacks = cache_new(STACK_ENTRIES);
		n->paths = cache_new(PATH_ENTRIES);
		n->nodes = cache_new(NODE_ENTRIES);
		n->frames = cache_new(FRAME_ENTRIES);
		n->functions = cache_new(FUNCTION_ENTRIES);
	}
	if (!n || !n->stacks || !n->paths || !n->nodes || !n->frames || !n->functions) {
		intern_free(n);
		return error_errno(err, -ENOMEM, "stack caches");
	}
	*ret = n;
	return 0;
}

static void forget_waiting(struct intern *n, struct waiting *w)
{
	n->missing -= w->missing;
	HASH_DEL(n->waiting, w);
	free(w);
}

void intern_free(struct intern *n)
{
	struct waiting *w, *next;

	if (!n)
		return;
	HASH_ITER(hh, n->waiting, w, next)
		forget_waiting(n, w);
	cache_free(n->stacks);
	cache_free(n->paths);
	cache_free(n->nodes);
	cache_free(n->frames);
	cache_free(n->functions);
	free(n);
}

static int put_waiting(struct intern *n, const struct waiting *w, uint64_t function,
		       uint64_t flags, struct error *err)
{
	struct frame f = {
		.id = w->frame,
		.kind = w->kind,
		.mapping = w->key.object,
		.address = w->key.address,
		.function = function,
		.flags = flags,
	};

	return put_frame(n->sink, &f, err);
}

static int ask(struct intern *n, struct waiting *w)
{
	w->asked = true;
	n->urgent |= w->kind == FRAME_JIT;
	return symbolizer_ask(n->symbolizer, w->key.object, w->key.address);
}

static void note_missing(struct intern *n, struct waiting *w)
{
	if (!w->missing && w->kind == FRAME_KERNEL)
		objects_kernel(n->objects)->missed = true;
	n->missing += !w->missing;
	w->missing = w->emitted = true;
	w->asked = false;
}

/* Its perf map may be written later: put it as it is, and wait within a bound. */
static int keep_for_later(struct intern *n, struct waiting *w, struct error *err)
{
	int ret = w->emitted ? 0 : put_waiting(n, w, 0, 0, err);

	if (w->missing || n->missing < MOST_MISSING)
		note_missing(n, w);
	else
		forget_waiting(n, w);
	return ret;
}

/* Remember that a new frame waits for its name, and ask for it once its object is open. */
static int await_name(struct intern *n, struct object *o, enum frame_kind kind, uint64_t address,
		      uint64_t frame, struct error *err)
{
	struct waiting *w = calloc(1, sizeof(*w)), *known = NULL;
	int ret = 0;

	if (!w)
		return -ENOMEM;
	w->key.object = o->id;
	w->key.address = address;
	w->frame = frame;
	w->kind = kind;
	HASH_FIND(hh, n->waiting, &w->key, sizeof(w->key), known);
	if (known) { /* it was forgotten while it waited: the new frame takes its place */
		ret = known->emitted ? 0 : put_waiting(n, known, 0, 0, err);
		forget_waiting(n, known);
	}
	HASH_ADD(hh, n->waiting, key, sizeof(w->key), w);
	if (!ret && o->state == OBJECT_KNOWN)
		ret = ask(n, w);
	else if (!ret && o->state == OBJECT_UNREADABLE)
		ret = keep_for_later(n, w, err);
	return ret;
}

static int new_frame(struct intern *n, struct object *o, enum frame_kind kind, uint64_t address,
		     uint64_t id, struct error *err)
{
	struct frame f = {.id = id, .kind = kind, .address = address};

	if (o) {
		objects_need(n->objects, o);
		o->met = true;
		f.mapping = o->id;
	}
	if (o && (o->state != OBJECT_UNREADABLE || kind == FRAME_JIT))
		return await_name(n, o, kind, address, id, err);
	return put_frame(n->sink, &f, err);
}

static int frame_of(struct intern *n, struct object *o, enum frame_kind kind, uint64_t address,
		    uint64_t *ret, struct error *err)
{
	uint64_t identity[] = {o ? o->id : 0, address, (uint64_t)kind << 32 | (o ? o->pass : 0)};
	struct cache_key key = cache_hash(identity, sizeof(identity));
	int result;

	if (cache_get(n->frames, key, ret)) {
		if (o)
			o->wanted = true;
		return 0;
	}
	*ret = ++n->last_frame;
	result = new_frame(n, o, kind, address, *ret, err);
	cache_put(n->frames, key, *ret);
	return result;
}

static int push_frame(struct intern *n, uint64_t frame, uint64_t *stack, struct error *err)
{
	uint64_t identity[] = {*stack, frame};
	struct cache_key key = cache_hash(identity, sizeof(identity));
	struct stack s = {.parent = *stack, .frame = frame};

	if (cache_get(n->nodes, key, stack))
		return 0;
	s.id = *stack = ++n->last_stack;
	cache_put(n->nodes, key, s.id);
	return put_stack(n->sink, &s, err);
}

/* The object of generated code is made when it is first met. */
static struct object *jit_of(struct intern *n, struct process_entry *p,
			     const struct space_mapping *m)
{
	struct mapped where = {
		.pid = p->pid,
		.parent = p->parent,
		.born = p->birth >= BIRTH_SCANNED ? p->born : 0,
		.start = m->start,
		.end = m->end,
	};

	if (!p->jit) {
		p->jit = objects_jit(n->objects, &where, p->id);
		if (p->jit)
			objects_use(p->jit);
	}
	return p->jit;
}

/* The address of a word of the user's part, and whether it is one to return to. */
static uint64_t pc_of(uint64_t word, bool *caller)
{
	*caller &= word >> WIRE_TAG_SHIFT != WIRE_TAG_EXACT;
	return word & ((1ULL << WIRE_TAG_SHIFT) - 1);
}

/*
 * One native frame of user space. A caller's word is a return address, which
 * may lie behind its function: the address stored lies within the call.
 */
static int push_user(struct intern *n, const struct raw_stack *raw, uint64_t word, bool caller,
		     uint64_t *stack, struct error *err)
{
	uint64_t frame = 0, address = pc_of(word, &caller) - caller;
	const struct space_mapping *m = space_find(raw->space, address);
	struct object *object = NULL;
	enum frame_kind kind = FRAME_NATIVE;
	int ret;

	if (m && m->object && !m->object->generated) {
		object = m->object;
		address = address - m->start + m->offset;
	} else if (m && raw->process) {
		object = jit_of(n, raw->process, m);
		kind = FRAME_JIT;
	}
	ret = frame_of(n, object, kind, address, &frame, err);
	return ret ? ret : push_frame(n, frame, stack, err);
}

static int push_kernel(struct intern *n, uint64_t pc, bool caller, uint64_t *stack,
		       struct error *err)
{
	uint64_t frame = 0;
	int ret = frame_of(n, objects_kernel(n->objects), FRAME_KERNEL, pc - caller, &frame, err);

	return ret ? ret : push_frame(n, frame, stack, err);
}

static int push_end(struct intern *n, enum stack_end end, uint64_t *stack, struct error *err)
{
	uint64_t frame = 0;
	int ret = frame_of(n, NULL, FRAME_END, end, &frame, err);

	return ret ? ret : push_frame(n, frame, stack, err);
}

/*
 * How many of the user frames are frames: a chain of frame pointers that went
 * through code built without them yields numbers that are no addresses of
 * code. The innermost frame is where the thread stood, known or not.
 */
static unsigned int true_frames(const struct space *space, const uint64_t *user, unsigned int count)
{
	unsigned int i = 1;

	if (!space->mappings.count)
		return count; /* nothing is known of this process: believe the walk */
	for (bool caller = true; i < count; i++, caller = true) {
		uint64_t pc = pc_of(user[i], &caller);

		if (!space_find(space, pc - caller))
			break;
	}
	return i < count ? i : count;
}

/* A stack, outermost frame first: the user's part, then the kernel's. */
struct path {
	const struct raw_stack *raw;
	unsigned int frames; /* of the user's part, as far as they are any */
	unsigned int count; /* of all */
	enum stack_end end;
};

static struct path path_of(const struct raw_stack *raw)
{
	struct path p = {.raw = raw, .end = raw->end};

	p.frames = true_frames(raw->space, raw->words + raw->kernel, raw->user);
	p.count = p.frames + raw->kernel;
	if (p.frames < raw->user)
		p.end = END_UNMAPPED;
	return p;
}

/* A word of the path; innermost: of its part, the address at which it was left by no call. */
static uint64_t word_of(const struct path *p, unsigned int i, bool *innermost)
{
	const struct raw_stack *raw = p->raw;
	unsigned int word = i < p->frames ? p->frames - 1 - i : p->count - 1 - i;

	*innermost = !word;
	return raw->words[i < p->frames ? raw->kernel + word : word];
}

static int push_word(struct intern *n, const struct path *p, unsigned int i, uint64_t *stack,
		     struct error *err)
{
	bool innermost;
	uint64_t word = word_of(p, i, &innermost);

	return i < p->frames ? push_user(n, p->raw, word, !innermost, stack, err) :
			       push_kernel(n, word, !innermost, stack, err);
}

/* What words mean is the same in every state of the space of one version. */
static uint64_t context_of(const struct intern *n, const struct raw_stack *raw, enum stack_end end)
{
	return raw->space->version * 0x9e3779b97f4a7c15ULL + n->epoch * 0xc2b2ae3d27d4eb4fULL +
	       (uint64_t)end * 2 + (raw->process != NULL);
}

/*
 * The keys of the path to each frame, every one made of the one before it. They do
 * not depend on what is looked up, so that all may be fetched at once.
 */
static void make_keys(const struct intern *n, const struct path *p, struct cache_key *keys)
{
	uint64_t context = context_of(n, p->raw, p->end);

	for (unsigned int i = 0; i < p->count; i++) {
		bool innermost;
		uint64_t word = word_of(p, i, &innermost);
		uint64_t block[] = {context, word, (uint64_t)innermost << 1 | (i < p->frames)};

		keys[i] = cache_hash(block, sizeof(block));
		cache_prefetch(n->paths, keys[i]);
		context = keys[i].high;
	}
}

/*
 * Samples of one program differ in some innermost frames only: the path to the
 * frame before them is known.
 */
static int push_path(struct intern *n, const struct path *p, uint64_t *stack, struct error *err)
{
	struct cache_key keys[WIRE_MAX_USER + WIRE_MAX_KERNEL];
	unsigned int i = p->count;
	int ret = 0;

	make_keys(n, p, keys);
	while (i && !cache_get(n->paths, keys[i - 1], stack))
		i--;
	if (!i && p->end != END_WALKED)
		ret = push_end(n, p->end, stack, err);
	for (; !ret && i < p->count; i++) {
		ret = push_word(n, p, i, stack, err);
		if (!ret)
			cache_put(n->paths, keys[i], *stack);
	}
	return ret;
}

int intern_stack(struct intern *n, const struct raw_stack *raw, uint64_t *ret,
		 struct error *err)
{
	uint64_t context = context_of(n, raw, raw->end) + ((uint64_t)raw->kernel << 32);
	struct cache_key key = cache_hash_in(context, raw->words,
					     (raw->kernel + raw->user) * sizeof(uint64_t));
	struct path path;
	uint64_t stack = 0;
	int result;

	if (raw->process && raw->process->jit)
		raw->process->jit->wanted = true; /* the same addresses may hold other code by now */
	if (cache_get(n->stacks, key, ret))
		return 0;
	path = path_of(raw);
	result = push_path(n, &path, &stack, err);
	if (result)
		return result;
	cache_put(n->stacks, key, stack);
	*ret = stack;
	return 0;
}

static int function_of(struct intern *n, uint64_t object, const struct symbol *s, uint64_t *ret,
		       struct error *err)
{
	uint64_t identity[] = {object, s->start};
	struct cache_key key = cache_hash_in(cache_hash(identity, sizeof(identity)).low, s->name,
					     strlen(s->name));
	struct function f = {.mapping = object, .name = s->name, .system_name = s->system_name};

	if (cache_get(n->functions, key, ret))
		return 0;
	f.id = *ret = ++n->last_function;
	cache_put(n->functions, key, f.id);
	return put_function(n->sink, &f, err);
}

/* Whether a name that is not there may be there later. */
static bool may_come(const struct intern *n, const struct waiting *w)
{
	const struct object *o;

	if (w->kind != FRAME_NATIVE)
		return true;
	o = objects_by_id(n->objects, w->key.object);
	return o && o->debug.awaited;
}

bool intern_take_urgent(struct intern *n)
{
	bool urgent = n->urgent;

	n->urgent = false;
	return urgent;
}

void intern_named(struct intern *n, uint64_t object, uint64_t address, const struct symbol *s)
{
	struct {
		uint64_t object, address;
	} key = {object, address};
	struct waiting *w = NULL;
	uint64_t function = 0, flags = FRAME_FLAG_ASKED;
	int ret = 0;

	HASH_FIND(hh, n->waiting, &key, sizeof(key), w);
	if (!w)
		return;
	if (s->flags & SYMBOL_START)
		flags |= FRAME_FLAG_START;
	if (s->flags & SYMBOL_FOUND)
		ret = function_of(n, object, s, &function, &n->why);
	if (!ret)
		ret = put_waiting(n, w, function, flags, &n->why);
	if (ret && !n->error)
		n->error = ret;
	if (!function && may_come(n, w) && (w->missing || n->missing < MOST_MISSING))
		note_missing(n, w);
	else
		forget_waiting(n, w);
}

/* The object is open, or cannot be opened: what waited for that is asked, or given up. */
static int ask_or_give_up(struct intern *n, struct object *o, struct waiting *w)
{
	int ret;

	if (o->state == OBJECT_KNOWN)
		return w->asked && !w->missing ? 0 : ask(n, w);
	if (o->state != OBJECT_UNREADABLE)
		return 0;
	if (w->kind == FRAME_JIT)
		return keep_for_later(n, w, &n->why);
	ret = put_waiting(n, w, 0, 0, &n->why);
	forget_waiting(n, w);
	return ret;
}

void intern_renewed(struct intern *n, struct object *o, bool changed)
{
	struct waiting *w, *next;
	int ret = 0;

	if (changed)
		n->epoch++;
	HASH_ITER(hh, n->waiting, w, next) {
		if (w->key.object != o->id)
			continue;
		ret = ask_or_give_up(n, o, w);
		if (ret && !n->error)
			n->error = ret;
	}
}

/* Nobody can tell any more: the file is forgotten, or the process that generated it gone. */
static bool is_hopeless(const struct intern *n, const struct waiting *w)
{
	const struct object *o = objects_by_id(n->objects, w->key.object);

	return w->missing && (!o || (o->kind == MAPPING_JIT && !o->users && !w->asked));
}

void intern_forget(struct intern *n)
{
	cache_clear(n->stacks);
	cache_clear(n->paths);
	cache_clear(n->nodes);
	cache_clear(n->frames);
	cache_clear(n->functions);
}

int intern_tick(struct intern *n, bool last, struct error *err)
{
	struct waiting *w, *next;
	int ret = n->error;

	if (ret)
		return error_set(err, ret, "%s", n->why.text);
	HASH_ITER(hh, n->waiting, w, next) {
		if (!w->emitted)
			ret = put_waiting(n, w, 0, 0, err);
		if (ret)
			return ret;
		w->emitted = true;
		if (last || is_hopeless(n, w))
			forget_waiting(n, w);
	}
	return 0;
}
