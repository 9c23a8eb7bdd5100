// SPDX-License-Identifier: Apache-2.0
/* Merging gives the numbers in lanes and slices those of the merged trace, for each kind of lane.
 */
#include "suite.h"
#include "trace/merge_ids.h"

#define SHIFT 1000 /* ns */
#define CPUS 8 /* CPUs of the earlier traces */
#define THREAD 77 /* thread.id, which becomes THREAD_NOW */
#define THREAD_NOW 5
#define PROCESS 78
#define PROCESS_NOW 6

struct fixture {
	struct merge_ids ids;
	struct merge_map map;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){.map = {.shift = SHIFT, .cpus = CPUS}};
	ck_assert_int_eq(merge_ids_set(&f->map, KIND_THREAD, THREAD, THREAD_NOW), 0);
	ck_assert_int_eq(merge_ids_set(&f->map, KIND_PROCESS, PROCESS, PROCESS_NOW), 0);
}

static void end(struct fixture *f)
{
	merge_map_free(&f->map);
	merge_ids_free(&f->ids);
}

static const struct {
	enum lane_kind kind;
	uint64_t number, number_now, value, value_now;
} examples[] = {
	{LANE_CPU, 3, 3 + CPUS, THREAD, THREAD_NOW},
	{LANE_CPU, 0, CPUS, 0, 0},
	{LANE_PROCESS, PROCESS, PROCESS_NOW, 9, 9},
	{LANE_THREAD, THREAD, THREAD_NOW, 500, 500 + SHIFT},
	{LANE_THREAD, THREAD, THREAD_NOW, 0, 0},
	{LANE_ACTOR, 4, 4, THREAD, THREAD_NOW},
	{LANE_INTERRUPT, INTERRUPT_TIMER, INTERRUPT_TIMER, 9, 9},
	{LANE_KIND_COUNT, THREAD, THREAD, THREAD, THREAD}, /* from a later skein */
};

START_TEST(numbers)
{
	union merge_record r;
	struct fixture f;

	begin(&f);
	r.lane = (struct lane){.id = 1, .kind = examples[_i].kind, .number = examples[_i].number};
	ck_assert_int_eq(merge_ids_convert(&f.ids, &f.map, KIND_LANE, &r), 0);
	ck_assert_uint_eq(r.lane.number, examples[_i].number_now);
	r.slice = (struct slice){.time = 10, .end = 20, .lane = 1, .value = examples[_i].value};
	ck_assert_int_eq(merge_ids_convert(&f.ids, &f.map, KIND_SLICE, &r), 0);
	ck_assert_uint_eq(r.slice.value, examples[_i].value_now);
	ck_assert_uint_eq(r.slice.time, 10 + SHIFT);
	end(&f);
}
END_TEST

int main(void)
{
	TCase *t = suite_case("merge ids", NULL, 0);

	tcase_add_loop_test(t, numbers, 0, sizeof(examples) / sizeof(examples[0]));
	return suite_run_case("merge ids", t);
}
