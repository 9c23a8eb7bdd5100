/* SPDX-License-Identifier: Apache-2.0 */
/* What skein shows of a recording: a report, or an export. The caller frees each text. */
#ifndef SKEIN_TESTS_SHOWN_H
#define SKEIN_TESTS_SHOWN_H

#include <check.h>
#include <string.h>

#include "base/text.h"
#include "cmd/report.h"
#include "export/export.h"

/* Return a report, as text or as JSON. */
static inline char *report_shown(struct source *source, const struct report_options *o,
				 unsigned int width, bool color)
{
	char *text = NULL;
	size_t size = 0;
	struct screen s = {.out = open_memstream(&text, &size), .width = width, .color = color};
	struct profile *p = NULL;
	struct report r;
	struct error err = {""};

	ck_assert_msg(!profile_read(&p, source, &o->view, &err), "%s", err.text);
	ck_assert_int_eq(report_make(&r, "x.skein", p, o, &err), 0);
	ck_assert_int_eq(o->json ? report_json(&r, s.out, &err) : report_text(&r, &s, &err), 0);
	fclose(s.out);
	report_free(&r);
	profile_free(p);
	return text;
}

/* Check that all lines of a report fit a width and have no control characters. */
static inline void check_report_lines(char *text, unsigned int width)
{
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		ck_assert_msg(text_width(line) <= width, "%u columns: %s", width, line);
		for (const char *c = line; *c; c++)
			ck_assert_int_ge((unsigned char)*c, ' ');
	}
}

/* Return an export of a recording in the named format. */
static inline char *exported(const char *format, const struct export_options *o,
			     struct source *source, size_t *size)
{
	char *data = NULL;
	FILE *out = open_memstream(&data, size);
	struct sink *sink = NULL;
	struct error err = {""};

	ck_assert_int_eq(export_format_named(format)->sink(&sink, out, o, &err), 0);
	ck_assert_msg(!pipe_join(source, sink, &err), "%s", err.text);
	sink_free(sink);
	fclose(out);
	return data;
}

#endif
