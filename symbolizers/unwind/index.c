// SPDX-License-Identifier: Apache-2.0
/*
 * Find functions in .eh_frame_hdr. Entries are read one by one, since a binary search among a
 * hundred thousand entries reads only about twenty.
 */
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "symbolizers/unwind/index.h"

#define ENTRY_SIZE 8
/* Bytes of the header: version, three encodings, address of .eh_frame, number of entries. */
#define HEADER_SIZE 12
#define ENTRIES_MAX (16u << 20)

struct eh_frame_header {
	uint8_t version, frames_encoding, count_encoding, table_encoding;
	int32_t frames; /* address of .eh_frame, relative to this member */
	uint32_t count;
};

_Static_assert(sizeof(struct eh_frame_header) == HEADER_SIZE, "read as it lies in the file");

/* Return whether the header has the form that all linkers write. */
static bool is_usual_header(const struct eh_frame_header *h)
{
	return h->version == 1 && h->frames_encoding == (DW_EH_PE_pcrel | DW_EH_PE_sdata4) &&
	       h->count_encoding == DW_EH_PE_udata4 &&
	       h->table_encoding == (DW_EH_PE_datarel | DW_EH_PE_sdata4) && h->count <= ENTRIES_MAX;
}

static bool read_index_header(struct unwind_index *out, const GElf_Phdr *p,
			      const struct unwind_cfi_section *frames)
{
	struct eh_frame_header h;

	if (p->p_type != PT_GNU_EH_FRAME || p->p_filesz < sizeof(h) ||
	    unwind_source_read(out->source, p->p_offset, &h, sizeof(h)) || !is_usual_header(&h) ||
	    (p->p_filesz - sizeof(h)) / ENTRY_SIZE < h.count)
		return false;
	if (p->p_vaddr + offsetof(struct eh_frame_header, frames) + (uint64_t)(int64_t)h.frames !=
	    frames->address)
		return false;
	out->address = p->p_vaddr;
	out->offset = p->p_offset + sizeof(h);
	out->count = h.count;
	return true;
}

int unwind_index_open(struct unwind_index *out, const struct unwind_source *s,
		      const struct unwind_cfi_section *frames)
{
	size_t count;
	GElf_Phdr p;

	*out = (struct unwind_index){.source = s};
	if (elf_getphdrnum(s->image->elf, &count) < 0)
		return -ENOENT;
	for (size_t i = 0; i < count && gelf_getphdr(s->image->elf, (int)i, &p); i++) {
		if (read_index_header(out, &p, frames))
			return 0;
	}
	return -ENOENT;
}

int unwind_index_get(const struct unwind_index *x, uint64_t i, struct unwind_index_entry *out)
{
	int32_t entry[2];
	int ret = unwind_source_read(x->source, x->offset + i * ENTRY_SIZE, entry, sizeof(entry));

	if (ret)
		return ret;
	out->function = x->address + (uint64_t)(int64_t)entry[0];
	out->description = x->address + (uint64_t)(int64_t)entry[1];
	return 0;
}

int unwind_index_count_before(const struct unwind_index *x, uint64_t address, uint64_t *out)
{
	uint64_t low = 0, high = x->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct unwind_index_entry entry;
		int ret = unwind_index_get(x, middle, &entry);

		if (ret)
			return ret;
		if (entry.function < address)
			low = middle + 1;
		else
			high = middle;
	}
	*out = low;
	return 0;
}
