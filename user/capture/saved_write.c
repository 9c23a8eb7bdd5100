// SPDX-License-Identifier: Apache-2.0
/*
 * Writes a walk to a file, with only the words of memory that it read, and the mappings and rows
 * that it used with their neighbours (saved.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "capture/saved.h"

#define STACK_WORDS (WIRE_STACK_BYTES / sizeof(uint64_t))
#define WORDS_PER_LINE 6
#define PC_MASK ((1ULL << WIRE_TAG_SHIFT) - 1)

#define WORD(N, text) [UNWIND_##N] = text,
const char *const saved_kind_words[UNWIND_KIND_COUNT] = {SAVED_KINDS(WORD)};
#undef WORD
#define WORD(N, text) [UNWIND_TABLE_##N] = text,
const char *const saved_state_words[UNWIND_TABLE_GENERATED + 1] = {SAVED_STATES(WORD)};
#undef WORD

#define COUNT_ONE(N, text) +1
_Static_assert(SAVED_KINDS(COUNT_ONE) == UNWIND_KIND_COUNT, "a word for every kind of rule");

/* A row of a table that the walk used, or the row before or after such a row. */
struct used_row {
	uint32_t table;
	uint64_t offset; /* file offset */
	uint32_t rule;
};

struct saved_writing {
	FILE *out;
	const struct finish_world *world;
	const struct ended_stack *stack;
	const struct finished_stack *again;
	const struct unwind_mapping *mappings; /* mappings of world, sorted; NULL: there are none */
	bool *used; /* for each mapping, whether it is written */
	VECTOR(struct used_row) rows;
	/* copy of stack->begin that refers to words[]; possible secrets are replaced */
	struct unfinished_stack begin;
	uint64_t words[STACK_WORDS];
};

static const uint32_t *arena_words(const struct finish_world *world, uint32_t place)
{
	const struct arena_chunk *c = world->chunk(world->context, place >> ARENA_CHUNK_SHIFT);

	return c ? &c->words[place % ARENA_CHUNK_WORDS] : NULL;
}

