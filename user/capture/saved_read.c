// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a saved stack into a finish_world of its own. Only the form of rows and rules is checked,
 * not their sense, since tests look for walkers that fail on bad rows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "capture/saved.h"

/*
 * Index in the chunk of the first allocation, a multiple of the alignment of mappings. Index 0
 * means "none".
 */
#define FIRST_PLACE UNWIND_MAPPING_WORDS

struct saved_row {
	uint64_t offset;
	uint16_t rule;
};

struct saved_reading {
	struct saved_stack *to;
	char *at; /* the part of the line that is not parsed yet */
	uint32_t used; /* number of words of the chunk in use */
	uint32_t rules;
	uint32_t table; /* table of the following rows; UINT32_MAX: none */
	VECTOR(struct unwind_mapping) mappings;
	VECTOR(struct saved_row) rows; /* rows of the current table */
	bool versioned, ended;
};

/* Take the next word of the line; "" at its end. */
static char *take_word(struct saved_reading *r)
{
	char *word = r->at + strspn(r->at, " "), *end = word + strcspn(word, " ");

	r->at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static int take_saved_number(struct saved_reading *r, int base, int64_t least, int64_t most,
			     int64_t *out)
{
	const char *word = take_word(r);
	char *end;

	errno = 0;
	*out = strtoll(word, &end, base);
	return errno || end == word || *end || *out < least || *out > most ? -EBADMSG : 0;
}

static int take_hex(struct saved_reading *r, uint64_t *out)
{
	const char *word = take_word(r);
	size_t digits = strspn(word, "0123456789abcdef");

	if (!digits || digits > 16 || word[digits])
		return -EBADMSG;
	*out = strtoull(word, NULL, 16);
	return 0;
}

static int take_choice(struct saved_reading *r, const char *const *words, size_t count,
		       uint32_t *out)
{
	const char *word = take_word(r);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, words[i])) {
			*out = (uint32_t)i;
			return 0;
		}
	return -EBADMSG;
}

/* Allocate words of the chunk, aligned. Return their place, or 0 if there is no room. */
static uint32_t take_chunk_words(struct saved_reading *r, uint64_t words, uint32_t alignment)
{
	uint32_t place = (r->used + alignment - 1) / alignment * alignment;

	if (words > ARENA_CHUNK_WORDS || place + words > ARENA_CHUNK_WORDS)
		return 0;
	r->used = place + (uint32_t)words;
	return place;
}

static int parse_version_line(struct saved_reading *r)
{
	int64_t version;

	if (take_saved_number(r, 10, SAVED_VERSION, SAVED_VERSION, &version))
		return -EBADMSG;
	r->versioned = true;
	return 0;
}

static int parse_machine_line(struct saved_reading *r)
{
	return strcmp(take_word(r), SAVED_MACHINE) ? -ENOEXEC : 0;
}

static int parse_program_line(struct saved_reading *r)
{
	text_clean(r->at, r->to->program, sizeof(r->to->program));
	return 0;
}

static int parse_end_line(struct saved_reading *r)
{
	for (uint64_t end = 0; end < END_COUNT; end++)
		if (!strcmp(r->at, stack_end_word(end))) {
			r->to->end = (enum stack_end)end;
			r->ended = true;
			return 0;
		}
	return -EBADMSG;
}

static int parse_at_line(struct saved_reading *r)
{
	struct wire_unfinished *at = &r->to->begin.at;
	uint64_t pc, sp, fp, base;

	if (take_hex(r, &pc) || take_hex(r, &sp) || take_hex(r, &fp) || take_hex(r, &base))
		return -EBADMSG;
	at->pc = pc;
	at->sp = sp;
	at->fp = fp;
	at->base = base;
	return 0;
}

static int parse_registers_line(struct saved_reading *r)
{
	for (int i = 0; i < UNWIND_REGISTERS; i++) {
		uint64_t value;

		if (take_hex(r, &value))
			return -EBADMSG;
		r->to->begin.at.registers[i] = value;
	}
	return 0;
}

static int parse_stack_line(struct saved_reading *r)
{
	struct wire_unfinished *at = &r->to->begin.at;
	uint64_t address;
	int64_t bytes;

	if (take_hex(r, &address) || take_saved_number(r, 10, 0, WIRE_STACK_BYTES, &bytes))
		return -EBADMSG;
	at->stack = address;
	at->bytes = (uint32_t)bytes;
	return 0;
}

