// SPDX-License-Identifier: Apache-2.0
/* Puts unwind tables into the arena and evicts them. */
#include "capture/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/vector.h"
#include "capture/clock.h"

/*
 * Rows of several pages are put together up to this size (in words), because short runs of words
 * fit into more places.
 */
#define PIECE_WORDS (1U << 14)
/* Time (ns) without use after which a table may be evicted for another one that is needed again. */
#define COLD (10 * NSEC_PER_SEC)

struct table_piece {
	uint32_t place, words;
};

struct table_info {
	uint32_t rows, refused;
	uint64_t words; /* number of words that the table takes, or would take */
	uint64_t evicted; /* time at which the table was evicted, ns; 0: the table is not evicted */
	uint32_t owner; /* uid of the user whose processes map the file, or OWNER_SHARED */
	bool partial; /* some pages may be unmade; the first piece holds the pages */
	VECTOR(struct table_piece) pieces;
};

#define OWNER_GROUPS 61 /* users are hashed into this many groups */
/* Places of the hash of rule numbers, which is at most half full. */
#define RULE_PLACES (2 * UNWIND_RULES_MAX)

struct tables {
	struct tables_memory memory;
	struct table_info *infos; /* by slot */
	uint32_t slots; /* number of slots ever taken; later slots are free */
	VECTOR(uint32_t) free_slots;
	/* hash table: numbers of the rules; 0 (a fixed rule) marks an empty place */
	uint16_t *numbers;
	uint32_t rule_count;
	uint16_t bad_number; /* number of bad_rule */
	/* the slot whose table is being put, which must not be evicted; 0: none */
	uint32_t filling;
	struct tables_summary summary;
};

static const struct unwind_rule fixed_rules[UNWIND_RULES_FIXED]; /* all UNWIND_GAP */
static const struct unwind_rule bad_rule = {.kind = UNWIND_BAD};

/*
 * Return the place of a rule in the hash table, filled or empty. Rules come from files, which may
 * be made for collisions, so the hash has a seed.
 */
static uint16_t *rule_number_at(const struct tables *t, const struct unwind_rule *rule)
{
	uint64_t i = cache_hash(rule, sizeof(*rule)).low % RULE_PLACES;

	while (t->numbers[i] && memcmp(&t->memory.rules[t->numbers[i]], rule, sizeof(*rule)) != 0)
		i = (i + 1) % RULE_PLACES;
	return &t->numbers[i];
}

/*
 * Return the number of a rule. When all numbers are taken, return that of bad_rule: no frame is
 * better than a wrong one.
 */
static uint16_t rule_number(struct tables *t, const struct unwind_rule *rule)
{
	bool is_gap = memcmp(rule, &fixed_rules[UNWIND_RULE_GAP], sizeof(*rule)) == 0;
	uint16_t *number = rule_number_at(t, rule);

	_Static_assert(UNWIND_RULE_GAP == 0, "no number is that of gaps");
	if (*number || is_gap)
		return *number;
	if (t->rule_count == UNWIND_RULES_MAX)
		return t->bad_number;
	t->memory.rules[t->rule_count] = *rule;
	*number = (uint16_t)t->rule_count++;
	return *number;
}

static void set_slot_state(struct tables *t, uint32_t slot, enum unwind_table_state state)
{
	__atomic_store_n(&t->memory.slots[slot].state, state, __ATOMIC_RELEASE);
}

void tables_set_owner(struct tables *t, uint32_t slot, uint32_t uid)
{
	t->infos[slot].owner = uid;
}

uint32_t tables_add(struct tables *t)
{
	uint32_t slot;

	if (t->free_slots.count)
		slot = t->free_slots.items[--t->free_slots.count];
	else if (t->slots < UNWIND_SLOTS_MAX)
		slot = t->slots++;
	else
		return UNWIND_SLOT_NONE;
	t->infos[slot].refused = 0; /* the slot may have the count of an earlier file */
	t->infos[slot].owner = 0;
	t->memory.slots[slot].used = 0; /* no walk has used the table: it is evicted first */
	set_slot_state(t, slot, UNWIND_TABLE_PENDING);
	return slot;
}

static void free_table(struct tables *t, uint32_t slot, uint64_t now)
{
	struct table_info *info = &t->infos[slot];

	for (size_t i = 0; i < info->pieces.count; i++)
		arena_release(t->memory.arena, info->pieces.items[i].place,
			      info->pieces.items[i].words, now);
	t->summary.files -= info->pieces.count > 0;
	t->summary.rows -= info->rows;
	info->rows = 0;
	info->partial = false;
	vector_free(&info->pieces);
}

