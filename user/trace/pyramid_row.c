// SPDX-License-Identifier: Apache-2.0
/*
 * Rows of the zoom pyramid. Cells are stored as columns: all activities of all lanes, then all
 * states, then all threads, because zstd packs similar values better together. A column of a lane
 * is one number per cell, or runs of equal numbers. States and threads are indices in lists of the
 * values that occur in the row.
 */
#include "trace/pyramid_row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROW_VERSION 1
#define LANE_UNCERTAIN 1

enum { COLUMN_ACTIVITY, COLUMN_STATE, COLUMN_THREAD, COLUMN_COUNT };
enum { CELLS_EACH, CELLS_RUNS };

/* Maximum bytes of a row after decompression: more than any writer could make of its lanes. */
#define ROW_BYTES_MAX ((size_t)PYRAMID_ROW_LANES_MAX * (BLOCK_CELLS * COLUMN_COUNT * 12 + 64))

/* The distinct values of one column of a row, sorted. */
struct column_values {
	uint64_t *items;
	size_t count, capacity;
};

static int compare_values(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t cell_value(const struct cell *c, unsigned int column)
{
	switch (column) {
	case COLUMN_ACTIVITY:
		return c->activity;
	case COLUMN_STATE:
		return (uint64_t)c->state << 8 | c->wait;
	default:
		return c->thread;
	}
}

/* Collect the distinct values of a column; 0 is always the first. */
static int collect_values(struct column_values *v, const struct pyramid_row_lane *lanes,
			  unsigned int count, unsigned int column)
{
	size_t kept = 0;

	if (vector_push(v, 0) < 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++)
		for (size_t r = 0; r < lanes[i].count; r++) {
			uint64_t value = cell_value(&lanes[i].runs[r].cell, column);

			if (value != v->items[v->count - 1] && vector_push(v, value) < 0)
				return -ENOMEM;
		}
	qsort(v->items, v->count, sizeof(*v->items), compare_values);
	for (size_t i = 0; i < v->count; i++)
		if (!i || v->items[i] != v->items[kept - 1])
			v->items[kept++] = v->items[i];
	v->count = kept;
	return 0;
}

static uint64_t value_index(const struct column_values *v, uint64_t value)
{
	const uint64_t *found;

	if (!v->items)
		return value;
	found = bsearch(&value, v->items, v->count, sizeof(*v->items), compare_values);
	return (uint64_t)(found - v->items);
}

/* A run of one lane's column. */
struct column_run {
	uint64_t number, cells;
};

struct column_runs {
	struct column_run items[2 * BLOCK_CELLS + 1];
	size_t count;
};

static void add_column_run(struct column_runs *c, uint64_t number, uint64_t cells)
{
	if (!cells)
		return;
	if (c->count && c->items[c->count - 1].number == number)
		c->items[c->count - 1].cells += cells;
	else
		c->items[c->count++] = (struct column_run){number, cells};
}

static void make_column_runs(struct column_runs *c, const struct pyramid_row_lane *lane,
			     const struct column_values *v, unsigned int column)
{
	uint64_t at = 0;

	c->count = 0;
	for (size_t i = 0; i < lane->count; i++) {
		const struct cell_run *r = &lane->runs[i];

		add_column_run(c, 0, r->first - at);
		add_column_run(c, value_index(v, cell_value(&r->cell, column)), r->count);
		at = r->first + r->count;
	}
	add_column_run(c, 0, BLOCK_CELLS - at);
}

/*
 * Write a column as runs (about two bytes each) or as single cells (about one byte each), whichever
 * takes fewer bytes by this estimate.
 */
static void put_lane_column(struct bytes *b, const struct column_runs *c)
{
	bool runs = c->count * 2 < BLOCK_CELLS;

	bytes_varint(b, runs ? c->count << 1 | CELLS_RUNS : CELLS_EACH);
	for (size_t i = 0; i < c->count; i++)
		for (uint64_t n = runs ? 1 : c->items[i].cells; n; n--)
			bytes_varint(b, c->items[i].number);
	for (size_t i = 0; runs && i + 1 < c->count; i++)
		bytes_varint(b, c->items[i].cells);
}

static void put_lane_columns(struct packer *p, const struct pyramid_row_lane *lanes,
			     unsigned int count, const struct column_values *v, unsigned int column)
{
	struct bytes *b = &p->raw, *part = &p->buffer;
	struct column_runs runs;

	part->size = 0;
	for (unsigned int i = 0; i < count; i++) {
		size_t from = part->size;

		if (lanes[i].uncertain)
			continue;
		make_column_runs(&runs, &lanes[i], v, column);
		put_lane_column(part, &runs);
		bytes_varint(b, part->size - from);
	}
	bytes_add(b, part->data, part->size);
	b->failed = b->failed || part->failed;
}

static void put_column_values(struct bytes *b, const struct column_values *v)
{
	bytes_varint(b, v->count - 1);
	for (size_t i = 1; i < v->count; i++)
		bytes_varint(b, v->items[i] - v->items[i - 1]);
}

static void put_row_lanes(struct bytes *b, const struct pyramid_row_lane *lanes, unsigned int count)
{
	uint64_t last = 0;

	bytes_varint(b, ROW_VERSION);
	bytes_varint(b, count);
	for (unsigned int i = 0; i < count; i++) {
		bytes_varint(b, lanes[i].id - last);
		bytes_varint(b, lanes[i].uncertain ? LANE_UNCERTAIN : 0);
		last = lanes[i].id;
	}
}

int pyramid_row_encode(struct packer *p, const struct pyramid_row_lane *lanes, unsigned int count,
		       struct bytes *out, struct error *err)
{
	struct column_values values[COLUMN_COUNT] = {0};
	int ret = 0;

	p->raw.size = 0;
	put_row_lanes(&p->raw, lanes, count);
	for (unsigned int c = COLUMN_STATE; ret == 0 && c < COLUMN_COUNT; c++) {
		ret = collect_values(&values[c], lanes, count, c);
		if (ret == 0)
			put_column_values(&p->raw, &values[c]);
	}
	for (unsigned int c = 0; ret == 0 && c < COLUMN_COUNT; c++)
		put_lane_columns(p, lanes, count, &values[c], c);
	for (unsigned int c = 0; c < COLUMN_COUNT; c++)
		vector_free(&values[c]);
	if (ret < 0)
		return error_set(err, ret, "out of memory");
	return pack_bytes(p, &p->raw, out, err);
}

/* The state of decoding a row. */
struct row_decoding {
	/* one per lane that is not uncertain, since only these have columns; NULL: not wanted */
	struct cell *cells[PYRAMID_ROW_LANES_MAX];
	unsigned int count;
	unsigned int first, end; /* range of the wanted cells in the block */
	struct column_values values[COLUMN_COUNT];
};

static bool get_row_lanes(struct row_decoding *r, struct blob_reader *in,
			  const struct pyramid_row_reader *to)
{
	uint64_t version, count, delta, flags, id = 0;
	struct cell *cells;

	if (!blob_reader_varint(in, &version) || version != ROW_VERSION ||
	    !blob_reader_varint(in, &count) || count > PYRAMID_ROW_LANES_MAX)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!blob_reader_varint(in, &delta) || !blob_reader_varint(in, &flags) ||
		    flags > LANE_UNCERTAIN || !delta || id + delta < id)
			return false;
		id += delta;
		cells = to->lane(to->context, id, flags == LANE_UNCERTAIN);
		if (flags != LANE_UNCERTAIN)
			r->cells[r->count++] = cells;
	}
	return true;
}

