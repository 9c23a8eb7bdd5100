// SPDX-License-Identifier: Apache-2.0
/* Find the symbols of HotSpot's tables in libjvm. */
#include <errno.h>
#include <string.h>

#include "symbolizers/elf_lookup.h"
#include "symbolizers/hotspot_tables.h"

/* All libjvm export the symbols; of files of 32 bits, nothing is known. */
static int find_objects(struct hotspot_objects *out, const struct elf_image *image)
{
	struct elf_symbol_table t;
	struct elf_hash hash;
	GElf_Shdr symbols, hashes;
	Elf64_Sym s;

	if (image->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    image->header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    !elf_section_typed(image, SHT_GNU_HASH, &hashes) ||
	    !elf_section_typed(image, SHT_DYNSYM, &symbols) ||
	    !elf_symbols_open(&t, image, &symbols) || !elf_hash_open(&hash, image, &hashes))
		return -ENOENT;
	for (int i = 0; i < HOTSPOT_OBJECTS; i++) {
		if (!elf_hash_find(&t, &hash, hotspot_object_name(i), STT_OBJECT, &s))
			return -ENOENT;
		out->address[i] = s.st_value;
	}
	return 0;
}

static int find_code_delta(uint64_t *out, const struct elf_image *image)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(image->elf, &count) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < count && gelf_getphdr(image->elf, (int)i, &p); i++) {
		if (p.p_type == PT_LOAD && p.p_flags & PF_X) {
			*out = p.p_vaddr - p.p_offset;
			return 0;
		}
	}
	return -ENOENT;
}

int hotspot_file_read(struct hotspot_objects *out, uint64_t *code_delta, int fd,
		      struct heartbeat *b)
{
	struct hotspot_objects objects;
	struct elf_image image;
	int ret = elf_image_open(&image, fd, b);

	if (!ret)
		ret = find_objects(&objects, &image);
	if (!ret)
		ret = find_code_delta(code_delta, &image);
	if (!ret)
		*out = objects;
	elf_image_close(&image);
	return ret;
}
