// SPDX-License-Identifier: Apache-2.0
/* List the lanes of a trace for the page (timeline.h). */
#include <errno.h>
#include <inttypes.h>

#include "analyze/groups.h"
#include "base/json.h"
#include "base/units.h"
#include "view/timeline.h"

static const char *shape_word(enum fill_shape shape)
{
	static const char *const words[] = {
		[SHAPE_EMPTY] = "empty", [SHAPE_DOTS] = "dots",	  [SHAPE_LINE] = "line",
		[SHAPE_SOLID] = "solid", [SHAPE_HATCH] = "hatch",
	};

	return words[shape];
}

/* Write each fill: word, shape, colour. */
static void write_fills(struct json *j)
{
	char color[sizeof("#rrggbb")];

	json_key(j, "fills");
	json_array(j);
	for (enum fill fill = 0; fill < FILL_COUNT; fill++) {
		json_array(j);
		json_text(j, fill_look(fill)->word);
		json_text(j, shape_word(fill_look(fill)->shape));
		snprintf(color, sizeof(color), "#%06" PRIx32, fill_rgb(fill));
		json_text(j, color);
		json_array_end(j);
	}
	json_array_end(j);
	json_key(j, "fill_of");
	json_object(j);
	json_key_uint(j, "none", FILL_NONE);
	json_key_uint(j, "running", FILL_RUNNING);
	json_key_uint(j, "runnable", FILL_RUNNABLE);
	json_key_uint(j, "unknown", FILL_UNKNOWN);
	json_key_uint(j, "program", FILL_PROGRAM_A);
	json_key_uint(j, "others", FILL_OTHERS);
	json_key_uint(j, "counter", FILL_COUNTER);
	json_object_end(j);
}

/* Write each program that has a colour of its own: name, fill. */
static void write_programs(struct json *j, const struct lanes *l)
{
	json_key(j, "programs");
	json_array(j);
	for (unsigned int i = 0; i < l->program_count; i++) {
		json_array(j);
		json_text(j, names_text(&l->entities.programs, l->top_programs[i]));
		json_uint(j, FILL_PROGRAM_A + i);
		json_array_end(j);
	}
	json_array_end(j);
}

/* One row of the page. */
struct view_row {
	const char *kind, *name;
	uint64_t lane, id;
	uint32_t process; /* index; LANES_NONE: none */
	bool numbered; /* id is a number to show */
	double busy, wanted;
	const struct lane_row *joined; /* of several threads; NULL for other rows */
	uint64_t key; /* CPU number + 1 of a CPU with interrupts, and of these; 0: other rows */
};

/* Write the lanes of the threads that share a row, so that the page finds the row of each. */
static void write_lane_parts(struct json *j, const struct lane_row *row)
{
	char text[24];

	json_key(j, "parts");
	json_array(j);
	for (size_t i = 0; i < row->parts.count; i++) {
		snprintf(text, sizeof(text), "%" PRIu64, row->parts.items[i].lane);
		json_text(j, text);
	}
	json_array_end(j);
}

static void write_lane_row(struct json *j, const struct view_row *r, const char *lane)
{
	char text[24];

	json_object(j);
	json_key_text(j, "lane", lane);
	json_key_text(j, "kind", r->kind);
	json_key_text(j, "name", r->name);
	json_key(j, "id");
	r->numbered ? json_uint(j, r->id) : json_null(j);
	json_key(j, "process");
	snprintf(text, sizeof(text), "%" PRIu32, r->process);
	if (r->key)
		snprintf(text, sizeof(text), "c%" PRIu64, r->key - 1);
	r->process == LANES_NONE && !r->key ? json_null(j) : json_text(j, text);
	json_key_real(j, "busy", r->busy);
	json_key_real(j, "wanted", r->wanted);
	if (r->joined)
		write_lane_parts(j, r->joined);
	json_object_end(j);
}

/* Write a row of a lane; a lane.id is text, since it may be larger than a number of JavaScript. */
static void write_lane(struct json *j, const struct view_row *r)
{
	char lane[24];

	snprintf(lane, sizeof(lane), "%" PRIu64, r->lane);
	write_lane_row(j, r, lane);
}

/* Write the row of what served interrupts on a CPU. */
static void write_interrupts(struct json *j, const struct lanes *l, const struct lane_row *row,
			     uint64_t key)
{
	char name[64] = "interrupts", least[32];

	if (l->entities.handled_least)
		snprintf(name, sizeof(name), "interrupts from %s on",
			 show_duration(l->entities.handled_least, least, sizeof(least)));
	write_lane(j, &(struct view_row){"runtime", name, row->lane, 0, LANES_NONE, false,
					 row->busy, row->busy, NULL, key});
}

