/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in the sources an address of an ELF file stands: the line, and the
 * functions that the compiler put into one another there (DWARF 2 to 5, by
 * libdw). Addresses asked for are file offsets, as in elf.h.
 */
#ifndef SKEIN_SYMBOLIZERS_DWARF_PLACES_H
#define SKEIN_SYMBOLIZERS_DWARF_PLACES_H

#include "symbolizers/client.h"
#include "symbolizers/dwarf_image.h"
#include "symbolizers/dwarf_units.h"
#include "symbolizers/elf.h"

/* Zeroed memory is a file that is not open. */
struct dwarf_places {
	struct elf elf; /* segments only */
	struct dwarf_image image, common;
	struct dwarf_units units;
};

struct dwarf_fds {
	int file; /* the ELF file itself */
	int debug; /* its separate debug file; -1: none */
	int common; /* what dwz took out of that, or out of the file; -1: none */
};

/*
 * Open the debugging information of a file: its own, else that of the debug file if that belongs
 * to it, each of budget bytes at most. *facts is filled also on failure: see there for what to do
 * about it. stamp: of the file, when it became known. 0; -ENOENT: there is none; -E2BIG;
 * -EBADMSG; -ESTALE; or another negative errno. Close also after failure.
 */
int dwarf_places_open(struct dwarf_places *ret, const struct dwarf_fds *fds,
		      const struct stamp *stamp, uint64_t budget, struct source_facts *facts,
		      struct beat *b);
void dwarf_places_close(struct dwarf_places *p);

/* One function at an address. Texts belong to libdw, and are "" where nothing is known. */
struct dwarf_place {
	const char *name; /* as the linker has it, else as the programmer wrote it */
	const char *declared; /* source file in which it is defined */
	uint32_t declared_line; /* where; 0 unknown */
	const char *file; /* of the line */
	uint32_t line; /* that runs, or that calls the function of the place before; 0 unknown */
	const char *folder; /* which files that do not begin with '/' are in; "" unknown */
};

/*
 * The places at an offset, innermost first, at most SOURCE_PLACES_MAX: what is deeper stands for
 * its caller. Returns how many; 0: nothing is known.
 */
unsigned int dwarf_places_find(struct dwarf_places *p, uint64_t offset,
			       struct dwarf_place ret[SOURCE_PLACES_MAX]);

#endif
