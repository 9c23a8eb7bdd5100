// SPDX-License-Identifier: Apache-2.0
/* Read the lanes of a trace (timeline_input.h). */
#include <errno.h>

#include "base/options.h"
#include "base/units.h"
#include "cmd/timeline_input.h"

static int window_of_trace(void *trace, const struct window_query *q, struct window **out,
			   struct error *err)
{
	return trace_window(trace, q, out, err);
}

static int stretches_of_trace(void *trace, const struct stretches_query *q, struct error *err)
{
	return trace_stretches(trace, q, err);
}

/*
 * Set l->time and l->end to the range of --from and --to, as time stamps (ns), or to the whole
 * recording. Before that, correct a missing start or end of the host record.
 */
static int choose_timeline_range(struct lanes *l, struct trace *t, const char *path,
				 const struct filter *f, struct error *err)
{
	struct host *h = &l->entities.host;
	uint64_t first, last, end;
	char text[48];
	int ret = trace_span(t, &first, &last, err);

	if (ret < 0)
		return ret;
	if (first >= last)
		return error_set(err, -ENODATA,
				 "%s: the trace has no scheduler records: record with "
				 "'skein record -e sched'",
				 path);
	/* the host record is lost, or its times are of another clock than the records */
	if (!h->start || h->start >= last)
		h->start = first;
	l->unfinished = h->end <= h->start;
	if (l->unfinished)
		h->end = last;
	end = h->end;
	if (f->from >= end - h->start)
		return error_set(err, -ENOENT, "--from: the recording is over after %s",
				 show_duration(end - h->start, text, sizeof(text)));
	l->time = h->start + f->from;
	l->end = f->to && f->to < end - h->start ? h->start + f->to : end;
	return l->end > l->time ? 0 : error_set(err, -EINVAL, "--from and --to are the same");
}

int timeline_input_open(struct timeline_input *in, const char *path, const struct filter *f,
			struct error *err)
{
	int ret;

	in->whole = *f;
	in->whole.from = in->whole.to = 0;
	ret = filtered_input_open(&in->input, path, &in->whole, err);
	in->windows = (struct lanes_windows){window_of_trace, window_free, in->input.trace,
					     stretches_of_trace};
	in->lanes.windows = &in->windows;
	if (!ret)
		ret = lanes_read(&in->lanes, in->input.source, err);
	return ret ? ret : choose_timeline_range(&in->lanes, in->input.trace, path, f, err);
}

int timeline_set_lanes(const char *value, enum lanes_by *by, struct error *err)
{
	int found = option_find_word(value, lanes_by_word, err);

	if (found < 0)
		return found;
	*by = (enum lanes_by)found;
	return 0;
}

void timeline_input_close(struct timeline_input *in)
{
	lanes_free(&in->lanes);
	filtered_input_close(&in->input);
}
