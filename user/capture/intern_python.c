// SPDX-License-Identifier: Apache-2.0
/*
 * Interns Python's frames: finds the process memory that has their names, and prefetches the names.
 */
#include <errno.h>
#include <string.h>

#include "capture/intern_private.h"
#include "capture/pythons.h"

static enum path_code path_code_at(const void *context, uint64_t address)
{
	const struct space *space = context;
	const struct space_mapping *m = space_find(space, address);
	const struct python_file *f = m && m->object ? m->object->python.file : NULL;
	uint64_t offset;

	/* If no mapping of the process is known, trust the walk. */
	if (!m)
		return space->mappings.count ? PATH_UNMAPPED : PATH_CODE;
	offset = address - m->start + m->offset;
	for (unsigned int i = 0; f && i < f->loops && i < PYTHON_LOOPS_MAX; i++)
		if (offset >= f->loop[i].start && offset < f->loop[i].end)
			return PATH_LOOP;
	return PATH_CODE;
}

/*
 * Return whether an address lies in greenlet's extension module, whose code switches stacks; gevent
 * and eventlet use greenlet.
 */
static bool switches_stack(const void *context, uint64_t address)
{
	const struct space_mapping *m = space_find(context, address);
	const char *path = m && m->object ? m->object->path : NULL;
	const char *name = path ? strrchr(path, '/') : NULL;

	return name && (!strncmp(name, "/_greenlet.", 11) || !strncmp(name, "/greenlet.", 10));
}

struct path_space intern_path_space(const struct space *space)
{
	return (struct path_space){
		.code = path_code_at, .switches = switches_stack, .context = space};
}

static struct object *new_python_memory(struct intern *n, const struct process_entry *p,
					const struct space *space, const struct python_file *f)
{
	const struct mapped_place at = process_entry_place(p);
	uint64_t code_type = pythons_of(space).code_type;
	struct object *o = memories_take(&n->memories, p->pid, code_type);

	if (o)
		return o;
	o = objects_new_python(n->objects, &at, f, code_type);
	if (o)
		objects_use(o);
	return o;
}

struct object *intern_python_of(struct intern *n, struct process_entry *p,
				const struct space *space)
{
	const struct python_file *f = p->python ? NULL : pythons_file_of(space);

	if (f)
		p->python = new_python_memory(n, p, space, f);
	/* The memory may have been opened before the process got its id. */
	if (p->python && p->id)
		p->python->mapped.process = p->id;
	return p->python;
}

/*
 * Keep a prefetch until the process memory is open. If there is no room, the name is requested
 * later, with the frame itself.
 */
static void defer_prefetch(struct intern *n, const struct prefetched_name *f)
{
	if (n->early_count < PREFETCHED_MAX)
		n->early[n->early_count++] = *f;
}

static int request_python_name(struct intern *n, const struct prefetched_name *f)
{
	n->urgent = true;
	return symbolizer_lookup_python(n->symbolizer, f->object, f->address, f->place);
}

void intern_send_prefetches(struct intern *n, const struct object *o)
{
	unsigned int left = 0;

	if (o->kind != MAPPING_PYTHON || o->state < OBJECT_KNOWN)
		return;
	for (unsigned int i = 0; i < n->early_count; i++) {
		const struct prefetched_name *f = &n->early[i];

		if (f->object != o->id)
			n->early[left++] = *f;
		else if (o->state == OBJECT_KNOWN)
			request_python_name(
				n,
				f); /* If this fails, the name is requested again with the frame. */
	}
	n->early_count = left;
}

static int prefetch_name(struct intern *n, const struct object *o, const struct prefetched_name *f)
{
	uint64_t identity[] = {f->object, f->address, PYTHON_PLACE_ID(f->place)}, none;
	struct cache_key key = cache_hash(identity, sizeof(identity));
	int ret = 0;

	if (cache_get(n->prefetched, key, &none))
		return 0;
	if (o->state == OBJECT_KNOWN)
		ret = request_python_name(n, f);
	else
		defer_prefetch(n, f);
	if (!ret)
		cache_put(n->prefetched, key, 0);
	return ret;
}

static bool is_python_frame(uint64_t word)
{
	uint64_t tag = word >> WIRE_TAG_SHIFT;

	return tag == WIRE_TAG_PYTHON || tag == WIRE_TAG_PYTHON_ENTRY;
}

int intern_prefetch_memory(struct intern *n, uint32_t pid, const struct python_file *f,
			   uint64_t code_type, uint64_t time)
{
	const struct mapped_place at = {.pid = pid, .seen = time};

	return memories_prefetch(&n->memories, n->objects, &at, f, code_type);
}

int intern_prefetch(struct intern *n, uint32_t pid, struct process_entry *p, const uint64_t *python,
		    unsigned int words)
{
	struct object *o = memories_find(&n->memories, pid);
	int ret = 0;

	if (!o && p && p->space)
		o = intern_python_of(n, p, p->space);

	if (!o || o->state == OBJECT_UNREADABLE)
		return 0;
	objects_need(n->objects, o);
	for (unsigned int i = 0; !ret && i + 1 < words && i < 2 * WIRE_MAX_PYTHON; i += 2) {
		const struct prefetched_name f = {
			.object = o->id,
			.address = python[i] & ((1ULL << WIRE_TAG_SHIFT) - 1),
			.place = python[i + 1],
		};

		if (is_python_frame(python[i]))
			ret = prefetch_name(n, o, &f);
	}
	/* after other errors, the name is requested again with the frame */
	return ret == -ENOMEM ? ret : 0;
}
