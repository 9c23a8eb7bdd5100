// SPDX-License-Identifier: Apache-2.0
/*
 * Render cells from records. A CPU lane's cells follow from its slices, and so do those of lanes of
 * LANE_STATES_SLICES. For threads, the records that concern the wanted threads are put into
 * states.h, in order. states.h also needs to know until when each CPU has records, so the time in
 * which a CPU ran none of these threads is put as one idle slice.
 */
#include "trace/render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/states.h"
#include "trace/checkpoint.h"
#include "trace/id_filter.h"
#include "trace/lane_levels.h"
#include "trace/trace_timeline.h"

#define SLICE_COLUMN(field) (offsetof(struct slice, field) / sizeof(uint64_t))
#define EDGE_COLUMN(field) (offsetof(struct edge, field) / sizeof(uint64_t))
#define BIT(column) (1ULL << (column))

/* Columns of slices that the cells of CPU lanes need. */
#define CPU_MASK \
	(BIT(SLICE_COLUMN(time)) | BIT(SLICE_COLUMN(end)) | BIT(SLICE_COLUMN(lane)) | \
	 BIT(SLICE_COLUMN(state)) | BIT(SLICE_COLUMN(value)))
/* Lanes of LANE_STATES_SLICES also need the waits. */
#define SLICED_MASK (CPU_MASK | BIT(SLICE_COLUMN(wait)))
/* Columns of edges that cells need: a cell does not show the waker and the chosen CPU. */
#define EDGE_MASK (BIT(EDGE_COLUMN(time)) | BIT(EDGE_COLUMN(to)) | BIT(EDGE_COLUMN(kind)))

/* A lane that is being rendered. */
struct rendered_lane {
	struct lane_levels levels; /* must be first: callbacks cast it to the rendered_lane */
	struct cell *cells;
	uint64_t first, end; /* cell numbers of the range */
	enum lane_kind kind;
};

struct rendered_cpu {
	uint64_t lane;
	struct rendered_lane *wanted; /* NULL: not a lane of the query */
	uint64_t at; /* largest end of the slices read, ns, if alive */
	uint64_t put_until; /* end of the last slice put into states, ns, if begun */
	bool alive, begun; /* at is set; put_until is set */
};

struct late_slice {
	struct slice slice;
	uint64_t before; /* end of the CPU's previous slice, ns; 0: none */
};

struct checkpoint_place {
	uint64_t id, time, chunk; /* columns of a checkpoint's row; id 0: no checkpoint */
};

struct rendering {
	struct trace *trace;
	const struct render_query *query;
	const struct trace_lanes *trace_lanes;
	struct rendered_lane *rendered; /* one per query->lanes */
	struct index lanes, cpu_lanes; /* lane.id -> index in rendered, in cpus */
	struct index threads; /* thread.id of the wanted threads */
	struct id_filter of_lanes, of_threads; /* ids in lanes, in threads */
	struct rendered_cpu *cpus;
	size_t cpu_count;
	struct states *states; /* NULL: no thread is wanted */
	bool sliced; /* a lane of LANE_STATES_SLICES is wanted */
	/* records are missing somewhere; then the records of all threads matter to every thread */
	bool gaps;
	struct checkpoint_place start, stop;
	/* by row of the current chunk of slices: end of the CPU's previous slice, ns; 0: none */
	uint64_t before[CODEC_RECORDS_MAX];
	uint8_t rows[CODEC_RECORDS_MAX]; /* whether the row is put into states: ROW_SKIP, ... */
	VECTOR(struct late_slice)
	late; /* slices of CPUs that were put after stop and concern the range */
	struct packer packer;
};

static int render_no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