static int parse_words_line(struct saved_reading *r)
{
	const struct wire_unfinished *at = &r->to->begin.at;
	uint64_t offset;

	if (take_hex(r, &offset))
		return -EBADMSG;
	for (offset -= at->stack; *r->at; offset += sizeof(uint64_t))
		if (offset >= at->bytes || offset % sizeof(uint64_t) ||
		    take_hex(r, &r->to->stack[offset / sizeof(uint64_t)]))
			return -EBADMSG;
	return 0;
}

static int parse_mapping_line(struct saved_reading *r)
{
	struct unwind_mapping m = {0};
	uint64_t start, end, offset;
	int64_t table;

	if (take_hex(r, &start) || take_hex(r, &end) || take_hex(r, &offset) ||
	    take_saved_number(r, 10, 0, UNWIND_SLOTS_MAX - 1, &table))
		return -EBADMSG;
	m.start = start;
	m.end = end;
	m.offset = offset;
	m.table = (uint32_t)table;
	return vector_push(&r->mappings, m);
}

/*
 * Write the pages and rows of the table of the last "table" line into the chunk, as walkers read
 * them. Return 0, or -EBADMSG if the chunk has no room.
 */
static int put_saved_table(struct saved_reading *r)
{
	struct unwind_slot *slot = &r->to->slots[r->table == UINT32_MAX ? 0 : r->table];
	struct unwind_page *pages, *page = NULL;
	uint32_t first;
	uint64_t count;

	if (!r->rows.count)
		return 0;
	slot->first_page = r->rows.items[0].offset >> UNWIND_PAGE_SHIFT;
	count = (r->rows.items[r->rows.count - 1].offset >> UNWIND_PAGE_SHIFT) - slot->first_page +
		1;
	slot->pages = take_chunk_words(r, 2 * count, 2);
	first = take_chunk_words(r, r->rows.count, 1);
	if (!slot->pages || !first)
		return -EBADMSG;
	slot->page_count = (uint32_t)count;
	pages = (struct unwind_page *)&r->to->chunk.words[slot->pages];
	for (uint32_t i = 0; i < r->rows.count; i++) {
		const struct saved_row *row = &r->rows.items[i];
		uint64_t number = (row->offset >> UNWIND_PAGE_SHIFT) - slot->first_page;

		if (page != &pages[number]) {
			page = &pages[number];
			page->first = first + i;
		}
		page->count++;
		r->to->chunk.words[first + i] =
			UNWIND_ROW(row->offset & (UNWIND_PAGE_SIZE - 1), row->rule);
	}
	r->rows.count = 0;
	return 0;
}

static int parse_table_line(struct saved_reading *r)
{
	int64_t table;
	uint32_t state;
	int ret = put_saved_table(r);

	if (!ret)
		ret = take_saved_number(r, 10, 0, UNWIND_SLOTS_MAX - 1, &table);
	if (!ret)
		ret = take_choice(r, saved_state_words, UNWIND_TABLE_GENERATED + 1, &state);
	if (ret)
		return ret;
	/* A table that occurs twice would have rows in two places. */
	if (r->to->slots[table].page_count)
		return -EBADMSG;
	r->table = (uint32_t)table;
	r->to->slots[table].state = state;
	return 0;
}

static int take_rule(struct saved_reading *r, struct unwind_rule *out)
{
	int64_t cfa, second, fp, base, reg, index, saved;
	uint32_t kind;

	if (take_choice(r, saved_kind_words, UNWIND_KIND_COUNT, &kind) ||
	    take_saved_number(r, 10, INT32_MIN, INT32_MAX, &cfa) ||
	    take_saved_number(r, 10, INT32_MIN, INT32_MAX, &second) ||
	    take_saved_number(r, 10, INT16_MIN, INT16_MAX, &fp) ||
	    take_saved_number(r, 10, INT16_MIN, INT16_MAX, &base) ||
	    take_saved_number(r, 10, 0, UINT8_MAX, &reg) ||
	    take_saved_number(r, 10, 0, UINT8_MAX, &index) ||
	    take_saved_number(r, 10, 0, UINT8_MAX, &saved))
		return -EBADMSG;
	*out = (struct unwind_rule){
		.cfa_offset = (int32_t)cfa,
		.second = (int32_t)second,
		.fp_offset = (int16_t)fp,
		.base_offset = (int16_t)base,
		.kind = (uint8_t)kind,
		.reg = (uint8_t)reg,
		.index = (uint8_t)index,
		.saved = (uint8_t)saved,
	};
	return 0;
}

