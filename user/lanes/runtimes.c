// SPDX-License-Identifier: Apache-2.0
/*
 * The rows of runtimes in a timeline: when a JVM was stopping its threads, had stopped them, for a
 * collection or another reason, and when it collected beside them; when a thread held the lock of
 * a Python interpreter while others waited.
 */
#include <errno.h>
#include <stdlib.h>

#include "lanes/lanes.h"

static enum fill fill_of_span(uint64_t kind)
{
	switch (kind) {
	case SPAN_COLLECTION:
	case SPAN_PAUSE:
	case SPAN_GC_STOP:
		return FILL_COLLECTION;
	case SPAN_SAFEPOINT:
	case SPAN_LEAVING:
	case SPAN_OPERATION:
		return FILL_SAFEPOINT;
	case SPAN_REACHING:
		return FILL_REACHING;
	case SPAN_PHASE:
		return FILL_PHASE;
	case SPAN_GIL:
		return FILL_GIL_HELD;
	case SPAN_INTERRUPT:
		return FILL_INTERRUPT;
	case SPAN_SOFTIRQ:
		return FILL_SOFTIRQ;
	default:
		return FILL_NONE;
	}
}

/* Return when a span of a process ended, at the latest with the process. */
static uint64_t end_of_span(const struct lanes_entities *c, const struct span *s, uint64_t process)
{
	uint32_t at = index_get(&c->process_by_id, process);
	uint64_t ended = at == INDEX_NONE ? 0 : c->processes.items[at].p.end;

	return s->end ? s->end : ended ? ended : UINT64_MAX;
}

int lanes_add_span(struct lanes_entities *c, const struct span *s)
{
	struct lane_owner owner = lane_owners_find(&c->owners, s->lane);
	struct lane_act act = {s->time, end_of_span(c, s, owner.process), s->lane,
			       fill_of_span(s->kind), LANES_NONE};

	if (act.fill == FILL_NONE || act.end <= act.time)
		return 0;
	if (owner.kind == LANE_HANDLERS)
		return lanes_add_handled(c, &act, s->name);
	return owner.kind == LANE_RUNTIME ? vector_push(&c->acts, act) : 0;
}

static int by_act_time(const void *a, const void *b)
{
	const struct lane_act *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? 1 : -1;
	/* of equal ones, a collection lies within a safepoint */
	return (x->fill > y->fill) - (x->fill < y->fill);
}

typedef VECTOR(struct lane_act) acts_t;

/* Append the part of an act from *now on until a time, and move *now there. */
static int put_act(acts_t *to, const struct lane_act *a, uint64_t *now, uint64_t until)
{
	struct lane_act part = *a;

	if (until <= *now)
		return 0;
	part.time = *now;
	part.end = until;
	*now = until;
	return vector_push(to, part);
}

/* Put what is left of the open acts that end before a time, the innermost first. */
static int close_acts(acts_t *to, acts_t *open, uint64_t *now, uint64_t until)
{
	int ret = 0;

	while (open->count && !ret && open->items[open->count - 1].end <= until) {
		const struct lane_act *last = &open->items[--open->count];

		ret = put_act(to, last, now, last->end);
	}
	return ret;
}

/* Divide the sorted acts of one lane. */
static int divide_lane(acts_t *to, acts_t *open, const struct lane_act *acts, size_t count)
{
	uint64_t now = acts[0].time;
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		ret = close_acts(to, open, &now, acts[i].time);
		if (!ret && open->count)
			ret = put_act(to, &open->items[open->count - 1], &now, acts[i].time);
		now = acts[i].time > now ? acts[i].time : now;
		if (!ret)
			ret = vector_push(open, acts[i]);
	}
	return ret ? ret : close_acts(to, open, &now, UINT64_MAX);
}

int lanes_divide_acts(struct lanes_entities *c)
{
	acts_t divided = {0}, open = {0};
	int ret = 0;

	if (!c->acts.count)
		return 0;
	qsort(c->acts.items, c->acts.count, sizeof(*c->acts.items), by_act_time);
	for (size_t first = 0, end; first < c->acts.count && !ret; first = end) {
		const struct lane_act *acts = &c->acts.items[first];

		for (end = first; end < c->acts.count && c->acts.items[end].lane == acts->lane;)
			end++;
		ret = divide_lane(&divided, &open, acts, end - first);
	}
	vector_free(&open);
	vector_free(&c->acts);
	c->acts.items = divided.items;
	c->acts.count = divided.count;
	c->acts.capacity = divided.capacity;
	return ret;
}

