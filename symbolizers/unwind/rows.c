// SPDX-License-Identifier: Apache-2.0
/* Collect functions and their rows, number distinct rules, and sort the layers. */
#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "symbolizers/unwind/rows.h"

#define RULES_MAX 65536
#define SLOTS 1024 /* initial slots of the hash table: a power of two */
/* A program of 500 MB has about 30 million rows of 4 bytes, both here and in the table. */
#define ROWS_MAX (48u << 20)
#define FUNCTIONS_MAX (16u << 20)

/* Return the slot of a rule in the hash table, or the empty slot where the rule belongs. */
static uint32_t *rule_slot(const struct unwind_rows *b, const struct unwind_rule *rule)
{
	uint32_t i = (uint32_t)XXH3_64bits(rule, sizeof(*rule));

	for (;; i++) {
		uint32_t *slot = &b->slots[i & (b->slots_count - 1)];

		if (!*slot || memcmp(&b->rules.items[*slot - 1], rule, sizeof(*rule)) == 0)
			return slot;
	}
}

static int grow_rule_slots(struct unwind_rows *b, uint32_t count)
{
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(b->slots);
	b->slots = slots;
	b->slots_count = count;
	for (size_t i = 0; i < b->rules.count; i++)
		*rule_slot(b, &b->rules.items[i]) = (uint32_t)i + 1;
	return 0;
}

/* Return the number of a rule; UNWIND_RULE_BAD when the numbers (16 bits) or the memory run out. */
static uint32_t number_of_rule(struct unwind_rows *b, const struct unwind_rule *rule)
{
	uint32_t *slot = rule_slot(b, rule);

	if (*slot)
		return *slot - 1;
	if (b->rules.count >= RULES_MAX || vector_push(&b->rules, *rule) < 0 ||
	    (2 * b->rules.count > b->slots_count && grow_rule_slots(b, 2 * b->slots_count) < 0)) {
		b->refused++;
		return UNWIND_RULE_BAD;
	}
	*rule_slot(b, rule) = (uint32_t)b->rules.count;
	return (uint32_t)b->rules.count - 1;
}

int unwind_rows_init(struct unwind_rows *b)
{
	_Static_assert(sizeof(struct unwind_rule) == 16, "rules are compared as bytes");

	*b = (struct unwind_rows){0};
	if (grow_rule_slots(b, SLOTS) < 0 || vector_reserve(&b->rules, 64) < 0)
		return -ENOMEM;
	number_of_rule(b, &(struct unwind_rule){.kind = UNWIND_GAP});
	number_of_rule(b, &(struct unwind_rule){.kind = UNWIND_BAD});
	return 0;
}

void unwind_rows_free(struct unwind_rows *b)
{
	for (int i = 0; i < UNWIND_LAYERS; i++)
		vector_free(&b->layers[i]);
	vector_free(&b->rows);
	vector_free(&b->rules);
	free(b->slots);
	b->slots = NULL;
}

static int push_open_row(struct unwind_rows *b, uint64_t at, uint32_t rule)
{
	uint32_t low = (uint32_t)(at & (UNWIND_PAGE_SIZE - 1));

	if (b->rows.count >= ROWS_MAX)
		return -E2BIG;
	b->at = at;
	b->open->count++;
	return vector_push(&b->rows, UNWIND_ROW(low, rule));
}

int unwind_rows_begin(struct unwind_rows *b, enum unwind_layer layer, uint64_t start, uint64_t end)
{
	struct unwind_extent e = {.start = start, .end = end, .first = (uint32_t)b->rows.count};
	size_t before = b->layers[layer].count;

	if (start >= end || end > INT64_MAX)
		return -EINVAL;
	if (before >= FUNCTIONS_MAX)
		return -E2BIG;
	if (vector_push(&b->layers[layer], e) < 0)
		return -ENOMEM;
	b->open = &b->layers[layer].items[before];
	if (before && (b->open[-1].end > start || b->open[-1].start >= start))
		b->unsorted[layer] = true;
	return push_open_row(b, start, UNWIND_RULE_GAP);
}

