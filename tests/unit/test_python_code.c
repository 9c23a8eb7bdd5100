// SPDX-License-Identifier: Apache-2.0
/* Code objects in memory that is complete, hostile, or already reused. */
#include <errno.h>

#include "python_memory.h"
#include "python_walker.h"
#include "suite.h"

#define CODE_TYPE 0x555555aaaa00ull
#define CODE 256
#define NAME 1024
#define QUALIFIED_NAME 2048
#define FILE_NAME 3072
#define LINES 4096

static struct fake fake;
static const struct python_memory memory = {.read = fake_read, .context = &fake};

/* A table of lines: unit 0 is on the first line, 1 and 2 on the next, 3 on none. */
static const uint8_t table[] = {0x80 | 10 << 3 | 0, 0, 0, 0x80 | 11 << 3 | 1, 0, 0, 0x80 | 15 << 3};

static uint32_t id_of_words(void)
{
	__u64 words[PYTHON_ID_WORDS];

	for (int i = 0; i < PYTHON_ID_WORDS; i++)
		memcpy(&words[i], fake.bytes + CODE + fake_layout.code_id[i], sizeof(*words));
	return python_code_id(words);
}

static uint32_t make_code(void)
{
	uint32_t line = 42;

	memset(&fake, 0, sizeof(fake));
	memset(fake.bytes + CODE, 7, fake_layout.code_bytes);
	fake_word(&fake, CODE, 1);
	fake_word(&fake, CODE + PYTHON_OBJECT_TYPE, CODE_TYPE);
	fake_word(&fake, CODE + fake_layout.code_name, fake_ascii(&fake, NAME, "work"));
	fake_word(&fake, CODE + fake_layout.code_qualified_name,
		  fake_ascii(&fake, QUALIFIED_NAME, "Shop.work"));
	fake_word(&fake, CODE + fake_layout.code_file, fake_ascii(&fake, FILE_NAME, "/a/shop.py"));
	fake_word(&fake, CODE + fake_layout.code_lines, FAKE_BASE + LINES);
	fake_word(&fake, LINES + fake_layout.bytes_size, sizeof(table));
	memcpy(fake.bytes + LINES + fake_layout.bytes_data, table, sizeof(table));
	memcpy(fake.bytes + CODE + fake_layout.code_first_line, &line, sizeof(line));
	return id_of_words();
}

static int read_object(struct python_code *ret, uint32_t id)
{
	fake.reads = 0;
	return python_code_read(ret, &memory, &(struct python_interpreter){fake_layout, CODE_TYPE},
				FAKE_BASE + CODE, id);
}

/* Check that reading fails and leaves the result unchanged. */
static void check_refused(uint32_t id, int expected)
{
	struct python_code c = {.id = 4711};

	ck_assert_int_eq(read_object(&c, id), expected);
	ck_assert_uint_eq(c.id, 4711);
	ck_assert_ptr_null(c.name);
}

START_TEST(a_code_object_is_read)
{
	uint32_t id = make_code();
	struct python_layout old = fake_layout;
	struct python_code c;

	ck_assert_int_eq(read_object(&c, id), 0);
	ck_assert_uint_eq(c.id, id);
	ck_assert_str_eq(c.name, "Shop.work");
	ck_assert_str_eq(c.file, "/a/shop.py");
	ck_assert_uint_eq(c.first_line, 42);
	ck_assert_uint_eq(python_code_line(&c, &fake_layout, 0), 42);
	ck_assert_uint_eq(python_code_line(&c, &fake_layout, 2), 43);
	ck_assert_uint_eq(python_code_line(&c, &fake_layout, 3), 0);
	ck_assert_uint_eq(python_code_line(&c, &fake_layout, UINT32_MAX), 42);
	python_code_free(&c);
	ck_assert_ptr_null(c.name);
	old.code_qualified_name = PYTHON_ABSENT;
	ck_assert_int_eq(python_code_read(&c, &memory, &(struct python_interpreter){old, CODE_TYPE},
					  FAKE_BASE + CODE, id),
			 0);
	ck_assert_str_eq(c.name, "work");
	python_code_free(&c);
}
END_TEST