/* Add the part of a stretch that lies in the query's range to the cells of a lane. */
static inline int render_part(struct rendering *p, struct rendered_lane *c, struct level_stretch s,
			      struct error *err)
{
	if (s.time < p->query->time)
		s.time = p->query->time;
	if (s.end > p->query->end)
		s.end = p->query->end;
	if (s.time < s.end && p->query->stretch)
		return p->query->stretch(p->query->context, (size_t)(c - p->rendered), &s, err);
	if (s.time < s.end && lane_levels_add(&c->levels, 0, &s) < 0)
		return render_no_memory(err);
	return 0;
}

static inline int render_unknown(struct rendering *p, struct rendered_lane *c, uint64_t time,
				 uint64_t end, struct error *err)
{
	return render_part(p, c, (struct level_stretch){time, end, 0, STATE_UNKNOWN << 8}, err);
}

static int render_thread_stretch(void *context, const struct stretch *s, struct error *err)
{
	struct rendering *p = context;
	const struct level_stretch part = {
		.time = s->time, .end = s->end, .key = cell_state_key(s->state, s->wait)};
	uint32_t at = index_get(&p->lanes, s->lane);

	if (at == INDEX_NONE || p->rendered[at].kind != LANE_THREAD)
		return 0;
	return render_part(p, &p->rendered[at], part, err);
}

static struct rendered_cpu *find_rendered_cpu(struct rendering *p, uint64_t lane)
{
	uint32_t at = index_get(&p->cpu_lanes, lane);

	return at == INDEX_NONE ? NULL : &p->cpus[at];
}

static int add_rendered_cpus(struct rendering *p, struct error *err)
{
	const struct trace_lanes *c = p->trace_lanes;

	p->cpus = calloc(c->cpus.count ? c->cpus.count : 1, sizeof(*p->cpus));
	if (!p->cpus)
		return render_no_memory(err);
	for (size_t i = 0; i < c->cpus.count; i++) {
		uint64_t lane = c->cpus.items[i].lane;
		uint32_t wanted = index_get(&p->lanes, lane);

		p->cpus[i] = (struct rendered_cpu){
			.lane = lane,
			.wanted = wanted == INDEX_NONE ? NULL : &p->rendered[wanted],
		};
		if (index_put(&p->cpu_lanes, lane, (uint32_t)i) < 0)
			return render_no_memory(err);
	}
	p->cpu_count = c->cpus.count;
	return 0;
}

static int put_thread_lane(struct rendering *p, uint64_t lane, struct error *err)
{
	const struct lane l = {.id = lane, .kind = LANE_THREAD};
	size_t count;
	const struct thread_of_lane *t = trace_lanes_threads(p->trace_lanes, lane, &count);
	int ret = states_put(p->states, KIND_LANE, &l, err);

	for (size_t i = 0; ret == 0 && i < count; i++) {
		id_filter_add(&p->of_threads, t[i].thread.id);
		ret = states_put(p->states, KIND_THREAD, &t[i].thread, err);
		if (ret == 0 && index_put(&p->threads, t[i].thread.id, 0) < 0)
			ret = render_no_memory(err);
	}
	return ret;
}

/* For qsort(): order ids, because states_put() requires that lane ids grow. */
static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int put_rendered_lane(struct rendering *p, uint64_t id, struct error *err)
{
	struct lane l = {.id = id, .kind = LANE_CPU};
	const struct rendered_cpu *c = find_rendered_cpu(p, id);

	if (!c)
		return put_thread_lane(p, id, err);
	l.number = p->trace_lanes->cpus.items[c - p->cpus].number;
	return states_put(p->states, KIND_LANE, &l, err);
}

static int begin_states(struct rendering *p, struct error *err)
{
	const struct states_events events = {render_thread_stretch, p};
	uint64_t *ids = calloc(p->query->count + p->cpu_count, sizeof(*ids));
	size_t count = 0;
	int ret = ids ? states_new(&p->states, &events, err) : render_no_memory(err);

	for (size_t i = 0; ids && i < p->cpu_count; i++)
		ids[count++] = p->cpus[i].lane;
	for (size_t i = 0; ids && i < p->query->count; i++)
		if (p->query->lanes[i].kind == LANE_THREAD)
			ids[count++] = p->query->lanes[i].id;
	if (ret == 0)
		qsort(ids, count, sizeof(*ids), compare_ids);
	for (size_t i = 0; ret == 0 && i < count; i++)
		if (!i || ids[i] != ids[i - 1])
			ret = put_rendered_lane(p, ids[i], err);
	free(ids);
	return ret;
}

