// SPDX-License-Identifier: Apache-2.0
/* The account of stacks of hits of probes: what was chosen is written, or lost for a reason. */
#include <string.h>

#include "capture/hit_stacks.h"
#include "suite.h"

#define CPUS 2
#define EXCEPTIONS 4 /* event.id */
#define ALLOCATIONS 5

/* What was put. */
static struct {
	struct sink sink;
	struct account accounts[CPUS][HIT_EVENTS]; /* the last of each */
	uint64_t put; /* accounts */
	struct loss losses[8];
	unsigned int lost;
	uint64_t unstored; /* samples of exceptions on CPU 0 */
} kept;

static struct wire_probe_cpu cpus[CPUS];
static struct hit_stacks *stacks;
static uint64_t last_loss;

static int keep(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	(void)s;
	(void)err;
	if (kind == KIND_ACCOUNT) {
		const struct account *a = record;

		kept.accounts[a->cpu][a->event - EXCEPTIONS] = *a;
		kept.put++;
	} else if (kind == KIND_LOSS) {
		ck_assert_uint_lt(kept.lost, 8);
		kept.losses[kept.lost++] = *(const struct loss *)record;
	}
	return 0;
}

static uint64_t count_unstored(const struct sink *s, enum record_kind kind, uint64_t place)
{
	(void)s;
	return kind == KIND_SAMPLE && place == sample_place(EXCEPTIONS, 0) ? kept.unstored : 0;
}

static const struct sink_ops keep_ops = {.put = keep, .unstored = count_unstored};

static const struct wire_probe_cpu *cpu_of(const void *context, unsigned int cpu)
{
	return (const struct wire_probe_cpu *)context + cpu;
}

static void begin(void)
{
	const struct hit_stacks_context c = {
		.cpu = cpu_of,
		.context = cpus,
		.cpus = CPUS,
		.sink = &kept.sink,
		.host = 1,
		.events = {EXCEPTIONS, ALLOCATIONS},
		.last_loss = &last_loss,
	};

	memset(&kept, 0, sizeof(kept));
	memset(cpus, 0, sizeof(cpus));
	kept.sink = (struct sink){&keep_ops, WANT_ALL};
	ck_assert_int_eq(hit_stacks_new(&stacks, &c, NULL), 0);
}

static void count(enum hit_event event, unsigned int cpu, enum hit_outcome outcome, int times)
{
	while (times-- > 0)
		hit_stacks_count(stacks, event, cpu, outcome);
}

static void report(uint64_t now, bool final)
{
	ck_assert_int_eq(hit_stacks_report(stacks, now, final, NULL), 0);
}

static void check_account(const struct account *a, uint64_t due, uint64_t written,
			  uint64_t filtered, uint64_t cut_off)
{
	ck_assert_uint_eq(a->due, due);
	ck_assert_uint_eq(a->written, written);
	ck_assert_uint_eq(a->filtered, filtered);
	ck_assert_uint_eq(a->cut_off, cut_off);
}

START_TEST(nothing_chosen_is_no_account)
{
	begin();
	report(1000, true);
	ck_assert_uint_eq(kept.put + kept.lost, 0);
	hit_stacks_free(stacks);
}
END_TEST

START_TEST(each_stack_is_counted_once)
{
	struct wire_hit_stacks *s = &cpus[1].stacks[HIT_EXCEPTION];

	begin();
	s->chosen = 20;
	s->taken = 14;
	s->missed = 4;
	s->ring_full = 2;
	count(HIT_EXCEPTION, 1, HIT_WRITTEN, 9);
	count(HIT_EXCEPTION, 1, HIT_FILTERED, 3);
	count(HIT_EXCEPTION, 1, HIT_CUT_OFF, 2);
	report(1000, true);
	ck_assert_uint_eq(kept.put, 1);
	check_account(&kept.accounts[1][HIT_EXCEPTION], 20, 9, 3, 2);
	ck_assert_uint_eq(kept.lost, 2);
	ck_assert_uint_eq(kept.losses[0].reason, LOSS_RING_FULL);
	ck_assert_uint_eq(kept.losses[0].count, 2);
	ck_assert_uint_eq(kept.losses[1].reason, LOSS_STACK_MISSED);
	ck_assert_uint_eq(kept.losses[1].count, 4);
	ck_assert_uint_eq(kept.losses[1].cpu, 2);
	ck_assert_uint_eq(kept.losses[1].event, EXCEPTIONS);
	hit_stacks_free(stacks);
}
END_TEST

