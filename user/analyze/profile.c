// SPDX-License-Identifier: Apache-2.0
/*
 * Build a profile from records. An entity exists as soon as a record refers to it, with only its id
 * until its own record comes. So neither the order of records from a live source matters, nor
 * references to entities that a killed recorder has not written.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/index.h"
#include "analyze/inlined.h"
#include "analyze/names.h"
#include "analyze/profile_hosts.h"
#include "analyze/python.h"
#include "analyze/runtimes.h"
#include "base/jobs.h"
#include "base/large.h"

/*
 * For each kind of record, where struct profile keeps its array. size 0: the kind is not kept in an
 * array.
 */
static const struct profile_array {
	size_t items, count; /* offsets of these members in struct profile */
	size_t size; /* size of an item, which for most kinds begins with its record */
} arrays[KIND_COUNT] = {
#define ARRAY(member) \
	{ \
		offsetof(struct profile, member), offsetof(struct profile, count.member), \
			sizeof(*((struct profile *)0)->member) \
	}
	[KIND_HOST] = ARRAY(hosts),	    [KIND_EVENT] = ARRAY(events),
	[KIND_INFO] = ARRAY(infos),	    [KIND_PROCESS] = ARRAY(processes),
	[KIND_THREAD] = ARRAY(threads),	    [KIND_MAPPING] = ARRAY(mappings),
	[KIND_FUNCTION] = ARRAY(functions), [KIND_FRAME] = ARRAY(frames),
	[KIND_INLINED] = ARRAY(inlined),    [KIND_STACK] = ARRAY(stacks),
	[KIND_SUM] = ARRAY(sums),	    [KIND_ACCOUNT] = ARRAY(accounts),
	[KIND_LOSS] = ARRAY(losses),
#undef ARRAY
};

/* A profile and the texts that it owns. The profile comes first: profile_free() casts to this. */
struct owned_profile {
	struct profile profile;
	struct names texts;
};

struct profile_builder {
	struct sink sink;
	struct owned_profile *made;
	struct index by_id[KIND_COUNT]; /* id -> index of the item */
	/*
	 * By id, for entities to which a record referred before their own record came: 1: their own
	 * record has not come; 0: it has come.
	 */
	struct index absent[KIND_COUNT];
	size_t capacity[KIND_COUNT];
	/*
	 * For a part of a profile: mask (WANT(); 0: all) of the kinds that this part reads. A
	 * reference to an entity of another kind is the position of the entity's id in
	 * elsewhere[kind] until the parts are joined.
	 */
	uint64_t own;
	VECTOR(uint64_t) elsewhere[KIND_COUNT];
	struct profile_view view;
	int (*done)(void *context, const struct profile *p, struct error *err);
	void *context;
};

#define UNION_MEMBER(kind, KIND, stream, summary) struct kind kind;
union entity_record {
	uint64_t id; /* id is the first field of every entity */
	RECORD_KINDS(UNION_MEMBER)
};
#undef UNION_MEMBER

static void *builder_item(struct profile_builder *b, enum record_kind kind, uint32_t index)
{
	char *profile = (char *)&b->made->profile;

	return *(char **)(profile + arrays[kind].items) + index * arrays[kind].size;
}

/*
 * Make room for at least one more item. Stacks, which are read in random order, use large pages.
 * The other arrays are as fast in small pages, of which a virtual machine that gives free memory
 * back to its host has some left, while it must fetch large ones from the host.
 */
static int builder_make_room(struct profile_builder *b, enum record_kind kind, uint32_t count)
{
	void *items = (char *)&b->made->profile + arrays[kind].items;

	if (kind == KIND_STACK)
		return large_grow(items, &b->capacity[kind], count, arrays[kind].size);
	return vector_grow(items, &b->capacity[kind], count, 1, arrays[kind].size);
}

