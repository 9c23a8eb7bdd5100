// SPDX-License-Identifier: Apache-2.0
/* unwind/rows.c and unwind/pages.c, compared with a model that stores the rule of every byte. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "symbolizers/unwind/rows.h"
#include "table_find.h"

#define MODEL_FUNCTIONS 64
#define MODEL_SIZE (3 * UNWIND_PAGE_SIZE + 1000)
#define MODEL_START (5 * (uint64_t)UNWIND_PAGE_SIZE)
#define NOTHING 0

/* Return a rule that is identified by its offset; offset 0 stands for none. */
static struct unwind_rule rule(int32_t offset)
{
	return (struct unwind_rule){.kind = UNWIND_CFA, .cfa_offset = offset};
}

struct builder {
	struct unwind_rows rows;
	struct unwind_table table;
	void *bytes;
};

static void begin(struct builder *b)
{
	ck_assert_int_eq(unwind_rows_init(&b->rows), 0);
	b->bytes = NULL;
}

static void add(struct builder *b, enum unwind_layer layer, uint64_t start, uint64_t end, int32_t n)
{
	struct unwind_rule r = rule(n);

	ck_assert_int_eq(unwind_rows_add(&b->rows, layer, start, end, &r), 0);
}

static void finish(struct builder *b)
{
	size_t size;

	ck_assert_int_eq(unwind_rows_finish(&b->rows, &b->bytes, &size), 0);
	ck_assert_int_eq(unwind_table_check(&b->table, b->bytes, size), 0);
	unwind_rows_free(&b->rows);
}

/* Return the offset of the rule; 0 if there is none. */
static int32_t at(const struct builder *b, uint64_t offset)
{
	const struct unwind_rule *r = unwind_table_find(&b->table, offset);

	return r && r->kind == UNWIND_CFA ? r->cfa_offset : NOTHING;
}

static uint32_t rows_of_page(const struct builder *b, uint64_t offset)
{
	return b->table.pages[(offset >> UNWIND_PAGE_SHIFT) - b->table.header->first_page].count;
}

START_TEST(a_function_holds_from_its_first_byte_to_its_last)
{
	struct builder b;

	begin(&b);
	add(&b, UNWIND_LAYER_FRAMES, 0x1234, 0x2345, 7);
	finish(&b);
	ck_assert_int_eq(at(&b, 0x1233), NOTHING);
	ck_assert_int_eq(at(&b, 0x1234), 7);
	ck_assert_int_eq(at(&b, 0x2344), 7);
	ck_assert_int_eq(at(&b, 0x2345), NOTHING);
	ck_assert_int_eq(at(&b, UINT64_MAX), NOTHING);
	ck_assert_uint_eq(b.table.header->pages, 1);
	free(b.bytes);
}
END_TEST

START_TEST(a_function_over_pages_is_said_anew_in_each)
{
	struct builder b;

	begin(&b);
	add(&b, UNWIND_LAYER_FRAMES, 0x1fff0, 0x50001, 7);
	finish(&b);
	for (uint64_t offset = 0x1fff0; offset < 0x50001; offset += 0xf)
		ck_assert_int_eq(at(&b, offset), 7);
	ck_assert_int_eq(at(&b, 0x50001), NOTHING);
	ck_assert_uint_eq(rows_of_page(&b, 0x30000), 1);
	ck_assert_uint_eq(rows_of_page(&b, 0x50000), 2);
	free(b.bytes);
}
END_TEST

START_TEST(a_function_may_end_with_its_page)
{
	struct builder b;

	begin(&b);
	add(&b, UNWIND_LAYER_FRAMES, 0x10000, 0x20000, 7);
	add(&b, UNWIND_LAYER_FRAMES, 0x80000, 0x80001, 8);
	finish(&b);
	ck_assert_int_eq(at(&b, 0xffff), NOTHING);
	ck_assert_int_eq(at(&b, 0x1ffff), 7);
	ck_assert_int_eq(at(&b, 0x20000), NOTHING);
	/* pages without code have no rows */
	ck_assert_uint_eq(rows_of_page(&b, 0x20000), 0);
	ck_assert_uint_eq(rows_of_page(&b, 0x70000), 0);
	ck_assert_ptr_null(unwind_table_find(&b.table, 0x70000));
	ck_assert_int_eq(at(&b, 0x80000), 8);
	free(b.bytes);
}
END_TEST

START_TEST(padding_of_15_bytes_is_no_gap)
{
	struct builder b;

	begin(&b);
	add(&b, UNWIND_LAYER_FRAMES, 0x100, 0x1f1, 7);
	add(&b, UNWIND_LAYER_FRAMES, 0x200, 0x2f0, 8);
	add(&b, UNWIND_LAYER_FRAMES, 0x300, 0x400, 9);
	finish(&b);
	ck_assert_int_eq(at(&b, 0x1ff), 7);
	ck_assert_int_eq(at(&b, 0x2ef), 8);
	ck_assert_int_eq(at(&b, 0x2f0), NOTHING);
	ck_assert_int_eq(at(&b, 0x2ff), NOTHING);
	free(b.bytes);
}
END_TEST

