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
 * Read the sections of image if they have at most budget bytes when unpacked; set *needed to their
 * size, also if they are too large. Return 0; -ENOENT: there is no .debug_info; -E2BIG: too large;
 * -EBADMSG: the sections are invalid, or the file has 32 bits or another byte order; -ENOMEM; or an
 * error of reading the file. Call dwarf_image_close() also after failure.
 */
int dwarf_image_open(struct dwarf_image *out, const struct elf_image *image, uint64_t budget,
		     uint64_t *needed);
void dwarf_image_close(struct dwarf_image *d);

/*
 * Read which file has the image's common information (.gnu_debugaltlink, made by dwz): its path,
 * with a NUL, and its build-id as lowercase hex. Return false if there is none, or if the section
 * is invalid or does not fit.
 */
bool dwarf_image_alternate(const struct elf_image *image, char *path, size_t path_size, char *id,
			   size_t id_size);

#endif
