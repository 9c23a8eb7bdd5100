// SPDX-License-Identifier: Apache-2.0
/* Read symbol tables and the hash table of .dynsym. */
#include <string.h>

#include "symbolizers/elf_lookup.h"

#define NAME_MAX_READ 64 /* bytes; longer than all names that are searched for */

static bool is_64_bit(const struct elf_image *image)
{
	return image->header.e_ident[EI_CLASS] == ELFCLASS64;
}

bool elf_symbols_open(struct elf_symbol_table *t, const struct elf_image *image,
		      const GElf_Shdr *symbols)
{
	t->image = image;
	t->symbols = *symbols;
	t->entry = is_64_bit(image) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	t->count = symbols->sh_size / t->entry;
	return symbols->sh_type != SHT_NOBITS && !(symbols->sh_flags & SHF_COMPRESSED) &&
	       elf_section(image, symbols->sh_link, &t->strings) &&
	       t->strings.sh_type == SHT_STRTAB && !(t->strings.sh_flags & SHF_COMPRESSED);
}

bool elf_symbols_read(const struct elf_symbol_table *t, uint64_t first, size_t n, Elf64_Sym *to)
{
	Elf32_Sym s;

	if (elf_image_read(t->image, t->symbols.sh_offset + first * t->entry, to, n * t->entry) < 0)
		return false;
	for (size_t i = n; !is_64_bit(t->image) && i-- > 0;) {
		memcpy(&s, (const char *)to + i * sizeof(s), sizeof(s));
		to[i] = elf_widen_symbol(&s);
	}
	return true;
}

static bool entry_has_name(const struct elf_symbol_table *t, const Elf64_Sym *s, const char *name)
{
	char buf[NAME_MAX_READ];
	size_t size = strlen(name) + 1;

	return size <= sizeof(buf) && s->st_name < t->strings.sh_size &&
	       size <= t->strings.sh_size - s->st_name &&
	       elf_image_read(t->image, t->strings.sh_offset + s->st_name, buf, size) == 0 &&
	       memcmp(buf, name, size) == 0;
}

bool elf_symbol_is_usable(const Elf64_Sym *s, unsigned int type)
{
	return s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS &&
	       GELF_ST_TYPE(s->st_info) == type && s->st_size <= UINT64_MAX - s->st_value;
}

bool elf_hash_open(struct elf_hash *h, const struct elf_image *image, const GElf_Shdr *in)
{
	uint32_t header[4];
	uint64_t filter_bytes;

	if (in->sh_size < sizeof(header) || in->sh_size > UINT32_MAX ||
	    elf_image_read(image, in->sh_offset, header, sizeof(header)) < 0)
		return false;
	filter_bytes = (uint64_t)header[2] * (is_64_bit(image) ? 8 : 4);
	*h = (struct elf_hash){
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

static bool passes_filter(const struct elf_hash *h, const struct elf_image *image, uint32_t hash)
{
	unsigned int bits = is_64_bit(image) ? 64 : 32;
	uint64_t word = 0, at = hash / bits % h->filter_words * (bits / 8);

	if (elf_image_read(image, h->filter + at, &word, bits / 8) < 0)
		return false;
	return word >> hash % bits & word >> (hash >> (h->filter_shift & 31)) % bits & 1;
}

bool elf_hash_find(const struct elf_symbol_table *t, const struct elf_hash *h, const char *name,
		   unsigned int type, Elf64_Sym *out)
{
	uint32_t hash = gnu_hash_of(name), symbol, other = 0;
	uint64_t at;
	Elf64_Sym s;

	if (!passes_filter(h, t->image, hash) ||
	    elf_image_read(t->image, h->bucket + 4ull * (hash % h->buckets), &symbol, 4) < 0 ||
	    symbol < h->first_symbol)
		return false;
	for (; !(other & 1) && symbol < t->count; symbol++) {
		at = h->chain + 4ull * (symbol - h->first_symbol);
		if (at + 4 > h->end || elf_image_read(t->image, at, &other, 4) < 0)
			return false;
		if ((other | 1) == (hash | 1) && elf_symbols_read(t, symbol, 1, &s) &&
		    entry_has_name(t, &s, name) && elf_symbol_is_usable(&s, type)) {
			*out = s;
			return true;
		}
	}
	return false;
}
