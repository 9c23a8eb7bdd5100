// SPDX-License-Identifier: Apache-2.0
/* perfmap.c: maps as JIT compilers write them, half-written ones, and hostile ones. */
#include <errno.h>

#include "files.h"
#include "suite.h"
#include "symbolizers/lines.h"
#include "symbolizers/perfmap.h"

static struct object_facts facts;

static void append(int fd, const char *text, size_t size)
{
	ck_assert_int_ge(lseek(fd, 0, SEEK_END), 0);
	ck_assert_int_eq(write(fd, text, size), (ssize_t)size);
}

static void reread(struct perfmap *m, int fd)
{
	facts = (struct object_facts){0};
	ck_assert_int_eq(perfmap_read(m, fd, &facts, NULL), 0);
}

static struct perfmap map_of(const char *text)
{
	struct perfmap m = {0};
	int fd = file_of(text, strlen(text));

	reread(&m, fd);
	close(fd);
	return m;
}

static const char *at(struct perfmap *m, uint64_t address)
{
	struct found_symbol f;

	return perfmap_find(m, address, &f) ? f.name : "-";
}

START_TEST(every_spelling_is_understood)
{
	struct perfmap m = map_of("1000 10 plain\n"
				  "0x2000 0x10 prefixed\n"
				  "3000 10 void Foo::bar(int, long)\n"
				  "4000\t10  LazyCompile:~f a.js:1 \n"
				  "00007FABCDEF0000 0A Upper\r\n"
				  "ffffffff00000000 10 [stub]\n");

	ck_assert_str_eq(at(&m, 0x1000), "plain");
	ck_assert_str_eq(at(&m, 0x100f), "plain");
	ck_assert_str_eq(at(&m, 0x1010), "-");
	ck_assert_str_eq(at(&m, 0xfff), "-");
	ck_assert_str_eq(at(&m, 0x2008), "prefixed");
	ck_assert_str_eq(at(&m, 0x3000), "void Foo::bar(int, long)");
	ck_assert_str_eq(at(&m, 0x4000), "LazyCompile:~f a.js:1 ");
	ck_assert_str_eq(at(&m, 0x7fabcdef0009), "Upper");
	ck_assert_str_eq(at(&m, 0xffffffff0000000f), "[stub]");
	ck_assert_uint_eq(facts.symbols, 6);
	ck_assert_uint_eq(facts.bad_lines, 0);
	perfmap_free(&m);
}
END_TEST

START_TEST(later_lines_win)
{
	struct perfmap m = map_of("1000 100 old\n"
				  "1000 100 new\n"
				  "10f0 20 over the end\n"
				  "0ff0 20 over the start\n"
				  "1050 10 inside\n");

	ck_assert_str_eq(at(&m, 0x1000), "over the start");
	ck_assert_str_eq(at(&m, 0x1010), "new");
	ck_assert_str_eq(at(&m, 0x1050), "inside");
	ck_assert_str_eq(at(&m, 0x1060), "new");
	ck_assert_str_eq(at(&m, 0x10f0), "over the end");
	ck_assert_str_eq(at(&m, 0x110f), "over the end");
	perfmap_free(&m);
}
END_TEST

START_TEST(bad_lines_are_counted_and_the_good_ones_used)
{
	static const char text[] = "\n"
				   "hello world\n"
				   "1000\n"
				   "1000 10\n"
				   "1000 10 \n"
				   "1000 0 no size\n"
				   "fffffffffffffff0 100 wraps\n"
				   "1000 fffffffff too long\n"
				   "11111111111111111 1 too many digits\n"
				   "0x 1 no digits\n"
				   "-1000 10 negative\n"
				   "1000 10 a\0b\n"
				   "1000 10 good \xff\x1b[31m\n";
	int fd = file_of(text, sizeof(text) - 1);
	struct perfmap m = {0};

	reread(&m, fd);
	ck_assert_uint_eq(facts.symbols, 1);
	ck_assert_uint_eq(facts.bad_lines, 12);
	ck_assert_str_eq(at(&m, 0x1000), "good \xff\x1b[31m");
	close(fd);
	perfmap_free(&m);
}
END_TEST

