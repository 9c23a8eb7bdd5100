// SPDX-License-Identifier: Apache-2.0
/*
 * Test the column codec: decoding returns the encoded values, and damaged data are never decoded as
 * if they were whole.
 */
#include <errno.h>
#include <time.h>

#include "suite.h"
#include "synthetic.h"
#include "trace/codec.h"

/*
 * Return a value of one of several kinds of column: constant, growing, jumping, huge, alternating.
 */
static uint64_t value(unsigned int temper, uint64_t last, uint64_t r)
{
	switch (temper % 8) {
	case 0:
		return 7;
	case 1:
		return last + r % 100000;
	case 2:
		return r % 50;
	case 3:
		return r;
	case 4:
		return r % 64 ? last : r % 1000;
	case 5:
		return last - r % 3;
	case 6:
		return r % 2 ? UINT64_MAX : 0;
	default:
		return last + 1;
	}
}

static void fill(struct columns *c, uint32_t count, uint64_t *random)
{
	for (unsigned int i = 0; i < c->width; i++) {
		unsigned int temper = (unsigned int)(synthetic_random(random) >> 8);
		uint64_t last = synthetic_random(random) >> (temper % 61);

		for (uint32_t n = 0; n < count; n++)
			last = columns_at(c, i)[n] = value(temper, last, synthetic_random(random));
	}
	c->count = count;
}

static void check_same(const struct columns *a, const struct columns *b)
{
	ck_assert_uint_eq(a->count, b->count);
	for (unsigned int i = 0; i < a->width; i++)
		ck_assert_mem_eq(columns_at(a, i), columns_at(b, i), a->count * sizeof(uint64_t));
}

static struct codec_blob blob_of(const void *data, size_t size, uint64_t records)
{
	return (struct codec_blob){.data = data, .size = size, .records = records};
}

static int decode(struct codec *c, struct codec_blob blob, unsigned int width, uint64_t mask,
		  struct columns *out)
{
	return codec_decode(c, &blob, (struct codec_choice){width, mask}, out, NULL);
}

START_TEST(round_trip)
{
	static const uint32_t counts[] = {1, 2, 3, 127, 128, 129, 1000, 16384, CODEC_RECORDS_MAX};
	struct columns in = {0}, out = {0};
	struct codec codec = {0};
	uint64_t random = 1 + (uint64_t)_i;
	struct codec_blob blob;

	for (unsigned int n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
		unsigned int width = 1 + (unsigned int)(synthetic_random(&random) >> 33) % 16;

		ck_assert_int_eq(columns_reserve(&in, width, CODEC_RECORDS_MAX), 0);
		fill(&in, counts[n], &random);
		ck_assert_int_eq(codec_encode(&codec, KIND_COUNT, &in, &blob, NULL), 0);
		ck_assert_int_eq(decode(&codec, blob, width, UINT64_MAX, &out), 0);
		check_same(&in, &out);
	}
	columns_free(&in);
	columns_free(&out);
	codec_free(&codec);
}
END_TEST

/*
 * Copy a blob to memory of exactly its size, so that a sanitizer reports every read beyond its end.
 */
static void *exact_copy(const void *data, size_t size)
{
	void *copy = malloc(size ? size : 1);

	ck_assert_ptr_nonnull(copy);
	return memcpy(copy, data, size);
}

START_TEST(flipped)
{
	struct columns in = {0}, out = {0};
	struct codec codec = {0}, other = {0};
	uint64_t random = 4711;
	struct codec_blob blob;

	columns_reserve(&in, 7, 300);
	fill(&in, 300, &random);
	ck_assert_int_eq(codec_encode(&codec, KIND_COUNT, &in, &blob, NULL), 0);
	for (size_t i = 0; i < blob.size; i++) {
		uint8_t *copy = exact_copy(blob.data, blob.size);

		copy[i] ^= (uint8_t)(1 << (synthetic_random(&random) >> 60) % 8);
		if (!decode(&other, blob_of(copy, blob.size, 300), 7, UINT64_MAX, &out))
			check_same(&in, &out); /* an unused bit of the frame header */
		ck_assert_int_eq(decode(&other, blob_of(copy, i, 300), 7, UINT64_MAX, &out),
				 -EBADMSG);
		free(copy);
	}
	columns_free(&in);
	columns_free(&out);
	codec_free(&codec);
	codec_free(&other);
}
END_TEST

static int decode_raw_bytes(const uint8_t *raw, size_t size, uint64_t records, unsigned int width)
{
	uint8_t packed[4096];
	size_t packed_size = ZSTD_compress(packed, sizeof(packed), raw, size, 1);
	struct columns out = {0};
	struct codec codec = {0};
	int result;

	ck_assert(!ZSTD_isError(packed_size));
	result = decode(&codec, blob_of(packed, packed_size, records), width, UINT64_MAX, &out);
	columns_free(&out);
	codec_free(&codec);
	return result;
}

