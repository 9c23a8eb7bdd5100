/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that walkers use (world.h) in plain memory, and unwind tables written row by row. */
#ifndef SKEIN_TESTS_WORLD_H
#define SKEIN_TESTS_WORLD_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/unwind/world.h"
#include "capture/arena.h"
#include "capture/finish.h"
#include "capture/tables.h"
#include "suite.h"
#include "symbolizers/unwind/table.h"

#define WORLD_CHUNKS 64

struct world {
	struct unwind_slot *slots;
	struct unwind_rule *rules;
	struct arena *arena;
	struct tables *tables;
	uint32_t *chunks[WORLD_CHUNKS];
	uint32_t count; /* number of chunks */
	int refuse; /* error that world_chunk() returns; 0: none */
};

static inline int world_chunk(void *context, uint32_t number, uint32_t **ret)
{
	struct world *w = context;

	if (w->refuse)
		return w->refuse;
	ck_assert_uint_eq(number, w->count);
	ck_assert_uint_lt(number, WORLD_CHUNKS);
	*ret = w->chunks[w->count++] = malloc(sizeof(struct arena_chunk));
	ck_assert_ptr_nonnull(*ret);
	memset(*ret, 0xa5, sizeof(struct arena_chunk)); /* chunks need not be zeroed */
	return 0;
}

static inline struct world *world_new(uint64_t bytes)
{
	struct world *w = calloc(1, sizeof(*w));
	struct tables_memory m;

	w->slots = calloc(UNWIND_SLOTS_MAX, sizeof(*w->slots));
	w->rules = calloc(UNWIND_RULES_MAX, sizeof(*w->rules));
	w->arena = arena_new(bytes, world_chunk, w);
	m = (struct tables_memory){w->slots, w->rules, w->arena};
	ck_assert_int_eq(tables_new(&w->tables, &m, NULL), 0);
	return w;
}

static inline void world_free(struct world *w)
{
	tables_free(w->tables);
	arena_free(w->arena);
	for (uint32_t i = 0; i < w->count; i++)
		free(w->chunks[i]);
	free(w->slots);
	free(w->rules);
	free(w);
}

static inline const struct arena_chunk *world_chunk_of(const void *context, uint32_t number)
{
	const struct world *w = context;

	return number < w->count ? (const void *)w->chunks[number] : NULL;
}

/* The view of an address space with these mappings. */
static inline struct finish_world world_view(struct world *w, const struct unwind_mapping *m,
					     uint32_t count)
{
	struct finish_world f = {
		.slots = w->slots,
		.rules = w->rules,
		.chunk = world_chunk_of,
		.context = w,
		.mappings = arena_allocate(w->arena, count * UNWIND_MAPPING_WORDS, 0),
		.mapping_count = count,
	};

	ck_assert_uint_ne(f.mappings, 0);
	memcpy(arena_at(w->arena, f.mappings), m, count * sizeof(*m));
	return f;
}

/* A row of an unwind table: the rule that holds from a file offset on. */
struct row {
	uint64_t offset;
	uint16_t rule;
};

/* Pseudo-rule for pages without rows; such a range begins and ends at the begin of a page. */
#define NO_ROWS UINT16_MAX

static inline uint32_t fill_pages(struct unwind_page *pages, uint32_t *to, uint32_t page_count,
				  const struct row *rows, size_t count)
{
	uint64_t page = rows[0].offset >> UNWIND_PAGE_SHIFT;
	uint32_t at = 0;
	size_t i = 0;

	for (uint32_t p = 0; p < page_count; p++, page++) {
		pages[p].first = at;
		if (i && rows[i].offset != page << UNWIND_PAGE_SHIFT && rows[i - 1].rule != NO_ROWS)
			to[at++] = UNWIND_ROW(0, rows[i - 1].rule);
		for (; i < count && rows[i].offset >> UNWIND_PAGE_SHIFT == page; i++)
			if (rows[i].rule != NO_ROWS)
				to[at++] = UNWIND_ROW(rows[i].offset, rows[i].rule);
		pages[p].count = at - pages[p].first;
	}
	return at;
}

/* Build a table from ordered rows; the first row begins a page. The caller frees t.header. */
static inline struct unwind_table build_table(const struct row *rows, size_t count,
					      const struct unwind_rule *rules, uint32_t rule_count)
{
	uint64_t first = rows[0].offset >> UNWIND_PAGE_SHIFT;
	uint32_t pages = (uint32_t)((rows[count - 1].offset >> UNWIND_PAGE_SHIFT) - first + 1);
	size_t rule_bytes = rule_count * sizeof(*rules);
	size_t page_bytes = pages * sizeof(struct unwind_page);
	size_t fixed = sizeof(struct unwind_header) + rule_bytes + page_bytes;
	char *bytes = malloc(fixed + (count + pages) * sizeof(uint32_t));
	struct unwind_header *h = (struct unwind_header *)bytes;
	struct unwind_table t;

	*h = (struct unwind_header){
		.magic = UNWIND_TABLE_MAGIC,
		.version = UNWIND_TABLE_VERSION,
		.first_page = first,
		.pages = pages,
		.rules = rule_count,
	};
	memcpy(bytes + sizeof(*h), rules, rule_bytes);
	h->rows = fill_pages((void *)(bytes + sizeof(*h) + rule_bytes), (void *)(bytes + fixed),
			     pages, rows, count);
	ck_assert_int_eq(unwind_table_check(&t, bytes, fixed + h->rows * sizeof(uint32_t)), 0);
	return t;
}

#endif
