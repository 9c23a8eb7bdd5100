// SPDX-License-Identifier: Apache-2.0
/* What skein view answers of a moment of a lane that has acts: of a runtime, or of interrupts. */
#include <errno.h>
#include <inttypes.h>

#include "base/units.h"
#include "cmd/view.h"

static void write_act_link(struct json *j, const struct lanes *l, const char *what,
			   const struct lane_act *a)
{
	char text[128], length[48], lane[24];

	if (!a)
		return;
	snprintf(text, sizeof(text), "%s: %s, %s", what, lanes_act_text(l, a),
		 show_duration(a->end - a->time, length, sizeof(length)));
	snprintf(lane, sizeof(lane), "%" PRIu64, a->lane);
	json_object(j);
	json_key_text(j, "text", text);
	json_key_text(j, "lane", lane);
	json_key_uint(j, "time", a->time > l->time ? a->time - l->time : 0);
	json_object_end(j);
}

/* Return the act before one. */
static const struct lane_act *act_before(const struct lanes *l, const struct lane_act *a)
{
	return a && a > l->entities.acts.items && a[-1].lane == a->lane ? a - 1 : NULL;
}

int view_write_act(const struct lanes *l, uint64_t lane, uint64_t time, FILE *out)
{
	const struct lane_act *next, *last = lanes_act_at(l, lane, time, &next);
	const struct lane_act *now = last && last->end > time ? last : NULL;
	uint64_t from = now ? now->time : last ? last->end : l->time;
	uint64_t to = now ? now->end : next ? next->time : l->end;
	char length[48];
	struct json j;

	from = from > l->time ? from - l->time : 0;
	to = to > l->end ? l->end - l->time : to - l->time;
	json_begin(&j, out, false);
	json_object(&j);
	json_key_text(&j, "title", "");
	json_key(&j, "facts");
	json_array(&j);
	view_write_fact(&j, "what", now ? lanes_act_text(l, now) : "nothing that is recorded");
	view_write_fact_time(&j, "from", from);
	view_write_fact_time(&j, "to", to);
	view_write_fact(&j, "length", show_duration(to - from, length, sizeof(length)));
	json_array_end(&j);
	json_key(&j, "links");
	json_array(&j);
	write_act_link(&j, l, "before", now ? act_before(l, now) : last);
	write_act_link(&j, l, "after", next);
	json_array_end(&j);
	json_key(&j, "stack");
	json_array(&j);
	json_array_end(&j);
	json_key(&j, "chain");
	json_bool(&j, false);
	json_key_uint(&j, "from", from);
	json_key_uint(&j, "to", to);
	json_object_end(&j);
	return json_end(&j);
}