/* A hostile writer can produce valid zstd frames, so their contents must be checked. */
START_TEST(lies_inside)
{
	static const struct {
		uint8_t bytes[24];
		size_t size;
		int result;
	} lies[] = {
		{{1, 2, 1, 0, 2, 5, 6}, 7, 0}, /* valid */
		{{1, 2, 1, 2, 2, 5, 2}, 7, 0}, /* valid, a run */
		{{2, 2, 1, 0, 2, 5, 6}, 7, 0}, /* valid, like the next five */
		{{2, 2, 1, 4, 2, 5, 6}, 7, 0}, /* split */
		{{2, 2, 1, 4, 3, 0x85, 6, 1}, 8, 0}, /* split, a value of two bytes */
		{{2, 2, 1, 8, 63, 2, 1, 0}, 8, 0}, /* scaled */
		/* differences from the record before */
		{{2, 2, 1, 32, 0, 2, 5, 6}, 8, 0},
		{{2, 2, 1, 33 + 64, 0, 2, 5, 6}, 8, -EBADMSG}, /* two kinds of differences */
		{{3, 2, 1, 0, 2, 5, 6}, 7, -EBADMSG}, /* bad version */
		{{0, 2, 1, 0, 2, 5, 6}, 7, -EBADMSG}, /* bad version */
		{{1, 2, 1, 4, 2, 5, 6}, 7, -EBADMSG}, /* not valid in version 1 */
		{{2, 2, 1, 6, 2, 5, 6}, 7, -EBADMSG}, /* runs that are split */
		{{2, 2, 1, 128, 0, 2, 5, 6}, 8, -EBADMSG}, /* the column is its own context */
		{{2, 2, 1, 128, 1, 2, 5, 6}, 8, -EBADMSG}, /* the context column does not exist */
		{{2, 2, 2, 0, 2, 5, 6, 128, 0, 2, 5, 6}, 12, 0}, /* the first column as context */
		/* differences from a later column */
		{{2, 2, 2, 16, 1, 2, 5, 6, 0, 2, 5, 6}, 12, -EBADMSG},
		/* contexts in a circle */
		{{2, 2, 2, 128, 1, 2, 5, 6, 128, 0, 2, 5, 6}, 13, -EBADMSG},
		{{2, 2, 2, 0, 2, 5, 6, 192, 0, 2, 5, 6}, 12, -EBADMSG}, /* positive, in a context */
		{{2, 2, 1, 64, 2, 5, 6}, 7, -EBADMSG}, /* positive, without differences */
		{{2, 2, 1, 8, 64, 2, 5, 6}, 8, -EBADMSG}, /* scaled by too much */
		{{2, 2, 1, 16, 0, 2, 5, 6}, 8, -EBADMSG}, /* differences from itself */
		{{2, 2, 1, 32, 1, 2, 5, 6}, 8, -EBADMSG}, /* differences from a missing column */
		{{2, 2, 1, 32}, 4, -EBADMSG},
		{{2, 2, 1, 8}, 4, -EBADMSG},
		{{2, 2, 1, 4, 1, 5}, 6, -EBADMSG}, /* split, one value missing */
		{{2, 2, 1, 4, 2, 0x85, 6}, 7, -EBADMSG}, /* split, a value cut off */
		{{2, 2, 1, 4, 3, 5, 6, 7}, 8, -EBADMSG}, /* split, one value too many */
		{{2, 2, 1, 4, 11, 0xff, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2},
		 16,
		 -EBADMSG}, /* 65 bits */
		{{1, 3, 1, 0, 2, 5, 6}, 7, -EBADMSG}, /* wrong number of records */
		{{1, 2, 1, 0, 3, 5, 6}, 7, -EBADMSG}, /* column beyond the end */
		{{1, 2, 1, 0, 2, 5, 6, 0}, 8, -EBADMSG}, /* bytes after the columns */
		{{1, 2, 1, 0, 3, 5, 6, 0}, 8, -EBADMSG}, /* bytes after the values */
		{{1, 2, 1, 0, 2, 5, 0x86}, 7, -EBADMSG}, /* varint without an end */
		{{1, 2, 1, 2, 2, 5, 3}, 7, -EBADMSG}, /* run too long */
		{{1, 2, 1, 2, 2, 5, 0}, 7, -EBADMSG}, /* empty run */
		{{1, 2, 1, 2, 2, 5, 1}, 7, -EBADMSG}, /* too few runs */
		{{1, 2, 2, 0, 2, 5, 6}, 7, -EBADMSG}, /* second column missing */
		{{1, 2, 1, 0, 11, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 1},
		 16,
		 -EBADMSG}, /* 65 bits */
		{{1, 2, 0x80}, 3, -EBADMSG},
		{{1}, 1, -EBADMSG},
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		ck_assert_msg(decode_raw_bytes(lies[i].bytes, lies[i].size, 2, 2) == lies[i].result,
			      "lie %zu", i);
}
END_TEST

static void check_raw(const uint8_t *raw, size_t raw_size, const uint64_t wanted[2][3])
{
	uint8_t packed[4096];
	size_t size = ZSTD_compress(packed, sizeof(packed), raw, raw_size, 3);
	struct columns out = {0};
	struct codec codec = {0};

	ck_assert_int_eq(decode(&codec, blob_of(packed, size, 3), 2, UINT64_MAX, &out), 0);
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_mem_eq(columns_at(&out, i), wanted[i], sizeof(wanted[i]));
	columns_free(&out);
	codec_free(&codec);
}

/* Blobs of version 1: differences one by one, and as runs. */
START_TEST(old_blobs)
{
	static const uint8_t raw[] = {1, 3, 2, 1, 3, 2, 2, 1, 3, 4, 10, 1, 0, 2};
	static const uint64_t wanted[2][3] = {{1, 2, 1}, {5, 5, 5}};

	check_raw(raw, sizeof(raw), wanted);
}
END_TEST

/*
 * Forms that only older writers made: positive differences to the previous word, scaled and split
 * (77), and to another column (80).
 */
START_TEST(positive_differences)
{
	static const uint8_t raw[] = {2, 3, 2, 77, 4, 4, 1, 0xac, 1, 2, 80, 0, 3, 2, 0, 5};
	static const uint64_t wanted[2][3] = {{16, 4816, 4832}, {18, 4816, 4837}};

	check_raw(raw, sizeof(raw), wanted);
}
END_TEST

/*
 * Fill the columns with slices or edges as they are stored, including open ones and losses, with
 * stamps of 16 ns.
 */
static void fill_line(struct columns *c, enum record_kind kind, uint32_t count, uint64_t *random)
{
	uint64_t time = 1000000007ULL * 16, r;
	uint64_t words[CODEC_COLUMNS_MAX] = {0};

	c->count = 0;
	while (c->count < count) {
		r = synthetic_random(random);
		words[0] = time;
		words[1] = kind == KIND_SLICE ? time + 16 * (r >> 8 & 255) : time;
		words[2] = c->count * 4 / count;
		words[3] = r >> 16 & 3;
		words[4] = r % 16 ? c->count % 2 : r >> 20;
		if (r >> 24 & 15)
			time = words[1] + 16 * (kind == KIND_EDGE) * (r >> 8 & 255);
		else
			words[r >> 40 & 1] = r >> 32 & 1 ? 0 : r & ~15ULL;
		columns_push(c, words);
	}
}

START_TEST(columns_follow_each_other)
{
	static const uint32_t counts[] = {1, 2, 100, 1024, 1025, 5000, CODEC_RECORDS_MAX};
	struct columns in = {0}, out = {0};
	struct codec codec = {0};
	uint64_t random = 77 + (uint64_t)_i;
	enum record_kind kind = _i % 2 ? KIND_EDGE : KIND_SLICE;
	struct codec_blob blob;

	for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
		ck_assert_int_eq(columns_reserve(&in, 7, counts[n]), 0);
		fill_line(&in, kind, counts[n], &random);
		ck_assert_int_eq(codec_encode(&codec, kind, &in, &blob, NULL), 0);
		/*
		 * Decode each column alone, which also needs the columns on which it depends, then
		 * all.
		 */
		for (unsigned int i = 0; i <= in.width; i++) {
			uint64_t mask = i < in.width ? 1ULL << i : UINT64_MAX;

			ck_assert_int_eq(decode(&codec, blob, 7, mask, &out), 0);
			for (unsigned int k = 0; k < in.width; k++)
				if (mask & 1ULL << k)
					ck_assert_mem_eq(columns_at(&in, k), columns_at(&out, k),
							 in.count * sizeof(uint64_t));
		}
	}
	columns_free(&in);
	columns_free(&out);
	codec_free(&codec);
}
END_TEST

