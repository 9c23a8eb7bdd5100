// SPDX-License-Identifier: Apache-2.0
/*
 * Random switches of many CPUs come out in order of time, each once, for any sizes of the copies.
 * Plain memory stands in for the arrays of switches: this file implements switches.h.
 */
#include "capture/switch_order.h"

#include <stdlib.h>
#include <string.h>

#include "capture/clock.h"
#include "suite.h"

#define CPUS_MAX 256
#define RECORDS 200000U
#define GAP_OF 5 /* records in each gap */

struct made {
	struct wire_switch wire; /* its first thread is its number: the index in this array */
	uint64_t time; /* time at which it is due: not before its predecessor of the same CPU */
	unsigned int cpu;
	bool gap; /* earlier records were overwritten */
};

static struct made made[RECORDS];
static unsigned int cpu_count;

struct switches {
	uint32_t *numbers; /* of the records of this CPU */
	size_t count, taken;
};

static struct switches arrays[CPUS_MAX];
static uint32_t taken_until; /* records before this one are written when a CPU is read */

unsigned int switches_cpus(const struct switches *s)
{
	(void)s;
	return cpu_count;
}

void switches_take(struct switches *s, unsigned int cpu, size_t most, struct switch_batch *out)
{
	struct switches *a = &s[cpu];
	size_t count = 0;

	out->lost = 0;
	out->more = false;
	while (count < most && a->taken < a->count && a->numbers[a->taken] < taken_until) {
		const struct made *m = &made[a->numbers[a->taken]];

		if (m->gap && count) { /* a gap comes before the first copied record */
			out->more = true;
			break;
		}
		if (m->gap)
			out->lost = GAP_OF;
		out->records[count++] = m->wire;
		a->taken++;
	}
	out->more |= count == most;
	out->count = count;
}

static struct wire_switch wire(uint64_t time, unsigned int kind, uint32_t number)
{
	return (struct wire_switch){
		.head = (time & ((1ULL << WIRE_TIME_BITS) - 1)) | (uint64_t)kind << WIRE_TIME_BITS,
		.body = number | (uint64_t)(number % 1000) << 2 * WIRE_TID_BITS,
	};
}

/* Return a random step of the clock, ns: bursts, equal times, and pauses. */
static uint64_t step(void)
{
	unsigned int kind = (unsigned int)rand() % 1000;

	return kind == 0 ? 10 * NSEC_PER_MSEC : kind < 300 ? 0 : 64 * ((uint64_t)rand() % 10);
}

/*
 * Make the records. jumps: one stamp in so many is earlier than its predecessor's; 0: none. gaps:
 * the same for gaps.
 */
static void make(unsigned int cpus, unsigned int jumps, unsigned int gaps)
{
	uint64_t now = clock_boot_ns() - 60 * NSEC_PER_SEC, latest[CPUS_MAX] = {0};

	cpu_count = cpus;
	for (unsigned int i = 0; i < cpus; i++)
		arrays[i].count = arrays[i].taken = 0;
	for (uint32_t i = 0; i < RECORDS; i++) {
		struct made *m = &made[i], *before = i ? m - 1 : NULL;
		bool moves = before && switch_kind(&before->wire) == WIRE_WAKING && rand() % 2;
		uint64_t stamp = now += step();

		*m = (struct made){.cpu = moves ? before->cpu : (unsigned int)rand() % cpus};
		if (jumps && rand() % (int)jumps == 0)
			stamp -= NSEC_PER_MSEC;
		m->time = stamp > latest[m->cpu] ? stamp : latest[m->cpu];
		m->gap = gaps && latest[m->cpu] && !moves && rand() % (int)gaps == 0;
		latest[m->cpu] = m->time;
		m->wire = wire(stamp,
			       moves	    ? WIRE_MIGRATE
			       : rand() % 2 ? WIRE_WAKING
					    : WIRE_SWITCH,
			       i);
		if (moves) /* of the woken thread */
			m->wire.body = (m->wire.body & ~0xffffffULL) | (i - 1);
		arrays[m->cpu].numbers[arrays[m->cpu].count++] = i;
	}
}

static bool is_moved(uint32_t number)
{
	return number + 1 < RECORDS && switch_kind(&made[number + 1].wire) == WIRE_MIGRATE &&
	       switch_kind(&made[number].wire) == WIRE_WAKING;
}