/* Write a row of a counter: its name, unit and scale, and its process unless that has no rows. */
static void write_counter(struct json *j, const struct lanes *l, const struct counter_row *row,
			  bool inside)
{
	const struct lane_counter *c = &l->entities.counters.list.items[row->counter];
	char text[COUNTER_SCALE_SIZE];

	json_object(j);
	snprintf(text, sizeof(text), "c%" PRIu32, row->counter);
	json_key_text(j, "lane", text);
	json_key_text(j, "kind", "counter");
	json_key_text(j, "name", c->name);
	json_key(j, "process");
	snprintf(text, sizeof(text), "%" PRIu32, c->process);
	inside ? json_text(j, text) : json_null(j);
	json_key_text(j, "unit", c->quantity->drawn);
	json_key(j, "total");
	json_bool(j, c->quantity->total);
	json_key_text(j, "scale", lanes_counter_scale(c, text));
	json_key_real(j, "bottom", lanes_counter_bottom(c));
	json_key_real(j, "top", lanes_counter_top(c));
	json_object_end(j);
}

/* Write the rows of the counters of a CPU, by its lane.id. */
static void write_cpu_counters(struct json *j, const struct lanes *l, uint64_t cpu)
{
	const struct lanes_counters *c = &l->entities.counters;

	for (size_t i = 0; i < c->rows.count; i++)
		if (c->list.items[c->rows.items[i].counter].lane == cpu)
			write_counter(j, l, &c->rows.items[i], false);
}

/*
 * Write the row of how many threads wanted a CPU. Its scale goes to twice the number of CPUs: more
 * is as high, and has its number beside the pointer.
 */
static void write_wanted(struct json *j, const struct lanes *l)
{
	size_t top = 2 * l->cpu_total;
	char scale[48];

	if (!l->entities.threads.count || !top)
		return;
	json_object(j);
	json_key_text(j, "lane", VIEW_WANTED);
	json_key_text(j, "kind", "counter");
	json_key_text(j, "name", "could have run");
	json_key(j, "process");
	json_null(j);
	json_key_text(j, "unit", "threads");
	json_key(j, "total");
	json_bool(j, false);
	snprintf(scale, sizeof(scale), "%zu threads", top);
	json_key_text(j, "scale", scale);
	json_key_uint(j, "bottom", 0);
	json_key_uint(j, "top", top);
	json_object_end(j);
}

static void write_cpus(struct json *j, const struct lanes *l)
{
	for (size_t i = 0; i < l->cpus.count; i++) {
		const struct lane_row *row = &l->cpus.items[i];
		const struct lane_row *below = lanes_interrupts_of(l, row->cpu);
		uint64_t key = below ? row->cpu + 1 : 0;
		char name[32];

		snprintf(name, sizeof(name), "CPU %" PRIu64, row->cpu);
		write_lane(j, &(struct view_row){"cpu", name, row->lane, row->cpu, LANES_NONE,
						 false, row->busy, row->wanted, NULL, key});
		if (below)
			write_interrupts(j, l, below, key);
		write_cpu_counters(j, l, row->lane);
	}
}

static uint32_t process_of_row(const struct lanes *l, const struct lane_row *row)
{
	return row->runtime ? row->process : l->entities.threads.items[row->thread].process;
}

static void write_runtimes(struct json *j, const struct lanes *l, uint32_t process)
{
	for (size_t i = 0; i < l->runtimes.count; i++) {
		const struct lane_row *row = &l->runtimes.items[i];

		if (row->process == process)
			write_lane(j, &(struct view_row){"runtime", row->runtime->name, row->lane,
							 0, process, false, row->busy, row->busy,
							 NULL, 0});
	}
}

static void write_thread(struct json *j, const struct lanes *l, const struct lane_row *row)
{
	const struct lane_thread *t = &l->entities.threads.items[row->thread];

	write_lane(j, &(struct view_row){"thread", t->name, row->lane, t->tid, t->process, true,
					 row->busy, row->wanted, NULL, 0});
}

/* Write the rows of the counters of a process. */
static void write_counters(struct json *j, const struct lanes *l, uint32_t process)
{
	const struct lanes_counters *c = &l->entities.counters;

	for (size_t i = 0; i < c->rows.count; i++)
		if (c->list.items[c->rows.items[i].counter].process == process)
			write_counter(j, l, &c->rows.items[i], true);
}

static bool has_process_row(const struct lanes *l, const lane_rows_t *rows, uint32_t process)
{
	for (size_t i = 0; i < rows->count; i++)
		if (process_of_row(l, &rows->items[i]) == process)
			return true;
	return false;
}

/* Write the rows of counters whose processes or CPUs have no rows, and those of neither. */
static void write_other_counters(struct json *j, const struct lanes *l, enum lanes_by by)
{
	const struct lanes_counters *c = &l->entities.counters;

	for (size_t i = 0; i < c->rows.count; i++) {
		uint32_t process = c->list.items[c->rows.items[i].counter].process;

		if (lanes_counter_is_of_cpu(l, &c->list.items[c->rows.items[i].counter]))
			continue;
		if (process == LANES_NONE || !has_process_row(l, lanes_rows_by(l, by), process))
			write_counter(j, l, &c->rows.items[i], false);
	}
}

