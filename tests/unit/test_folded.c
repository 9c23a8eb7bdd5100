// SPDX-License-Identifier: Apache-2.0
/*
 * Test folded.c: every line of the scene, and the properties on which all readers of the format
 * rely.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "sample_scene.h"
#include "shown.h"
#include "suite.h"

/* Export a part of the scene; the caller frees the text. */
static char *scene_exported(const struct export_options *o, const struct filter *f)
{
	struct source *source = NULL;
	struct error err = {""};
	size_t size = 0;
	char *text;

	ck_assert_int_eq(filter_source(&source, scene_source(), f, &err), 0);
	text = exported("folded", o, source, &size);
	source_free(source);
	return text;
}

/* Read a golden file; the caller frees the text. The runner starts tests at the root. */
static char *golden(const char *name)
{
	char path[256];
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "tests/golden/%s", name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	ck_assert_int_ge(getdelim(&text, &size, EOF, f), 0);
	fclose(f);
	return text;
}

static void check(const char *name, struct export_options o, struct filter f)
{
	char *text = scene_exported(&o, &f), *expected = golden(name);

	ck_assert_str_eq(text, expected);
	free(text);
	free(expected);
}

START_TEST(every_line)
{
	check("scene.folded", (struct export_options){0}, (struct filter){0});
}
END_TEST

START_TEST(every_option)
{
	check("scene-options.folded",
	      (struct export_options){.threads = true,
				      .pids = true,
				      .containers = true,
				      .services = true,
				      .annotate = true},
	      (struct filter){.idle = true});
}
END_TEST

/*
 * Check a line for the rules that flamegraph.pl, inferno, speedscope and Perfetto have in common.
 */
static void check_line(const char *line, const char *before)
{
	const char *space = strrchr(line, ' ');
	const char *leaf_end = space;

	ck_assert_msg(!before || strcmp(before, line) < 0, "%s", line);
	ck_assert_ptr_nonnull(strchr(line, ';'));
	ck_assert_uint_eq(strspn(space + 1, "0123456789"), strlen(space + 1));
	ck_assert_int_ne(space[1], '0');
	while (strchr("0123456789.", leaf_end[-1]))
		leaf_end--;
	ck_assert_msg(leaf_end == space || leaf_end[-1] != ' ', "%s", line);
	for (const char *c = line; *c; c++)
		ck_assert_int_ge((unsigned char)*c, ' ');
}

START_TEST(lines_are_fit_for_all_readers)
{
	struct export_options o = {.pids = true, .annotate = true};
	char *text = scene_exported(&o, &(struct filter){.idle = true}), *rest;
	char *before = NULL;
	unsigned long total = 0;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		check_line(line, before);
		total += strtoul(strrchr(line, ' '), NULL, 10);
		before = line;
	}
	ck_assert_uint_eq(total, SCENE_SAMPLES);
	free(text);
}
END_TEST

SUITE("folded", every_line, every_option, lines_are_fit_for_all_readers)