static int set_rendered_cells(struct lane_levels *t, unsigned int level, uint64_t first,
			      uint64_t count, const struct cell *cell)
{
	const struct rendered_lane *c = (const struct rendered_lane *)t;

	(void)level;
	for (uint64_t i = first; i < first + count && i < c->end; i++)
		c->cells[i - c->first] = *cell;
	return 0;
}

static bool is_sliced_kind(enum lane_kind kind)
{
	return lane_traits(kind)->states == LANE_STATES_SLICES;
}

static int add_rendered_lanes(struct rendering *p, bool *threads, struct error *err)
{
	static const struct lane_levels_events events = {set_rendered_cells};
	const struct render_query *q = p->query;

	p->rendered = calloc(q->count ? q->count : 1, sizeof(*p->rendered));
	if (!p->rendered)
		return render_no_memory(err);
	for (size_t i = 0; i < q->count; i++) {
		p->rendered[i] = (struct rendered_lane){
			.levels = {.events = &events, .shift = (uint8_t)q->shift},
			.cells = q->lanes[i].cells,
			.first = q->time >> q->shift,
			.end = q->end >> q->shift,
			.kind = q->lanes[i].kind,
		};
		*threads = *threads || q->lanes[i].kind == LANE_THREAD;
		p->sliced = p->sliced || is_sliced_kind(q->lanes[i].kind);
		id_filter_add(&p->of_lanes, q->lanes[i].id);
		if (index_put(&p->lanes, q->lanes[i].id, (uint32_t)i) < 0)
			return render_no_memory(err);
	}
	return 0;
}

static int prepare_rendering(struct rendering *p, struct error *err)
{
	bool threads = false;
	int ret = add_rendered_lanes(p, &threads, err);

	if (ret == 0)
		ret = add_rendered_cpus(p, err);
	return ret == 0 && threads ? begin_states(p, err) : ret;
}

/*
 * Resume a lane from a checkpoint. The slice of a gap is put when the gap begins, so it may end
 * after the checkpoint.
 */
static int resume_lane(struct rendering *p, const struct stretch *open, struct error *err)
{
	struct rendered_cpu *c = find_rendered_cpu(p, open->lane);

	if (c) {
		c->alive = c->begun = true;
		c->at = c->put_until = open->time;
		if (open->state == STATE_UNKNOWN && open->time > p->start.time) {
			p->gaps = true;
			if (c->wanted &&
			    render_unknown(p, c->wanted, p->start.time, open->time, err) < 0)
				return -ENOMEM;
		}
	} else if (index_get(&p->lanes, open->lane) == INDEX_NONE) {
		return 0;
	}
	return p->states ? states_resume(p->states, open, err) : 0;
}

/* Append the lanes of a checkpoint to out. Return 0, -EBADMSG if it is unreadable, or -ENOMEM. */
static int read_checkpoint_lanes(struct rendering *p, sqlite3_int64 id, struct open_list *out)
{
	sqlite3_stmt *stmt = NULL;
	int ret = -EBADMSG;

	if (sql_prepare(p->trace->db, &stmt, "SELECT lanes FROM main.checkpoint WHERE id = ?1",
			NULL) < 0)
		return -EBADMSG;
	sqlite3_bind_int64(stmt, 1, id);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		ret = checkpoint_unpack_open(&p->packer, sqlite3_column_blob(stmt, 0),
					     (size_t)sqlite3_column_bytes(stmt, 0), out);
	sqlite3_finalize(stmt);
	return ret;
}