/* Append an item to the array of a kind; the caller fills the item. */
static inline int builder_append(struct profile_builder *b, enum record_kind kind, uint32_t *out)
{
	char *profile = (char *)&b->made->profile;
	uint32_t *count = (uint32_t *)(profile + arrays[kind].count);

	if (*count == PROFILE_NONE - 1)
		return -EOVERFLOW;
	if (*count == b->capacity[kind] && builder_make_room(b, kind, *count) < 0)
		return -ENOMEM;
	*out = (*count)++;
	return 0;
}

/* Copy a record to its item, and the record's texts to the profile. */
static int builder_copy_record(struct profile_builder *b, enum record_kind kind, void *to,
			       const void *record)
{
	const struct kind *k = &kinds[kind];

	memcpy(to, record, k->size);
	memset((char *)to + k->size, 0, arrays[kind].size - k->size);
	for (unsigned int i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		uint32_t number;

		if (f->type != FIELD_TEXT)
			continue;
		if (names_intern_text(&b->made->texts, field_text(f, record), &number) < 0)
			return -ENOMEM;
		*(const char **)((char *)to + f->offset) = names_text(&b->made->texts, number);
	}
	return 0;
}

/* Append an item with an id (or another unique number). */
static inline int builder_add(struct profile_builder *b, enum record_kind kind, uint64_t id,
			      uint32_t *out)
{
	uint32_t index;
	int ret = builder_append(b, kind, &index);

	if (ret < 0)
		return ret;
	if (index_append(&b->by_id[kind], id, index) < 0)
		return -ENOMEM;
	*out = index;
	return 0;
}

static inline int builder_refer(struct profile_builder *b, enum record_kind kind, uint64_t id,
				uint32_t *out);

static inline int builder_take_frame_at(struct profile_builder *b, uint32_t index,
					const struct frame *f)
{
	struct profile_frame to = {
		.f = {.address = f->address,
		      .line = f->line,
		      .kind = f->kind < UINT32_MAX ? (uint32_t)f->kind : UINT32_MAX,
		      .flags = (uint32_t)f->flags},
	};
	int ret = builder_refer(b, KIND_MAPPING, f->mapping, &to.mapping);

	if (!ret)
		ret = builder_refer(b, KIND_FUNCTION, f->function, &to.function);
	if (!ret)
		b->made->profile.frames[index] = to;
	return ret;
}

/* Store an entity: the record itself, then the indexes of the entities to which it refers. */
static int builder_take_entity_at(struct profile_builder *b, enum record_kind kind, uint32_t index,
				  const void *record)
{
	const union entity_record *r = record;
	uint32_t process = PROFILE_NONE, mapping = PROFILE_NONE;
	int ret;

	if (kind == KIND_FRAME)
		return builder_take_frame_at(b, index, record);
	ret = builder_copy_record(b, kind, builder_item(b, kind, index), record);
	if (!ret && kind == KIND_THREAD) {
		ret = builder_refer(b, KIND_PROCESS, r->thread.process, &process);
		((struct profile_thread *)builder_item(b, kind, index))->process = process;
	} else if (!ret && kind == KIND_MAPPING) {
		ret = builder_refer(b, KIND_PROCESS, r->mapping.process, &process);
		((struct profile_mapping *)builder_item(b, kind, index))->process = process;
	} else if (!ret && kind == KIND_FUNCTION) {
		ret = builder_refer(b, KIND_MAPPING, r->function.mapping, &mapping);
		((struct profile_function *)builder_item(b, kind, index))->mapping = mapping;
	}
	return ret;
}

/* Create an entity whose record has not come yet, with only its id. */
static int builder_add_missing(struct profile_builder *b, enum record_kind kind, uint64_t id,
			       uint32_t *out)
{
	static const struct profile_stack lost = {.parent = PROFILE_NONE, .frame = PROFILE_NONE};
	union entity_record empty = {.id = id};
	uint32_t index;
	int ret = builder_add(b, kind, id, &index);

	if (ret < 0)
		return ret;
	if (index_put(&b->absent[kind], id, 1) < 0)
		return -ENOMEM;
	b->made->profile.missing++;
	if (kind == KIND_STACK)
		b->made->profile.stacks[index] = lost;
	else
		ret = builder_take_entity_at(b, kind, index, &empty);
	*out = index;
	return ret;
}