START_TEST(equal_neighbours_are_one_row)
{
	struct builder b;

	begin(&b);
	add(&b, UNWIND_LAYER_FRAMES, 0x100, 0x1f8, 7);
	add(&b, UNWIND_LAYER_FRAMES, 0x200, 0x300, 7);
	finish(&b);
	ck_assert_uint_eq(b.table.header->rows, 3); /* a gap, the rule of both layers, a gap */
	free(b.bytes);
}
END_TEST

START_TEST(the_order_of_functions_does_not_matter)
{
	struct builder b;

	begin(&b);
	add(&b, UNWIND_LAYER_FRAMES, 0x30000, 0x30010, 3);
	add(&b, UNWIND_LAYER_FRAMES, 0x10000, 0x10010, 1);
	add(&b, UNWIND_LAYER_FRAMES, 0x20000, 0x20010, 2);
	finish(&b);
	ck_assert_int_eq(at(&b, 0x10000), 1);
	ck_assert_int_eq(at(&b, 0x2000f), 2);
	ck_assert_int_eq(at(&b, 0x30000), 3);
	free(b.bytes);
}
END_TEST

START_TEST(a_spoilt_function_is_bad_all_through)
{
	struct unwind_rule r = rule(7);
	struct builder b;

	begin(&b);
	ck_assert_int_eq(unwind_rows_begin(&b.rows, UNWIND_LAYER_FRAMES, 0xfff0, 0x20010), 0);
	ck_assert_int_eq(unwind_rows_put(&b.rows, 0xfff0, &r), 0);
	r.cfa_offset = 8;
	ck_assert_int_eq(unwind_rows_put(&b.rows, 0x10008, &r), 0);
	r.cfa_offset = 9;
	ck_assert_int_eq(unwind_rows_put(&b.rows, 0x10007, &r), -EINVAL);
	unwind_rows_mark_bad(&b.rows);
	add(&b, UNWIND_LAYER_FRAMES, 0x20010, 0x20020, 7);
	finish(&b);
	ck_assert_uint_eq(b.table.header->refused, 1);
	ck_assert_int_eq(unwind_table_find(&b.table, 0xfff0)->kind, UNWIND_BAD);
	ck_assert_int_eq(unwind_table_find(&b.table, 0x2000f)->kind, UNWIND_BAD);
	ck_assert_int_eq(at(&b, 0x20010), 7);
	free(b.bytes);
}
END_TEST

START_TEST(absurd_functions_are_refused)
{
	struct builder b;
	size_t size;

	begin(&b);
	ck_assert_int_eq(unwind_rows_begin(&b.rows, UNWIND_LAYER_FRAMES, 5, 5), -EINVAL);
	ck_assert_int_eq(unwind_rows_begin(&b.rows, UNWIND_LAYER_FRAMES, 6, 5), -EINVAL);
	ck_assert_int_eq(unwind_rows_begin(&b.rows, UNWIND_LAYER_FRAMES, 5, UINT64_MAX), -EINVAL);
	ck_assert_int_eq(unwind_rows_finish(&b.rows, &b.bytes, &size), -ENOENT);
	/* more pages than the limit of a table */
	add(&b, UNWIND_LAYER_FRAMES, 0, 1, 1);
	add(&b, UNWIND_LAYER_FRAMES, 1ull << 33, (1ull << 33) + 1, 1);
	ck_assert_int_eq(unwind_rows_finish(&b.rows, &b.bytes, &size), -E2BIG);
	unwind_rows_free(&b.rows);
}
END_TEST

START_TEST(rows_far_apart_many_times_over_end_in_time)
{
	struct unwind_rule r[] = {rule(1), rule(2)};
	struct builder b;
	int rc = 0;

	begin(&b);
	for (uint64_t i = 0; !rc && i < 1000000; i++) {
		rc = unwind_rows_begin(&b.rows, UNWIND_LAYER_FRAMES, i, 1ull << 32);
		for (int k = 0; !rc && k < 2; k++)
			rc = unwind_rows_put(&b.rows, k ? UINT32_MAX : i, &r[k]);
	}
	ck_assert_int_eq(rc, -E2BIG);
	unwind_rows_free(&b.rows);
}
END_TEST

