// SPDX-License-Identifier: Apache-2.0
/* Show what served interrupts: how often, how long, as a share of the time of all CPUs. */
#include "cmd/report_handlers.h"

#include <inttypes.h>

#include "base/units.h"

#define HANDLER_ROWS 8

/* Return the time of all CPUs in the range, without pauses of the recording, ns. */
static uint64_t handlers_cpu_time(const struct report *r)
{
	const struct handler_sums *h = r->events.handlers;
	uint64_t end = h->to != UINT64_MAX ? h->to : h->from, paused = report_paused(r);
	uint64_t length = end > h->from ? end - h->from : 0;

	return (length > paused ? length - paused : 0) * r->profile->host.cpus;
}

static void handler_cells(struct table *t, const struct report *r, const struct handler_row *row)
{
	uint64_t all = handlers_cpu_time(r);
	char text[64];

	table_cell(t, show_count(row->count, text, sizeof(text)));
	table_cell(t, show_duration(row->time, text, sizeof(text)));
	table_cell(t, all ? show_percent(row->time, all, text, sizeof(text)) : "?");
	table_cell(t, show_duration(row->count ? row->time / row->count : 0, text, sizeof(text)));
	table_cell(t, show_duration(row->longest, text, sizeof(text)));
	if (row->cpus > 1)
		table_cellf(t, "%" PRIu64 ", most on %" PRIu64, row->cpus, row->cpu);
	else
		table_cellf(t, "%" PRIu64 ", number %" PRIu64, row->cpus, row->cpu);
	table_cell(t, handler_sums_name(r->events.handlers, row));
}

int report_handlers_table(const struct report *r, const struct screen *to)
{
	static const struct column columns[] = {
		{"count", STYLE_PLAIN, true, CUT_END, 0},
		{"time", STYLE_BOLD, true, CUT_END, 0},
		{"share", STYLE_PLAIN, true, CUT_END, 0},
		{"average", STYLE_PLAIN, true, CUT_END, 0},
		{"longest", STYLE_WARM, true, CUT_END, 0},
		{"CPUs", STYLE_DIM, false, CUT_END, 0},
		{"served by", STYLE_PLAIN, false, CUT_END, 12},
	};
	struct table t = {.columns = columns, .column_count = 7};
	const struct handler_sums *h = r->events.handlers;
	size_t count = report_row_limit(r, h->rows.count, HANDLER_ROWS);

	screen_put(to, STYLE_BOLD,
		   h->ranged ? "Interrupts, only those recorded one by one (--interrupt-min); "
			       "shares of the time of all CPUs\n"
			     : "Interrupts; shares of the time of all CPUs\n");
	for (size_t i = 0; i < count; i++)
		handler_cells(&t, r, &h->rows.items[i]);
	return table_finish(&t, to, count, h->rows.count);
}

void report_handlers_json(struct json *j, const struct report *r)
{
	const struct handler_sums *h = r->events.handlers;

	json_key(j, "interrupts");
	json_object(j);
	json_key(j, "only_with_spans");
	json_bool(j, h->ranged);
	json_key_uint(j, "time_of_cpus", handlers_cpu_time(r));
	json_key(j, "handlers");
	json_array(j);
	for (size_t i = 0; i < h->rows.count; i++) {
		const struct handler_row *row = &h->rows.items[i];

		json_object(j);
		json_key_text(j, "name", handler_sums_name(h, row));
		json_key_text(j, "kind", span_kind_word(row->kind));
		json_key_uint(j, "count", row->count);
		json_key_uint(j, "time", row->time);
		json_key_uint(j, "longest", row->longest);
		json_key_uint(j, "without_span", row->without);
		json_key_uint(j, "cpus", row->cpus);
		json_key_uint(j, "most_on_cpu", row->cpu);
		json_key_uint(j, "most", row->most);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}
