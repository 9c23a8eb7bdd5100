// SPDX-License-Identifier: Apache-2.0
/* skein report --timeline: show the CPUs and threads of a trace over time, in a terminal. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "cmd/filters.h"
#include "cmd/lanes_text.h"
#include "cmd/report.h"

#define CPU_ROWS 32
#define THREAD_ROWS 20
#define FILE_WIDTH 100 /* columns if stdout is no terminal and $COLUMNS is not set */

static int window_of_trace(void *trace, const struct window_query *q, struct window **out,
			   struct error *err)
{
	return trace_window(trace, q, out, err);
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

static int draw_timeline(struct lanes *l, const struct report_options *o, struct error *err)
{
	struct screen screen;
	struct canvas canvas;

	screen_open(&screen, stdout, o->color);
	if (!isatty(fileno(stdout)) && !getenv("COLUMNS"))
		screen.width = FILE_WIDTH;
	canvas_open(&canvas, &screen);
	return lanes_text(l, &screen, &canvas, err);
}

int report_timeline(const char *path, const struct report_options *o, struct error *err)
{
	const struct filter *f = &o->filter;
	struct lanes_limits limits = {
		.cpus = o->limit == LIMIT_UNSET ? CPU_ROWS : o->limit,
		.threads = o->limit == LIMIT_UNSET ? THREAD_ROWS : o->limit,
		/* a thread that an option selects gets a row even if it only waited */
		.everything =
			f->pids || f->tids || f->comm || f->cgroup || f->container || f->service,
	};
	struct lanes_windows windows = {.window = window_of_trace, .free = window_free};
	struct lanes l = {.windows = &windows};
	struct filtered_input in = {0};
	int ret = filtered_input_open(&in, path, f, err);

	windows.context = in.trace;
	if (!ret)
		ret = lanes_read(&l, in.source, err);
	if (!ret)
		ret = choose_timeline_range(&l, in.trace, path, f, err);
	if (!ret)
		ret = lanes_choose(&l, &limits, err);
	if (!ret)
		ret = draw_timeline(&l, o, err);
	if (!ret && trace_left_out(in.trace))
		log_warn("%s is damaged: parts of it could not be read and are missing here", path);
	lanes_free(&l);
	filtered_input_close(&in);
	return ret;
}
