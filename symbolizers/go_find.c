// SPDX-License-Identifier: Apache-2.0
/* Find a Go program's table of functions, and the base of the addresses in that table. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/go_table.h"

#define TABLE_MAX (128u << 20)
#define HEADER_SIZE 72
#define SCAN_MAX (256u << 20) /* bytes searched in one section or segment */
#define CANDIDATES_MAX 16
#define CHUNK_WORDS (3 * 2048) /* 8 bytes each; a multiple of 3: whole Elf64_Rela */

/*
 * Offsets, in words of 8 bytes, in moduledata, by which Go's runtime describes the program: the
 * addresses of the table and of its names, of the first function, and of the start of the text.
 * Source: src/runtime/symtab.go of Go.
 */
enum { MODULE_TABLE = 0, MODULE_NAMES = 1, MODULE_FIRST_PC = 20, MODULE_TEXT = 22, MODULE_WORDS };

/* A range of the file, read in chunks of 8-byte words. */
struct word_chunks {
	const struct elf_image *image;
	uint64_t at, end; /* file offsets: of the next chunk, of the end of the range */
	uint64_t words[CHUNK_WORDS];
	size_t count; /* words in the current chunk, which begins at file offset at - 8 * count */
};

static bool next_word_chunk(struct word_chunks *c)
{
	uint64_t left = (c->end - c->at) / 8;

	c->count = left < CHUNK_WORDS ? (size_t)left : CHUNK_WORDS;
	if (!c->count || elf_image_read(c->image, c->at, c->words, c->count * 8) < 0)
		return false;
	c->at += c->count * 8;
	heartbeat_send(c->image->heartbeat);
	return true;
}

static bool begin_word_chunks(struct word_chunks *c, const struct elf_image *image, uint64_t offset,
			      uint64_t size)
{
	c->image = image;
	c->at = offset;
	if (offset > image->size || size > image->size - offset)
		return false;
	c->end = offset + (size < SCAN_MAX ? size : SCAN_MAX);
	return true;
}

/*
 * Return whether word can be the first 8 bytes of a table of functions: the magic number of Go
 * 1.16, 1.18 or 1.20, two zeros, the quantum of code addresses, and 8, the size of a pointer.
 */
static bool is_go_magic(uint64_t word)
{
	uint32_t magic = (uint32_t)word;
	uint8_t quantum = word >> 48 & 255;

	return (magic == 0xfffffffa || magic == 0xfffffff0 || magic == 0xfffffff1) &&
	       (word >> 32 & 0xffff) == 0 && word >> 56 == 8 && (quantum == 1 || quantum == 4);
}

static bool scan_for_go_table(const struct elf_image *image, uint64_t offset, uint64_t size,
			      uint64_t *out)
{
	struct word_chunks c;

	if (!begin_word_chunks(&c, image, offset, size))
		return false;
	while (next_word_chunk(&c)) {
		for (size_t i = 0; i < c.count; i++) {
			if (!is_go_magic(c.words[i]))
				continue;
			*out = c.at - (c.count - i) * 8;
			return true;
		}
	}
	return false;
}

static int load_go_table(struct go_table *t, uint64_t address, uint64_t offset, uint64_t size)
{
	uint64_t word;
	int ret;

	if (size < HEADER_SIZE)
		return -EBADMSG;
	t->address = address;
	t->size = size < TABLE_MAX ? size : TABLE_MAX;
	ret = elf_image_read(t->image, offset, &word, sizeof(word));
	if (ret < 0 || !is_go_magic(word))
		return ret < 0 ? ret : -EBADMSG;
	t->bytes = malloc(t->size);
	return t->bytes ? elf_image_read(t->image, offset, t->bytes, t->size) : -ENOMEM;
}

/*
 * Find the table by its section. In position-independent programs, GNU ld, which Go before 1.26
 * calls, puts the table among other data in .data.rel.ro, where the table's magic number is
 * searched. Return 0; -ENOENT: no table found; or another negative errno.
 */
static int find_in_section(struct go_table *t)
{
	GElf_Shdr s;
	uint64_t at;

	if (elf_section_named(t->image, ".gopclntab", &s) ||
	    elf_section_named(t->image, ".data.rel.ro.gopclntab", &s))
		return s.sh_type == SHT_NOBITS
			       ? -EBADMSG
			       : load_go_table(t, s.sh_addr, s.sh_offset, s.sh_size);
	if (!elf_section_named(t->image, ".go.buildinfo", &s) ||
	    !elf_section_named(t->image, ".data.rel.ro", &s) || s.sh_type == SHT_NOBITS ||
	    !scan_for_go_table(t->image, s.sh_offset, s.sh_size, &at))
		return -ENOENT;
	at -= s.sh_offset;
	return load_go_table(t, s.sh_addr + at, s.sh_offset + at, s.sh_size - at);
}