/* Two threads take turns on a CPU every 2.5 us: bound the size of a switch on disk. */
START_TEST(turns_are_small)
{
	struct columns in = {0};
	struct codec codec = {0};
	uint64_t random = 5, time = 16000000, r;
	struct codec_blob blob;

	ck_assert_int_eq(columns_reserve(&in, 7, CODEC_RECORDS_MAX), 0);
	for (uint64_t i = 0; i < CODEC_RECORDS_MAX; i++) {
		struct slice s = {.time = time,
				  .lane = 1,
				  .state = STATE_RUNNING,
				  .value = 100 + i % 2,
				  .left = STATE_SLEEPING,
				  .wait = WAIT_PIPE};

		r = synthetic_random(&random); /* 100 ns of jitter, in four parts */
		time += 2400 + ((r & 63) + (r >> 8 & 63) + (r >> 16 & 63) + (r >> 24 & 63));
		s.end = time = time / 16 * 16;
		columns_push(&in, &s);
	}
	ck_assert_int_eq(codec_encode(&codec, KIND_SLICE, &in, &blob, NULL), 0);
	/* A record takes room for its duration, and nothing else. */
	ck_assert_uint_lt(blob.size, CODEC_RECORDS_MAX * 7 / 10);
	columns_free(&in);
	codec_free(&codec);
}
END_TEST

