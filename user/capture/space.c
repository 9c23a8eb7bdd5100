// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps the mappings of an address space as a sorted array, which is copied when a shared space
 * changes.
 */
#include "capture/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "bpf/unwind/world.h"
#include "capture/clock.h"

/*
 * Maximum number of mappings of a space. Unmapping is not reported, so a process that maps code at
 * ever new addresses would fill the recorder's memory. Real processes have some thousands of
 * mappings at most.
 */
#define MOST_MAPPINGS (1 << 14)

struct space *space_new(struct spaces *all)
{
	struct space *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->all = all;
	s->users = 1;
	s->version = ++all->versions;
	return s;
}

struct space *space_share(struct space *s)
{
	s->users++;
	return s;
}

static void forget_all(struct space *s)
{
	for (size_t i = 0; i < s->mappings.count; i++)
		if (s->mappings.items[i].object)
			objects_unuse(s->mappings.items[i].object);
	s->mappings.count = 0;
}

/*
 * Free the walkers' view of a space; the arena delays the reuse of its memory until walks in it
 * have ended.
 */
static void hide(struct space *s, uint64_t now)
{
	s->all->shown -= s->view_count * sizeof(struct unwind_mapping);
	arena_give(s->all->arena, s->view, s->view_count * UNWIND_MAPPING_WORDS, now);
	s->view = s->view_count = 0;
	s->view_version = 0;
}

void space_drop(struct space *s)
{
	if (!s || --s->users)
		return;
	if (s->view)
		hide(s, boot_now());
	forget_all(s);
	vector_free(&s->mappings);
	free(s);
}

static struct space *copy_of(const struct space *s)
{
	struct space *copy = space_new(s->all);

	if (!copy || vector_reserve(&copy->mappings, s->mappings.count) < 0) {
		space_drop(copy);
		return NULL;
	}
	copy->mappings.count = s->mappings.count;
	for (size_t i = 0; i < s->mappings.count; i++) {
		copy->mappings.items[i] = s->mappings.items[i];
		if (copy->mappings.items[i].object)
			objects_use(copy->mappings.items[i].object);
	}
	return copy;
}

/* Return the index of the first mapping that ends after address. */
static size_t first_behind(const struct space *s, uint64_t address)
{
	size_t low = 0, high = s->mappings.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->mappings.items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void insert_at(struct space *s, size_t i, const struct space_mapping *m)
{
	memmove(&s->mappings.items[i + 1], &s->mappings.items[i],
		(s->mappings.count - i) * sizeof(*m));
	s->mappings.items[i] = *m;
	s->mappings.count++;
	if (m->object)
		objects_use(m->object);
}

static void remove_at(struct space *s, size_t i)
{
	if (s->mappings.items[i].object)
		objects_unuse(s->mappings.items[i].object);
	s->mappings.count--;
	memmove(&s->mappings.items[i], &s->mappings.items[i + 1],
		(s->mappings.count - i) * sizeof(s->mappings.items[0]));
}

/*
 * Remove all mappings in [start, end): cut mappings that reach into this range, remove those inside
 * it.
 */
static void clear(struct space *s, uint64_t start, uint64_t end)
{
	size_t i = first_behind(s, start);

	while (i < s->mappings.count && s->mappings.items[i].start < end) {
		struct space_mapping *m = &s->mappings.items[i];
		struct space_mapping behind = *m;

		if (m->end > end) { /* keep the part after end */
			behind.offset += end - m->start;
			behind.start = end;
			if (m->start < start)
				insert_at(s, i + 1, &behind);
			else
				*m = behind;
			m = &s->mappings.items[i];
		}
		if (m->start < start) {
			m->end = start;
			i++;
		} else if (m->start < end) {
			remove_at(s, i);
		} else {
			break;
		}
	}
}

/*
 * Return whether a mapping is a repeated one, which is ignored: JITs often make the same pages
 * writable and executable again.
 */
static bool is_mapped(const struct space *s, const struct space_mapping *m)
{
	const struct space_mapping *old = space_find(s, m->start);

	return old && old->start == m->start && old->end == m->end &&
	       old->offset == m->offset && old->object == m->object;
}

int space_map(struct space **s, const struct space_mapping *m)
{
	struct space *own = *s;
	bool full = own->mappings.count >= MOST_MAPPINGS;

	if (m->start >= m->end || is_mapped(own, m))
		return 0;
	if (own->users > 1) {
		own = copy_of(own);
		if (!own)
			return -ENOMEM;
		space_drop(*s);
		*s = own;
	}
	if (full)
		forget_all(own);
	if (vector_reserve(&own->mappings, 2) < 0)
		return -ENOMEM;
	clear(own, m->start, m->end);
	insert_at(own, first_behind(own, m->start), m);
	own->version = ++own->all->versions;
	return full;
}

const struct space_mapping *space_find(const struct space *s, uint64_t address)
{
	size_t i = first_behind(s, address);

	if (i < s->mappings.count && s->mappings.items[i].start <= address)
		return &s->mappings.items[i];
	return NULL;
}

static uint32_t table_of(const struct space_mapping *m)
{
	return m->object ? m->object->table : UNWIND_SLOT_GENERATED;
}

/*
 * Return the number of user mappings. The vsyscall page is among the kernel's addresses, where
 * walkers do not go.
 */
static uint32_t count_user(const struct space *s)
{
	uint32_t count = (uint32_t)s->mappings.count;

	while (count && s->mappings.items[count - 1].end > INT64_MAX)
		count--;
	return count;
}

static void write_view(const struct space *s, uint32_t place, uint32_t count)
{
	struct unwind_mapping *to = (struct unwind_mapping *)arena_at(s->all->arena, place);

	for (uint32_t i = 0; i < count; i++) {
		const struct space_mapping *m = &s->mappings.items[i];

		to[i] = (struct unwind_mapping){
			.start = m->start,
			.end = m->end,
			.offset = m->offset,
			.table = table_of(m),
		};
	}
}

/*
 * Allocate room for a view, for which the arena may evict tables. Views take at most half of the
 * arena, since processes can make any number of mappings.
 */
static uint32_t take_room(struct spaces *all, uint32_t count, uint64_t now)
{
	uint64_t bytes = count * sizeof(struct unwind_mapping);

	if (all->shown + bytes > arena_most(all->arena) / 2)
		return 0;
	return arena_take(all->arena, count * UNWIND_MAPPING_WORDS, now);
}

int space_show(struct space *s, uint64_t now)
{
	uint32_t count = count_user(s), place = 0;

	if (s->view_version == s->version)
		return 0;
	if (count) {
		place = take_room(s->all, count, now);
		if (!place)
			return -ENOSPC;
		write_view(s, place, count);
		s->all->shown += count * sizeof(struct unwind_mapping);
	}
	if (s->view)
		hide(s, now);
	s->view = place;
	s->view_count = count;
	s->view_version = s->version;
	return 0;
}