/* Return the index of the first act of a lane that ends after a time, or of a later lane. */
size_t lanes_first_act(const struct lanes_entities *c, uint64_t lane, uint64_t time)
{
	size_t low = 0, high = c->acts.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct lane_act *a = &c->acts.items[middle];

		if (a->lane < lane || (a->lane == lane && a->end <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return the length of the part of an act in the shown range, ns. */
static uint64_t act_inside(const struct lanes *l, const struct lane_act *a)
{
	uint64_t begin = a->time > l->time ? a->time : l->time;
	uint64_t end = a->end < l->end ? a->end : l->end;

	return end > begin ? end - begin : 0;
}

static int by_process_and_lane(const void *a, const void *b)
{
	const struct lane_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->lane > y->lane) - (x->lane < y->lane);
}

int lanes_choose_runtimes(struct lanes *l)
{
	const struct lanes_entities *c = &l->entities;

	for (size_t i = 0; i < c->runtimes.count; i++) {
		const struct lane *lane = &c->runtimes.items[i];
		uint64_t process = lane_owners_find(&c->owners, lane->id).process, busy = 0;
		struct lane_row row = {.lane = lane->id,
				       .runtime = lane,
				       .thread = LANES_NONE,
				       .process = index_get(&c->process_by_id, process)};

		for (size_t n = lanes_first_act(c, lane->id, l->time);
		     n < c->acts.count && c->acts.items[n].lane == lane->id; n++)
			busy += act_inside(l, &c->acts.items[n]);
		row.busy = (double)busy / (double)(l->end - l->time);
		row.full = busy == l->end - l->time;
		if (busy && vector_push(&l->runtimes, row) < 0)
			return -ENOMEM;
	}
	if (l->runtimes.count)
		qsort(l->runtimes.items, l->runtimes.count, sizeof(*l->runtimes.items),
		      by_process_and_lane);
	return 0;
}

/* Times of the acts in one stroke, ns. */
struct act_votes {
	double by_fill[FILL_COUNT];
};

/* Add an act to the strokes that it touches, of count strokes of the range. */
static void vote_for_strokes(const struct lanes *l, const struct lane_act *a,
			     struct act_votes *votes, unsigned int count)
{
	double length = (double)(l->end - l->time) / count;
	uint64_t begin = a->time > l->time ? a->time : l->time;
	double from = (double)(begin - l->time), to = from + (double)act_inside(l, a);

	if (!act_inside(l, a))
		return;
	for (unsigned int i = (unsigned int)(from / length); i < count && length * i < to; i++) {
		double first = length * i > from ? length * i : from;
		double last = length * (i + 1) < to ? length * (i + 1) : to;

		votes[i].by_fill[a->fill] += last > first ? last - first : 0;
	}
}

static struct stroke stroke_of_acts(const struct act_votes *v, double length)
{
	double sum = 0;
	struct stroke s = {0};

	for (unsigned int fill = 0; fill < FILL_COUNT; fill++) {
		sum += v->by_fill[fill];
		if (v->by_fill[fill] > v->by_fill[s.bar])
			s.bar = (uint8_t)fill;
	}
	if (sum <= 0)
		return s;
	sum = sum / length * STROKE_FULL;
	s.level = sum < 1 ? 1 : sum > STROKE_FULL - 0.5 ? STROKE_FULL : (uint8_t)sum;
	return s;
}

int lanes_runtime_strokes(const struct lanes *l, uint64_t lane, struct stroke *strokes,
			  unsigned int count)
{
	double length = (double)(l->end - l->time) / count;
	const struct lanes_entities *c = &l->entities;
	struct act_votes *votes = calloc(count, sizeof(*votes));

	if (!votes)
		return -ENOMEM;
	for (size_t i = lanes_first_act(c, lane, l->time);
	     i < c->acts.count && c->acts.items[i].lane == lane && c->acts.items[i].time < l->end;
	     i++)
		vote_for_strokes(l, &c->acts.items[i], votes, count);
	for (unsigned int i = 0; i < count; i++)
		strokes[i] = stroke_of_acts(&votes[i], length);
	free(votes);
	return 0;
}

/* Note which fills a row uses, see struct lanes.used. */
static void note_used_fills(struct lanes *l, const struct stroke *strokes, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (strokes[i].level)
			l->used_by_runtimes |= 1ULL << strokes[i].bar;
		if (strokes[i].level && strokes[i].level < STROKE_FULL)
			l->used_by_runtimes |= 1ULL << LANES_PARTLY;
	}
}

static int render_runtime(struct lanes *l, struct lane_row *row, unsigned int count)
{
	int ret;

	free(row->strokes);
	row->strokes = calloc(count + 1, sizeof(*row->strokes));
	if (!row->strokes)
		return -ENOMEM;
	ret = lanes_runtime_strokes(l, row->lane, row->strokes, count);
	note_used_fills(l, row->strokes, count);
	return ret;
}

int lanes_render_runtimes(struct lanes *l, unsigned int count)
{
	int ret = 0;

	l->used_by_runtimes = 0;
	for (size_t i = 0; i < l->runtimes.count && !ret; i++)
		ret = render_runtime(l, &l->runtimes.items[i], count);
	return ret;
}
