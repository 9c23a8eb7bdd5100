// SPDX-License-Identifier: Apache-2.0
/* Compute the strokes that the page draws in a range (timeline.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "lanes/join.h"
#include "view/window_counters.h"

#define HEAD 16 /* bytes before the strokes */
#define STROKE 3 /* bytes of a stroke */
#define LATEST (1ULL << 56) /* ns; two years */
#define PARTS_MAX 65536 /* lanes that are painted for one request */
/* Strokes that are painted at once: bounds the memory for any number of threads. */
#define BATCH_STROKES (1u << 20)

/* A lane of the page: one or more lanes of the trace. */
struct shown_lane {
	size_t count; /* of its parts */
	bool parallel; /* the share of CPUs that are in use */
	bool unpainted; /* there was no time for one of its parts */
	bool counter; /* it has values instead of strokes */
	bool wanted; /* those are the number of threads that wanted a CPU */
	uint64_t number; /* of the counter */
	size_t at; /* where its strokes are in strokes, bytes */
	/* index of its first column in joined; not set if the lane is_one_part() */
	size_t joined;
};

/* A lane of the trace that is a part of a lane of the page. */
struct shown_part {
	uint64_t lane; /* lane.id */
	size_t of; /* index of the lane of the page */
};

struct view_request {
	const struct lanes *lanes;
	uint64_t from, to; /* ns since the start of the recording */
	unsigned int columns;
	VECTOR(struct shown_lane) shown;
	VECTOR(struct shown_part) parts;
	struct joined *joined; /* the columns of lanes that are not one part */
	uint8_t *strokes; /* of the lanes that are no counters, one after the other */
	uint32_t flags; /* VIEW_PARTIAL */
};

static int add_part(struct view_request *r, uint64_t lane)
{
	const struct shown_part part = {lane, r->shown.count};

	return vector_push(&r->parts, part);
}

static int add_cpus(struct view_request *r)
{
	int ret = 0;

	for (size_t i = 0; i < r->lanes->cpus.count && !ret; i++)
		ret = add_part(r, r->lanes->cpus.items[i].lane);
	return ret;
}

/* Add the threads of a row of a choice that lived in the range. */
static int add_row(struct view_request *r, enum lanes_by by, uint64_t number)
{
	const lane_rows_t *rows = lanes_rows_by(r->lanes, by);
	uint64_t start = r->lanes->time;
	int ret = 0;

	for (size_t i = 0; number < rows->count && i < rows->items[number].parts.count && !ret;
	     i++) {
		const struct lane_part *p = &rows->items[number].parts.items[i];

		if (lanes_part_lives(p, start + r->from, start + r->to))
			ret = add_part(r, p->lane);
	}
	return ret;
}

/* Add the threads of a process that lived in the range: a pool has all of them. */
static int add_threads(struct view_request *r, uint64_t process)
{
	const struct lanes *l = r->lanes;
	const lane_rows_t *rows = lanes_rows_by(l, LANES_BY_POOL);
	int ret = 0;

	for (size_t i = 0; i < rows->count && !ret; i++)
		if (l->entities.threads.items[rows->items[i].thread].process == process)
			ret = add_row(r, LANES_BY_POOL, i);
	return ret;
}

/* Return the choice of lanes that has a letter; LANES_BY_COUNT if none has. */
static enum lanes_by choice_of_letter(char letter)
{
	enum lanes_by by = LANES_BY_THREAD;

	while (by < LANES_BY_COUNT && lanes_by_letter(by) != letter)
		by++;
	return by;
}

/* Read a decimal number that ends at a comma or at the end of the text. Return 0 or -EINVAL. */
static int read_number(const char *text, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno || (*end && *end != ',') ? -EINVAL : 0;
}

/* Add the lane that a text begins with. */
static int add_shown_lane(struct view_request *r, const char *name)
{
	static const char parallel[] = "parallel";
	size_t length = strcspn(name, ",");
	struct shown_lane shown = {0};
	enum lanes_by by = choice_of_letter(*name);
	size_t before = r->parts.count;
	uint64_t number;
	int ret;

	if (r->shown.count >= VIEW_LANES_MAX || r->parts.count >= PARTS_MAX)
		return -EINVAL;
	if (length == strlen(parallel) && !strncmp(name, parallel, length)) {
		shown.parallel = true;
		ret = add_cpus(r);
	} else if (*name == 'p') {
		ret = read_number(name + 1, &number);
		ret = ret ? ret : add_threads(r, number);
	} else if (length == strlen(VIEW_WANTED) && !strncmp(name, VIEW_WANTED, length)) {
		shown.counter = shown.wanted = true;
		ret = 0;
	} else if (*name == 'c') {
		shown.counter = true;
		ret = read_number(name + 1, &shown.number);
	} else if (by != LANES_BY_COUNT) {
		ret = read_number(name + 1, &number);
		ret = ret ? ret : add_row(r, by, number);
	} else {
		ret = read_number(name, &number);
		ret = ret ? ret : add_part(r, number);
	}
	shown.count = r->parts.count - before;
	return ret ? ret : vector_push(&r->shown, shown);
}

