// SPDX-License-Identifier: Apache-2.0
/* Write the tables pyramid and checkpoint from the records. */
#include "trace/zoom.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/checkpoint.h"

/*
 * Minimum number of records between two checkpoints per byte of the first one's lanes: a checkpoint
 * holds every lane, so with many lanes checkpoints are further apart.
 */
#define RECORDS_PER_BYTE 16u
/* Changes are stored, not all lanes, if they take at most a third of the last full checkpoint. */
#define FULL_SHARE 3u
/* fewer than this many checkpoints refer to a full one, since --keep deletes them with it */
#define FOLLOWERS_MAX 16u

#define PYRAMID_ROW_SQL \
	"INSERT INTO pyramid(level,kind,time,\"end\",lane,last,records,data,dead)" \
	" VALUES(?,?,?,?,?,?,?,?,?)"
#define DROP_SQL "DELETE FROM pyramid WHERE level = ? AND kind = ? AND time = ? AND dead"
#define CHECKPOINT_SQL \
	"INSERT INTO checkpoint(time,since,chunk,base,lanes,slices) VALUES(?,?,?,?,?,?)"

/* The last checkpoint that holds all lanes. */
struct base_checkpoint {
	sqlite3_int64 id; /* checkpoint.id; 0: none */
	struct open_list lanes;
	size_t bytes; /* size of its blob of lanes */
	unsigned int followers; /* number of checkpoints that refer to this one */
};

struct zoom {
	sqlite3 *db;
	struct zoom_events events;
	sqlite3_stmt *put_pyramid_row, *drop_dead, *put_checkpoint;
	struct pyramid_options options;
	struct pyramid *pyramid;
	struct states *states;
	uint64_t order; /* largest slice_order() or edge.time so far, ns */
	uint64_t end; /* largest time or end of all records, ns */
	/*
	 * Number of records since the last checkpoint, and the number at which the next one is due.
	 */
	uint64_t records, wanted;
	uint64_t checkpoint; /* time of the last checkpoint, ns */
	/* The slices put since the last checkpoint that began before it. */
	struct slice_list crossing;
	struct open_list open, changed;
	struct base_checkpoint base;
	struct packer packer;
	struct bytes blobs; /* the two blobs of a checkpoint: its lanes, then its slices */
};

static int run_zoom_statement(struct zoom *z, sqlite3_stmt *stmt, struct error *err)
{
	int rc = sqlite3_step(stmt), ret = 0;

	if (rc != SQLITE_DONE)
		ret = sql_fail(z->db, rc, err, "cannot write the trace");
	sqlite3_reset(stmt);
	return ret;
}

static int put_pyramid_row(void *context, const struct pyramid_row *p, struct error *err)
{
	struct zoom *z = context;
	sqlite3_stmt *stmt = z->put_pyramid_row;
	int ret = z->events.begin(z->events.context, err);

	if (ret < 0)
		return ret;
	sqlite3_bind_int64(stmt, 1, p->level);
	sqlite3_bind_int64(stmt, 2, p->kind);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)p->time);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)p->end);
	sqlite3_bind_int64(stmt, 5, (sqlite3_int64)p->lane);
	sqlite3_bind_int64(stmt, 6, (sqlite3_int64)p->last);
	sqlite3_bind_int64(stmt, 7, (sqlite3_int64)p->records);
	sqlite3_bind_blob64(stmt, 8, p->data, p->size, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 9, p->dead);
	return run_zoom_statement(z, stmt, err);
}

static int drop_dead(void *context, unsigned int level, enum lane_kind kind, uint64_t time,
		     struct error *err)
{
	struct zoom *z = context;
	sqlite3_stmt *stmt = z->drop_dead;
	int ret = z->events.begin(z->events.context, err);

	if (ret < 0)
		return ret;
	sqlite3_bind_int64(stmt, 1, level);
	sqlite3_bind_int64(stmt, 2, kind);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)time);
	return run_zoom_statement(z, stmt, err);
}

static int add_zoom_stretch(void *context, const struct stretch *s, struct error *err)
{
	struct zoom *z = context;

	return pyramid_stretch(z->pyramid, s, err);
}

static int new_pyramid(struct zoom *z, struct error *err)
{
	const struct pyramid_events events = {put_pyramid_row, drop_dead, z};

	return pyramid_new(&z->pyramid, &events, &z->options, err);
}

int zoom_new(struct zoom **out, sqlite3 *db, const struct zoom_events *events, struct error *err)
{
	struct zoom *z = calloc(1, sizeof(*z));
	struct states_events stretch_events = {add_zoom_stretch, z};
	int ret;

	if (!z)
		return error_set(err, -ENOMEM, "out of memory");
	z->db = db;
	z->events = *events;
	z->options = PYRAMID_DEFAULTS;
	z->wanted = z->options.records;
	ret = new_pyramid(z, err);
	if (ret == 0)
		ret = states_new(&z->states, &stretch_events, err);
	if (ret == 0)
		ret = sql_prepare(db, &z->put_pyramid_row, PYRAMID_ROW_SQL, err);
	if (ret == 0)
		ret = sql_prepare(db, &z->drop_dead, DROP_SQL, err);
	if (ret == 0)
		ret = sql_prepare(db, &z->put_checkpoint, CHECKPOINT_SQL, err);
	if (ret < 0)
		zoom_free(z);
	else
		*out = z;
	return ret;
}