/* Noise takes as many bits as it has: 17 of each difference, not the three bytes of a varint. */
START_TEST(noise_takes_its_bits)
{
	struct columns in = {0};
	struct codec codec = {0};
	uint32_t count = 30000; /* one block, unless the codec divides it */
	uint64_t random = 3, time = 1ULL << 40;
	struct codec_blob blob;

	ck_assert_int_eq(columns_reserve(&in, 1, count), 0);
	for (uint32_t i = 0; i < count; i++) {
		time += synthetic_random(&random) >> 20 & 0x1ffff;
		columns_push(&in, &time);
	}
	ck_assert_int_eq(codec_encode(&codec, KIND_COUNT, &in, &blob, NULL), 0);
	ck_assert_uint_lt(blob.size, count * 18 / 8);
	columns_free(&in);
	codec_free(&codec);
}
END_TEST

START_TEST(columns_may_come_and_go)
{
	struct columns in = {0}, out = {0};
	struct codec codec = {0};
	uint64_t random = 99;
	struct codec_blob blob;

	columns_reserve(&in, 3, 100);
	fill(&in, 100, &random);
	ck_assert_int_eq(codec_encode(&codec, KIND_COUNT, &in, &blob, NULL), 0);
	ck_assert_int_eq(decode(&codec, blob, 5, UINT64_MAX, &out), 0);
	ck_assert_mem_eq(columns_at(&in, 2), columns_at(&out, 2), 100 * sizeof(uint64_t));
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_uint_eq(columns_at(&out, 4)[i], 0);
	ck_assert_int_eq(codec_encode(&codec, KIND_COUNT, &in, &blob, NULL), 0);
	ck_assert_int_eq(decode(&codec, blob, 2, 2, &out), 0);
	ck_assert_mem_eq(columns_at(&in, 1), columns_at(&out, 1), 100 * sizeof(uint64_t));
	columns_free(&in);
	columns_free(&out);
	codec_free(&codec);
}
END_TEST

/*
 * A frame that declares more bytes than that number of records can have is refused before memory is
 * allocated.
 */
START_TEST(bomb)
{
	size_t size = 400u << 20, packed_size = ZSTD_compressBound(1 << 20);
	uint8_t *zeros = calloc(1, size), *packed = malloc(packed_size);
	struct columns out = {0};
	struct codec codec = {0};

	packed_size = ZSTD_compress(packed, packed_size, zeros, size, 1);
	ck_assert(!ZSTD_isError(packed_size));
	ck_assert_int_eq(decode(&codec, blob_of(packed, packed_size, 10), 7, UINT64_MAX, &out),
			 -EBADMSG);
	ck_assert_uint_eq(codec.raw.capacity, 0);
	ck_assert_int_eq(
		decode(&codec, blob_of(packed, packed_size, 1ULL << 40), 7, UINT64_MAX, &out),
		-EBADMSG);
	ck_assert_int_eq(decode(&codec, blob_of(packed, packed_size, 0), 7, UINT64_MAX, &out),
			 -EBADMSG);
	free(zeros);
	free(packed);
	columns_free(&out);
	codec_free(&codec);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {flipped,
				      lies_inside,
				      old_blobs,
				      positive_differences,
				      turns_are_small,
				      noise_takes_its_bits,
				      columns_may_come_and_go,
				      bomb};
	TCase *t = suite_case("codec", tests, sizeof(tests) / sizeof(tests[0]));

	tcase_add_loop_test(t, round_trip, 0, 20);
	tcase_add_loop_test(t, columns_follow_each_other, 0, 8);
	return suite_run_case("codec", t);
}