static int add_shown_lanes(struct view_request *r, const char *names)
{
	int ret = 0;

	while (*names && !ret) {
		ret = add_shown_lane(r, names);
		names += strcspn(names, ",");
		names += *names == ',';
	}
	return ret;
}

/*
 * Return the stroke of a column. Of the CPUs its level is their mean: 0 only if nothing ran, and
 * full only if each CPU ran throughout.
 */
static struct stroke shown_stroke(const struct joined *j, const struct shown_lane *shown)
{
	struct stroke s = lanes_joined_stroke(j, shown->count);
	uint32_t count = (uint32_t)shown->count, mean;

	if (!shown->parallel || !count)
		return s;
	mean = (j->sum + count - 1) / count;
	s.ground = j->unknown * 2 > count ? FILL_UNKNOWN : FILL_NONE;
	s.level = (uint8_t)(j->full == count	 ? STROKE_FULL
			    : mean < STROKE_FULL ? mean
						 : STROKE_FULL - 1);
	return s;
}

static void put_head_number(struct embed_bytes *to, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		to->items[to->count++] = (uint8_t)(value >> (8 * i));
}

/* Return whether the strokes of a lane are those of its only part. */
static bool is_one_part(const struct shown_lane *shown)
{
	return shown->count == 1 && !shown->parallel;
}

static uint8_t *strokes_of_lane(const struct view_request *r, size_t lane)
{
	return r->strokes + r->shown.items[lane].at;
}

static uint8_t *put_stroke(uint8_t *at, const struct stroke *s)
{
	at[0] = s->level;
	at[1] = s->bar;
	at[2] = s->ground;
	return at + STROKE;
}

/* Make room for the strokes and for what is joined. */
static int begin_strokes(struct view_request *r)
{
	size_t columns = 0, bytes = 0;

	for (size_t i = 0; i < r->shown.count; i++) {
		struct shown_lane *shown = &r->shown.items[i];

		shown->joined = columns;
		shown->at = bytes;
		columns += is_one_part(shown) || shown->counter ? 0 : r->columns;
		bytes += shown->counter ? 0 : r->columns * STROKE;
	}
	r->joined = calloc(columns + 1, sizeof(*r->joined));
	r->strokes = malloc(bytes + 1);
	return r->joined && r->strokes ? 0 : -ENOMEM;
}

/* Write the strokes of all lanes but those of one part, which are written already. */
static void finish_strokes(struct view_request *r)
{
	for (size_t i = 0; i < r->shown.count; i++) {
		const struct shown_lane *shown = &r->shown.items[i];
		uint8_t *at = strokes_of_lane(r, i);

		if (shown->counter || (is_one_part(shown) && !shown->unpainted))
			continue;
		for (unsigned int c = 0; c < r->columns; c++) {
			struct stroke s = {.ground = FILL_UNKNOWN};

			if (!shown->unpainted)
				s = shown_stroke(&r->joined[shown->joined + c], shown);
			at = put_stroke(at, &s);
		}
	}
}

/* Append the strokes of a lane, or the values of a counter, to the answer. */
static int write_shown_lane(const struct view_request *r, size_t lane, struct embed_bytes *to)
{
	const struct counter_range range = {r->lanes->time + r->from, r->lanes->time + r->to,
					    r->columns};
	const struct shown_lane *shown = &r->shown.items[lane];
	size_t bytes = (size_t)r->columns * STROKE;

	if (shown->wanted)
		return view_put_wanted(to, r->lanes, &range);
	if (shown->counter)
		return view_put_counter(to, &r->lanes->entities.counters, shown->number, &range);
	if (vector_reserve(to, bytes) < 0)
		return -ENOMEM;
	memcpy(to->items + to->count, strokes_of_lane(r, lane), bytes);
	to->count += bytes;
	return 0;
}

