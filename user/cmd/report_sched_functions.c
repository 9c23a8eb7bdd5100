// SPDX-License-Identifier: Apache-2.0
/* Show in which functions threads were blocked and ran: --sched --by function. */
#include <stdlib.h>
#include <string.h>

#include "cmd/report_off_cpu.h"
#include "cmd/report_sched.h"

#define SCHED_FUNCTION_ROWS 20
#define FUNCTION_NAME_COLUMNS 24 /* least width of a function, and of the gap after it */
#define FUNCTION_MODULE_COLUMNS 14
#define OTHER_NUMBERS 27 /* columns of the numbers beside those of the wait classes */

/* Return estimated times by class of wait as the tables of exact times take them. */
static struct sched_times function_times(const struct off_cpu_function *f)
{
	struct sched_times out = {.running = f->running};

	for (int wait = 0; wait < WAIT_COUNT; wait++)
		out.blocked[wait] = (uint64_t)wait_sum_total(&f->own_by[wait]);
	return out;
}

/*
 * Get the exact times by class of wait, and the parts of them without a stack, of the selected
 * threads. Return 0 or -ENOMEM.
 */
static int times_without_stack(struct sched_times *out, const struct report *r)
{
	const struct off_cpu *o = r->off_cpu->all;
	const struct off_cpu_table *classes = &o->tables[OFF_CPU_CLASSES];
	struct wait_sum sums[WAIT_COUNT] = {{0}};
	struct exact_waits exact;
	int ret = report_exact_waits(&exact, r);

	if (ret)
		return ret;
	free(exact.of_group);
	for (size_t i = 0; i < classes->list.count; i++)
		sums[classes->list.items[i].wait] = classes->list.items[i].sum;
	*out = (struct sched_times){0};
	for (int wait = 0; wait < WAIT_COUNT; wait++)
		out->blocked[wait] = off_cpu_without_stack(o, &sums[wait], exact.of_class[wait]);
	return 0;
}

/* The table of functions that is being filled. */
struct function_table {
	struct table t;
	const struct report *report;
	struct report_wait_classes classes;
	bool modules; /* there is a column for them */
};

/* Add a row; module is shown if the table has a column for it. */
static void put_function_row(struct function_table *f, const struct sched_times *times,
			     const struct wait_sum *sum, const char *name, const char *module)
{
	const struct off_cpu *o = f->report->off_cpu->all;

	if (!times->running && !sched_blocked(times))
		return;
	report_sched_duration_cell(&f->t, times->running);
	report_sched_duration_cell(&f->t, sched_blocked(times));
	report_sched_duration_cell(&f->t, sum->count ? (uint64_t)off_cpu_half_width(o, sum) : 0);
	report_sched_blocked_cells(&f->t, times, &f->classes);
	table_cell(&f->t, name);
	if (f->modules)
		table_cell(&f->t, module);
}

static unsigned int function_columns(struct column *columns, const struct report_wait_classes *c,
				     bool modules)
{
	unsigned int count = 3;

	columns[0] = (struct column){"on CPU", STYLE_PLAIN, true, CUT_END, 0};
	columns[1] = (struct column){"waited", STYLE_BOLD, true, CUT_END, 0};
	columns[2] = (struct column){"±", STYLE_DIM, true, CUT_END, 0};
	count += report_sched_blocked_columns(columns + count, c);
	columns[count++] = (struct column){"function", STYLE_PLAIN, false, CUT_NAME,
					   FUNCTION_NAME_COLUMNS - 2};
	if (modules)
		columns[count++] = (struct column){"module", STYLE_DIM, false, CUT_FRONT, 12};
	return count;
}

static void choose_function_classes(const struct off_cpu *o, const struct sched_times *without,
				    unsigned int room, struct report_wait_classes *out)
{
	struct sched_times all = *without, system = function_times(&o->system);

	sched_times_add(&all, &system);
	for (size_t i = 0; i < o->functions.count; i++) {
		struct sched_times one = function_times(&o->functions.items[i]);

		sched_times_add(&all, &one);
	}
	report_sched_choose_classes(out, &all, room);
}