static int read_checkpoint(struct rendering *p, sqlite3_int64 base, struct open_list *open)
{
	struct open_list whole = {0};
	int ret = read_checkpoint_lanes(p, (sqlite3_int64)p->start.id, open);

	if (ret < 0 || !base)
		return ret;
	ret = read_checkpoint_lanes(p, base, &whole);
	if (ret == 0)
		ret = open_list_apply(&whole, open);
	vector_free(open);
	*open = whole;
	return ret;
}

/*
 * Set p->start to the last readable checkpoint at or before the start of the range and resume its
 * lanes; without one, reading begins at the start of the trace.
 */
static int begin_at_checkpoint(struct rendering *p, struct error *err)
{
	struct open_list open = {0};
	sqlite3_stmt *stmt = NULL;
	int ret = -EBADMSG;

	if (!trace_has(p->trace, "checkpoint", "lanes") ||
	    sql_prepare(p->trace->db, &stmt,
			"SELECT id, time, chunk, base FROM main.checkpoint WHERE time <= ?1"
			" ORDER BY time DESC, id DESC",
			err) < 0)
		/* There are no checkpoints, or a table of that name was not made by skein. */
		return 0;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)p->query->time);
	while (ret == -EBADMSG && sqlite3_step(stmt) == SQLITE_ROW) {
		vector_free(&open);
		p->start = (struct checkpoint_place){(uint64_t)sqlite3_column_int64(stmt, 0),
						     (uint64_t)sqlite3_column_int64(stmt, 1),
						     (uint64_t)sqlite3_column_int64(stmt, 2)};
		ret = read_checkpoint(p, sqlite3_column_int64(stmt, 3), &open);
	}
	sqlite3_finalize(stmt);
	if (ret < 0) {
		vector_free(&open);
		p->start = (struct checkpoint_place){0};
	}
	if (ret == -EBADMSG)
		ret = 0;
	else if (ret < 0)
		render_no_memory(err);
	for (size_t i = 0; ret == 0 && i < open.count; i++)
		ret = resume_lane(p, &open.items[i], err);
	vector_free(&open);
	return ret;
}

/*
 * Set p->stop to the first checkpoint at or after the end of the range, if there is one: of the
 * records after it, only late slices concern the range (see put_late_slices()).
 */
static int find_stop_checkpoint(struct rendering *p, struct error *err)
{
	sqlite3_stmt *stmt = NULL;

	if (!trace_has(p->trace, "checkpoint", "slices") ||
	    sql_prepare(p->trace->db, &stmt,
			"SELECT id, time, chunk FROM main.checkpoint WHERE time >= ?1"
			" AND chunk > 0 ORDER BY time, id LIMIT 1",
			err) < 0)
		return 0;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)p->query->end);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		p->stop = (struct checkpoint_place){(uint64_t)sqlite3_column_int64(stmt, 0),
						    (uint64_t)sqlite3_column_int64(stmt, 1),
						    (uint64_t)sqlite3_column_int64(stmt, 2)};
	sqlite3_finalize(stmt);
	return 0;
}

static inline bool is_cpu_state(uint64_t state)
{
	return state == STATE_RUNNING || state == STATE_IDLE || state == STATE_OFFLINE ||
	       state == STATE_UNKNOWN;
}

/*
 * Render a slice of a CPU lane if the lane is wanted, and set p->gaps if records are missing before
 * or in the slice. *before becomes the end of the CPU's previous slice, 0 if there is none.
 */
static inline int read_cpu_slice(struct rendering *p, struct rendered_cpu *c, const struct slice *s,
				 uint64_t *before, struct error *err)
{
	const struct level_stretch part = {
		.time = s->time < c->at ? c->at : s->time,
		.end = s->end,
		.thread = s->state == STATE_RUNNING ? s->value : 0,
		.key = cell_state_key(s->state, 0),
	};
	bool hole = c->alive && s->time > c->at;
	int ret = 0;

	*before = c->alive ? c->at : 0;
	p->gaps = p->gaps || hole || s->state == STATE_UNKNOWN;
	if (c->wanted && hole)
		ret = render_unknown(p, c->wanted, c->at, s->time, err);
	if (ret == 0 && c->wanted && part.time < part.end)
		ret = render_part(p, c->wanted, part, err);
	c->alive = true;
	if (s->end > c->at)
		c->at = s->end;
	return ret;
}

