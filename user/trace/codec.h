/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns as the blob of a chunk: each in the form that suits it (forms.h); zstd packs all of
 * them together and checks them. Layout: docs/trace-format.md.
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

/* Working memory of both directions; zeroed memory is ready. */
struct codec {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
	struct codec_buffer raw, packed;
	struct codec_buffer rest; /* of one column */
};

void codec_free(struct codec *c);

/*
 * kind tells which columns follow which; KIND_COUNT: none does. *data belongs to the codec and
 * lasts until its next use. raw_size: bytes before zstd.
 */
int codec_encode(struct codec *c, enum record_kind kind, const struct columns *in,
		 const void **data, size_t *size, size_t *raw_size, struct error *err);

/*
 * Decode a blob that may be hostile: -EBADMSG if it is not exactly what
 * codec_encode() writes of that many records. Only the columns in mask are
 * decoded (the others hold anything); a column that the blob lacks is 0, one
 * that it has beyond width is left out.
 */
int codec_decode(struct codec *c, const void *data, size_t size, uint64_t records,
		 unsigned int width, uint64_t mask, struct columns *ret, struct error *err);

#endif