/*
 * Store the id of an entity that another part reads, and set *out to the position of the id in
 * elsewhere[kind]. Most sums have a stack of their own, so looking for an earlier position of the
 * same stack would take longer than storing the id of a stack several times.
 */
static int builder_postpone(struct profile_builder *b, enum record_kind kind, uint64_t id,
			    uint32_t *out)
{
	uint32_t position = b->elsewhere[kind].count;

	if (position == PROFILE_NONE - 1)
		return -EOVERFLOW;
	if (vector_push(&b->elsewhere[kind], id) < 0)
		return -ENOMEM;
	*out = position;
	return kind == KIND_STACK ? 0 : index_append(&b->by_id[kind], id, position);
}

/*
 * Set *out to the index of the entity with an id; PROFILE_NONE for id 0. An entity whose record has
 * not come is created, or postponed if another part reads its kind.
 */
static inline int builder_refer(struct profile_builder *b, enum record_kind kind, uint64_t id,
				uint32_t *out)
{
	uint32_t index = id ? index_get(&b->by_id[kind], id) : PROFILE_NONE;

	if (id && index == INDEX_NONE)
		return b->own && !(b->own & 1ULL << kind) ? builder_postpone(b, kind, id, out)
							  : builder_add_missing(b, kind, id, out);
	*out = index;
	return 0;
}

/*
 * Set *out to the index of the item for an entity whose record has come; a later record with the
 * same id replaces the earlier one.
 */
static inline int builder_item_of_record(struct profile_builder *b, enum record_kind kind,
					 uint64_t id, uint32_t *out)
{
	uint32_t index;

	if (index_is_next(&b->by_id[kind], id)) {
		int ret = builder_append(b, kind, out);

		if (!ret)
			index_extend(&b->by_id[kind]);
		return ret;
	}
	index = index_get(&b->by_id[kind], id);
	if (index == INDEX_NONE)
		return builder_add(b, kind, id, out);
	if (index_get(&b->absent[kind], id) == 1) {
		b->made->profile.missing--;
		if (index_put(&b->absent[kind], id, 0) < 0)
			return -ENOMEM;
	}
	*out = index;
	return 0;
}

static int builder_take_entity(struct profile_builder *b, enum record_kind kind, const void *record)
{
	uint32_t index;
	int ret = builder_item_of_record(b, kind, *(const uint64_t *)record, &index);

	return ret < 0 ? ret : builder_take_entity_at(b, kind, index, record);
}

/*
 * Store a stack. A parent always has a lower index than its children, so there are no cycles. If a
 * damaged trace says otherwise, the stack gets no parent.
 */
static inline int builder_take_stack(struct profile_builder *b, const struct stack *s)
{
	struct profile_stack to;
	uint32_t index;
	/* Look up the parent first, so that the parent gets the lower index if both are new. */
	int ret = builder_refer(b, KIND_STACK, s->parent, &to.parent);

	if (!ret)
		ret = builder_refer(b, KIND_FRAME, s->frame, &to.frame);
	if (!ret)
		ret = builder_item_of_record(b, KIND_STACK, s->id, &index);
	if (ret < 0)
		return ret;
	if (to.parent != PROFILE_NONE && to.parent >= index)
		to.parent = PROFILE_NONE;
	b->made->profile.stacks[index] = to;
	return 0;
}

static inline int builder_take_sum(struct profile_builder *b, const struct sum *s)
{
	struct profile_sum to = {.count = s->count,
				 .weight = s->weight,
				 .flags = (uint16_t)s->flags,
				 .wait = s->wait < WAIT_COUNT ? (uint16_t)s->wait : WAIT_OTHER};
	uint32_t index;
	/*
	 * A sum without an event gets an event whose record never comes, because all views use the
	 * event of a sum.
	 */
	int ret = builder_refer(b, KIND_EVENT, s->event ? s->event : UINT64_MAX, &to.event);

	if (!ret)
		ret = builder_refer(b, KIND_THREAD, s->thread, &to.thread);
	if (!ret)
		ret = builder_refer(b, KIND_STACK, s->stack, &to.stack);
	if (!ret)
		ret = builder_append(b, KIND_SUM, &index);
	if (!ret)
		*(struct profile_sum *)builder_item(b, KIND_SUM, index) = to;
	return ret;
}

