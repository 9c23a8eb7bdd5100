// SPDX-License-Identifier: Apache-2.0
/*
 * The column codec. Columns of a trace either repeat (event, flags, weight),
 * creep (time) or jump among few values (thread, stack); so a column is the
 * plain values or the differences of neighbours, each one by one or as runs,
 * whichever takes the fewest bytes, all as varints. zstd finds what is left.
 */
#include "trace/codec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CODEC_VERSION 1
#define VARINT_MAX 10 /* bytes of a 64-bit value in groups of 7 bits */
#define ZSTD_LEVEL 3

/* Bits of a column's form. */
enum { FORM_DELTA = 1, FORM_RUNS = 2, FORM_COUNT = 4 };

/* columns_push() takes a record as an array of words. */
#define ONE_WORD(name, doc) +1
#define NO_TEXT(name, doc) +sizeof(struct texts_do_not_fit_a_stream)
#define WORDS(KIND) (0 KIND##_FIELDS(ONE_WORD, ONE_WORD, NO_TEXT))
#define LAYOUT_TABLE(kind, KIND)
#define LAYOUT_DERIVED(kind, KIND)
#define LAYOUT_STREAM(kind, KIND) \
	_Static_assert(sizeof(struct kind) == sizeof(uint64_t) * WORDS(KIND), "words in a row"); \
	_Static_assert(WORDS(KIND) <= CODEC_COLUMNS_MAX, "CODEC_COLUMNS_MAX");
#define CHECK_LAYOUT(kind, KIND, storage, summary) LAYOUT_##storage(kind, KIND)
RECORD_KINDS(CHECK_LAYOUT)

int columns_reserve(struct columns *c, unsigned int width, uint32_t records)
{
	uint64_t *words;

	if (c->width != width || c->capacity < records) {
		words = malloc(sizeof(*words) * width * (records ? records : 1));
		if (!words)
			return -ENOMEM;
		free(c->words);
		c->words = words;
		c->width = width;
		c->capacity = records;
	}
	c->count = 0;
	return 0;
}

void columns_free(struct columns *c)
{
	free(c->words);
	*c = (struct columns){0};
}

void codec_free(struct codec *c)
{
	ZSTD_freeCCtx(c->pack);
	ZSTD_freeDCtx(c->unpack);
	free(c->raw);
	free(c->packed);
	*c = (struct codec){0};
}

/* Small differences of either sign become small numbers. */
static inline uint64_t zigzag(uint64_t v)
{
	return (v << 1) ^ (0 - (v >> 63));
}

static inline uint64_t unzigzag(uint64_t v)
{
	return (v >> 1) ^ (0 - (v & 1));
}

static inline size_t varint_size(uint64_t v)
{
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(v | 1);

	return (9 * bits + 64) / 64; /* bits / 7, rounded up, for 1..64 */
}

static inline uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* Bytes of a column value by value and as runs, of plain values or of differences. */
static inline void measure(const uint64_t *values, uint32_t count, bool delta, size_t *each,
			   size_t *runs)
{
	uint64_t last = 0, before = 0, v;
	uint32_t start = 0;

	*each = *runs = 0;
	for (uint32_t i = 0; i < count; i++) {
		v = delta ? zigzag(values[i] - last) : values[i];
		last = values[i];
		*each += varint_size(v);
		if (i && v == before)
			continue;
		*runs += varint_size(v);
		if (i)
			*runs += varint_size(i - start);
		start = i;
		before = v;
	}
	*runs += varint_size(count - start);
}

static unsigned int choose_form(const uint64_t *values, uint32_t count, size_t *bytes)
{
	size_t sizes[FORM_COUNT];
	unsigned int best = 0;

	measure(values, count, false, &sizes[0], &sizes[FORM_RUNS]);
	measure(values, count, true, &sizes[FORM_DELTA], &sizes[FORM_DELTA | FORM_RUNS]);
	for (unsigned int form = 1; form < FORM_COUNT; form++)
		if (sizes[form] < sizes[best])
			best = form;
	*bytes = sizes[best];
	return best;
}

