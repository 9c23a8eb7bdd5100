// SPDX-License-Identifier: Apache-2.0
/* Account for the records of a transaction that may fail; see unstored.h. */
#include "trace/unstored.h"

#include "base/pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* maximum number of rows kept per transaction; a machine of 4,096 CPUs has fewer per second */
#define ROWS_MAX 65536

/*
 * Return whether rows of the kind are needed to read the stored part, or to know what is missing.
 */
static bool describes_recording(enum record_kind kind)
{
	return kind == KIND_HOST || kind == KIND_INFO || kind == KIND_EVENT ||
	       kind == KIND_ACCOUNT || kind == KIND_HANDLER || kind == KIND_GROUP_TIME ||
	       kind == KIND_LOSS;
}

static size_t texts_size(const struct kind *k, const void *record)
{
	size_t size = 0;

	for (unsigned int i = 0; i < k->field_count; i++)
		if (k->fields[i].type == FIELD_TEXT)
			size += strlen(field_text(&k->fields[i], record)) + 1;
	return size;
}

static void *copy_record(const struct kind *k, const void *record)
{
	char *copy = malloc(k->size + texts_size(k, record)), *at = copy + k->size;

	if (!copy)
		return NULL;
	memcpy(copy, record, k->size);
	for (unsigned int i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];

		if (f->type != FIELD_TEXT)
			continue;
		memcpy(copy + f->offset, &at, sizeof(at));
		at = stpcpy(at, field_text(f, record)) + 1;
	}
	return copy;
}

static int copy_row(struct unstored *u, enum record_kind kind, const void *record)
{
	struct unstored_row row = {kind, NULL};

	if (u->rows.count >= ROWS_MAX)
		return 0;
	row.record = copy_record(&kinds[kind], record);
	if (!row.record || vector_push(&u->rows, row) < 0) {
		free(row.record);
		return -ENOMEM;
	}
	return 0;
}

static int count_sample(struct unstored *u, const struct sample *s)
{
	uint64_t place = sample_place(s->event, s->cpu);

	while (u->samples.count <= place)
		if (vector_push(&u->samples, (struct unstored_count){0}) < 0)
			return -ENOMEM;
	if (!u->samples.items[place].put && vector_push(&u->touched, place) < 0)
		return -ENOMEM;
	u->samples.items[place].put++;
	return 0;
}

int unstored_put(struct unstored *u, enum record_kind kind, const void *record)
{
	u->records[kind].put++;
	if (kind == KIND_SAMPLE)
		return count_sample(u, record);
	return describes_recording(kind) ? copy_row(u, kind, record) : 0;
}

static void free_rows(struct unstored *u)
{
	for (size_t i = 0; i < u->rows.count; i++)
		free(u->rows.items[i].record);
	u->rows.count = 0;
}

static void settle_count(struct unstored_count *c, bool lost)
{
	c->lost += lost ? c->put : 0;
	c->put = 0;
}

static void settle_all_counts(struct unstored *u, bool lost)
{
	for (size_t i = 0; i < u->touched.count; i++)
		settle_count(&u->samples.items[u->touched.items[i]], lost);
	u->touched.count = 0;
	for (int k = 0; k < KIND_COUNT; k++)
		settle_count(&u->records[k], lost);
}

void unstored_committed(struct unstored *u)
{
	settle_all_counts(u, false);
	free_rows(u);
}

void unstored_given_up(struct unstored *u)
{
	settle_all_counts(u, true);
}

uint64_t unstored_count(const struct unstored *u, enum record_kind kind, uint64_t place)
{
	if (kind != KIND_SAMPLE)
		return u->records[kind].lost;
	return place < u->samples.count ? u->samples.items[place].lost : 0;
}

void unstored_free(struct unstored *u)
{
	free_rows(u);
	vector_free(&u->rows);
	vector_free(&u->samples);
	vector_free(&u->touched);
}