/* Store an account. It has no id; its event and CPU identify it. */
static int builder_take_account(struct profile_builder *b, const struct account *a)
{
	uint32_t index;
	int ret = builder_item_of_record(b, KIND_ACCOUNT, a->event << 32 ^ a->cpu, &index);

	if (!ret)
		*(struct account *)builder_item(b, KIND_ACCOUNT, index) = *a;
	return ret;
}

/* Store an inlined function. It has no id; its frame and depth identify it. */
static int builder_take_inlined(struct profile_builder *b, const struct inlined *i)
{
	uint32_t frame = PROFILE_NONE, function = PROFILE_NONE, index = 0;
	int ret = builder_refer(b, KIND_FRAME, i->frame, &frame);

	if (!ret)
		ret = builder_refer(b, KIND_FUNCTION, i->function, &function);
	if (!ret)
		ret = builder_append(b, KIND_INLINED, &index);
	if (!ret)
		ret = builder_copy_record(b, KIND_INLINED, builder_item(b, KIND_INLINED, index), i);
	if (ret < 0)
		return ret;
	b->made->profile.inlined[index].frame = frame;
	b->made->profile.inlined[index].function = function;
	return 0;
}

static int builder_take_host(struct profile_builder *b, const struct host *h)
{
	return builder_take_entity(b, KIND_HOST, h);
}

static int builder_take(struct profile_builder *b, enum record_kind kind, const void *record)
{
	switch (kind) {
	case KIND_HOST:
		return builder_take_host(b, record);
	case KIND_INLINED:
		return builder_take_inlined(b, record);
	case KIND_STACK:
		return builder_take_stack(b, record);
	case KIND_SUM:
		return builder_take_sum(b, record);
	case KIND_ACCOUNT:
		return builder_take_account(b, record);
	default:
		return arrays[kind].size ? builder_take_entity(b, kind, record) : 0;
	}
}

static int builder_result(int ret, enum record_kind kind, struct error *err)
{
	return ret < 0 ? error_errno(err, ret, "cannot keep the %s records of the trace",
				     kinds[kind].name)
		       : 0;
}

static int builder_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	return builder_result(builder_take((struct profile_builder *)s, kind, record), kind, err);
}

/*
 * Process arrays of stacks and sums in tight loops, because there are many more of these than of
 * all other records.
 */
static int builder_put_many(struct sink *s, enum record_kind kind, const void *records,
			    size_t count, struct error *err)
{
	struct profile_builder *b = (struct profile_builder *)s;
	const char *at = records;
	int ret = 0;

	if (kind == KIND_STACK)
		for (size_t i = 0; i < count && !ret; i++)
			ret = builder_take_stack(b, (const struct stack *)records + i);
	else if (kind == KIND_SUM)
		for (size_t i = 0; i < count && !ret; i++)
			ret = builder_take_sum(b, (const struct sum *)records + i);
	else
		for (size_t i = 0; i < count && !ret; i++)
			ret = builder_take(b, kind, at + i * kinds[kind].size);
	return builder_result(ret, kind, err);
}

/*
 * Return how the user part of the path from the root to s ended: as the root says, or, if the root
 * is the mark (FRAME_END) of a walk that ended regularly, as the node below the mark says.
 */
