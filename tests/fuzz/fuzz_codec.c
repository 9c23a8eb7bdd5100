// SPDX-License-Identifier: Apache-2.0
/*
 * The blob of a chunk. The first byte chooses the number of wanted columns and whether the rest is
 * a blob, content that is first packed by zstd (mutations never get past zstd's checksum
 * otherwise), or words that must survive encoding and decoding.
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

/*
 * Fill the columns with words that differ little, as in traces, unless the data choose otherwise.
 */
static void fill(struct columns *c, const uint8_t *data, size_t size)
{
	for (uint32_t row = 0; row < c->capacity; row++)
		for (unsigned int i = 0; i < c->width; i++) {
			size_t at = ((size_t)row * c->width + i) % size;
			uint64_t before = row ? columns_at(c, i)[row - 1] : 1ULL << 40;

			columns_at(c, i)[row] =
				data[at] & 0x80	  ? before + (uint64_t)data[at] * 16
				: data[at] & 0x40 ? columns_at(c, (data[at] & 7) % (i + 1))[row]
						  : (uint64_t)data[at] << (data[at] & 63);
		}
	c->count = c->capacity;
}

static void round_trip(unsigned int width, uint32_t records, const uint8_t *data, size_t size)
{
	struct columns in = {0}, out = {0};
	struct codec codec = {0};
	struct codec_blob blob;
	struct error err;

	if (!records || columns_reserve(&in, width, records) < 0)
		return;
	fill(&in, data, size);
	if (codec_encode(&codec, (enum record_kind)(data[0] % (KIND_COUNT + 1)), &in, &blob, &err) <
		    0 ||
	    codec_decode(&codec, &blob, (struct codec_choice){width, ~0ull}, &out, &err) < 0)
		__builtin_trap();
	for (unsigned int i = 0; i < width; i++)
		if (memcmp(columns_at(&in, i), columns_at(&out, i), records * sizeof(uint64_t)))
			__builtin_trap();
	columns_free(&in);
	columns_free(&out);
	codec_free(&codec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct columns columns = {0};
	struct codec codec = {0};
	struct error err;
	uint8_t packed[1 << 16];
	struct codec_blob blob = {.data = packed};
	unsigned int width;
	uint64_t records;

	if (size < 3 || size > sizeof(packed) / 2)
		return 0;
	width = data[0] % CODEC_COLUMNS_MAX + 1;
	records = data[1] | (uint64_t)(data[2] & 0x1f) << 8;
	if (data[0] & 0x40 && size > 3) {
		round_trip(width, (uint32_t)records, data + 3, size - 3);
		return 0;
	}
	if (data[0] & 0x80) {
		size = pack(data + 3, size - 3, packed, sizeof(packed));
	} else {
		size -= 3;
		memcpy(packed, data + 3, size);
	}
	blob.size = size;
	blob.records = records;
	(void)codec_decode(&codec, &blob, (struct codec_choice){width, ~0ull}, &columns, &err);
	columns_free(&columns);
	codec_free(&codec);
	return 0;
}