struct seen {
	size_t place[CPUS_MAX]; /* number of records of each CPU that came out */
	uint64_t last; /* time at which the last one was due, ns */
	unsigned int gaps;
	/* counted, because an assertion for each record would take most of the time */
	unsigned int wrong;
};

static void check_record(struct seen *s, const struct switch_record *r, uint64_t mark)
{
	const struct switches *a = &arrays[r->cpu];
	uint32_t number = a->numbers[s->place[r->cpu]];
	const struct made *m = &made[number];

	if (switch_kind(&r->wire) == SWITCH_GAP) {
		s->wrong += !m->gap || r->wire.body != GAP_OF;
		s->gaps++;
		return;
	}
	s->wrong += memcmp(&r->wire, &m->wire, sizeof(r->wire)) || m->time > mark ||
		    m->time < s->last || r->target != (number + is_moved(number)) % 1000;
	s->last = m->time;
	s->place[r->cpu] += 1 + is_moved(number);
}

/* Check that all records due until the mark have come out. */
static void check_all_came(struct seen *s, uint64_t mark)
{
	for (unsigned int cpu = 0; cpu < cpu_count; cpu++) {
		const struct switches *a = &arrays[cpu];

		if (s->place[cpu] < a->taken)
			s->wrong += made[a->numbers[s->place[cpu]]].time <= mark;
	}
}

static unsigned int check(unsigned int pieces)
{
	struct switch_order *o = switch_order_new(arrays);
	struct seen s = {.last = 0};

	for (uint32_t until = 0; until < RECORDS;) {
		struct switch_record r;
		uint64_t mark;

		until = pieces == 1 ? RECORDS : until + (uint32_t)rand() % (2 * RECORDS / pieces);
		until = until < RECORDS ? until : RECORDS;
		if (until < RECORDS && until && is_moved(until - 1))
			until++;
		mark = until < RECORDS ? made[until].time - 1 : UINT64_MAX - 1;
		taken_until = until;
		do {
			s.wrong += switch_order_copy(o) != 0;
			/* while a gap holds records back, no order is certain */
			while (!switch_order_has_more(o) && switch_order_next_time(o) <= mark) {
				switch_order_release(o, &r);
				check_record(&s, &r, mark);
			}
		} while (switch_order_has_more(o));
		check_all_came(&s, mark);
	}
	for (unsigned int cpu = 0; cpu < cpu_count; cpu++)
		s.wrong += s.place[cpu] != arrays[cpu].count;
	switch_order_free(o);
	ck_assert_uint_eq(s.wrong, 0);
	return s.gaps;
}

static void begin(void)
{
	srand(1);
	for (unsigned int i = 0; i < CPUS_MAX; i++) {
		arrays[i].numbers = malloc(RECORDS * sizeof(uint32_t));
		ck_assert_ptr_nonnull(arrays[i].numbers);
	}
}

static void end(void)
{
	for (unsigned int i = 0; i < CPUS_MAX; i++)
		free(arrays[i].numbers);
}

static const unsigned int cpu_counts[] = {1, 2, 7, 32, CPUS_MAX};
#define COUNTS (sizeof(cpu_counts) / sizeof(*cpu_counts))

START_TEST(in_order_in_any_pieces)
{
	begin();
	for (unsigned int i = 0; i < COUNTS; i++)
		for (unsigned int pieces = 1; pieces <= 400; pieces *= 20) {
			make(cpu_counts[i], 0, 0);
			check(pieces);
		}
	end();
}
END_TEST

START_TEST(a_clock_that_jumps_moves_nothing_past_its_neighbours)
{
	begin();
	for (unsigned int i = 0; i < COUNTS; i++) {
		make(cpu_counts[i], 100, 0);
		check(1);
	}
	end();
}
END_TEST

START_TEST(gaps_stay_where_they_were)
{
	begin();
	for (unsigned int i = 0; i < COUNTS; i++) {
		unsigned int wanted = 0;

		make(cpu_counts[i], 0, RECORDS / 10);
		for (uint32_t n = 0; n < RECORDS; n++)
			wanted += made[n].gap;
		ck_assert_uint_eq(check(11), wanted);
	}
	end();
}
END_TEST

SUITE("switch-order", in_order_in_any_pieces, a_clock_that_jumps_moves_nothing_past_its_neighbours,
      gaps_stay_where_they_were)
