// SPDX-License-Identifier: Apache-2.0
/*
 * Render a window of the timeline. Its cells are read from the level of the pyramid that fits;
 * blocks that are not stored, and cells finer than any level, are rendered from the records.
 */
#include "trace/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/pyramid.h"
#include "trace/pyramid_row.h"
#include "trace/render.h"

#define FINEST_SHIFT 10u /* the finest cell, 1.024 us */
#define CELLS_MAX (64u << 20) /* maximum number of cells of all lanes of a window: 1 GiB */

/* A lane of the query that exists in the trace. */
struct window_lane {
	uint64_t id;
	struct cell *cells; /* the lane's cells in the window */
	enum lane_kind kind;
};

struct window_rendering {
	struct trace *trace;
	struct window *window;
	const struct trace_lanes *trace_lanes;
	struct window_lane *lanes; /* in order of ids, each once */
	size_t count;
	unsigned int shift; /* a cell is 1 << shift ns */
	uint64_t first; /* number of the first cell */
	bool stored; /* cells of this length belong to a level of the pyramid */
	unsigned int level;
	/*
	 * The blocks that overlap the window; one block for the whole window if the cells belong to
	 * no level.
	 */
	uint64_t first_block;
	size_t blocks;
	uint8_t *missing; /* [lane * blocks + block]: the cells must be rendered from records */
	uint64_t block; /* number of the current block */
	struct packer packer;
};

static int window_no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

void window_free(struct window *w)
{
	if (!w)
		return;
	free(w->cells);
	free(w);
}

/*
 * Return the finest level of which a trace may have stored blocks. Below it all cells are rendered
 * from records, so they may have any length.
 */
static unsigned int finest_level(struct trace *t)
{
	sqlite3_int64 level = PYRAMID_FINEST;

	/* A file that was not made by skein may have another table of that name. */
	if (!trace_has(t, "pyramid", "data") ||
	    sql_int(t->db, "SELECT coalesce(min(level), -1) FROM main.pyramid", &level, NULL) < 0)
		return PYRAMID_FINEST;
	return level < 0 || level > PYRAMID_FINEST ? PYRAMID_FINEST : (unsigned int)level;
}

/*
 * Return the shift of the longest cell of at most ns, but not below FINEST_SHIFT. From that of the
 * finest level on, it is the shift of a level of the pyramid.
 */
static unsigned int choose_shift(uint64_t ns, unsigned int finest)
{
	unsigned int shift = ns ? 63 - (unsigned int)__builtin_clzll(ns) : 0;

	if (shift >= pyramid_shift(PYRAMID_LEVELS - 1))
		return pyramid_shift(PYRAMID_LEVELS - 1);
	if (shift >= pyramid_shift(finest))
		return shift - (shift - PYRAMID_SHIFT) % LEVEL_STEP;
	return shift < FINEST_SHIFT ? FINEST_SHIFT : shift;
}

static int lay_out_window(struct window_rendering *v, const struct window_query *q,
			  struct error *err)
{
	unsigned int finest = finest_level(v->trace);
	uint64_t last, width;
	struct window *w;

	if (q->time >= q->end || !q->width)
		return error_set(err, -EINVAL, "an empty window");
	v->shift = choose_shift((q->end - q->time) / q->width, finest);
	v->first = q->time >> v->shift;
	last = (q->end - 1) >> v->shift;
	width = last - v->first + 1;
	if (width > CELLS_MAX || q->lane_count > CELLS_MAX / width)
		return error_set(err, -EINVAL, "a window of too many cells");
	v->stored = v->shift >= pyramid_shift(finest);
	v->level = v->stored ? (v->shift - PYRAMID_SHIFT) / LEVEL_STEP : 0;
	v->first_block = v->stored ? v->first >> BLOCK_SHIFT : 0;
	v->blocks = v->stored ? (last >> BLOCK_SHIFT) - v->first_block + 1 : 1;
	v->window = w = calloc(1, sizeof(*w));
	if (!w)
		return window_no_memory(err);
	*w = (struct window){.time = v->first << v->shift,
			     .cell = 1ULL << v->shift,
			     .width = (unsigned int)width,
			     .lanes = q->lane_count};
	w->cells = calloc(width * (q->lane_count ? q->lane_count : 1), sizeof(*w->cells));
	return w->cells ? 0 : window_no_memory(err);
}