void zoom_free(struct zoom *z)
{
	if (!z)
		return;
	sqlite3_finalize(z->put_pyramid_row);
	sqlite3_finalize(z->drop_dead);
	sqlite3_finalize(z->put_checkpoint);
	states_free(z->states);
	pyramid_free(z->pyramid);
	vector_free(&z->crossing);
	vector_free(&z->open);
	vector_free(&z->changed);
	vector_free(&z->base.lanes);
	packer_free(&z->packer);
	bytes_free(&z->blobs);
	free(z);
}

void zoom_set(struct zoom *z, const struct pyramid_options *options)
{
	z->options = *options;
	z->wanted = options->records;
	pyramid_set(z->pyramid, options);
}

/* Count a slice or an edge. */
static int count_zoom_record(struct zoom *z, uint64_t order, uint64_t time, uint64_t end,
			     struct error *err)
{
	if (order > z->order)
		z->order = order;
	if (time > z->end)
		z->end = time;
	if (end > z->end)
		z->end = end;
	z->records++;
	return pyramid_record(z->pyramid, z->states, z->order, err);
}

static int count_slice(struct zoom *z, const struct slice *s, struct error *err)
{
	if (s->time < z->checkpoint && s->end && vector_push(&z->crossing, *s) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return count_zoom_record(z, slice_order(s), s->time, s->end, err);
}

int zoom_put(struct zoom *z, enum record_kind kind, const void *record, struct error *err)
{
	const struct edge *edge = record;
	int ret = 0;

	switch (kind) {
	case KIND_LANE:
		ret = pyramid_lane(z->pyramid, record, err);
		break;
	case KIND_SLICE:
		ret = count_slice(z, record, err);
		break;
	case KIND_EDGE:
		ret = count_zoom_record(z, edge->time, edge->time, edge->end, err);
		break;
	case KIND_THREAD:
		break;
	default:
		return 0;
	}
	return ret < 0 ? ret : states_put(z->states, kind, record, err);
}

bool zoom_is_due(const struct zoom *z)
{
	return z->records >= z->wanted;
}

static int put_checkpoint(struct zoom *z, uint64_t chunk, sqlite3_int64 base, size_t lanes,
			  struct error *err)
{
	sqlite3_stmt *stmt = z->put_checkpoint;
	uint64_t since = z->order;
	int ret = z->events.begin(z->events.context, err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < z->crossing.count; i++)
		if (z->crossing.items[i].time < since)
			since = z->crossing.items[i].time;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)z->order);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)since);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)chunk);
	sqlite3_bind_int64(stmt, 4, base);
	sqlite3_bind_blob64(stmt, 5, z->blobs.data, lanes, SQLITE_STATIC);
	sqlite3_bind_blob64(stmt, 6, z->blobs.data + lanes, z->blobs.size - lanes, SQLITE_STATIC);
	return run_zoom_statement(z, stmt, err);
}

/*
 * Pack the open stretches of all lanes into z->blobs: as changes to the last full checkpoint, whose
 * id *base becomes, if there are few changes; else completely, with *base 0.
 */
static int pack_lanes(struct zoom *z, sqlite3_int64 *base, struct error *err)
{
	int ret = 0;

	z->open.count = z->changed.count = z->blobs.size = 0;
	if (states_each(z->states, open_list_add, &z->open) < 0 || open_list_sort(&z->open) < 0 ||
	    open_list_difference(&z->base.lanes, &z->open, &z->changed) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	*base = z->base.id;
	if (z->base.id)
		ret = checkpoint_pack_open(&z->packer, &z->changed, &z->blobs, err);
	if (ret < 0 || (z->base.id && z->blobs.size <= z->base.bytes / FULL_SHARE &&
			++z->base.followers < FOLLOWERS_MAX))
		return ret;
	*base = z->blobs.size = 0;
	return checkpoint_pack_open(&z->packer, &z->open, &z->blobs, err);
}

/* Make the checkpoint that was just written the base of the next checkpoints. */
static void set_base_checkpoint(struct zoom *z, size_t bytes)
{
	struct open_list old = z->base.lanes;

	z->base = (struct base_checkpoint){
		.id = sqlite3_last_insert_rowid(z->db), .lanes = z->open, .bytes = bytes};
	z->open = old;
}

int zoom_checkpoint(struct zoom *z, uint64_t chunk, struct error *err)
{
	sqlite3_int64 base = 0;
	size_t lanes;
	int ret = pack_lanes(z, &base, err);

	lanes = z->blobs.size;
	if (ret == 0)
		ret = checkpoint_pack_slices(&z->packer, &z->crossing, &z->blobs, err);
	if (ret == 0)
		ret = put_checkpoint(z, chunk, base, lanes, err);
	if (ret < 0)
		return ret;
	if (!base)
		set_base_checkpoint(z, lanes);
	z->crossing.count = 0;
	z->checkpoint = z->order;
	z->records = 0;
	z->wanted = z->options.records;
	if (z->options.records_per_byte && z->wanted < lanes * RECORDS_PER_BYTE)
		z->wanted = lanes * RECORDS_PER_BYTE;
	return 0;
}

void zoom_forget_base(struct zoom *z)
{
	z->base.id = 0;
}

int zoom_finish(struct zoom *z, struct error *err)
{
	int ret = states_end(z->states, z->end, err);

	return ret < 0 ? ret : pyramid_finish(z->pyramid, err);
}
