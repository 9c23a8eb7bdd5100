// SPDX-License-Identifier: Apache-2.0
/* Tables in the arena, looked up by the walker's own search, against the tables that they were. */
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "capture/clock.h"
#include "table_find.h"
#include "world.h"

/* What the searches of bpf/unwind/walk.h ask for: a world, without memory of a thread. */
#include "bpf/unwind/state.h"

static struct finish_world world_now;
static uint64_t now_ns;

static inline int walk_read(struct native_walk *w, void *to, __u32 bytes, __u64 address)
{
	(void)w, (void)to, (void)bytes, (void)address;
	return -1;
}

static inline int walk_read_part(struct native_walk *w, void *to, __u32 bytes, __u32 most,
				 __u64 address)
{
	return bytes > most ? -1 : walk_read(w, to, bytes, address);
}

static inline const struct arena_chunk *walk_chunk(const struct native_walk *w, __u32 number)
{
	(void)w;
	return world_now.chunk(world_now.context, number);
}

static inline struct unwind_slot *walk_slot(const struct native_walk *w, __u32 number)
{
	(void)w;
	return number < UNWIND_SLOTS_MAX ? &world_now.slots[number] : NULL;
}

static inline const struct unwind_rule *walk_rule(const struct native_walk *w, __u32 number)
{
	(void)w;
	return number < UNWIND_RULES_MAX ? &world_now.rules[number] : NULL;
}

static inline __u64 walk_now(void)
{
	return now_ns;
}

static inline int walk_cache_lookup(const struct native_walk *w, __u64 pc, __u32 *rule)
{
	(void)w, (void)pc, (void)rule;
	return -1;
}

static inline void walk_cache_store(const struct native_walk *w, __u64 pc, __u32 rule)
{
	(void)w, (void)pc, (void)rule;
}

#include "bpf/unwind/walk.h"

#define LOAD 0x5500000000ULL /* where the file's first byte is mapped */
#define FILE_END (1ULL << 40)
#define SECOND NSEC_PER_SEC

static struct world *world;

static void begin(uint64_t bytes)
{
	world = world_new(bytes);
	now_ns = 100 * SECOND;
}

static void end(void)
{
	world_free(world);
}

/* See the world as a process that maps this file. */
static struct native_walk look(uint32_t slot)
{
	const struct unwind_mapping one = {.start = LOAD, .end = LOAD + FILE_END, .table = slot};
	struct native_walk w = {0};

	world_now = world_view(world, &one, 1);
	w.mappings = world_now.mappings;
	w.mapping_count = 1;
	return w;
}

static void unlook(void)
{
	arena_release(world->arena, world_now.mappings, UNWIND_MAPPING_WORDS, now_ns);
}

static void expect_same(const struct native_walk *w, const struct unwind_table *t, uint64_t offset)
{
	const struct unwind_rule *expected = unwind_table_find(t, offset);
	uint32_t number = 77;

	if (offset >= FILE_END)
		return;
	if (walk_find_rule(w, LOAD + offset, &number) != 0)
		ck_abort_msg("nothing is mapped at %lx", (unsigned long)offset);
	if (!expected && number != UNWIND_RULE_GAP)
		ck_abort_msg("rule %u in a hole at %lx", number, (unsigned long)offset);
	if (expected && memcmp(expected, &world->rules[number], sizeof(*expected)) != 0)
		ck_abort_msg("another rule at %lx: %u", (unsigned long)offset, number);
}

static uint64_t any_offset(const struct unwind_table *t)
{
	uint64_t pages = t->header->pages + 2ULL;

	return ((t->header->first_page - 1 + (uint64_t)rand() % pages) << UNWIND_PAGE_SHIFT) +
	       (uint64_t)rand() % UNWIND_PAGE_SIZE;
}

/* At every row, at the bytes beside it, at the borders of pages and anywhere. */
static void compare(uint32_t slot, const struct unwind_table *t)
{
	struct native_walk w = look(slot);

	for (uint32_t i = 0; i < t->header->pages; i++) {
		uint64_t page = (t->header->first_page + i) << UNWIND_PAGE_SHIFT;

		for (uint32_t row = 0; row < t->pages[i].count; row++) {
			uint64_t at = page + UNWIND_ROW_LOW(t->rows[t->pages[i].first + row]);

			expect_same(&w, t, at - 1);
			expect_same(&w, t, at);
			expect_same(&w, t, at + 1);
		}
		expect_same(&w, t, page);
		expect_same(&w, t, page - 1);
		expect_same(&w, t, page + UNWIND_PAGE_SIZE - 1);
	}
	for (int i = 0; i < 20000; i++)
		expect_same(&w, t, any_offset(t));
	unlook();
}