static int compare_window_lanes(const void *a, const void *b)
{
	const struct window_lane *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int add_window_lanes(struct window_rendering *v, const struct window_query *q,
			    struct error *err)
{
	size_t kept = 0;

	v->lanes = calloc(q->lane_count ? q->lane_count : 1, sizeof(*v->lanes));
	if (!v->lanes)
		return window_no_memory(err);
	for (size_t i = 0; i < q->lane_count; i++) {
		uint32_t kind = index_get(&v->trace_lanes->lanes, q->lanes[i]);

		if (kind != INDEX_NONE)
			v->lanes[v->count++] = (struct window_lane){
				.id = q->lanes[i],
				.cells = v->window->cells + i * v->window->width,
				.kind = (enum lane_kind)kind,
			};
	}
	qsort(v->lanes, v->count, sizeof(*v->lanes), compare_window_lanes);
	for (size_t i = 0; i < v->count; i++)
		if (!i || v->lanes[i].id != v->lanes[kept - 1].id)
			v->lanes[kept++] = v->lanes[i];
	v->count = kept;
	v->missing = malloc(v->count * v->blocks + 1);
	if (!v->missing)
		return window_no_memory(err);
	memset(v->missing, 1, v->count * v->blocks);
	return 0;
}

/* Copy cells for lanes that the query names more than once. */
static void copy_repeated_lanes(struct window_rendering *v, const struct window_query *q)
{
	for (size_t i = 0; i < q->lane_count; i++) {
		const struct window_lane key = {.id = q->lanes[i]};
		const struct window_lane *a =
			bsearch(&key, v->lanes, v->count, sizeof(key), compare_window_lanes);
		struct cell *cells = v->window->cells + i * v->window->width;

		if (a && a->cells != cells)
			memcpy(cells, a->cells, sizeof(*cells) * v->window->width);
	}
}

/* Set *first and *end to the cells of a block in the window, counted from the block's first. */
static void block_cells(const struct window_rendering *v, uint64_t block, unsigned int *first,
			unsigned int *end)
{
	uint64_t start = block << BLOCK_SHIFT, last = v->first + v->window->width;

	*first = v->first > start ? (unsigned int)(v->first - start) : 0;
	*end = last - start < BLOCK_CELLS ? (unsigned int)(last - start) : BLOCK_CELLS;
}

static size_t find_window_lane(const struct window_rendering *v, uint64_t id)
{
	size_t low = 0, high = v->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (v->lanes[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint8_t *missing_of(struct window_rendering *v, size_t lane, uint64_t block)
{
	return &v->missing[lane * v->blocks + (block - v->first_block)];
}

static struct cell *row_lane_cells(void *context, uint64_t id, bool uncertain)
{
	struct window_rendering *v = context;
	size_t at = find_window_lane(v, id);
	unsigned int first, end;

	if (at == v->count || v->lanes[at].id != id)
		return NULL;
	if (uncertain) {
		*missing_of(v, at, v->block) = 1;
		return NULL;
	}
	block_cells(v, v->block, &first, &end);
	return v->lanes[at].cells + ((v->block << BLOCK_SHIFT) + first - v->first);
}

static void set_missing(struct window_rendering *v, enum lane_kind kind, uint64_t lane,
			uint64_t last, uint8_t missing)
{
	for (size_t i = find_window_lane(v, lane); i < v->count && v->lanes[i].id <= last; i++)
		if (v->lanes[i].kind == kind)
			*missing_of(v, i, v->block) = missing;
}

static bool has_window_lane(const struct window_rendering *v, enum lane_kind kind, uint64_t lane,
			    uint64_t last)
{
	for (size_t i = find_window_lane(v, lane); i < v->count && v->lanes[i].id <= last; i++)
		if (v->lanes[i].kind == kind)
			return true;
	return false;
}

static int read_pyramid_row(struct window_rendering *v, sqlite3_stmt *row, sqlite3_stmt *data,
			    enum lane_kind kind, struct error *err)
{
	uint64_t lane = (uint64_t)sqlite3_column_int64(row, 1);
	uint64_t last = (uint64_t)sqlite3_column_int64(row, 2);
	bool dead = sqlite3_column_int64(row, 4);
	struct pyramid_row_reader to = {.lane = row_lane_cells, .context = v};
	int ret = -EBADMSG;

	v->block = (uint64_t)sqlite3_column_int64(row, 0) >> (v->shift + BLOCK_SHIFT);
	if (v->block < v->first_block || v->block - v->first_block >= v->blocks ||
	    !has_window_lane(v, kind, lane, last))
		return 0;
	block_cells(v, v->block, &to.first, &to.end);
	if (!dead)
		set_missing(v, kind, lane, last, 0);
	sqlite3_bind_int64(data, 1, sqlite3_column_int64(row, 3));
	if (sqlite3_step(data) == SQLITE_ROW)
		ret = pyramid_row_decode(&v->packer, sqlite3_column_blob(data, 0),
					 (size_t)sqlite3_column_bytes(data, 0), &to);
	sqlite3_reset(data);
	if (ret == -EBADMSG)
		set_missing(v, kind, lane, last, 1);
	return ret == -ENOMEM ? window_no_memory(err) : 0;
}

static int read_rows_of_kind(struct window_rendering *v, enum lane_kind kind, struct error *err)
{
	sqlite3_stmt *rows = NULL, *data = NULL;
	uint64_t start = v->first_block << (v->shift + BLOCK_SHIFT);
	int ret = 0;

	if (!lane_kind_has_cells(kind) || !has_window_lane(v, kind, 0, UINT64_MAX))
		return 0;
	if (sql_prepare(v->trace->db, &rows,
			"SELECT time, lane, last, id, dead FROM main.pyramid"
			" WHERE level = ?1 AND kind = ?2 AND time >= ?3 AND time <= ?4"
			" ORDER BY time, dead",
			err) < 0 ||
	    sql_prepare(v->trace->db, &data, "SELECT data FROM main.pyramid WHERE id = ?1", err) <
		    0)
		/* A file that was not made by skein may have another table of that name. */
		goto out;
	sqlite3_bind_int64(rows, 1, v->level);
	sqlite3_bind_int64(rows, 2, kind);
	sqlite3_bind_int64(rows, 3, (sqlite3_int64)start);
	sqlite3_bind_int64(rows, 4,
			   (sqlite3_int64)(v->window->time +
					   (uint64_t)v->window->width * v->window->cell - 1));
	while (ret == 0 && sqlite3_step(rows) == SQLITE_ROW)
		ret = read_pyramid_row(v, rows, data, kind, err);
out:
	sqlite3_finalize(rows);
	sqlite3_finalize(data);
	return ret;
}

static int read_pyramid_rows(struct window_rendering *v, struct error *err)
{
	int ret = 0;

	for (enum lane_kind kind = 0; ret == 0 && kind < LANE_KIND_COUNT; kind++)
		ret = read_rows_of_kind(v, kind, err);
	return ret;
}

/* Set *first and *end to the cells of consecutive blocks that lie in the window. */
static void blocks_cells(const struct window_rendering *v, size_t block, size_t blocks,
			 uint64_t *first, uint64_t *end)
{
	uint64_t last = v->first + v->window->width;

	*first = (v->first_block + block) << BLOCK_SHIFT;
	*end = (v->first_block + block + blocks) << BLOCK_SHIFT;
	if (!v->stored || *first < v->first)
		*first = v->first;
	if (!v->stored || *end > last)
		*end = last;
}

/* Clear the cells of a lane's missing blocks, some of which a damaged row may have set. */
static void clear_missing(struct window_rendering *v, size_t lane, size_t block, size_t blocks)
{
	uint64_t first, end;

	for (size_t b = block; b < block + blocks; b++) {
		if (!v->missing[lane * v->blocks + b])
			continue;
		blocks_cells(v, b, 1, &first, &end);
		memset(v->lanes[lane].cells + (first - v->first), 0,
		       sizeof(struct cell) * (end - first));
	}
}

static bool lane_misses_cells(struct window_rendering *v, size_t lane, size_t block, size_t blocks)
{
	return memchr(&v->missing[lane * v->blocks + block], 1, blocks) != NULL;
}

/*
 * Render the cells of consecutive blocks of all lanes that lack cells in one of them; cells read
 * from the pyramid are rendered again.
 */
static int render_blocks(struct window_rendering *v, size_t block, size_t blocks, uint64_t known,
			 struct error *err)
{
	struct render_lane *lanes = calloc(v->count, sizeof(*lanes));
	struct render_query q = {.shift = v->shift, .known = known, .lanes = lanes};
	uint64_t first, end;
	int ret;

	if (!lanes)
		return window_no_memory(err);
	blocks_cells(v, block, blocks, &first, &end);
	for (size_t i = 0; i < v->count; i++) {
		if (!lane_misses_cells(v, i, block, blocks))
			continue;
		clear_missing(v, i, block, blocks);
		lanes[q.count++] = (struct render_lane){
			v->lanes[i].id, v->lanes[i].cells + (first - v->first), v->lanes[i].kind};
	}
	q.time = first << v->shift;
	q.end = end << v->shift;
	ret = render_records(v->trace, &q, err);
	free(lanes);
	return ret;
}

static bool block_misses_cells(struct window_rendering *v, size_t block)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->missing[i * v->blocks + block])
			return true;
	return false;
}

static int render_missing_blocks(struct window_rendering *v, struct error *err)
{
	uint64_t time, known = 0;
	size_t from = 0, to;
	int ret = 0;

	if (memchr(v->missing, 1, v->count * v->blocks))
		ret = trace_span(v->trace, &time, &known, err);
	while (ret == 0 && from < v->blocks) {
		for (to = from; to < v->blocks && block_misses_cells(v, to);)
			to++;
		if (to > from)
			ret = render_blocks(v, from, to - from, known, err);
		from = to + 1;
	}
	return ret;
}

int trace_window(struct trace *t, const struct window_query *q, struct window **out,
		 struct error *err)
{
	struct window_rendering v = {.trace = t};
	int ret;

	trace_limit_steps(t, true);
	ret = trace_lanes_of(t, &v.trace_lanes, err);
	if (ret == 0)
		ret = lay_out_window(&v, q, err);
	if (ret == 0)
		ret = add_window_lanes(&v, q, err);
	if (ret == 0 && v.stored && trace_has(t, "pyramid", "data"))
		ret = read_pyramid_rows(&v, err);
	if (ret == 0)
		ret = render_missing_blocks(&v, err);
	if (ret == 0)
		copy_repeated_lanes(&v, q);
	packer_free(&v.packer);
	free(v.lanes);
	free(v.missing);
	if (ret < 0)
		window_free(v.window);
	else
		*out = v.window;
	return ret;
}

int trace_span(struct trace *t, uint64_t *time, uint64_t *end, struct error *err)
{
	sqlite3_int64 first = 0, last = 0;
	int ret = 0;

	if (trace_has(t, "chunk", "end")) {
		ret = sql_int(t->db,
			      "SELECT coalesce(min(time), 0) FROM main.chunk"
			      " WHERE kind IN ('slice', 'edge')",
			      &first, err);
		if (ret == 0)
			ret = sql_int(t->db,
				      "SELECT coalesce(max(\"end\"), 0) FROM main.chunk"
				      " WHERE kind IN ('slice', 'edge')",
				      &last, err);
	}
	if (ret == -EBADMSG) {
		t->left_out++;
		first = last = ret = 0;
	}
	if (ret < 0)
		return ret;
	*time = (uint64_t)first;
	*end = (uint64_t)last;
	return 0;
}