/* Return whether a slice begins after the range and its CPU (or NULL) has no gap in the range. */
static inline bool is_beyond(const struct rendering *p, const struct rendered_cpu *c, uint64_t time)
{
	return time >= p->query->end && (!c || !c->alive || c->at >= p->query->end);
}

static inline bool concerns_thread(const struct rendering *p, uint64_t thread)
{
	return thread && id_filter_has(&p->of_threads, thread) &&
	       index_get(&p->threads, thread) != INDEX_NONE;
}

/* Whether to put a row into states: no, only if p->gaps is set, or yes. */
enum { ROW_SKIP, ROW_IF_GAPS, ROW_TAKE };

/* Return the lane if it is of LANE_STATES_SLICES and wanted, else NULL. */
static struct rendered_lane *find_sliced_lane(struct rendering *p, uint64_t lane)
{
	uint32_t at = p->sliced ? index_get(&p->lanes, lane) : INDEX_NONE;

	return at != INDEX_NONE && is_sliced_kind(p->rendered[at].kind) ? &p->rendered[at] : NULL;
}

/* Render a slice of a lane of LANE_STATES_SLICES. */
static int render_sliced(struct rendering *p, struct rendered_lane *l, const struct slice *s,
			 struct error *err)
{
	const struct level_stretch part = {
		.time = s->time, .end = s->end, .key = cell_state_key(s->state, s->wait)};

	return state_of_sliced_lane(s->state) && s->time < s->end ? render_part(p, l, part, err)
								  : 0;
}

static inline int examine_slice(struct rendering *p, struct rendered_cpu *c, const struct slice *s,
				uint32_t row, struct error *err)
{
	struct rendered_lane *sliced;
	int ret;

	p->rows[row] = ROW_SKIP;
	if (is_beyond(p, c, s->time))
		return 0;
	if (!c && (sliced = find_sliced_lane(p, s->lane)))
		return render_sliced(p, sliced, s, err);
	if (!c) {
		p->rows[row] = index_get(&p->lanes, s->lane) == INDEX_NONE ? ROW_SKIP : ROW_TAKE;
		return 0;
	}
	if (!is_cpu_state(s->state) || s->end < s->time)
		return 0;
	ret = read_cpu_slice(p, c, s, &p->before[row], err);
	p->rows[row] = p->states && concerns_thread(p, s->value) ? ROW_TAKE : ROW_IF_GAPS;
	return ret;
}

static int examine_slices(struct rendering *p, const struct columns *slices, struct error *err)
{
	const uint64_t *time = columns_at(slices, SLICE_COLUMN(time));
	const uint64_t *end = columns_at(slices, SLICE_COLUMN(end));
	const uint64_t *lane = columns_at(slices, SLICE_COLUMN(lane));
	const uint64_t *state = columns_at(slices, SLICE_COLUMN(state));
	const uint64_t *value = columns_at(slices, SLICE_COLUMN(value));
	const uint64_t *wait = p->sliced ? columns_at(slices, SLICE_COLUMN(wait)) : NULL;
	struct rendered_cpu *c = NULL;
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < slices->count; i++) {
		const struct slice s = {.time = time[i],
					.end = end[i],
					.lane = lane[i],
					.state = state[i],
					.value = value[i],
					.wait = wait ? wait[i] : 0};

		if (!i || lane[i] != lane[i - 1])
			c = find_rendered_cpu(p, s.lane);
		ret = examine_slice(p, c, &s, i, err);
	}
	return ret;
}