static struct unwind_rule rule(int32_t n)
{
	return (struct unwind_rule){.kind = UNWIND_CFA, .reg = UNWIND_REG_SP, .cfa_offset = n};
}

/* Rows every so many bytes, from page 1 on; the rules' offsets begin with first. */
static struct unwind_table regular(uint32_t rows, uint32_t bytes, uint32_t rules, int32_t first)
{
	struct row *all = calloc(rows, sizeof(*all));
	struct unwind_rule *some = calloc(rules, sizeof(*some));
	struct unwind_table t;

	for (uint32_t i = 0; i < rows; i++)
		all[i] =
			(struct row){UNWIND_PAGE_SIZE + (uint64_t)i * bytes, (uint16_t)(i % rules)};
	for (uint32_t i = 0; i < rules; i++)
		some[i] = rule(first + (int32_t)i);
	t = build_table(all, rows, some, rules);
	free(all);
	free(some);
	return t;
}

static void drop(struct unwind_table *t)
{
	free((void *)t->header);
}

static enum unwind_table_state slot_state(const struct tables *t, uint32_t slot)
{
	return (enum unwind_table_state)tables_get_memory(t)->slots[slot].state;
}

static uint32_t put(const struct unwind_table *t)
{
	uint32_t slot = tables_add(world->tables);

	ck_assert_uint_ge(slot, UNWIND_SLOTS_FIXED);
	ck_assert_int_eq(slot_state(world->tables, slot), UNWIND_TABLE_PENDING);
	ck_assert_int_eq(tables_put(world->tables, slot, t, now_ns), 0);
	ck_assert_int_eq(slot_state(world->tables, slot), UNWIND_TABLE_READY);
	return slot;
}

static struct tables_summary summary(void)
{
	struct tables_summary s;

	tables_get_summary(world->tables, &s);
	return s;
}

/* Rows dense and sparse, pages without any, and all bytes of a page different. */
START_TEST(every_row_is_found_again)
{
	const struct row sparse[] = {{0, 0},
				     {5, 1},
				     {UNWIND_PAGE_SIZE * 3, NO_ROWS},
				     {UNWIND_PAGE_SIZE * 7, 2},
				     {UNWIND_PAGE_SIZE * 8 - 1, 1},
				     {UNWIND_PAGE_SIZE * 20 + 77, 0}};
	struct unwind_rule rules[3] = {rule(8), {.kind = UNWIND_GAP}, {.kind = UNWIND_BAD}};
	struct unwind_table t[4];
	uint32_t slots[4];

	begin(32 << 20);
	t[0] = build_table(sparse, 6, rules, 3);
	t[1] = regular(UNWIND_PAGE_SIZE, 1, 7, 100); /* a page that is full */
	t[2] = regular(100000, 13, 300, 0);
	t[3] = regular(1, 1, 1, 5);
	for (int i = 0; i < 4; i++)
		slots[i] = put(&t[i]);
	for (int i = 0; i < 4; i++) {
		compare(slots[i], &t[i]);
		drop(&t[i]);
	}
	end();
}
END_TEST

START_TEST(agrees_over_tables_of_all_shapes)
{
	struct row rows[600];
	struct unwind_rule rules[50];

	begin(64 << 20);
	for (int32_t i = 0; i < 50; i++)
		rules[i] = rule(i * 8);
	for (unsigned int seed = 1; seed <= 40; seed++) {
		size_t count = 1 + seed * 14;
		uint64_t at = seed * (uint64_t)UNWIND_PAGE_SIZE;
		struct unwind_table t;

		srand(seed);
		for (size_t i = 0; i < count; i++) {
			rows[i] = (struct row){at, (uint16_t)(rand() % 50)};
			at += 1 + (uint64_t)rand() % (seed % 3 ? 300 : 100000);
		}
		t = build_table(rows, count, rules, 50);
		compare(put(&t), &t);
		drop(&t);
	}
	end();
}
END_TEST

