// SPDX-License-Identifier: Apache-2.0
/*
 * Run-length coded cells. A run has activity, state and wait in 15 bits, and its count in the other
 * 17 bits, as a number and a power of 4 by which it is multiplied. So a hole of years, as damaged
 * traces have, takes a few runs and not millions.
 */
#include "trace/strip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCALE_BITS 5u
#define SCALE_STEP 2u
#define COUNT_BITS 17u
#define COUNT_MAX ((1u << (COUNT_BITS - SCALE_BITS)) - 1)
#define STATE_BITS 4u
#define WAIT_BITS 4u
#define RUNS_MIN 8u
#define RUNS_IDLE_MAX 64u /* maximum number of runs for which an empty strip may keep memory */

_Static_assert(STATE_COUNT <= 1 << STATE_BITS, "a state takes four bits");
_Static_assert(WAIT_COUNT <= 1 << WAIT_BITS, "a wait takes four bits");
_Static_assert(CELL_FULL < 1 << (32 - COUNT_BITS - STATE_BITS - WAIT_BITS), "and this the rest");

static uint32_t word_of(const struct cell *c)
{
	return ((uint32_t)c->activity << (STATE_BITS + WAIT_BITS) |
		(c->state & ((1u << STATE_BITS) - 1)) << WAIT_BITS |
		(c->wait & ((1u << WAIT_BITS) - 1)))
	       << COUNT_BITS;
}

static struct cell cell_of(uint32_t word, uint64_t thread)
{
	word >>= COUNT_BITS;
	return (struct cell){
		.activity = (uint8_t)(word >> (STATE_BITS + WAIT_BITS)),
		.state = word >> WAIT_BITS & ((1u << STATE_BITS) - 1),
		.wait = word & ((1u << WAIT_BITS) - 1),
		.thread = thread,
	};
}

/* Return the greatest count that one run can hold and that does not exceed count. */
static uint32_t pack_count(uint64_t count)
{
	uint32_t scale = 0;

	for (; count > COUNT_MAX; count >>= SCALE_STEP)
		scale++;
	return (uint32_t)count << SCALE_BITS | scale;
}

static uint64_t count_of(uint32_t word)
{
	return (uint64_t)(word >> SCALE_BITS & COUNT_MAX)
	       << (word & ((1u << SCALE_BITS) - 1)) * SCALE_STEP;
}

static int reserve(struct strip *s, bool threads)
{
	uint32_t capacity = s->capacity;
	void *bigger;

	if (s->count == capacity) {
		capacity = capacity ? capacity + capacity / 2 : RUNS_MIN;
		bigger = realloc(s->runs, sizeof(*s->runs) * capacity);
		if (!bigger)
			return -ENOMEM;
		s->runs = bigger;
	}
	if ((s->threads && capacity > s->capacity) || (threads && !s->threads)) {
		bigger = realloc(s->threads, sizeof(*s->threads) * capacity);
		if (!bigger)
			return -ENOMEM;
		if (!s->threads)
			memset(bigger, 0, sizeof(*s->threads) * capacity);
		s->threads = bigger;
	}
	s->capacity = capacity;
	return 0;
}

static bool continues(const struct strip *s, uint32_t word, uint64_t thread)
{
	return s->count && s->runs[s->count - 1] >> COUNT_BITS == word >> COUNT_BITS &&
	       (s->threads ? s->threads[s->count - 1] : 0) == thread;
}

static int add(struct strip *s, uint64_t count, const struct cell *cell)
{
	uint32_t word = word_of(cell), run;

	if (continues(s, word, cell->thread)) {
		run = s->runs[--s->count];
		count += count_of(run);
		s->end -= count_of(run);
	}
	for (; count; count -= count_of(run)) {
		run = word | pack_count(count);
		if (reserve(s, cell->thread) < 0)
			return -ENOMEM;
		if (s->threads)
			s->threads[s->count] = cell->thread;
		s->runs[s->count++] = run;
		s->end += count_of(run);
	}
	return 0;
}

int strip_add(struct strip *s, uint64_t first, uint64_t count, const struct cell *cell)
{
	static const struct cell nothing;
	int result = 0;

	if (!s->count)
		s->first = s->end = first;
	/* A cell that was added before is not added again. */
	if (first < s->end)
		return 0;
	if (first > s->end)
		result = add(s, first - s->end, &nothing);
	return result < 0 ? result : add(s, count, cell);
}

void strip_drop(struct strip *s, uint64_t below)
{
	uint32_t gone = 0;

	while (gone < s->count && s->first + count_of(s->runs[gone]) <= below)
		s->first += count_of(s->runs[gone++]);
	if (!gone)
		return;
	s->count -= gone;
	memmove(s->runs, s->runs + gone, sizeof(*s->runs) * s->count);
	if (s->threads)
		memmove(s->threads, s->threads + gone, sizeof(*s->threads) * s->count);
	if (!s->count && s->capacity > RUNS_IDLE_MAX)
		strip_free(s);
}

void strip_free(struct strip *s)
{
	free(s->runs);
	free(s->threads);
	*s = (struct strip){0};
}

int strip_copy(const struct strip *s, uint64_t from, uint64_t to, struct run_list *ret)
{
	uint64_t first = s->first, end;

	for (uint32_t i = 0; i < s->count && first < to; i++, first = end) {
		struct run r = {.cell = cell_of(s->runs[i], s->threads ? s->threads[i] : 0)};

		end = first + count_of(s->runs[i]);
		if (end <= from || !r.cell.state)
			continue;
		r.first = first < from ? 0 : first - from;
		r.count = (end < to ? end : to) - from - r.first;
		if (vector_push(ret, r) < 0)
			return -ENOMEM;
	}
	return 0;
}
