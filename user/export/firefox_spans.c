// SPDX-License-Identifier: Apache-2.0
/*
 * Write a marker for each span: what went on, its arguments, how it is known. Counters are left
 * out: a counter of the format is a sum of changes, which not all of these are.
 */
#include <string.h>

#include "base/text.h"
#include "export/firefox.h"

#define ARGUMENTS_SIZE 1024 /* bytes of the arguments of a span that are shown */

void firefox_span_schema(struct firefox *f)
{
	static const struct marker_schema schema = {
		.name = "Span",
		.tooltip = "{marker.data.kind}: {marker.name}",
		.table = "{marker.data.kind}: {marker.name} {marker.data.arguments}",
		.chart = "{marker.name}",
	};
	struct json *j = &f->json;

	firefox_begin_schema(f, &schema);
	firefox_write_field(j, "kind", "what", "string");
	firefox_write_field(j, "arguments", "arguments", "string");
	firefox_write_field(j, "known", "known by", "string");
	firefox_write_field(j, "open", "end", "string");
	firefox_end_schema(f);
}

int firefox_index_spans(struct firefox *f)
{
	const struct shown_spans *all = &f->timeline.spans;
	int ret = 0;

	for (size_t first = 0; first < all->list.count && !ret;
	     first = shown_spans_lane_end(all, first))
		ret = index_put(&f->spans_of, all->list.items[first].lane, (uint32_t)first);
	return ret;
}

struct firefox_spans firefox_take_spans(struct firefox *f, uint64_t lane)
{
	uint32_t first = index_get(&f->spans_of, lane);
	struct firefox_spans s = {0, 0};

	if (first == INDEX_NONE)
		return s;
	index_remove(&f->spans_of, lane);
	s.first = first;
	s.end = shown_spans_lane_end(&f->timeline.spans, first);
	return s;
}

static void firefox_write_span_data(struct firefox *f, const struct shown_span *s)
{
	const char *args = names_text(&f->timeline.spans.texts, s->args);
	char clean[ARGUMENTS_SIZE];
	struct json *j = &f->json;

	json_object(j);
	json_key_text(j, "type", "Span");
	json_key_text(j, "kind", span_kind_word(s->kind));
	if (*args)
		json_key_text(j, "arguments", text_clean(args, clean, sizeof(clean)));
	json_key_text(j, "known", span_origin_word(s->origin));
	if (s->open)
		json_key_text(j, "open", "had not ended");
	json_object_end(j);
}

/* Write the number of the string with a span's name. */
static int firefox_write_span_name(struct firefox *f, const struct shown_span *s)
{
	char clean[256];
	uint32_t name;
	int ret = stacks_string(
		&f->gather.stacks,
		text_clean(shown_span_name(&f->timeline.spans, s), clean, sizeof(clean)), &name);

	if (!ret)
		json_uint(&f->json, name);
	return ret;
}

int firefox_span_column(struct firefox *f, enum marker_column column,
			const struct firefox_spans *spans)
{
	int ret = 0;

	for (size_t i = spans->first; i < spans->end && !ret; i++) {
		const struct shown_span *s = &f->timeline.spans.list.items[i];

		if (column == MARKER_DATA)
			firefox_write_span_data(f, s);
		else if (column == MARKER_NAME)
			ret = firefox_write_span_name(f, s);
		else if (column == MARKER_CATEGORY)
			json_uint(&f->json, CATEGORY_RUNTIME);
		else
			firefox_write_time(f, column == MARKER_START ? s->time : s->end);
	}
	return ret;
}
