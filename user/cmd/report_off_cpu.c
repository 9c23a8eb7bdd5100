// SPDX-License-Identifier: Apache-2.0
/* Compute the part of a report about waits, and show it as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cmd/report_off_cpu.h"
#include "cmd/report_sched.h"

#define SITE_ROWS 10
#define TABLE_ROWS 10
#define FUNCTION_ROWS 20
#define STACK_BYTES 2048 /* of the text of a stack */
#define STACK_NAME_COLUMNS 60 /* of a function in a line of several */
#define STACK_INDENT 8 /* columns */

static bool is_waiter_selected(const void *context, const struct thread *t)
{
	const struct report_off_cpu *o = context;
	const struct process *p = sched_names_process(&o->names, t->process);

	return filter_selects(o->filter, p, t);
}

int report_off_cpu_make(struct report *r, struct source *samples, const struct source *filter,
			struct error *err)
{
	struct report_off_cpu *o = calloc(1, sizeof(*o));
	struct off_cpu_query q = {
		.profile = r->profile,
		.symbols = &r->symbols,
		.by = r->options->by < SCHED_GROUPS ? (enum group_by)r->options->by : GROUP_PROGRAM,
		.from = r->options->filter.from,
		.to = r->options->filter.to,
		.running = r->options->sched,
		.selected = filter ? is_waiter_selected : NULL,
		.context = o,
	};
	int ret = o ? sched_names_of(&o->names, r->profile) : -ENOMEM;

	if (ret < 0) {
		free(o);
		return error_errno(err, ret, "cannot make the report");
	}
	q.names = &o->names;
	r->off_cpu = o;
	o->filter = filter;
	return off_cpu_read(&o->all, samples, &q, err);
}

void report_off_cpu_free(struct report_off_cpu *o)
{
	if (!o)
		return;
	off_cpu_free(o->all);
	sched_names_free(&o->names);
	free(o);
}

/* Add the blocked times of the rows of one table of the scheduler's part to groups of waits. */
static int add_exact_waits(struct exact_waits *out, const struct report *r, struct names *keys)
{
	enum group_by by =
		r->options->by < SCHED_GROUPS ? (enum group_by)r->options->by : GROUP_PROGRAM;
	const struct off_cpu_table *groups = &r->off_cpu->all->tables[OFF_CPU_GROUPS];
	const struct sched_rows *rows = &r->sched->rows[by];
	uint32_t number;

	for (size_t i = 0; i < groups->list.count; i++) {
		const struct off_cpu_row *row = &groups->list.items[i];

		if (!group_number(keys, by, row->process, row->thread, &number))
			return -ENOMEM;
	}
	for (size_t i = 0; i < rows->order.count; i++) {
		const struct sched_row *row = report_sched_row(rows, i);

		if (!group_number(keys, by, row->process, row->thread, &number))
			return -ENOMEM;
		if (number < groups->list.count)
			out->of_group[number] += sched_blocked(&row->times);
		for (int wait = 0; wait < WAIT_COUNT; wait++)
			out->of_class[wait] += row->times.blocked[wait];
		out->all += sched_blocked(&row->times);
	}
	return 0;
}

int report_exact_waits(struct exact_waits *out, const struct report *r)
{
	size_t count = r->off_cpu->all->tables[OFF_CPU_GROUPS].list.count;
	struct names keys = {0};
	int ret = 0;

	*out = (struct exact_waits){.of_group = calloc(count + 1, sizeof(*out->of_group))};
	if (!out->of_group)
		return -ENOMEM;
	if (r->sched)
		ret = add_exact_waits(out, r, &keys);
	names_free(&keys);
	if (ret < 0)
		free(out->of_group);
	return ret;
}

/* Add the cells of an estimate: the time, half of its interval, the number of stacks. */
static void sum_cells(struct table *t, const struct off_cpu *o, const struct wait_sum *s)
{
	report_sched_duration_cell(t, (uint64_t)wait_sum_total(s));
	report_sched_duration_cell(t, (uint64_t)off_cpu_half_width(o, s));
	report_sched_count_cell(t, s->count);
}

static void share_cell(struct table *t, const struct off_cpu *o, const struct wait_sum *s)
{
	report_sched_share_cell(t, (uint64_t)wait_sum_total(s), (uint64_t)wait_sum_total(&o->sum));
}

