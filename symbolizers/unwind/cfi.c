// SPDX-License-Identifier: Apache-2.0
/*
 * Read the entries of .eh_frame and .debug_frame. libdw finds entries and checks their bounds; this
 * file decodes their addresses, and frame.c their instructions.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>

#include "symbolizers/unwind/cfi.h"
#include "symbolizers/unwind/frame.h"

#define SECTION_MAX (256u << 20)
/*
 * Largest CIE, in bytes. The CIEs of compilers have at most about 40; the bound limits the work of
 * a hostile file, whose CIE could be read once per FDE.
 */
#define CIE_MAX 1024
#define CIES_KEPT 64 /* number of CIEs that are kept; programs have only a few */
/*
 * If .eh_frame has fewer functions than this, .debug_frame is read, too: start-up code and the PLT
 * are described in .eh_frame even if no other function is.
 */
#define FUNCTIONS_FEW 8
#define HEARTBEAT_ENTRIES 1024

struct cached_cie {
	uint64_t offset;
	bool set, good;
	struct unwind_cie cie;
};

#define CFI_BLOCK (64u << 10)
/* Largest FDE, in bytes. Compilers write some hundred bytes. */
#define FDE_MAX (1u << 20)

struct unwind_cfi {
	const struct unwind_source *source;
	struct unwind_rows *rows;
	struct unwind_cfi_section section;
	Elf_Data data;
	/*
	 * one byte per block of the section, set if the block has been read; NULL: the whole
	 * section has been read
	 */
	uint8_t *loaded;
	struct cached_cie known[CIES_KEPT];
};

/*
 * Make size bytes of the section at offset at available in memory. Return 0, -EBADMSG beyond the
 * end of the section, or an error of unwind_source_read().
 */
static int fetch_cfi_bytes(struct unwind_cfi *c, uint64_t at, uint64_t size)
{
	if (at > c->section.size || size > c->section.size - at)
		return -EBADMSG;
	if (!c->loaded || !size)
		return 0;
	for (uint64_t block = at / CFI_BLOCK; block <= (at + size - 1) / CFI_BLOCK; block++) {
		uint64_t from = block * CFI_BLOCK, left = c->section.size - from;
		int ret = 0;

		if (!c->loaded[block])
			ret = unwind_source_read(c->source, c->section.offset + from,
						 (char *)c->data.d_buf + from,
						 left < CFI_BLOCK ? left : CFI_BLOCK);
		if (ret)
			return ret;
		c->loaded[block] = 1;
	}
	return 0;
}

/* Decode the augmentation string. Each letter after z may have a field in the augmentation data. */
bool cfi_read_augmentation(struct unwind_cie *c, const Dwarf_CIE *cie)
{
	struct cfi_reader r = {cie->augmentation_data, cie->augmentation_data, false};
	const char *letter = cie->augmentation;

	if (!*letter)
		return true;
	if (*letter != 'z' || !r.at)
		return false;
	r.end = r.at + cie->augmentation_data_size;
	c->sized = true;
	while (*++letter && !r.bad) {
		switch (*letter) {
		case 'R':
			c->encoding = cfi_read_byte(&r);
			break;
		case 'P': /* only the size of the personality routine's pointer matters */
			cfi_read_pointer(&r, cfi_read_byte(&r) & 0x0f, 0);
			break;
		case 'L':
			cfi_read_byte(&r);
			break;
		case 'S':
			c->signal = true;
			break;
		case 'B': /* arm64: pointers are signed with key B */
		case 'G': /* arm64: the stack is tagged */
			break;
		default:
			return false;
		}
	}
	return !r.bad;
}

static bool read_cie(struct unwind_cfi *c, uint64_t offset, struct unwind_cie *out)
{
	struct cfi_reader r = {c->data.d_buf, (uint8_t *)c->data.d_buf + c->data.d_size, false};
	const unsigned char *ident = c->source->image->header.e_ident;
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;
	uint64_t size;

	*out = (struct unwind_cie){
		.machine = unwind_source_machine(c->source),
		.bias = c->section.address - (uint64_t)(uintptr_t)c->data.d_buf,
		.encoding = DW_EH_PE_absptr,
	};
	if (fetch_cfi_bytes(c, offset, 4))
		return false;
	(void)cfi_read_block(&r, offset);
	size = cfi_read_fixed(&r, 4);
	if (size > CIE_MAX || r.bad || fetch_cfi_bytes(c, offset + 4, size))
		return false;
	if (dwarf_next_cfi(ident, (Elf_Data *)&c->data, c->section.eh, offset, &next, &entry) ||
	    !dwarf_cfi_cie_p(&entry) || entry.cie.return_address_register != out->machine->ra)
		return false;
	out->code_align = entry.cie.code_alignment_factor;
	out->data_align = entry.cie.data_alignment_factor;
	r = (struct cfi_reader){
		entry.cie.initial_instructions,
		entry.cie.initial_instructions_end,
		false,
	};
	return cfi_read_augmentation(out, &entry.cie) && unwind_frame_begin(out, r);
}