/* Choose the rows that matter to states. When records are missing, every row may matter. */
static void choose_slices(struct rendering *p, const struct columns *slices, struct sorter *out)
{
	const uint64_t *time = columns_at(slices, SLICE_COLUMN(time));
	const uint64_t *end = columns_at(slices, SLICE_COLUMN(end));
	const uint64_t *state = columns_at(slices, SLICE_COLUMN(state));
	const uint64_t *value = columns_at(slices, SLICE_COLUMN(value));

	for (uint32_t i = 0; i < slices->count; i++) {
		if (p->rows[i] == ROW_SKIP || (p->rows[i] == ROW_IF_GAPS && !p->gaps))
			continue;
		sorter_add(out, i,
			   slice_order(&(struct slice){time[i], end[i], .state = state[i],
						       .value = value[i]}));
	}
}

static void choose_edges(struct rendering *p, const struct columns *edges, struct sorter *out)
{
	const uint64_t *time = columns_at(edges, EDGE_COLUMN(time));
	const uint64_t *to = columns_at(edges, EDGE_COLUMN(to));

	for (uint32_t i = 0; i < edges->count; i++)
		if (time[i] < p->query->end && id_filter_has(&p->of_lanes, to[i]) &&
		    index_get(&p->lanes, to[i]) != INDEX_NONE)
			sorter_add(out, i, time[i]);
}

/* Render the CPU lanes and sliced lanes of a chunk, and choose the rows to put into states. */
static int choose_rendered_rows(void *context, enum record_kind kind, const struct columns *c,
				struct sorter *out, struct error *err)
{
	struct rendering *p = context;
	int ret = kind == KIND_SLICE ? examine_slices(p, c, err) : 0;

	if (ret == 0 && kind == KIND_EDGE)
		choose_edges(p, c, out);
	else if (ret == 0 && p->states)
		choose_slices(p, c, out);
	return ret;
}

/* Put the CPU's time after put_until up to until as one idle slice: no wanted thread ran in it. */
static int put_idle_time(struct rendering *p, struct rendered_cpu *c, uint64_t until,
			 struct error *err)
{
	struct slice s = {.time = c->begun ? c->put_until : until,
			  .end = until,
			  .lane = c->lane,
			  .state = STATE_IDLE};

	if (c->begun && c->put_until >= until)
		return 0;
	c->begun = true;
	c->put_until = until;
	return states_put(p->states, KIND_SLICE, &s, err);
}

static int put_rendered_slice(struct rendering *p, const struct slice *s, uint64_t before,
			      struct error *err)
{
	struct rendered_cpu *c = find_rendered_cpu(p, s->lane);
	int ret = 0;

	if (c && before)
		ret = put_idle_time(p, c, before < s->time ? before : s->time, err);
	if (c && s->end > c->put_until)
		c->put_until = s->end;
	if (c)
		c->begun = true;
	return ret < 0 ? ret : states_put(p->states, KIND_SLICE, s, err);
}

/* Put a copy of an edge with the columns of EDGE_MASK only: the others were not decoded. */
static int put_rendered_edge(struct rendering *p, const struct edge *e, struct error *err)
{
	const struct edge seen = {.time = e->time, .to = e->to, .kind = e->kind};

	return states_put(p->states, KIND_EDGE, &seen, err);
}

/* Count each loss as one record left out, whatever its number of records. */
static void count_left_out(void *context, enum record_kind kind, uint64_t time, uint64_t end,
			   uint64_t records)
{
	struct trace *t = context;

	(void)kind, (void)time, (void)end, (void)records;
	t->left_out++;
}

/*
 * Read all chunks from p->start to p->stop, or to the last chunk that touches the range. Render CPU
 * lanes and sliced lanes, and put the chosen records into states.
 */