/* Classes of which no stack was taken are in no row of the estimates. */
static void put_classes_without_stacks(struct table *t, const struct off_cpu *o,
				       const struct exact_waits *exact)
{
	const struct off_cpu_table *rows = &o->tables[OFF_CPU_CLASSES];
	uint64_t left[WAIT_COUNT];

	memcpy(left, exact->of_class, sizeof(left));
	for (size_t i = 0; i < rows->list.count; i++)
		left[rows->list.items[i].wait] = 0;
	for (int wait = 1; wait < WAIT_COUNT; wait++) {
		if (!left[wait])
			continue;
		report_sched_duration_cell(t, left[wait]);
		for (int empty = 0; empty < 3; empty++)
			table_cell(t, "");
		report_sched_duration_cell(t, left[wait]);
		table_cell(t, wait_class_word((uint64_t)wait));
	}
}

/* Show exact times beside those of stacks, for each class of wait or each group. */
static int put_exact(const struct report *r, const struct screen *to, enum off_cpu_kind kind,
		     const struct exact_waits *exact)
{
	const struct off_cpu *o = r->off_cpu->all;
	const struct off_cpu_table *rows = &o->tables[kind];
	bool classes = kind == OFF_CPU_CLASSES;
	const struct column columns[] = {
		{"waited", STYLE_BOLD, true, CUT_END, 0},
		{"by stacks", STYLE_PLAIN, true, CUT_END, 0},
		{"±", STYLE_DIM, true, CUT_END, 0},
		{"stacks", STYLE_PLAIN, true, CUT_END, 0},
		{"no stack taken", STYLE_WARM, true, CUT_END, 0},
		{classes ? "class of wait"
			 : report_group_word(r->options->by < SCHED_GROUPS
						     ? (unsigned int)r->options->by
						     : GROUP_PROGRAM),
		 STYLE_PLAIN, false, CUT_END, 10},
	};
	struct table t = {.columns = columns, .column_count = 6};
	size_t count = report_row_limit(r, rows->list.count, TABLE_ROWS);

	for (size_t i = 0; i < count; i++) {
		const struct off_cpu_row *row = &rows->list.items[i];
		uint64_t known = classes ? exact->of_class[row->wait] : exact->of_group[i];

		report_sched_duration_cell(&t, known);
		sum_cells(&t, o, &row->sum);
		report_sched_duration_cell(&t, off_cpu_without_stack(o, &row->sum, known));
		table_cell(&t, classes ? wait_class_word(row->wait) : o->groups.items[row->group]);
	}
	if (classes)
		put_classes_without_stacks(&t, o, exact);
	return table_finish(&t, to, count, rows->list.count);
}

static bool is_kernel_node(const struct report *r, uint32_t node)
{
	uint32_t frame = r->off_cpu->all->nodes.items[node].frame;

	return frame != PROFILE_NONE && r->profile->frames[frame].f.kind == FRAME_KERNEL;
}

/*
 * Show a stack as one line, innermost function first. Of the kernel's functions only the innermost
 * is shown, or none if waker is set: all wakers end in the same ones. If there are no others, all
 * are. Return buf, of STACK_BYTES bytes, with clean text.
 */
static const char *show_stack(const struct report *r, const struct screen *to, uint32_t node,
			      bool waker, char *buf)
{
	const struct off_cpu *o = r->off_cpu->all;
	bool kernel_only = true;
	size_t used = 0;

	buf[0] = '\0';
	for (uint32_t at = node; at != OFF_CPU_NONE; at = o->nodes.items[at].caller)
		kernel_only &= is_kernel_node(r, at);
	for (uint32_t at = node; at != OFF_CPU_NONE; at = o->nodes.items[at].caller) {
		char name[512];

		if (!kernel_only && (at != node || waker) && is_kernel_node(r, at))
			continue;
		screen_name(to, symbol_name(&r->symbols, o->nodes.items[at].symbol),
			    to->full_names || to->uncut ? sizeof(name) : STACK_NAME_COLUMNS, name,
			    sizeof(name));
		used = text_append(buf, STACK_BYTES, used, "%s%s", used ? " < " : "", name);
	}
	return buf;
}

static void put_stack_text(const struct report *r, const struct screen *to, uint32_t node,
			   bool waker)
{
	char text[STACK_BYTES];

	fprintf(to->out, "%*s", STACK_INDENT, "");
	screen_put_wrapped(to, STACK_INDENT, STYLE_DIM,
			   node == OFF_CPU_NONE ? "[no stack]"
						: show_stack(r, to, node, waker, text));
}