int unwind_rows_put(struct unwind_rows *b, uint64_t at, const struct unwind_rule *rule)
{
	uint32_t number = number_of_rule(b, rule), *last = &b->rows.items[b->rows.count - 1];
	int ret = 0;

	if (at < b->at)
		return -EINVAL;
	if (at >= b->open->end || UNWIND_ROW_RULE(*last) == number)
		return 0;
	/* Put a row at the first byte of each page, so that the rows show where pages begin. */
	for (uint64_t page = (b->at >> UNWIND_PAGE_SHIFT) + 1;
	     !ret && page <= at >> UNWIND_PAGE_SHIFT; page++)
		ret = push_open_row(b, page << UNWIND_PAGE_SHIFT,
				    UNWIND_ROW_RULE(b->rows.items[b->rows.count - 1]));
	if (ret)
		return ret;
	if (at > b->at)
		return push_open_row(b, at, number);
	last = &b->rows.items[b->rows.count - 1];
	*last = UNWIND_ROW(UNWIND_ROW_LOW(*last), number);
	return 0;
}

void unwind_rows_mark_bad(struct unwind_rows *b)
{
	uint32_t *first = &b->rows.items[b->open->first];

	*first = UNWIND_ROW(UNWIND_ROW_LOW(*first), UNWIND_RULE_BAD);
	b->rows.count = b->open->first + 1;
	b->open->count = 1;
	b->at = b->open->start;
	b->refused++;
}

int unwind_rows_add(struct unwind_rows *b, enum unwind_layer layer, uint64_t start, uint64_t end,
		    const struct unwind_rule *rule)
{
	int ret = unwind_rows_begin(b, layer, start, end);

	return ret ? ret : unwind_rows_put(b, start, rule);
}

/*
 * Order functions by start, then in the order in which they were added, which the indices of their
 * rows show.
 */
static int by_extent_start(const void *a, const void *b)
{
	const struct unwind_extent *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

void unwind_rows_sort(struct unwind_rows *b)
{
	for (int layer = 0; layer < UNWIND_LAYERS; layer++) {
		struct unwind_extent *e = b->layers[layer].items;
		size_t count = b->layers[layer].count, kept = 0;

		if (!b->unsorted[layer])
			continue;
		qsort(e, count, sizeof(*e), by_extent_start);
		for (size_t i = 0; i < count; i++) {
			if (kept && e[kept - 1].start == e[i].start)
				continue;
			if (kept && e[kept - 1].end > e[i].start)
				e[kept - 1].end = e[i].start;
			e[kept++] = e[i];
		}
		b->layers[layer].count = kept;
		b->unsorted[layer] = false;
	}
}

const struct unwind_extent *unwind_rows_find(const struct unwind_rows *b, enum unwind_layer layer,
					     uint64_t offset)
{
	const struct unwind_extent *e = b->layers[layer].items;
	size_t low = 0, high = b->layers[layer].count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (e[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && offset < e[low - 1].end ? &e[low - 1] : NULL;
}

struct layer_walk {
	struct unwind_rows *rows;
	size_t next[UNWIND_LAYERS];
	unwind_visit *visit;
	void *context;
};

/*
 * Walk from start to end through the functions of a layer; between them, walk through the layer
 * below.
 */
static int walk_layer(struct layer_walk *w, int layer, uint64_t start, uint64_t end)
{
	int ret = 0;

	if (start >= end)
		return 0;
	if (layer < 0)
		return w->visit(w->context, start, end, 0, NULL);
	for (; w->next[layer] < w->rows->layers[layer].count; w->next[layer]++) {
		struct unwind_extent *e = &w->rows->layers[layer].items[w->next[layer]];
		uint64_t until = e->end < end ? e->end : end;

		if (e->end <= start)
			continue;
		if (e->start >= end)
			break;
		if (e->start > start) {
			ret = walk_layer(w, layer - 1, start, e->start);
			start = e->start;
		}
		if (!ret)
			ret = w->visit(w->context, start, until, (enum unwind_layer)layer, e);
		start = until;
		if (ret || start >= end)
			return ret;
	}
	return walk_layer(w, layer - 1, start, end);
}

int unwind_rows_walk(struct unwind_rows *b, uint64_t start, uint64_t end, unwind_visit *visit,
		     void *context)
{
	struct layer_walk w = {.rows = b, .visit = visit, .context = context};

	unwind_rows_sort(b);
	return walk_layer(&w, UNWIND_LAYERS - 1, start, end);
}