static int find_in_segments(struct go_table *t)
{
	size_t count;
	GElf_Phdr p;
	uint64_t at;

	if (elf_getphdrnum(t->image->elf, &count) < 0)
		return -ENOENT;
	for (size_t i = 0; i < count && gelf_getphdr(t->image->elf, (int)i, &p); i++) {
		if (p.p_type != PT_LOAD ||
		    !scan_for_go_table(t->image, p.p_offset, p.p_filesz, &at))
			continue;
		at -= p.p_offset;
		return load_go_table(t, p.p_vaddr + at, p.p_offset + at, p.p_filesz - at);
	}
	return -ENOENT;
}

int go_table_find(struct go_table *t)
{
	return t->image->sections > 1 ? find_in_section(t) : find_in_segments(t);
}

/*
 * Return whether words are the moduledata that describes the table t; if so, set t->text from them.
 */
static bool set_text_from_moduledata(struct go_table *t, const uint64_t *words)
{
	uint32_t first;

	memcpy(&first, t->bytes + t->index, sizeof(first));
	if (words[MODULE_TABLE] != t->address || words[MODULE_NAMES] != t->address + t->names ||
	    words[MODULE_FIRST_PC] != words[MODULE_TEXT] + first)
		return false;
	t->text = words[MODULE_TEXT];
	return true;
}

/*
 * Search the bytes of the segment p for moduledata. Its pointers are in the file if the program is
 * not relocated, or if the linker also wrote the values of relocations in place.
 */
static int find_in_place(struct go_table *t, const GElf_Phdr *p)
{
	unsigned int candidates = 0;
	struct word_chunks c;

	if (!begin_word_chunks(&c, t->image, p->p_offset, p->p_filesz))
		return -EBADMSG;
	while (next_word_chunk(&c)) {
		for (size_t i = 0; i < c.count; i++) {
			uint64_t words[MODULE_WORDS];

			if (c.words[i] != t->address || ++candidates > CANDIDATES_MAX)
				continue;
			if (elf_image_read(t->image, c.at - (c.count - i) * 8, words,
					   sizeof(words)) == 0 &&
			    set_text_from_moduledata(t, words))
				return 0;
		}
	}
	return -EBADMSG;
}

/*
 * Return whether a relocation with this r_info adds the load address of the program to r_addend and
 * stores the sum at r_offset.
 */
static bool is_relative(const struct elf_image *image, uint64_t info)
{
	return ELF64_R_TYPE(info) ==
	       (image->header.e_machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE);
}

/*
 * If words is NULL, set *place to the address that is relocated to the table's address by the first
 * such relocation. Otherwise collect in words the values of the relocations of the MODULE_WORDS
 * words from *place on. Return whether there was at least one such relocation.
 */
static bool search_relocations(const struct go_table *t, const GElf_Shdr *section, uint64_t *place,
			       uint64_t *words)
{
	bool found = false;
	struct word_chunks c;

	if (!begin_word_chunks(&c, t->image, section->sh_offset, section->sh_size))
		return false;
	while (next_word_chunk(&c)) {
		for (size_t i = 0; i + 2 < c.count; i += 3) {
			uint64_t where = c.words[i], value = c.words[i + 2];

			if (!is_relative(t->image, c.words[i + 1]))
				continue;
			if (words && where >= *place && where - *place < 8 * MODULE_WORDS) {
				words[(where - *place) / 8] = value;
				found = true;
			} else if (!words && value == t->address) {
				*place = where;
				return true;
			}
		}
	}
	return found;
}

static int find_in_relocations(struct go_table *t)
{
	uint64_t words[MODULE_WORDS] = {0}, place;

	for (size_t i = 1; i < t->image->sections; i++) {
		GElf_Shdr s;

		if (elf_section(t->image, i, &s) && s.sh_type == SHT_RELA &&
		    (s.sh_flags & SHF_ALLOC) && search_relocations(t, &s, &place, NULL) &&
		    search_relocations(t, &s, &place, words) && set_text_from_moduledata(t, words))
			return 0;
	}
	return -EBADMSG;
}

int go_table_find_text(struct go_table *t)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(t->image->elf, &count) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < count && gelf_getphdr(t->image->elf, (int)i, &p); i++) {
		if (p.p_type == PT_LOAD && (p.p_flags & PF_W) && find_in_place(t, &p) == 0)
			return 0;
	}
	return find_in_relocations(t);
}
