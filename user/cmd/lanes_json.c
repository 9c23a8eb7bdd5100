// SPDX-License-Identifier: Apache-2.0
/* Write a timeline as JSON (lanes_json.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analyze/groups.h"
#include "base/json.h"
#include "cmd/lanes_json.h"
#include "cmd/lanes_text.h"

#define COLUMNS 120 /* of each lane: twice those of a terminal of 60 columns */

/* Return the word of a fill: the name of a program, or a state. */
static const char *json_fill_word(const struct lanes *l, uint8_t fill)
{
	unsigned int program = fill - FILL_PROGRAM_A;

	if (fill >= FILL_PROGRAM_A && program < l->program_count)
		return names_text(&l->entities.programs, l->top_programs[program]);
	return fill_look((enum fill)fill)->word;
}

static void put_json_stroke(struct json *j, const struct lanes *l, const struct stroke *s)
{
	json_array(j);
	json_uint(j, s->level);
	s->level ? json_text(j, json_fill_word(l, s->bar)) : json_null(j);
	s->level < STROKE_FULL ? json_text(j, json_fill_word(l, s->ground)) : json_null(j);
	json_array_end(j);
}

/* Write the process of a row, by its index. */
static void put_json_process(struct json *j, const struct lanes *l, uint32_t process)
{
	const struct process *p =
		process == LANES_NONE ? NULL : &l->entities.processes.items[process].p;

	json_key(j, "pid");
	p ? json_uint(j, p->pid) : json_null(j);
	json_key(j, "program");
	p ? json_text(j, process_name(p)) : json_null(j);
}

/* A row with what it is called. */
struct json_row {
	const char *kind, *name;
	uint32_t process; /* index; LANES_NONE: none */
	const struct lane_row *row;
};

static void put_json_row(struct json *j, const struct lanes *l, const struct json_row *r)
{
	json_object(j);
	json_key_text(j, "kind", r->kind);
	json_key_text(j, "name", r->name);
	put_json_process(j, l, r->process);
	json_key_real(j, "busy", r->row->busy);
	json_key(j, "columns");
	json_array(j);
	for (unsigned int i = 0; i < COLUMNS; i++)
		put_json_stroke(j, l, &r->row->strokes[i]);
	json_array_end(j);
	json_object_end(j);
}

static void put_json_threads(struct json *j, const struct lanes *l)
{
	for (size_t i = 0; i < l->threads.count; i++) {
		const struct lane_row *row = &l->threads.items[i];
		const struct lane_thread *t = &l->entities.threads.items[row->thread];
		char buf[LANES_ROW_NAME];

		put_json_row(j, l,
			     &(struct json_row){row->parts.count > 1 ? "threads" : "thread",
						lanes_row_name(l, row, buf), t->process, row});
	}
}

static void put_json_lanes(struct json *j, const struct lanes *l)
{
	char name[32];

	json_key(j, "lanes");
	json_array(j);
	for (size_t i = 0; i < l->cpus.count; i++) {
		snprintf(name, sizeof(name), "CPU %" PRIu64, l->cpus.items[i].cpu);
		put_json_row(j, l, &(struct json_row){"cpu", name, LANES_NONE, &l->cpus.items[i]});
	}
	for (size_t i = 0; i < l->runtimes.count; i++) {
		const struct lane_row *row = &l->runtimes.items[i];

		put_json_row(j, l,
			     &(struct json_row){"runtime", row->runtime->name, row->process, row});
	}
	put_json_threads(j, l);
	for (size_t i = 0; i < l->sliced.count; i++) {
		const struct lane_row *row = &l->sliced.items[i];

		put_json_row(j, l,
			     &(struct json_row){"slices", row->sliced->name, LANES_NONE, row});
	}
	json_array_end(j);
}

static void put_json_column(struct json *j, const struct counter_column *c)
{
	json_array(j);
	json_real(j, c->least); /* null without a value */
	json_real(j, c->most);
	json_real(j, c->last);
	json_bool(j, c->lost);
	json_array_end(j);
}

static void put_json_counters(struct json *j, const struct lanes *l)
{
	const struct lanes_counters *all = &l->entities.counters;

	json_key(j, "counters");
	json_array(j);
	for (size_t i = 0; i < all->rows.count; i++) {
		const struct counter_row *row = &all->rows.items[i];
		const struct lane_counter *c = &all->list.items[row->counter];

		json_object(j);
		json_key_text(j, "name", c->name);
		put_json_process(j, l, c->process);
		json_key_text(j, "unit", c->quantity->drawn);
		json_key(j, "total");
		json_bool(j, c->quantity->total);
		json_key(j, "columns");
		json_array(j);
		for (unsigned int n = 0; n < COLUMNS; n++)
			put_json_column(j, &row->columns[n]);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_json_lost(struct json *j, const struct lanes *l)
{
	uint64_t counts[LOSS_COUNT];

	lanes_count_losses(l, counts);
	json_key(j, "lost");
	json_object(j);
	for (int reason = 0; reason < LOSS_COUNT; reason++)
		if (counts[reason])
			json_key_uint(j, reason ? loss_reason_word(reason) : "unknown",
				      counts[reason]);
	json_object_end(j);
}

/* Write how many rows of each kind the limits left out. */
static void put_json_left_out(struct json *j, const struct lanes *l)
{
	const struct lanes_counters *c = &l->entities.counters;

	json_key(j, "left_out");
	json_object(j);
	json_key_uint(j, "cpus", l->cpu_total - l->cpus.count);
	json_key_uint(j, "threads", l->thread_total - l->threads.count);
	json_key_uint(j, "slices", l->sliced_total - l->sliced.count);
	json_key_uint(j, "counters", c->total - c->rows.count);
	json_object_end(j);
}

int lanes_json(struct lanes *l, FILE *out, struct error *err)
{
	uint64_t start = l->entities.host.start;
	struct json j;
	int ret = lanes_render(l, COLUMNS / 2, err);

	if (!ret && lanes_render_counters(l, COLUMNS) < 0)
		ret = error_errno(err, -ENOMEM, "cannot draw the timeline");
	if (ret < 0)
		return ret;
	json_begin(&j, out, false);
	json_object(&j);
	json_key_uint(&j, "from", l->time - start);
	json_key_uint(&j, "to", l->end - start);
	json_key(&j, "unfinished");
	json_bool(&j, l->unfinished);
	json_key_text(&j, "lanes_by", lanes_by_word(l->by));
	put_json_lanes(&j, l);
	put_json_counters(&j, l);
	put_json_left_out(&j, l);
	put_json_lost(&j, l);
	json_object_end(&j);
	ret = json_end(&j);
	return ret < 0 ? error_errno(err, ret, "cannot write the timeline") : 0;
}
