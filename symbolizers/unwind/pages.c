// SPDX-License-Identifier: Apache-2.0
/* Convert functions in layers to the pages and rows of a table in one block of memory. */
#include <errno.h>
#include <string.h>

#include "symbolizers/unwind/rows.h"

/* Maximum number of pages; files with code beyond 4 GiB are refused. */
#define PAGES_MAX 65536
/*
 * Largest gap between functions that counts as padding, in bytes; padding never runs, and compilers
 * align functions to 16 bytes.
 */
#define PADDING_MAX 15

struct page_builder {
	struct unwind_rows *from;
	const uint64_t *wanted; /* page numbers in order; NULL: all pages */
	size_t wanted_count;
	size_t reached; /* index of the first item of wanted that is at or after page at */
	VECTOR(uint32_t) out; /* the table */
	uint64_t first; /* page number */
	uint64_t at; /* number of the page being built */
	uint64_t end; /* number of the page after the last */
	uint32_t pages_at, rows_at; /* indices in out */
	uint32_t rule; /* number of the rule that applies after the last row */
};

static struct unwind_page *current_table_page(struct page_builder *p)
{
	struct unwind_page *all = (struct unwind_page *)&p->out.items[p->pages_at];

	return &all[p->at - p->first];
}

/* Return whether page p->at is wanted. p->at never decreases between calls. */
static bool is_page_wanted(struct page_builder *p)
{
	if (!p->wanted)
		return true;
	while (p->reached < p->wanted_count && p->wanted[p->reached] < p->at)
		p->reached++;
	return p->reached < p->wanted_count && p->wanted[p->reached] == p->at;
}

static int push_page_row(struct page_builder *p, uint32_t low, uint32_t rule)
{
	struct unwind_page *page = current_table_page(p);

	if (!is_page_wanted(p))
		return 0;
	if (!page->count)
		page->first = (uint32_t)(p->out.count - p->rows_at);
	page->count++;
	return vector_push(&p->out, UNWIND_ROW(low, rule));
}

/*
 * Move p->at forward to the last page that begins before offset at, and begin every page on the way
 * with the rule that applies there.
 */
static int fill_pages_before(struct page_builder *p, uint64_t at)
{
	int ret = 0;

	while (!ret && (p->at + 1) << UNWIND_PAGE_SHIFT < at) {
		p->at++;
		if (p->rule != UNWIND_RULE_GAP)
			ret = push_page_row(p, 0, p->rule);
	}
	return ret;
}

/* Add a row: rule applies from file offset at on. */
static int put_page_rule(struct page_builder *p, uint64_t at, uint32_t rule)
{
	uint32_t low = (uint32_t)(at & (UNWIND_PAGE_SIZE - 1));
	int ret = rule == p->rule ? 0 : fill_pages_before(p, at);

	if (ret || rule == p->rule)
		return ret;
	p->at = at >> UNWIND_PAGE_SHIFT;
	p->rule = rule;
	if (low && !current_table_page(p)->count)
		ret = push_page_row(p, 0, UNWIND_RULE_GAP);
	/* A page without code has no rows. */
	if (ret || (!low && rule == UNWIND_RULE_GAP))
		return ret;
	return push_page_row(p, low, rule);
}

/*
 * Put the rows of e from start to end. Then cut e at end, so that a later call for its remaining
 * part does not read these rows again.
 */
static int put_function_rows(struct page_builder *p, uint64_t start, uint64_t end,
			     struct unwind_extent *e)
{
	const uint32_t *rows = &p->from->rows.items[e->first];
	uint64_t at = e->start, next;
	uint32_t i = 0;
	int ret = 0;

	for (;;) {
		uint64_t page = at >> UNWIND_PAGE_SHIFT;

		next = e->end;
		if (i + 1 < e->count)
			next = (page + (UNWIND_ROW_LOW(rows[i + 1]) == 0)) << UNWIND_PAGE_SHIFT |
			       UNWIND_ROW_LOW(rows[i + 1]);
		if (next > start)
			ret = put_page_rule(p, at > start ? at : start, UNWIND_ROW_RULE(rows[i]));
		if (ret || next >= end)
			break;
		at = next;
		i++;
	}
	e->start = at;
	e->first += i;
	e->count -= i;
	return ret;
}

static int put_visited(void *context, uint64_t start, uint64_t end, enum unwind_layer layer,
		       struct unwind_extent *e)
{
	struct page_builder *p = context;

	(void)layer;
	if (e)
		return put_function_rows(p, start, end, e);
	return end - start > PADDING_MAX ? put_page_rule(p, start, UNWIND_RULE_GAP) : 0;
}

