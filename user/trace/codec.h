/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of one stream kind as columns, and columns as the blob of a chunk.
 * Every column is written in whichever of four forms is shortest; zstd packs
 * all of them together and checks them. Layout: docs/trace-format.md.
 */
#ifndef SKEIN_TRACE_CODEC_H
#define SKEIN_TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/error.h"
#include "base/record.h"

#define CODEC_RECORDS_MAX 65536u /* of a chunk; a reader refuses more */
#define CODEC_COLUMNS_MAX 16u	 /* of a stream kind */

/* Zeroed memory is an empty one. */
struct columns {
	uint64_t *words;    /* column after column, each of capacity words */
	uint32_t count;	    /* records in use */
	uint32_t capacity;  /* records */
	unsigned int width; /* columns */
};

/* Make room for that many records of width columns; what was held is forgotten. 0 or -ENOMEM. */
int columns_reserve(struct columns *c, unsigned int width, uint32_t records);
void columns_free(struct columns *c);

static inline uint64_t *columns_at(const struct columns *c, unsigned int column)
{
	return c->words + (size_t)column * c->capacity;
}

/* The struct of a stream kind is its fields as words, one after the other (see codec.c). */
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

/* Add one record of another such table; there must be room. */
static inline void columns_copy(struct columns *c, const struct columns *from, uint32_t index)
{
	for (unsigned int i = 0; i < c->width; i++)
		columns_at(c, i)[c->count] = columns_at(from, i)[index];
	c->count++;
}

/* Working memory of both directions; zeroed memory is ready. */
struct codec {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
	uint8_t *raw, *packed;
	size_t raw_capacity, packed_capacity;
};

void codec_free(struct codec *c);

/* *data belongs to the codec and lasts until its next use. raw_size: bytes before zstd. */
int codec_encode(struct codec *c, const struct columns *in, const void **data, size_t *size,
		 size_t *raw_size, struct error *err);

/*
 * Decode a blob that may be hostile: -EBADMSG if it is not exactly what
 * codec_encode() writes of that many records. Only the columns in mask are
 * decoded (the others hold anything); a column that the blob lacks is 0, one
 * that it has beyond width is left out.
 */
int codec_decode(struct codec *c, const void *data, size_t size, uint64_t records,
		 unsigned int width, uint64_t mask, struct columns *ret, struct error *err);

#endif
