// SPDX-License-Identifier: Apache-2.0
/* The report at many screen widths: no line is wider, and no character controls the terminal. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/report.h"
#include "python_scene.h"
#include "shown.h"
#include "suite.h"

static char *shown(const struct report_options *o, unsigned int width, bool color)
{
	return report_shown(scene_source(), o, width, color);
}

START_TEST(fits_the_screen)
{
	for (unsigned int width = 80; width <= 200; width += 10) {
		for (int by = 0; by <= BY_NOTHING; by++) {
			struct report_options o = {.by = by, .limit = 0, .least = 0};
			char *text = shown(&o, width, false);

			check_report_lines(text, width);
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

		check_report_lines(text, width);
		free(text);
	}
}
END_TEST

START_TEST(python_fits_the_screen)
{
	for (unsigned int width = 80; width <= 200; width += 10) {
		struct report_options o = {.by = BY_NOTHING, .limit = 0};
		char *text = report_shown(python_scene_source(), &o, width, false);

		ck_assert_ptr_nonnull(strstr(text, "\nPython  "));
		ck_assert_ptr_nonnull(strstr(text, "Python 3.15.0,"));
		check_report_lines(text, width);
		free(text);
		o.tree = o.view.native = o.view.lines = true;
		text = report_shown(python_scene_source(), &o, width, false);
		check_report_lines(text, width);
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
	char *text = report_shown(&empty.source, &o, 80, false);

	ck_assert_msg(strstr(text, words) != NULL, "%s", text);
	free(text);
}

START_TEST(empty_traces_say_why)
{
	check_empty((struct account){0}, "killed before it wrote any");
	check_empty((struct account){.event = 1, .due = 100, .idle = 100}, "every CPU was idle");
	check_empty((struct account){.event = 1, .due = 100, .idle = 50, .filtered = 50},
		    "did not run");
	/* a few that are lost do not change what became of the others */
	check_empty((struct account){.event = 1, .due = 100, .idle = 50, .filtered = 40},
		    "did not run");
	check_empty((struct account){.event = 1, .due = 100, .idle = 5}, "are lost");
	check_empty((struct account){.event = 1, .due = 100, .written = 100}, "only idle CPUs");
}
END_TEST

SUITE("report", fits_the_screen, trees_fit_the_screen, python_fits_the_screen,
      colour_only_when_asked_for, empty_traces_say_why)
