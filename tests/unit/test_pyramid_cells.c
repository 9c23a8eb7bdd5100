// SPDX-License-Identifier: Apache-2.0
/* The cells of the zoom pyramid: what a cell says of those below it, and of threads. */
#include "suite.h"
#include "trace/lane_levels.h"
#include "trace/zoom.h"

/* The cells of one lane, by level. */
struct kept_cells {
	struct lane_levels levels;
	struct cell cells[2][8];
};

static int keep_cell(struct lane_levels *t, unsigned int level, uint64_t first, uint64_t count,
		     const struct cell *cell)
{
	struct kept_cells *k = (struct kept_cells *)t;

	for (uint64_t i = 0; level < 2 && i < count; i++)
		k->cells[level][first + i] = *cell;
	return 0;
}

#define CELL_BITS 16
#define CELL_NS (1u << CELL_BITS)

static void add_state(struct kept_cells *k, uint64_t time, uint64_t end, unsigned int state)
{
	const struct level_stretch s = {.time = time, .end = end, .key = cell_state_key(state, 0)};

	ck_assert_int_eq(lane_levels_add(&k->levels, 0, &s), 0);
}

/*
 * Return the activity of the cell above two cells with these run times; the lower cells are made
 * twice.
 */
static unsigned int cell_above(uint64_t first, uint64_t second, unsigned int *a, unsigned int *b)
{
	static const struct lane_levels_events events = {keep_cell};
	struct kept_cells k = {.levels = {.events = &events, .shift = CELL_BITS, .top = 1}};
	unsigned int activity;

	for (uint64_t i = 0; i < 4; i++) {
		uint64_t ran = i % 2 ? second : first, time = i * CELL_NS;

		add_state(&k, time, time + ran, STATE_RUNNING);
		add_state(&k, time + ran, time + CELL_NS, STATE_SLEEPING);
	}
	ck_assert_int_eq(lane_levels_close(&k.levels, 1), 0);
	*a = k.cells[0][0].activity;
	*b = k.cells[0][1].activity;
	activity = k.cells[1][0].activity;
	lane_levels_free(&k.levels);
	return activity;
}

static void check_above(uint64_t first, uint64_t second, unsigned int a, unsigned int b,
			unsigned int least, unsigned int most)
{
	unsigned int got_a, got_b, above = cell_above(first, second, &got_a, &got_b);

	ck_assert_uint_eq(got_a, a);
	ck_assert_uint_eq(got_b, b);
	ck_assert_uint_ge(above, least);
	ck_assert_uint_le(above, most);
}

/* A cell with the least idle time is not full, and one with the least run time is not empty. */
START_TEST(never_full_never_empty)
{
	check_above(0, 1, 0, 1, 1, 1);
	check_above(CELL_NS, CELL_NS - 1, CELL_FULL, CELL_FULL - 1, CELL_FULL - 1, CELL_FULL - 1);
	check_above(0, 0, 0, 0, 0, 0);
	check_above(CELL_NS, CELL_NS, CELL_FULL, CELL_FULL, CELL_FULL, CELL_FULL);
	check_above(CELL_NS, 0, CELL_FULL, 0, 64, 64);
}
END_TEST

/* With more threads than a mix distinguishes, a cell names a thread only if it is certain. */
START_TEST(many_threads)
{
	struct cell_sums m = {0};
	uint16_t runs = cell_state_key(STATE_RUNNING, 0);
	uint64_t others = 3 * CELL_THREADS_MAX;

	for (uint64_t i = 1; i <= others; i++)
		ck_assert_int_eq(cell_sums_add(&m, runs, i, i == 9 ? 5 : 4), 0);
	ck_assert_uint_eq(cell_sums_round(&m, 20).thread, 0);
	ck_assert_int_eq(cell_sums_add(&m, runs, 7, 4 * others + 2), 0);
	ck_assert_uint_eq(cell_sums_round(&m, 20).thread, 7);
	cell_sums_clear(&m);
	ck_assert_int_eq(cell_sums_add(&m, runs, 12, 6) | cell_sums_add(&m, runs, 11, 6), 0);
	ck_assert_uint_eq(cell_sums_round(&m, 20).thread, 11); /* the lower of two equal ones */
	cell_sums_free(&m);
}
END_TEST

SUITE("pyramid_cells", never_full_never_empty, many_threads)