static int find_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	strcpy(path, info->dlpi_name);
	return 1;
}

START_TEST(agrees_over_the_c_library)
{
	char path[4096] = "";
	struct unwind_table t;
	struct stamp stamp;
	size_t size;
	void *bytes;
	int fd;

	ck_assert_int_eq(dl_iterate_phdr(find_libc, path), 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(stamp_of(fd, &stamp), 0);
	ck_assert_int_eq(unwind_table_make(&bytes, &size, NULL,
					   &(struct stamped_file){.fd = fd, .stamp = stamp}),
			 0);
	ck_assert_int_eq(unwind_table_check(&t, bytes, size), 0);
	ck_assert_uint_gt(t.header->rows, 10000);
	begin(32 << 20);
	compare(put(&t), &t);
	ck_assert_uint_eq(summary().rows, t.header->rows);
	end();
	free(bytes);
	close(fd);
}
END_TEST

START_TEST(rules_are_shared)
{
	struct unwind_table a = regular(100, 100, 40, 0), b = regular(100, 100, 60, 20);
	uint64_t before;

	begin(8 << 20);
	before = summary().rules;
	put(&a);
	ck_assert_uint_eq(summary().rules, before + 40);
	put(&b);
	ck_assert_uint_eq(summary().rules, before + 80);
	put(&a);
	ck_assert_uint_eq(summary().rules, before + 80);
	drop(&a);
	drop(&b);
	end();
}
END_TEST

/* Numbers are 16 bits long: who comes last has no rule rather than a wrong one. */
START_TEST(more_rules_than_there_are_numbers)
{
	struct unwind_table a = regular(60000, 10, 60000, 0), b = regular(12000, 10, 12000, 55000);
	struct native_walk w;
	uint32_t first, second, bad = 0;

	begin(32 << 20);
	first = put(&a);
	second = put(&b);
	ck_assert_uint_eq(summary().rules, UNWIND_RULES_MAX);
	compare(first, &a);
	w = look(second);
	for (uint32_t i = 0; i < 12000; i++) {
		uint64_t offset = UNWIND_PAGE_SIZE + i * 10ULL;
		uint32_t number;

		ck_assert_int_eq(walk_find_rule(&w, LOAD + offset, &number), 0);
		if (world->rules[number].kind == UNWIND_BAD)
			bad++;
		else
			expect_same(&w, &b, offset);
	}
	ck_assert_uint_eq(bad, 67000 + UNWIND_RULES_FIXED + 1 - UNWIND_RULES_MAX);
	drop(&a);
	drop(&b);
	end();
}
END_TEST

START_TEST(slots_run_out_and_come_back)
{
	struct unwind_table t = regular(10, 10, 1, 0);

	begin(8 << 20);
	for (uint32_t i = UNWIND_SLOTS_FIXED; i < UNWIND_SLOTS_MAX; i++)
		ck_assert_uint_eq(tables_add(world->tables), i);
	ck_assert_uint_eq(tables_add(world->tables), UNWIND_SLOT_NONE);
	/* what has no slot of its own is never touched */
	ck_assert_int_eq(tables_put(world->tables, UNWIND_SLOT_NONE, &t, now_ns), 0);
	tables_set_state(world->tables, UNWIND_SLOT_NONE, UNWIND_TABLE_PENDING, now_ns);
	tables_remove(world->tables, UNWIND_SLOT_NONE, now_ns);
	tables_remove(world->tables, UNWIND_SLOT_GENERATED, now_ns);
	ck_assert_int_eq(slot_state(world->tables, UNWIND_SLOT_NONE), UNWIND_TABLE_NONE);
	ck_assert_int_eq(slot_state(world->tables, UNWIND_SLOT_GENERATED), UNWIND_TABLE_GENERATED);
	ck_assert_uint_eq(tables_add(world->tables), UNWIND_SLOT_NONE);
	ck_assert_int_eq(tables_put(world->tables, 99, &t, now_ns), 0);
	tables_remove(world->tables, 99, now_ns);
	ck_assert_int_eq(slot_state(world->tables, 99), UNWIND_TABLE_NONE);
	ck_assert_uint_eq(tables_add(world->tables), 99);
	ck_assert_int_eq(slot_state(world->tables, 99), UNWIND_TABLE_PENDING);
	ck_assert_uint_eq(summary().files, 0);
	ck_assert_uint_eq(summary().bytes, 0);
	drop(&t);
	end();
}
END_TEST

START_TEST(numbers_of_the_summary_add_up)
{
	struct unwind_table a = regular(1000, 100, 3, 0), b = regular(500, 1000, 3, 0);
	struct unwind_table none = a;
	struct unwind_header empty = *a.header;
	uint32_t slots[2], third;

	begin(8 << 20);
	((struct unwind_header *)a.header)->refused = 7;
	slots[0] = put(&a);
	slots[1] = put(&b);
	ck_assert_uint_eq(summary().files, 2);
	ck_assert_uint_eq(summary().rows, a.header->rows + b.header->rows);
	ck_assert_uint_eq(summary().refused, 7);
	/* the same again, another one in its place, none */
	ck_assert_int_eq(tables_put(world->tables, slots[0], &a, now_ns), 0);
	ck_assert_uint_eq(summary().files, 2);
	ck_assert_uint_eq(summary().refused, 7);
	ck_assert_int_eq(tables_put(world->tables, slots[0], &b, now_ns), 0);
	ck_assert_uint_eq(summary().rows, 2 * b.header->rows);
	ck_assert_uint_eq(summary().refused, 0);
	empty.pages = empty.rows = 0;
	none.header = &empty;
	ck_assert_int_eq(tables_put(world->tables, slots[0], &none, now_ns), 0);
	ck_assert_int_eq(slot_state(world->tables, slots[0]), UNWIND_TABLE_NONE);
	ck_assert_uint_eq(summary().files, 1);
	tables_set_state(world->tables, slots[1], UNWIND_TABLE_GENERATED, now_ns);
	ck_assert_int_eq(slot_state(world->tables, slots[1]), UNWIND_TABLE_GENERATED);
	tables_set_state(world->tables, slots[1], UNWIND_TABLE_NONE, now_ns);
	third = put(&a);
	tables_remove(world->tables, third, now_ns);
	ck_assert_uint_eq(summary().files, 0);
	ck_assert_uint_eq(summary().rows, 0);
	ck_assert_uint_eq(summary().bytes, 0);
	ck_assert_uint_eq(summary().evicted, 0);
	drop(&a);
	drop(&b);
	end();
}
END_TEST

/* About 100 KB of rows; room for ten of them. */
#define TEN (1 << 20)

static struct unwind_table tenth(void)
{
	return regular(25000, 10, 10, 0);
}

START_TEST(the_least_recently_used_goes_first)
{
	struct unwind_table t = tenth();
	uint32_t slots[10], more;
	struct native_walk w;
	uint32_t number;

	begin(TEN);
	for (int i = 0; i < 10; i++, now_ns += SECOND)
		slots[i] = put(&t);
	ck_assert_uint_eq(summary().evicted, 0);
	w = look(slots[0]);
	ck_assert_int_eq(walk_find_rule(&w, LOAD + UNWIND_PAGE_SIZE, &number), 0);
	unlook();
	more = put(&t);
	ck_assert_int_eq(slot_state(world->tables, slots[0]), UNWIND_TABLE_READY);
	ck_assert_int_eq(slot_state(world->tables, slots[1]), UNWIND_TABLE_EVICTED);
	ck_assert_uint_eq(summary().evicted, 1);
	ck_assert_uint_eq(summary().files, 10);
	compare(more, &t);
	compare(slots[9], &t);
	w = look(slots[1]);
	ck_assert_int_eq(walk_find_rule(&w, LOAD + UNWIND_PAGE_SIZE, &number), 0);
	ck_assert_uint_eq(number, UNWIND_RULE_EVICTED);
	drop(&t);
	end();
}
END_TEST

/* Tables are made of all that is mapped; most of it nobody ever walks through. */
START_TEST(what_nobody_looks_into_goes_first_and_at_once)
{
	struct unwind_table t = tenth();
	uint32_t slots[10];

	begin(TEN);
	for (int i = 0; i < 10; i++, now_ns += SECOND)
		slots[i] = put(&t);
	world->slots[slots[0]].used = now_ns;
	put(&t);
	ck_assert_int_eq(slot_state(world->tables, slots[0]), UNWIND_TABLE_READY);
	ck_assert_int_eq(slot_state(world->tables, slots[1]), UNWIND_TABLE_EVICTED);
	world->slots[slots[1]].used = now_ns + 1; /* a walk has wanted it */
	ck_assert_uint_eq(tables_take_wanted(world->tables, now_ns + 2), slots[1]);
	ck_assert_int_eq(tables_put(world->tables, slots[1], &t, now_ns + 2), 0);
	ck_assert_int_eq(slot_state(world->tables, slots[0]), UNWIND_TABLE_READY);
	ck_assert_int_eq(slot_state(world->tables, slots[1]), UNWIND_TABLE_READY);
	ck_assert_int_eq(slot_state(world->tables, slots[2]), UNWIND_TABLE_EVICTED);
	drop(&t);
	end();
}
END_TEST

START_TEST(what_fits_nowhere_pushes_nobody_out)
{
	struct unwind_table t = tenth(), large = regular(300000, 10, 10, 0);
	const struct row far[] = {{0, 0}, {140000ULL << UNWIND_PAGE_SHIFT, 0}};
	struct unwind_rule one = rule(8);
	struct unwind_table wide = build_table(far, 2, &one, 1); /* its pages fill no chunk */
	uint32_t slots[9], slot;

	begin(TEN);
	for (int i = 0; i < 9; i++)
		slots[i] = put(&t);
	slot = tables_add(world->tables);
	ck_assert_int_eq(tables_put(world->tables, slot, &large, now_ns), -ENOSPC);
	ck_assert_int_eq(tables_put(world->tables, slot, &wide, now_ns), -ENOSPC);
	ck_assert_int_eq(slot_state(world->tables, slot), UNWIND_TABLE_EVICTED);
	for (int i = 0; i < 9; i++)
		ck_assert_int_eq(slot_state(world->tables, slots[i]), UNWIND_TABLE_READY);
	ck_assert_uint_eq(summary().files, 9);
	ck_assert_uint_eq(summary().rows, 9ULL * t.header->rows);
	/* nor is it made again and again because somebody wants it */
	now_ns += 100 * SECOND;
	world->slots[slot].used = now_ns;
	ck_assert_uint_eq(tables_take_wanted(world->tables, now_ns), 0);
	drop(&t);
	drop(&large);
	drop(&wide);
	end();
}
END_TEST

START_TEST(a_table_that_did_not_fit_leaves_nothing_behind)
{
	struct unwind_table t = tenth();
	uint32_t slot;

	begin(TEN);
	slot = tables_add(world->tables);
	world->refuse = -ENOMEM;
	ck_assert_int_eq(tables_put(world->tables, slot, &t, now_ns), -ENOSPC);
	ck_assert_uint_eq(summary().bytes, 0);
	ck_assert_uint_eq(summary().files, 0);
	ck_assert_uint_eq(summary().rows, 0);
	world->refuse = 0;
	ck_assert_int_eq(tables_put(world->tables, slot, &t, now_ns), 0);
	compare(slot, &t);
	drop(&t);
	end();
}
END_TEST

START_TEST(who_is_wanted_comes_back_in_place_of_the_cold)
{
	struct unwind_table t = tenth();
	uint32_t slots[11];

	begin(TEN);
	for (int i = 0; i < 11; i++, now_ns += SECOND)
		slots[i] = put(&t);
	ck_assert_int_eq(slot_state(world->tables, slots[0]), UNWIND_TABLE_EVICTED);
	ck_assert_uint_eq(tables_take_wanted(world->tables, now_ns + 60 * SECOND),
			  0); /* by nobody */
	world->slots[slots[0]].used = now_ns;
	for (int i = 1; i < 11; i++)
		world->slots[slots[i]].used = now_ns;
	ck_assert_uint_eq(tables_take_wanted(world->tables, now_ns + 10 * SECOND - 1), 0);
	now_ns += 10 * SECOND;
	ck_assert_uint_eq(tables_take_wanted(world->tables, now_ns), slots[0]);
	ck_assert_int_eq(slot_state(world->tables, slots[0]), UNWIND_TABLE_PENDING);
	ck_assert_uint_eq(tables_take_wanted(world->tables, now_ns), 0); /* it is being made */
	ck_assert_int_eq(tables_put(world->tables, slots[0], &t, now_ns), 0);
	ck_assert_uint_eq(summary().files, 10);
	ck_assert_uint_eq(summary().evicted, 2);
	drop(&t);
	end();
}
END_TEST

START_TEST(who_is_wanted_comes_back_when_there_is_room)
{
	struct unwind_table t = tenth();
	uint32_t slots[11];

	begin(TEN);
	for (int i = 0; i < 11; i++, now_ns += SECOND)
		slots[i] = put(&t);
	for (int i = 0; i < 11; i++)
		world->slots[slots[i]].used = now_ns; /* all are hot */
	ck_assert_uint_eq(tables_take_wanted(world->tables, now_ns), 0);
	tables_remove(world->tables, slots[5], now_ns);
	ck_assert_uint_eq(tables_take_wanted(world->tables, now_ns), slots[0]);
	drop(&t);
	end();
}
END_TEST

START_TEST(all_that_are_wanted_have_their_turn)
{
	struct unwind_table t = tenth();
	uint32_t slots[12], pieces[13], first, second;

	begin(TEN);
	for (int i = 0; i < 12; i++, now_ns += SECOND)
		slots[i] = put(&t);
	world->slots[slots[0]].used = world->slots[slots[1]].used = now_ns;
	now_ns += 60 * SECOND;
	first = tables_take_wanted(world->tables, now_ns);
	/* just now there is no room, and it goes on being wanted */
	for (int i = 0; i < 13; i++)
		pieces[i] = arena_allocate(world->arena, 20000, now_ns);
	ck_assert_int_eq(tables_put(world->tables, first, &t, now_ns), -ENOSPC);
	world->slots[first].used = now_ns + 1;
	for (int i = 0; i < 13; i++)
		arena_release(world->arena, pieces[i], 20000, now_ns);
	second = tables_take_wanted(world->tables, now_ns + 2);
	ck_assert_uint_ne(second, 0);
	ck_assert_uint_ne(second, first);
	drop(&t);
	end();
}
END_TEST

START_TEST(tables_make_room_for_other_things)
{
	struct unwind_table t = tenth();
	uint32_t slots[10];

	begin(TEN);
	for (int i = 0; i < 10; i++, now_ns += SECOND)
		slots[i] = put(&t);
	ck_assert_uint_ne(arena_allocate(world->arena, 30000, now_ns), 0);
	ck_assert_int_eq(slot_state(world->tables, slots[0]), UNWIND_TABLE_EVICTED);
	ck_assert_int_eq(slot_state(world->tables, slots[2]), UNWIND_TABLE_READY);
	drop(&t);
	end();
}
END_TEST

/* Every page but some made unmade: what a worker says of those that it was asked for. */
static struct unwind_table some_of(const struct unwind_table *t, uint32_t every)
{
	char *bytes = malloc(t->size);
	struct unwind_table ret;
	struct unwind_page *pages;

	memcpy(bytes, t->header, t->size);
	((struct unwind_header *)bytes)->magic = UNWIND_PAGES_MAGIC;
	pages = (struct unwind_page *)(bytes + ((const char *)t->pages - (const char *)t->header));
	for (uint32_t i = 0; i < t->header->pages; i++)
		if (i % every)
			pages[i].count = UNWIND_PAGE_UNMADE;
	ck_assert_int_eq(unwind_pages_check(&ret, bytes, t->size), 0);
	return ret;
}

static void expect_made(uint32_t slot, const struct unwind_table *t, uint32_t every, uint32_t other)
{
	struct native_walk w = look(slot);

	for (uint32_t i = 0; i < t->header->pages; i++) {
		uint64_t page = t->header->first_page + i, offset = page << UNWIND_PAGE_SHIFT;
		bool made = i % every == 0 || i % other == 0;
		uint32_t number;

		ck_assert_int_eq(tables_page_is_pending(world->tables, slot, page), !made);
		if (made)
			expect_same(&w, t, offset + 77);
		else
			ck_assert_int_eq(walk_find_rule(&w, LOAD + offset + 77, &number),
					 WALK_PENDING);
	}
	unlook();
}

START_TEST(pages_come_before_the_table)
{
	struct unwind_table t, third, fourth;
	uint64_t empty;
	uint32_t slot;

	begin(32 << 20);
	empty = summary().bytes;
	t = regular(40000, 20, 7, 100);
	third = some_of(&t, 3);
	fourth = some_of(&t, 4);
	slot = tables_add(world->tables);
	ck_assert(tables_page_is_pending(world->tables, slot, 5));
	ck_assert_int_eq(tables_put_pages(world->tables, slot, &third, now_ns), 0);
	expect_made(slot, &t, 3, 3);
	ck_assert_int_eq(tables_put_pages(world->tables, slot, &fourth, now_ns), 0);
	expect_made(slot, &t, 3, 4);
	ck_assert_uint_eq(summary().files, 1);
	ck_assert_int_eq(tables_put(world->tables, slot, &t, now_ns), 0);
	compare(slot, &t);
	expect_made(slot, &t, 1, 1);
	ck_assert_uint_eq(summary().files, 1);
	ck_assert_uint_eq(summary().rows, t.header->rows);
	/* what comes too late changes nothing */
	ck_assert_int_eq(tables_put_pages(world->tables, slot, &third, now_ns), 0);
	compare(slot, &t);
	tables_remove(world->tables, slot, now_ns);
	ck_assert_uint_eq(summary().bytes, empty);
	ck_assert_uint_eq(summary().rows, 0);
	drop(&t);
	drop(&third);
	drop(&fourth);
	end();
}
END_TEST

/* A worker that says first this, then that. */
START_TEST(pages_of_another_table_are_not_mixed_in)
{
	struct unwind_table t, other, some, others;
	uint32_t slot;

	begin(32 << 20);
	t = regular(40000, 20, 7, 100);
	other = regular(90000, 20, 5, 500);
	some = some_of(&t, 3);
	others = some_of(&other, 2);
	slot = tables_add(world->tables);
	ck_assert_int_eq(tables_put_pages(world->tables, slot, &some, now_ns), 0);
	ck_assert_int_eq(tables_put_pages(world->tables, slot, &others, now_ns), 0);
	expect_made(slot, &t, 3, 3);
	/* the whole table is believed, whatever came before */
	ck_assert_int_eq(tables_put(world->tables, slot, &other, now_ns), 0);
	compare(slot, &other);
	tables_set_state(world->tables, slot, UNWIND_TABLE_NONE, now_ns);
	ck_assert_int_eq(tables_put_pages(world->tables, slot, &some, now_ns), 0);
	ck_assert_int_eq(slot_state(world->tables, slot), UNWIND_TABLE_NONE);
	drop(&t);
	drop(&other);
	drop(&some);
	drop(&others);
	end();
}
END_TEST

/* A table of which pages are there may be given up, but not for its own pages. */
START_TEST(pages_for_which_there_is_no_room_stay_unmade)
{
	struct unwind_table t, some;
	uint32_t slot;

	begin(64 << 10);
	t = regular(40000, 20, 7, 100);
	some = some_of(&t, 2);
	slot = tables_add(world->tables);
	ck_assert_int_eq(tables_put_pages(world->tables, slot, &some, now_ns), -ENOSPC);
	ck_assert_int_eq(slot_state(world->tables, slot), UNWIND_TABLE_READY);
	ck_assert(!tables_page_is_pending(world->tables, slot, t.header->first_page));
	ck_assert(tables_page_is_pending(world->tables, slot,
					 t.header->first_page + t.header->pages - 2));
	ck_assert_int_eq(tables_put(world->tables, slot, &t, now_ns), -ENOSPC);
	ck_assert_int_eq(slot_state(world->tables, slot), UNWIND_TABLE_EVICTED);
	drop(&t);
	drop(&some);
	end();
}
END_TEST

SUITE("tables", pages_come_before_the_table, pages_of_another_table_are_not_mixed_in,
      pages_for_which_there_is_no_room_stay_unmade, every_row_is_found_again,
      agrees_over_tables_of_all_shapes, agrees_over_the_c_library, rules_are_shared,
      more_rules_than_there_are_numbers, slots_run_out_and_come_back, numbers_of_the_summary_add_up,
      the_least_recently_used_goes_first, what_nobody_looks_into_goes_first_and_at_once,
      what_fits_nowhere_pushes_nobody_out, a_table_that_did_not_fit_leaves_nothing_behind,
      who_is_wanted_comes_back_in_place_of_the_cold, who_is_wanted_comes_back_when_there_is_room,
      all_that_are_wanted_have_their_turn, tables_make_room_for_other_things)