static void put_blocked_function_rows(struct function_table *f, size_t count)
{
	const struct off_cpu *o = f->report->off_cpu->all;
	const struct symbols *symbols = &f->report->symbols;

	for (size_t i = 0; i < count; i++) {
		const struct off_cpu_function *one = &o->functions.items[i];
		struct sched_times times = function_times(one);

		put_function_row(f, &times, &one->own, symbol_name(symbols, one->symbol),
				 module_short_name(symbol_module(symbols, one->symbol)));
	}
}

int report_sched_functions(const struct report *r, const struct screen *to)
{
	const struct off_cpu *o = r->off_cpu->all;
	const struct wait_sum none = {0};
	struct column columns[TABLE_MAX_COLUMNS];
	struct function_table f = {
		.t.columns = columns, .report = r, .modules = to->width >= SCHED_WIDE};
	unsigned int other =
		OTHER_NUMBERS + FUNCTION_NAME_COLUMNS + (f.modules ? FUNCTION_MODULE_COLUMNS : 0);
	struct sched_times without, system = function_times(&o->system);
	size_t all = 0, count;
	int ret = times_without_stack(&without, r);

	if (ret)
		return ret;
	while (all < o->functions.count && off_cpu_function_is_own(&o->functions.items[all]))
		all++;
	count = report_row_limit(r, all, SCHED_FUNCTION_ROWS);
	choose_function_classes(o, &without, to->width > other ? to->width - other : 0, &f.classes);
	f.t.column_count = function_columns(columns, &f.classes, f.modules);
	screen_put(to, STYLE_BOLD,
		   "\nBlocked time by function, the innermost outside of the kernel and the C "
		   "library\n(estimates; ± is half of the 95 % interval)\n");
	put_blocked_function_rows(&f, count);
	put_function_row(&f, &system, &o->system.own, "[none: kernel, C library]", "");
	put_function_row(&f, &without, &none, "[no stack taken]", "");
	return table_finish(&f.t, to, count, all);
}

static void json_put_function_times(struct json *j, const struct report *r,
				    const struct off_cpu_function *f)
{
	const struct off_cpu *o = r->off_cpu->all;

	json_key_uint(j, "running", f->running);
	report_off_cpu_json_sum(j, o, &f->own);
	json_key(j, "blocked");
	json_object(j);
	for (int wait = 0; wait < WAIT_COUNT; wait++) {
		if (!f->own_by[wait].count)
			continue;
		json_key(j, wait ? wait_class_word(wait) : "unknown");
		json_object(j);
		report_off_cpu_json_sum(j, o, &f->own_by[wait]);
		json_object_end(j);
	}
	json_object_end(j);
}

int report_sched_functions_json(struct json *j, const struct report *r)
{
	const struct off_cpu *o = r->off_cpu->all;
	struct sched_times without;
	int ret = times_without_stack(&without, r);

	if (ret)
		return ret;
	json_key(j, "functions");
	json_array(j);
	for (size_t i = 0; i < report_row_limit(r, o->functions.count, 0); i++) {
		const struct off_cpu_function *f = &o->functions.items[i];

		if (!off_cpu_function_is_own(f))
			break;
		json_object(j);
		json_key_text(j, "name", symbol_name(&r->symbols, f->symbol));
		json_key_text(j, "module", symbol_module(&r->symbols, f->symbol));
		json_put_function_times(j, r, f);
		json_object_end(j);
	}
	json_array_end(j);
	json_key(j, "no_function");
	json_object(j);
	json_put_function_times(j, r, &o->system);
	json_object_end(j);
	json_key(j, "no_stack_taken");
	json_object(j);
	for (int wait = 0; wait < WAIT_COUNT; wait++)
		if (without.blocked[wait])
			json_key_uint(j, wait ? wait_class_word(wait) : "unknown",
				      without.blocked[wait]);
	json_object_end(j);
	return 0;
}
