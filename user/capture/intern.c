// SPDX-License-Identifier: Apache-2.0
/* Interns stacks and frames, each under an id of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/intern_private.h"
#include "symbolizers/python_file.h"

/*
 * Number of entries per generation; each cache has two generations. All these caches together take
 * 14 MiB when full.
 */
#define WORDS_ENTRIES (1 << 15)
#define STACK_ENTRIES (1 << 16)
#define FRAME_ENTRIES (1 << 16)
#define FUNCTION_ENTRIES (1 << 15)
#define PREFETCHED_ENTRIES (1 << 15)

/*
 * The key of an empty path is ROOT plus the stack's end; the keys of longer paths are computed from
 * it.
 */
#define ROOT 1

int intern_new(struct intern **out, struct objects *objects, struct symbolizer *symbolizer,
	       struct sink *sink, struct error *err)
{
	struct intern *n = calloc(1, sizeof(*n));

	if (n) {
		n->objects = n->python.objects = objects;
		n->symbolizer = n->python.symbolizer = symbolizer;
		n->sink = sink;
		n->words = cache_new(WORDS_ENTRIES);
		n->stacks = cache_new(STACK_ENTRIES);
		n->frames = cache_new(FRAME_ENTRIES);
		n->functions = cache_new(FUNCTION_ENTRIES);
		n->python.prefetched = cache_new(PREFETCHED_ENTRIES);
	}
	if (!n || !n->words || !n->stacks || !n->frames || !n->functions || !n->python.prefetched) {
		intern_free(n);
		return error_errno(err, -ENOMEM, "stack caches");
	}
	*out = n;
	return 0;
}

void intern_free(struct intern *n)
{
	if (!n)
		return;
	intern_free_names(n);
	intern_free_places(n);
	memories_free(&n->python.memories);
	cache_free(n->words);
	cache_free(n->stacks);
	cache_free(n->frames);
	cache_free(n->functions);
	cache_free(n->python.prefetched);
	free(n);
}

/*
 * Return the key of a frame. The place of a Python frame distinguishes frames of one code object,
 * and code objects at one address. before: hash of the path that leads to the frame; 0 for the
 * frame alone.
 */
static struct cache_key frame_key_hash(const struct frame_key *key, uint64_t before)
{
	const struct object *o = key->object;
	uint64_t identity[] = {
		before,
		o ? o->id : 0,
		key->address,
		key->place,
		(uint64_t)key->loop << 40 | (uint64_t)key->kind << 32 | (o ? o->pass : 0),
	};

	return cache_hash(identity, sizeof(identity));
}

/* A frame to be pushed, with its key in the cache of frames. */
struct new_frame {
	struct frame_key key;
	struct cache_key hash;
};

static int intern_frame_id(struct intern *n, const struct frame_key *key, struct cache_key hash,
			   uint64_t *out, struct error *err)
{
	int ret;

	if (cache_get(n->frames, hash, out)) {
		if (key->object)
			key->object->wanted = true;
		return 0;
	}
	*out = ++n->last_frame;
	ret = intern_new_frame(n, key, *out, err);
	cache_put(n->frames, hash, *out);
	return ret;
}

/*
 * Put a new stack, which is *stack and one more frame, and store its id in *stack. path: key of the
 * new stack in the cache of stacks.
 */
static int push_frame(struct intern *n, const struct new_frame *f, struct cache_key path,
		      uint64_t *stack, struct error *err)
{
	struct stack s = {.parent = *stack};
	int ret = intern_frame_id(n, &f->key, f->hash, &s.frame, err);

	if (ret)
		return ret;
	s.id = *stack = ++n->last_stack;
	cache_put(n->stacks, path, s.id);
	return put_stack(n->sink, &s, err);
}

/*
 * Return the object of a process's generated code, made when a sample first has a frame in such
 * code. m: the mapping with that frame. NULL without memory.
 */
static struct object *intern_jit_object(struct intern *n, struct process_entry *p,
					const struct space_mapping *m)
{
	struct mapped_place at = process_entry_place(p);

	at.start = m->start;
	at.end = m->end;
	if (!p->code.jit) {
		p->code.jit = objects_new_jit(n->objects, &at);
		if (p->code.jit)
			objects_use(p->code.jit);
	}
	return p->code.jit;
}

/* Return the key of one native frame of user space. */
static struct frame_key user_frame_key(struct intern *n, const struct raw_stack *raw,
				       const struct path_frame *f)
{
	const struct space_mapping *m = space_find(raw->space, f->address);
	struct frame_key key = {.address = f->address, .kind = FRAME_NATIVE, .loop = f->loop};

	if (m && m->object && !m->object->file.generated) {
		key.object = m->object;
		key.address = f->address - m->start + m->offset;
	} else if (m && raw->process) {
		key.object = intern_jit_object(n, raw->process, m);
		key.kind = FRAME_JIT;
	}
	return key;
}

