/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of one ELF file. Addresses asked for are file offsets, which
 * are the same in every process that maps the file; program headers translate
 * them to the addresses of symbols.
 *
 * Symbols come from .symtab, else from the separate debug file, else from
 * .gnu_debugdata and .dynsym together (the former leaves out what the latter
 * has), else from .dynsym; and Go programs without .symtab have a table of
 * their own. Stubs of the PLT are named "function@plt". Where there is no symbol, call frame
 * information still says where functions begin: these are found without a name.
 */
#ifndef SKEIN_SYMBOLIZERS_ELF_H
#define SKEIN_SYMBOLIZERS_ELF_H

#include "symbolizers/elf_image.h"
#include "symbolizers/stamp.h"
#include "symbolizers/symtab.h"

struct elf_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;
	bool executable;
};

struct elf_extent {
	uint64_t start, end;
};

struct elf {
	struct symtab symbols; /* by address, not by offset */
	VECTOR(struct elf_segment) segments;
	VECTOR(struct elf_extent) starts; /* where threads begin, by other means than names */
};

/*
 * Read the file behind fd, and debug_fd (-1: none) if it belongs to it. Both
 * stay the caller's. stamp: of fd, when the file became known. *facts is filled as far as the file
 * could be read, also on failure. 0; -EBADMSG: not an ELF file, hostile or too large; -ESTALE: it
 * changed since; or another negative errno. Free also after failure.
 */
int elf_read(struct elf *ret, int fd, int debug_fd, const struct stamp *stamp,
	     struct object_facts *facts, struct beat *b);
void elf_free(struct elf *e);

/*
 * The function at a file offset; its name may be "". Without one, false, but ret->flags tells
 * (SYMBOL_START) whether threads begin there. SYMBOL_START is set if the
 *  - function holds the entry point of a program or of the dynamic linker,
 *  - function is called like those in which threads begin (clone, Go's mstart ...), or, in Go,
 *    in which one stack is left for good for the beginning of another (mcall ...), or
 *  - call frame information says at its first instruction that there is no
 *    return address: glibc's _start, clone and clone3 do, named or not.
 */
bool elf_find(const struct elf *e, uint64_t offset, struct found *ret);

size_t elf_bytes(const struct elf *e);

/* Read the segments alone, for elf_address(). 0, -EBADMSG or -ENOMEM. */
int elf_read_segments(struct elf *e, const struct elf_image *image);
/* The address at a file offset; false if no segment has it. */
bool elf_address(const struct elf *e, uint64_t offset, uint64_t *ret);
/* Is it the debug file of the file with these facts, by build-id or else by CRC? */
bool elf_belongs(const struct elf_image *debug, const struct object_facts *facts);

/* elf_start.c: add the entry point's function, which is looked up in e, to e->starts. */
int elf_add_entry(struct elf *e, const struct elf_image *image);
int elf_add_start(struct elf *e, uint64_t start, uint64_t end);
bool elf_name_is_start(const char *name);
/* Whether the image's entry point is one: that of a program or of the dynamic linker. */
bool elf_has_entry(const struct elf_image *image);

/*
 * elf_frames.c: add the functions that .eh_frame describes to e->symbols, without names and below
 * all that have some, and those in which threads begin to e->starts. What makes no sense is left
 * out. 0 or -ENOMEM.
 */
int elf_add_frames(struct elf *e, const struct elf_image *image);

/* elf_go.c: add the functions of a Go program to e->symbols, by its own table of them. */
int elf_add_go(struct elf *e, const struct elf_image *image);

/* elf_plt.c: add the stubs of the procedure linkage table to e->symbols. */
int elf_add_plt(struct elf *e, const struct elf_image *image);

#endif
