// SPDX-License-Identifier: Apache-2.0
/* Python's str in all its forms, truncated, and hostile. */
#include <errno.h>
#include <stdlib.h>

#include "python_memory.h"
#include "suite.h"

#define AT 64
#define TEXT_MAX 2048

static struct fake fake;
static const struct python_memory memory = {.read = fake_read, .context = &fake};
static char text[TEXT_MAX];

static int read_text(const struct python_layout *l, size_t room)
{
	/* fill the memory after the buffer, to detect writes to it */
	memset(text, 0x55, sizeof(text));
	fake.reads = 0;
	fake.largest = 0;
	int rc = python_text_read(text, room, &memory, l, FAKE_BASE + AT);

	for (size_t i = room; i < sizeof(text); i++)
		ck_assert_int_eq(text[i], 0x55);
	return rc;
}

static void check(const char *expected, size_t room)
{
	ck_assert_int_eq(read_text(&fake_layout, room), 0);
	ck_assert_str_eq(text, expected);
}

static void put(const void *characters, uint64_t count, unsigned int width, bool ascii)
{
	fake_text(&fake, &fake_layout, AT, characters, count, width, ascii);
}

START_TEST(characters_of_every_width)
{
	static const uint16_t two[] = {'a', 0x7f, 0x80, 0x7ff, 0x800, 0x20ac, 0xfffd};
	static const uint32_t four[] = {'a', 0xff, 0x20ac, 0x10000, 0x1f40d, 0x10ffff};

	put("work", 4, 1, true);
	check("work", 512);
	put("", 0, 1, true);
	check("", 512);
	put("caf\xe9 \xff", 6, 1, false);
	check("caf\xc3\xa9 \xc3\xbf", 512);
	put(two, 7, 2, false);
	check("a\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xe2\x82\xac\xef\xbf\xbd", 512);
	put(four, 6, 4, false);
	check("a\xc3\xbf\xe2\x82\xac\xf0\x90\x80\x80\xf0\x9f\x90\x8d\xf4\x8f\xbf\xbf", 512);
}
END_TEST

START_TEST(what_is_no_character_is_replaced)
{
	static const uint16_t surrogates[] = {0xd7ff, 0xd800, 0xdfff, 0xe000, 0};
	static const uint32_t beyond[] = {0xdc80, 0x110000, 0xffffffff, 0, 'z'};

	put(surrogates, 5, 2, false);
	check("\xed\x9f\xbf\xef\xbf\xbd\xef\xbf\xbd\xee\x80\x80\xef\xbf\xbd", 512);
	put(beyond, 5, 4, false);
	check("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz", 512);
	put("a\0b", 3, 1, true);
	check("a\xef\xbf\xbd"
	      "b",
	      512);
}
END_TEST

/* The first 3.14 has 16 bits for the interned state of a str, others have 2. */
START_TEST(states_of_other_versions)
{
	struct python_layout old = fake_layout, new = fake_layout;

	old.version = PYTHON_VERSION(3, 8);
	old.text_ascii = 48;
	old.text_compact = 72;
	fake_text(&fake, &old, AT, "old", 3, 1, true);
	ck_assert_int_eq(read_text(&old, 512), 0);
	ck_assert_str_eq(text, "old");
	new.version = PYTHON_VERSION(3, 14);
	new.text_shift = 16;
	fake_text(&fake, &new, AT, "new", 3, 1, true);
	ck_assert_int_eq(read_text(&new, 512), 0);
	ck_assert_str_eq(text, "new");
}
END_TEST

START_TEST(long_ones_are_cut_between_characters)
{
	static const uint16_t wide[] = {0x20ac, 0x20ac, 0x20ac, 0x20ac};

	put("0123456789", 10, 1, true);
	check("0123456789", 11);
	check("012345\xe2\x80\xa6", 10);
	check("0\xe2\x80\xa6", 5);
	check("\xe2\x80\xa6", 4);
	check("01", 3);
	check("", 1);
	put(wide, 4, 2, false);
	check("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 13);
	check("\xe2\x82\xac\xe2\x82\xac\xe2\x80\xa6", 12);
	check("\xe2\x82\xac\xe2\x82\xac\xe2\x80\xa6", 10);
	check("\xe2\x82\xac\xe2\x80\xa6", 9);
	check("\xe2\x80\xa6", 6);
	check("", 3);
}
END_TEST

/* Only as much is read as fits into the buffer, in bounded blocks. */
START_TEST(lengths_are_not_believed)
{
	put("x", 1, 1, true);
	memset(fake.bytes + AT + fake_layout.text_ascii, 'y', 8192);
	fake_word(&fake, AT + fake_layout.text_length, INT64_MAX);
	check("yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\xe2\x80\xa6", 40);
	ck_assert_uint_eq(fake.largest, 40);
	ck_assert_int_eq(read_text(&fake_layout, TEXT_MAX), 0);
	ck_assert_uint_eq(strlen(text), TEXT_MAX - 1);
	ck_assert_uint_le(fake.largest, 1024);
	ck_assert_uint_le(fake.reads, 5);
	fake_word(&fake, AT + fake_layout.text_length, (uint64_t)-1);
	ck_assert_int_eq(read_text(&fake_layout, 512), -EBADMSG);
	fake_word(&fake, AT + fake_layout.text_length, 1ull << 63);
	ck_assert_int_eq(read_text(&fake_layout, 512), -EBADMSG);
}
END_TEST

START_TEST(what_is_no_str_is_refused)
{
	put("work", 4, 1, true);
	for (uint32_t state = 0; state < 256; state++) {
		uint32_t width = state >> 2 & 7;
		bool compact = state & 32, ascii = state & 64;
		bool fine = compact && (width == 1 || (!ascii && (width == 2 || width == 4)));

		memcpy(fake.bytes + AT + fake_layout.text_state, &state, sizeof(state));
		ck_assert_int_eq(read_text(&fake_layout, 512), fine ? 0 : -EBADMSG);
	}
}
END_TEST

START_TEST(what_cannot_be_read_is_told)
{
	ck_assert_int_eq(python_text_read(text, 512, &memory, &fake_layout, 0), -EFAULT);
	ck_assert_int_eq(python_text_read(text, 512, &memory, &fake_layout, UINT64_MAX - 16),
			 -EFAULT);
	ck_assert_int_eq(
		python_text_read(text, 512, &memory, &fake_layout, FAKE_BASE + FAKE_SIZE - 24),
		-EFAULT);
	/* the str ends where the memory ends, or one character farther */
	fake_text(&fake, &fake_layout, FAKE_SIZE - 44, "work", 4, 1, true);
	ck_assert_int_eq(
		python_text_read(text, 512, &memory, &fake_layout, FAKE_BASE + FAKE_SIZE - 44), 0);
	ck_assert_str_eq(text, "work");
	fake_word(&fake, FAKE_SIZE - 44 + fake_layout.text_length, 5);
	ck_assert_int_eq(
		python_text_read(text, 512, &memory, &fake_layout, FAKE_BASE + FAKE_SIZE - 44),
		-EFAULT);
}
END_TEST

SUITE("python_text", characters_of_every_width, what_is_no_character_is_replaced,
      states_of_other_versions, long_ones_are_cut_between_characters, lengths_are_not_believed,
      what_is_no_str_is_refused, what_cannot_be_read_is_told)