void tables_set_state(struct tables *t, uint32_t slot, enum unwind_table_state state, uint64_t now)
{
	if (slot < UNWIND_SLOTS_FIXED)
		return;
	set_slot_state(t, slot, state);
	t->infos[slot].evicted = 0;
	free_table(t, slot, now);
}

void tables_remove(struct tables *t, uint32_t slot, uint64_t now)
{
	if (slot < UNWIND_SLOTS_FIXED)
		return;
	tables_set_state(t, slot, UNWIND_TABLE_NONE, now);
	/* if memory runs out, the slot is not used again */
	(void)vector_push(&t->free_slots, slot);
}

static bool is_table_ready(const struct tables *t, uint32_t slot)
{
	return t->memory.slots[slot].state == UNWIND_TABLE_READY;
}

/*
 * Return whether a table may be evicted: it must be ready, and must not be the table that is being
 * put.
 */
static bool may_evict(const struct tables *t, uint32_t slot)
{
	return is_table_ready(t, slot) && slot != t->filling;
}

/* Return the group of users whose tables take the most words. */
static uint32_t largest_group(const struct tables *t)
{
	uint64_t words[OWNER_GROUPS] = {0};
	uint32_t largest = 0;

	for (uint32_t i = UNWIND_SLOTS_FIXED; i < t->slots; i++)
		if (may_evict(t, i))
			words[t->infos[i].owner % OWNER_GROUPS] += t->infos[i].words;
	for (uint32_t group = 1; group < OWNER_GROUPS; group++)
		if (words[group] > words[largest])
			largest = group;
	return largest;
}

/*
 * Return the slot of the least recently used table in the group of users whose tables take the most
 * words; 0 if there is none. Large files of one user thus do not evict the tables of other groups.
 */
static uint32_t coldest_slot(const struct tables *t)
{
	uint32_t found = 0, group = largest_group(t);

	for (uint32_t i = UNWIND_SLOTS_FIXED; i < t->slots; i++)
		if (may_evict(t, i) && t->infos[i].owner % OWNER_GROUPS == group &&
		    (!found || t->memory.slots[i].used < t->memory.slots[found].used))
			found = i;
	return found;
}

static void evict(struct tables *t, uint32_t slot, uint64_t now)
{
	tables_set_state(t, slot, UNWIND_TABLE_EVICTED, now);
	t->infos[slot].evicted = now;
	t->summary.evicted++;
}

/* An arena_reclaimer: evict one table. Return whether there was one. */
static bool evict_coldest(void *context, uint64_t now)
{
	struct tables *t = context;
	uint32_t victim = coldest_slot(t);

	if (victim)
		evict(t, victim, now);
	return victim != 0;
}

int tables_new(struct tables **out, const struct tables_memory *m, struct error *err)
{
	struct tables *t = calloc(1, sizeof(*t));

	if (t) {
		t->infos = calloc(UNWIND_SLOTS_MAX, sizeof(*t->infos));
		t->numbers = calloc(RULE_PLACES, sizeof(*t->numbers));
	}
	if (!t || !t->infos || !t->numbers) {
		tables_free(t);
		return error_errno(err, -ENOMEM, "unwind tables");
	}
	t->memory = *m;
	memcpy(m->rules, fixed_rules, sizeof(fixed_rules));
	t->rule_count = UNWIND_RULES_FIXED;
	t->bad_number = rule_number(t, &bad_rule);
	m->slots[UNWIND_SLOT_GENERATED].state = UNWIND_TABLE_GENERATED;
	m->slots[UNWIND_SLOT_NONE].state = UNWIND_TABLE_NONE;
	t->slots = UNWIND_SLOTS_FIXED;
	arena_set_reclaimer(m->arena, evict_coldest, t);
	*out = t;
	return 0;
}

void tables_free(struct tables *t)
{
	if (!t)
		return;
	if (t->memory.arena)
		arena_set_reclaimer(t->memory.arena, NULL, NULL);
	for (uint32_t i = 0; i < t->slots; i++)
		vector_free(&t->infos[i].pieces);
	vector_free(&t->free_slots);
	free(t->numbers);
	free(t->infos);
	free(t);
}

const struct tables_memory *tables_get_memory(const struct tables *t)
{
	return &t->memory;
}

/*
 * Allocate room in the arena for the table of a slot; other tables are evicted if the budget is
 * used up. Return its place, 0 if there is no room or no memory for the list of pieces.
 */