static int parse_row_line(struct saved_reading *r)
{
	struct saved_row row = {.rule = (uint16_t)r->rules};

	if (r->table == UINT32_MAX || r->rules >= UNWIND_RULES_MAX || take_hex(r, &row.offset) ||
	    (r->rows.count && row.offset <= r->rows.items[r->rows.count - 1].offset) ||
	    take_rule(r, &r->to->rules[r->rules]))
		return -EBADMSG;
	r->rules++;
	return vector_push(&r->rows, row);
}

static int parse_frame_line(struct saved_reading *r)
{
	if (r->to->count >= WIRE_MAX_USER)
		return -EBADMSG;
	return take_hex(r, &r->to->frames[r->to->count++]);
}

static const struct {
	const char *word;
	int (*read)(struct saved_reading *r);
} lines[] = {
	{"skein-stack", parse_version_line},
	{"machine", parse_machine_line},
	{"program", parse_program_line},
	{"end", parse_end_line},
	{"at", parse_at_line},
	{"registers", parse_registers_line},
	{"stack", parse_stack_line},
	{"words", parse_words_line},
	{"mapping", parse_mapping_line},
	{"table", parse_table_line},
	{"row", parse_row_line},
	{"frame", parse_frame_line},
};

static int parse_saved_line(struct saved_reading *r, char *line)
{
	const char *word;

	if (!*line || *line == '#')
		return 0;
	r->at = line;
	word = take_word(r);
	if (!r->versioned && strcmp(word, lines[0].word))
		return -EBADMSG;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strcmp(word, lines[i].word))
			return lines[i].read(r);
	return -EBADMSG;
}

/* Write the last table and the mappings into the chunk, after all lines were read. */
static int put_world(struct saved_reading *r)
{
	struct finish_world *world = &r->to->world;
	size_t words = r->mappings.count * UNWIND_MAPPING_WORDS;
	int ret = put_saved_table(r);

	if (ret || !r->ended)
		return -EBADMSG;
	if (!words)
		return 0;
	world->mappings = take_chunk_words(r, words, UNWIND_MAPPING_WORDS);
	if (!world->mappings)
		return -EBADMSG;
	world->mapping_count = (uint32_t)r->mappings.count;
	memcpy(&r->to->chunk.words[world->mappings], r->mappings.items,
	       r->mappings.count * sizeof(*r->mappings.items));
	return 0;
}

static const struct arena_chunk *only_chunk(const void *context, uint32_t number)
{
	return number ? NULL : context;
}

static struct saved_stack *saved_new(void)
{
	struct saved_stack *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->begin.at.exact = s->begin.at.known = 1;
	s->begin.stack = s->stack;
	s->world = (struct finish_world){
		.slots = s->slots,
		.rules = s->rules,
		.chunk = only_chunk,
		.context = &s->chunk,
	};
	return s;
}

/* Parse text, which must end with a NUL; cuts it into lines. */
static int parse_saved_lines(struct saved_reading *r, char *text, struct error *err)
{
	unsigned int number = 1;
	int ret = 0;

	for (char *line = text, *next; line; line = next, number++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		ret = parse_saved_line(r, line);
		if (ret == -ENOEXEC)
			return error_set(err, ret, "a stack of another architecture");
		if (ret)
			return error_errno(err, ret, "line %u", number);
	}
	ret = put_world(r);
	return ret ? error_errno(err, ret, "the stack") : 0;
}

int saved_read(struct saved_stack **out, const char *text, size_t size, struct error *err)
{
	struct saved_reading r = {
		.to = saved_new(),
		.used = FIRST_PLACE,
		.rules = UNWIND_RULES_FIXED,
		.table = UINT32_MAX,
	};
	char *copy = strndup(text, size);
	int ret;

	if (!r.to || !copy)
		ret = error_errno(err, -ENOMEM, "saved stack");
	else
		ret = parse_saved_lines(&r, copy, err);
	if (ret)
		free(r.to);
	else
		*out = r.to;
	vector_free(&r.mappings);
	vector_free(&r.rows);
	free(copy);
	return ret;
}

bool saved_agrees(const struct saved_stack *s, const struct finished_stack *f)
{
	return f->count == s->count && f->end == s->end &&
	       !memcmp(f->frames, s->frames, f->count * sizeof(*f->frames));
}