static inline uint8_t *put_each(uint8_t *p, const uint64_t *values, uint32_t count, bool delta)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < count; i++) {
		p = put_varint(p, delta ? zigzag(values[i] - last) : values[i]);
		last = values[i];
	}
	return p;
}

static uint8_t *put_runs(uint8_t *p, const uint64_t *values, uint32_t count, bool delta)
{
	uint64_t last = 0, before = 0, v;
	uint32_t start = 0;

	for (uint32_t i = 0; i < count; i++) {
		v = delta ? zigzag(values[i] - last) : values[i];
		last = values[i];
		if (i && v == before)
			continue;
		if (i)
			p = put_varint(p, i - start);
		p = put_varint(p, v);
		start = i;
		before = v;
	}
	return put_varint(p, count - start);
}

static uint8_t *put_column(uint8_t *p, const uint64_t *values, uint32_t count, unsigned int form)
{
	switch (form) {
	case 0:
		return put_each(p, values, count, false);
	case FORM_DELTA:
		return put_each(p, values, count, true);
	case FORM_RUNS:
		return put_runs(p, values, count, false);
	default:
		return put_runs(p, values, count, true);
	}
}

static int reserve_bytes(uint8_t **buffer, size_t *capacity, size_t size)
{
	uint8_t *bigger;

	if (size <= *capacity)
		return 0;
	bigger = malloc(size);
	if (!bigger)
		return -ENOMEM;
	free(*buffer);
	*buffer = bigger;
	*capacity = size;
	return 0;
}

/* Write the columns into c->raw. */
static int encode_raw(struct codec *c, const struct columns *in, size_t *size)
{
	size_t bytes[CODEC_COLUMNS_MAX], total = 1 + 2 * VARINT_MAX;
	unsigned int forms[CODEC_COLUMNS_MAX];
	uint8_t *p;

	for (unsigned int i = 0; i < in->width; i++) {
		forms[i] = choose_form(columns_at(in, i), in->count, &bytes[i]);
		total += 1 + VARINT_MAX + bytes[i];
	}
	if (reserve_bytes(&c->raw, &c->raw_capacity, total) < 0)
		return -ENOMEM;
	p = c->raw;
	*p++ = CODEC_VERSION;
	p = put_varint(p, in->count);
	p = put_varint(p, in->width);
	for (unsigned int i = 0; i < in->width; i++) {
		*p++ = (uint8_t)forms[i];
		p = put_varint(p, bytes[i]);
		p = put_column(p, columns_at(in, i), in->count, forms[i]);
	}
	*size = (size_t)(p - c->raw);
	return 0;
}

