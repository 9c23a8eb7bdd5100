// SPDX-License-Identifier: Apache-2.0
/* Make rows of functions, or of groups of samples, in the requested order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "cmd/top_model.h"

static int compare_descending(uint64_t x, uint64_t y)
{
	return (x < y) - (x > y);
}

/* Compare rows; equal rows keep a fixed order, so that they do not move from window to window. */
static int compare_top_rows(const void *a, const void *b, void *context)
{
	const struct top_request *request = context;
	const struct top_row *x = a, *y = b;
	enum top_sort sort = top_view_sort(request->view, request->sort);
	int order = 0;

	if (sort == TOP_BY_MEMORY) /* one more, so that what is not known becomes the least */
		order = compare_descending(x->resident + 1, y->resident + 1);
	if (sort == TOP_BY_SELF)
		order = compare_descending(x->self, y->self);
	if (sort != TOP_BY_NAME && !order)
		order = compare_descending(x->total, y->total);
	if (!order)
		order = strcmp(x->name, y->name);
	if (!order)
		order = x->key < y->key ? -1 : x->key > y->key;
	return request->reverse ? -order : order;
}

static int push_matching_row(struct top_model *m, const struct top_request *request,
			     const struct top_row *row)
{
	if (!top_model_matches(request, row->name, row->module))
		return 0;
	m->matched += row->self;
	return vector_push(&m->rows, *row);
}

static int make_function_rows(struct top_model *m, const struct top_request *request)
{
	int ret = functions_of(&m->functions, &m->tree, &m->symbols);

	for (size_t i = 0; i < m->functions.list.count && !ret; i++) {
		const struct function_cost *f = &m->functions.list.items[i];
		const struct top_row row = {
			.key = top_model_symbol_key(&m->symbols, f->symbol),
			.name = symbol_name(&m->symbols, f->symbol),
			.module = symbol_module(&m->symbols, f->symbol),
			.self = f->self_weight,
			.total = f->total_weight,
			.resident = TOP_RESIDENT_UNKNOWN,
			.symbol = f->symbol,
			.kind = m->kinds.items[f->symbol],
		};

		ret = push_matching_row(m, request, &row);
	}
	return ret;
}

static uint64_t process_group_key(const struct group *g)
{
	const uint64_t numbers[] = {
		g->process->host,
		g->process->pid,
		g->process->born,
		g->thread ? g->thread->tid : 0,
	};

	return XXH3_64bits_withSeed(g->name, strlen(g->name),
				    XXH3_64bits(numbers, sizeof(numbers)));
}

/*
 * Return the row key of a group. A program, container or module is identified by its name,
 * because its first process may be gone in the next window.
 */
static uint64_t group_row_key(enum group_by by, const struct group *g)
{
	const char *more = by == GROUP_PROGRAM ? g->process->container : "";

	if (by == GROUP_PROCESS || by == GROUP_THREAD)
		return process_group_key(g);
	return XXH3_64bits_withSeed(g->name, strlen(g->name), XXH3_64bits(more, strlen(more)));
}

/*
 * Return what distinguishes a process from others with its name: how it was called, or the path of
 * its program, if that says more than the name.
 */
static const char *process_command(const struct process *p, const struct top_process *t)
{
	return t->command && (strcmp(t->command, process_name(p)) != 0 || !*p->exe) ? t->command
										    : p->exe;
}

/* Add what /proc says of a process to its row. */
static void describe_process_row(struct top_model *m, struct top_row *row)
{
	const struct process *p = row->group->process;
	const struct top_process *t = top_processes_get(&m->processes, p);

	row->resident = t->resident;
	row->module = process_command(p, t);
}

static int make_group_rows(struct top_model *m, const struct top_request *request)
{
	enum group_by by = top_view_group(request->view);
	int ret = groups_of(&m->groups, &m->part, m->event, by);

	for (size_t i = 0; i < m->groups.list.count && !ret; i++) {
		const struct group *g = &m->groups.list.items[i];
		struct top_row row = {
			.key = group_row_key(by, g),
			.name = g->name,
			.module = by == GROUP_THREAD ? process_name(g->process) : "",
			.self = g->weight,
			.total = g->weight,
			.resident = TOP_RESIDENT_UNKNOWN,
			.group = g,
		};

		if (by == GROUP_PROCESS)
			describe_process_row(m, &row);
		ret = push_matching_row(m, request, &row);
	}
	return ret;
}

/* Add up the sums by class of wait, or by who ended them. */
static int make_wait_rows(struct top_model *m, const struct top_request *request)
{
	VECTOR(struct top_row) rows = {0};
	struct names keys = {0};
	int ret = 0;

	for (size_t i = 0; i < m->sums.count && !ret; i++) {
		const char *name = top_wait_name(m, request->view, m->waits.items[i]);
		const struct top_row fresh = {
			.key = XXH3_64bits(name, strlen(name)),
			.name = name,
			.module = "",
			.kind = TOP_HEADING,
			.depth = 1, /* the cursor skips headings without depth */
		};
		uint32_t number;

		ret = names_intern_text(&keys, name, &number);
		if (!ret && number == rows.count)
			ret = vector_push(&rows, fresh);
		if (ret)
			continue;
		rows.items[number].self += m->sums.items[i].weight;
		rows.items[number].total += m->sums.items[i].weight;
	}
	for (size_t i = 0; i < rows.count && !ret; i++)
		ret = push_matching_row(m, request, &rows.items[i]);
	vector_free(&rows);
	names_free(&keys);
	return ret;
}

/* Mark the functions that only the path of their module distinguishes. */
static int mark_alike_rows(struct top_model *m)
{
	size_t count = m->rows.count;
	uint32_t *list = calloc(count + 1, sizeof(*list));
	bool *alike = calloc(count + 1, sizeof(*alike));
	int ret = list && alike ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !ret; i++)
		list[i] = m->rows.items[i].symbol;
	if (!ret)
		ret = symbols_find_alike(&m->symbols, list, count, alike);
	for (size_t i = 0; i < count && !ret; i++)
		m->rows.items[i].alike = alike[i];
	free(list);
	free(alike);
	return ret;
}

static int make_flat_rows(struct top_model *m, const struct top_request *request)
{
	int ret;

	if (request->view == TOP_CLASSES || request->view == TOP_WAKERS)
		return make_wait_rows(m, request);
	if (top_view_is_groups(request->view))
		return make_group_rows(m, request);
	ret = make_function_rows(m, request);
	return ret ? ret : mark_alike_rows(m);
}

int top_rows_flat(struct top_model *m, const struct top_request *request)
{
	int ret = make_flat_rows(m, request);

	if (!ret && m->rows.count)
		qsort_r(m->rows.items, m->rows.count, sizeof(*m->rows.items), compare_top_rows,
			(void *)request);
	return ret;
}
