// SPDX-License-Identifier: Apache-2.0
/*
 * Find functions in .eh_frame, which survives stripping: it describes every function that a
 * debugger or an exception may unwind, with its address and size.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>

#include "symbolizers/elf.h"
#include "symbolizers/unwind/frame.h"

#define SECTION_MAX (64u << 20)
/* Maximum number of functions that are found in a file; the largest files have 300,000. */
#define FUNCTIONS_MAX (1u << 20)
/*
 * Largest CIE, in bytes. The CIEs of compilers have at most about 40; the bound limits the work of
 * a hostile file, whose CIE could be read once per FDE.
 */
#define CIE_MAX 1024
#define CIES_KEPT 64 /* number of CIEs that are kept; programs have only a few */

struct frame_cie {
	uint64_t offset;
	bool set, good;
	struct unwind_cie cie; /* only the members that cfi_read_augmentation() sets */
	uint64_t return_register;
};

/* The frames of one file. */
struct frame_functions {
	struct elf *elf;
	const struct elf_image *image;
	Elf_Data data;
	uint64_t bias; /* address of a byte of the section, less its address in memory */
	uint32_t no_name; /* offset of an empty string among the names of symbols */
	uint32_t functions;
	struct frame_cie known[CIES_KEPT];
};

static bool read_frame_cie(struct frame_functions *f, struct frame_cie *out)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;
	uint32_t size;

	if (out->offset > f->data.d_size || f->data.d_size - out->offset < sizeof(size))
		return false;
	memcpy(&size, (const char *)f->data.d_buf + out->offset, sizeof(size));
	if (size > CIE_MAX ||
	    dwarf_next_cfi(f->image->header.e_ident, &f->data, true, out->offset, &next, &entry) !=
		    0 ||
	    !dwarf_cfi_cie_p(&entry))
		return false;
	out->cie = (struct unwind_cie){.encoding = DW_EH_PE_absptr};
	out->return_register = entry.cie.return_address_register;
	return cfi_read_augmentation(&out->cie, &entry.cie);
}

/*
 * Return the CIE at an offset of the section, kept from before or read now; NULL if it is invalid.
 * CIEs are kept since several FDEs in a row refer to the same one.
 */
static const struct frame_cie *find_frame_cie(struct frame_functions *f, uint64_t offset)
{
	struct frame_cie *k = &f->known[offset / 8 % CIES_KEPT];

	if (!k->set || k->offset != offset) {
		k->set = true;
		k->offset = offset;
		k->good = read_frame_cie(f, k);
	}
	return k->good ? k : NULL;
}

/*
 * Return whether the function has no caller: the first call frame instruction of its FDE makes the
 * return address undefined.
 */
static bool frame_begins_thread(const struct frame_cie *k, struct cfi_reader instructions)
{
	return cfi_read_byte(&instructions) == DW_CFA_undefined &&
	       cfi_read_uleb(&instructions) == k->return_register && !instructions.bad;
}

static int add_frame_function(struct frame_functions *f, uint64_t start, uint64_t end)
{
	struct symtab *t = &f->elf->symbols;

	if (f->functions >= FUNCTIONS_MAX || t->ranges.count >= SYMBOLS_MAX)
		return 0;
	f->functions++;
	return symtab_add(t, &(struct symbol_range){
				     .start = start,
				     .end = end,
				     .name = f->no_name,
			     });
}

static int add_frame_fde(struct frame_functions *f, const Dwarf_FDE *fde)
{
	const struct frame_cie *k = find_frame_cie(f, fde->CIE_pointer);
	struct cfi_reader r = {fde->start, fde->end, false};
	uint64_t start, size, end;
	int ret;

	if (!k)
		return 0;
	start = cfi_read_pointer(&r, k->cie.encoding, f->bias);
	size = cfi_read_pointer(&r, k->cie.encoding & 0x0f, 0);
	if (k->cie.sized)
		(void)cfi_read_block(&r, cfi_read_uleb(&r));
	/* Functions that the linker has dropped begin at 0. */
	if (r.bad || !start || __builtin_add_overflow(start, size, &end))
		return 0;
	if (start <= f->image->header.e_entry && f->image->header.e_entry < end)
		f->elf->entry_described = true;
	ret = add_frame_function(f, start, end);
	return !ret && frame_begins_thread(k, r) ? elf_add_start(f->elf, start, end) : ret;
}

static int add_frame_fdes(struct frame_functions *f)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off at = 0, next = 0;
	int ret = 0;

	while (!ret) {
		int state =
			dwarf_next_cfi(f->image->header.e_ident, &f->data, true, at, &next, &entry);

		if (state > 0 || next <= at)
			break;
		if (state == 0 && !dwarf_cfi_cie_p(&entry))
			ret = add_frame_fde(f, &entry.fde);
		at = next;
		heartbeat_send(f->image->heartbeat);
	}
	return ret;
}

int elf_add_frames(struct elf *e, const struct elf_image *image)
{
	struct frame_functions f = {.elf = e, .image = image, .data = {.d_version = EV_CURRENT}};
	GElf_Shdr section;
	int64_t no_name;
	int ret;

	/* unwind/reader.h reads numbers in this machine's byte order. */
	if (image->header.e_ident[EI_DATA] != ELFDATA2LSB || __BYTE_ORDER != __LITTLE_ENDIAN ||
	    !elf_section_named(image, ".eh_frame", &section))
		return 0;
	no_name = symtab_add_name(&e->symbols, "", 0);
	if (no_name < 0)
		return no_name == -E2BIG ? 0 : (int)no_name;
	f.no_name = (uint32_t)no_name;
	f.data.d_buf = elf_section_bytes(image, &section, SECTION_MAX);
	if (!f.data.d_buf)
		return 0;
	f.data.d_size = section.sh_size;
	f.bias = section.sh_addr - (uint64_t)(uintptr_t)f.data.d_buf;
	ret = add_frame_fdes(&f);
	free(f.data.d_buf);
	return ret;
}
