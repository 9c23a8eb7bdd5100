/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write and read blobs: a growing buffer of varints, which is compressed and checksummed by zstd.
 * Blobs that are read may be hostile.
 */
#ifndef SKEIN_TRACE_PACK_H
#define SKEIN_TRACE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/error.h"
#include "base/varint.h"

/* A buffer to write to. Zeroed memory is a valid empty buffer; a failed buffer stays failed. */
struct bytes {
	uint8_t *data;
	size_t size, capacity;
	bool failed; /* out of memory: nothing more is written */
};

/* Append a varint, a signed difference in zigzag, or raw bytes. Without memory, set b->failed. */
void bytes_varint(struct bytes *b, uint64_t v);
void bytes_zigzag(struct bytes *b, uint64_t difference);
void bytes_add(struct bytes *b, const void *data, size_t size);
void bytes_free(struct bytes *b);

/* Working memory for packing and unpacking. Zeroed memory is ready for use. */
struct packer {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
	struct bytes raw; /* for the caller: bytes to be packed */
	struct bytes buffer; /* for unpack_bytes() and pyramid_row_encode() */
};

void packer_free(struct packer *p);

/*
 * Append raw to out, as one zstd frame with its content size and checksum. Return 0, -ENOMEM (also
 * if raw or out has failed before) or -EIO.
 */
int pack_bytes(struct packer *p, const struct bytes *raw, struct bytes *out, struct error *err);

/*
 * Set *out to the content of a frame, valid until p->buffer is used again. Return 0, -ENOMEM, or
 * -EBADMSG if the frame is damaged, is empty, or has a content of more than max bytes.
 */
int unpack_bytes(struct packer *p, const void *data, size_t size, size_t max,
		 struct blob_reader *out);

#endif
