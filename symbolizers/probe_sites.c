// SPDX-License-Identifier: Apache-2.0
/* Find the places of a file at which probes can be attached, and check such a list. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/probe_finder.h"

#define PATTERN_SITES_MAX 64 /* of one pattern */

_Static_assert(PROBE_OPERANDS_MAX == PROBE_ARGUMENTS_MAX, "one number in two rooms");

static const struct {
	const char *text;
	bool slow;
} instructions[] = {
#define INSTRUCTION_ENTRY(N, text, slow) {text, slow},
	PROBE_INSTRUCTIONS(INSTRUCTION_ENTRY)};

const char *probe_instruction_text(unsigned int instruction)
{
	return instruction < PROBE_INSTRUCTION_COUNT ? instructions[instruction].text : "?";
}

bool probe_instruction_is_slow(unsigned int instruction)
{
	return instruction >= PROBE_INSTRUCTION_COUNT || instructions[instruction].slow;
}

const char *probe_refusal_text(unsigned int refusal)
{
	static const char *const texts[] = {
#define REFUSAL_TEXT(N, text) text,
		PROBE_REFUSALS(REFUSAL_TEXT)};

	return refusal < PROBE_REFUSAL_COUNT ? texts[refusal] : "?";
}

enum probe_runtime probe_row_runtime(const struct probe_row *row)
{
	if (!strcmp(row->provider, "hotspot") || !strcmp(row->provider, "hs_private"))
		return PROBE_RUNTIME_HOTSPOT;
	return strcmp(row->provider, "python") ? PROBE_RUNTIME_NONE : PROBE_RUNTIME_PYTHON;
}

/* Return whether a note of the file reports the same as a function, at a site of its own. */
static bool has_note_for(const struct probe_sites *s, const struct probe_row *row)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct probe_site *site = &s->sites[i];

		if (site->row < probe_row_count && !site->refused &&
		    probe_rows[site->row].origin == PROBE_NOTE &&
		    probe_rows[site->row].meaning == row->meaning)
			return true;
	}
	return false;
}

bool probe_finder_wants_row(const struct probe_finder *f, const struct probe_row *row)
{
	const enum probe_runtime runtime = probe_row_runtime(row);

	if (!(row->parts & f->wanted->parts) ||
	    (runtime && (uint32_t)runtime != f->wanted->runtime))
		return false;
	/* functions of other programs than language runtimes are not looked for in every file */
	return row->origin == PROBE_NOTE || (runtime && !has_note_for(f->out, row));
}

bool probe_finder_wants_pattern(const struct probe_finder *f, unsigned int pattern)
{
	return pattern < PROBE_PATTERNS_MAX && f->wanted->mask >> pattern & 1;
}

void probe_finder_add(struct probe_finder *f, const struct probe_site *s)
{
	struct probe_sites *out = f->out;

	if (out->count == PROBE_SITES_MAX)
		out->dropped++;
	else
		out->sites[out->count++] = *s;
}

bool probe_finder_has_room(const struct probe_finder *f, unsigned int row)
{
	unsigned int same = 0;

	for (uint32_t i = 0; row >= probe_row_count && i < f->out->count; i++)
		same += f->out->sites[i].row == row;
	return same < PATTERN_SITES_MAX;
}

static int by_offset(const void *a, const void *b)
{
	const struct probe_site *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/*
 * Refuse sites inside of the instruction of another one, and those at the same instruction with
 * another counter: the kernel has one counter for each.
 */
static void refuse_overlaps(struct probe_sites *s)
{
	const struct probe_site *last = NULL;

	qsort(s->sites, s->count, sizeof(*s->sites), by_offset);
	for (uint32_t i = 0; i < s->count; i++) {
		struct probe_site *site = &s->sites[i];

		if (site->refused)
			continue;
		if (last &&
		    (last->offset == site->offset ? last->semaphore != site->semaphore
						  : site->offset - last->offset < last->bytes))
			site->refused = PROBE_REFUSED_OVERLAPS;
		else
			last = site;
	}
}

static int find_in_image(struct probe_sites *out, const struct probe_wanted *w,
			 const struct elf_image *image)
{
	struct probe_finder f = {
		.out = out, .wanted = w, .image = image, .machine = image->header.e_machine};
	int ret;

	if (image->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    image->header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (f.machine != EM_X86_64 && f.machine != EM_AARCH64))
		return -EBADMSG;
	/* notes first: with one, a function that reports the same is not needed */
	ret = probe_notes_find(&f);
	if (!ret)
		ret = probe_functions_find(&f);
	probe_symbols_free(f.symbols);
	refuse_overlaps(out);
	return ret;
}

int probe_sites_find(struct probe_sites *out, const struct probe_wanted *w, int fd,
		     struct heartbeat *b)
{
	struct elf_image image;
	int ret = elf_image_open(&image, fd, b);

	memset(out, 0, sizeof(*out));
	if (!ret)
		ret = find_in_image(out, w, &image);
	elf_image_close(&image);
	if (ret)
		memset(out, 0, sizeof(*out));
	return ret;
}

static bool is_operand_valid(const struct probe_operand *o)
{
	const bool sized = o->bytes == 1 || o->bytes == 2 || o->bytes == 4 || o->bytes == 8;

	return o->kind < PROBE_OPERAND_KINDS && sized && o->is_signed <= 1 && o->shift <= 8 &&
	       (o->base == PROBE_NO_REGISTER || o->base < PROBE_REGISTERS) &&
	       (o->index == PROBE_NO_REGISTER || o->index < PROBE_REGISTERS);
}

static bool is_site_valid(const struct probe_site *s, uint64_t size, unsigned int patterns)
{
	if (s->row >= probe_row_count + patterns || s->instruction >= PROBE_INSTRUCTION_COUNT ||
	    s->refused >= PROBE_REFUSAL_COUNT || s->count > PROBE_OPERANDS_MAX ||
	    !memchr(s->label, '\0', sizeof(s->label)))
		return false;
	for (unsigned int i = 0; i < s->count; i++)
		if (!is_operand_valid(&s->operands[i]))
			return false;
	return s->refused || (s->offset && s->offset < size && s->semaphore < size);
}

bool probe_sites_check(const struct probe_sites *s, uint64_t size, unsigned int patterns)
{
	if (s->count > PROBE_SITES_MAX)
		return false;
	for (uint32_t i = 0; i < s->count; i++)
		if (!is_site_valid(&s->sites[i], size, patterns))
			return false;
	return true;
}
