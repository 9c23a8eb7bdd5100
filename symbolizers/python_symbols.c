// SPDX-License-Identifier: Apache-2.0
/*
 * Find the few symbols that identify a Python interpreter. Every ELF file of the profiled processes
 * is searched, so files without an interpreter, also those that link to libpython, must be
 * recognized quickly: in .dynsym by the hash table that the dynamic linker uses, in .symtab, where
 * a file has it, by a search of all names at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/elf_lookup.h"
#include "symbolizers/python_symbols.h"
#include "symbolizers/symtab.h"

#define CHUNK 1024 /* entries read at a time */
#define ENTRIES_MAX (16u << 20)
#define LOOP "_PyEval_EvalFrameDefault"

static const char *const names[PYTHON_NAMES] = {
	[PYTHON_NAME_LOOP] = LOOP,
	[PYTHON_NAME_OLD_LOOP] = "PyEval_EvalFrameEx",
	[PYTHON_NAME_RUNTIME] = "_PyRuntime",
	[PYTHON_NAME_CODE_TYPE] = "PyCode_Type",
	[PYTHON_NAME_VERSION] = "Py_Version",
	[PYTHON_NAME_GET_VERSION] = "Py_GetVersion",
	[PYTHON_NAME_DEBUG] = "_Py_NegativeRefcount",
};

static unsigned int symbol_type_of_name(int name)
{
	return name == PYTHON_NAME_RUNTIME || name == PYTHON_NAME_CODE_TYPE ||
			       name == PYTHON_NAME_VERSION
		       ? STT_OBJECT
		       : STT_FUNC;
}

static void keep_python_symbol(struct python_symbols *out, int name, const Elf64_Sym *s)
{
	if (out->found[name] || !elf_symbol_is_usable(s, symbol_type_of_name(name)))
		return;
	out->found[name] = true;
	out->at[name] = (struct python_extent){s->st_value, s->st_value + s->st_size};
}

/*
 * Return the enum python_name of text, or -1. Set *part to whether text names a part that the
 * compiler split off from the loop.
 */
static int python_name_of(const char *text, bool *part)
{
	*part = strncmp(text, LOOP ".", sizeof(LOOP)) == 0;
	for (int i = 0; i < PYTHON_NAMES; i++) {
		if (strcmp(text, names[i]) == 0)
			return i;
	}
	return -1;
}

static void keep_loop_part(struct python_symbols *out, const Elf64_Sym *s)
{
	if (!elf_symbol_is_usable(s, STT_FUNC) || !s->st_size)
		return;
	for (uint32_t i = 0; i < out->parts_count && i < PYTHON_LOOPS_MAX; i++) {
		if (out->parts[i].start == s->st_value)
			return;
	}
	if (out->parts_count < PYTHON_LOOPS_MAX)
		out->parts[out->parts_count] =
			(struct python_extent){s->st_value, s->st_value + s->st_size};
	out->parts_count += out->parts_count <= PYTHON_LOOPS_MAX;
}

static int scan_symbol_entries(struct python_symbols *out, const struct elf_symbol_table *t,
			       const char *strings)
{
	uint64_t count = t->count;
	Elf64_Sym entries[CHUNK];
	bool part;
	int name;

	if (count > ENTRIES_MAX)
		return -EBADMSG;
	for (uint64_t at = 0; at < count; at += CHUNK) {
		size_t n = count - at < CHUNK ? (size_t)(count - at) : CHUNK;

		if (!elf_symbols_read(t, at, n, entries))
			return -EBADMSG;
		for (size_t i = 0; i < n; i++) {
			const char *text = strings + entries[i].st_name;

			if (entries[i].st_name >= t->strings.sh_size ||
			    (text[0] != '_' && text[0] != 'P'))
				continue;
			name = python_name_of(text, &part);
			if (name >= 0)
				keep_python_symbol(out, name, &entries[i]);
			else if (part)
				keep_loop_part(out, &entries[i]);
		}
	}
	return 0;
}

