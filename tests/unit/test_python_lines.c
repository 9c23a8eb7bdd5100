// SPDX-License-Identifier: Apache-2.0
/* Tables of lines: compared with the interpreters that made them, and hostile ones. */
#include <stdlib.h>
#include <string.h>

#include "bpf/unwind/python_layout.h"
#include "pythons.h"
#include "suite.h"
#include "symbolizers/python_code.h"

#define BEFORE UINT32_MAX

static uint8_t kind_of(int minor)
{
	return minor < 10    ? PYTHON_LINES_LNOTAB
	       : minor == 10 ? PYTHON_LINES_TABLE
			     : PYTHON_LINES_LOCATIONS;
}

static size_t unhex(char *text, uint8_t *ret)
{
	size_t size = 0;
	unsigned int byte;

	if (text[0] == '-')
		return 0;
	for (; sscanf(text, "%2x", &byte) == 1; text += 2)
		ret[size++] = (uint8_t)byte;
	return size;
}

/* Return the kinds of entries in a table of locations, as bits. */
static unsigned int kinds_in(const uint8_t *p, size_t size)
{
	unsigned int kinds = 0;

	for (size_t i = 0; i < size; i++)
		kinds |= p[i] & 0x80 ? 1u << (p[i] >> 3 & 15) : 0;
	return kinds;
}

/* Check the lines of one code object. Return the number of its code units. */
static unsigned int check_code(char *text, int minor, unsigned int *kinds)
{
	char *save, *first = strtok_r(text, " \n", &save), *hex = strtok_r(NULL, " \n", &save),
		    *run;
	uint32_t first_line = (uint32_t)atoi(first), line, count, unit = 0;
	uint8_t *table = malloc(strlen(hex) + 1), kind = kind_of(minor);
	size_t size = unhex(hex, table);

	*kinds |= kinds_in(table, size);
	ck_assert_uint_eq(python_line_of(kind, table, size, first_line, BEFORE), first_line);
	while ((run = strtok_r(NULL, ",\n", &save))) {
		ck_assert_int_eq(sscanf(run, "%u:%u", &line, &count), 2);
		for (; count; count--, unit++)
			ck_assert_msg(python_line_of(kind, table, size, first_line, unit) == line,
				      "3.%d: first line %u, unit %u: %u, not %u", minor, first_line,
				      unit, python_line_of(kind, table, size, first_line, unit),
				      line);
	}
	free(table);
	return unit;
}

static unsigned int check_python(const char *path)
{
	unsigned int units = 0, kinds = 0;
	char *line = NULL;
	size_t room = 0;
	struct python p;

	if (!python_start(&p, path, "tests/unit/python_lines.py"))
		return 0;
	while (getline(&line, &room, p.out) > 0)
		units += check_code(line, p.minor, &kinds);
	free(line);
	ck_assert_int_eq(python_end(&p), 0);
	ck_assert_uint_gt(units, 50000);
	if (p.minor >= 11)
		ck_assert_uint_eq(kinds, 0xffff);
	return units;
}

START_TEST(lines_are_those_that_the_interpreter_finds)
{
	unsigned int units = 0;
	glob_t all;

	pythons_find(&all);
	for (size_t i = 0; i < all.gl_pathc; i++)
		units += check_python(all.gl_pathv[i]);
	ck_assert_uint_gt(units, 0);
	globfree(&all);
}
END_TEST

/* The examples of Objects/lnotab_notes.txt and PEP 626. */
START_TEST(examples_of_the_formats)
{
	static const uint8_t lnotab[] = {0, 1, 6, 1, 44, 5, 255, 0, 45, 127, 0, 73};
	static const uint8_t back[] = {4, 127, 0, 73, 2, (uint8_t)-128, 0, (uint8_t)-70, 2, 1};
	static const uint8_t table[] = {6, 1, 44, 127,	      0, 73, 2, (uint8_t)-128,
					2, 0, 2,  (uint8_t)-1};

	ck_assert_uint_eq(python_line_of(PYTHON_LINES_LNOTAB, lnotab, sizeof(lnotab), 1, 0), 2);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_LNOTAB, lnotab, sizeof(lnotab), 1, 3), 3);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_LNOTAB, lnotab, sizeof(lnotab), 1, 25), 8);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_LNOTAB, lnotab, sizeof(lnotab), 1, 174), 8);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_LNOTAB, lnotab, sizeof(lnotab), 1, 175), 208);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_LNOTAB, back, sizeof(back), 7, 2), 207);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_LNOTAB, back, sizeof(back), 7, 3), 9);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_LNOTAB, back, sizeof(back), 7, 4), 10);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_LNOTAB, NULL, 0, 7, 4), 7);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_TABLE, table, sizeof(table), 1, 0), 2);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_TABLE, table, sizeof(table), 1, 3), 129);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_TABLE, table, sizeof(table), 1, 25), 0);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_TABLE, table, sizeof(table), 1, 26), 202);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_TABLE, table, sizeof(table), 1, 27), 201);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_TABLE, table, sizeof(table), 1, 28), 0);
}
END_TEST

START_TEST(strange_tables_have_no_lines)
{
	/* an endless number, entries without a beginning, lines below 1 and above 2^31 */
	static const uint8_t endless[] = {0xf0, 0x7f, 0x7f, 0x7f, 0x7f,
					  0x7f, 0x7f, 0x7f, 0x7f, 0x7f};
	static const uint8_t headless[] = {0x01, 0x40, 0x00};
	static const uint8_t below[] = {0xe8, 0x0f};
	static const uint8_t cut[] = {0xf7};
	const uint8_t kind = PYTHON_LINES_LOCATIONS;

	ck_assert_uint_eq(python_line_of(kind, endless, sizeof(endless), 10, 0), 0);
	ck_assert_uint_eq(python_line_of(kind, headless, sizeof(headless), 10, 0), 0);
	ck_assert_uint_eq(python_line_of(kind, below, sizeof(below), 7, 0), 0);
	ck_assert_uint_eq(python_line_of(kind, below, sizeof(below), 8, 0), 1);
	ck_assert_uint_eq(python_line_of(kind, cut, sizeof(cut), 8, 7), 8);
	ck_assert_uint_eq(python_line_of(kind, cut, sizeof(cut), 8, 8), 0);
	ck_assert_uint_eq(python_line_of(kind, NULL, 0, 8, 0), 0);
	ck_assert_uint_eq(python_line_of(kind, NULL, 0, 8, BEFORE), 8);
	ck_assert_uint_eq(python_line_of(kind, NULL, 0, (uint32_t)-8, BEFORE), 0);
	ck_assert_uint_eq(python_line_of(PYTHON_LINES_COUNT, cut, sizeof(cut), 8, 0), 0);
}
END_TEST

SUITE("python_lines", lines_are_those_that_the_interpreter_finds, examples_of_the_formats,
      strange_tables_have_no_lines)