static int put_all_records(struct rendering *p, struct error *err)
{
	const struct trace_timeline_query q = {
		.to = p->query->end - 1,
		.after = p->start.chunk,
		.until = p->stop.chunk,
		.kinds = WANT(SLICE) | (p->states ? WANT(EDGE) : 0),
		.losses = {.lost = count_left_out, .context = p->trace},
		.slice_columns = p->states   ? 0
				 : p->sliced ? SLICED_MASK
					     : CPU_MASK,
		.edge_columns = EDGE_MASK,
		.choose = choose_rendered_rows,
		.context = p,
	};
	struct trace_timeline *l = NULL;
	enum record_kind kind;
	const void *record;
	int ret = trace_timeline_open(&l, p->trace, &q, err);

	while (ret == 0 && (ret = trace_timeline_next(l, &kind, &record, err)) > 0)
		ret = kind == KIND_SLICE
			      ? put_rendered_slice(p, record, p->before[trace_timeline_row(l)], err)
			      : put_rendered_edge(p, record, err);
	trace_timeline_close(l);
	return ret;
}

/*
 * Return whether every needed CPU that has slices at all, and every wanted lane of
 * LANE_STATES_SLICES, has slices up to the end of the range. With threads, all CPUs are needed.
 */
static bool is_range_covered(const struct rendering *p)
{
	for (size_t i = 0; i < p->cpu_count; i++) {
		const struct rendered_cpu *c = &p->cpus[i];

		if ((c->wanted || p->states) && c->alive && c->at < p->query->end)
			return false;
	}
	for (size_t i = 0; p->sliced && i < p->query->count; i++)
		if (is_sliced_kind(p->rendered[i].kind) && p->rendered[i].levels.at < p->query->end)
			return false;
	return true;
}

/* Render a slice that was put after p->stop if it concerns the range; keep a CPU's in p->late. */
static int read_late_slice(struct rendering *p, const struct slice *s, struct error *err)
{
	struct rendered_cpu *c = find_rendered_cpu(p, s->lane);
	struct late_slice late = {.slice = *s};
	struct rendered_lane *sliced;
	int ret;

	if (!c && s->time < p->query->end && (sliced = find_sliced_lane(p, s->lane)))
		return render_sliced(p, sliced, s, err);
	if (!c || !is_cpu_state(s->state) || s->end < s->time || is_beyond(p, c, s->time) ||
	    (c->alive && s->end <= c->at))
		return 0;
	ret = read_cpu_slice(p, c, s, &late.before, err);
	return ret < 0 || vector_push(&p->late, late) == 0 ? ret : render_no_memory(err);
}

static int read_late_list(struct rendering *p, sqlite3_stmt *row, struct error *err)
{
	struct slice_list list = {0};
	int ret = checkpoint_unpack_slices(&p->packer, sqlite3_column_blob(row, 0),
					   (size_t)sqlite3_column_bytes(row, 0), &list);

	if (ret == -EBADMSG)
		ret = 0;
	else if (ret < 0)
		render_no_memory(err);
	for (size_t i = 0; ret == 0 && i < list.count; i++)
		ret = read_late_slice(p, &list.items[i], err);
	vector_free(&list);
	return ret;
}

/*
 * Read the slices that began before p->stop from the checkpoints after it: each checkpoint lists
 * the slices that were put since the previous checkpoint and began before it.
 */
static int read_late_lists(struct rendering *p, struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE;
	int ret = sql_prepare(p->trace->db, &stmt,
			      "SELECT slices FROM main.checkpoint WHERE id > ?1 AND since < ?2"
			      " ORDER BY id",
			      err);

	if (ret < 0)
		return ret;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)p->stop.id);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)p->query->end);
	while (ret == 0 && !is_range_covered(p) && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		ret = read_late_list(p, stmt, err);
	if (ret == 0 && sql_is_damage(rc))
		p->trace->left_out++;
	else if (ret == 0 && rc != SQLITE_DONE && rc != SQLITE_ROW)
		ret = sql_fail(p->trace->db, rc, err, p->trace->path);
	sqlite3_finalize(stmt);
	return ret;
}

/*
 * Read all slices after the last checkpoint of the trace, because no later checkpoint lists those
 * among them that began before p->stop.
 */