/*
 * Read all entries of a symbol table, unless its string table has no name of an evaluation loop, or
 * is larger than SYMBOL_NAMES_MAX.
 */
static int scan_symbol_table(struct python_symbols *out, const struct elf_symbol_table *t)
{
	uint64_t size = t->strings.sh_size;
	char *strings;
	int ret;

	if (!size || size > SYMBOL_NAMES_MAX)
		return 0;
	strings = malloc(size + 1);
	if (!strings)
		return -ENOMEM;
	ret = elf_image_read(t->image, t->strings.sh_offset, strings, size);
	strings[size] = '\0';
	if (!ret && memmem(strings, size, "PyEval_EvalFrame", strlen("PyEval_EvalFrame")))
		ret = scan_symbol_entries(out, t, strings);
	free(strings);
	return ret;
}

/* The first section of each type, found in one pass. */
struct symbol_sections {
	GElf_Shdr dynamic, hash, symbols;
	bool has_dynamic, has_hash, has_symbols;
};

static bool keep_first_section(bool *has, GElf_Shdr *to, const GElf_Shdr *s)
{
	if (!*has)
		*to = *s;
	return *has = true;
}

static void find_symbol_sections(struct symbol_sections *out, const struct elf_image *image)
{
	GElf_Shdr s;

	*out = (struct symbol_sections){.has_dynamic = false};
	for (size_t i = 1; i < image->sections; i++) {
		if (!elf_section(image, i, &s))
			continue;
		if (s.sh_type == SHT_DYNSYM)
			keep_first_section(&out->has_dynamic, &out->dynamic, &s);
		else if (s.sh_type == SHT_GNU_HASH)
			keep_first_section(&out->has_hash, &out->hash, &s);
		else if (s.sh_type == SHT_SYMTAB)
			keep_first_section(&out->has_symbols, &out->symbols, &s);
	}
}

static int read_dynamic_symbols(struct python_symbols *out, const struct elf_image *image,
				const struct symbol_sections *in)
{
	struct elf_hash hash;
	Elf64_Sym s;
	struct elf_symbol_table t;

	if (!in->has_dynamic || !elf_symbols_open(&t, image, &in->dynamic))
		return 0;
	if (!in->has_hash || !elf_hash_open(&hash, image, &in->hash))
		return scan_symbol_table(out, &t);
	for (int i = 0; i < PYTHON_NAMES; i++) {
		if (elf_hash_find(&t, &hash, names[i], symbol_type_of_name(i), &s))
			keep_python_symbol(out, i, &s);
		/* without the name of a loop, which all versions have, there is no interpreter */
		if (i == PYTHON_NAME_OLD_LOOP && !python_symbols_any(out))
			break;
	}
	return 0;
}

static void find_runtime_section(struct python_symbols *out, const struct elf_image *image)
{
	GElf_Shdr s;

	if (!elf_section_named(image, ".PyRuntime", &s) || !(s.sh_flags & SHF_ALLOC))
		return;
	out->section = true;
	out->section_address = s.sh_addr;
}

bool python_symbols_any(const struct python_symbols *s)
{
	return s->found[PYTHON_NAME_LOOP] || s->found[PYTHON_NAME_OLD_LOOP] || s->section;
}

int python_symbols_read(struct python_symbols *out, const struct elf_image *image)
{
	struct python_symbols found = {.section = false};
	struct symbol_sections in;
	struct elf_symbol_table t;
	int ret;

	find_symbol_sections(&in, image);
	find_runtime_section(&found, image);
	ret = read_dynamic_symbols(&found, image, &in);
	if (!ret && in.has_symbols && elf_symbols_open(&t, image, &in.symbols))
		ret = scan_symbol_table(&found, &t);
	if (!ret)
		*out = found;
	return ret;
}

bool python_bytes_at(const struct elf_image *image, uint64_t address, void *buf, size_t size)
{
	uint64_t at;

	return elf_image_offset(image, address, size, &at) &&
	       elf_image_read(image, at, buf, size) == 0;
}
