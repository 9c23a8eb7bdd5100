// SPDX-License-Identifier: Apache-2.0
/* Test the times of samples in a page: each its own, or added up by slots of time. */
#include <errno.h>
#include <string.h>

#include "export/html_samples.h"
#include "scene.h"
#include "suite.h"

#define START 5000000000ULL /* ns */
#define LENGTH 7654321000ULL
#define SAMPLES 30000
#define STACKS 5
#define THREADS 3

static struct sample samples[SAMPLES];

static uint64_t next_number(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

/* Samples come nearly in the order of their times. */
static void make_samples(uint64_t seed, uint64_t stacks)
{
	for (size_t i = 0; i < SAMPLES; i++)
		samples[i] = (struct sample){
			.time = START + LENGTH / SAMPLES * i + next_number(&seed) % 1000000,
			.event = 1 + next_number(&seed) % 2,
			.thread = 1 + next_number(&seed) % THREADS,
			.stack = next_number(&seed) % stacks,
			.weight = next_number(&seed),
			.flags = next_number(&seed) % 2 ? SAMPLE_FLAG_COLLECTING : 0,
			.wait = next_number(&seed) % 2 ? 0 : UINT64_MAX,
		};
}

static void build(struct scene *s, const void *unused)
{
	(void)unused;
	SCENE_PUT_ALL(s, SAMPLE, samples);
}

DEFINE_SCENE(samples_source, build)

static void read_samples(struct html_samples *s, size_t most, int expected)
{
	struct error err = {""};

	*s = (struct html_samples){.begin = START, .end = START + LENGTH, .most = most};
	ck_assert_int_eq(html_samples_read(s, samples_source(), &err), expected);
}

static bool is_sample_of(const struct html_sample *of, const struct sample *s, uint64_t slot)
{
	uint64_t time = (s->time - START) / (slot ? slot : 1);

	return of->time == time && of->event == s->event && of->thread == s->thread &&
	       of->stack == s->stack && of->wait == (s->wait ? WAIT_OTHER : 0) &&
	       of->flags == s->flags;
}

/* Check that what was read is ordered, and that each item has the samples that it stands for. */
static void check_samples(const struct html_samples *s)
{
	uint64_t count = 0, weight = 0, all = 0;

	for (size_t i = 0; i < s->list.count; i++) {
		count += s->list.items[i].count;
		weight += s->list.items[i].weight;
		ck_assert(!i || s->list.items[i - 1].time <= s->list.items[i].time);
	}
	for (size_t i = 0; i < SAMPLES; i++)
		all += samples[i].weight;
	ck_assert_uint_eq(count, SAMPLES);
	ck_assert_uint_eq(weight, all);
	for (size_t at = 0; at < s->list.count; at += s->list.count / 50 + 1) {
		uint64_t found = 0, sum = 0;

		for (size_t i = 0; i < SAMPLES; i++) {
			if (!is_sample_of(&s->list.items[at], &samples[i], s->slot))
				continue;
			found++;
			sum += samples[i].weight;
		}
		if (s->slot) {
			ck_assert_uint_eq(s->list.items[at].count, found);
			ck_assert_uint_eq(s->list.items[at].weight, sum);
		} else {
			ck_assert_uint_eq(s->list.items[at].count, 1);
			ck_assert_uint_ge(found, 1);
		}
	}
}

START_TEST(own_times)
{
	struct html_samples s;

	make_samples(1, STACKS);
	read_samples(&s, SAMPLES, 0);
	ck_assert_uint_eq(s.slot, 0);
	ck_assert_uint_eq(s.list.count, SAMPLES);
	check_samples(&s);
	vector_free(&s.list);
}
END_TEST

/* The fewer may be kept, the longer are the slots. */
START_TEST(slots)
{
	uint64_t last = 0;

	make_samples(2, STACKS);
	for (size_t most = SAMPLES - 1; most > 400; most /= 3) {
		struct html_samples s;

		read_samples(&s, most, 0);
		ck_assert_uint_gt(s.slot, 0);
		ck_assert_uint_ge(s.slot, last);
		ck_assert_uint_le(s.list.count, most);
		check_samples(&s);
		last = s.slot;
		vector_free(&s.list);
	}
	ck_assert_uint_gt(last, LENGTH / 1024 + 1);
}
END_TEST

/* Samples of too many stacks cannot be added up. */
START_TEST(too_many)
{
	struct html_samples s;

	make_samples(3, UINT32_MAX);
	read_samples(&s, SAMPLES / 4, -E2BIG);
	vector_free(&s.list);
}
END_TEST

SUITE("html_samples", own_times, slots, too_many)
