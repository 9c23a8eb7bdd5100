// SPDX-License-Identifier: Apache-2.0
/*
 * Interns Python's frames: finds the process memory that has their names, and prefetches the names.
 */
#include <errno.h>
#include <string.h>

#include "bpf/event.h"
#include "capture/intern_python.h"
#include "capture/pythons.h"

static struct object *new_python_memory(struct intern_python *n, const struct process_entry *p,
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

struct object *intern_python_of(struct intern_python *n, struct process_entry *p,
				const struct space *space)
{
	const struct python_file *f = p->code.python ? NULL : pythons_file_of(space);

	if (f)
		p->code.python = new_python_memory(n, p, space, f);
	/* The memory may have been opened before the process got its id. */
	if (p->code.python && p->id)
		p->code.python->mapped.process = p->id;
	return p->code.python;
}

/*
 * Keep a prefetch until the process memory is open. If there is no room, the name is requested when
 * the sample is in order and its frame is interned.
 */
static void defer_prefetch(struct intern_python *n, const struct python_name *f)
{
	if (n->early_count < PREFETCHED_MAX)
		n->early[n->early_count++] = *f;
}

int intern_python_request(struct intern_python *n, const struct python_name *f)
{
	n->urgent = true;
	return symbolizer_lookup_python(n->symbolizer, f->object, f->address, f->place);
}

void intern_python_updated(struct intern_python *n, const struct object *o)
{
	unsigned int left = 0;

	if (o->kind != MAPPING_PYTHON || o->state < OBJECT_KNOWN)
		return;
	for (unsigned int i = 0; i < n->early_count; i++) {
		const struct python_name *f = &n->early[i];

		if (f->object != o->id)
			n->early[left++] = *f;
		else if (o->state == OBJECT_KNOWN)
			intern_python_request(
				n, f); /* after an error, the frame requests the name again */
	}
	n->early_count = left;
}

static int prefetch_name(struct intern_python *n, const struct object *o,
			 const struct python_name *f)
{
	uint64_t identity[] = {f->object, f->address, PYTHON_PLACE_ID(f->place)}, none;
	struct cache_key key = cache_hash(identity, sizeof(identity));
	int ret = 0;

	if (cache_get(n->prefetched, key, &none))
		return 0;
	if (o->state == OBJECT_KNOWN)
		ret = intern_python_request(n, f);
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

int intern_python_prefetch_memory(struct intern_python *n, const struct mapped_place *at,
				  const struct python_file *f, uint64_t code_type)
{
	return memories_prefetch(&n->memories, n->objects, at, f, code_type);
}

int intern_python_prefetch(struct intern_python *n, uint32_t pid, struct process_entry *p,
			   const uint64_t *python, unsigned int words)
{
	struct object *o = memories_find(&n->memories, pid);
	int ret = 0;

	if (!o && p && p->space)
		o = intern_python_of(n, p, p->space);

	if (!o || o->state == OBJECT_UNREADABLE)
		return 0;
	objects_need(n->objects, o);
	for (unsigned int i = 0; !ret && i + 1 < words && i < 2 * WIRE_MAX_PYTHON; i += 2) {
		const struct python_name f = {
			.object = o->id,
			.address = python[i] & ((1ULL << WIRE_TAG_SHIFT) - 1),
			.place = python[i + 1],
		};

		if (is_python_frame(python[i]))
			ret = prefetch_name(n, o, &f);
	}
	/* After other errors, the name is requested again when the frame is interned. */
	return ret == -ENOMEM ? ret : 0;
}
