// SPDX-License-Identifier: Apache-2.0
/* protobuf.c: its output is read by a decoder that only knows the rules of the encoding. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"
#include "suite.h"

struct reader {
	const uint8_t *at, *end;
};

static uint64_t read_varint(struct reader *r)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		uint8_t byte;

		ck_assert(r->at < r->end);
		ck_assert_uint_lt(shift, 70);
		byte = *r->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static uint64_t expect_varint(struct reader *r, unsigned int field)
{
	ck_assert_uint_eq(read_varint(r), field * 8);
	return read_varint(r);
}

static struct reader expect_block(struct reader *r, unsigned int field)
{
	struct reader block;
	uint64_t size;

	ck_assert_uint_eq(read_varint(r), field * 8 + 2);
	size = read_varint(r);
	ck_assert_uint_le(size, (uint64_t)(r->end - r->at));
	block = (struct reader){r->at, r->at + size};
	r->at += size;
	return block;
}

static struct reader reader_of(const struct protobuf *p)
{
	ck_assert_int_eq(p->error, 0);
	return (struct reader){p->data, p->data + p->size};
}

START_TEST(varints_of_every_length)
{
	struct protobuf p = {0};
	struct reader r;

	for (unsigned int bit = 0; bit < 64; bit++) {
		protobuf_varint(&p, bit + 1, 1ULL << bit);
		protobuf_varint(&p, bit + 1, (1ULL << bit) - 1);
	}
	protobuf_varint(&p, (1u << 29) - 1, UINT64_MAX);
	r = reader_of(&p);
	for (unsigned int bit = 0; bit < 64; bit++) {
		ck_assert_uint_eq(expect_varint(&r, bit + 1), 1ULL << bit);
		ck_assert_uint_eq(expect_varint(&r, bit + 1), (1ULL << bit) - 1);
	}
	ck_assert_uint_eq(expect_varint(&r, (1u << 29) - 1), UINT64_MAX);
	ck_assert_ptr_eq(r.at, r.end);
	protobuf_free(&p);
}
END_TEST

/* The example of the encoding's documentation: message Test1 { a = 150 } as field 3. */
START_TEST(known_bytes)
{
	static const uint8_t expected[] = {0x1a, 0x83, 0x80, 0x80, 0x00, 0x08, 0x96, 0x01, 0x12,
					   0x07, 't',  'e',  's',  't',	 'i',  'n',  'g',  0x32,
					   0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05};
	struct protobuf p = {0};
	size_t mark = protobuf_begin(&p, 3);

	protobuf_varint(&p, 1, 150);
	protobuf_end(&p, mark);
	protobuf_text(&p, 2, "testing");
	protobuf_packed(&p, 6, (uint64_t[]){3, 270, 86942}, 3);
	ck_assert_int_eq(p.error, 0);
	ck_assert_uint_eq(p.size, sizeof(expected));
	ck_assert_mem_eq(p.data, expected, sizeof(expected));
	protobuf_free(&p);
}
END_TEST

START_TEST(text_is_made_valid_and_nothing_else)
{
	struct protobuf p = {0};
	struct reader r, text;

	protobuf_text(&p, 1, "a\xff\n<\xe2\x80\xaez");
	protobuf_text(&p, 2, "");
	protobuf_text(&p, 3, NULL);
	protobuf_bytes(&p, 4, NULL, 0);
	protobuf_bytes(&p, 5, "\0\xff", 2);
	protobuf_packed(&p, 6, NULL, 0);
	r = reader_of(&p);
	text = expect_block(&r, 1);
	ck_assert_uint_eq(text.end - text.at, 10);
	ck_assert_mem_eq(text.at, "a\xef\xbf\xbd\n<\xe2\x80\xaez", 10);
	for (unsigned int field = 2; field <= 4; field++) {
		text = expect_block(&r, field);
		ck_assert_ptr_eq(text.at, text.end);
	}
	text = expect_block(&r, 5);
	ck_assert_uint_eq(text.end - text.at, 2);
	ck_assert_mem_eq(text.at, "\0\xff", 2);
	ck_assert_ptr_eq(r.at, r.end);
	protobuf_free(&p);
}
END_TEST