static uint32_t take_piece(struct tables *t, uint32_t slot, uint32_t words, uint64_t now)
{
	struct table_piece piece = {.words = words};

	if (vector_reserve(&t->infos[slot].pieces, 1) < 0)
		return 0;
	piece.place = arena_allocate(t->memory.arena, words, now);
	if (piece.place)
		(void)vector_push(&t->infos[slot].pieces, piece);
	return piece.place;
}

/*
 * Return how many pages, from first on, have their rows in one piece; *rows: the sum of their rows.
 */
static uint32_t pages_of_piece(const struct unwind_table *table, uint32_t first, uint32_t *rows)
{
	uint32_t page = first;

	*rows = 0;
	while (page < table->header->pages &&
	       (page == first || *rows + table->pages[page].count <= PIECE_WORDS))
		*rows += table->pages[page++].count;
	return page - first;
}

static void copy_rows(uint32_t *to, const uint32_t *from, uint32_t count, const uint16_t *numbers)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = UNWIND_ROW(UNWIND_ROW_LOW(from[i]), numbers[UNWIND_ROW_RULE(from[i])]);
}

/* A table, or some pages of one, that is being put. */
struct incoming_table {
	const struct unwind_table *table;
	/* for each rule of the table, its number among the rules shared by all files */
	uint16_t *numbers;
	uint32_t slot;
	uint64_t now; /* ns */
};

/*
 * Put the rows of all pages into the arena, and fill pages[], which refer to the rows. Return 0 or
 * -ENOSPC.
 */
static int put_table_rows(struct tables *t, const struct incoming_table *in,
			  struct unwind_page *pages)
{
	const struct unwind_table *table = in->table;
	uint32_t rows, count;

	for (uint32_t page = 0; page < table->header->pages; page += count) {
		uint32_t place = 0;

		count = pages_of_piece(table, page, &rows);
		if (rows) {
			place = take_piece(t, in->slot, rows, in->now);
			if (!place)
				return -ENOSPC;
		}
		for (uint32_t i = page; i < page + count; i++) {
			const struct unwind_page *from = &table->pages[i];

			pages[i] = (struct unwind_page){.first = place, .count = from->count};
			if (!from->count)
				continue;
			copy_rows(arena_at(t->memory.arena, place), table->rows + from->first,
				  from->count, in->numbers);
			place += from->count;
		}
	}
	return 0;
}

static void number_rules(struct tables *t, const struct incoming_table *in)
{
	for (uint32_t i = 0; i < in->table->header->rules; i++)
		in->numbers[i] = rule_number(t, &in->table->rules[i]);
}

static uint64_t table_bytes(const struct tables *t, uint32_t slot)
{
	return t->infos[slot].words * sizeof(uint32_t);
}

/* Return whether the table could fit into an empty arena; false if it has too many pages. */
static bool table_may_fit(const struct tables *t, uint32_t slot)
{
	return t->infos[slot].words && table_bytes(t, slot) <= arena_limit(t->memory.arena);
}

/*
 * Return an upper bound of a table's words: the pages are contiguous, the rows may be in several
 * places; 0 if the table has too many pages.
 */
static uint64_t table_words_max(const struct unwind_table *table)
{
	uint64_t pages = 2ULL * table->header->pages, rows = table->header->rows;
	uint64_t pieces = 2 + 2 * rows / PIECE_WORDS;

	return pages > ARENA_ALLOCATE_MAX ? 0 : pages + rows + pieces * ARENA_UNIT;
}

/*
 * Publish a page whose rows are in place. The page is written at once, so walkers see either the
 * page with its rows or an unmade page.
 */
static void publish_page(struct unwind_page *page, uint32_t first, uint32_t count)
{
	typedef uint64_t __attribute__((may_alias)) page_word;

	__atomic_store_n((page_word *)page, UNWIND_PAGE_WORD(first, count), __ATOMIC_RELEASE);
}

static struct unwind_page *slot_pages(const struct tables *t, uint32_t slot)
{
	return (struct unwind_page *)arena_at(t->memory.arena, t->memory.slots[slot].pages);
}

/*
 * Allocate room for the pages of a table that walkers cannot see yet, and mark the pages as unmade.
 * This is the first piece of the table. Return 0 or -ENOSPC.
 */
static int allocate_pages(struct tables *t, uint32_t slot, const struct unwind_header *h,
			  uint64_t now)
{
	struct unwind_slot *to = &t->memory.slots[slot];
	uint32_t place = take_piece(t, slot, 2 * h->pages, now);

	if (!place)
		return -ENOSPC;
	to->pages = place;
	to->page_count = h->pages;
	to->first_page = h->first_page;
	for (uint32_t i = 0; i < h->pages; i++)
		slot_pages(t, slot)[i] = (struct unwind_page){.count = UNWIND_PAGE_UNMADE};
	t->summary.files++;
	return 0;
}

