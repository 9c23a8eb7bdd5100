// SPDX-License-Identifier: Apache-2.0
/*
 * Make some pages of a table before the whole table exists; .eh_frame_hdr shows which functions are
 * in these pages. For each page, the function before the page and the function after the page are
 * added, too, since the rules between functions depend on both neighbors. So a page equals that of
 * the whole table, unless .eh_frame_hdr leaves functions out; the whole table later replaces the
 * pages.
 */
#include <errno.h>
#include <stdlib.h>

#include "symbolizers/go_table.h"
#include "symbolizers/unwind/crt.h"
#include "symbolizers/unwind/index.h"
#include "symbolizers/unwind/paths.h"
#include "symbolizers/unwind/plt.h"
#include "symbolizers/unwind/starts.h"
#include "symbolizers/unwind/table.h"

/*
 * Minimum number of functions in a file with .debug_frame: with fewer, the table may come from
 * .debug_frame, see unwind_cfi_read().
 */
#define FUNCTIONS_FEW 64
/*
 * Undescribed code is searched at most this far before and after a page, in bytes. No pattern has
 * more than UNWIND_CODE_PATTERN_MAX (64).
 */
#define MARGIN UNWIND_PAGE_SIZE

struct requested_pages {
	struct elf_image image;
	struct unwind_source source;
	struct unwind_rows rows;
	struct unwind_cfi *cfi;
	struct unwind_index index;
	uint64_t *pages; /* sorted and distinct */
	size_t count;
	/* numbers of the first page of the whole table, and of the page after its last one */
	uint64_t first, end;
};

static int by_page_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Set first and end to the range of pages of all code, which is the same for all requests for one
 * file.
 */
static void find_code_pages(struct requested_pages *a)
{
	a->first = UINT64_MAX;
	for (size_t i = 0; i < a->source.segments.count; i++) {
		const struct unwind_segment *s = &a->source.segments.items[i];
		uint64_t first = s->offset >> UNWIND_PAGE_SHIFT;
		uint64_t end = ((s->offset + s->size - 1) >> UNWIND_PAGE_SHIFT) + 1;

		a->first = first < a->first ? first : a->first;
		a->end = end > a->end ? end : a->end;
	}
}

/* Sort the requested pages, and drop duplicates and pages without code. */
static int sort_requested_pages(struct requested_pages *a, const uint64_t *pages, size_t count)
{
	find_code_pages(a);
	a->pages = malloc((count ? count : 1) * sizeof(*pages));
	if (!a->pages)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (pages[i] >= a->first && pages[i] < a->end)
			a->pages[a->count++] = pages[i];
	qsort(a->pages, a->count, sizeof(*pages), by_page_number);
	count = a->count;
	a->count = 0;
	for (size_t i = 0; i < count; i++)
		if (!a->count || a->pages[a->count - 1] != a->pages[i])
			a->pages[a->count++] = a->pages[i];
	return a->count ? 0 : -ENOENT;
}

/*
 * Return -ENOENT for Go programs: their functions are in Go's table of functions, not in .eh_frame,
 * and only the whole table has them. Return 0 for other files.
 */
static int refuse_go(const struct requested_pages *a)
{
	struct go_table table;
	int ret = go_table_open(&table, &a->image);

	go_table_close(&table);
	return ret ? 0 : -ENOENT;
}

static int open_function_index(struct requested_pages *a)
{
	struct unwind_cfi_section other;
	int ret = unwind_cfi_open(&a->cfi, &a->rows, &a->source);

	if (!ret)
		ret = unwind_index_open(&a->index, &a->source, unwind_cfi_section(a->cfi));
	if (!ret && a->index.count < FUNCTIONS_FEW &&
	    unwind_cfi_find(&a->source, false, &other) != -ENOENT)
		ret = -ENOENT;
	/* most of the code is described by its paths, which are followed for the whole file */
	return !ret && unwind_is_sparse(&a->source, a->index.count) ? -ENOENT : ret;
}