static uint64_t random_value(unsigned int *state)
{
	uint64_t value = (uint64_t)rand_r(state) << 42 ^ (uint64_t)rand_r(state) << 21 ^
			 (uint64_t)rand_r(state);

	return value >> rand_r(state) % 64;
}

/* Write a random message. The reader expects the same one from the same state of the generator. */
static void write_message(struct protobuf *p, unsigned int *state, int depth)
{
	for (int n = rand_r(state) % 6; n > 0; n--) {
		unsigned int field = 1 + (unsigned int)rand_r(state) % 3000;
		uint64_t values[50];
		size_t mark;

		switch (rand_r(state) % (depth ? 3 : 2)) {
		case 0:
			protobuf_varint(p, field, random_value(state));
			break;
		case 1:
			for (size_t i = 0; i < 50; i++)
				values[i] = random_value(state);
			protobuf_packed(p, field, values, 50);
			break;
		case 2:
			mark = protobuf_begin(p, field);
			write_message(p, state, depth - 1);
			protobuf_end(p, mark);
			break;
		}
	}
}

static void expect_message(struct reader *r, unsigned int *state, int depth)
{
	for (int n = rand_r(state) % 6; n > 0; n--) {
		unsigned int field = 1 + (unsigned int)rand_r(state) % 3000;
		struct reader block;

		switch (rand_r(state) % (depth ? 3 : 2)) {
		case 0:
			ck_assert_uint_eq(expect_varint(r, field), random_value(state));
			break;
		case 1:
			block = expect_block(r, field);
			for (size_t i = 0; i < 50; i++)
				ck_assert_uint_eq(read_varint(&block), random_value(state));
			ck_assert_ptr_eq(block.at, block.end);
			break;
		case 2:
			block = expect_block(r, field);
			expect_message(&block, state, depth - 1);
			break;
		}
	}
	ck_assert_ptr_eq(r->at, r->end);
}

START_TEST(random_messages_come_back)
{
	struct protobuf p = {0};

	for (unsigned int seed = 0; seed < 2000; seed++) {
		unsigned int state = seed;
		struct reader r;

		protobuf_reset(&p);
		write_message(&p, &state, 5);
		r = reader_of(&p);
		state = seed;
		expect_message(&r, &state, 5);
	}
	protobuf_free(&p);
}
END_TEST

START_TEST(errors_stick_until_reset)
{
	struct protobuf p = {.error = -ENOMEM};
	size_t mark = protobuf_begin(&p, 1);

	protobuf_varint(&p, 1, 1);
	protobuf_bytes(&p, 1, "x", 1);
	protobuf_text(&p, 1, "x");
	protobuf_end(&p, mark);
	ck_assert_uint_eq(p.size, 0);
	ck_assert_int_eq(p.error, -ENOMEM);
	protobuf_reset(&p);
	protobuf_varint(&p, 1, 1);
	ck_assert_uint_eq(p.size, 2);
	protobuf_free(&p);
}
END_TEST

START_TEST(doubles_are_little_endian)
{
	static const uint8_t known[] = {44 * 8 % 128 + 129, 2, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f};
	struct protobuf p = {0};

	protobuf_double(&p, 44, 1.5);
	ck_assert_int_eq(p.error, 0);
	ck_assert_uint_eq(p.size, sizeof(known));
	ck_assert_mem_eq(p.data, known, sizeof(known));
	protobuf_free(&p);
}
END_TEST

/* A length of five bytes does not fit into the four bytes reserved for it. */
START_TEST(a_message_too_large_is_an_error)
{
	size_t size = 1u << 26;
	char *block = calloc(1, size);
	struct protobuf p = {0};
	size_t mark = protobuf_begin(&p, 1);

	for (int i = 0; i < 4; i++)
		protobuf_bytes(&p, 2, block, size);
	ck_assert_int_eq(p.error, 0);
	protobuf_end(&p, mark);
	ck_assert_int_eq(p.error, -EMSGSIZE);
	protobuf_free(&p);
	free(block);
}
END_TEST

SUITE("protobuf", varints_of_every_length, known_bytes, text_is_made_valid_and_nothing_else,
      random_messages_come_back, doubles_are_little_endian, errors_stick_until_reset,
      a_message_too_large_is_an_error)
