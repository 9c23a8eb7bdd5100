// SPDX-License-Identifier: Apache-2.0
/* Pass on the exact states of lanes, of which trace_window() makes cells (window.h). */
#include <errno.h>
#include <stdlib.h>

#include "trace/render.h"
#include "trace/window.h"

#define FINEST_CELL_SHIFT 10 /* no cells are made: of any size that the range is a multiple of */

struct passing {
	const struct stretches_query *query;
	uint64_t *ends; /* by lane in the rendering: end of its last stretch, ns */
	size_t *index; /* the same: its index in the query */
};

static int pass_stretch(void *context, size_t lane, const struct level_stretch *s,
			struct error *err)
{
	struct passing *p = context;
	const struct lane_stretch out = {
		.time = s->time < p->ends[lane] ? p->ends[lane] : s->time,
		.end = s->end,
		.thread = s->key >> 8 == STATE_RUNNING ? s->thread : 0,
		.state = (uint8_t)(s->key >> 8),
		.wait = (uint8_t)s->key,
	};

	if (out.time >= out.end)
		return 0; /* as in lane_levels_add() */
	p->ends[lane] = out.end;
	return p->query->take(p->query->context, p->index[lane], &out, err);
}

/* List the lanes that the trace has; return their number. */
static size_t list_stretch_lanes(const struct trace_lanes *known, const struct passing *p,
				 struct render_lane *lanes)
{
	size_t count = 0;

	for (size_t i = 0; i < p->query->lane_count; i++) {
		uint32_t kind = index_get(&known->lanes, p->query->lanes[i]);

		if (kind == INDEX_NONE)
			continue;
		p->index[count] = i;
		lanes[count++] = (struct render_lane){.id = p->query->lanes[i],
						      .kind = (enum lane_kind)kind};
	}
	return count;
}

static int render_stretches(struct trace *t, struct passing *p, struct render_lane *lanes,
			    struct error *err)
{
	struct render_query q = {.time = p->query->time,
				 .end = p->query->end,
				 .shift = FINEST_CELL_SHIFT,
				 .lanes = lanes,
				 .stretch = pass_stretch,
				 .context = p};
	const struct trace_lanes *known;
	uint64_t time;
	int ret = trace_lanes_of(t, &known, err);

	if (!ret)
		ret = trace_span(t, &time, &q.known, err);
	if (ret < 0)
		return ret;
	q.count = list_stretch_lanes(known, p, lanes);
	return render_records(t, &q, err);
}

int trace_stretches(struct trace *t, const struct stretches_query *q, struct error *err)
{
	struct passing p = {.query = q};
	struct render_lane *lanes = calloc(q->lane_count + 1, sizeof(*lanes));
	int ret = -ENOMEM;

	p.ends = calloc(q->lane_count + 1, sizeof(*p.ends));
	p.index = calloc(q->lane_count + 1, sizeof(*p.index));
	trace_limit_steps(t, true);
	if (lanes && p.ends && p.index)
		ret = render_stretches(t, &p, lanes, err);
	else
		error_set(err, ret, "out of memory");
	free(lanes);
	free(p.ends);
	free(p.index);
	return ret;
}
