// SPDX-License-Identifier: Apache-2.0
/* skein report --timeline: show the CPUs and threads of a trace over time, in a terminal or as
 * JSON. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/lanes_json.h"
#include "cmd/lanes_text.h"
#include "cmd/report.h"
#include "cmd/timeline_input.h"

#define CPU_ROWS 32
#define THREAD_ROWS 20
#define COUNTERS_OF_PROCESS 4
#define FILE_WIDTH 100 /* columns if stdout is no terminal and $COLUMNS is not set */

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
		.counters = o->limit == LIMIT_UNSET ? COUNTERS_OF_PROCESS : o->limit,
		.by = o->lanes,
		/* a thread that an option selects gets a row even if it only waited */
		.everything =
			f->pids || f->tids || f->comm || f->cgroup || f->container || f->service,
	};
	struct timeline_input in = {0};
	int ret = timeline_input_open(&in, path, f, err);

	if (!ret)
		ret = lanes_choose(&in.lanes, &limits, err);
	if (!ret)
		ret = o->json ? lanes_json(&in.lanes, stdout, err)
			      : draw_timeline(&in.lanes, o, err);
	if (!ret && trace_left_out(in.input.trace))
		log_warn("%s is damaged: parts of it could not be read and are missing here", path);
	timeline_input_close(&in);
	return ret;
}
