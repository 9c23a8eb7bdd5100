// SPDX-License-Identifier: Apache-2.0
/*
 * Encode and decode the blobs of checkpoints: tables of numbers, stored column by column, each
 * number as its difference to the number of the row before in the same column.
 */
#include "trace/checkpoint.h"

#include <errno.h>
#include <string.h>

#define CHECKPOINT_VERSION 1
/* Maximum bytes of a blob after decompression; a larger blob is refused. */
#define CHECKPOINT_BYTES_MAX (64u << 20)

#define OPEN_COLUMNS 9u
#define SLICE_COLUMNS (sizeof(struct slice) / sizeof(uint64_t))
#define COLUMNS_MAX 9u /* number of columns that this reader knows */
#define COLUMNS_LATER 64u /* maximum number of columns that a newer skein may write */

static void put_checkpoint_head(struct bytes *b, size_t rows, size_t columns)
{
	b->size = 0;
	bytes_varint(b, CHECKPOINT_VERSION);
	bytes_varint(b, rows);
	bytes_varint(b, columns);
}

static uint64_t open_word(const struct stretch *s, unsigned int column)
{
	const uint64_t words[OPEN_COLUMNS] = {s->lane, s->time,	 s->thread, s->state, s->wait,
					      s->cpu,  s->waker, s->target, s->whole};

	return words[column];
}

int checkpoint_pack_open(struct packer *p, const struct open_list *list, struct bytes *out,
			 struct error *err)
{
	put_checkpoint_head(&p->raw, list->count, OPEN_COLUMNS);
	for (unsigned int c = 0; c < OPEN_COLUMNS; c++) {
		uint64_t last = 0;

		for (size_t i = 0; i < list->count; i++) {
			uint64_t word = open_word(&list->items[i], c);

			bytes_zigzag(&p->raw, word - last);
			last = word;
		}
	}
	return pack_bytes(p, &p->raw, out, err);
}

int checkpoint_pack_slices(struct packer *p, const struct slice_list *list, struct bytes *out,
			   struct error *err)
{
	put_checkpoint_head(&p->raw, list->count, SLICE_COLUMNS);
	for (unsigned int c = 0; c < SLICE_COLUMNS; c++) {
		uint64_t last = 0;

		for (size_t i = 0; i < list->count; i++) {
			uint64_t word = ((const uint64_t *)&list->items[i])[c];

			bytes_zigzag(&p->raw, word - last);
			last = word;
		}
	}
	return pack_bytes(p, &p->raw, out, err);
}

/*
 * The table of a blob that is being decoded. Columns after the known ones were written by a newer
 * skein and are skipped.
 */
struct checkpoint_table {
	struct blob_reader columns[COLUMNS_MAX];
	uint64_t last[COLUMNS_MAX];
	uint64_t rows;
};

static bool find_columns(struct checkpoint_table *t, struct blob_reader in, unsigned int wanted)
{
	uint64_t version, columns, word;

	if (!blob_reader_varint(&in, &version) || version != CHECKPOINT_VERSION ||
	    !blob_reader_varint(&in, &t->rows) || !blob_reader_varint(&in, &columns) ||
	    columns < wanted || columns > COLUMNS_LATER || t->rows > (uint64_t)(in.end - in.at))
		return false;
	for (uint64_t c = 0; c < columns; c++) {
		if (c < wanted)
			t->columns[c] = in;
		for (uint64_t i = 0; i < t->rows; i++)
			if (!blob_reader_varint(&in, &word))
				return false;
	}
	return in.at == in.end;
}

/* Return the next number of a column. Cannot fail, because find_columns() has read all of them. */
static uint64_t next_table_word(struct checkpoint_table *t, unsigned int column)
{
	uint64_t difference = 0;

	blob_reader_zigzag(&t->columns[column], &difference);
	return t->last[column] += difference;
}

static int read_checkpoint_table(struct packer *p, const void *data, size_t size,
				 unsigned int columns, struct checkpoint_table *out)
{
	struct blob_reader in;
	int ret = unpack_bytes(p, data, size, CHECKPOINT_BYTES_MAX, &in);

	if (ret == 0 && !find_columns(out, in, columns))
		ret = -EBADMSG;
	return ret;
}

int checkpoint_unpack_open(struct packer *p, const void *data, size_t size, struct open_list *out)
{
	struct checkpoint_table t = {0};
	uint64_t words[OPEN_COLUMNS];
	int ret = read_checkpoint_table(p, data, size, OPEN_COLUMNS, &t);

	if (ret < 0)
		return ret;
	if (vector_reserve(out, t.rows) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < t.rows; i++) {
		for (unsigned int c = 0; c < OPEN_COLUMNS; c++)
			words[c] = next_table_word(&t, c);
		if (words[3] >= STATE_COUNT || words[4] >= WAIT_COUNT)
			continue; /* a newer skein, or an attacker, has written this column */
		out->items[out->count++] = (struct stretch){
			.lane = words[0],
			.time = words[1],
			.thread = words[2],
			.state = (enum slice_state)words[3],
			.wait = (enum wait_class)words[4],
			.cpu = words[5],
			.waker = words[6],
			.target = words[7],
			.whole = words[8] & 1,
		};
	}
	return 0;
}