static struct frame_key path_frame_key(struct intern *n, const struct raw_stack *raw,
				       const struct path_frame *f)
{
	if (f->kind == PATH_USER)
		return user_frame_key(n, raw, f);
	if (f->kind == PATH_KERNEL)
		return (struct frame_key){
			.object = objects_kernel(n->objects),
			.address = f->address,
			.kind = FRAME_KERNEL,
		};
	if (f->kind == PATH_JAVA)
		return (struct frame_key){
			.object = raw->process ? raw->process->code.java : NULL,
			.address = f->address,
			.place = f->place,
			.kind = FRAME_JAVA,
		};
	return (struct frame_key){
		.object = raw->process ? intern_python_of(&n->python, raw->process, raw->space)
				       : NULL,
		.address = f->address,
		.place = f->place,
		.kind = FRAME_PYTHON,
	};
}

static int push_end(struct intern *n, enum stack_end end, uint64_t *stack, struct error *err)
{
	struct new_frame f = {.key = {.address = end, .kind = FRAME_END}};
	struct cache_key path = frame_key_hash(&f.key, ROOT);

	f.hash = frame_key_hash(&f.key, 0);
	return cache_get(n->stacks, path, stack) ? 0 : push_frame(n, &f, path, stack, err);
}

/*
 * Return the hash of the context that gives words their meaning. Native words mean the same in all
 * processes whose space has the same version, Python's and Java's words only in one process. more:
 * a further number on which the context depends.
 */
static uint64_t stack_context(const struct intern *n, const struct raw_stack *raw, uint64_t more)
{
	uint64_t context[] = {
		raw->space->version,
		n->epoch,
		(uint64_t)raw->python << 1 | (raw->process != NULL),
		(raw->python || raw->java) && raw->process ? raw->process->id : 0,
		more,
	};

	return cache_hash(context, sizeof(context)).low;
}

static bool same_frame(const struct path_frame *a, const struct path_frame *b)
{
	return a->address == b->address && a->place == b->place && a->kind == b->kind &&
	       a->loop == b->loop;
}

/* Count the outermost frames that equal those of the previous stack in the same context. */
static unsigned int shared_frames(const struct trail *t, const struct path *p, uint64_t context)
{
	unsigned int i = 0;

	if (t->context != context)
		return 0;
	while (i < p->count && i < t->count && same_frame(&p->frames[i], &t->nodes[i].frame))
		i++;
	return i;
}

/*
 * Compute the path keys of the frames from index shared on, each from the key of the path before.
 * This needs no lookup in a cache, so all cache entries can be prefetched at once.
 */
static void compute_path_keys(struct intern *n, const struct raw_stack *raw, struct trail *t,
			      unsigned int shared)
{
	const struct path *p = &n->path;
	uint64_t before = shared ? t->nodes[shared - 1].path.high : ROOT + p->end;

	for (unsigned int i = shared; i < p->count; i++) {
		struct trail_node *node = &t->nodes[i];
		const struct frame_key key = path_frame_key(n, raw, &p->frames[i]);

		node->frame = p->frames[i];
		node->path = frame_key_hash(&key, before);
		node->stack = 0;
		cache_prefetch(n->stacks, node->path);
		before = node->path.high;
	}
	t->count = p->count;
}

/* Count the outermost frames whose path is already known as a stack. */
static unsigned int known_frames(const struct intern *n, struct trail *t)
{
	unsigned int i = t->count;

	for (; i; i--) {
		struct trail_node *node = &t->nodes[i - 1];

		if (node->stack || cache_get(n->stacks, node->path, &node->stack))
			break;
	}
	return i;
}

/* Number of frames whose cache entries are prefetched together. */
#define PREFETCHED_FRAMES 16

/* Push up to PREFETCHED_FRAMES frames of n->path, from index first on. */
static int push_prefetched_frames(struct intern *n, const struct raw_stack *raw, struct trail *t,
				  unsigned int first, struct error *err)
{
	unsigned int count =
		t->count - first < PREFETCHED_FRAMES ? t->count - first : PREFETCHED_FRAMES;
	uint64_t stack = first ? t->nodes[first - 1].stack : t->root;
	struct new_frame frames[PREFETCHED_FRAMES];
	int ret = 0;

	for (unsigned int i = 0; i < count; i++) {
		frames[i].key = path_frame_key(n, raw, &n->path.frames[first + i]);
		frames[i].hash = frame_key_hash(&frames[i].key, 0);
		cache_prefetch(n->frames, frames[i].hash);
	}
	for (unsigned int i = 0; !ret && i < count; i++) {
		struct trail_node *node = &t->nodes[first + i];

		ret = push_frame(n, &frames[i], node->path, &stack, err);
		node->stack = ret ? 0 : stack;
	}
	return ret;
}

