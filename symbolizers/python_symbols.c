// SPDX-License-Identifier: Apache-2.0
/*
 * Find the few symbols that identify a Python interpreter. Every ELF file of the profiled processes
 * is searched, so files without an interpreter, also those that link to libpython, must be
 * recognized quickly: in .dynsym by the hash table that the dynamic linker uses, in .symtab, where
 * a file has it, by a search of all names at once. Source: https://flapenguin.me/elf-dt-gnu-hash
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/python_symbols.h"
#include "symbolizers/symtab.h"

#define CHUNK 1024 /* entries read at a time */
#define ENTRIES_MAX (16u << 20)
#define NAME_MAX_READ 32 /* bytes; longer than all names that are searched for */
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

/* A symbol table and its string table. */
struct elf_symbol_table {
	const struct elf_image *image;
	GElf_Shdr symbols, strings;
	size_t entry; /* bytes of one entry */
	uint64_t count;
};

static bool is_64(const struct elf_image *image)
{
	return image->header.e_ident[EI_CLASS] == ELFCLASS64;
}

static bool open_symbol_table(struct elf_symbol_table *t, const struct elf_image *image,
			      const GElf_Shdr *symbols)
{
	t->image = image;
	t->symbols = *symbols;
	t->entry = is_64(image) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	t->count = symbols->sh_size / t->entry;
	return symbols->sh_type != SHT_NOBITS && !(symbols->sh_flags & SHF_COMPRESSED) &&
	       elf_section(image, symbols->sh_link, &t->strings) &&
	       t->strings.sh_type == SHT_STRTAB && !(t->strings.sh_flags & SHF_COMPRESSED);
}

/* Read n entries from number first on, converted from the file's ELF class. */
static bool read_symbol_entries(const struct elf_symbol_table *t, uint64_t first, size_t n,
				Elf64_Sym *to)
{
	Elf32_Sym s;

	if (elf_image_read(t->image, t->symbols.sh_offset + first * t->entry, to, n * t->entry) < 0)
		return false;
	for (size_t i = n; !is_64(t->image) && i-- > 0;) {
		memcpy(&s, (const char *)to + i * sizeof(s), sizeof(s));
		to[i] = elf_widen_symbol(&s);
	}
	return true;
}

static bool entry_has_name(const struct elf_symbol_table *t, const Elf64_Sym *s, const char *name)
{
	char buf[NAME_MAX_READ];
	size_t size = strlen(name) + 1;

	return s->st_name < t->strings.sh_size && size <= t->strings.sh_size - s->st_name &&
	       elf_image_read(t->image, t->strings.sh_offset + s->st_name, buf, size) == 0 &&
	       memcmp(buf, name, size) == 0;
}

/*
 * Return whether a symbol has this type and defines a function or an object: undefined and absolute
 * symbols do not.
 */
static bool is_symbol_usable(const Elf64_Sym *s, unsigned int type)
{
	return s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS &&
	       GELF_ST_TYPE(s->st_info) == type && s->st_size <= UINT64_MAX - s->st_value;
}

static unsigned int symbol_type_of_name(int name)
{
	return name == PYTHON_NAME_RUNTIME || name == PYTHON_NAME_CODE_TYPE ||
			       name == PYTHON_NAME_VERSION
		       ? STT_OBJECT
		       : STT_FUNC;
}

static void keep_python_symbol(struct python_symbols *out, int name, const Elf64_Sym *s)
{
	if (out->found[name] || !is_symbol_usable(s, symbol_type_of_name(name)))
		return;
	out->found[name] = true;
	out->at[name] = (struct python_extent){s->st_value, s->st_value + s->st_size};
}

/*
 * The section .gnu.hash: a header, a Bloom filter, buckets, and chains of hashes. The lowest bit of
 * a hash is set only at the end of its chain.
 */
struct gnu_hash_table {
	uint32_t buckets, first_symbol, filter_words, filter_shift;
	uint64_t filter, bucket, chain, end; /* file offsets */
};

static bool open_hash(struct gnu_hash_table *h, const struct elf_image *image, const GElf_Shdr *in)
{
	uint32_t header[4];
	uint64_t filter_bytes;

	if (in->sh_size < sizeof(header) || in->sh_size > UINT32_MAX ||
	    elf_image_read(image, in->sh_offset, header, sizeof(header)) < 0)
		return false;
	filter_bytes = (uint64_t)header[2] * (is_64(image) ? 8 : 4);
	*h = (struct gnu_hash_table){
		.buckets = header[0],
		.first_symbol = header[1],
		.filter_words = header[2],
		.filter_shift = header[3],
		.filter = in->sh_offset + sizeof(header),
		.bucket = in->sh_offset + sizeof(header) + filter_bytes,
		.end = in->sh_offset + in->sh_size,
	};
	h->chain = h->bucket + 4ull * h->buckets;
	return h->buckets && h->filter_words && h->chain <= h->end;
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (uint8_t)*name++;
	return hash;
}

static bool passes_filter(const struct gnu_hash_table *h, const struct elf_image *image,
			  uint32_t hash)
{
	unsigned int bits = is_64(image) ? 64 : 32;
	uint64_t word = 0, at = hash / bits % h->filter_words * (bits / 8);

	if (elf_image_read(image, h->filter + at, &word, bits / 8) < 0)
		return false;
	return word >> hash % bits & word >> (hash >> (h->filter_shift & 31)) % bits & 1;
}

static void lookup_hashed_symbol(struct python_symbols *out, int name,
				 const struct elf_symbol_table *t, const struct gnu_hash_table *h)
{
	uint32_t hash = gnu_hash_of(names[name]), symbol, other = 0;
	uint64_t at;
	Elf64_Sym s;

	if (!passes_filter(h, t->image, hash) ||
	    elf_image_read(t->image, h->bucket + 4ull * (hash % h->buckets), &symbol, 4) < 0 ||
	    symbol < h->first_symbol)
		return;
	for (; !(other & 1) && symbol < t->count; symbol++) {
		at = h->chain + 4ull * (symbol - h->first_symbol);
		if (at + 4 > h->end || elf_image_read(t->image, at, &other, 4) < 0)
			return;
		if ((other | 1) == (hash | 1) && read_symbol_entries(t, symbol, 1, &s) &&
		    entry_has_name(t, &s, names[name]))
			keep_python_symbol(out, name, &s);
	}
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
	if (!is_symbol_usable(s, STT_FUNC) || !s->st_size)
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

		if (!read_symbol_entries(t, at, n, entries))
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
	struct gnu_hash_table hash;
	struct elf_symbol_table t;

	if (!in->has_dynamic || !open_symbol_table(&t, image, &in->dynamic))
		return 0;
	if (!in->has_hash || !open_hash(&hash, image, &in->hash))
		return scan_symbol_table(out, &t);
	for (int i = 0; i < PYTHON_NAMES; i++) {
		lookup_hashed_symbol(out, i, &t, &hash);
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
	if (!ret && in.has_symbols && open_symbol_table(&t, image, &in.symbols))
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