/*
 * Find or read a CIE; NULL if it is invalid. CIEs are kept since several FDEs in a row refer to the
 * same one.
 */
static const struct unwind_cie *find_cie(struct unwind_cfi *c, uint64_t offset)
{
	struct cached_cie *k = &c->known[offset / 8 % CIES_KEPT];

	if (!k->set || k->offset != offset) {
		k->set = true;
		k->offset = offset;
		k->good = read_cie(c, offset, &k->cie);
	}
	return k->good ? &k->cie : NULL;
}

/*
 * Add the rows of one function. If only its instructions are invalid, mark the function as bad.
 * Return 0; -EBADMSG: the rest of the description is invalid; -ENOMEM or -E2BIG.
 */
static int add_fde_rows(struct unwind_cfi *c, const Dwarf_FDE *fde)
{
	const struct unwind_cie *cie = find_cie(c, fde->CIE_pointer);
	struct cfi_reader r = {fde->start, fde->end, false};
	uint64_t address, size, offset, room;
	int ret;

	if (!cie)
		return -EBADMSG;
	address = cfi_read_pointer(&r, cie->encoding, cie->bias);
	size = cfi_read_pointer(&r, cie->encoding & 0x0f, 0);
	if (cie->sized)
		(void)cfi_read_block(&r, cfi_read_uleb(&r));
	if (r.bad)
		return -EBADMSG;
	/* Skip functions that the linker has dropped. */
	if (!size || !address)
		return 0;
	if (!unwind_source_offset(c->source, address, &offset, &room) || size > room)
		return -EBADMSG;
	ret = unwind_rows_begin(c->rows, UNWIND_LAYER_FRAMES, offset, offset + size);
	if (ret)
		return ret == -EINVAL ? -EBADMSG : ret;
	ret = unwind_frame_run(cie, r, address, c->source->hash ? 1 : size, c->rows);
	if (ret != -EBADMSG && ret != -EINVAL)
		return ret;
	unwind_rows_mark_bad(c->rows);
	return 0;
}

/*
 * Return whether entries may follow the terminator at offset at, and set *next to the offset after
 * it. An .eh_frame section may have a terminator before its end: programs find functions by
 * .eh_frame_hdr and do not see the terminator.
 */
static bool skip_cfi_terminator(const struct unwind_cfi *c, uint64_t at, uint64_t *next)
{
	*next = at + 4;
	return c->section.eh && !c->section.open_ended && *next < c->data.d_size;
}

static int read_cfi_entries(struct unwind_cfi *c)
{
	const struct elf_image *image = c->source->image;
	uint64_t at = 0, next, entries = 0;
	Dwarf_CFI_Entry entry;
	int ret = 0, state;

	while (!ret && at < c->data.d_size) {
		next = at;
		state = dwarf_next_cfi(image->header.e_ident, &c->data, c->section.eh, at, &next,
				       &entry);
		if (state > 0 && !skip_cfi_terminator(c, at, &next))
			break;
		if (state == 0 && !dwarf_cfi_cie_p(&entry))
			ret = add_fde_rows(c, &entry.fde);
		if (state < 0 || ret == -EBADMSG) {
			c->rows->refused++;
			ret = 0;
		}
		/*
		 * If libdw cannot find the start of the next entry, the rest of the section is
		 * lost.
		 */
		if (next <= at)
			break;
		at = next;
		if (!(++entries % HEARTBEAT_ENTRIES))
			heartbeat_send(image->heartbeat);
	}
	return ret;
}

static int read_cfi_section(struct unwind_rows *rows, const struct unwind_source *s, bool eh)
{
	struct unwind_cfi c = {.source = s, .rows = rows};
	int ret = unwind_cfi_find(s, eh, &c.section);

	if (ret)
		return ret == -ENOENT ? 0 : ret;
	c.data = (Elf_Data){
		.d_buf = malloc(c.section.size),
		.d_size = c.section.size,
		.d_version = EV_CURRENT,
	};
	if (!c.data.d_buf)
		return -ENOMEM;
	ret = unwind_source_read(s, c.section.offset, c.data.d_buf, c.section.size);
	if (!ret)
		ret = read_cfi_entries(&c);
	free(c.data.d_buf);
	return ret;
}

int unwind_cfi_read(struct unwind_rows *rows, const struct unwind_source *s)
{
	int ret = read_cfi_section(rows, s, true);

	/* Skip Go's .debug_frame, which does not describe stack switches. */
	if (!ret && rows->layers[UNWIND_LAYER_FRAMES].count < FUNCTIONS_FEW &&
	    !rows->layers[UNWIND_LAYER_LINES].count)
		ret = read_cfi_section(rows, s, false);
	return ret;
}