int checkpoint_unpack_slices(struct packer *p, const void *data, size_t size,
			     struct slice_list *out)
{
	struct checkpoint_table t = {0};
	int ret = read_checkpoint_table(p, data, size, SLICE_COLUMNS, &t);

	if (ret < 0)
		return ret;
	if (vector_reserve(out, t.rows) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < t.rows; i++) {
		uint64_t *words = (uint64_t *)&out->items[out->count++];

		for (unsigned int c = 0; c < SLICE_COLUMNS; c++)
			words[c] = next_table_word(&t, c);
	}
	return 0;
}

int open_list_add(void *context, const struct stretch *s)
{
	struct open_list *list = context;

	return vector_push(list, *s) < 0 ? -ENOMEM : 0;
}

static bool is_open_list_sorted(const struct open_list *list)
{
	for (size_t i = 1; i < list->count; i++)
		if (list->items[i - 1].lane > list->items[i].lane)
			return false;
	return true;
}

/*
 * One pass of a merge sort: merge each pair of adjacent sorted runs of width items in from, and
 * write the result to to. The last run may be shorter.
 */
static void merge_stretch_runs(const struct stretch *from, struct stretch *to, size_t count,
			       size_t width)
{
	for (size_t low = 0; low < count; low += 2 * width) {
		size_t middle = low + width < count ? low + width : count;
		size_t high = middle + width < count ? middle + width : count;
		size_t i = low, j = middle;

		for (size_t k = low; k < high; k++)
			to[k] = i < middle && (j == high || from[i].lane <= from[j].lane)
					? from[i++]
					: from[j++];
	}
}

int open_list_sort(struct open_list *list)
{
	struct open_list other = {0}, swap;

	if (is_open_list_sorted(list))
		return 0;
	if (vector_reserve(&other, list->count) < 0)
		return -ENOMEM;
	other.count = list->count;
	for (size_t width = 1; width < list->count; width *= 2) {
		merge_stretch_runs(list->items, other.items, list->count, width);
		swap = *list;
		*list = other;
		other = swap;
	}
	vector_free(&other);
	return 0;
}

size_t lane_stretch_count(const struct open_list *list, size_t at)
{
	size_t count = 0;

	while (at + count < list->count && list->items[at + count].lane == list->items[at].lane)
		count++;
	return count;
}

static bool same_stretches(const struct open_list *a, size_t i, const struct open_list *b, size_t j,
			   size_t count)
{
	for (size_t n = 0; n < count; n++)
		for (unsigned int c = 0; c < OPEN_COLUMNS; c++)
			if (open_word(&a->items[i + n], c) != open_word(&b->items[j + n], c))
				return false;
	return true;
}

static int append_stretches(struct open_list *to, const struct open_list *from, size_t at,
			    size_t count)
{
	if (vector_reserve(to, count) < 0)
		return -ENOMEM;
	for (size_t n = 0; n < count; n++)
		to->items[to->count++] = from->items[at + n];
	return 0;
}

int open_list_difference(const struct open_list *base, const struct open_list *now,
			 struct open_list *out)
{
	size_t i = 0, j = 0, rows, gone;
	int ret = 0;

	while (ret == 0 && (i < base->count || j < now->count)) {
		bool old = i < base->count &&
			   (j == now->count || base->items[i].lane <= now->items[j].lane);
		bool new = j < now->count &&
			   (i == base->count || now->items[j].lane <= base->items[i].lane);
		struct stretch dead = {.lane = old ? base->items[i].lane : 0, .state = STATE_DEAD};

		gone = old ? lane_stretch_count(base, i) : 0;
		rows = new ? lane_stretch_count(now, j) : 0;
		if (!new)
			ret = vector_push(out, dead) < 0 ? -ENOMEM : 0;
		else if (gone != rows || !same_stretches(base, i, now, j, rows))
			ret = append_stretches(out, now, j, rows);
		i += gone;
		j += rows;
	}
	return ret;
}

int open_list_apply(struct open_list *base, const struct open_list *difference)
{
	struct open_list ret = {0};
	size_t i = 0, j = 0, rows, gone;
	int result = 0;

	while (result == 0 && (i < base->count || j < difference->count)) {
		bool old = i < base->count && (j == difference->count ||
					       base->items[i].lane <= difference->items[j].lane);
		bool new = j < difference->count &&
			   (i == base->count || difference->items[j].lane <= base->items[i].lane);

		gone = old ? lane_stretch_count(base, i) : 0;
		rows = new ? lane_stretch_count(difference, j) : 0;
		if (!new)
			result = append_stretches(&ret, base, i, gone);
		else if (difference->items[j].state != STATE_DEAD)
			result = append_stretches(&ret, difference, j, rows);
		i += gone;
		j += rows;
	}
	vector_free(base);
	*base = ret;
	return result;
}
