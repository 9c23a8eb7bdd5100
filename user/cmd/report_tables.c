// SPDX-License-Identifier: Apache-2.0
/* Show where the time of a report went: tables of functions, programs and places. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd/report_off_cpu.h"
#include "cmd/report_parts.h"

#define FUNCTION_ROWS 20
#define PYTHON_ROWS 10
#define PROGRAM_ROWS 10
#define PLACE_ROWS 5
#define BAR_WIDTH 100 /* columns from which on there is room for bars */
#define BAR_COLUMNS 12

/* Return the share of a weight in the report, in a static buffer that the next call overwrites. */
static const char *weight_percent(const struct report *r, uint64_t weight)
{
	static char text[16];

	return show_percent(weight, r->weight, text, sizeof(text));
}

char *report_show_weight(const struct report *r, uint64_t weight, char *buf, size_t size)
{
	return !strcmp(r->event->unit, "ns") ? show_duration(weight, buf, size)
					     : show_count(weight, buf, size);
}

static const char *weight_title(const struct report *r)
{
	if (event_is_of_waits(r->event->name))
		return "waited";
	return !strcmp(r->event->unit, "ns") ? "CPU time" : r->event->name;
}

/*
 * Return a bar of up to BAR_COLUMNS columns, in eighths of a column, for a weight in relation to
 * the largest weight. The bar is in a static buffer, which the next call overwrites.
 */
static const char *weight_bar(uint64_t weight, uint64_t most)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	static char text[BAR_COLUMNS * 3 + 4];
	unsigned int steps = most ? (double)weight / (double)most * BAR_COLUMNS * 8 : 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < steps / 8; i++)
		strcat(text, "█");
	return strcat(text, eighths[steps % 8]);
}

/* Add the cells of one function; alike: only the path of its module distinguishes it. */
static void put_cost_cells(const struct report *r, struct table *t, const struct function_cost *f,
			   bool modules, bool alike)
{
	const char *module = symbol_module(&r->symbols, f->symbol);

	table_cell(t, weight_percent(r, f->self_weight));
	table_cell(t, weight_percent(r, f->total_weight));
	table_cell(t, symbol_name(&r->symbols, f->symbol));
	if (modules)
		table_cell(t, alike ? module : module_short_name(module));
}

/* Find the functions that only the path of their module distinguishes, by row. */
static bool *find_alike_costs(const struct report *r, const struct function_cost *f, size_t count)
{
	bool *alike = calloc(count + 1, sizeof(*alike));
	uint32_t *list = calloc(count + 1, sizeof(*list));
	int ret = alike && list ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !ret; i++)
		list[i] = f[i].symbol;
	if (!ret)
		ret = symbols_find_alike(&r->symbols, list, count, alike);
	free(list);
	if (!ret)
		return alike;
	free(alike);
	return NULL;
}

static int put_costs(const struct report *r, const struct screen *s, const struct functions *all,
		     const struct column *columns, bool modules)
{
	bool bars = s->width >= BAR_WIDTH;
	struct table t = {.columns = columns, .column_count = 3 + modules + bars};
	size_t count = report_row_limit(r, all->list.count, modules ? FUNCTION_ROWS : PYTHON_ROWS);
	const struct function_cost *f = all->list.items;
	bool *alike = find_alike_costs(r, f, count);

	if (!alike)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		put_cost_cells(r, &t, &f[i], modules, alike[i]);
		if (bars)
			table_cell(&t, weight_bar(f[i].self_weight, f[0].self_weight));
	}
	free(alike);
	return table_finish(&t, s, count, all->list.count);
}

static int put_function_table(const struct report *r, const struct screen *s)
{
	static const struct column columns[] = {
		{"self", STYLE_BOLD, true, CUT_END, 0},
		{"total", STYLE_PLAIN, true, CUT_END, 0},
		{"function", STYLE_PLAIN, false, CUT_NAME, 24},
		{"module", STYLE_DIM, false, CUT_FRONT, 12},
		{"", STYLE_WARM, false, CUT_END, 0},
	};

	screen_put(s, STYLE_BOLD,
		   event_is_of_waits(r->event->name) ? "Functions in which threads waited\n"
						     : "Hottest functions\n");
	return put_costs(r, s, &r->functions, columns, true);
}

/* Show the functions of Python, whose names contain their modules. */
static int put_python_functions(const struct report *r, const struct screen *s)
{
	static const struct column columns[] = {
		{"self", STYLE_BOLD, true, CUT_END, 0},
		{"total", STYLE_PLAIN, true, CUT_END, 0},
		{"function", STYLE_PLAIN, false, CUT_NAME, 24},
		{"", STYLE_WARM, false, CUT_END, 0},
	};

	screen_put(s, STYLE_BOLD, "Hottest functions of Python, with the C that they call\n");
	return put_costs(r, s, &r->python_functions, columns, false);
}

/* Write the pid of a group, or the number of its processes. */
static void group_pid_cell(struct table *t, const struct group *g)
{
	if (g->processes > 1)
		table_cellf(t, "%" PRIu32 " pids", g->processes);
	else if (g->process->id)
		table_cellf(t, "%" PRIu64, g->process->pid);
	else
		table_cell(t, "-");
}

static void group_number_cells(const struct report *r, struct table *t, const struct group *g)
{
	char text[64];

	table_cell(t, weight_percent(r, g->weight));
	table_cell(t, show_count(g->count, text, sizeof(text)));
	table_cell(t, report_show_weight(r, g->weight, text, sizeof(text)));
}

