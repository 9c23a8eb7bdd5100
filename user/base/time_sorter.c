// SPDX-License-Identifier: Apache-2.0
/* Sort timed records by distributing them over intervals of time (time_sorter.h). */
#include "base/time_sorter.h"

#include <errno.h>
#include <string.h>

/* Sort at most this many records by insertion. */
#define FEW 16

static void sort_few_timed(struct timed_item *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct timed_item one = list[i];
		size_t at = i;

		for (; at && list[at - 1].time > one.time; at--)
			list[at] = list[at - 1];
		list[at] = one;
	}
}

/* The range of times that begins at first, divided into intervals of 2^shift time units. */
struct time_scale {
	uint64_t first;
	unsigned int shift;
	size_t intervals;
};

static struct time_scale time_scale_of(const struct timed_item *list, size_t count)
{
	uint64_t first = UINT64_MAX, last = 0;
	struct time_scale s = {.shift = 0};

	for (size_t i = 0; i < count; i++) {
		first = list[i].time < first ? list[i].time : first;
		last = list[i].time > last ? list[i].time : last;
	}
	while ((last - first) >> s.shift >= 2 * count)
		s.shift++;
	s.first = first;
	s.intervals = (size_t)((last - first) >> s.shift) + 1;
	return s;
}

static size_t time_interval_of(const struct time_scale *s, uint64_t time)
{
	return (size_t)((time - s->first) >> s->shift);
}

/*
 * Copy list to other, ordered by interval. ends must have room for s->intervals items. Return the
 * number of records in the fullest interval.
 */
static uint32_t distribute_by_time(const struct timed_item *list, size_t count,
				   const struct time_scale *s, struct timed_item *other,
				   uint32_t *ends)
{
	uint32_t begin = 0, most = 0;

	memset(ends, 0, s->intervals * sizeof(*ends));
	for (size_t i = 0; i < count; i++)
		ends[time_interval_of(s, list[i].time)]++;
	for (size_t i = 0; i < s->intervals; i++) {
		uint32_t here = ends[i];

		most = here > most ? here : most;
		ends[i] = begin;
		begin += here;
	}
	for (size_t i = 0; i < count; i++)
		other[ends[time_interval_of(s, list[i].time)]++] = list[i];
	return most;
}

static void sort_timed(struct timed_item *list, size_t count, struct timed_item *other,
		       uint32_t *ends);

static void sort_timed_intervals(struct timed_item *list, size_t count, const struct time_scale *s,
				 struct timed_item *other, uint32_t *ends)
{
	size_t begin = 0, end;

	for (; begin < count; begin = end) {
		size_t here = time_interval_of(s, list[begin].time);

		for (end = begin + 1; end < count && time_interval_of(s, list[end].time) == here;
		     end++)
			;
		sort_timed(list + begin, end - begin, other, ends);
	}
}

/*
 * Sort list, using other and ends as scratch memory. Records that crowd into one interval are
 * distributed again, over the time from the first to the last of these records. That time is at
 * most a 16th of the time before, so the recursion is at most 16 levels deep.
 */
static void sort_timed(struct timed_item *list, size_t count, struct timed_item *other,
		       uint32_t *ends)
{
	struct time_scale s;
	uint32_t most;

	if (count <= FEW) {
		sort_few_timed(list, count);
		return;
	}
	s = time_scale_of(list, count);
	if (s.intervals == 1) /* Records of one time already have their order. */
		return;
	most = distribute_by_time(list, count, &s, other, ends);
	memcpy(list, other, count * sizeof(*list));
	if (most <= FEW)
		sort_few_timed(list, count); /* No record leaves its interval. */
	else
		sort_timed_intervals(list, count, &s, other, ends);
}

int time_sorter_reserve(struct time_sorter *b, size_t count)
{
	size_t extra = count > b->list.count ? count - b->list.count : 0;

	if (count > UINT32_MAX / 2 || vector_reserve(&b->list, extra) < 0 ||
	    vector_reserve(&b->other, count) < 0 || vector_reserve(&b->ends, 2 * count) < 0)
		return -ENOMEM;
	return 0;
}

void time_sorter_shrink(struct time_sorter *b, size_t count)
{
	b->list.count = b->other.count = count;
	b->ends.count = 2 * count;
	vector_fit(&b->list);
	vector_fit(&b->other);
	vector_fit(&b->ends);
	b->list.count = b->other.count = b->ends.count = 0;
}

int time_sorter_sort(struct time_sorter *b)
{
	if (time_sorter_reserve(b, b->list.count) < 0)
		return -ENOMEM;
	sort_timed(b->list.items, b->list.count, b->other.items, b->ends.items);
	return 0;
}

void time_sorter_free(struct time_sorter *b)
{
	vector_free(&b->list);
	vector_free(&b->other);
	vector_free(&b->ends);
}