static int write_answer(const struct view_request *r, uint8_t **body, size_t *size)
{
	struct embed_bytes to = {0};
	/* all of it, unless there are counters */
	int ret = vector_reserve(&to, HEAD + r->shown.count * r->columns * STROKE);

	if (!ret) {
		put_head_number(&to, VIEW_MAGIC);
		put_head_number(&to, r->columns);
		put_head_number(&to, (uint32_t)r->shown.count);
		put_head_number(&to, r->flags);
	}
	for (size_t i = 0; i < r->shown.count && !ret; i++)
		ret = write_shown_lane(r, i, &to);
	if (ret < 0) {
		vector_free(&to);
		return ret;
	}
	*body = to.items;
	*size = to.count;
	return 0;
}

/* Read which lanes are wanted, and check that the request makes sense. */
static int read_request(struct view_request *r, const struct view_range *range, struct error *err)
{
	int ret;

	if (range->from >= range->to || range->to > LATEST)
		return error_set(err, -EINVAL, "the range is empty, or longer than any recording");
	if (!range->columns || range->columns > VIEW_COLUMNS_MAX)
		return error_set(err, -EINVAL, "columns: 1 to %u", VIEW_COLUMNS_MAX);
	ret = add_shown_lanes(r, range->names);
	if (ret == -EINVAL)
		return error_set(
			err, ret,
			"lanes: numbers, with p, n, l or c before them, or parallel, at most %u",
			VIEW_LANES_MAX);
	if (!ret && r->shown.count * r->columns > VIEW_STROKES_MAX)
		return error_set(err, -EINVAL, "too many lanes for so many columns");
	return ret ? error_errno(err, ret, "cannot draw the lanes") : 0;
}

/* Add the strokes of a part to its lane of the page. */
static void add_strokes(struct view_request *r, const struct shown_part *part,
			const struct stroke *strokes)
{
	const struct shown_lane *shown = &r->shown.items[part->of];
	struct joined *joined = r->joined + shown->joined;
	uint8_t *at = strokes_of_lane(r, part->of);

	if (is_one_part(shown))
		for (unsigned int c = 0; c < r->columns; c++)
			at = put_stroke(at, &strokes[c]);
	else
		for (unsigned int c = 0; c < r->columns; c++)
			lanes_join_stroke(&joined[c], &strokes[c]);
}

/* Paint count parts from the first one on, and add them to the lanes of the page. */
static int paint_batch(struct view_request *r, const struct view_range *range, size_t first,
		       size_t count, struct error *err)
{
	struct stroke *strokes = calloc(count * r->columns, sizeof(*strokes));
	uint64_t *ids = calloc(count, sizeof(*ids));
	const struct lanes_query q = {r->lanes->time + range->from, r->lanes->time + range->to,
				      r->columns, ids, count};
	int ret = -ENOMEM;

	for (size_t i = 0; i < count && ids; i++)
		ids[i] = r->parts.items[first + i].lane;
	if (ids && strokes)
		ret = lanes_paint(r->lanes, &q, strokes, err);
	else
		error_errno(err, ret, "cannot draw the lanes");
	for (size_t i = 0; i < count && !ret; i++)
		add_strokes(r, &r->parts.items[first + i], strokes + i * r->columns);
	free(ids);
	free(strokes);
	return ret;
}

/* There is no time for the parts from first on. */
static void leave_parts(struct view_request *r, size_t first)
{
	r->flags |= VIEW_PARTIAL;
	for (size_t i = first; i < r->parts.count; i++)
		r->shown.items[r->parts.items[i].of].unpainted = true;
}

static int paint_request(struct view_request *r, const struct view_range *range, struct error *err)
{
	size_t most = BATCH_STROKES / r->columns, count = r->parts.count;
	int ret = 0;

	if (begin_strokes(r) < 0)
		return error_errno(err, -ENOMEM, "cannot draw the lanes");
	for (size_t first = 0; first < count && !ret; first += most) {
		if (first && range->expired && range->expired(range->context)) {
			leave_parts(r, first);
			break;
		}
		ret = paint_batch(r, range, first, count - first < most ? count - first : most,
				  err);
	}
	return ret;
}

int view_window(const struct lanes *l, const struct view_range *range, uint8_t **body, size_t *size,
		struct error *err)
{
	struct view_request r = {
		.lanes = l, .from = range->from, .to = range->to, .columns = range->columns};
	int ret = read_request(&r, range, err);

	if (!ret)
		ret = paint_request(&r, range, err);
	if (!ret) {
		finish_strokes(&r);
		if (write_answer(&r, body, size) < 0)
			ret = error_errno(err, -ENOMEM, "cannot draw the lanes");
	}
	free(r.strokes);
	vector_free(&r.shown);
	vector_free(&r.parts);
	free(r.joined);
	return ret;
}