/*
 * Write the place of a process to buf and return buf: the host, if the trace has several, and the
 * container or control group. A program has no host here, since it may run on several.
 */
static const char *group_place(const struct report *r, enum group_by by, const struct process *p,
			       char *buf, size_t size)
{
	const struct host *h = by == GROUP_PROGRAM ? NULL : profile_host_of(r->profile, p);
	size_t used = h ? (size_t)snprintf(buf, size, "%.64s ", h->hostname) : 0;

	process_place(p, buf + used, size - used);
	return buf;
}

/* Show programs, processes or threads, with their containers. */
static int put_process_groups(const struct report *r, const struct screen *s, enum group_by by,
			      size_t usual)
{
	struct column columns[] = {
		{"share", STYLE_BOLD, true, CUT_END, 0},
		{"samples", STYLE_PLAIN, true, CUT_END, 0},
		{weight_title(r), STYLE_PLAIN, true, CUT_END, 0},
		{by == GROUP_THREAD ? "tid" : "pid", STYLE_PLAIN, true, CUT_END, 0},
		{report_group_word(by), STYLE_PLAIN, false, CUT_END, 15},
		{"process", STYLE_DIM, false, CUT_END, 10},
		{"where", STYLE_DIM, false, CUT_FRONT, 12},
	};
	bool thread = by == GROUP_THREAD;
	struct table t = {.columns = columns, .column_count = thread ? 7 : 6};
	const struct groups *g = &r->groups[by];
	size_t count = report_row_limit(r, g->list.count, usual);

	if (!thread)
		columns[5] = columns[6];
	for (size_t i = 0; i < count; i++) {
		const struct group *one = &g->list.items[i];
		char place[256];

		group_number_cells(r, &t, one);
		if (thread)
			table_cellf(&t, "%" PRIu64, one->thread ? one->thread->tid : 0);
		else
			group_pid_cell(&t, one);
		table_cell(&t, one->name);
		if (thread)
			table_cell(&t, process_name(one->process));
		table_cell(&t, group_place(r, by, one->process, place, sizeof(place)));
	}
	return table_finish(&t, s, count, g->list.count);
}

/* Show containers, control groups or modules. */
static int put_place_groups(const struct report *r, const struct screen *s, enum group_by by,
			    size_t usual)
{
	struct column columns[] = {
		{"share", STYLE_BOLD, true, CUT_END, 0},
		{"samples", STYLE_PLAIN, true, CUT_END, 0},
		{weight_title(r), STYLE_PLAIN, true, CUT_END, 0},
		{"processes", STYLE_PLAIN, true, CUT_END, 0},
		{report_group_word(by), STYLE_PLAIN, false,
		 by == GROUP_CONTAINER || by == GROUP_SERVICE ? CUT_END : CUT_FRONT, 20},
	};
	struct table t = {.columns = columns, .column_count = 5};
	const struct groups *g = &r->groups[by];
	size_t count = report_row_limit(r, g->list.count, usual);

	for (size_t i = 0; i < count; i++) {
		group_number_cells(r, &t, &g->list.items[i]);
		table_cellf(&t, "%" PRIu32, g->list.items[i].processes);
		table_cell(&t, g->list.items[i].name);
	}
	return table_finish(&t, s, count, g->list.count);
}

static int put_group_table(const struct report *r, const struct screen *s, enum group_by by,
			   size_t usual)
{
	bool places = by >= GROUP_SERVICE;

	return places ? put_place_groups(r, s, by, usual) : put_process_groups(r, s, by, usual);
}

/* Show the tables of functions, that of Python first if most samples are of Python. */
static int put_function_tables(const struct report *r, const struct screen *s)
{
	bool python_first = r->python.samples > r->count / 2;
	int ret = 0;

	if (!r->python_functions.list.count)
		return put_function_table(r, s);
	for (int second = 0; second < 2 && !ret; second++) {
		ret = python_first != second ? put_python_functions(r, s)
					     : put_function_table(r, s);
		if (!second)
			fputc('\n', s->out);
	}
	return ret;
}

static int report_put_tables(const struct report *r, const struct screen *s)
{
	bool services = r->groups[GROUP_SERVICE].list.count > 1;
	enum group_by place = services ? GROUP_SERVICE : GROUP_CONTAINER;
	int ret = put_function_tables(r, s);

	fputc('\n', s->out);
	screen_put(s, STYLE_BOLD, "Programs\n");
	if (!ret)
		ret = put_group_table(r, s, GROUP_PROGRAM, PROGRAM_ROWS);
	/* a table with the single row "(none)" is useless */
	if (ret < 0 || r->groups[place].list.count < 2)
		return ret;
	fputc('\n', s->out);
	screen_put(s, STYLE_BOLD, services ? "Services\n" : "Containers\n");
	return put_group_table(r, s, place, PLACE_ROWS);
}

int report_put_body(const struct report *r, const struct screen *s)
{
	if (r->options->off_cpu)
		return report_off_cpu_tables(r, s);
	if (r->options->tree)
		return report_tree_text(r, s);
	if (r->options->by == BY_FUNCTION)
		return put_function_tables(r, s);
	if (r->options->by != BY_NOTHING)
		return put_group_table(r, s, r->options->by, FUNCTION_ROWS);
	return report_put_tables(r, s);
}