/* A freed object still has all its members, but its names may be gone. */
START_TEST(what_was_freed_is_stale)
{
	static const uint64_t alive[] = {1, 1000000, UINT32_MAX};
	static const uint64_t freed[] = {0, 0x7f0000001230, 1ull << 32};
	struct python_layout flagged = fake_layout;
	uint32_t id = make_code();
	struct python_code c;

	for (int i = 0; i < 3; i++) {
		fake_word(&fake, CODE, alive[i]);
		ck_assert_int_eq(read_object(&c, id), 0);
		python_code_free(&c);
		fake_word(&fake, CODE, freed[i]);
		check_refused(id, -ESTALE);
	}
	flagged.version = PYTHON_VERSION(3, 14);
	for (int i = 0; i < 4; i++) {
		fake_word(&fake, CODE, i < 3 ? freed[i] : 1ull << 48);
		ck_assert_int_eq(python_code_read(&c, &memory,
						  &(struct python_interpreter){flagged, CODE_TYPE},
						  FAKE_BASE + CODE, id),
				 -ESTALE);
	}
	fake_word(&fake, CODE, 4ull << 48 | 1);
	ck_assert_int_eq(python_code_read(&c, &memory,
					  &(struct python_interpreter){flagged, CODE_TYPE},
					  FAKE_BASE + CODE, id),
			 0);
	python_code_free(&c);
}
END_TEST

START_TEST(another_object_is_stale)
{
	uint32_t id = make_code();

	check_refused(id + 1, -ESTALE);
	fake_word(&fake, CODE + PYTHON_OBJECT_TYPE, CODE_TYPE + 8);
	check_refused(id, -ESTALE);
	for (int i = 0; i < PYTHON_ID_WORDS; i++) {
		id = make_code();
		fake.bytes[CODE + fake_layout.code_id[i]] ^= 1;
		check_refused(id, -ESTALE);
	}
}
END_TEST

/* Return the layout of a version whose code objects have no number of their own. */
static struct python_layout layout_without_number(void)
{
	struct python_layout l = fake_layout;

	l.id_by_text = 1;
	return l;
}

static uint32_t id_of_walker(const struct python_layout *l)
{
	static struct python_walker w;

	return walker_code_id(&w, &memory, l, CODE_TYPE, FAKE_BASE + CODE);
}

/* Change one byte of a text's characters; seen: whether the id depends on the byte. */
static void check_text(size_t text, size_t at, bool seen)
{
	const struct python_layout l = layout_without_number();
	const uint32_t id = id_of_walker(&l);
	struct python_code c = {0};
	int rc;

	fake.bytes[text + l.text_ascii + at] ^= 1;
	rc = python_code_read(&c, &memory, &(struct python_interpreter){l, CODE_TYPE},
			      FAKE_BASE + CODE, id);
	ck_assert_int_eq(rc, seen ? -ESTALE : 0);
	ck_assert_int_eq(id_of_walker(&l) != id, seen);
	python_code_free(&c);
	fake.bytes[text + l.text_ascii + at] ^= 1;
}

/* A later code object at the same address may have the same words, but not the same names. */
START_TEST(another_text_is_another_object)
{
	static const size_t texts[] = {NAME, QUALIFIED_NAME, FILE_NAME};
	static char longest[PYTHON_CHARACTERS_MAX + 2];
	const size_t all = PYTHON_CHARACTERS_MAX, half = all / 2;

	memset(longest, 'x', all + 1);
	for (int i = 0; i < 3; i++) {
		make_code();
		for (size_t at = 0; at < 4; at++)
			check_text(texts[i], at, true);
		longest[all] = '\0';
		fake_ascii(&fake, texts[i], longest);
		for (size_t at = 0; at < all; at++)
			check_text(texts[i], at, true);
		longest[all] = 'x';
		fake_ascii(&fake, texts[i], longest);
		for (size_t at = 0; at < all + 1; at++)
			check_text(texts[i], at, at != half);
		fake_ascii(&fake, texts[i], "x");
		check_text(texts[i], 0, true);
	}
}
END_TEST