/*
 * Add the functions that begin between address and end, the function before these and the function
 * after these. Return 0; -EBADMSG: .eh_frame_hdr is wrong; or another negative errno.
 */
static int add_page_functions(struct requested_pages *a, uint64_t address, uint64_t end)
{
	struct unwind_index_entry entry;
	uint64_t i = 0, last = 0;
	int ret = unwind_index_count_before(&a->index, address, &i);

	for (i -= !ret && i; !ret && i < a->index.count; i++) {
		ret = unwind_index_get(&a->index, i, &entry);
		if (!ret && entry.function < last)
			/* the entries are not sorted, so a binary search is not possible */
			ret = -EBADMSG;
		if (!ret)
			ret = unwind_cfi_add(a->cfi, entry.function, entry.description);
		last = entry.function;
		if (last >= end)
			break;
	}
	return ret;
}

/*
 * Add a span in which undescribed code is searched: the page and MARGIN bytes around it, within the
 * segment.
 */
static int add_search_part(struct requested_pages *a, const struct unwind_segment *s,
			   uint64_t start, uint64_t end)
{
	struct unwind_span part = {start, end}, *last = a->source.parts.items;

	part.start -= start - s->offset < MARGIN ? start - s->offset : MARGIN;
	part.end += s->offset + s->size - end < MARGIN ? s->offset + s->size - end : MARGIN;
	if (a->source.parts.count && last[a->source.parts.count - 1].end >= part.start) {
		last[a->source.parts.count - 1].end = part.end;
		return 0;
	}
	return vector_push(&a->source.parts, part);
}

static int add_requested_page(struct requested_pages *a, uint64_t number)
{
	uint64_t page = number << UNWIND_PAGE_SHIFT;
	int ret = 0;

	for (size_t i = 0; !ret && i < a->source.segments.count; i++) {
		const struct unwind_segment *s = &a->source.segments.items[i];
		uint64_t start = page > s->offset ? page : s->offset;
		uint64_t end = page + UNWIND_PAGE_SIZE;

		end = end < s->offset + s->size ? end : s->offset + s->size;
		if (start >= end)
			continue;
		ret = add_page_functions(a, start - s->offset + s->address,
					 end - s->offset + s->address);
		if (!ret)
			ret = add_search_part(a, s, start, end);
	}
	heartbeat_send(a->image.heartbeat);
	return ret;
}

static int make_requested_pages(struct requested_pages *a, void **out, size_t *out_size)
{
	struct unwind_wanted_pages wanted = {a->pages, a->count, a->first, a->end};
	int ret = 0;

	for (size_t i = 0; !ret && i < a->count; i++)
		ret = add_requested_page(a, a->pages[i]);
	if (!ret)
		ret = unwind_crt_add(&a->rows, &a->source);
	if (!ret)
		ret = unwind_plt_add(&a->rows, &a->source);
	if (!ret)
		ret = unwind_starts_add(&a->rows, &a->source);
	return ret ? ret : unwind_rows_finish_pages(&a->rows, &wanted, out, out_size);
}

int unwind_pages_make(void **out, size_t *out_size, const struct stamped_file *file,
		      const struct unwind_page_list *q)
{
	struct requested_pages a = {0};
	void *table = NULL;
	int ret = unwind_rows_init(&a.rows);

	if (!ret)
		ret = elf_image_open(&a.image, file->fd, file->heartbeat);
	if (!ret)
		ret = unwind_source_open(&a.source, &a.image);
	if (!ret)
		ret = sort_requested_pages(&a, q->pages, q->count);
	if (!ret)
		ret = refuse_go(&a);
	if (!ret)
		ret = open_function_index(&a);
	if (!ret)
		ret = make_requested_pages(&a, &table, out_size);
	if (!ret)
		ret = stamp_check(file->fd, &file->stamp);
	if (ret)
		free(table);
	else
		*out = table;
	unwind_cfi_close(a.cfi);
	unwind_rows_free(&a.rows);
	unwind_source_free(&a.source);
	elf_image_close(&a.image);
	free(a.pages);
	return ret;
}