/*
 * Publish a whole table. Walkers may be reading pages that were put before it, so each page is
 * replaced in place; the caller frees the old rows afterwards.
 */
static void publish_table(struct tables *t, uint32_t slot, const struct unwind_header *h,
			  const struct unwind_page *pages)
{
	const struct unwind_slot *to = &t->memory.slots[slot];
	uint64_t skip = h->first_page - to->first_page;
	struct unwind_page *all = slot_pages(t, slot);

	for (uint64_t i = 0; i < to->page_count; i++) {
		if (i < skip || i - skip >= h->pages)
			publish_page(&all[i], 0, 0);
		else
			publish_page(&all[i], pages[i - skip].first, pages[i - skip].count);
	}
	set_slot_state(t, slot, UNWIND_TABLE_READY);
}

static void count_rows(struct tables *t, uint32_t slot, uint32_t rows)
{
	t->summary.rows += rows - (uint64_t)t->infos[slot].rows;
	t->infos[slot].rows = rows;
}

/*
 * Free the rows of the pages that were put before the whole table: all pieces below count but the
 * first, which holds the pages.
 */
static void free_old_rows(struct tables *t, uint32_t slot, size_t count, uint64_t now)
{
	struct table_info *info = &t->infos[slot];

	for (size_t i = 1; i < count; i++)
		arena_release(t->memory.arena, info->pieces.items[i].place,
			      info->pieces.items[i].words, now);
	info->pieces.count -= count - 1;
	memmove(info->pieces.items + 1, info->pieces.items + count,
		(info->pieces.count - 1) * sizeof(info->pieces.items[0]));
}

static int put_whole_table(struct tables *t, const struct incoming_table *in)
{
	const struct unwind_header *h = in->table->header;
	struct unwind_page *pages = calloc(h->pages, sizeof(*pages));
	uint32_t slot = in->slot;
	size_t old;
	int ret = -ENOMEM;

	if (!pages)
		return ret;
	ret = -ENOSPC;
	/* The eviction of all other tables would not make enough room. */
	if (!table_may_fit(t, slot))
		goto out;
	number_rules(t, in);
	ret = t->infos[slot].partial ? 0 : allocate_pages(t, slot, h, in->now);
	old = t->infos[slot].pieces.count;
	if (!ret)
		ret = put_table_rows(t, in, pages);
	if (ret)
		goto out;
	publish_table(t, slot, h, pages);
	free_old_rows(t, slot, old, in->now);
	count_rows(t, slot, h->rows);
	t->infos[slot].partial = false;
out:
	free(pages);
	return ret;
}

/*
 * Put a table or some pages of one with put_whole_table() or put_some_pages(). The table of this
 * slot is not evicted meanwhile. Return the result of put, or -ENOMEM.
 */
static int put_incoming(struct tables *t, struct incoming_table *in,
			int (*put)(struct tables *t, const struct incoming_table *in))
{
	int ret = -ENOMEM;

	in->numbers = calloc(in->table->header->rules, sizeof(*in->numbers));
	t->filling = in->slot;
	if (in->numbers)
		ret = put(t, in);
	t->filling = 0;
	free(in->numbers);
	return ret;
}

/*
 * Return whether the whole table can replace the pages that were put before: its range of pages
 * must lie within the range of those pages.
 */
static bool continues_pages(const struct tables *t, uint32_t slot, const struct unwind_header *h)
{
	const struct unwind_slot *to = &t->memory.slots[slot];

	return t->infos[slot].partial && h->first_page >= to->first_page &&
	       h->pages <= to->page_count &&
	       h->first_page - to->first_page <= to->page_count - h->pages;
}

int tables_put(struct tables *t, uint32_t slot, const struct unwind_table *table, uint64_t now)
{
	struct incoming_table in = {.table = table, .slot = slot, .now = now};
	int ret;

	if (slot < UNWIND_SLOTS_FIXED)
		return 0;
	if (!table->header->pages || !table->header->rows) {
		tables_set_state(t, slot, UNWIND_TABLE_NONE, now);
		return 0;
	}
	if (!continues_pages(t, slot, table->header))
		tables_set_state(t, slot, UNWIND_TABLE_PENDING, now);
	t->infos[slot].words = table_words_max(table);
	t->summary.refused -= t->infos[slot].refused;
	t->summary.refused += t->infos[slot].refused = table->header->refused;
	ret = put_incoming(t, &in, put_whole_table);
	if (ret) {
		evict(t, slot, now);
		t->memory.slots[slot].used = 0;
	}
	return ret;
}

