// SPDX-License-Identifier: Apache-2.0
/* Make the timeline that a page of export -f html holds (html_timeline.h). */
#include "cmd/html_timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/timeline_input.h"
#include "export/gzip.h"
#include "export/html_columns.h"
#include "view/embed.h"
#include "view/timeline.h"

#ifndef SKEIN_VERSION
#define SKEIN_VERSION "unknown"
#endif

#define PROGRAM_CELLS 512 /* of each CPU, to find the programs that get a colour */
/* States of all lanes: about as many as 2 million slices and wake-ups make. */
#define STATES_MOST 4000000
#define BYTES_MOST (25 << 20) /* of their text in the page */
#define EDGE_SHARE 64 /* a part of a recording has a 64th more at both sides, for whole cells */
#define FINEST 1024 /* ns: a multiple of this begins a stretch, see trace_stretches() */

/* The timeline of a page while it is made. */
struct html_timeline {
	struct timeline_input input;
	struct embedded embedded;
	const struct filter *filter;
	const char *shown; /* path of the trace; NULL: it is not kept */
	char *packed; /* the columns, compressed */
	size_t size;
};

static int read_embedded(struct html_timeline *t, struct error *err)
{
	const struct lanes *l = &t->input.lanes;
	struct embedded *e = &t->embedded;
	uint64_t edge = (l->end - l->time) / EDGE_SHARE;
	struct stretches_query q = {.time = e->base,
				    .end = UINT64_MAX / 2,
				    .lanes = e->ids.items,
				    .lane_count = e->ids.count,
				    .take = view_embed_stretch,
				    .context = e};
	int ret;

	if (t->filter->from && l->time - edge > e->base)
		q.time = (l->time - edge) / FINEST * FINEST;
	if (t->filter->to)
		q.end = l->end + edge;
	ret = trace_stretches(t->input.input.trace, &q, err);
	return ret ? ret : view_embed_acts(e, err);
}

/* Read all that the timeline shows. Return 0 or a negative errno. */
static int read_html_timeline(struct html_timeline *t, const char *path, struct error *err)
{
	const struct lanes_limits limits = {.everything = true};
	struct lanes *l = &t->input.lanes;
	int ret = timeline_input_open(&t->input, path, t->filter, err);

	if (!ret)
		ret = lanes_choose(l, &limits, err);
	if (!ret)
		ret = lanes_choose_programs(l, PROGRAM_CELLS, err);
	if (!ret && view_embed_begin(&t->embedded, l) < 0)
		ret = error_errno(err, -ENOMEM, "cannot embed the timeline");
	return ret ? ret : read_embedded(t, err);
}

/* Write the lanes, as the server of skein view answers them. */
static int put_html_lanes(struct html_timeline *t, struct json *j)
{
	const struct view_about about = {
		.version = SKEIN_VERSION, .subject = "", .kernel = "", .warning = ""};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int ret = out ? view_write_trace(&t->input.lanes, &about, LANES_BY_THREAD, out) : -ENOMEM;

	if (out && fclose(out) && !ret)
		ret = -ENOMEM;
	json_key(j, "trace");
	if (!ret)
		json_raw(j, text);
	free(text);
	return ret;
}

/* Write what the compressed columns mean, and keep these in t->packed. */
static int pack_html_columns(struct html_timeline *t, struct json *j)
{
	FILE *packed = open_memstream(&t->packed, &t->size);
	FILE *columns = packed ? gzip_stream(packed) : NULL;
	int ret = columns ? view_embed_write(&t->embedded, j, columns) : -ENOMEM;

	if (columns && fclose(columns) && !ret)
		ret = -ENOMEM;
	if (packed && fclose(packed) && !ret)
		ret = -ENOMEM;
	return ret;
}

static int put_html_states(struct html_timeline *t, struct json *j)
{
	struct html_column c = {0};
	int ret = pack_html_columns(t, j);

	if (!ret && t->size > BYTES_MOST / 4 * 3)
		ret = -E2BIG;
	if (!ret)
		ret = vector_reserve(&c.bytes, t->size);
	if (!ret) {
		memcpy(c.bytes.items, t->packed, t->size);
		c.bytes.count = t->size;
		ret = html_column_end(&c, j, "columns");
	}
	vector_free(&c.bytes);
	return ret;
}

/* Write the name under which skein view finds the trace. */
static void put_html_file(struct json *j, const char *shown)
{
	const char *slash = shown ? strrchr(shown, '/') : NULL;

	json_key_text(j, "file", slash ? slash + 1 : shown ? shown : "");
}

static int write_html_timeline(struct html_timeline *t, FILE *out)
{
	struct json j;
	int ret;

	json_begin(&j, out, false);
	json_object(&j);
	put_html_file(&j, t->shown);
	ret = put_html_lanes(t, &j);
	if (!ret)
		ret = put_html_states(t, &j);
	json_object_end(&j);
	return ret;
}

/* Make a timeline that only says why it is not there. */
static int write_html_excuse(const char *shown, const char *reason, FILE *out)
{
	struct json j;

	json_begin(&j, out, false);
	json_object(&j);
	put_html_file(&j, shown);
	json_key_text(&j, "reason", reason);
	json_object_end(&j);
	return 0;
}

static bool has_no_timeline(int ret)
{
	return ret == -ENODATA || ret == -ENOENT || ret == -EINVAL; /* or none in the chosen time */
}

/* Return why a page is made without the timeline of its trace; NULL: the page cannot be made. */
static const char *excuse_of(int ret, const struct error *err)
{
	if (ret == -E2BIG)
		return "the recording has too many scheduler records for a page";
	return ret == -EBADMSG || ret == -EOVERFLOW ? err->text : NULL; /* a damaged trace */
}

/* Set *out to the timeline, or to the reason for which there is none. Return 0 or an errno. */
static int html_timeline_text(char **out, struct html_timeline *t, const char *reason)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int ret = -ENOMEM;

	if (to)
		ret = reason ? write_html_excuse(t->shown, reason, to) : write_html_timeline(t, to);
	if (to && fclose(to) && !ret)
		ret = -ENOMEM;
	if (ret < 0)
		free(text);
	else
		*out = text;
	return ret;
}

int html_timeline_make(char **out, const char *path, const char *shown, const struct filter *f,
		       struct error *err)
{
	struct html_timeline t = {.filter = f, .shown = shown, .embedded.most = STATES_MOST};
	struct error why = {""};
	const char *reason;
	char *text = NULL;
	int ret = read_html_timeline(&t, path, &why);

	if (!ret)
		ret = html_timeline_text(&text, &t, NULL);
	reason = ret ? excuse_of(ret, &why) : NULL;
	if (reason) {
		log_warn("the page has no timeline: %s; %s", reason,
			 shown ? "skein view shows it"
			       : "record into a .skein file, which skein view shows");
		ret = html_timeline_text(&text, &t, reason);
	}
	if (has_no_timeline(ret))
		ret = 0;
	if (!ret && t.input.input.trace && trace_left_out(t.input.input.trace))
		log_warn("%s is damaged: parts of it are missing in the timeline of the page",
			 path);
	if (!ret)
		*out = text;
	view_embed_free(&t.embedded);
	timeline_input_close(&t.input);
	free(t.packed);
	if (ret && *why.text)
		return error_set(err, ret, "%s", why.text);
	return ret ? error_errno(err, ret, "cannot make the timeline of the page") : 0;
}
