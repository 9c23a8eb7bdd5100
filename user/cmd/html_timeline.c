// SPDX-License-Identifier: Apache-2.0
/* Make the timeline that a page of export -f html holds (html_timeline.h). */
#include "cmd/html_timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "cmd/timeline_input.h"
#include "export/gzip.h"
#include "export/html_columns.h"
#include "export/html_samples.h"
#include "view/embed.h"
#include "view/timeline.h"

#ifndef SKEIN_VERSION
#define SKEIN_VERSION "unknown"
#endif

#define PROGRAM_CELLS 512 /* of each CPU, to find the programs that get a colour */
/* States of all lanes: about as many as 2 million slices and wake-ups make. */
#define STATES_MOST 4000000
#define BYTES_MOST (25 << 20) /* of their text in the page */
/* Beyond that, cells: so many bytes before they are compressed, which a browser has in memory. */
#define CELL_BYTES_MOST (24 << 20)
#define CELL_THREADS_MOST 2048 /* those that wanted most CPU time */
#define SAMPLES_MOST 1000000 /* with times of their own; more are added up by slots of time */
#define EDGE_SHARE 64 /* a part of a recording has a 64th more at both sides, for whole cells */
#define FINEST 1024 /* ns: a multiple of this begins a stretch, see trace_stretches() */