/* The walker cannot read a page that is not in memory; the reader of names can. */
START_TEST(a_text_that_the_walker_could_not_read_is_left_out)
{
	const struct python_layout l = layout_without_number();
	static const size_t texts[] = {NAME, QUALIFIED_NAME, FILE_NAME};
	const uint32_t members[] = {l.code_name, l.code_qualified_name, l.code_file};
	struct python_code c = {0};
	static struct python_walker w;
	uint32_t id;

	for (int i = 0; i < 3; i++) {
		make_code();
		w.unreadable = FAKE_BASE + texts[i];
		id = walker_code_id(&w, &memory, &l, CODE_TYPE, FAKE_BASE + CODE);
		ck_assert_uint_ne(id, id_of_walker(&l));
		ck_assert_int_eq(python_code_read(&c, &memory,
						  &(struct python_interpreter){l, CODE_TYPE},
						  FAKE_BASE + CODE, id),
				 0);
		ck_assert_str_eq(c.file, "/a/shop.py");
		python_code_free(&c);
		/* a different address has a different text */
		fake_word(&fake, CODE + members[i], fake_ascii(&fake, 5000, "other"));
		ck_assert_int_eq(python_code_read(&c, &memory,
						  &(struct python_interpreter){l, CODE_TYPE},
						  FAKE_BASE + CODE, id),
				 -ESTALE);
	}
}
END_TEST

/* A length above that of memory: the text is left out of the id, and cannot be read. */
START_TEST(a_text_longer_than_memory_is_left_out)
{
	static const uint64_t lengths[] = {FAKE_SIZE, UINT32_MAX, 1ull << 62, UINT64_MAX};
	static const size_t texts[] = {NAME, QUALIFIED_NAME, FILE_NAME};
	const struct python_layout l = layout_without_number();
	uint32_t id;

	for (int i = 0; i < 3; i++) {
		for (int n = 0; n < 4; n++) {
			make_code();
			id = id_of_walker(&l);
			fake_word(&fake, texts[i] + l.text_length, lengths[n]);
			ck_assert_uint_ne(id_of_walker(&l), id);
			ck_assert_int_eq(
				python_code_read(NULL, &memory,
						 &(struct python_interpreter){l, CODE_TYPE},
						 FAKE_BASE + CODE, id),
				-ESTALE);
		}
	}
}
END_TEST

/* An object that is freed and reused during reading, before the last read, gives no result. */
START_TEST(what_changes_meanwhile_is_stale)
{
	struct python_code c;
	uint32_t id = make_code();
	unsigned int reads;

	ck_assert_int_eq(read_object(&c, id), 0);
	python_code_free(&c);
	reads = fake.reads;
	for (unsigned int at = 1; at <= reads + 1; at++) {
		id = make_code();
		fake.change_at = at;
		fake.change_offset = CODE + fake_layout.code_name;
		fake.change_to = FAKE_BASE + FILE_NAME;
		if (at <= reads) {
			check_refused(id, -ESTALE);
			continue;
		}
		ck_assert_int_eq(read_object(&c, id), 0);
		python_code_free(&c);
	}
}
END_TEST

/* Unreadable names of an object that was replaced are reported as stale, not as an error. */
START_TEST(nonsense_of_another_object_is_stale)
{
	uint32_t id = make_code();

	fake_word(&fake, CODE + fake_layout.code_file, 8);
	check_refused(id_of_words(), -EFAULT);
	id = id_of_words();
	fake.change_at = 4;
	fake.change_offset = CODE + fake_layout.code_file;
	fake.change_to = FAKE_BASE + FILE_NAME;
	check_refused(id, -ESTALE);
}
END_TEST

