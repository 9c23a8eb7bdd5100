// SPDX-License-Identifier: Apache-2.0
/*
 * A chunk's blob. The first byte says how many columns are asked for and
 * whether the rest is a blob, or what zstd packs into one: behind its checksum
 * no mutation would ever get.
 */
#include <string.h>
#include <zstd.h>

#include "fuzz.h"
#include "trace/codec.h"

static size_t pack(const uint8_t *data, size_t size, void *packed, size_t capacity)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t packed_size;

	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	packed_size = ZSTD_compress2(context, packed, capacity, data, size);
	ZSTD_freeCCtx(context);
	return packed_size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct columns columns = {0};
	struct codec codec = {0};
	struct error err;
	uint8_t packed[1 << 16];
	unsigned int width;
	uint64_t records;

	if (size < 3 || size > sizeof(packed) / 2)
		return 0;
	width = data[0] % CODEC_COLUMNS_MAX + 1;
	records = data[1] | (uint64_t)(data[2] & 0x1f) << 8;
	if (data[0] & 0x80) {
		size = pack(data + 3, size - 3, packed, sizeof(packed));
	} else {
		size -= 3;
		memcpy(packed, data + 3, size);
	}
	(void)codec_decode(&codec, packed, size, records, width, ~0ull, &columns, &err);
	columns_free(&columns);
	codec_free(&codec);
	return 0;
}
