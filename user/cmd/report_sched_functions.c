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

static void put_function_row(struct table *t, const struct report *r,
			     const struct sched_times *times, const struct wait_sum *sum,
			     const struct report_wait_classes *c)
{
	report_sched_duration_cell(t, times->running);
	report_sched_duration_cell(t, sched_blocked(times));
	report_sched_duration_cell(
		t, sum->count ? (uint64_t)off_cpu_half_width(r->off_cpu->all, sum) : 0);
	report_sched_blocked_cells(t, times, c);
}

static void put_pseudo_row(struct table *t, const struct report *r, const struct sched_times *times,
			   const struct wait_sum *sum, const struct report_wait_classes *c,
			   const char *name)
{
	if (!times->running && !sched_blocked(times))
		return;
	put_function_row(t, r, times, sum, c);
	table_cell(t, name);
	if (t->columns[t->column_count - 1].keep_tail)
		table_cell(t, "");
}

static unsigned int function_columns(struct column *columns, const struct report_wait_classes *c,
				     bool modules)
{
	unsigned int count = 3;

	columns[0] = (struct column){"on CPU", STYLE_PLAIN, true, false, 0};
	columns[1] = (struct column){"waited", STYLE_BOLD, true, false, 0};
	columns[2] = (struct column){"±", STYLE_DIM, true, false, 0};
	count += report_sched_blocked_columns(columns + count, c);
	columns[count++] =
		(struct column){"function", STYLE_PLAIN, false, false, FUNCTION_NAME_COLUMNS - 2};
	if (modules)
		columns[count++] = (struct column){"module", STYLE_DIM, false, true, 12};
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

int report_sched_functions(const struct report *r, const struct screen *to)
{
	const struct off_cpu *o = r->off_cpu->all;
	struct column columns[TABLE_MAX_COLUMNS];
	struct table t = {.columns = columns};
	bool modules = to->width >= SCHED_WIDE;
	unsigned int names = FUNCTION_NAME_COLUMNS + (modules ? FUNCTION_MODULE_COLUMNS : 0);
	struct sched_times without, system = function_times(&o->system);
	struct report_wait_classes c;
	size_t all = 0, count;
	int ret = times_without_stack(&without, r);

	if (ret)
		return ret;
	while (all < o->functions.count && off_cpu_function_is_own(&o->functions.items[all]))
		all++;
	count = report_row_limit(r, all, SCHED_FUNCTION_ROWS);
	choose_function_classes(o, &without, to->width - OTHER_NUMBERS - names, &c);
	t.column_count = function_columns(columns, &c, modules);
	screen_put(to, STYLE_BOLD,
		   "\nBlocked time by function, the innermost outside of the kernel and the C "
		   "library\n(estimates; ± is half of the 95 % interval)\n");
	for (size_t i = 0; i < count; i++) {
		const struct off_cpu_function *f = &o->functions.items[i];
		struct sched_times times = function_times(f);

		put_function_row(&t, r, &times, &f->own, &c);
		table_cell(&t, symbol_name(&r->symbols, f->symbol));
		if (modules)
			table_cell(&t, module_short_name(symbol_module(&r->symbols, f->symbol)));
	}
	put_pseudo_row(&t, r, &system, &o->system.own, &c, "[none: kernel, C library]");
	put_pseudo_row(&t, r, &without, &(struct wait_sum){0}, &c, "[no stack taken]");
	return table_finish(&t, to, count, all);
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
