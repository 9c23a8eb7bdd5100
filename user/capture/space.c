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
#define MAPPINGS_MAX (1 << 14)

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

static void forget_mappings(struct space *s)
{
	for (size_t i = 0; i < s->mappings.count; i++)
		if (s->mappings.items[i].object)
			objects_unuse(s->mappings.items[i].object);
	s->mappings.count = 0;
}

/*
 * Free the walkers' view of a space; the arena reuses the memory only after the walks that may read
 * it have ended.
 */
static void free_view(struct space *s, uint64_t now)
{
	s->all->shown -= s->view_count * sizeof(struct unwind_mapping);
	arena_release(s->all->arena, s->view, s->view_count * UNWIND_MAPPING_WORDS, now);
	s->view = s->view_count = 0;
	s->view_version = 0;
}

void space_drop(struct space *s)
{
	if (!s || --s->users)
		return;
	if (s->view)
		free_view(s, clock_boot_ns());
	forget_mappings(s);
	vector_free(&s->mappings);
	free(s);
}

static struct space *copy_space(const struct space *s)
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
static size_t first_ending_after(const struct space *s, uint64_t address)
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

static void insert_mapping(struct space *s, size_t i, const struct space_mapping *m)
{
	memmove(&s->mappings.items[i + 1], &s->mappings.items[i],
		(s->mappings.count - i) * sizeof(*m));
	s->mappings.items[i] = *m;
	s->mappings.count++;
	if (m->object)
		objects_use(m->object);
}

static void remove_mapping(struct space *s, size_t i)
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
static void clear_range(struct space *s, uint64_t start, uint64_t end)
{
	size_t i = first_ending_after(s, start);

	while (i < s->mappings.count && s->mappings.items[i].start < end) {
		struct space_mapping *m = &s->mappings.items[i];
		struct space_mapping rest = *m;

		if (m->end > end) { /* keep the part after end */
			rest.offset += end - m->start;
			rest.start = end;
			if (m->start < start)
				insert_mapping(s, i + 1, &rest);
			else
				*m = rest;
			m = &s->mappings.items[i];
		}
		if (m->start < start) {
			m->end = start;
			i++;
		} else if (m->start < end) {
			remove_mapping(s, i);
		} else {
			break;
		}
	}
}

/*
 * Return whether the space has exactly this mapping. Such a mapping is ignored: JITs often make the
 * same pages writable and executable again.
 */
static bool is_mapped(const struct space *s, const struct space_mapping *m)
{
	const struct space_mapping *old = space_find(s, m->start);

	return old && old->start == m->start && old->end == m->end && old->offset == m->offset &&
	       old->object == m->object;
}

int space_map(struct space **s, const struct space_mapping *m)
{
	struct space *own = *s;
	bool full = own->mappings.count >= MAPPINGS_MAX;

	if (m->start >= m->end || is_mapped(own, m))
		return 0;
	if (own->users > 1) {
		own = copy_space(own);
		if (!own)
			return -ENOMEM;
		space_drop(*s);
		*s = own;
	}
	if (full)
		forget_mappings(own);
	if (vector_reserve(&own->mappings, 2) < 0)
		return -ENOMEM;
	clear_range(own, m->start, m->end);
	insert_mapping(own, first_ending_after(own, m->start), m);
	own->version = ++own->all->versions;
	return full;
}

/* Return the part of *m from address at on that no mapping of the space covers, empty if none. */
static struct space_mapping next_gap(const struct space *s, const struct space_mapping *m,
				     uint64_t at)
{
	struct space_mapping gap = *m;
	size_t i = first_ending_after(s, at);

	for (; i < s->mappings.count && s->mappings.items[i].start <= at; i++)
		at = s->mappings.items[i].end;
	if (i < s->mappings.count && s->mappings.items[i].start < gap.end)
		gap.end = s->mappings.items[i].start;
	gap.offset += at - gap.start;
	gap.start = at;
	return gap;
}

int space_fill(struct space **s, const struct space_mapping *m)
{
	struct space_mapping gap = next_gap(*s, m, m->start);
	int full = 0;

	while (gap.start < gap.end) {
		int ret = space_map(s, &gap);

		if (ret < 0)
			return ret;
		full |= ret;
		gap = next_gap(*s, m, gap.end);
	}
	return full;
}

const struct space_mapping *space_find(const struct space *s, uint64_t address)
{
	size_t i = first_ending_after(s, address);

	if (i < s->mappings.count && s->mappings.items[i].start <= address)
		return &s->mappings.items[i];
	return NULL;
}

static uint32_t mapping_table(const struct space_mapping *m)
{
	return m->object ? m->object->table : UNWIND_SLOT_GENERATED;
}

/*
 * Return the number of user mappings. The vsyscall page is among the kernel's addresses, where
 * walkers do not go.
 */
static uint32_t count_user_mappings(const struct space *s)
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
			.table = mapping_table(m),
		};
	}
}

/*
 * Allocate room for a view, for which the arena may evict tables. Return its place, 0 if there is
 * no room. Views take at most half of the arena, since processes can make any number of mappings.
 */
static uint32_t allocate_view(struct spaces *all, uint32_t count, uint64_t now)
{
	uint64_t bytes = count * sizeof(struct unwind_mapping);

	if (all->shown + bytes > arena_limit(all->arena) / 2)
		return 0;
	return arena_allocate(all->arena, count * UNWIND_MAPPING_WORDS, now);
}

int space_publish(struct space *s, uint64_t now)
{
	uint32_t count = count_user_mappings(s), place = 0;

	if (s->view_version == s->version)
		return 0;
	if (count) {
		place = allocate_view(s->all, count, now);
		if (!place)
			return -ENOSPC;
		write_view(s, place, count);
		s->all->shown += count * sizeof(struct unwind_mapping);
	}
	if (s->view)
		free_view(s, now);
	s->view = place;
	s->view_count = count;
	s->view_version = s->version;
	return 0;
}
