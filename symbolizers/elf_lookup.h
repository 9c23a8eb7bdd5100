/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find single symbols of an ELF file by name, in .dynsym by the hash table that the dynamic linker
 * uses. Source: https://flapenguin.me/elf-dt-gnu-hash
 */
#ifndef SKEIN_SYMBOLIZERS_ELF_LOOKUP_H
#define SKEIN_SYMBOLIZERS_ELF_LOOKUP_H

#include "symbolizers/elf_image.h"

/* A symbol table and its string table. */
struct elf_symbol_table {
	const struct elf_image *image;
	GElf_Shdr symbols, strings;
	size_t entry; /* bytes of one entry */
	uint64_t count;
};

/* Return whether the section is a symbol table that can be read. */
bool elf_symbols_open(struct elf_symbol_table *t, const struct elf_image *image,
		      const GElf_Shdr *symbols);
/* Read n entries from number first on, converted from the file's ELF class. */
bool elf_symbols_read(const struct elf_symbol_table *t, uint64_t first, size_t n, Elf64_Sym *to);

/*
 * Return whether a symbol has this type and defines a function or an object: undefined and absolute
 * symbols do not.
 */
bool elf_symbol_is_usable(const Elf64_Sym *s, unsigned int type);

/*
 * The section .gnu.hash: a header, a Bloom filter, buckets, and chains of hashes. The lowest bit of
 * a hash is set only at the end of its chain.
 */
struct elf_hash {
	uint32_t buckets, first_symbol, filter_words, filter_shift;
	uint64_t filter, bucket, chain, end; /* file offsets */
};

/* Return whether the section has a hash table that can be used. */
bool elf_hash_open(struct elf_hash *h, const struct elf_image *image, const GElf_Shdr *in);

/*
 * Find the first usable symbol of this type and name, which has less than 64 bytes. t: the table
 * that h indexes. Return whether there is one.
 */
bool elf_hash_find(const struct elf_symbol_table *t, const struct elf_hash *h, const char *name,
		   unsigned int type, Elf64_Sym *out);

#endif