static uint8_t stack_path_end(const struct profile *p, const struct profile_stack *s)
{
	const struct profile_code *f = s->frame == PROFILE_NONE ? NULL : &p->frames[s->frame].f;
	const struct profile_stack *parent =
		s->parent == PROFILE_NONE ? NULL : &p->stacks[s->parent];
	bool after_mark = parent && parent->parent == PROFILE_NONE &&
			  parent->frame != PROFILE_NONE &&
			  p->frames[parent->frame].f.kind == FRAME_END &&
			  p->frames[parent->frame].f.address == END_WALKED;

	if (parent && !after_mark)
		return p->ends[s->parent];
	if (!f)
		return END_UNKNOWN_ROOT;
	if (f->kind == FRAME_END)
		return f->address != END_WALKED && f->address < END_COUNT ? f->address
									  : END_UNKNOWN_ROOT;
	if (f->kind == FRAME_KERNEL)
		return parent ? END_UNKNOWN_ROOT : END_WALKED;
	return f->flags & FRAME_FLAG_START ? END_WALKED : END_UNKNOWN_ROOT;
}

/*
 * Return the outermost frame of the path to s that is neither a mark (FRAME_END) nor a Python
 * frame, or PROFILE_NONE. Python frames may be known beyond the end of the native walk.
 */
static uint32_t stack_path_root(const struct profile *p, const struct profile_stack *s)
{
	uint32_t root = s->parent == PROFILE_NONE ? PROFILE_NONE : p->roots[s->parent];
	uint64_t kind;

	if (root != PROFILE_NONE || s->frame == PROFILE_NONE)
		return root;
	kind = p->frames[s->frame].f.kind;
	return kind == FRAME_END || kind == FRAME_PYTHON ? PROFILE_NONE : s->frame;
}

static int find_ends_and_roots(struct profile *p)
{
	p->ends = large_alloc((size_t)p->count.stacks + 1);
	p->roots = large_alloc(((size_t)p->count.stacks + 1) * sizeof(*p->roots));
	if (!p->ends || !p->roots)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.stacks; i++) {
		p->ends[i] = stack_path_end(p, &p->stacks[i]);
		p->roots[i] = stack_path_root(p, &p->stacks[i]);
	}
	return 0;
}

/*
 * Compute everything that needs all records. First how the stacks ended, because this depends on
 * all their frames, some of which later steps remove.
 */
static int builder_complete(struct profile_builder *b)
{
	struct profile *p = &b->made->profile;
	int ret = find_ends_and_roots(p);

	if (!ret)
		ret = runtimes_mark_ends(p);
	if (ret < 0)
		return ret;
	p->stacks_by_id = b->by_id[KIND_STACK];
	b->by_id[KIND_STACK] = (struct index){0};
	profile_join_events(p);
	ret = profile_join_hosts(p, &b->made->texts);
	if (ret < 0)
		return ret;
	ret = python_name_frames(p, &b->made->texts, b->view.lines);
	if (!ret && b->view.python)
		ret = python_alone(p);
	else if (!ret && !b->view.native)
		ret = python_fold(p);
	inlined_attach(p, !b->view.no_inlines);
	if (!ret && !b->view.joined)
		ret = inlined_expand(p);
	if (!ret && b->view.lines)
		ret = inlined_name_lines(p, &b->made->texts);
	return ret;
}

static int builder_finish(struct sink *s, struct error *err)
{
	struct profile_builder *b = (struct profile_builder *)s;
	int ret = builder_complete(b);

	if (ret < 0)
		return error_errno(err, ret, "cannot complete a profile");
	return b->done(b->context, &b->made->profile, err);
}

static void builder_free(struct sink *s)
{
	struct profile_builder *b = (struct profile_builder *)s;

	for (int kind = 0; kind < KIND_COUNT; kind++) {
		vector_free(&b->elsewhere[kind]);
		index_free(&b->by_id[kind]);
		index_free(&b->absent[kind]);
	}
	profile_free(b->made ? &b->made->profile : NULL);
	free(b);
}

static const struct sink_ops builder_ops = {
	.put = builder_put,
	.put_many = builder_put_many,
	.finish = builder_finish,
	.free = builder_free,
};

