// SPDX-License-Identifier: Apache-2.0
/* Test html.c: columns of integers as text, and the data between the two halves of the page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/html_columns.h"
#include "flame_scene.h"
#include "sample_scene.h"
#include "suite.h"

static char *column_text(struct html_column *c)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct json j;

	json_begin(&j, out, false);
	json_object(&j);
	ck_assert_int_eq(html_column_end(c, &j, "c"), 0);
	json_object_end(&j);
	ck_assert_int_eq(json_end(&j), 0);
	fclose(out);
	return text;
}

static void check_column(struct html_column *c, const char *expected)
{
	char *text = column_text(c);

	ck_assert_str_eq(text, expected);
	free(text);
}

/* Lengths with every kind of base64 padding, and the largest number. */
START_TEST(columns)
{
	struct html_column c = {0};

	check_column(&c, "{\"c\":\"\"}\n");
	html_column_put(&c, 0);
	check_column(&c, "{\"c\":\"AA==\"}\n");
	html_column_put(&c, 300);
	check_column(&c, "{\"c\":\"rAI=\"}\n");
	html_column_put(&c, 1);
	html_column_put(&c, 300);
	check_column(&c, "{\"c\":\"AawC\"}\n");
	html_column_put(&c, UINT64_MAX);
	check_column(&c, "{\"c\":\"////////////AQ==\"}\n");
}
END_TEST

/* 5, 3, 2^64 - 1: +5, -2, -4 */
START_TEST(differences)
{
	struct html_column c = {0};

	html_column_delta(&c, 5);
	html_column_delta(&c, 3);
	html_column_delta(&c, UINT64_MAX);
	check_column(&c, "{\"c\":\"CgMH\"}\n");
}
END_TEST

START_TEST(no_memory_is_told)
{
	struct html_column c = {.error = -ENOMEM};
	struct json j;

	json_begin(&j, stderr, false);
	html_column_put(&c, 1);
	ck_assert_int_eq(html_column_end(&c, &j, "c"), -ENOMEM);
}
END_TEST

static struct profile *read_profile(struct source *source)
{
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_msg(!profile_read(&p, source, NULL, &err), "%s", err.text);
	return p;
}

/* Return the data of a page of one or two profiles; the caller frees the text. */
static char *data_of(const struct profile *p, const struct profile *before)
{
	static const char begin[] = "<script id=\"data\" type=\"application/json\">\n";
	struct export_options options = {0};
	struct error err = {""};
	char *text = NULL, *from, *to;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(html_write(out, p, before, &options, &err), 0);
	fclose(out);
	from = strstr(text, begin);
	ck_assert_ptr_nonnull(from);
	from += strlen(begin);
	to = strstr(from, "</script>");
	ck_assert_ptr_nonnull(to);
	*to = '\0';
	memmove(text, from, strlen(from) + 1);
	return text;
}

START_TEST(data_has_no_markup)
{
	struct profile *p = read_profile(hostile_source());
	struct profile *q = read_profile(scene_source());
	char *one = data_of(p, NULL), *two = data_of(q, p);

	ck_assert_ptr_null(strpbrk(one, "<>&\x1b\x7f"));
	ck_assert_ptr_null(strpbrk(two, "<>&\x1b\x7f"));
	ck_assert_ptr_nonnull(
		strstr(one, "\\u003c/script\\u003e\\u003cscript\\u003ewindow.harmed"));
	ck_assert_ptr_nonnull(strstr(two, "\"web-1\""));
	ck_assert_ptr_nonnull(strstr(two, "ext4_file_write_iter"));
	free(one);
	free(two);
	profile_free(p);
	profile_free(q);
}
END_TEST

SUITE("html", columns, differences, no_memory_is_told, data_has_no_markup)
