// SPDX-License-Identifier: Apache-2.0
/* Show several lanes of threads as one (join.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lanes/join.h"
#include "lanes/pool.h"
#include "lanes/visit.h"

/* Cells for a stroke of half a character, as of rows of one thread. */
#define CELLS_PER_JOINED_STROKE 8

static const struct {
	const char *word;
	char letter;
} lanes_choices[LANES_BY_COUNT] = {
#define LANES_CHOICE(NAME, word, letter) [LANES_BY_##NAME] = {word, letter},
	LANES_CHOICES(LANES_CHOICE)
#undef LANES_CHOICE
};

const char *lanes_by_word(unsigned int by)
{
	return by < LANES_BY_COUNT ? lanes_choices[by].word : NULL;
}

char lanes_by_letter(enum lanes_by by)
{
	return lanes_choices[by].letter;
}

int lanes_by_find(const char *word, enum lanes_by *by)
{
	for (unsigned int i = 0; i < LANES_BY_COUNT; i++) {
		if (strcmp(word, lanes_choices[i].word))
			continue;
		*by = (enum lanes_by)i;
		return 0;
	}
	return -EINVAL;
}

const char *lanes_row_name(const struct lanes *l, const struct lane_row *row,
			   char buf[static LANES_ROW_NAME])
{
	if (row->number && row->parts.count > 1) {
		snprintf(buf, LANES_ROW_NAME, "pool %u", row->number);
		return buf;
	}
	return l->entities.threads.items[row->thread].name;
}

/* Return how much a ground says about why something did not run. */
static unsigned int weight_of_ground(enum fill ground)
{
	if (ground == FILL_RUNNABLE)
		return 4;
	if (fill_is_solid(ground))
		return 3;
	/* a line of sleep must not hide that something is unknown */
	return ground == FILL_UNKNOWN ? 2 : ground != FILL_NONE;
}

/* Return which of two grounds says more, in whatever order lanes are joined. */
static enum fill stronger_ground(enum fill a, enum fill b)
{
	unsigned int of_a = weight_of_ground(a), of_b = weight_of_ground(b);

	return of_b > of_a || (of_b == of_a && b < a) ? b : a;
}

void lanes_join_stroke(struct joined *j, const struct stroke *s)
{
	j->sum += s->level;
	j->full += s->level == STROKE_FULL;
	j->unknown += s->ground == FILL_UNKNOWN;
	if (s->ground != j->ground)
		j->ground = (uint8_t)stronger_ground(j->ground, s->ground);
	if (s->level)
		j->bar = s->bar;
}

struct stroke lanes_joined_stroke(const struct joined *j, size_t count)
{
	struct stroke s = {.bar = count == 1 ? j->bar : FILL_RUNNING, .ground = j->ground};

	s.level = (uint8_t)(j->full		   ? STROKE_FULL
			    : j->sum < STROKE_FULL ? j->sum
						   : STROKE_FULL - 1);
	return s;
}

bool lanes_part_lives(const struct lane_part *p, uint64_t time, uint64_t end)
{
	return p->start < end && (!p->end || p->end > time);
}

void lanes_drop_rows(lane_rows_t *rows, size_t first)
{
	for (size_t i = first; i < rows->count; i++) {
		free(rows->items[i].strokes);
		vector_free(&rows->items[i].parts);
	}
	rows->count = rows->count < first ? rows->count : first;
}

/* A row of one thread that is to become a part of another row. */
struct joining {
	const struct lane_row *row;
	struct lane_part part; /* when the thread lived under any of its names */
	uint32_t process;
	const char *name; /* "" if the choice does not look at it */
	uint32_t number; /* of the lane of a pool; 0 if the choice has none */
};

typedef VECTOR(struct joining) joinings_t;

/* Widen the life of a part by that of the thread under one name. */
static void add_life(struct lane_part *p, const struct lane_thread *t)
{
	if (!p->lane) {
		*p = (struct lane_part){t->lane, t->start, t->end};
		return;
	}
	p->start = t->start < p->start ? t->start : p->start;
	p->end = !t->end || !p->end ? 0 : t->end > p->end ? t->end : p->end;
}

static int list_joinings(const struct lanes *l, joinings_t *list)
{
	const struct lanes_entities *c = &l->entities;
	struct index by_lane = {0};
	int ret = 0;

	for (size_t i = 0; i < l->threads.count && !ret; i++) {
		const struct lane_row *row = &l->threads.items[i];
		const struct lane_thread *t = &c->threads.items[row->thread];
		struct joining one = {.row = row, .process = t->process, .name = t->name};

		ret = vector_push(list, one);
		if (!ret)
			ret = index_put(&by_lane, row->lane, i);
	}
	for (size_t i = 0; i < c->threads.count && !ret; i++) {
		const struct lane_thread *t = &c->threads.items[i];
		uint32_t at = t->lane ? index_get(&by_lane, t->lane) : INDEX_NONE;

		if (at != INDEX_NONE)
			add_life(&list->items[at].part, t);
	}
	index_free(&by_lane);
	return ret;
}

static int by_row_to_be(const void *a, const void *b)
{
	const struct joining *x = a, *y = b;
	int order;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	order = strcmp(x->name, y->name);
	if (order)
		return order;
	if (x->part.start != y->part.start)
		return x->part.start < y->part.start ? -1 : 1;
	return (x->part.lane > y->part.lane) - (x->part.lane < y->part.lane);
}

static void sort_joinings(joinings_t *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_row_to_be);
}