static int read_late_rest(struct rendering *p, struct error *err)
{
	struct chunk_query q = {.kind = KIND_SLICE,
				.to = p->query->end - 1,
				.losses = {.lost = count_left_out, .context = p->trace}};
	struct chunks c = {0};
	struct slice s;
	sqlite3_int64 chunk = 0;
	int ret =
		sql_int(p->trace->db, "SELECT chunk FROM main.checkpoint ORDER BY id DESC LIMIT 1",
			&chunk, err);

	q.after = (uint64_t)chunk;
	if (ret == 0)
		ret = chunks_open(&c, p->trace, &q, err);
	while (ret == 0 && !is_range_covered(p) && (ret = chunks_next(&c, err)) > 0) {
		ret = 0;
		for (uint32_t i = 0; ret == 0 && i < c.columns.count; i++) {
			columns_record(&c.columns, i, (uint64_t *)&s);
			ret = read_late_slice(p, &s, err);
		}
	}
	chunks_close(&c);
	return ret;
}

static int compare_late(const void *a, const void *b)
{
	uint64_t x = slice_order(&((const struct late_slice *)a)->slice);
	uint64_t y = slice_order(&((const struct late_slice *)b)->slice);

	return x < y ? -1 : x > y;
}

static int put_late_slices(struct rendering *p, struct error *err)
{
	int ret = is_range_covered(p) ? 0 : read_late_lists(p, err);

	if (ret == 0 && !is_range_covered(p))
		ret = read_late_rest(p, err);
	if (ret < 0 || !p->states || !p->late.count)
		return ret;
	qsort(p->late.items, p->late.count, sizeof(*p->late.items), compare_late);
	for (size_t i = 0; ret == 0 && i < p->late.count; i++)
		ret = put_rendered_slice(p, &p->late.items[i].slice, p->late.items[i].before, err);
	return ret;
}

/* Render open stretches of threads up to the end of the range or records; close the last cells. */
static int finish_rendering(struct rendering *p, struct error *err)
{
	uint64_t end = p->query->end < p->query->known ? p->query->end : p->query->known;
	int ret = 0;

	for (size_t i = 0; p->states && ret == 0 && i < p->cpu_count; i++)
		if (p->cpus[i].alive)
			ret = put_idle_time(p, &p->cpus[i], p->cpus[i].at, err);
	if (ret == 0 && p->states)
		ret = states_cut(p->states, end, err);
	for (size_t i = 0; ret == 0 && i < p->query->count; i++)
		if (lane_levels_close(&p->rendered[i].levels, 0) < 0)
			ret = render_no_memory(err);
	return ret;
}

static void free_rendering(struct rendering *p)
{
	states_free(p->states);
	index_free(&p->lanes);
	index_free(&p->cpu_lanes);
	index_free(&p->threads);
	packer_free(&p->packer);
	vector_free(&p->late);
	for (size_t i = 0; p->rendered && i < p->query->count; i++)
		lane_levels_free(&p->rendered[i].levels);
	free(p->rendered);
	free(p->cpus);
	free(p);
}

int render_records(struct trace *t, const struct render_query *q, struct error *err)
{
	struct rendering *p = calloc(1, sizeof(*p));
	int ret = p ? 0 : render_no_memory(err);

	if (ret < 0)
		return ret;
	p->trace = t;
	p->query = q;
	ret = trace_lanes_of(t, &p->trace_lanes, err);
	if (ret == 0)
		ret = prepare_rendering(p, err);
	if (ret == 0)
		ret = begin_at_checkpoint(p, err);
	if (ret == 0)
		ret = find_stop_checkpoint(p, err);
	if (ret == 0)
		ret = put_all_records(p, err);
	if (ret == 0 && p->stop.id)
		ret = put_late_slices(p, err);
	if (ret == 0)
		ret = finish_rendering(p, err);
	free_rendering(p);
	return ret;
}
