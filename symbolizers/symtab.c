// SPDX-License-Identifier: Apache-2.0
/*
 * Build and search tables of symbols. To build a table, ranges are visited in order of their starts
 * while a heap holds the open ranges (begun but not ended), the highest rank on top. Between two
 * events (the start of a range, or the end of the top range) the addresses belong to the top range.
 * n ranges make at most 2n spans in O(n log n).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/client.h"
#include "symbolizers/symtab.h"

void symtab_free(struct symtab *t)
{
	vector_free(&t->ranges);
	vector_free(&t->names);
	vector_free(&t->spans);
	name_blocks_free(t->packed);
	t->packed = NULL;
	symbol_strings_close(&t->outside);
}

const char *symtab_name(const struct symtab *t, uint32_t name, char *buf, size_t size)
{
	if (!(name & SYMBOL_NAME_OUTSIDE))
		return t->names.items + name;
	symbol_strings_copy(&t->outside, name & ~SYMBOL_NAME_OUTSIDE, buf, size);
	return buf;
}

int64_t symtab_add_name(struct symtab *t, const char *name, size_t length)
{
	size_t first = t->names.count ? t->names.count : 1;

	length = strnlen(name, length);
	if (first + length + 1 > SYMBOL_NAMES_MAX)
		return -E2BIG;
	if (vector_reserve(&t->names, length + 2) < 0)
		return -ENOMEM;
	t->names.items[0] = '\0';
	memcpy(t->names.items + first, name, length);
	t->names.items[first + length] = '\0';
	t->names.count = first + length + 1;
	return (int64_t)first;
}

int symtab_add(struct symtab *t, const struct symbol_range *r)
{
	if (r->end <= r->start || r->end - r->start > SYMBOL_SIZE_MAX)
		return 0;
	if (t->ranges.count >= SYMBOLS_MAX)
		return -E2BIG;
	return vector_push(&t->ranges, *r);
}

static int by_range_start(const void *a, const void *b)
{
	const struct symbol_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/*
 * Sort the ranges by start, unless they are already sorted, as those of the kernel and of most
 * files are.
 */
static void sort_ranges(struct symtab *t)
{
	const struct symbol_range *r = t->ranges.items;
	size_t sorted = 1;

	while (sorted < t->ranges.count && r[sorted - 1].start <= r[sorted].start)
		sorted++;
	if (sorted < t->ranges.count)
		qsort(t->ranges.items, t->ranges.count, sizeof(*r), by_range_start);
}

/* A binary heap of the indices of open ranges; the parent of item i is item (i - 1) / 2. */
struct range_heap {
	const struct symbol_range *ranges;
	uint32_t *items;
	size_t count;
};

static bool is_ranked_above(const struct range_heap *h, size_t a, size_t b)
{
	return h->ranges[h->items[a]].rank > h->ranges[h->items[b]].rank;
}

static void heap_swap(struct range_heap *h, size_t a, size_t b)
{
	uint32_t item = h->items[a];

	h->items[a] = h->items[b];
	h->items[b] = item;
}

static void heap_push(struct range_heap *h, uint32_t item)
{
	size_t at = h->count++;

	h->items[at] = item;
	for (; at && is_ranked_above(h, at, (at - 1) / 2); at = (at - 1) / 2)
		heap_swap(h, at, (at - 1) / 2);
}

static void heap_pop(struct range_heap *h)
{
	size_t at = 0, child;

	h->items[0] = h->items[--h->count];
	while ((child = 2 * at + 1) < h->count) {
		if (child + 1 < h->count && is_ranked_above(h, child + 1, child))
			child++;
		if (!is_ranked_above(h, child, at))
			break;
		heap_swap(h, child, at);
		at = child;
	}
}

static int append_span(struct symtab *t, const struct symbol_range *r, uint64_t start, uint64_t end)
{
	struct symbol_span span = {
		.start = start,
		.length = (uint32_t)(end - start),
		.name = r->name,
		.back = (uint32_t)(start - r->start),
		.size = (uint32_t)(r->end - r->start),
	};
	struct symbol_span *last = t->spans.count ? &t->spans.items[t->spans.count - 1] : NULL;

	if (!r->name)
		return 0;
	/* The start of a range of lower rank splits no span: extend the last span. */
	if (last && last->start + last->length == start && last->name == r->name &&
	    last->start - last->back == r->start && last->size == span.size) {
		last->length += span.length;
		return 0;
	}
	return vector_push(&t->spans, span);
}

static int build_spans(struct symtab *t, struct range_heap *open)
{
	const struct symbol_range *ranges = t->ranges.items;
	size_t next = 0;
	uint64_t at = 0;
	int ret = 0;

	while (!ret && (next < t->ranges.count || open->count)) {
		const struct symbol_range *top;
		uint64_t until;

		if (!open->count)
			at = ranges[next].start;
		while (next < t->ranges.count && ranges[next].start <= at)
			heap_push(open, (uint32_t)next++);
		top = &ranges[open->items[0]];
		if (top->end <= at) {
			heap_pop(open);
			continue;
		}
		until = top->end;
		if (next < t->ranges.count && ranges[next].start < until)
			until = ranges[next].start;
		ret = append_span(t, top, at, until);
		at = until;
	}
	return ret;
}

int symtab_build(struct symtab *t)
{
	struct range_heap open = {0};
	int ret;

	t->spans.count = 0;
	if (!t->ranges.count)
		return 0;
	open.items = malloc(t->ranges.count * sizeof(*open.items));
	if (!open.items || vector_reserve(&t->spans, t->ranges.count) < 0) {
		ret = -ENOMEM;
		goto out;
	}
	sort_ranges(t);
	open.ranges = t->ranges.items;
	ret = build_spans(t, &open);
	if (ret < 0)
		t->spans.count = 0;
out:
	free(open.items);
	return ret;
}

void symtab_seal(struct symtab *t)
{
	struct symbol_span *fit;

	vector_free(&t->ranges);
	fit = realloc(t->spans.items, (t->spans.count + 1) * sizeof(*fit));
	if (fit) {
		t->spans.items = fit;
		t->spans.capacity = t->spans.count + 1;
	}
}

bool symtab_find(const struct symtab *t, uint64_t address, struct found_symbol *out)
{
	size_t low = 0, high = t->spans.count;
	const struct symbol_span *p;
	const char *name;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->spans.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	p = &t->spans.items[low - 1];
	if (address - p->start >= p->length)
		return false;
	name = t->packed ? name_blocks_get(t->packed, p->name) : t->names.items + p->name;
	if (!name)
		return false;
	*out = (struct found_symbol){
		.name = name,
		.start = p->start - p->back,
		.size = p->size,
		.flags = SYMBOL_FOUND,
	};
	return true;
}

size_t symtab_bytes(const struct symtab *t)
{
	return t->ranges.capacity * sizeof(*t->ranges.items) + t->names.capacity +
	       t->spans.capacity * sizeof(*t->spans.items) +
	       (t->packed ? name_blocks_bytes(t->packed) : 0);
}