int unwind_cfi_open(struct unwind_cfi **out, struct unwind_rows *rows,
		    const struct unwind_source *s)
{
	struct unwind_cfi *c = calloc(1, sizeof(*c));
	int ret = -ENOMEM;

	if (!c)
		return ret;
	c->source = s;
	c->rows = rows;
	ret = unwind_cfi_find(s, true, &c->section);
	if (ret)
		goto end;
	/* For large sizes, calloc() maps memory that takes pages only once they are written to. */
	c->data = (Elf_Data){
		.d_buf = calloc(1, c->section.size),
		.d_size = c->section.size,
		.d_version = EV_CURRENT,
	};
	c->loaded = calloc(c->section.size / CFI_BLOCK + 1, 1);
	ret = c->data.d_buf && c->loaded ? 0 : -ENOMEM;
	if (ret)
		goto end;
	*out = c;
	c = NULL;
end:
	unwind_cfi_close(c);
	return ret;
}

void unwind_cfi_close(struct unwind_cfi *c)
{
	if (!c)
		return;
	free(c->data.d_buf);
	free(c->loaded);
	free(c);
}

const struct unwind_cfi_section *unwind_cfi_section(const struct unwind_cfi *c)
{
	return &c->section;
}

/*
 * Return whether an entry may describe the function at address. An entry that is invalid may
 * describe any function, so it also passes.
 */
static bool may_fde_describe(struct unwind_cfi *c, const Dwarf_FDE *fde, uint64_t address)
{
	const struct unwind_cie *cie = find_cie(c, fde->CIE_pointer);
	struct cfi_reader r = {fde->start, fde->end, false};

	return !cie || cfi_read_pointer(&r, cie->encoding, cie->bias) == address || r.bad;
}

int unwind_cfi_add(struct unwind_cfi *c, uint64_t address, uint64_t entry_address)
{
	uint64_t at = entry_address - c->section.address, next = 0;
	Dwarf_CFI_Entry entry;
	uint32_t size;
	int ret = fetch_cfi_bytes(c, at, sizeof(size));

	if (ret)
		return ret;
	memcpy(&size, (char *)c->data.d_buf + at, sizeof(size));
	ret = size && size <= FDE_MAX ? fetch_cfi_bytes(c, at + 4, size) : -EBADMSG;
	if (ret)
		return ret;
	if (dwarf_next_cfi(c->source->image->header.e_ident, &c->data, true, at, &next, &entry) ||
	    dwarf_cfi_cie_p(&entry) || !may_fde_describe(c, &entry.fde, address))
		return -EBADMSG;
	ret = add_fde_rows(c, &entry.fde);
	if (ret != -EBADMSG)
		return ret;
	c->rows->refused++;
	return 0;
}

/* Set *out to the .eh_frame at address, whose size is at most the rest of the segment. */
static bool find_loaded(const struct elf_image *image, uint64_t address,
			struct unwind_cfi_section *out)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(image->elf, &count) < 0)
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(image->elf, (int)i, &p); i++) {
		uint64_t within = address - p.p_vaddr;

		if (p.p_type != PT_LOAD || address < p.p_vaddr || within >= p.p_filesz)
			continue;
		*out = (struct unwind_cfi_section){
			.address = address,
			.offset = p.p_offset + within,
			.size = p.p_filesz - within,
			.eh = true,
			.open_ended = true,
		};
		return out->offset >= within && out->offset <= image->size &&
		       out->size <= image->size - out->offset;
	}
	return false;
}

/*
 * Find .eh_frame by .eh_frame_hdr: version, three encodings, address of .eh_frame (LSB core
 * specification, section 10.6.2).
 */
static bool find_eh_frame_by_header(const struct elf_image *image, struct unwind_cfi_section *out)
{
	uint8_t header[12];
	struct cfi_reader r = {header + 4, header + sizeof(header), false};
	struct unwind_cfi_section section;
	uint64_t address;
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(image->elf, &count) < 0)
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(image->elf, (int)i, &p); i++) {
		if (p.p_type != PT_GNU_EH_FRAME || p.p_filesz < sizeof(header) ||
		    elf_image_read(image, p.p_offset, header, sizeof(header)) || header[0] != 1)
			continue;
		address = cfi_read_pointer(&r, header[1], p.p_vaddr - (uint64_t)(uintptr_t)header);
		if (r.bad || !find_loaded(image, address, &section))
			return false;
		*out = section;
		return true;
	}
	return false;
}

int unwind_cfi_find(const struct unwind_source *s, bool eh, struct unwind_cfi_section *out)
{
	GElf_Shdr section;

	if (elf_section_named(s->image, eh ? ".eh_frame" : ".debug_frame", &section)) {
		if (section.sh_type == SHT_NOBITS || section.sh_flags & SHF_COMPRESSED ||
		    !section.sh_size)
			return -ENOENT;
		*out = (struct unwind_cfi_section){
			.address = section.sh_addr,
			.offset = section.sh_offset,
			.size = section.sh_size,
			.eh = eh,
		};
	} else if (!eh || !find_eh_frame_by_header(s->image, out)) {
		return -ENOENT;
	}
	if (!out->open_ended)
		return out->size > SECTION_MAX ? -E2BIG : 0;
	out->size = out->size < SECTION_MAX ? out->size : SECTION_MAX;
	return 0;
}