/* Print "10.3 s ± 0.2 s, 51 %" of a row. */
static void put_estimate(const struct report *r, const struct screen *to, const struct wait_sum *s)
{
	const struct off_cpu *o = r->off_cpu->all;
	char time[64], half[64], share[32], text[256];

	snprintf(text, sizeof(text), "%9s ± %s, %s",
		 show_duration((uint64_t)wait_sum_total(s), time, sizeof(time)),
		 show_duration((uint64_t)off_cpu_half_width(o, s), half, sizeof(half)),
		 show_percent((uint64_t)wait_sum_total(s), (uint64_t)wait_sum_total(&o->sum), share,
			      sizeof(share)));
	screen_put(to, STYLE_BOLD, text);
}

/* Print who ended most of the time of a row, with its share. */
static void put_main_waker(const struct report *r, const struct screen *to,
			   const struct off_cpu_row *row)
{
	const struct off_cpu *o = r->off_cpu->all;
	char name[128], share[32];

	if (row->by.number == OFF_CPU_NONE)
		return;
	text_clean(o->wakers.items[row->by.number], name, sizeof(name));
	fprintf(to->out, ", %s%s (%s)", row->by.number == o->not_ended ? "" : "ended by ", name,
		show_percent(row->by.weight, (uint64_t)wait_sum_total(&row->sum), share,
			     sizeof(share)));
}

/*
 * Print the chain of wakers of a site, if it has more than one link: "worker, which waited in get <
 * [network]". A waker that had waited for the next one, but whose stack was not taken, has no
 * function.
 */
static void put_chain(const struct report *r, const struct screen *to,
		      const struct off_cpu_row *row)
{
	const struct off_cpu *o = r->off_cpu->all;
	const struct off_cpu_chain *chain;
	char text[STACK_BYTES], name[256], share[32];
	size_t used;

	if (row->chain.number == OFF_CPU_NONE || o->chains.items[row->chain.number].count < 2)
		return;
	chain = &o->chains.items[row->chain.number];
	used = text_append(text, sizeof(text), 0, "woken through (%s):",
			   show_percent(row->chain.weight, (uint64_t)wait_sum_total(&row->sum),
					share, sizeof(share)));
	for (uint32_t i = 0; i < chain->count; i++) {
		const struct off_cpu_link *l = &chain->links[i];

		text_clean(o->wakers.items[l->waker], name, sizeof(name));
		used = text_append(text, sizeof(text), used, "%s %s", i ? " <" : "", name);
		if (l->symbol != OFF_CPU_NONE)
			used = text_append(text, sizeof(text), used, ", which waited in %s",
					   screen_name(to, symbol_name(&r->symbols, l->symbol),
						       STACK_NAME_COLUMNS, name, sizeof(name)));
		else if (l->woken)
			used = text_append(text, sizeof(text), used, ", which waited");
	}
	fprintf(to->out, "%*s", STACK_INDENT, "");
	screen_put_wrapped(to, STACK_INDENT, STYLE_PLAIN, text);
}

static void put_more(const struct screen *to, size_t shown, size_t all)
{
	if (shown < all)
		fprintf(to->out, "... and %zu more (--limit 0 shows all)\n", all - shown);
}

static void put_sites(const struct report *r, const struct screen *to)
{
	const struct off_cpu *o = r->off_cpu->all;
	const struct off_cpu_table *sites = &o->tables[OFF_CPU_SITES];
	size_t count = report_row_limit(r, sites->list.count, SITE_ROWS);

	screen_put(to, STYLE_BOLD, "\nWhere threads waited (± is half of the 95 % interval)\n");
	for (size_t i = 0; i < count; i++) {
		const struct off_cpu_row *row = &sites->list.items[i];
		char name[128], waits[32];

		put_estimate(r, to, &row->sum);
		text_clean(o->groups.items[row->group], name, sizeof(name));
		fprintf(to->out, "  %s of %s, %s stack%s", wait_class_word(row->wait), name,
			show_count(row->sum.count, waits, sizeof(waits)),
			row->sum.count == 1 ? "" : "s");
		put_main_waker(r, to, row);
		fputc('\n', to->out);
		put_stack_text(r, to, row->node, false);
		put_chain(r, to, row);
	}
	put_more(to, count, sites->list.count);
}