static int get_column_values(struct column_values *v, struct blob_reader *in)
{
	uint64_t count, delta, value = 0;

	if (!blob_reader_varint(in, &count) || count > (uint64_t)(in->end - in->at))
		return -EBADMSG;
	v->count = 0;
	if (vector_reserve(v, count + 1) < 0)
		return -ENOMEM;
	v->items[v->count++] = 0;
	for (uint64_t i = 0; i < count; i++) {
		if (!blob_reader_varint(in, &delta) || !delta || value + delta < value)
			return -EBADMSG;
		v->items[v->count++] = value += delta;
	}
	return 0;
}

/* A column of one lane that is being decoded. */
struct lane_column {
	const struct row_decoding *row;
	struct blob_reader in;
	unsigned int column;
	struct cell *cells; /* of the lane */
};

static inline void set_cell_value(struct cell *c, unsigned int column, uint64_t value)
{
	switch (column) {
	case COLUMN_ACTIVITY:
		c->activity = (uint8_t)value;
		break;
	case COLUMN_STATE:
		c->state = (uint8_t)(value >> 8);
		c->wait = (uint8_t)value;
		break;
	default:
		c->thread = value;
	}
}

/* Set the value of one column in the cells [from, to) of the block, as far as they are wanted. */
static inline void set_column_cells(const struct lane_column *l, unsigned int column,
				    unsigned int from, unsigned int to, uint64_t value)
{
	const struct row_decoding *r = l->row;

	if (from < r->first)
		from = r->first;
	if (to > r->end)
		to = r->end;
	for (unsigned int i = from; i < to; i++)
		set_cell_value(&l->cells[i - r->first], column, value);
}

