/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of one ELF file. Lookups use file offsets, which are the same in every process that
 * maps the file; program headers translate them to the addresses of symbols.
 *
 * Symbols come from .symtab, else from the separate debug file, else from .gnu_debugdata and
 * .dynsym together (.gnu_debugdata leaves out the symbols of .dynsym), else from .dynsym and, in Go
 * programs, Go's own table of functions. Stubs of the PLT are named "function@plt". Where there is
 * no symbol, call frame information still gives the bounds of functions, which are found without a
 * name.
 */
#ifndef SKEIN_SYMBOLIZERS_ELF_H
#define SKEIN_SYMBOLIZERS_ELF_H

#include "symbolizers/elf_image.h"
#include "symbolizers/stamp.h"
#include "symbolizers/symtab.h"

struct elf_segment {
	uint64_t offset, size; /* place and size in the file */
	uint64_t address;
	bool executable;
};

struct elf_extent {
	uint64_t start, end;
};

struct elf {
	struct symtab symbols; /* sorted by address, not by file offset */
	VECTOR(struct elf_segment) segments;
	VECTOR(struct elf_extent) starts; /* functions in which threads begin, not found by name */
	bool entry_described; /* .eh_frame describes the function at the entry point */
};

/* An ELF file and the files that belong to it. */
struct elf_files {
	struct stamped_file file; /* the ELF file itself */
	int debug; /* fd of its separate debug file; -1: none */
	int common; /* fd of dwz's file of information common to file or debug; -1: none */
	/*
	 * 0: names are kept as they are; else they are packed, and the first table of strings that
	 * has this many bytes or more is not copied as a whole
	 */
	uint64_t strings_most;
};

/*
 * Read the symbols of the file, or of its debug file if that is needed and belongs to the file. The
 * caller keeps the descriptors. *facts, which the caller has zeroed, is filled as far as the file
 * could be read, also on failure. Return 0; -EBADMSG: not an ELF file, or an invalid one; -E2BIG:
 * too many symbols or names; -ESTALE: the file changed since its stamp was taken; or another
 * negative errno. Call elf_free() also after failure.
 */
int elf_read(struct elf *out, const struct elf_files *files, struct object_facts *facts);
void elf_free(struct elf *e);

/*
 * Estimate from the section headers how many bytes of memory elf_read() will need at once, without
 * those for .gnu_debugdata and for Go's table of functions.
 */
uint64_t elf_reading_bytes(const struct elf_files *files);

/*
 * Find the function at a file offset; its name may be "", and out->start is a file offset too. If
 * there is none, return false; out->flags still shows by SYMBOL_START whether threads begin there.
 * SYMBOL_START is set if
 *
 *  - the function holds the entry point of a program or of the dynamic linker,
 *  - the name of the function is one of those in which threads begin (clone, Go's mstart ...), or
 *    of those in Go that leave one stack for good for the beginning of another (mcall ...), or
 *  - call frame information has no return address at the function's first instruction, as for
 *    glibc's _start, clone and clone3, named or not.
 */
bool elf_find(const struct elf *e, uint64_t offset, struct found_symbol *out);

/* Return the bytes of memory in use. */
size_t elf_bytes(const struct elf *e);

/* Read only the segments, for elf_offset_to_address(). Return 0, -EBADMSG or -ENOMEM. */
int elf_read_segments(struct elf *e, const struct elf_image *image);
/* Convert a file offset to an address; false if no segment has the offset. */
bool elf_offset_to_address(const struct elf *e, uint64_t offset, uint64_t *out);
/*
 * Return whether debug is the debug file of the file with these facts: by build-id, or by CRC if
 * the file has no build-id.
 */
bool elf_is_debug_file_of(const struct elf_image *debug, const struct object_facts *facts);

/*
 * elf_start.c: add the function at the entry point, if elf_has_entry(), to e->starts. The bounds of
 * the function come from e->symbols, whose table for lookups must be built. Return 0 or -ENOMEM.
 */
int elf_add_entry(struct elf *e, const struct elf_image *image);
/*
 * Add a function to e->starts, which has at most 64; further and empty ones are ignored. Return 0
 * or -ENOMEM.
 */
int elf_add_start(struct elf *e, uint64_t start, uint64_t end);
/*
 * Add the functions in which threads begin by their code, if nothing describes the entry point, as
 * in musl. Call elf_add_frames() first. Return 0 or -ENOMEM.
 */
int elf_add_code_starts(struct elf *e, struct elf_image *image);
/*
 * Return whether the name is that of a function in which threads begin, or which in Go leaves one
 * stack for good for the beginning of another.
 */
bool elf_name_is_start(const char *name);
/*
 * Return whether the entry point is that of a program or of the dynamic linker; libraries may have
 * an entry point without a meaning.
 */
bool elf_has_entry(const struct elf_image *image);

/*
 * elf_frames.c: add the functions that .eh_frame describes to e->symbols, without names and ranked
 * below all symbols, and those in which threads begin to e->starts. Invalid descriptions are left
 * out. Return 0 or -ENOMEM.
 */
int elf_add_frames(struct elf *e, const struct elf_image *image);

/*
 * elf_go.c: add the functions of a Go program to e->symbols, from Go's own table. Return 0, also
 * without a valid table, or a negative errno.
 */
int elf_add_go(struct elf *e, const struct elf_image *image);

/*
 * elf_plt.c: add the stubs of the procedure linkage table to e->symbols, for 64-bit x86 and arm64.
 * Return 0, also without stubs, or a negative errno.
 */
int elf_add_plt(struct elf *e, const struct elf_image *image);

#endif
