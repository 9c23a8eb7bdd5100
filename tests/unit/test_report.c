// SPDX-License-Identifier: Apache-2.0
/* The report at many screen widths: no line is wider, and no character controls the terminal. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/report.h"
#include "python_scene.h"
#include "suite.h"

static char *shown_of(struct source *source, const struct report_options *o, unsigned int width,
		      bool color)
{
	char *text = NULL;
	size_t size = 0;
	struct screen s = {open_memstream(&text, &size), width, color};
	struct profile *p = NULL;
	struct report r;
	struct error err = {""};

	ck_assert_int_eq(profile_read(&p, source, &o->view, &err), 0);
	ck_assert_int_eq(report_make(&r, "x.skein", p, o, &err), 0);
	ck_assert_int_eq(o->json ? report_json(&r, s.out, &err) : report_text(&r, &s, &err), 0);
	fclose(s.out);
	report_free(&r);
	profile_free(p);
	return text;
}

static char *shown(const struct report_options *o, unsigned int width, bool color)
{
	return shown_of(scene_source(), o, width, color);
}

static void check_lines(char *text, unsigned int width)
{
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		ck_assert_msg(text_width(line) <= width, "%u columns: %s", width, line);
		for (const char *c = line; *c; c++)
			ck_assert_int_ge((unsigned char)*c, ' ');
	}
}

START_TEST(fits_the_screen)
{
	for (unsigned int width = 80; width <= 200; width += 10) {
		for (int by = 0; by <= BY_NOTHING; by++) {
			struct report_options o = {.by = by, .limit = 0, .least = 0};
			char *text = shown(&o, width, false);

			check_lines(text, width);
			free(text);
		}
	}
}
END_TEST

START_TEST(trees_fit_the_screen)
{
	for (unsigned int width = 60; width <= 200; width += 10) {
		struct report_options o = {.tree = true, .by = BY_NOTHING, .limit = 0};
		char *text = shown(&o, width, false);

		check_lines(text, width);
		free(text);
	}
}
END_TEST

START_TEST(python_fits_the_screen)
{
	for (unsigned int width = 80; width <= 200; width += 10) {
		struct report_options o = {.by = BY_NOTHING, .limit = 0};
		char *text = shown_of(python_scene_source(), &o, width, false);

		ck_assert_ptr_nonnull(strstr(text, "\nPython  "));
		ck_assert_ptr_nonnull(strstr(text, "Python 3.15.0,"));
		check_lines(text, width);
		free(text);
		o.tree = o.view.native = o.view.lines = true;
		text = shown_of(python_scene_source(), &o, width, false);
		check_lines(text, width);
		free(text);
	}
}
END_TEST

START_TEST(colour_only_when_asked_for)
{
	struct report_options o = {.by = BY_NOTHING, .limit = LIMIT_UNSET};
	char *plain = shown(&o, 80, false), *colored = shown(&o, 80, true);

	ck_assert_ptr_null(strchr(plain, '\033'));
	ck_assert_ptr_nonnull(strchr(colored, '\033'));
	free(plain);
	free(colored);
}
END_TEST

/* Build a trace without samples; its account explains why it has none. */
static void empty_build(struct scene *s, const void *account)
{
	SCENE_PUT_ALL(s, HOST, scene_hosts);
	SCENE_PUT_ALL(s, EVENT, scene_events);
	if (((const struct account *)account)->due)
		scene_put(s, KIND_ACCOUNT, account);
}

static void check_empty(struct account a, const char *words)
{
	struct report_options o = {.by = BY_NOTHING, .limit = LIMIT_UNSET};
	struct scene_source empty = SCENE_OF(empty_build, &a);
	char *text = NULL;
	size_t size = 0;
	struct screen s = {open_memstream(&text, &size), 80, false};
	struct profile *p = NULL;
	struct report r;
	struct error err = {""};

	ck_assert_int_eq(profile_read(&p, &empty.source, NULL, &err), 0);
	ck_assert_int_eq(report_make(&r, "x", p, &o, &err), 0);
	ck_assert_int_eq(report_text(&r, &s, &err), 0);
	fclose(s.out);
	ck_assert_msg(strstr(text, words) != NULL, "%s", text);
	report_free(&r);
	profile_free(p);
	free(text);
}

START_TEST(empty_traces_say_why)
{
	check_empty((struct account){0}, "killed before it wrote any");
	check_empty((struct account){.event = 1, .due = 100, .idle = 100}, "every CPU was idle");
	check_empty((struct account){.event = 1, .due = 100, .idle = 50, .filtered = 50},
		    "did not run");
	check_empty((struct account){.event = 1, .due = 100, .idle = 5}, "are lost");
	check_empty((struct account){.event = 1, .due = 100, .written = 100}, "only idle CPUs");
}
END_TEST

SUITE("report", fits_the_screen, trees_fit_the_screen, python_fits_the_screen,
      colour_only_when_asked_for, empty_traces_say_why)
