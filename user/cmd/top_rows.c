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
	int order = 0;

	if (request->sort == TOP_BY_SELF)
		order = compare_descending(x->self, y->self);
	if (request->sort != TOP_BY_NAME && !order)
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

static int make_group_rows(struct top_model *m, const struct top_request *request)
{
	enum group_by by = top_view_group(request->view);
	int ret = groups_of(&m->groups, &m->part, m->event, by);

	for (size_t i = 0; i < m->groups.list.count && !ret; i++) {
		const struct group *g = &m->groups.list.items[i];
		const struct top_row row = {
			.key = group_row_key(by, g),
			.name = g->name,
			.module = by == GROUP_THREAD	? process_name(g->process)
				  : by == GROUP_PROCESS ? g->process->exe
							: "",
			.self = g->weight,
			.total = g->weight,
			.group = g,
		};

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

static int make_flat_rows(struct top_model *m, const struct top_request *request)
{
	if (request->view == TOP_CLASSES || request->view == TOP_WAKERS)
		return make_wait_rows(m, request);
	return top_view_is_groups(request->view) ? make_group_rows(m, request)
						 : make_function_rows(m, request);
}

int top_rows_flat(struct top_model *m, const struct top_request *request)
{
	int ret = make_flat_rows(m, request);

	if (!ret && m->rows.count)
		qsort_r(m->rows.items, m->rows.count, sizeof(*m->rows.items), compare_top_rows,
			(void *)request);
	return ret;
}
