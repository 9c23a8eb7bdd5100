// SPDX-License-Identifier: Apache-2.0
/*
 * Name the stubs of the procedure linkage table, which have no symbols. Each stub jumps through a
 * slot of the global offset table, and the relocation of that slot names the function. Stubs have
 * several layouts (lazy, IBT, .plt.got), but the same jump, so the jump is searched for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/elf.h"

#define PLT_MAX (4u << 20)
#define RELOCATIONS_MAX (16u << 20)
#define STRINGS_MAX (64u << 20)
#define NAMES_MAX (16u << 20) /* bytes for the names of stubs */
#define NAME_MAX_BYTES 1024

struct got_slot {
	uint64_t address;
	uint64_t symbol;
};

struct plt {
	VECTOR(struct got_slot) slots;
	char *symbols; /* .dynsym, in this machine's byte order */
	size_t symbol_count;
	char *strings;
	size_t strings_size;
	size_t names_left;
};

static int by_slot_address(const void *a, const void *b)
{
	const struct got_slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/*
 * List the slots of all relocations that have a symbol, sorted by address. Relocations are read as
 * they are, since elf_add_plt() passes only 64-bit files in this machine's byte order.
 */
static int add_got_slots(struct plt *plt, const struct elf_image *image)
{
	int ret = 0;

	for (size_t i = 1; !ret && i < image->sections; i++) {
		GElf_Shdr s;
		Elf64_Rela *rela;

		if (!elf_section(image, i, &s) || s.sh_type != SHT_RELA ||
		    !(s.sh_flags & SHF_ALLOC))
			continue;
		rela = (Elf64_Rela *)elf_section_bytes(image, &s, RELOCATIONS_MAX);
		for (size_t n = 0; rela && !ret && n < s.sh_size / sizeof(*rela); n++) {
			if (ELF64_R_SYM(rela[n].r_info))
				ret = vector_push(&plt->slots,
						  ((struct got_slot){rela[n].r_offset,
								     ELF64_R_SYM(rela[n].r_info)}));
		}
		free(rela);
	}
	if (plt->slots.count)
		qsort(plt->slots.items, plt->slots.count, sizeof(*plt->slots.items),
		      by_slot_address);
	return ret;
}

static bool load_plt_symbols(struct plt *plt, const struct elf_image *image)
{
	GElf_Shdr table, strings;

	if (!elf_section_typed(image, SHT_DYNSYM, &table) ||
	    !elf_section(image, table.sh_link, &strings) || strings.sh_type != SHT_STRTAB)
		return false;
	plt->symbols = elf_section_bytes(image, &table, STRINGS_MAX);
	plt->symbol_count = table.sh_size / sizeof(Elf64_Sym);
	plt->strings = elf_section_bytes(image, &strings, STRINGS_MAX);
	plt->strings_size = strings.sh_size;
	return plt->symbols && plt->strings;
}

static const char *slot_name(const struct plt *plt, uint64_t address)
{
	struct got_slot key = {.address = address}, *slot = NULL;
	Elf64_Sym symbol;

	if (plt->slots.count)
		slot = bsearch(&key, plt->slots.items, plt->slots.count, sizeof(key),
			       by_slot_address);
	if (!slot || slot->symbol >= plt->symbol_count)
		return NULL;
	memcpy(&symbol, plt->symbols + slot->symbol * sizeof(symbol), sizeof(symbol));
	if (symbol.st_name >= plt->strings_size || !plt->strings[symbol.st_name] ||
	    !memchr(plt->strings + symbol.st_name, '\0', plt->strings_size - symbol.st_name))
		return NULL;
	return plt->strings + symbol.st_name;
}

static int add_plt_stub(struct elf *e, struct plt *plt, uint64_t start, size_t size,
			const char *name)
{
	struct symbol_range r = {.start = start, .end = start + size, .rank = UINT32_MAX};
	char text[NAME_MAX_BYTES];
	size_t length = strnlen(name, sizeof(text) - sizeof("@plt"));
	int64_t at;

	memcpy(text, name, length);
	memcpy(text + length, "@plt", sizeof("@plt"));
	length += sizeof("@plt");
	if (r.end < r.start || length > plt->names_left)
		return 0;
	plt->names_left -= length;
	at = symtab_add_name(&e->symbols, text, length);
	if (at < 0)
		return (int)at;
	r.name = (uint32_t)at;
	return symtab_add(&e->symbols, &r);
}

/* Return the address of the slot of "jmp *disp32(%rip)" (ff 25) in a stub; 0 if there is none. */
static uint64_t slot_x86(const uint8_t *stub, size_t size, uint64_t address)
{
	int32_t displacement;

	for (size_t i = 0; i + 6 <= size; i++) {
		if (stub[i] != 0xff || stub[i + 1] != 0x25)
			continue;
		memcpy(&displacement, stub + i + 2, sizeof(displacement));
		return address + i + 6 + (uint64_t)(int64_t)displacement;
	}
	return 0;
}

/*
 * Return the address of the slot of "adrp x16, page; ldr x17, [x16, #offset]" in a stub; 0 if there
 * is none.
 */
static uint64_t slot_arm64(const uint8_t *stub, size_t size, uint64_t address)
{
	uint32_t op[2];

	for (size_t i = 0; i + 8 <= size; i += 4) {
		int64_t page;

		memcpy(op, stub + i, sizeof(op));
		if ((op[0] & 0x9f00001f) != 0x90000010 || (op[1] & 0xffc003ff) != 0xf9400211)
			continue;
		page = (int64_t)((uint64_t)(op[0] >> 5 & 0x7ffff) << 45) >> 31;
		page |= (int64_t)(op[0] >> 29 & 3) << 12;
		return ((address + i) & ~0xfffull) + (uint64_t)page + (op[1] >> 10 & 0xfff) * 8;
	}
	return 0;
}

static int add_plt_section(struct elf *e, struct plt *plt, const struct elf_image *image,
			   const GElf_Shdr *s, size_t stub)
{
	uint8_t *code = (uint8_t *)elf_section_bytes(image, s, PLT_MAX);
	bool arm = image->header.e_machine == EM_AARCH64;
	int ret = 0;

	for (size_t at = 0; code && !ret && at + stub <= s->sh_size; at += stub) {
		uint64_t address = s->sh_addr + at;
		uint64_t slot = arm ? slot_arm64(code + at, stub, address)
				    : slot_x86(code + at, stub, address);
		const char *name = slot ? slot_name(plt, slot) : NULL;

		if (name)
			ret = add_plt_stub(e, plt, address, stub, name);
	}
	free(code);
	return ret;
}

/*
 * Add the stubs of all PLT sections. Stubs have 16 bytes, except those of .plt.got without IBT,
 * which have 8, as sh_entsize shows.
 */
static int add_plt_sections(struct elf *e, struct plt *plt, const struct elf_image *image)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got"};
	GElf_Shdr s;
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(names) / sizeof(*names); i++) {
		if (elf_section_named(image, names[i], &s) && (s.sh_flags & SHF_EXECINSTR))
			ret = add_plt_section(e, plt, image, &s, s.sh_entsize == 8 ? 8 : 16);
	}
	return ret;
}

int elf_add_plt(struct elf *e, const struct elf_image *image)
{
	struct plt plt = {.names_left = NAMES_MAX};
	int ret = 0;

	if (image->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    image->header.e_ident[EI_DATA] != ELFDATA2LSB || __BYTE_ORDER != __LITTLE_ENDIAN ||
	    (image->header.e_machine != EM_X86_64 && image->header.e_machine != EM_AARCH64))
		return 0;
	if (load_plt_symbols(&plt, image)) {
		ret = add_got_slots(&plt, image);
		if (!ret)
			ret = add_plt_sections(e, &plt, image);
	}
	vector_free(&plt.slots);
	free(plt.symbols);
	free(plt.strings);
	return ret;
}
