/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind tables of files, where the kernel side finds them: a slot per
 * file, rules shared by all, rows in the arena. They are kept within a budget:
 * of the user with the most, the one that was used least recently goes first.
 */
#ifndef SKEIN_CAPTURE_TABLES_H
#define SKEIN_CAPTURE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/unwind/world.h"
#include "capture/arena.h"
#include "symbolizers/unwind_table.h"

struct tables;

/* Memory shared with the kernel side: UNWIND_SLOTS_MAX slots, UNWIND_RULES_MAX rules. */
struct tables_memory {
	struct unwind_slot *slots;
	struct unwind_rule *rules;
	/* until tables_free() tables are given up for whatever needs room there */
	struct arena *arena;
};

int tables_new(struct tables **ret, const struct tables_memory *m, struct error *err);
void tables_free(struct tables *t);

const struct tables_memory *tables_memory(const struct tables *t);

/* A slot for a file whose table is to come; UNWIND_SLOT_NONE if there are no more. */
uint32_t tables_add(struct tables *t);
/* For whose sake it is there; root's until then. When room is wanted, who has most gives way. */
void tables_own(struct tables *t, uint32_t slot, uint32_t uid);
void tables_remove(struct tables *t, uint32_t slot, uint64_t now);

/*
 * The table has come; now: ns. 0, or -ENOSPC if it does not fit into the budget, -ENOMEM:
 * then it counts as evicted.
 */
int tables_put(struct tables *t, uint32_t slot, const struct unwind_table *table, uint64_t now);
/*
 * Some pages of a table that is still to come (unwind_pages_check()). Until it does, those that are
 * unmade are waited for. 0, also where nobody waits for them; -ENOSPC, -ENOMEM: not all are put.
 */
int tables_put_pages(struct tables *t, uint32_t slot, const struct unwind_table *some,
		     uint64_t now);
/* Whether a walk that comes through a page of a file (offset >> UNWIND_PAGE_SHIFT) has to wait. */
bool tables_lacks(const struct tables *t, uint32_t slot, uint64_t page);
/* There is none, or it is generated code after all, or another one is to come. */
void tables_set(struct tables *t, uint32_t slot, enum unwind_state state, uint64_t now);
enum unwind_state tables_state(const struct tables *t, uint32_t slot);

/*
 * A slot whose evicted table a walk has wanted and that now may come back, as there is room
 * for it, or others that nobody wanted for long; 0 if there is none.
 */
uint32_t tables_wanted(struct tables *t, uint64_t now);

struct tables_summary {
	uint64_t files; /* with a table */
	uint64_t rows, rules;
	uint64_t bytes;		   /* in use, mappings of processes included */
	uint64_t memory;	   /* of the arena */
	uint64_t evicted, refused; /* tables, each time; what made no sense in files, once */
};

void tables_summary(const struct tables *t, struct tables_summary *ret);

#endif