/* Write a row of several threads, which has the number of a row of a choice. */
static void write_joined(struct json *j, const struct lanes *l, enum lanes_by by, size_t number)
{
	const struct lane_row *row = &lanes_rows_by(l, by)->items[number];
	uint32_t process = process_of_row(l, row);
	char name[LANES_ROW_NAME], lane[24];

	snprintf(lane, sizeof(lane), "%c%zu", lanes_by_letter(by), number);
	write_lane_row(j,
		       &(struct view_row){"threads", lanes_row_name(l, row, name), 0,
					  row->parts.count, process, true, row->busy, row->wanted,
					  row, 0},
		       lane);
}

/* Write the row of a process, whose thread rows begin at first; return where they end. */
static size_t write_process(struct json *j, const struct lanes *l, const lane_rows_t *rows,
			    size_t first)
{
	uint32_t process = process_of_row(l, &rows->items[first]);
	const struct process *p = &l->entities.processes.items[process].p;
	struct view_row row = {"process", process_name(p), 0, p->pid, process, true, 0, 0, NULL, 0};
	char lane[24];
	size_t end;

	for (end = first; end < rows->count && process_of_row(l, &rows->items[end]) == process;
	     end++) {
		row.busy += rows->items[end].busy;
		row.wanted += rows->items[end].wanted;
	}
	snprintf(lane, sizeof(lane), "p%" PRIu32, process);
	write_lane_row(j, &row, lane);
	write_runtimes(j, l, process);
	write_counters(j, l, process);
	return end;
}

static void write_processes(struct json *j, const struct lanes *l, enum lanes_by by)
{
	const lane_rows_t *rows = lanes_rows_by(l, by);
	size_t end = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct lane_row *row = &rows->items[i];

		if (i == end)
			end = process_of_row(l, row) == LANES_NONE ? i + 1
								   : write_process(j, l, rows, i);
		if (row->parts.count > 1)
			write_joined(j, l, by, i);
		else
			write_thread(j, l, row);
	}
}

/* Write which choices of lanes there are, the one that is shown, and the usual one. */
static void write_choices(struct json *j, enum lanes_by by, enum lanes_by usual)
{
	const char *word;

	json_key(j, "choices");
	json_array(j);
	for (unsigned int i = 0; (word = lanes_by_word(i)); i++)
		json_text(j, word);
	json_array_end(j);
	json_key_text(j, "by", lanes_by_word(by));
	json_key_text(j, "usual", lanes_by_word(usual));
}

static void write_sliced(struct json *j, const struct lanes *l)
{
	for (size_t i = 0; i < l->sliced.count; i++) {
		const struct lane_row *row = &l->sliced.items[i];

		write_lane(j,
			   &(struct view_row){"slices", row->sliced->name, row->lane, 0, LANES_NONE,
					      false, row->busy, row->wanted, NULL, 0});
	}
}

static void write_host(struct json *j, const struct lanes *l, const struct view_about *about)
{
	json_key(j, "host");
	json_object(j);
	json_key_text(j, "name", l->entities.host.hostname ? l->entities.host.hostname : "");
	json_key_text(j, "kernel", about->kernel);
	json_key_uint(j, "cpus", l->entities.host.cpus);
	json_object_end(j);
}

/* Write which trace this is, of those that the page shows. */
static void write_file(struct json *j, const struct view_about *about)
{
	if (!about->file)
		return;
	json_key_text(j, "file", about->file);
	json_key_uint(j, "traces", about->traces);
	json_key(j, "after");
	about->after ? json_int(j, *about->after) : json_null(j);
}

int view_write_trace(const struct lanes *l, const struct view_about *about, enum lanes_by by,
		     FILE *out)
{
	struct json j;
	char utc[24];

	json_begin(&j, out, false);
	json_object(&j);
	json_key_text(&j, "skein", about->version);
	json_key_text(&j, "subject", about->subject);
	json_key_text(&j, "warning", about->warning);
	write_file(&j, about);
	write_host(&j, l, about);
	snprintf(utc, sizeof(utc), "%" PRId64, about->utc);
	json_key_text(&j, "start_utc", utc);
	json_key_uint(&j, "length", l->end - l->time);
	json_key(&j, "unfinished");
	json_bool(&j, l->unfinished);
	write_fills(&j);
	write_programs(&j, l);
	write_choices(&j, by, about->usual);
	json_key(&j, "rows");
	json_array(&j);
	write_wanted(&j, l);
	write_cpus(&j, l);
	write_processes(&j, l, by);
	write_sliced(&j, l);
	write_other_counters(&j, l, by);
	json_array_end(&j);
	json_object_end(&j);
	return json_end(&j);
}