/* The timeline of a page while it is made. */
struct html_timeline {
	struct timeline_input input;
	struct embedded embedded;
	const struct filter *filter;
	const char *shown; /* path of the trace; NULL: it is not kept */
	bool cells; /* the exact states are too many */
	struct export_timeline made;
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

static int read_html_cells(struct html_timeline *t, struct error *err)
{
	int ret = view_embed_cells(&t->embedded, CELL_BYTES_MOST, err);

	return ret ? ret : view_embed_acts(&t->embedded, err);
}

/* Read all that the timeline shows. Return 0 or a negative errno. */
static int read_html_timeline(struct html_timeline *t, const char *path, struct error *err)
{
	const struct lanes_limits limits = {.everything = true,
					    .threads = t->cells ? CELL_THREADS_MOST : 0};
	struct lanes *l = &t->input.lanes;
	int ret = timeline_input_open(&t->input, path, t->filter, err);

	if (!ret)
		ret = lanes_choose(l, &limits, err);
	if (!ret)
		ret = lanes_choose_programs(l, PROGRAM_CELLS, err);
	if (!ret && view_embed_begin(&t->embedded, l) < 0)
		ret = error_errno(err, -ENOMEM, "cannot embed the timeline");
	if (ret)
		return ret;
	return t->cells ? read_html_cells(t, err) : read_embedded(t, err);
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

/*
 * Set *json to the members that say what the columns mean, and *packed to the columns, compressed;
 * the caller frees both, also after an error.
 */
static int pack_html_columns(struct html_timeline *t, char **json, char **packed, size_t *size)
{
	size_t length;
	FILE *text = open_memstream(json, &length), *to = open_memstream(packed, size);
	FILE *columns = to ? gzip_stream(to) : NULL;
	int ret = columns && text ? 0 : -ENOMEM;
	struct json j;

	if (!ret) {
		json_begin(&j, text, false);
		json_object(&j);
		ret = view_embed_write(&t->embedded, &j, columns);
		json_object_end(&j);
	}
	if (columns && fclose(columns) && !ret)
		ret = -ENOMEM;
	if (to && fclose(to) && !ret)
		ret = -ENOMEM;
	if (text && fclose(text) && !ret)
		ret = -ENOMEM;
	return ret;
}

/* Write the states; of cells those of as many lengths as there is room for. */
static int put_html_states(struct html_timeline *t, struct json *j)
{
	char *json, *packed;
	size_t size;
	int ret;

	do {
		json = packed = NULL;
		ret = pack_html_columns(t, &json, &packed, &size);
		if (!ret && size > BYTES_MOST / 4 * 3)
			ret = -E2BIG;
		if (!ret) {
			t->made.columns = html_base64((const uint8_t *)packed, size);
			ret = t->made.columns ? 0 : -ENOMEM;
		}
		if (!ret) {
			json_key(j, "states");
			json_raw(j, json);
		}
		free(json);
		free(packed);
	} while (ret == -E2BIG && !view_embed_fewer(&t->embedded));
	return ret;
}

/* Write the name under which skein view finds the trace. */
static void put_html_file(struct json *j, const char *shown)
{
	const char *slash = shown ? strrchr(shown, '/') : NULL;

	json_key_text(j, "file", slash ? slash + 1 : shown ? shown : "");
}

/* Return the number of lanes that have no row because others wanted more CPU time. */
static size_t lanes_left_out(const struct lanes *l)
{
	return l->thread_total - l->threads.count + l->sliced_total - l->sliced.count;
}

static int write_html_timeline(struct html_timeline *t, FILE *out)
{
	struct json j;
	int ret;

	json_begin(&j, out, false);
	json_object(&j);
	put_html_file(&j, t->shown);
	json_key_uint(&j, "left_out", lanes_left_out(&t->input.lanes));
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

/* Make the timeline, or the reason for which there is none. Return 0 or a negative errno. */
static int html_timeline_text(struct html_timeline *t, const char *reason)
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
		t->made.json = text;
	return ret;
}

static void warn_of_cells(const struct embedded *e)
{
	const struct embedded_set *finest = &e->levels.items[e->levels.count - 1];
	char text[48];

	log_warn("the recording has too many scheduler records for a page: its timeline has cells "
		 "of %s or longer; skein view shows the rest",
		 show_duration(1ULL << finest->shift, text, sizeof(text)));
}

/* Make the timeline of exact states, or of cells. Return 0 or a negative errno. */
static int make_html_timeline(struct html_timeline *t, const char *path, struct error *err)
{
	int ret = read_html_timeline(t, path, err);

	return ret ? ret : html_timeline_text(t, NULL);
}

/* Free what was read, but not what was made of it. */
static void close_html_timeline(struct html_timeline *t)
{
	view_embed_free(&t->embedded);
	timeline_input_close(&t->input);
	t->input = (struct timeline_input){0};
	t->embedded = (struct embedded){.most = t->embedded.most};
}

/* Read the times of samples. A page without is made if there are too many. */
static int read_html_samples(struct html_timeline *t, struct error *err)
{
	const struct lanes *l = &t->input.lanes;
	struct html_samples *s = calloc(1, sizeof(*s));
	int ret = -ENOMEM;

	t->made.samples = s;
	if (!s)
		return error_errno(err, ret, "cannot keep the times of samples");
	*s = (struct html_samples){.begin = l->time, .end = l->end, .most = SAMPLES_MOST};
	ret = html_samples_read(s, t->input.input.source, err);
	if (ret == -E2BIG || !s->list.count) {
		vector_free(&s->list);
		free(s);
		t->made.samples = NULL;
	}
	return ret == -E2BIG ? 0 : ret;
}

void html_timeline_free(struct export_timeline *t)
{
	if (t->samples)
		vector_free(&t->samples->list);
	free(t->samples);
	free(t->json);
	free(t->columns);
	*t = (struct export_timeline){0};
}

int html_timeline_make(struct export_timeline *out, const char *path, const char *shown,
		       const struct filter *f, struct error *err)
{
	struct html_timeline t = {.filter = f, .shown = shown, .embedded.most = STATES_MOST};
	struct error why = {""};
	const char *reason;
	int ret = make_html_timeline(&t, path, &why);

	if (ret == -E2BIG) {
		close_html_timeline(&t);
		t.cells = true;
		ret = make_html_timeline(&t, path, &why);
		if (!ret)
			warn_of_cells(&t.embedded);
	}
	if (!ret)
		ret = read_html_samples(&t, &why);
	reason = ret ? excuse_of(ret, &why) : NULL;
	if (reason) {
		log_warn("the page has no timeline: %s; %s", reason,
			 shown ? "skein view shows it"
			       : "record into a .skein file, which skein view shows");
		html_timeline_free(&t.made);
		ret = html_timeline_text(&t, reason);
	}
	if (has_no_timeline(ret))
		ret = 0;
	if (!ret && t.input.input.trace && trace_left_out(t.input.input.trace))
		log_warn("%s is damaged: parts of it are missing in the timeline of the page",
			 path);
	if (!ret)
		*out = t.made;
	else
		html_timeline_free(&t.made);
	close_html_timeline(&t);
	if (ret && *why.text)
		return error_set(err, ret, "%s", why.text);
	return ret ? error_errno(err, ret, "cannot make the timeline of the page") : 0;
}