START_TEST(more_rules_than_rows_can_name_are_bad)
{
	struct builder b;

	begin(&b);
	for (int32_t i = 1; i < 70000; i++)
		add(&b, UNWIND_LAYER_FRAMES, 16u * (uint32_t)i, 16u * (uint32_t)i + 16, i);
	finish(&b);
	ck_assert_uint_eq(b.table.header->rules, 65536);
	ck_assert_int_eq(at(&b, 16 * 65534), 65534);
	ck_assert_int_eq(unwind_table_find(&b.table, 16 * 65535)->kind, UNWIND_BAD);
	ck_assert_uint_eq(b.table.header->refused, 70000 - 65535);
	free(b.bytes);
}
END_TEST

struct function {
	uint32_t start, end, middle; /* from middle on, the next rule applies */
	int32_t rule;
};

struct model {
	struct function functions[UNWIND_LAYERS][MODEL_FUNCTIONS];
	int32_t bytes[MODEL_SIZE];
};

static uint32_t below(uint32_t n)
{
	return (uint32_t)random() % n;
}

/* Return the end of f: another function of the layer may begin before. */
static uint32_t end_of(const struct model *m, int layer, const struct function *f)
{
	uint32_t end = f->end;

	for (int i = 0; i < MODEL_FUNCTIONS; i++) {
		const struct function *other = &m->functions[layer][i];

		if (other->start > f->start && other->start < end)
			end = other->start;
		if (other->start == f->start && other < f)
			return f->start;
	}
	return end;
}

static void paint(struct model *m)
{
	uint32_t hole = 0;

	memset(m->bytes, 0, sizeof(m->bytes));
	for (int layer = 0; layer < UNWIND_LAYERS; layer++) {
		for (int i = 0; i < MODEL_FUNCTIONS; i++) {
			const struct function *f = &m->functions[layer][i];
			uint32_t end = end_of(m, layer, f);

			for (uint32_t at_byte = f->start; at_byte < end; at_byte++)
				m->bytes[at_byte] = f->rule + (at_byte >= f->middle);
		}
	}
	for (uint32_t i = 0; i < MODEL_SIZE; i++) {
		if (m->bytes[i] == NOTHING)
			continue;
		for (uint32_t k = hole; hole && i - hole <= 15 && k < i; k++)
			m->bytes[k] = m->bytes[hole - 1];
		hole = i + 1;
	}
}

static void fill(struct model *m, struct builder *b)
{
	for (int i = 0; i < MODEL_FUNCTIONS; i++) {
		for (int layer = 0; layer < UNWIND_LAYERS; layer++) {
			struct function *f = &m->functions[layer][i];
			struct unwind_rule first, second;

			f->start = below(MODEL_SIZE - 1);
			/* directly after another function, or at the same start */
			if (i && !below(4))
				f->start = below(2) ? f[-1].start : f[-1].end + below(20);
			if (f->start >= MODEL_SIZE - 1)
				f->start = MODEL_SIZE - 2;
			f->end = f->start + 1 + below(below(8) ? 3000 : 90000);
			f->end = f->end < MODEL_SIZE ? f->end : MODEL_SIZE;
			f->middle = f->start + below(f->end - f->start + 2);
			f->rule = 1 + (int32_t)below(5);
			first = rule(f->rule);
			second = rule(f->rule + 1);
			ck_assert_int_eq(unwind_rows_begin(&b->rows, (enum unwind_layer)layer,
							   MODEL_START + f->start,
							   MODEL_START + f->end),
					 0);
			ck_assert_int_eq(unwind_rows_put(&b->rows, MODEL_START + f->start, &first),
					 0);
			ck_assert_int_eq(
				unwind_rows_put(&b->rows, MODEL_START + f->middle, &second), 0);
		}
	}
}

static void compare(struct model *m, unsigned int seed)
{
	struct builder b;

	srandom(seed);
	begin(&b);
	fill(m, &b);
	paint(m);
	finish(&b);
	/* a failed byte aborts: an assertion for each byte would take too long */
	for (uint32_t i = 0; i < MODEL_SIZE; i++) {
		int32_t found = at(&b, MODEL_START + i);

		if (found != m->bytes[i])
			ck_abort_msg("seed %u, %x: %d, not %d", seed, i, found, m->bytes[i]);
	}
	free(b.bytes);
}

START_TEST(random_functions_agree_with_the_model)
{
	struct model *m = malloc(sizeof(*m));

	ck_assert_ptr_nonnull(m);
	for (unsigned int seed = 1; seed <= 40; seed++)
		compare(m, seed);
	free(m);
}
END_TEST

SUITE("unwind_rows", a_function_holds_from_its_first_byte_to_its_last,
      a_function_over_pages_is_said_anew_in_each, a_function_may_end_with_its_page,
      padding_of_15_bytes_is_no_gap, equal_neighbours_are_one_row,
      the_order_of_functions_does_not_matter, a_spoilt_function_is_bad_all_through,
      absurd_functions_are_refused, rows_far_apart_many_times_over_end_in_time,
      more_rules_than_rows_can_name_are_bad, random_functions_agree_with_the_model)