START_TEST(losses_are_reported_once)
{
	begin();
	cpus[0].stacks[HIT_ALLOCATION].chosen = 5;
	cpus[0].stacks[HIT_ALLOCATION].missed = 5;
	report(1000, false);
	report(2000, false);
	ck_assert_uint_eq(kept.lost, 1);
	cpus[0].stacks[HIT_ALLOCATION].chosen = cpus[0].stacks[HIT_ALLOCATION].missed = 7;
	report(3000, true);
	ck_assert_uint_eq(kept.lost, 2);
	ck_assert_uint_eq(kept.losses[1].count, 2);
	ck_assert_uint_eq(kept.losses[1].time, 2000);
	ck_assert_uint_eq(kept.losses[1].end, 3000);
	ck_assert_uint_ne(kept.losses[0].id, kept.losses[1].id);
	hit_stacks_free(stacks);
}
END_TEST

/* What was being taken when the recording ended is cut off, and only in the last report. */
START_TEST(the_last_report_leaves_nothing_open)
{
	begin();
	cpus[0].stacks[HIT_EXCEPTION].chosen = 3;
	count(HIT_EXCEPTION, 0, HIT_WRITTEN, 2);
	report(1000, false);
	check_account(&kept.accounts[0][HIT_EXCEPTION], 3, 2, 0, 0);
	report(2000, true);
	check_account(&kept.accounts[0][HIT_EXCEPTION], 3, 2, 0, 1);
	hit_stacks_free(stacks);
}
END_TEST

START_TEST(what_the_trace_has_no_room_for_is_not_written)
{
	begin();
	cpus[0].stacks[HIT_EXCEPTION].chosen = 3;
	count(HIT_EXCEPTION, 0, HIT_WRITTEN, 3);
	kept.unstored = 2;
	report(1000, true);
	check_account(&kept.accounts[0][HIT_EXCEPTION], 3, 1, 0, 0);
	ck_assert_uint_eq(kept.losses[0].reason, LOSS_NOT_STORED);
	hit_stacks_free(stacks);
}
END_TEST

START_TEST(the_summary_adds_up_all_events)
{
	struct hit_stacks_summary sum;

	begin();
	cpus[0].stacks[HIT_EXCEPTION].taken = 2;
	cpus[1].stacks[HIT_ALLOCATION].taken = 3;
	cpus[1].stacks[HIT_ALLOCATION].missed = 1;
	cpus[0].spent = 20000;
	cpus[1].spent = 5000;
	count(HIT_EXCEPTION, 0, HIT_WRITTEN, 2);
	count(HIT_ALLOCATION, 1, HIT_WRITTEN, 1);
	hit_stacks_get_summary(stacks, &sum);
	ck_assert_uint_eq(sum.taken, 5);
	ck_assert_uint_eq(sum.written, 3);
	ck_assert_uint_eq(sum.lost, 1);
	ck_assert_uint_eq(sum.spent, 25000);
	hit_stacks_free(stacks);
}
END_TEST

SUITE("hit stacks", nothing_chosen_is_no_account, each_stack_is_counted_once,
      losses_are_reported_once, the_last_report_leaves_nothing_open,
      what_the_trace_has_no_room_for_is_not_written, the_summary_adds_up_all_events)
