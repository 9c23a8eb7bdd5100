/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file opened for reading, with every access bounded: libelf decodes headers, notes and
 * symbols; bytes are read by pread(), or from memory for the ELF file inside .gnu_debugdata.
 * Nothing is mmapped, so that a file which is truncated meanwhile causes an error and not a SIGBUS.
 */
#ifndef SKEIN_SYMBOLIZERS_ELF_IMAGE_H
#define SKEIN_SYMBOLIZERS_ELF_IMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbolizers/client.h"
#include "symbolizers/elf_snapshot.h"
#include "symbolizers/heartbeat.h"

/* Bytes of section names that are kept; most files have 300. */
#define SECTION_NAMES_KEPT 1024

struct elf_image {
	Elf *elf;
	int fd; /* not owned; -1 when in memory */
	char *memory; /* owned */
	uint64_t size; /* bytes of the file or the memory */
	struct elf_snapshot *snapshot; /* NULL: none */
	GElf_Ehdr header;
	size_t sections;
	GElf_Shdr names; /* the section that holds the section names; sh_size 0: there is none */
	char kept_names[SECTION_NAMES_KEPT]; /* the first bytes of that section */
	size_t kept; /* number of bytes in kept_names */
	struct heartbeat *heartbeat;
};

/*
 * Open the ELF file whose descriptor is fd; the caller keeps fd. Return 0; -EBADMSG: not a regular
 * file, not an ELF file, or its headers are wrong; or another negative errno. Call
 * elf_image_close() also after failure.
 */
int elf_image_open(struct elf_image *out, int fd, struct heartbeat *heartbeat);
void elf_image_close(struct elf_image *image);

/*
 * Keep all bytes read from now on, so that all results from this image are made from the same bytes
 * even if the file changes meanwhile; elf_image_is_whole() shows later whether that was possible.
 * libelf also keeps the bytes that it has read.
 */
void elf_image_begin_snapshot(struct elf_image *image);
/* Return whether the image is in memory, or has a snapshot that has kept all bytes read. */
bool elf_image_is_whole(const struct elf_image *image);

/* Read exactly size bytes. Return 0, -EBADMSG beyond the end, or a negative errno. */
int elf_image_read(const struct elf_image *image, uint64_t offset, void *buf, size_t size);

/*
 * Find the file offset of size bytes at an address; false if no segment has all of them in the
 * file.
 */
bool elf_image_offset(const struct elf_image *image, uint64_t address, uint64_t size,
		      uint64_t *out);

/*
 * Get a section's header by number, or the first of that name, which has at most 31 bytes. Return
 * false if there is no such section inside of the file.
 */
bool elf_section(const struct elf_image *image, size_t number, GElf_Shdr *out);
bool elf_section_named(const struct elf_image *image, const char *name, GElf_Shdr *out);

/* Convert an entry of a 32-bit symbol table. */
static inline GElf_Sym elf_widen_symbol(const Elf32_Sym *s)
{
	return (GElf_Sym){
		.st_name = s->st_name,
		.st_info = s->st_info,
		.st_other = s->st_other,
		.st_shndx = s->st_shndx,
		.st_value = s->st_value,
		.st_size = s->st_size,
	};
}

/* Get the value of the dynamic segment's first entry with this tag; false if there is none. */
bool elf_dynamic(const struct elf_image *image, int64_t tag, uint64_t *out);
/* Get the header of the first section of this type, such as SHT_SYMTAB; false if there is none. */
bool elf_section_typed(const struct elf_image *image, uint32_t type, GElf_Shdr *out);

/*
 * Return the bytes of a section in malloc()ed memory; NULL if the section has no bytes in the file,
 * is larger than limit, compressed or unreadable, or there is no memory.
 */
char *elf_section_bytes(const struct elf_image *image, const GElf_Shdr *section, size_t limit);

/*
 * Open the ELF file inside .gnu_debugdata (LZMA, at most 64 MiB unpacked). Return 0; -ENOENT: there
 * is no such section; -EBADMSG; -ENOMEM. Call elf_image_close() also after failure. Source:
 * https://sourceware.org/gdb/current/onlinedocs/gdb.html/MiniDebugInfo.html
 */
int elf_image_open_debugdata(struct elf_image *out, const struct elf_image *from);

/* Set the build-id and the debuglink of facts, where the file has them. */
void elf_image_identity(const struct elf_image *image, struct object_facts *facts);

/* Compute the CRC-32 of the whole file, as in .gnu_debuglink. Return 0 or a negative errno. */
int elf_image_crc(const struct elf_image *image, uint32_t *out);

#endif