static int need_pack(struct codec *c)
{
	if (c->pack)
		return 0;
	c->pack = ZSTD_createCCtx();
	if (!c->pack)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(c->pack, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(c->pack, ZSTD_c_checksumFlag, 1);
	return 0;
}

int codec_encode(struct codec *c, const struct columns *in, const void **data, size_t *size,
		 size_t *raw_size, struct error *err)
{
	size_t raw, packed;

	if (!in->count || in->count > CODEC_RECORDS_MAX || in->width > CODEC_COLUMNS_MAX)
		return error_set(err, -EINVAL, "a chunk cannot have %u records", in->count);
	if (need_pack(c) < 0 || encode_raw(c, in, &raw) < 0 ||
	    reserve_bytes(&c->packed, &c->packed_capacity, ZSTD_compressBound(raw)) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	packed = ZSTD_compress2(c->pack, c->packed, c->packed_capacity, c->raw, raw);
	if (ZSTD_isError(packed))
		return error_set(err, -EIO, "zstd: %s", ZSTD_getErrorName(packed));
	*data = c->packed;
	*size = packed;
	*raw_size = raw;
	return 0;
}

/* What is left of a hostile buffer. */
struct input {
	const uint8_t *at, *end;
};

static inline bool get_varint(struct input *in, uint64_t *ret)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		if (in->at == in->end || shift > 63)
			return false;
		byte = *in->at++;
		if (shift == 63 && byte > 1)
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*ret = v;
	return true;
}

static inline bool get_each(struct input *in, uint64_t *values, uint32_t count, bool delta)
{
	uint64_t last = 0, v;

	for (uint32_t i = 0; i < count; i++) {
		if (!get_varint(in, &v))
			return false;
		last = delta ? last + unzigzag(v) : v;
		values[i] = last;
	}
	return true;
}

static bool get_runs(struct input *in, uint64_t *values, uint32_t count, bool delta)
{
	uint64_t last = 0, v, run;
	uint32_t i = 0;

	while (i < count) {
		if (!get_varint(in, &v) || !get_varint(in, &run) || !run || run > count - i)
			return false;
		for (; run; run--) {
			last = delta ? last + unzigzag(v) : v;
			values[i++] = last;
		}
	}
	return true;
}

static bool get_column(struct input in, uint64_t *values, uint32_t count, unsigned int form)
{
	bool delta = form & FORM_DELTA, good;

	if (form & FORM_RUNS)
		good = get_runs(&in, values, count, delta);
	else if (delta)
		good = get_each(&in, values, count, true);
	else
		good = get_each(&in, values, count, false);
	return good && in.at == in.end;
}

static bool decode_raw(struct input in, uint32_t records, uint64_t mask, struct columns *ret)
{
	uint64_t count, width, bytes;
	unsigned int form;

	if (in.at == in.end || *in.at++ != CODEC_VERSION || !get_varint(&in, &count) ||
	    count != records || !get_varint(&in, &width))
		return false;
	for (uint64_t i = 0; i < width; i++) {
		if (in.at == in.end)
			return false;
		form = *in.at++;
		if (form >= FORM_COUNT || !get_varint(&in, &bytes) ||
		    bytes > (uint64_t)(in.end - in.at))
			return false;
		if (i < ret->width && (mask & (1ULL << i)) &&
		    !get_column((struct input){in.at, in.at + bytes},
				columns_at(ret, (unsigned int)i), records, form))
			return false;
		in.at += bytes;
	}
	for (uint64_t i = width; i < ret->width; i++)
		memset(columns_at(ret, (unsigned int)i), 0, sizeof(*ret->words) * records);
	return in.at == in.end;
}

/*
 * Undo zstd into c->raw. The size is what the frame declares, refused when no
 * writer could have made so much of that many records: room is left for the
 * columns of newer writers.
 */
static int unpack(struct codec *c, const void *data, size_t size, uint64_t records, size_t *ret)
{
	unsigned long long declared = ZSTD_getFrameContentSize(data, size);
	size_t raw;

	if (!declared || declared == ZSTD_CONTENTSIZE_UNKNOWN ||
	    declared == ZSTD_CONTENTSIZE_ERROR ||
	    declared > (records + 16) * VARINT_MAX * 2 * CODEC_COLUMNS_MAX)
		return -EBADMSG;
	if (!c->unpack)
		c->unpack = ZSTD_createDCtx();
	if (!c->unpack || reserve_bytes(&c->raw, &c->raw_capacity, declared) < 0)
		return -ENOMEM;
	raw = ZSTD_decompressDCtx(c->unpack, c->raw, declared, data, size);
	if (ZSTD_isError(raw) || raw != declared)
		return -EBADMSG;
	*ret = raw;
	return 0;
}

int codec_decode(struct codec *c, const void *data, size_t size, uint64_t records,
		 unsigned int width, uint64_t mask, struct columns *ret, struct error *err)
{
	size_t raw;
	int result;

	if (!data || !records || records > CODEC_RECORDS_MAX || width > CODEC_COLUMNS_MAX)
		return error_set(err, -EBADMSG, "an impossible count of records");
	result = unpack(c, data, size, records, &raw);
	if (result == 0 && columns_reserve(ret, width, (uint32_t)records) < 0)
		result = -ENOMEM;
	if (result == 0 &&
	    !decode_raw((struct input){c->raw, c->raw + raw}, (uint32_t)records, mask, ret))
		result = -EBADMSG;
	if (result < 0)
		return error_set(err, result,
				 result == -ENOMEM ? "out of memory" : "a damaged chunk");
	ret->count = (uint32_t)records;
	return 0;
}