/* Return how many mappings begin at or before an address. */
static uint32_t mappings_before(const struct saved_writing *w, uint64_t address)
{
	uint32_t low = 0, high = w->world->mapping_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (w->mappings[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return the index of the mapping that holds an address; -1 if none does. */
static int64_t mapping_index(const struct saved_writing *w, uint64_t address)
{
	uint32_t before = w->mappings ? mappings_before(w, address) : 0;

	return before && address < w->mappings[before - 1].end ? (int64_t)before - 1 : -1;
}

/*
 * Return the address that the walker looked up for a frame: an address within the call, or the
 * exact one in the innermost frame.
 */
static uint64_t frame_lookup_address(const struct saved_writing *w, uint32_t frame)
{
	uint64_t word = w->again->frames[frame];
	bool exact = frame ? word >> WIRE_TAG_SHIFT == WIRE_TAG_EXACT : w->stack->begin.at.exact;

	return (word & PC_MASK) - !exact;
}

static bool was_read(const struct saved_writing *w, size_t word)
{
	return w->world->read[word / 64] >> word % 64 & 1;
}

static uint64_t without_secrets(const struct saved_writing *w, uint64_t value)
{
	const struct wire_unfinished *at = &w->stack->begin.at;

	if (!value || value == w->again->pc || value - at->stack <= at->bytes ||
	    mapping_index(w, value) >= 0)
		return value;
	return 1;
}

static void copy_words(struct saved_writing *w,
		       uint64_t (*shown)(const struct saved_writing *, uint64_t))
{
	const struct unfinished_stack *from = &w->stack->begin;
	struct wire_unfinished *at = &w->begin.at;

	w->begin = *from;
	w->begin.stack = w->words;
	at->fp = shown(w, from->at.fp);
	at->base = shown(w, from->at.base);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		at->registers[i] = shown(w, from->at.registers[i]);
	for (size_t i = 0; i < at->bytes / sizeof(uint64_t); i++) {
		uint64_t word;

		memcpy(&word, (const uint64_t *)from->stack + i, sizeof(word));
		w->words[i] = was_read(w, i) ? shown(w, word) : 0;
	}
}

static uint64_t unchanged_value(const struct saved_writing *w, uint64_t value)
{
	(void)w;
	return value;
}

/*
 * Replace possible secrets in the words and registers, unless the walk then has another result.
 * Return 0 or -ENOMEM.
 */
static int leave_out_secrets(struct saved_writing *w)
{
	struct finish_world world = *w->world;
	struct finished_stack *f = malloc(sizeof(*f));
	int ret = -ENOMEM;

	if (!f)
		return ret;
	world.read = NULL;
	copy_words(w, without_secrets);
	ret = finish_stack(f, &world, &w->begin);
	if (ret || f->end != w->again->end || f->count != w->again->count ||
	    memcmp(f->frames, w->again->frames, f->count * sizeof(*f->frames)))
		copy_words(w, unchanged_value);
	free(f);
	return 0;
}

/*
 * Find the row of a table that applies at a file offset. Return its index in *rows, the rows of
 * *page; -1 if the table is not ready or has no such row.
 */
static int64_t find_saved_row(const struct saved_writing *w, uint32_t table, uint64_t offset,
			      const struct unwind_page **page, const uint32_t **rows)
{
	const struct unwind_slot *slot = &w->world->slots[table];
	uint64_t number = (offset >> UNWIND_PAGE_SHIFT) - slot->first_page;
	uint32_t before = 0;

	if (slot->state != UNWIND_TABLE_READY || number >= slot->page_count)
		return -1;
	*page = (const void *)arena_words(w->world, slot->pages + (uint32_t)number * 2);
	*rows = *page ? arena_words(w->world, (*page)->first) : NULL;
	if (!*rows || (*page)->count == UNWIND_PAGE_UNMADE)
		return -1;
	while (before < (*page)->count &&
	       UNWIND_ROW_LOW((*rows)[before]) <= (offset & (UNWIND_PAGE_SIZE - 1)))
		before++;
	return (int64_t)before - 1;
}

/*
 * Add the row of a mapping's table that applies at an address, and the rows before and after it on
 * the same page.
 */
static int collect_used_rows(struct saved_writing *w, const struct unwind_mapping *m, uint64_t pc)
{
	uint64_t offset = pc - m->start + m->offset;
	const struct unwind_page *page;
	const uint32_t *rows;
	int64_t found = find_saved_row(w, m->table, offset, &page, &rows);

	if (found < 0)
		return 0;
	for (int64_t i = found ? found - 1 : 0; i <= found + 1 && i < page->count; i++) {
		const struct used_row row = {
			.table = m->table,
			.offset = (offset & ~(uint64_t)(UNWIND_PAGE_SIZE - 1)) +
				  UNWIND_ROW_LOW(rows[i]),
			.rule = UNWIND_ROW_RULE(rows[i]),
		};

		if (vector_push(&w->rows, row) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int compare_used_rows(const void *a, const void *b)
{
	const struct used_row *one = a, *other = b;

	if (one->table != other->table)
		return one->table < other->table ? -1 : 1;
	return one->offset < other->offset ? -1 : one->offset > other->offset;
}

/*
 * Collect the mappings and rows that the walk used. If the walk ended at an address without a
 * mapping, add the mappings on both sides of that address, provided that there is one below it.
 */
static int collect_used(struct saved_writing *w)
{
	uint32_t count = w->world->mapping_count, before;

	if (!w->mappings)
		return 0;
	w->used = calloc(count, sizeof(*w->used));
	if (!w->used)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->again->count; i++) {
		uint64_t pc = frame_lookup_address(w, i);
		int64_t m = mapping_index(w, pc);

		if (m < 0)
			continue;
		w->used[m] = true;
		if (collect_used_rows(w, &w->mappings[m], pc))
			return -ENOMEM;
	}
	before = w->again->end == END_UNMAPPED ? mappings_before(w, w->again->pc) : 0;
	if (before)
		w->used[before - 1] = true;
	if (before && before < count)
		w->used[before] = true;
	if (w->rows.count)
		qsort(w->rows.items, w->rows.count, sizeof(*w->rows.items), compare_used_rows);
	return 0;
}

/* Return the base name of a mapping's file, with _ for blanks; "-" if the mapping has no file. */
static const char *mapping_file_name(const struct saved_writing *w, size_t mapping, char *buf,
				     size_t size)
{
	const struct object *o = w->stack->space->mappings.items[mapping].object;
	const char *path = o && o->path ? o->path : "-", *slash = strrchr(path, '/');

	return text_clean_but(slash && slash[1] ? slash + 1 : path, " ", '_', buf, size);
}

static void write_begin_lines(const struct saved_writing *w)
{
	const struct wire_unfinished *at = &w->begin.at;
	char name[SAVED_NAME_MAX];

	fprintf(w->out, "skein-stack %d\nmachine %s\nprogram %s\nend %s\n", SAVED_VERSION,
		SAVED_MACHINE, text_clean(w->stack->program, name, sizeof(name)),
		stack_end_word(w->stack->end));
	if (w->stack->count != w->again->count || w->stack->end != w->again->end)
		fprintf(w->out, "# the copied stack ends after %u frames: %s\n", w->again->count,
			stack_end_word(w->again->end));
	fprintf(w->out, "at %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\nregisters",
		(uint64_t)at->pc, (uint64_t)at->sp, (uint64_t)at->fp, (uint64_t)at->base);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		fprintf(w->out, " %" PRIx64, (uint64_t)at->registers[i]);
	fprintf(w->out, "\nstack %" PRIx64 " %u\n", (uint64_t)at->stack, at->bytes);
}

static void write_words_lines(const struct saved_writing *w)
{
	size_t count = w->begin.at.bytes / sizeof(uint64_t), run = 0;

	for (size_t i = 0; i < count; i++) {
		if (!was_read(w, i) || run == WORDS_PER_LINE)
			run = 0;
		if (!was_read(w, i))
			continue;
		if (!run++)
			fprintf(w->out, "words %" PRIx64,
				(uint64_t)w->begin.at.stack + i * sizeof(uint64_t));
		fprintf(w->out, " %" PRIx64, w->words[i]);
		if (run == WORDS_PER_LINE || i + 1 == count || !was_read(w, i + 1))
			fputc('\n', w->out);
	}
}

static void write_row_line(const struct saved_writing *w, const struct used_row *row)
{
	const struct unwind_rule *r = &w->world->rules[row->rule];

	fprintf(w->out, "row %" PRIx64 " %s %d %d %d %d %u %u %u\n", row->offset,
		saved_kind_words[r->kind], r->cfa_offset, r->second, r->fp_offset, r->base_offset,
		r->reg, r->index, r->saved);
}

static void write_table_lines(const struct saved_writing *w, uint32_t table)
{
	const struct used_row *last = NULL;

	fprintf(w->out, "table %u %s\n", table, saved_state_words[w->world->slots[table].state]);
	for (size_t i = 0; i < w->rows.count; i++) {
		const struct used_row *row = &w->rows.items[i];

		if (row->table != table || (last && last->offset == row->offset))
			continue;
		write_row_line(w, row);
		last = row;
	}
}

/* Write the used mappings, and then each of their tables once. */
static void write_mapping_lines(const struct saved_writing *w)
{
	uint32_t count = w->used ? w->world->mapping_count : 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct unwind_mapping *m = &w->mappings[i];
		char name[SAVED_NAME_MAX];

		if (w->used[i])
			fprintf(w->out, "mapping %" PRIx64 " %" PRIx64 " %" PRIx64 " %u %s\n",
				(uint64_t)m->start, (uint64_t)m->end, (uint64_t)m->offset, m->table,
				mapping_file_name(w, i, name, sizeof(name)));
	}
	for (uint32_t i = 0; i < count; i++) {
		bool first = w->used[i];

		for (uint32_t before = 0; first && before < i; before++)
			first = !w->used[before] ||
				w->mappings[before].table != w->mappings[i].table;
		if (first)
			write_table_lines(w, w->mappings[i].table);
	}
}

static void write_frame_lines(const struct saved_writing *w)
{
	for (uint32_t i = 0; i < w->stack->count; i++) {
		uint64_t word = w->stack->frames[i], pc = word & PC_MASK;
		int64_t m = mapping_index(w, pc);
		char name[SAVED_NAME_MAX];

		if (m < 0)
			fprintf(w->out, "frame %" PRIx64 "\n", word);
		else
			fprintf(w->out, "frame %" PRIx64 " %s+%" PRIx64 "\n", word,
				mapping_file_name(w, (size_t)m, name, sizeof(name)),
				pc - (uint64_t)w->mappings[m].start +
					(uint64_t)w->mappings[m].offset);
	}
}

int saved_write(FILE *out, const struct finish_world *world, const struct ended_stack *e,
		const struct finished_stack *again)
{
	struct saved_writing *w = calloc(1, sizeof(*w));
	int ret = -ENOMEM;

	if (!w)
		return ret;
	w->out = out;
	w->world = world;
	w->stack = e;
	w->again = again;
	if (world->mapping_count)
		w->mappings = (const void *)arena_words(world, world->mappings);
	ret = leave_out_secrets(w);
	if (!ret)
		ret = collect_used(w);
	if (!ret) {
		write_begin_lines(w);
		write_words_lines(w);
		write_mapping_lines(w);
		write_frame_lines(w);
	}
	vector_free(&w->rows);
	free(w->used);
	free(w);
	return ret;
}