/* Set the numbers of the threads of one process, which are count from first on. */
static int number_process(struct joining *first, size_t count)
{
	struct lane_part *parts = calloc(count + 1, sizeof(*parts));
	uint32_t *numbers = calloc(count + 1, sizeof(*numbers));
	int ret = parts && numbers ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !ret; i++)
		parts[i] = first[i].part;
	if (!ret)
		ret = pool_number_threads(parts, count, numbers);
	for (size_t i = 0; i < count && !ret; i++)
		first[i].number = numbers[i];
	free(parts);
	free(numbers);
	return ret;
}

static int number_joinings(joinings_t *list)
{
	int ret = 0;

	for (size_t i = 0; i < list->count; i++)
		list->items[i].name = "";
	sort_joinings(list);
	for (size_t first = 0, end; first < list->count && !ret; first = end) {
		for (end = first;
		     end < list->count && list->items[end].process == list->items[first].process;)
			end++;
		ret = number_process(&list->items[first], end - first);
	}
	return ret;
}

static bool is_same_joined_row(const struct joining *a, const struct joining *b)
{
	return a->process == b->process && a->number == b->number && !strcmp(a->name, b->name);
}

/* Add a part to a row, which is empty before the first one. */
static int add_joining(struct lane_row *row, const struct joining *j)
{
	if (!row->parts.count || j->row->wanted > row->most) {
		row->lane = j->row->lane;
		row->thread = j->row->thread;
		row->most = j->row->wanted;
	}
	row->number = j->number;
	row->busy += j->row->busy;
	row->wanted += j->row->wanted;
	row->full = row->full || j->row->full;
	row->exists = row->exists || j->row->exists;
	return vector_push(&row->parts, j->part);
}

int lanes_join_rows(const struct lanes *l, enum lanes_by by, lane_rows_t *out)
{
	joinings_t list = {0};
	int ret = list_joinings(l, &list);

	if (!ret && by == LANES_BY_POOL)
		ret = number_joinings(&list);
	sort_joinings(&list);
	for (size_t i = 0; i < list.count && !ret; i++) {
		if (!i || !is_same_joined_row(&list.items[i - 1], &list.items[i]))
			ret = vector_push(out, (struct lane_row){0});
		if (!ret)
			ret = add_joining(&out->items[out->count - 1], &list.items[i]);
	}
	vector_free(&list);
	return ret;
}

/* The columns of a row while its parts are painted, and those of one part. */
struct joined_columns {
	struct joined *joined;
	struct stroke *part;
	unsigned int count;
};

static int paint_part(const struct row_visit *v, struct lane_row *row, const struct lane_cells *c)
{
	const struct joined_columns *to = v->context;

	lanes_measure_row(v, row, c);
	lanes_make_strokes(c, NULL, NULL, to->part, to->count);
	for (unsigned int i = 0; i < to->count; i++)
		lanes_join_stroke(&to->joined[i], &to->part[i]);
	return 0;
}

static int list_living_parts(const struct lanes *l, const struct lane_row *row, lane_rows_t *out)
{
	int ret = 0;

	for (size_t i = 0; i < row->parts.count && !ret; i++) {
		const struct lane_part *p = &row->parts.items[i];
		const struct lane_row part = {.lane = p->lane, .thread = row->thread};

		if (lanes_part_lives(p, l->time, l->end))
			ret = vector_push(out, part);
	}
	return ret;
}

/* Set what a row did in the range from what its parts did. */
static void add_up_parts(struct lane_row *row, const lane_rows_t *parts)
{
	row->busy = 0;
	row->full = false;
	for (size_t i = 0; i < parts->count; i++) {
		row->busy += parts->items[i].busy;
		row->full = row->full || parts->items[i].full;
	}
}

/* Paint the parts of a row, and then its strokes, whose room is there. */
static int render_parts(struct lanes *l, struct lane_row *row, struct joined_columns *to,
			struct error *err)
{
	lane_rows_t parts = {0};
	const struct row_visit v = {l, &parts, CELLS_PER_JOINED_STROKE * to->count, paint_part, to};
	int ret = list_living_parts(l, row, &parts);

	memset(to->joined, 0, to->count * sizeof(*to->joined));
	if (ret < 0)
		error_errno(err, ret, "cannot draw the timeline");
	else
		ret = lanes_visit_rows(&v, err);
	for (unsigned int i = 0; i < to->count && !ret; i++)
		row->strokes[i] = lanes_joined_stroke(&to->joined[i], row->parts.count);
	add_up_parts(row, &parts);
	if (!ret)
		l->used |= lanes_used_fills(row->strokes, to->count);
	vector_free(&parts);
	return ret;
}

int lanes_render_joined(struct lanes *l, unsigned int count, struct error *err)
{
	struct joined_columns to = {.joined = calloc(count + 1, sizeof(*to.joined)),
				    .part = calloc(count + 1, sizeof(*to.part)),
				    .count = count};
	int ret = to.joined && to.part ? 0 : -ENOMEM;

	if (ret < 0)
		error_errno(err, ret, "cannot draw the timeline");
	for (size_t i = 0; i < l->threads.count && !ret; i++) {
		struct lane_row *row = &l->threads.items[i];

		free(row->strokes);
		row->strokes = calloc(count + 1, sizeof(*row->strokes));
		ret = row->strokes ? render_parts(l, row, &to, err)
				   : error_errno(err, -ENOMEM, "cannot draw the timeline");
	}
	free(to.joined);
	free(to.part);
	return ret;
}