int profile_sink(struct sink **out, const struct profile_view *view,
		 int (*done)(void *context, const struct profile *p, struct error *err),
		 void *context, struct error *err)
{
	struct profile_builder *b = calloc(1, sizeof(*b));
	struct owned_profile *made = calloc(1, sizeof(*made));
	union entity_record nothing = {0};

	if (!b || !made)
		goto end;
	b->sink = (struct sink){.ops = &builder_ops, .wants = WANTS(WANT_ENTITIES | WANT(SUM))};
	b->made = made;
	b->done = done;
	b->context = context;
	if (view)
		b->view = *view;
	if (builder_copy_record(b, KIND_HOST, &made->profile.host, &nothing) < 0)
		goto end;
	*out = &b->sink;
	return 0;
end:
	profile_free(made ? &made->profile : NULL);
	free(b);
	return error_errno(err, -ENOMEM, "cannot begin a profile");
}

/* Callback done() of profile_read(): the profile stays in the sink until take_profile_out(). */
static int hold_finished_profile(void *context, const struct profile *p, struct error *err)
{
	(void)err;
	*(const struct profile **)context = p;
	return 0;
}

/*
 * Return the finished profile of a sink that calls hold_finished_profile(), and take the profile
 * from the sink.
 */
static struct profile *take_profile_out(struct sink *sink)
{
	struct profile_builder *b = (struct profile_builder *)sink;
	struct profile *p = &b->made->profile;

	b->made = NULL;
	return p;
}

int profile_read(struct profile **out, struct source *source, const struct profile_view *view,
		 struct error *err)
{
	const struct profile *made = NULL;
	struct sink *sink = NULL;
	int ret = profile_sink(&sink, view, hold_finished_profile, &made, err);

	if (!ret)
		ret = pipe_join(source, sink, err);
	if (!ret)
		*out = take_profile_out(sink);
	sink_free(sink);
	return ret;
}

/*
 * Put a record, but ignore losses and accounts, which every sink receives: the part for entities
 * keeps those.
 */
static int part_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	return ((struct profile_builder *)s)->own & 1ULL << kind ? builder_put(s, kind, record, err)
								 : 0;
}

static int part_put_many(struct sink *s, enum record_kind kind, const void *records, size_t count,
			 struct error *err)
{
	return ((struct profile_builder *)s)->own & 1ULL << kind
		       ? builder_put_many(s, kind, records, count, err)
		       : 0;
}

static const struct sink_ops part_ops = {
	.put = part_put,
	.put_many = part_put_many,
	.free = builder_free,
};

/*
 * Return the indexes in b of the entities to which part refers, by position in part's
 * elsewhere[kind]. An entity whose record has not come is created. NULL after an error.
 */
static uint32_t *resolve_part_indexes(struct profile_builder *b, const struct profile_builder *part,
				      enum record_kind kind)
{
	size_t count = part->elsewhere[kind].count;
	uint32_t *indexes = large_alloc((count + 1) * sizeof(*indexes));
	int ret = indexes ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !ret; i++)
		ret = builder_refer(b, kind, part->elsewhere[kind].items[i], &indexes[i]);
	if (!ret)
		return indexes;
	free(indexes);
	return NULL;
}

static uint32_t resolved_index(const uint32_t *indexes, uint32_t position)
{
	return position == PROFILE_NONE ? PROFILE_NONE : indexes[position];
}

/* Move the stacks of part, and the indexes for finding them, to b, which has no stacks. */
static int join_stacks(struct profile_builder *b, struct profile_builder *part)
{
	struct profile *to = &b->made->profile, *from = &part->made->profile;
	uint32_t *frames = resolve_part_indexes(b, part, KIND_FRAME);

	if (!frames)
		return -ENOMEM;
	to->stacks = from->stacks;
	to->count.stacks = from->count.stacks;
	to->missing += from->missing;
	b->capacity[KIND_STACK] = part->capacity[KIND_STACK];
	b->by_id[KIND_STACK] = part->by_id[KIND_STACK];
	b->absent[KIND_STACK] = part->absent[KIND_STACK];
	from->stacks = NULL;
	part->by_id[KIND_STACK] = part->absent[KIND_STACK] = (struct index){0};
	for (uint32_t i = 0; i < to->count.stacks; i++)
		to->stacks[i].frame = resolved_index(frames, to->stacks[i].frame);
	free(frames);
	return 0;
}

