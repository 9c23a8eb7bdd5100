// SPDX-License-Identifier: Apache-2.0
/* Interning: stacks and frames, each under an id of its own. */
#include <errno.h>
#include <stdlib.h>

#include "capture/intern_private.h"

/* Entries per generation, of which there are two: 18 MiB in all once everything is full. */
#define STACK_ENTRIES (1 << 15)
#define PATH_ENTRIES (1 << 16)
#define NODE_ENTRIES (1 << 16)
#define FRAME_ENTRIES (1 << 16)
#define FUNCTION_ENTRIES (1 << 15)
#define FORESEEN_ENTRIES (1 << 15)

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
		n->foreseen = cache_new(FORESEEN_ENTRIES);
	}
	if (!n || !n->stacks || !n->paths || !n->nodes || !n->frames || !n->functions ||
	    !n->foreseen) {
		intern_free(n);
		return error_errno(err, -ENOMEM, "stack caches");
	}
	*ret = n;
	return 0;
}

void intern_free(struct intern *n)
{
	if (!n)
		return;
	intern_free_names(n);
	intern_free_places(n);
	memories_free(&n->memories);
	free(n->mangled);
	cache_free(n->stacks);
	cache_free(n->paths);
	cache_free(n->nodes);
	cache_free(n->frames);
	cache_free(n->functions);
	cache_free(n->foreseen);
	free(n);
}

/* Python's place tells frames of one code object apart, and code objects of one address. */
static int frame_of(struct intern *n, const struct frame_key *key, uint64_t *ret,
		    struct error *err)
{
	const struct object *o = key->object;
	uint64_t identity[] = {
		o ? o->id : 0,
		key->address,
		key->place,
		(uint64_t)key->loop << 40 | (uint64_t)key->kind << 32 | (o ? o->pass : 0),
	};
	struct cache_key hash = cache_hash(identity, sizeof(identity));
	int result;

	if (cache_get(n->frames, hash, ret)) {
		if (o)
			key->object->wanted = true;
		return 0;
	}
	*ret = ++n->last_frame;
	result = intern_new_frame(n, key, *ret, err);
	cache_put(n->frames, hash, *ret);
	return result;
}

static int push_frame(struct intern *n, const struct frame_key *key, uint64_t *stack,
		      struct error *err)
{
	uint64_t frame = 0, identity[2];
	struct cache_key hash;
	struct stack s = {.parent = *stack};
	int ret = frame_of(n, key, &frame, err);

	if (ret)
		return ret;
	identity[0] = *stack;
	identity[1] = s.frame = frame;
	hash = cache_hash(identity, sizeof(identity));
	if (cache_get(n->nodes, hash, stack))
		return 0;
	s.id = *stack = ++n->last_stack;
	cache_put(n->nodes, hash, s.id);
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

/* One native frame of user space. */
static struct frame_key user_frame(struct intern *n, const struct raw_stack *raw,
				   const struct path_frame *f)
{
	const struct space_mapping *m = space_find(raw->space, f->address);
	struct frame_key key = {.address = f->address, .kind = FRAME_NATIVE, .loop = f->loop};

	if (m && m->object && !m->object->generated) {
		key.object = m->object;
		key.address = f->address - m->start + m->offset;
	} else if (m && raw->process) {
		key.object = jit_of(n, raw->process, m);
		key.kind = FRAME_JIT;
	}
	return key;
}

static struct frame_key key_of(struct intern *n, const struct raw_stack *raw,
			       const struct path_frame *f)
{
	if (f->kind == PATH_USER)
		return user_frame(n, raw, f);
	if (f->kind == PATH_KERNEL)
		return (struct frame_key){
			.object = objects_kernel(n->objects),
			.address = f->address,
			.kind = FRAME_KERNEL,
		};
	return (struct frame_key){
		.object = raw->process ? intern_python_of(n, raw->process, raw->space) : NULL,
		.address = f->address,
		.place = f->place,
		.kind = FRAME_PYTHON,
	};
}

static int push_end(struct intern *n, enum stack_end end, uint64_t *stack, struct error *err)
{
	const struct frame_key key = {.address = end, .kind = FRAME_END};

	return push_frame(n, &key, stack, err);
}

/*
 * What words mean is the same in every state of the space of one version; what those of Python
 * mean, in one process only.
 */
static uint64_t context_of(const struct intern *n, const struct raw_stack *raw, uint64_t more)
{
	uint64_t context[] = {
		raw->space->version,
		n->epoch,
		(uint64_t)raw->python << 1 | (raw->process != NULL),
		raw->python && raw->process ? raw->process->id : 0,
		more,
	};

	return cache_hash(context, sizeof(context)).low;
}

/*
 * The keys of the path to each frame, every one made of the one before it. They do
 * not depend on what is looked up, so that all may be fetched at once.
 */
static void make_keys(struct intern *n, const struct raw_stack *raw)
{
	const struct path *p = &n->path;
	uint64_t context = context_of(n, raw, p->end);

	for (unsigned int i = 0; i < p->count; i++) {
		const struct path_frame *f = &p->frames[i];
		uint64_t block[] = {context, f->address, f->place,
				    (uint64_t)f->kind << 1 | f->loop};

		n->keys[i] = cache_hash(block, sizeof(block));
		cache_prefetch(n->paths, n->keys[i]);
		context = n->keys[i].high;
	}
}

/*
 * Samples of one program differ in some innermost frames only: the path to the
 * frame before them is known.
 */
static int push_path(struct intern *n, const struct raw_stack *raw, uint64_t *stack,
		     struct error *err)
{
	const struct path *p = &n->path;
	unsigned int i = p->count;
	int ret = 0;

	make_keys(n, raw);
	while (i && !cache_get(n->paths, n->keys[i - 1], stack))
		i--;
	if (!i && p->end != END_WALKED)
		ret = push_end(n, p->end, stack, err);
	for (; !ret && i < p->count; i++) {
		struct frame_key key = key_of(n, raw, &p->frames[i]);

		ret = push_frame(n, &key, stack, err);
		if (!ret)
			cache_put(n->paths, n->keys[i], *stack);
	}
	return ret;
}

/* All the words of a stack, and how they ended. */
static struct cache_key stack_key(const struct intern *n, const struct raw_stack *raw)
{
	uint64_t counts = (uint64_t)raw->kernel << 48 | (uint64_t)raw->user << 32 |
			  (uint64_t)raw->python_end << 8 | (uint64_t)raw->end;

	return cache_hash_in(context_of(n, raw, counts), raw->words,
			     (raw->kernel + raw->user + raw->python) * sizeof(uint64_t));
}

int intern_stack(struct intern *n, const struct raw_stack *raw, uint64_t *ret, bool *loops,
		 struct error *err)
{
	struct cache_key key = stack_key(n, raw);
	const struct path_space space = intern_path_space(raw->space);
	uint64_t stack = 0, known;
	int result;

	if (raw->process && raw->process->jit)
		raw->process->jit->wanted = true; /* the same addresses may hold other code by now */
	if (!cache_get(n->stacks, key, &known)) {
		path_make(&n->path, raw, &space);
		result = push_path(n, raw, &stack, err);
		if (result)
			return result;
		known = stack << 1 | n->path.loops;
		cache_put(n->stacks, key, known);
	}
	*ret = known >> 1;
	*loops = known & 1;
	return 0;
}

void intern_forget(struct intern *n)
{
	cache_clear(n->stacks);
	cache_clear(n->paths);
	cache_clear(n->nodes);
	cache_clear(n->frames);
	cache_clear(n->functions);
	if (n->placed)
		cache_clear(n->placed);
}