static void put_locks(const struct report *r, const struct screen *to)
{
	const struct off_cpu *o = r->off_cpu->all;
	const struct off_cpu_table *locks = &o->tables[OFF_CPU_LOCKS];
	size_t count = report_row_limit(r, locks->list.count, TABLE_ROWS);

	if (!count)
		return;
	screen_put(to, STYLE_BOLD, "\nLocks, by process and address\n");
	for (size_t i = 0; i < count; i++) {
		const struct off_cpu_row *row = &locks->list.items[i];
		char name[128];

		put_estimate(r, to, &row->sum);
		text_clean(process_name(row->process), name, sizeof(name));
		fprintf(to->out, "  0x%" PRIx64 " of %s (%" PRIu64 "), %" PRIu32 " thread%s",
			row->address, name, row->process->pid, row->threads,
			row->threads == 1 ? "" : "s");
		put_main_waker(r, to, row);
		fputc('\n', to->out);
		put_stack_text(r, to, o->tables[OFF_CPU_SITES].list.items[row->site.number].node,
			       false);
	}
	put_more(to, count, locks->list.count);
}

static void put_wakers(const struct report *r, const struct screen *to)
{
	const struct off_cpu *o = r->off_cpu->all;
	const struct off_cpu_table *wakers = &o->tables[OFF_CPU_WAKERS];
	size_t count = report_row_limit(r, wakers->list.count, TABLE_ROWS);

	screen_put(to, STYLE_BOLD, "\nWho ended the waits, and its most frequent stack\n");
	for (size_t i = 0; i < count; i++) {
		const struct off_cpu_row *row = &wakers->list.items[i];
		char name[128], waker[128];

		put_estimate(r, to, &row->sum);
		text_clean(o->groups.items[row->group], name, sizeof(name));
		text_clean(o->wakers.items[row->waker], waker, sizeof(waker));
		if (row->waker == o->not_ended)
			fprintf(to->out, "  waits of %s %s\n", name, waker);
		else
			fprintf(to->out, "  %s ended waits of %s\n", waker, name);
		if (row->path.number != OFF_CPU_NONE)
			put_stack_text(r, to, row->path.number, true);
	}
	put_more(to, count, wakers->list.count);
}

static int put_functions(const struct report *r, const struct screen *to)
{
	static const struct column columns[] = {
		{"waited", STYLE_BOLD, true, CUT_END, 0},
		{"share", STYLE_PLAIN, true, CUT_END, 0},
		{"with calls", STYLE_PLAIN, true, CUT_END, 0},
		{"±", STYLE_DIM, true, CUT_END, 0},
		{"stacks", STYLE_PLAIN, true, CUT_END, 0},
		{"function", STYLE_PLAIN, false, CUT_NAME, 24},
		{"module", STYLE_DIM, false, CUT_FRONT, 12},
	};
	const struct off_cpu *o = r->off_cpu->all;
	bool every = r->options->by == BY_FUNCTION; /* also those that only call the others */
	struct table t = {.columns = columns, .column_count = 7};
	size_t all = 0, count;

	while (all < o->functions.count && (every || o->functions.items[all].own.count))
		all++;
	count = report_row_limit(r, all, FUNCTION_ROWS);
	screen_put(to, STYLE_BOLD,
		   "\nFunctions that waited, through the kernel and the C library\n");
	for (size_t i = 0; i < count; i++) {
		const struct off_cpu_function *f = &o->functions.items[i];

		report_sched_duration_cell(&t, (uint64_t)wait_sum_total(&f->own));
		share_cell(&t, o, &f->own);
		sum_cells(&t, o, &f->total);
		table_cell(&t, symbol_name(&r->symbols, f->symbol));
		table_cell(&t, module_short_name(symbol_module(&r->symbols, f->symbol)));
	}
	return table_finish(&t, to, count, all);
}

int report_off_cpu_tables(const struct report *r, const struct screen *to)
{
	struct exact_waits exact;
	int ret;

	if (!r->off_cpu->all->sum.count)
		return 0;
	if (r->options->by == BY_FUNCTION)
		return put_functions(r, to);
	ret = report_exact_waits(&exact, r);
	if (ret)
		return ret;
	ret = put_exact(r, to, OFF_CPU_CLASSES, &exact);
	fputc('\n', to->out);
	if (!ret)
		ret = put_exact(r, to, OFF_CPU_GROUPS, &exact);
	free(exact.of_group);
	put_sites(r, to);
	put_locks(r, to);
	put_wakers(r, to);
	return ret || r->options->by != BY_NOTHING ? ret : put_functions(r, to);
}
