/* SPDX-License-Identifier: Apache-2.0 */
/* Records of one stream kind, stored column by column. */
#ifndef SKEIN_TRACE_COLUMNS_H
#define SKEIN_TRACE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#define CODEC_RECORDS_MAX 65536u /* maximum records in a chunk; readers refuse more */
#define CODEC_COLUMNS_MAX 16u /* maximum columns of a stream kind */

/* A table of records. Zeroed memory is a valid empty table. */
struct columns {
	uint64_t *words; /* column after column, each of capacity words */
	uint32_t count; /* number of records in use */
	uint32_t capacity; /* number of records for which there is room */
	unsigned int width; /* columns */
};

/*
 * Make room for this many records of width columns; the old contents are lost. Return 0 or -ENOMEM.
 */
int columns_reserve(struct columns *c, unsigned int width, uint32_t records);
void columns_free(struct columns *c);

static inline uint64_t *columns_at(const struct columns *c, unsigned int column)
{
	return c->words + (size_t)column * c->capacity;
}

/*
 * Append a record, for which there must be room. Its struct consists of the fields of its kind as
 * consecutive words, which columns.c checks.
 */
static inline void columns_push(struct columns *c, const void *record)
{
	const uint64_t *words = record;

	for (unsigned int i = 0; i < c->width; i++)
		columns_at(c, i)[c->count] = words[i];
	c->count++;
}

static inline void columns_record(const struct columns *c, uint32_t index, uint64_t *words)
{
	for (unsigned int i = 0; i < c->width; i++)
		words[i] = columns_at(c, i)[index];
}

/* Copy count records, beginning at record first, to words as consecutive structs. */
static inline void columns_records(const struct columns *c, uint32_t first, uint32_t count,
				   uint64_t *words)
{
	for (unsigned int i = 0; i < c->width; i++)
		for (uint32_t k = 0; k < count; k++)
			words[(size_t)k * c->width + i] = columns_at(c, i)[first + k];
}

/* Append one record of another table of columns; there must be room. */
static inline void columns_copy(struct columns *c, const struct columns *from, uint32_t index)
{
	for (unsigned int i = 0; i < c->width; i++)
		columns_at(c, i)[c->count] = columns_at(from, i)[index];
	c->count++;
}

#endif