/* Read the next value of a column: an activity, or the index of a state or thread in its list. */
static inline bool get_cell_value(struct lane_column *l, unsigned int column, uint64_t *out)
{
	const struct column_values *v = &l->row->values[column];

	if (l->in.at < l->in.end && *l->in.at < 128)
		*out = *l->in.at++; /* most values take one byte */
	else if (!blob_reader_varint(&l->in, out))
		return false;
	if (column == COLUMN_ACTIVITY)
		return *out <= CELL_FULL;
	if (*out >= v->count)
		return false;
	*out = v->items[*out];
	return column != COLUMN_STATE || *out <= UINT16_MAX;
}

static inline bool get_single_cells(struct lane_column *l, unsigned int column)
{
	uint64_t value;

	for (unsigned int i = 0; i < BLOCK_CELLS; i++) {
		if (!get_cell_value(l, column, &value))
			return false;
		if (i >= l->row->first && i < l->row->end)
			set_cell_value(&l->cells[i - l->row->first], column, value);
	}
	return true;
}

static inline bool get_cell_runs(struct lane_column *l, unsigned int column, uint64_t count)
{
	struct blob_reader lengths = l->in;
	uint64_t value, length, left = BLOCK_CELLS;

	if (!count || count > BLOCK_CELLS)
		return false;
	for (uint64_t i = 0; i < count; i++)
		if (!blob_reader_varint(&lengths, &value))
			return false;
	for (uint64_t i = 0; i < count; i++) {
		length = left;
		if (!get_cell_value(l, column, &value) ||
		    (i + 1 < count && !blob_reader_varint(&lengths, &length)) || !length ||
		    length > left)
			return false;
		if (value)
			set_column_cells(l, column, (unsigned int)(BLOCK_CELLS - left),
					 (unsigned int)(BLOCK_CELLS - left + length), value);
		left -= length;
	}
	l->in = lengths;
	return !left;
}

/* The column is a constant where this is called, so that the loops over cells do not look at it. */
static inline bool get_cells(struct lane_column *l, unsigned int column, uint64_t form)
{
	return form & CELLS_RUNS ? get_cell_runs(l, column, form >> 1)
				 : !form && get_single_cells(l, column);
}

static bool get_lane_column(struct lane_column *l)
{
	uint64_t form;
	bool good;

	if (!blob_reader_varint(&l->in, &form))
		return false;
	if (l->column == COLUMN_ACTIVITY)
		good = get_cells(l, COLUMN_ACTIVITY, form);
	else if (l->column == COLUMN_STATE)
		good = get_cells(l, COLUMN_STATE, form);
	else
		good = get_cells(l, COLUMN_THREAD, form);
	return good && l->in.at == l->in.end;
}

static bool get_lane_columns(const struct row_decoding *r, struct blob_reader *in,
			     unsigned int column)
{
	uint64_t sizes[PYRAMID_ROW_LANES_MAX];
	struct lane_column l = {.row = r, .column = column};

	for (unsigned int i = 0; i < r->count; i++)
		if (!blob_reader_varint(in, &sizes[i]))
			return false;
	for (unsigned int i = 0; i < r->count; i++) {
		l.cells = r->cells[i];
		if (!blob_reader_part(in, sizes[i], &l.in) || (l.cells && !get_lane_column(&l)))
			return false;
	}
	return true;
}

static int decode_row(struct row_decoding *r, struct blob_reader in,
		      const struct pyramid_row_reader *to)
{
	int ret = get_row_lanes(r, &in, to) ? 0 : -EBADMSG;

	for (unsigned int c = COLUMN_STATE; ret == 0 && c < COLUMN_COUNT; c++)
		ret = get_column_values(&r->values[c], &in);
	for (unsigned int c = 0; ret == 0 && c < COLUMN_COUNT; c++)
		ret = get_lane_columns(r, &in, c) ? 0 : -EBADMSG;
	return ret == 0 && in.at != in.end ? -EBADMSG : ret;
}

int pyramid_row_decode(struct packer *p, const void *data, size_t size,
		       const struct pyramid_row_reader *to)
{
	struct row_decoding r = {.first = to->first, .end = to->end};
	struct blob_reader in;
	int ret = unpack_bytes(p, data, size, ROW_BYTES_MAX, &in);

	if (ret == 0)
		ret = decode_row(&r, in, to);
	for (unsigned int c = 0; c < COLUMN_COUNT; c++)
		vector_free(&r.values[c]);
	return ret;
}
