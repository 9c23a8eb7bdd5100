// SPDX-License-Identifier: Apache-2.0
/* Write and read blobs of varints, compressed by zstd. */
#include "trace/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ZSTD_LEVEL 3
#define BYTES_MIN 256

static bool reserve_bytes(struct bytes *b, size_t extra)
{
	size_t capacity = b->capacity ? b->capacity : BYTES_MIN;
	uint8_t *bigger;

	if (b->failed || extra <= b->capacity - b->size)
		return !b->failed;
	while (capacity - b->size < extra)
		capacity *= 2;
	bigger = realloc(b->data, capacity);
	if (!bigger) {
		b->failed = true;
		return false;
	}
	b->data = bigger;
	b->capacity = capacity;
	return true;
}

void bytes_varint(struct bytes *b, uint64_t v)
{
	if (reserve_bytes(b, VARINT_MAX))
		b->size = (size_t)(varint_put(b->data + b->size, v) - b->data);
}

void bytes_zigzag(struct bytes *b, uint64_t difference)
{
	bytes_varint(b, zigzag(difference));
}

void bytes_add(struct bytes *b, const void *data, size_t size)
{
	if (!size || !reserve_bytes(b, size))
		return;
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){0};
}

void packer_free(struct packer *p)
{
	ZSTD_freeCCtx(p->pack);
	ZSTD_freeDCtx(p->unpack);
	bytes_free(&p->raw);
	bytes_free(&p->buffer);
	*p = (struct packer){0};
}

static int need_packer_context(struct packer *p)
{
	if (p->pack)
		return 0;
	p->pack = ZSTD_createCCtx();
	if (!p->pack)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(p->pack, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(p->pack, ZSTD_c_checksumFlag, 1);
	return 0;
}

int pack_bytes(struct packer *p, const struct bytes *raw, struct bytes *out, struct error *err)
{
	size_t packed;

	if (raw->failed || need_packer_context(p) < 0 ||
	    !reserve_bytes(out, ZSTD_compressBound(raw->size)))
		return error_set(err, -ENOMEM, "out of memory");
	packed = ZSTD_compress2(p->pack, out->data + out->size, out->capacity - out->size,
				raw->data, raw->size);
	if (ZSTD_isError(packed))
		return error_set(err, -EIO, "zstd: %s", ZSTD_getErrorName(packed));
	out->size += packed;
	return 0;
}

int unpack_bytes(struct packer *p, const void *data, size_t size, size_t max,
		 struct blob_reader *out)
{
	unsigned long long declared;
	size_t raw;

	if (!data)
		return -EBADMSG;
	declared = ZSTD_getFrameContentSize(data, size);
	/* An unknown size and an error are the largest values of declared. */
	if (!declared || declared > max)
		return -EBADMSG;
	if (!p->unpack)
		p->unpack = ZSTD_createDCtx();
	p->buffer.size = 0;
	if (!p->unpack || !reserve_bytes(&p->buffer, declared))
		return -ENOMEM;
	raw = ZSTD_decompressDCtx(p->unpack, p->buffer.data, declared, data, size);
	if (ZSTD_isError(raw) || raw != declared)
		return -EBADMSG;
	*out = (struct blob_reader){p->buffer.data, p->buffer.data + raw};
	return 0;
}
