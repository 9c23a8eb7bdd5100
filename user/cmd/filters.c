// SPDX-License-Identifier: Apache-2.0
/* Open a trace through a filter. */
#include <errno.h>
#include <string.h>

#include "base/jobs.h"
#include "cmd/filters.h"

int filtered_input_open(struct filtered_input *in, const char *path, const struct filter *f,
			struct error *err)
{
	struct source *whole = NULL;
	int ret = trace_open(&in->trace, path, err);

	if (!ret)
		ret = trace_source(&whole, in->trace, err);
	if (!ret)
		ret = filter_source(&in->source, whole, f, err);
	in->path = path;
	in->filter = f;
	if (ret == -ENOENT && !strcmp(path, DEFAULT_TRACE))
		error_hint(err, "record one first, such as: sudo skein record -d 10s");
	if (ret < 0) {
		source_free(whole);
		filtered_input_close(in);
	}
	return ret;
}

static bool is_any_damaged(const struct filtered_input *all, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (trace_left_out(all[i].trace))
			return true;
	return false;
}

int filtered_input_read_profile(struct profile **out, struct filtered_input *in,
				const struct profile_view *view, struct error *err)
{
	const char *path = in->path;
	const struct filter *f = in->filter;
	struct filtered_input more[2] = {{0}};
	struct profile_sources from = {.entities = in->source};
	struct profile *p = NULL;
	bool damaged;
	int ret;

	if (!jobs_are_parallel())
		return profile_read(out, in->source, view, err);
	ret = filtered_input_open(&more[0], path, f, err);
	if (!ret)
		ret = filtered_input_open(&more[1], path, f, err);
	from.stacks = more[0].source;
	from.sums = more[1].source;
	if (!ret)
		ret = profile_read_parts(&p, &from, view, err);
	damaged = !ret && (is_any_damaged(in, 1) || is_any_damaged(more, 2));
	filtered_input_close(&more[0]);
	filtered_input_close(&more[1]);
	if (!damaged) {
		*out = p;
		return ret;
	}
	/*
	 * A damaged trace must be read by one reader, so that each loss is counted and numbered
	 * once. The trace can be opened again: its damage has not made the database unreadable.
	 */
	profile_free(p);
	filtered_input_close(in);
	ret = filtered_input_open(in, path, f, err);
	return ret < 0 ? ret : profile_read(out, in->source, view, err);
}

void filtered_input_close(struct filtered_input *in)
{
	source_free(in->source);
	trace_close(in->trace);
	*in = (struct filtered_input){0};
}
