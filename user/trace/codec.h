/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encode and decode columns as the blob of a chunk: each column in the form that suits it
 * (forms.h), compressed together and checksummed by zstd. Layout: docs/trace-format.md.
 */
#ifndef SKEIN_TRACE_CODEC_H
#define SKEIN_TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/error.h"
#include "base/record.h"
#include "trace/columns.h"

struct codec_buffer {
	void *at;
	size_t capacity; /* bytes */
};

/* Working memory for encoding and decoding. Zeroed memory is a valid empty codec. */
struct codec {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
	struct codec_buffer raw, packed;
	/*
	 * For encoding, the words of one column after the prediction was subtracted; for decoding,
	 * the row numbers that form_get() needs. See forms.h.
	 */
	struct codec_buffer rest;
};

void codec_free(struct codec *c);

/* The blob of a chunk. */
struct codec_blob {
	const void *data;
	size_t size; /* bytes */
	uint64_t records;
	size_t raw_size; /* bytes before zstd; not needed for decoding */
};

/*
 * Encode the records of in. kind determines from which other column a column is predicted; with
 * KIND_COUNT, from none. out->data belongs to the codec and is valid until the codec is used again.
 * Return 0 or a negative errno.
 */
int codec_encode(struct codec *c, enum record_kind kind, const struct columns *in,
		 struct codec_blob *out, struct error *err);

/* How many columns the caller knows, and a mask of those that it wants. */
struct codec_choice {
	unsigned int width;
	uint64_t mask;
};

/*
 * Decode a blob that may be hostile. Return 0, -EBADMSG if the blob is not a valid chunk of exactly
 * in->records records, or -ENOMEM. Only the columns in choice.mask are sure to be decoded; the
 * other columns have undefined contents. A column that the blob lacks is filled with 0, and columns
 * of the blob beyond choice.width are ignored.
 */
int codec_decode(struct codec *c, const struct codec_blob *in, struct codec_choice choice,
		 struct columns *out, struct error *err);

#endif