START_TEST(only_what_is_new_is_read)
{
	struct perfmap m = {0};
	int fd = file_of("1000 10 first\n2000 10 ha", 24);

	reread(&m, fd);
	ck_assert_str_eq(at(&m, 0x1000), "first");
	ck_assert_str_eq(at(&m, 0x2000), "-");
	ck_assert_uint_eq(facts.bad_lines, 0);
	/* The first line is not read again. */
	ck_assert_int_eq(pwrite(fd, "3000 10 other", 13, 0), 13);
	append(fd, "lf\n1000 8 newer\n", 16);
	reread(&m, fd);
	ck_assert_str_eq(at(&m, 0x2000), "half");
	ck_assert_str_eq(at(&m, 0x1000), "newer");
	ck_assert_str_eq(at(&m, 0x1008), "first");
	ck_assert_str_eq(at(&m, 0x3000), "-");
	reread(&m, fd);
	ck_assert_uint_eq(facts.symbols, 3);
	close(fd);
	perfmap_free(&m);
}
END_TEST

START_TEST(another_file_or_a_shorter_one_is_read_anew)
{
	struct perfmap m = {0};
	int fd = file_of("1000 10 first\n", 14), other = file_of("2000 10 a second one\n", 21);

	reread(&m, fd);
	reread(&m, other);
	ck_assert_str_eq(at(&m, 0x1000), "-");
	ck_assert_str_eq(at(&m, 0x2000), "a second one");
	ck_assert_int_eq(ftruncate(other, 0), 0);
	append(other, "3000 1 x\n", 9);
	reread(&m, other);
	ck_assert_str_eq(at(&m, 0x2000), "-");
	ck_assert_str_eq(at(&m, 0x3000), "x");
	ck_assert_uint_eq(facts.symbols, 1);
	close(fd);
	close(other);
	perfmap_free(&m);
}
END_TEST

/* 5 GiB without a newline follow a good line. */
START_TEST(an_endless_line_ends_the_reading)
{
	struct perfmap m = {0};
	int fd = file_of("1000 10 first\n", 14);
	uint64_t before;

	ck_assert_int_eq(ftruncate(fd, 5ll << 30), 0);
	before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	reread(&m, fd);
	ck_assert_uint_lt(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before, 20000000000ull);
	ck_assert_uint_eq(facts.symbols, 1);
	ck_assert_uint_eq(facts.bad_lines, 1);
	ck_assert_str_eq(at(&m, 0x1000), "first");
	ck_assert_uint_lt(perfmap_bytes(&m), 1 << 20);
	reread(&m, fd);
	ck_assert_uint_eq(facts.bad_lines, 1);
	close(fd);
	perfmap_free(&m);
}
END_TEST

START_TEST(a_long_line_is_skipped_as_one)
{
	struct perfmap m = {0};
	static char line[LINE_BYTES_MAX * 5];
	int fd;

	memset(line, 'x', sizeof(line));
	memcpy(line, "1000 10 ", 8);
	line[sizeof(line) - 1] = '\n';
	fd = file_of(line, sizeof(line));
	append(fd, "2000 10 good\n", 13);
	reread(&m, fd);
	ck_assert_uint_eq(facts.bad_lines, 1);
	ck_assert_str_eq(at(&m, 0x1000), "-");
	ck_assert_str_eq(at(&m, 0x2000), "good");
	close(fd);
	perfmap_free(&m);
}
END_TEST

/* Overlapping ranges in descending order: the worst case for the removal of overlaps. */
START_TEST(a_pile_of_ranges_takes_no_time)
{
	struct perfmap m = {0};
	char *text = malloc(100000 * 40), *p = text;
	uint64_t before;
	int fd;

	for (unsigned int i = 0; i < 100000; i++)
		p += sprintf(p, "%x %x f%u\n", 1000000 - i, 2 * i + 1, i);
	fd = file_of(text, (size_t)(p - text));
	before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	reread(&m, fd);
	ck_assert_str_eq(at(&m, 1000000), "f99999");
	ck_assert_uint_lt(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before, 10000000000ull);
	ck_assert_uint_eq(facts.symbols, 100000);
	free(text);
	close(fd);
	perfmap_free(&m);
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
	struct perfmap m = {0};
	int ends[2], fd;

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(perfmap_read(&m, ends[0], &facts, NULL), -EBADMSG);
	fd = file_open("/dev/zero");
	ck_assert_int_eq(perfmap_read(&m, fd, &facts, NULL), -EBADMSG);
	close(fd);
	fd = file_open("/");
	ck_assert_int_eq(perfmap_read(&m, fd, &facts, NULL), -EBADMSG);
	close(fd);
	ck_assert_int_eq(perfmap_read(&m, -1, &facts, NULL), -EBADF);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

SUITE("perfmap", every_spelling_is_understood, later_lines_win,
      bad_lines_are_counted_and_the_good_ones_used, only_what_is_new_is_read,
      another_file_or_a_shorter_one_is_read_anew, an_endless_line_ends_the_reading,
      a_long_line_is_skipped_as_one, a_pile_of_ranges_takes_no_time, what_is_no_file_is_refused)
