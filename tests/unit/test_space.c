// SPDX-License-Identifier: Apache-2.0
/* Address spaces, compared with a model that stores the mapping of every byte. */
#include <stdlib.h>

#include "capture/clock.h"
#include "capture/space.h"
#include "world.h"

#define PAGES 64

static struct spaces all;
static struct object objects[4];

static void map(struct space **s, uint64_t start, uint64_t end, uint64_t offset, int object)
{
	const struct space_mapping m = {start, end, offset, object < 0 ? NULL : &objects[object]};

	ck_assert_int_eq(space_map(s, &m), 0);
}

static void fill(struct space **s, uint64_t start, uint64_t end, uint64_t offset, int object)
{
	const struct space_mapping m = {start, end, offset, object < 0 ? NULL : &objects[object]};

	ck_assert_int_eq(space_fill(s, &m), 0);
}

START_TEST(finds_what_was_mapped_last)
{
	struct space *s = space_new(&all);

	map(&s, 100, 200, 0, 0);
	map(&s, 120, 150, 1000, 1);
	ck_assert_ptr_null(space_find(s, 99));
	ck_assert_ptr_eq(space_find(s, 100)->object, &objects[0]);
	ck_assert_ptr_eq(space_find(s, 149)->object, &objects[1]);
	ck_assert_ptr_eq(space_find(s, 150)->object, &objects[0]);
	ck_assert_uint_eq(space_find(s, 150)->offset, 50);
	ck_assert_ptr_null(space_find(s, 200));
	space_drop(s);
}
END_TEST

START_TEST(versions_change_with_the_mappings_only)
{
	struct space *s = space_new(&all);
	uint64_t first = s->version, second;

	map(&s, 100, 200, 0, 0);
	second = s->version;
	ck_assert_uint_ne(first, second);
	map(&s, 100, 200, 0, 0);
	ck_assert_uint_eq(s->version, second);
	space_drop(s);
}
END_TEST

START_TEST(a_process_that_maps_everywhere_is_bounded)
{
	struct space *s = space_new(&all);
	struct space_mapping m = {.offset = 0};
	unsigned int forgotten = 0;

	for (uint64_t i = 0; i < 40000; i++) {
		m.start = i * 4096;
		m.end = m.start + 16;
		m.object = &objects[i % 4];
		forgotten += (unsigned int)space_map(&s, &m);
		ck_assert_ptr_nonnull(space_find(s, m.start));
	}
	ck_assert_uint_eq(forgotten, 2);
	ck_assert_uint_le(s->mappings.count, 1 << 14);
	space_drop(s);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(objects[i].users, 0);
}
END_TEST

START_TEST(children_share_until_one_changes)
{
	struct space *parent = space_new(&all), *child;

	map(&parent, 100, 200, 0, 0);
	child = space_share(parent);
	ck_assert_uint_eq(child->version, parent->version);
	map(&child, 100, 200, 0, 1);
	ck_assert_ptr_ne(child, parent);
	ck_assert_ptr_eq(space_find(parent, 100)->object, &objects[0]);
	ck_assert_ptr_eq(space_find(child, 100)->object, &objects[1]);
	space_drop(parent);
	space_drop(child);
}
END_TEST

static void check_against_painter(unsigned int seed)
{
	struct space *s = space_new(&all);
	int painted[PAGES];
	uint64_t offsets[PAGES];

	srand(seed);
	for (int i = 0; i < PAGES; i++)
		painted[i] = -2; /* no mapping */
	for (int round = 0; round < 200; round++) {
		int start = rand() % PAGES, end = start + 1 + rand() % (PAGES - start);
		int object = rand() % 5 - 1;
		uint64_t offset = (uint64_t)(rand() % 1000);

		bool gaps_only = rand() % 2;

		(gaps_only ? fill : map)(&s, (uint64_t)start, (uint64_t)end, offset, object);
		for (int i = start; i < end; i++) {
			if (gaps_only && painted[i] != -2)
				continue;
			painted[i] = object;
			offsets[i] = offset + (uint64_t)(i - start);
		}
		for (int i = 0; i < PAGES; i++) {
			const struct space_mapping *m = space_find(s, (uint64_t)i);

			ck_assert_int_eq(!m, painted[i] == -2);
			if (!m)
				continue;
			ck_assert_ptr_eq(m->object, painted[i] < 0 ? NULL : &objects[painted[i]]);
			ck_assert_uint_eq(m->offset + (uint64_t)i - m->start, offsets[i]);
		}
	}
	space_drop(s);
	for (int i = 0; i < 4; i++)
		ck_assert_uint_eq(objects[i].users, 0);
}

START_TEST(agrees_with_a_painter)
{
	for (unsigned int seed = 1; seed <= 20; seed++)
		check_against_painter(seed);
}
END_TEST

static const struct unwind_mapping *view_of(const struct space *s)
{
	return (const struct unwind_mapping *)arena_at(s->all->arena, s->view);
}

