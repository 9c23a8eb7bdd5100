// SPDX-License-Identifier: Apache-2.0
/*
 * Find USDT probes: the notes of .note.stapsdt. Source:
 * https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/probe_arguments.h"
#include "symbolizers/probe_finder.h"

#define NOTES_BYTES_MAX (16U << 20) /* libjvm, which has the most, has 80 KiB */
#define NOTE_TEXT_MAX 255 /* bytes of a provider or a name */
#define NOTE_TYPE 3
#define NOTE_OWNER "stapsdt"

struct note {
	uint64_t address, base, semaphore; /* as linked */
	const char *provider, *name, *arguments;
};

/* Return the text at *at, and move *at behind its NUL; NULL if it does not end before end. */
static const char *take_note_text(const char **at, const char *end)
{
	const char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

static bool read_note(struct note *out, const char *bytes, size_t size)
{
	const char *end = bytes + size, *at = bytes + 3 * sizeof(uint64_t);

	if (size < 3 * sizeof(uint64_t))
		return false;
	memcpy(&out->address, bytes, sizeof(uint64_t));
	memcpy(&out->base, bytes + sizeof(uint64_t), sizeof(uint64_t));
	memcpy(&out->semaphore, bytes + 2 * sizeof(uint64_t), sizeof(uint64_t));
	out->provider = take_note_text(&at, end);
	out->name = out->provider ? take_note_text(&at, end) : NULL;
	out->arguments = out->name ? take_note_text(&at, end) : NULL;
	return out->arguments && strlen(out->provider) <= NOTE_TEXT_MAX &&
	       strlen(out->name) <= NOTE_TEXT_MAX;
}

/* Find the file offset of a counter: two bytes of data that the program may write. */
static bool semaphore_offset(const struct elf_image *image, uint64_t address, uint64_t *out)
{
	uint64_t second;

	return !(address & 1) && probe_file_offset(image, address, PF_W, out) &&
	       probe_file_offset(image, address + 1, PF_W, &second) && second == *out + 1;
}

static bool find_symbol(void *context, const char *name, uint64_t *address)
{
	return probe_symbols_find(context, name, address);
}

/* Return how many of the first arguments a row of the table needs. */
static unsigned int needed_arguments(const struct probe_row *row)
{
	unsigned int needed = row->arguments;

	for (unsigned int i = 0; i < PROBE_TEXTS_MAX; i++) {
		needed = row->texts[i].address > needed ? row->texts[i].address : needed;
		needed = row->texts[i].length > needed ? row->texts[i].length : needed;
	}
	return needed;
}

static bool lacks_argument(const struct probe_site *s, unsigned int needed)
{
	for (unsigned int i = 0; i < needed; i++)
		if (i >= s->count || s->operands[i].kind == PROBE_OPERAND_NONE)
			return true;
	return false;
}

static void add_note(struct probe_finder *f, const struct note *n, uint64_t shift, unsigned int row)
{
	const uint64_t address = n->address + shift;
	const struct probe_arguments_context c = {
		.machine = f->machine, .address = address, .symbol = find_symbol, .context = f};
	struct probe_site s = {.row = (uint16_t)row};

	if (!probe_finder_has_room(f, row)) {
		f->out->dropped++;
		return;
	}
	snprintf(s.label, sizeof(s.label), "%s:%s", n->provider, n->name);
	probe_code_classify(f, address, false, &s);
	s.count = (uint8_t)probe_arguments_parse(s.operands, n->arguments, &c);
	if (!s.refused && n->semaphore &&
	    !semaphore_offset(f->image, n->semaphore + shift, &s.semaphore))
		s.refused = PROBE_REFUSED_SEMAPHORE;
	if (!s.refused && row < probe_row_count &&
	    lacks_argument(&s, needed_arguments(&probe_rows[row])))
		s.refused = PROBE_REFUSED_ARGUMENTS;
	probe_finder_add(f, &s);
}

/* Add the note for each row and each pattern that wants it. */
static void match_note(struct probe_finder *f, const struct note *n, uint64_t shift)
{
	const struct probe_wanted *w = f->wanted;

	for (unsigned int i = 0; i < probe_row_count; i++)
		if (probe_rows[i].origin == PROBE_NOTE &&
		    !strcmp(probe_rows[i].provider, n->provider) &&
		    !strcmp(probe_rows[i].name, n->name) &&
		    probe_finder_wants_row(f, &probe_rows[i]))
			add_note(f, n, shift, i);
	for (unsigned int i = 0; i < w->count; i++)
		if (probe_finder_wants_pattern(f, i) && w->patterns[i].origin == PROBE_NOTE &&
		    !fnmatch(w->patterns[i].provider, n->provider, 0) &&
		    !fnmatch(w->patterns[i].name, n->name, 0))
			add_note(f, n, shift, probe_row_count + i);
}

static size_t note_padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* Prelinking moves code; .stapsdt.base moves with it, and so shows by how much. */
static uint64_t base_of_notes(const struct elf_image *image)
{
	GElf_Shdr base;

	return elf_section_named(image, ".stapsdt.base", &base) ? base.sh_addr : 0;
}

static void read_notes(struct probe_finder *f, const char *bytes, size_t size)
{
	const uint64_t base = base_of_notes(f->image);
	Elf64_Nhdr header;
	struct note n;

	for (size_t at = 0; size - at >= sizeof(header);) {
		size_t name, desc;

		memcpy(&header, bytes + at, sizeof(header));
		at += sizeof(header);
		name = note_padded(header.n_namesz);
		desc = note_padded(header.n_descsz);
		if (name > size - at || header.n_descsz > size - at - name) {
			f->out->malformed++;
			return;
		}
		heartbeat_send(f->image->heartbeat);
		if (header.n_type != NOTE_TYPE || header.n_namesz != sizeof(NOTE_OWNER) ||
		    memcmp(bytes + at, NOTE_OWNER, sizeof(NOTE_OWNER)) != 0 ||
		    !read_note(&n, bytes + at + name, header.n_descsz))
			f->out->malformed++;
		else
			match_note(f, &n, base && n.base ? base - n.base : 0);
		at += name + (desc < size - at - name ? desc : size - at - name);
	}
}

int probe_notes_find(struct probe_finder *f)
{
	GElf_Shdr section;
	char *bytes;

	if (!elf_section_named(f->image, ".note.stapsdt", &section))
		return 0;
	bytes = elf_section_bytes(f->image, &section, NOTES_BYTES_MAX);
	if (!bytes)
		return -EBADMSG;
	read_notes(f, bytes, section.sh_size);
	free(bytes);
	return 0;
}
