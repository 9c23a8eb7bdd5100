// SPDX-License-Identifier: Apache-2.0
/*
 * Run-length coded cells. A run has activity, state and wait in 15 bits, and its count in the other
 * 17 bits, as a number and a power of 4 by which it is multiplied. So a hole of years, as damaged
 * traces have, takes a few runs and not millions.
 */
#include "trace/cell_runs.h"

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
#define RUNS_IDLE_MAX 64u /* maximum number of runs for which an empty list may keep memory */

_Static_assert(STATE_COUNT <= 1 << STATE_BITS, "a state takes four bits");
_Static_assert(WAIT_COUNT <= 1 << WAIT_BITS, "a wait takes four bits");
_Static_assert(CELL_FULL < 1 << (32 - COUNT_BITS - STATE_BITS - WAIT_BITS), "and this the rest");

static uint32_t run_word(const struct cell *c)
{
	return ((uint32_t)c->activity << (STATE_BITS + WAIT_BITS) |
		(c->state & ((1u << STATE_BITS) - 1)) << WAIT_BITS |
		(c->wait & ((1u << WAIT_BITS) - 1)))
	       << COUNT_BITS;
}

static struct cell run_cell(uint32_t word, uint64_t thread)
{
	word >>= COUNT_BITS;
	return (struct cell){
		.activity = (uint8_t)(word >> (STATE_BITS + WAIT_BITS)),
		.state = word >> WAIT_BITS & ((1u << STATE_BITS) - 1),
		.wait = word & ((1u << WAIT_BITS) - 1),
		.thread = thread,
	};
}

/*
 * Return the low 17 bits of a run, with the greatest number of cells that a run can hold and that
 * does not exceed count.
 */
static uint32_t pack_count(uint64_t count)
{
	uint32_t scale = 0;

	for (; count > COUNT_MAX; count >>= SCALE_STEP)
		scale++;
	return (uint32_t)count << SCALE_BITS | scale;
}

static uint64_t run_count(uint32_t word)
{
	return (uint64_t)(word >> SCALE_BITS & COUNT_MAX)
	       << (word & ((1u << SCALE_BITS) - 1)) * SCALE_STEP;
}

static int reserve_run(struct cell_runs *s, bool threads)
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

static bool continues_last_run(const struct cell_runs *s, uint32_t word, uint64_t thread)
{
	return s->count && s->runs[s->count - 1] >> COUNT_BITS == word >> COUNT_BITS &&
	       (s->threads ? s->threads[s->count - 1] : 0) == thread;
}

static int append_cells(struct cell_runs *s, uint64_t count, const struct cell *cell)
{
	uint32_t word = run_word(cell), run;

	if (continues_last_run(s, word, cell->thread)) {
		run = s->runs[--s->count];
		count += run_count(run);
		s->end -= run_count(run);
	}
	for (; count; count -= run_count(run)) {
		run = word | pack_count(count);
		if (reserve_run(s, cell->thread) < 0)
			return -ENOMEM;
		if (s->threads)
			s->threads[s->count] = cell->thread;
		s->runs[s->count++] = run;
		s->end += run_count(run);
	}
	return 0;
}

int cell_runs_add(struct cell_runs *s, uint64_t first, uint64_t count, const struct cell *cell)
{
	static const struct cell nothing;
	int ret = 0;

	if (!s->count)
		s->first = s->end = first;
	/* These cells, or later ones, were added before. */
	if (first < s->end)
		return 0;
	if (first > s->end)
		ret = append_cells(s, first - s->end, &nothing);
	return ret < 0 ? ret : append_cells(s, count, cell);
}

void cell_runs_drop(struct cell_runs *s, uint64_t below)
{
	uint32_t gone = 0;

	while (gone < s->count && s->first + run_count(s->runs[gone]) <= below)
		s->first += run_count(s->runs[gone++]);
	if (!gone)
		return;
	s->count -= gone;
	memmove(s->runs, s->runs + gone, sizeof(*s->runs) * s->count);
	if (s->threads)
		memmove(s->threads, s->threads + gone, sizeof(*s->threads) * s->count);
	if (!s->count && s->capacity > RUNS_IDLE_MAX)
		cell_runs_free(s);
}

void cell_runs_free(struct cell_runs *s)
{
	free(s->runs);
	free(s->threads);
	*s = (struct cell_runs){0};
}

int cell_runs_copy(const struct cell_runs *s, uint64_t from, uint64_t to, struct cell_run_list *out)
{
	uint64_t first = s->first, end;

	for (uint32_t i = 0; i < s->count && first < to; i++, first = end) {
		struct cell_run r = {.cell = run_cell(s->runs[i], s->threads ? s->threads[i] : 0)};

		end = first + run_count(s->runs[i]);
		if (end <= from || !r.cell.state)
			continue;
		r.first = first < from ? 0 : first - from;
		r.count = (end < to ? end : to) - from - r.first;
		if (vector_push(out, r) < 0)
			return -ENOMEM;
	}
	return 0;
}