START_TEST(walkers_see_what_is_mapped)
{
	struct world *world = world_new(1 << 20);
	struct spaces seen = {.arena = world->arena};
	struct space *s = space_new(&seen);
	const struct unwind_mapping *m;
	uint64_t version;

	objects[2].table = 22;
	ck_assert_int_eq(space_publish(s, 1), 0); /* an empty view is a view, too */
	ck_assert_uint_eq(s->view_count, 0);
	ck_assert_uint_eq(s->view_version, s->version);
	map(&s, 0x5000, 0x6000, 0x300, 2);
	map(&s, 0x1000, 0x2000, 0, -1);
	map(&s, 0xffffffffff600000, 0xffffffffff601000, 0, -1); /* vsyscall */
	ck_assert_uint_ne(s->view_version, s->version);
	ck_assert_int_eq(space_publish(s, 1), 0);
	ck_assert_uint_eq(s->view_count, 2);
	version = s->view_version;
	ck_assert_uint_eq(version, s->version);
	m = view_of(s);
	ck_assert_uint_eq(m[0].start, 0x1000);
	ck_assert_uint_eq(m[0].table, UNWIND_SLOT_GENERATED);
	ck_assert_uint_eq(m[1].start, 0x5000);
	ck_assert_uint_eq(m[1].end, 0x6000);
	ck_assert_uint_eq(m[1].offset, 0x300);
	ck_assert_uint_eq(m[1].table, 22);
	/* no change keeps the view */
	ck_assert_int_eq(space_publish(s, 1), 0);
	ck_assert_ptr_eq(view_of(s), m);
	space_drop(s);
	ck_assert_uint_eq(arena_used(world->arena), 0);
	ck_assert_uint_eq(seen.shown, 0);
	world_free(world);
}
END_TEST

START_TEST(only_the_vsyscall_page_is_nothing_to_see)
{
	struct world *world = world_new(1 << 20);
	struct spaces seen = {.arena = world->arena};
	struct space *s = space_new(&seen);

	map(&s, 0xffffffffff600000, 0xffffffffff601000, 0, -1);
	ck_assert_int_eq(space_publish(s, 1), 0);
	ck_assert_uint_eq(s->view_count, 0);
	ck_assert_uint_eq(s->view, 0);
	space_drop(s);
	world_free(world);
}
END_TEST

START_TEST(a_view_is_shared_until_one_changes)
{
	struct world *world = world_new(1 << 20);
	struct spaces seen = {.arena = world->arena};
	struct space *parent = space_new(&seen), *child;
	uint32_t first;

	map(&parent, 0x1000, 0x2000, 0, -1);
	ck_assert_int_eq(space_publish(parent, 1), 0);
	first = parent->view;
	child = space_share(parent);
	map(&parent, 0x3000, 0x4000, 0, -1);
	ck_assert_int_eq(space_publish(parent, 1), 0);
	ck_assert_uint_ne(parent->view, first);
	ck_assert_uint_eq(child->view, first);
	ck_assert_uint_eq(view_of(child)->start, 0x1000);
	ck_assert_uint_eq(seen.shown, 3 * sizeof(struct unwind_mapping));
	space_drop(parent);
	ck_assert_uint_eq(view_of(child)->start, 0x1000);
	space_drop(child);
	ck_assert_uint_eq(arena_used(world->arena), 0);
	world_free(world);
}
END_TEST

/* A space keeps its view when the next one does not fit. */
START_TEST(views_are_half_of_the_arena_at_most)
{
	struct world *world = world_new(64 * sizeof(struct unwind_mapping));
	struct spaces seen = {.arena = world->arena};
	struct space *small = space_new(&seen), *large = space_new(&seen);
	uint64_t version;

	for (uint64_t i = 0; i < 32; i++) {
		if (i < 31)
			map(&large, i * 4096, i * 4096 + 16, 0, -1);
		if (i < 2)
			map(&small, i * 4096, i * 4096 + 16, 0, -1);
	}
	ck_assert_int_eq(space_publish(large, 1), 0);
	version = large->view_version;
	ck_assert_int_eq(space_publish(small, 1), -ENOSPC);
	ck_assert_uint_eq(small->view_version, 0);
	map(&large, 1ULL << 40, 2ULL << 40, 0, -1);
	ck_assert_int_eq(space_publish(large, 1), -ENOSPC);
	ck_assert_uint_eq(large->view_version, version);
	ck_assert_uint_eq(large->view_count, 31);
	space_drop(large);
	ck_assert_int_eq(space_publish(small, clock_boot_ns()), 0);
	space_drop(small);
	ck_assert_uint_eq(seen.shown, 0);
	world_free(world);
}
END_TEST

START_TEST(an_arena_without_memory_shows_nothing)
{
	struct world *world = world_new(1 << 20);
	struct spaces seen = {.arena = world->arena};
	struct space *s = space_new(&seen);

	map(&s, 0x1000, 0x2000, 0, -1);
	world->refuse = -ENOMEM;
	ck_assert_int_eq(space_publish(s, 1), -ENOSPC);
	ck_assert_uint_eq(s->view, 0);
	world->refuse = 0;
	ck_assert_int_eq(space_publish(s, 1), 0);
	space_drop(s);
	world_free(world);
}
END_TEST

SUITE("space", walkers_see_what_is_mapped, only_the_vsyscall_page_is_nothing_to_see,
      a_view_is_shared_until_one_changes, views_are_half_of_the_arena_at_most,
      an_arena_without_memory_shows_nothing, finds_what_was_mapped_last,
      versions_change_with_the_mappings_only, a_process_that_maps_everywhere_is_bounded,
      children_share_until_one_changes, agrees_with_a_painter)
