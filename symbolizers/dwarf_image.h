/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debugging information of one ELF file in memory, as libdw reads it: only the sections for
 * lines and inlined functions, unpacked, and copied into an ELF image of their own. So the size is
 * known before the sections are read, the file may change meanwhile, and libdw has no path by which
 * it could search for other files.
 */
#ifndef SKEIN_SYMBOLIZERS_DWARF_IMAGE_H
#define SKEIN_SYMBOLIZERS_DWARF_IMAGE_H

#include <elfutils/libdw.h>

#include "symbolizers/elf_image.h"

struct dwarf_image {
	char *bytes;
	size_t size;
	Elf *elf;
	Dwarf *dwarf;
};

/*
 * Read the sections of image if they have at most budget bytes when unpacked; sets *needed to their
 * size, also if they are too large. Return 0; -ENOENT: there are none; -E2BIG: too large;
 * -EBADMSG: no debugging information, or of another kind of machine; -ENOMEM. Call
 * dwarf_image_close() also after failure.
 */
int dwarf_image_open(struct dwarf_image *out, const struct elf_image *image, uint64_t budget,
		     uint64_t *needed);
void dwarf_image_close(struct dwarf_image *d);

/*
 * Find the file with the image's common information (.gnu_debugaltlink, made by dwz): its path,
 * with a NUL, and its build-id as lowercase hex. Return false if there is none, or if the section
 * is invalid.
 */
bool dwarf_image_alternate(const struct elf_image *image, char *path, size_t path_size, char *id,
			   size_t id_size);

#endif