/*
 * Push the path of a sample, and store its stack.id in *stack. Samples of one program differ only
 * in some innermost frames, so the path up to the frame before these is usually known.
 */
static int push_path(struct intern *n, const struct raw_stack *raw, uint64_t *stack,
		     struct error *err)
{
	const struct path *p = &n->path;
	uint64_t context = stack_context(n, raw, p->end);
	struct trail *t = &n->trails[context % TRAILS];
	unsigned int i;
	int ret = 0;

	compute_path_keys(n, raw, t, shared_frames(t, p, context));
	t->context = context;
	t->root = 0;
	i = known_frames(n, t);
	if (!i && p->end != END_WALKED)
		ret = push_end(n, p->end, &t->root, err);
	for (; !ret && i < p->count; i += PREFETCHED_FRAMES)
		ret = push_prefetched_frames(n, raw, t, i, err);
	*stack = p->count ? t->nodes[p->count - 1].stack : t->root;
	return ret;
}

static enum path_code path_code_at(const void *context, uint64_t address)
{
	const struct space *space = context;
	const struct space_mapping *m = space_find(space, address);
	const struct python_file *f = m && m->object ? m->object->python.file : NULL;
	uint64_t offset;

	/* If nothing is known of the process, trust the walk. */
	if (!m)
		return space->mappings.count ? PATH_UNMAPPED : PATH_CODE;
	offset = address - m->start + m->offset;
	for (unsigned int i = 0; f && i < f->loops && i < PYTHON_LOOPS_MAX; i++)
		if (offset >= f->loop[i].start && offset < f->loop[i].end)
			return PATH_LOOP;
	return PATH_CODE;
}

/* Return whether code belongs to greenlet's single extension module; gevent and eventlet use it. */
static bool switches_stack(const void *context, uint64_t address)
{
	const struct space_mapping *m = space_find(context, address);
	const char *path = m && m->object ? m->object->path : NULL;
	const char *name = path ? strrchr(path, '/') : NULL;

	return name && (!strncmp(name, "/_greenlet.", 11) || !strncmp(name, "/greenlet.", 10));
}

/* Return the key of a stack's words and ends in the cache of words. */
static struct cache_key words_key(const struct intern *n, const struct raw_stack *raw)
{
	uint64_t counts = (uint64_t)raw->kernel << 48 | (uint64_t)raw->user << 32 |
			  (uint64_t)raw->python_end << 8 | (uint64_t)raw->end;

	return cache_hash_in(stack_context(n, raw, counts), raw->words,
			     (raw->kernel + raw->user + raw->python) * sizeof(uint64_t));
}

int intern_stack(struct intern *n, const struct raw_stack *raw, uint64_t *out, bool *loops,
		 struct error *err)
{
	struct cache_key key = words_key(n, raw);
	const struct path_space space = {
		.code = path_code_at, .switches = switches_stack, .context = raw->space};
	uint64_t stack = 0, known;
	int ret;

	if (raw->process && raw->process->code.jit)
		/*
		 * The same addresses may hold other generated code by now, so have the perf map
		 * read again.
		 */
		raw->process->code.jit->wanted = true;
	/*
	 * The memory access takes as long as path_make(), which runs meanwhile: most stacks are new
	 * and need their path anyway.
	 */
	cache_prefetch(n->words, key);
	path_make(&n->path, raw, &space);
	if (!cache_get(n->words, key, &known)) {
		ret = push_path(n, raw, &stack, err);
		if (ret)
			return ret;
		known = stack << 1 | n->path.loops;
		cache_put(n->words, key, known);
	}
	*out = known >> 1;
	*loops = known & 1;
	return 0;
}

int intern_prefetch(struct intern *n, uint32_t pid, struct process_entry *p, const uint64_t *python,
		    unsigned int words)
{
	return intern_python_prefetch(&n->python, pid, p, python, words);
}

int intern_prefetch_memory(struct intern *n, const struct mapped_place *at,
			   const struct python_file *f, uint64_t code_type)
{
	return intern_python_prefetch_memory(&n->python, at, f, code_type);
}

void intern_forget(struct intern *n)
{
	cache_clear(n->words);
	cache_clear(n->stacks);
	cache_clear(n->frames);
	cache_clear(n->functions);
	if (n->places.placed)
		cache_clear(n->places.placed);
	for (unsigned int i = 0; i < TRAILS; i++)
		n->trails[i].context = 0;
}