START_TEST(names_that_make_no_sense_are_errors)
{
	make_code();
	fake_word(&fake, CODE + fake_layout.code_qualified_name, 0);
	check_refused(id_of_words(), -EFAULT);
	make_code();
	fake_word(&fake, CODE + fake_layout.code_file, FAKE_BASE + FAKE_SIZE - 20);
	check_refused(id_of_words(), -EFAULT);
	make_code();
	/* a file name that is a code object */
	fake_word(&fake, CODE + fake_layout.code_file, FAKE_BASE + CODE);
	check_refused(id_of_words(), -EBADMSG);
	ck_assert_int_eq(python_code_read(NULL, &memory,
					  &(struct python_interpreter){fake_layout, CODE_TYPE}, 8,
					  0),
			 -EFAULT);
	ck_assert_int_eq(python_code_read(NULL, &memory,
					  &(struct python_interpreter){fake_layout, CODE_TYPE},
					  UINT64_MAX - 8, 0),
			 -EFAULT);
}
END_TEST

static void check_no_lines(uint64_t lines, uint64_t size)
{
	struct python_code c;

	make_code();
	fake_word(&fake, CODE + fake_layout.code_lines, lines);
	fake_word(&fake, LINES + fake_layout.bytes_size, size);
	ck_assert_int_eq(read_object(&c, id_of_words()), 0);
	ck_assert_str_eq(c.name, "Shop.work");
	ck_assert_ptr_null(c.lines);
	ck_assert_uint_eq(python_code_line(&c, &fake_layout, 0), 0);
	ck_assert_uint_eq(python_code_line(&c, &fake_layout, UINT32_MAX), 42);
	python_code_free(&c);
}

START_TEST(without_lines_there_are_names)
{
	check_no_lines(0, 1);
	check_no_lines(FAKE_BASE + LINES, PYTHON_LINES_MAX + 1);
	check_no_lines(FAKE_BASE + LINES, PYTHON_LINES_MAX); /* beyond the end of the memory */
	check_no_lines(FAKE_BASE + LINES, (uint64_t)-1);
	check_no_lines(FAKE_BASE + LINES, 1ull << 63);
	check_no_lines(UINT64_MAX - 20, 1);
}
END_TEST

/* An empty table of the old kind places all code on the first line. */
START_TEST(an_empty_table_is_one)
{
	struct python_layout old = fake_layout;
	struct python_code c;

	make_code();
	old.lines = PYTHON_LINES_LNOTAB;
	fake_word(&fake, LINES + fake_layout.bytes_size, 0);
	ck_assert_int_eq(read_object(&c, id_of_words()), 0);
	ck_assert_uint_eq(python_code_line(&c, &old, 9), 42);
	python_code_free(&c);
}
END_TEST

START_TEST(long_names_are_cut)
{
	struct python_code c;

	make_code();
	memset(fake.bytes + 8192, 'n', 8192);
	fake_ascii(&fake, 8192, "");
	fake_word(&fake, 8192 + fake_layout.text_length, 8000);
	fake_word(&fake, CODE + fake_layout.code_qualified_name, FAKE_BASE + 8192);
	fake_word(&fake, CODE + fake_layout.code_file, FAKE_BASE + 8192);
	ck_assert_int_eq(read_object(&c, id_of_words()), 0);
	ck_assert_uint_eq(strlen(c.name), PYTHON_NAME_MAX - 1);
	ck_assert_str_eq(c.name + PYTHON_NAME_MAX - 5, "n\xe2\x80\xa6");
	ck_assert_uint_eq(strlen(c.file), PYTHON_FILE_MAX - 1);
	python_code_free(&c);
}
END_TEST

static void check_shown(const char *qualified, const char *name, const char *expected)
{
	struct python_code c;

	make_code();
	fake_word(&fake, CODE + fake_layout.code_qualified_name,
		  fake_ascii(&fake, QUALIFIED_NAME, qualified));
	fake_word(&fake, CODE + fake_layout.code_name, fake_ascii(&fake, NAME, name));
	ck_assert_int_eq(read_object(&c, id_of_words()), 0);
	ck_assert_str_eq(c.name, expected);
	python_code_free(&c);
}