/* Set the range of pages, from the start of the first function to the end of the last function. */
static int find_row_pages(struct page_builder *p)
{
	uint64_t start = UINT64_MAX, end = 0;

	unwind_rows_sort(p->from);
	for (int i = 0; i < UNWIND_LAYERS; i++) {
		size_t count = p->from->layers[i].count;
		const struct unwind_extent *e = p->from->layers[i].items;

		if (!count)
			continue;
		start = e[0].start < start ? e[0].start : start;
		end = e[count - 1].end > end ? e[count - 1].end : end;
	}
	if (!end)
		return -ENOENT;
	p->first = start >> UNWIND_PAGE_SHIFT;
	p->at = p->first;
	p->end = ((end - 1) >> UNWIND_PAGE_SHIFT) + 1;
	return p->end - p->first > PAGES_MAX ? -E2BIG : 0;
}

static int begin_table_pages(struct page_builder *p)
{
	size_t rules = p->from->rules.count * sizeof(struct unwind_rule) / sizeof(uint32_t);
	size_t pages = (size_t)(p->end - p->first) * sizeof(struct unwind_page) / sizeof(uint32_t);
	size_t header = sizeof(struct unwind_header) / sizeof(uint32_t);

	if (vector_reserve(&p->out, header + rules + pages + p->from->rows.count + 1) < 0)
		return -ENOMEM;
	memset(p->out.items, 0, (header + rules + pages) * sizeof(uint32_t));
	memcpy(p->out.items + header, p->from->rules.items, rules * sizeof(uint32_t));
	p->pages_at = (uint32_t)(header + rules);
	p->rows_at = (uint32_t)(header + rules + pages);
	p->out.count = p->rows_at;
	return 0;
}

static void finish_table_header(struct page_builder *p)
{
	*(struct unwind_header *)p->out.items = (struct unwind_header){
		.magic = p->wanted ? UNWIND_PAGES_MAGIC : UNWIND_TABLE_MAGIC,
		.version = UNWIND_TABLE_VERSION,
		.first_page = p->first,
		.pages = (uint32_t)(p->end - p->first),
		.rules = (uint32_t)p->from->rules.count,
		.rows = (uint32_t)(p->out.count - p->rows_at),
		.refused = p->from->refused,
	};
}

/* Mark all pages as unmade, except the wanted ones, which have no rows yet. */
static void mark_pages_unmade(struct page_builder *p)
{
	struct unwind_page *page = (struct unwind_page *)&p->out.items[p->pages_at];

	for (uint64_t i = p->first; i < p->end; i++)
		page[i - p->first].count = UNWIND_PAGE_UNMADE;
	for (size_t i = 0; i < p->wanted_count; i++)
		page[p->wanted[i] - p->first].count = 0;
}

static int finish_table_pages(struct page_builder *p, void **out, size_t *out_size)
{
	int ret = begin_table_pages(p);

	if (!ret && p->wanted)
		mark_pages_unmade(p);
	if (!ret)
		ret = unwind_rows_walk(p->from, p->first << UNWIND_PAGE_SHIFT,
				       p->end << UNWIND_PAGE_SHIFT, put_visited, p);
	if (!ret)
		ret = fill_pages_before(p, p->end << UNWIND_PAGE_SHIFT);
	if (!ret && !p->wanted && p->out.count == p->rows_at)
		ret = -ENOENT;
	if (ret) {
		vector_free(&p->out);
		return ret;
	}
	finish_table_header(p);
	*out = p->out.items;
	*out_size = p->out.count * sizeof(uint32_t);
	return 0;
}

int unwind_rows_finish(struct unwind_rows *b, void **out, size_t *out_size)
{
	struct page_builder p = {.from = b, .rule = UNWIND_RULE_GAP};
	int ret = find_row_pages(&p);

	return ret ? ret : finish_table_pages(&p, out, out_size);
}

int unwind_rows_finish_pages(struct unwind_rows *b, const struct unwind_wanted_pages *w, void **out,
			     size_t *out_size)
{
	struct page_builder p = {
		.from = b,
		.wanted = w->pages,
		.wanted_count = w->count,
		.first = w->first,
		.at = w->first,
		.end = w->end,
		.rule = UNWIND_RULE_GAP,
	};

	if (w->end <= w->first || w->end - w->first > PAGES_MAX)
		return -E2BIG;
	unwind_rows_sort(b);
	return finish_table_pages(&p, out, out_size);
}
