/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the unwind tables of files in memory where the BPF walkers find them: a slot per file,
 * rules shared by all files, rows in the arena. The tables stay within a budget: the least recently
 * used table of the user whose tables take the most memory is evicted first.
 */
#ifndef SKEIN_CAPTURE_TABLES_H
#define SKEIN_CAPTURE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/unwind/world.h"
#include "capture/arena.h"
#include "symbolizers/unwind/table.h"

struct tables;

/* Memory shared with the BPF programs: UNWIND_SLOTS_MAX slots, UNWIND_RULES_MAX rules. */
struct tables_memory {
	struct unwind_slot *slots;
	struct unwind_rule *rules;
	/*
	 * The arena. Until tables_free(), any allocation in the arena that needs room evicts
	 * tables.
	 */
	struct arena *arena;
};

int tables_new(struct tables **out, const struct tables_memory *m, struct error *err);
void tables_free(struct tables *t);

const struct tables_memory *tables_get_memory(const struct tables *t);

/* Return a slot for a file whose table is pending; UNWIND_SLOT_NONE if all are in use. */
uint32_t tables_add(struct tables *t);
/*
 * Set the owner of a table; before that, root is the owner. Tables of the user whose tables take
 * the most memory are evicted first.
 */
void tables_set_owner(struct tables *t, uint32_t slot, uint32_t uid);
void tables_remove(struct tables *t, uint32_t slot, uint64_t now);

/*
 * Put a table that has arrived; a table without rows sets the slot to "no table". now: ns. Return
 * 0; after -ENOSPC (the arena has no room for the table) or -ENOMEM the table counts as evicted.
 */
int tables_put(struct tables *t, uint32_t slot, const struct unwind_table *table, uint64_t now);
/*
 * Put some pages of a table that is still pending (unwind_pages_check()). Until the whole table
 * arrives, walks wait for the pages that are unmade. Return 0, also if the slot takes no pages,
 * such as after the whole table; -ENOSPC, -ENOMEM: not all pages were put.
 */
int tables_put_pages(struct tables *t, uint32_t slot, const struct unwind_table *some,
		     uint64_t now);
/* Return whether a walk through a page of a file (offset >> UNWIND_PAGE_SHIFT) has to wait. */
bool tables_page_is_pending(const struct tables *t, uint32_t slot, uint64_t page);
/*
 * Set the state of a slot without a table: the file has no table, its code is generated, or its
 * table is pending or evicted. Frees the table that the slot has. now: ns.
 */
void tables_set_state(struct tables *t, uint32_t slot, enum unwind_table_state state, uint64_t now);

/*
 * Return a slot whose evicted table a walk has needed since, if the table may be put again: there
 * is room for it, or another table has not been used for 10 s. Return 0 if there is none. Sets the
 * slot to pending. now: ns.
 */
uint32_t tables_take_wanted(struct tables *t, uint64_t now);

struct tables_summary {
	uint64_t files; /* files with a table */
	uint64_t rows, rules;
	uint64_t bytes; /* bytes of the arena in use, including the mappings of processes */
	uint64_t memory; /* bytes of the arena */
	/*
	 * evicted: number of evictions; refused: number of invalid function descriptions, counted
	 * once per file
	 */
	uint64_t evicted, refused;
};

void tables_get_summary(const struct tables *t, struct tables_summary *out);

#endif