START_TEST(a_name_that_the_qualified_one_lacks_is_shown)
{
	check_shown("decorator.<locals>.public_api", "mean", "mean");
	check_shown("<module>", "<cell line: 1>", "<cell line: 1>");
	check_shown("Shop.rework", "work", "work"); /* only whole parts of a qualified name match */
	check_shown("work", "rework", "rework");
	check_shown("Shop.", "work", "work");
	check_shown("", "work", "work");
}
END_TEST

START_TEST(a_qualified_name_that_ends_with_the_name_stays)
{
	check_shown("Shop.__secret", "__secret", "Shop.__secret");
	check_shown("f.<locals>.<lambda>", "<lambda>", "f.<locals>.<lambda>");
	check_shown("f.<locals>.<listcomp>", "<listcomp>", "f.<locals>.<listcomp>");
	check_shown("Shop.a.b", "a.b", "Shop.a.b");
	check_shown("work", "work", "work");
	check_shown("Shop.work", "", "Shop.work");
}
END_TEST

START_TEST(without_a_readable_name_the_qualified_one_is_shown)
{
	struct python_code c;

	make_code();
	fake_word(&fake, CODE + fake_layout.code_name, 0);
	ck_assert_int_eq(read_object(&c, id_of_words()), 0);
	ck_assert_str_eq(c.name, "Shop.work");
	python_code_free(&c);
}
END_TEST

START_TEST(of_a_cut_qualified_name_the_end_is_unknown)
{
	struct python_code c;

	make_code();
	memset(fake.bytes + 8192, 'n', 8192);
	fake_ascii(&fake, 8192, "");
	fake_word(&fake, CODE + fake_layout.code_qualified_name, FAKE_BASE + 8192);
	fake_word(&fake, 8192 + fake_layout.text_length, PYTHON_NAME_MAX - 1);
	ck_assert_int_eq(read_object(&c, id_of_words()), 0);
	ck_assert_str_eq(c.name, "work");
	python_code_free(&c);
	fake_word(&fake, 8192 + fake_layout.text_length, PYTHON_NAME_MAX);
	ck_assert_int_eq(read_object(&c, id_of_words()), 0);
	ck_assert_str_eq(c.name + PYTHON_NAME_MAX - 5, "n\xe2\x80\xa6");
	python_code_free(&c);
}
END_TEST

/* A layout from a file whose members lie beyond the part of an object that is read is refused. */
START_TEST(members_far_away_are_refused)
{
	uint32_t id = make_code();
	struct python_layout far = fake_layout;

	far.code_lines = 1u << 30;
	ck_assert_int_eq(python_code_read(NULL, &memory,
					  &(struct python_interpreter){far, CODE_TYPE},
					  FAKE_BASE + CODE, id),
			 -EBADMSG);
	far = fake_layout;
	far.code_id[3] = PYTHON_ABSENT;
	ck_assert_int_eq(python_code_read(NULL, &memory,
					  &(struct python_interpreter){far, CODE_TYPE},
					  FAKE_BASE + CODE, id),
			 -EBADMSG);
	far = fake_layout;
	far.code_file = PYTHON_ABSENT - 3;
	ck_assert_int_eq(python_code_read(NULL, &memory,
					  &(struct python_interpreter){far, CODE_TYPE},
					  FAKE_BASE + CODE, id),
			 -EBADMSG);
}
END_TEST

SUITE("python_code", a_code_object_is_read, what_was_freed_is_stale, another_object_is_stale,
      another_text_is_another_object, a_text_that_the_walker_could_not_read_is_left_out,
      a_text_longer_than_memory_is_left_out, what_changes_meanwhile_is_stale,
      nonsense_of_another_object_is_stale, names_that_make_no_sense_are_errors,
      without_lines_there_are_names, an_empty_table_is_one, long_names_are_cut,
      a_name_that_the_qualified_one_lacks_is_shown, a_qualified_name_that_ends_with_the_name_stays,
      without_a_readable_name_the_qualified_one_is_shown,
      of_a_cut_qualified_name_the_end_is_unknown, members_far_away_are_refused)