/* Return whether a page of a partial table is still unmade. */
static bool is_unmade(const struct tables *t, uint32_t slot, uint32_t index)
{
	return slot_pages(t, slot)[index].count == UNWIND_PAGE_UNMADE;
}

static int put_page(struct tables *t, const struct incoming_table *in, uint32_t index)
{
	const struct unwind_page *from = &in->table->pages[index];
	uint32_t place = 0;

	if (from->count) {
		place = take_piece(t, in->slot, from->count, in->now);
		if (!place)
			return -ENOSPC;
		copy_rows(arena_at(t->memory.arena, place), in->table->rows + from->first,
			  from->count, in->numbers);
	}
	publish_page(&slot_pages(t, in->slot)[index], place, from->count);
	t->infos[in->slot].words += from->count + ARENA_UNIT;
	count_rows(t, in->slot, t->infos[in->slot].rows + from->count);
	return 0;
}

static int put_some_pages(struct tables *t, const struct incoming_table *in)
{
	const struct unwind_header *h = in->table->header;
	uint32_t slot = in->slot;
	int ret = 0;

	number_rules(t, in);
	if (!t->infos[slot].partial) {
		ret = allocate_pages(t, slot, h, in->now);
		if (ret)
			return ret;
		t->infos[slot].partial = true;
		t->infos[slot].words = 2ULL * h->pages + ARENA_UNIT;
	}
	for (uint32_t i = 0; !ret && i < h->pages; i++)
		if (in->table->pages[i].count != UNWIND_PAGE_UNMADE && is_unmade(t, slot, i))
			ret = put_page(t, in, i);
	set_slot_state(t, slot, UNWIND_TABLE_READY);
	return ret;
}

static bool may_put_pages(const struct tables *t, uint32_t slot, const struct unwind_header *h)
{
	const struct unwind_slot *to = &t->memory.slots[slot];

	if (slot < UNWIND_SLOTS_FIXED || !h->pages || 2ULL * h->pages > ARENA_ALLOCATE_MAX)
		return false;
	if (t->infos[slot].partial)
		return h->pages == to->page_count && h->first_page == to->first_page;
	return to->state == UNWIND_TABLE_PENDING;
}

int tables_put_pages(struct tables *t, uint32_t slot, const struct unwind_table *some, uint64_t now)
{
	struct incoming_table in = {.table = some, .slot = slot, .now = now};

	return may_put_pages(t, slot, some->header) ? put_incoming(t, &in, put_some_pages) : 0;
}

bool tables_page_is_pending(const struct tables *t, uint32_t slot, uint64_t page)
{
	const struct unwind_slot *s = &t->memory.slots[slot];

	if (slot < UNWIND_SLOTS_FIXED || slot >= UNWIND_SLOTS_MAX)
		return false;
	if (s->state != UNWIND_TABLE_READY || !t->infos[slot].partial)
		return s->state == UNWIND_TABLE_PENDING;
	return page - s->first_page < s->page_count &&
	       is_unmade(t, slot, (uint32_t)(page - s->first_page));
}

/*
 * Return the slot of the table that was evicted longest ago, of those that a walk has needed since
 * their eviction; 0 if there is none. A table that did not fit counts as evicted again, so other
 * tables have their turn before it.
 */
static uint32_t most_wanted(const struct tables *t)
{
	uint32_t found = 0;

	for (uint32_t i = UNWIND_SLOTS_FIXED; i < t->slots; i++)
		if (t->memory.slots[i].state == UNWIND_TABLE_EVICTED &&
		    t->memory.slots[i].used > t->infos[i].evicted && table_may_fit(t, i) &&
		    (!found || t->infos[i].evicted < t->infos[found].evicted))
			found = i;
	return found;
}

uint32_t tables_take_wanted(struct tables *t, uint64_t now)
{
	uint32_t found = most_wanted(t), victim = coldest_slot(t);

	if (!found)
		return 0;
	if (arena_used(t->memory.arena) + table_bytes(t, found) > arena_limit(t->memory.arena) &&
	    (!victim || t->memory.slots[victim].used + COLD > now))
		return 0;
	tables_set_state(t, found, UNWIND_TABLE_PENDING, now);
	return found;
}

void tables_get_summary(const struct tables *t, struct tables_summary *out)
{
	*out = t->summary;
	out->rules = t->rule_count;
	out->bytes = arena_used(t->memory.arena);
	out->memory = arena_size(t->memory.arena);
}
