/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debugging information of one ELF file in memory, as libdw takes it: only
 * the sections that tell of lines and inlined functions, unpacked, copied into
 * an ELF image of their own. So its size is known before it is read, the file
 * may change meanwhile, and libdw has no path to look for other files.
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
 * Read the sections of image, of at most budget bytes when unpacked; *needed is
 * how many there are, also where they are too many. 0; -ENOENT: it has none;
 * -E2BIG: too many; -EBADMSG: they are no debugging information, or not of this
 * machine's kind; -ENOMEM. Close also after failure.
 */
int dwarf_image_open(struct dwarf_image *ret, const struct elf_image *image, uint64_t budget,
		     uint64_t *needed);
void dwarf_image_close(struct dwarf_image *d);

/*
 * Where the image says that its common part lies (.gnu_debugaltlink, made by
 * dwz): the path into *path, NUL-terminated, and the build-id as lowercase hex.
 * false: there is none, or it makes no sense.
 */
bool dwarf_image_alternate(const struct elf_image *image, char *path, size_t path_size, char *id,
			   size_t id_size);

#endif