/* Move the sums of part to b, which has no sums; the stacks must have been joined before. */
static int join_sums(struct profile_builder *b, struct profile_builder *part)
{
	uint32_t *stacks = resolve_part_indexes(b, part, KIND_STACK),
		 *threads = resolve_part_indexes(b, part, KIND_THREAD);
	uint32_t *events = resolve_part_indexes(b, part, KIND_EVENT);
	struct profile *p = &b->made->profile, *from = &part->made->profile;
	int ret = stacks && threads && events ? 0 : -ENOMEM;

	if (!ret) {
		p->sums = from->sums;
		p->count.sums = from->count.sums;
		from->sums = NULL;
	}
	for (uint32_t i = 0; i < p->count.sums; i++) {
		p->sums[i].event = resolved_index(events, p->sums[i].event);
		p->sums[i].thread = resolved_index(threads, p->sums[i].thread);
		p->sums[i].stack = resolved_index(stacks, p->sums[i].stack);
	}
	free(stacks);
	free(threads);
	free(events);
	return ret;
}

/* A source and the sink into which it runs. */
struct part_reader {
	struct source *source;
	struct sink *sink;
	const struct profile *made;
};

static int read_profile_part(void *context, struct error *err)
{
	struct part_reader *r = context;

	return r->source->ops->run(r->source, r->sink, err);
}

enum profile_part { PART_ENTITIES, PART_STACKS, PART_SUMS, PART_COUNT };

static int begin_profile_parts(struct part_reader *parts, const struct profile_view *view,
			       struct error *err)
{
	static const uint64_t own[PART_COUNT] = {0, WANT(STACK), WANT(SUM)};
	int ret = 0;

	for (int i = 0; i < PART_COUNT && !ret; i++) {
		ret = profile_sink(&parts[i].sink, view, hold_finished_profile, &parts[i].made,
				   err);
		if (ret < 0 || i == PART_ENTITIES)
			continue;
		((struct profile_builder *)parts[i].sink)->own = own[i];
		parts[i].sink->ops = &part_ops;
		parts[i].sink->wants = WANTS(own[i]);
		parts[PART_ENTITIES].sink->wants &= ~own[i];
	}
	return ret;
}

/* Join the other parts to the first one. */
static int join_profile_parts(struct part_reader *parts, struct error *err)
{
	struct profile_builder *b = (struct profile_builder *)parts[PART_ENTITIES].sink;
	int ret = join_stacks(b, (struct profile_builder *)parts[PART_STACKS].sink);

	if (!ret)
		ret = join_sums(b, (struct profile_builder *)parts[PART_SUMS].sink);
	if (ret < 0)
		return error_errno(err, ret, "cannot join the parts of a profile");
	return b->sink.ops->finish(&b->sink, err);
}

int profile_read_parts(struct profile **out, const struct profile_sources *from,
		       const struct profile_view *view, struct error *err)
{
	struct part_reader parts[PART_COUNT] = {
		{.source = from->entities}, {.source = from->stacks}, {.source = from->sums}};
	struct job jobs[PART_COUNT];
	int ret = begin_profile_parts(parts, view, err);

	for (int i = 0; i < PART_COUNT; i++)
		jobs[i] = (struct job){read_profile_part, &parts[i]};
	if (!ret)
		ret = jobs_run(jobs, PART_COUNT, err);
	if (!ret)
		ret = join_profile_parts(parts, err);
	if (!ret)
		*out = take_profile_out(parts[PART_ENTITIES].sink);
	for (int i = 0; i < PART_COUNT; i++)
		sink_free(parts[i].sink);
	return ret;
}

void profile_free(struct profile *p)
{
	struct owned_profile *owned = (struct owned_profile *)p;

	if (!p)
		return;
	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (arrays[kind].size)
			free(*(void **)((char *)p + arrays[kind].items));
	free(p->ends);
	free(p->roots);
	free(p->moved_stacks);
	index_free(&p->stacks_by_id);
	names_free(&owned->texts);
	free(owned);
}
