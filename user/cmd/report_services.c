// SPDX-License-Identifier: Apache-2.0
/* Show what the threads of services did: ran, waited for a CPU, were blocked, and by what. */
#include "cmd/report_services.h"

#include "base/units.h"

#define SERVICE_ROWS 12

/* Columns of blocked time; what has none is in the column "other". */
static const enum wait_class shown_waits[] = {WAIT_LOCK, WAIT_IO,   WAIT_FAULT,
					      WAIT_PIPE, WAIT_POLL, WAIT_SLEEP};
#define SHOWN_WAITS (sizeof(shown_waits) / sizeof(shown_waits[0]))

static uint64_t service_blocked_by_others(const struct service_time *s)
{
	uint64_t ns = 0;

	for (int wait = WAIT_NONE; wait < WAIT_COUNT; wait++)
		ns += service_time_blocked(s, (enum wait_class)wait);
	for (size_t i = 0; i < SHOWN_WAITS; i++)
		ns -= service_time_blocked(s, shown_waits[i]);
	return ns;
}

static void service_duration_cell(struct table *t, uint64_t ns)
{
	char text[32];

	table_cell(t, ns ? show_duration(ns, text, sizeof(text)) : "-");
}

static void service_cells(struct table *t, const struct report *r, const struct service_time *s)
{
	const uint64_t run = s->ns[STATE_RUNNING][WAIT_NONE];
	char text[32];

	service_duration_cell(t, run);
	table_cell(t, show_percent(run, r->events.services->ran, text, sizeof(text)));
	service_duration_cell(t, service_time_queued(s));
	for (size_t i = 0; i < SHOWN_WAITS; i++)
		service_duration_cell(t, service_time_blocked(s, shown_waits[i]));
	service_duration_cell(t, service_blocked_by_others(s));
	service_duration_cell(t, s->ns[STATE_UNKNOWN][WAIT_NONE]);
	table_cell(t, s->name);
}

int report_services_table(const struct report *r, const struct screen *to)
{
	static const struct column columns[] = {
		{"ran", STYLE_BOLD, true, CUT_END, 0},
		{"share", STYLE_PLAIN, true, CUT_END, 0},
		{"for a CPU", STYLE_WARM, true, CUT_END, 0},
		{"lock", STYLE_PLAIN, true, CUT_END, 0},
		{"I/O", STYLE_PLAIN, true, CUT_END, 0},
		{"fault", STYLE_PLAIN, true, CUT_END, 0},
		{"pipe", STYLE_PLAIN, true, CUT_END, 0},
		{"poll", STYLE_PLAIN, true, CUT_END, 0},
		{"sleep", STYLE_PLAIN, true, CUT_END, 0},
		{"other", STYLE_PLAIN, true, CUT_END, 0},
		{"unknown", STYLE_DIM, true, CUT_END, 0},
		{"service or control group", STYLE_PLAIN, false, CUT_END, 12},
	};
	struct table t = {.columns = columns, .column_count = 12};
	const struct service_times *s = r->events.services;
	size_t count = report_row_limit(r, s->rows.count, SERVICE_ROWS);

	screen_put(to, STYLE_BOLD,
		   "Services: how long their threads ran, waited for a CPU, and were blocked\n");
	for (size_t i = 0; i < count; i++)
		service_cells(&t, r, &s->rows.items[i]);
	return table_finish(&t, to, count, s->rows.count);
}

static void put_service_state(struct json *j, const struct service_time *s, int state, int wait)
{
	if (!s->ns[state][wait] && !s->count[state][wait])
		return;
	json_object(j);
	json_key_text(j, "state", slice_state_word((uint64_t)state));
	if (wait)
		json_key_text(j, "wait", wait_class_word((uint64_t)wait));
	json_key_uint(j, "ns", s->ns[state][wait]);
	json_key_uint(j, "count", s->count[state][wait]);
	json_object_end(j);
}

void report_services_json(struct json *j, const struct report *r)
{
	const struct service_times *s = r->events.services;

	json_key(j, "services");
	json_array(j);
	for (size_t i = 0; i < s->rows.count; i++) {
		const struct service_time *row = &s->rows.items[i];

		json_object(j);
		json_key_text(j, row->group ? "cgroup" : "service", row->name);
		json_key_uint(j, "ran", row->ns[STATE_RUNNING][WAIT_NONE]);
		json_key_uint(j, "waited_for_a_cpu", service_time_queued(row));
		json_key(j, "states");
		json_array(j);
		for (int state = 0; state < STATE_COUNT; state++)
			for (int wait = 0; wait < WAIT_COUNT; wait++)
				put_service_state(j, row, state, wait);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}
