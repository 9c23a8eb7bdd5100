/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the line of an address of an ELF file, and the functions inlined there (DWARF 2 to 5, by
 * libdw). Lookups use file offsets, as in elf.h.
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

/*
 * Open the debugging information of a file: its own, else that of the debug file if it belongs to
 * the file. budget: the most bytes of information, unpacked. *facts, which the caller has zeroed,
 * is filled also on failure except for status, and shows which other file would help. Return 0;
 * -ENOENT: there is no information; -E2BIG: it exceeds the budget; -EBADMSG: a file is invalid;
 * -ESTALE: the file changed; or another negative errno. Call dwarf_places_close() also after
 * failure.
 */
int dwarf_places_open(struct dwarf_places *out, const struct elf_files *files, uint64_t budget,
		      struct source_facts *facts);
void dwarf_places_close(struct dwarf_places *p);

/* One function at an address. Texts belong to libdw until the file is closed; "" if unknown. */
struct dwarf_place {
	const char *name; /* linkage name, else the name in the source */
	const char *declared; /* source file in which it is defined */
	uint32_t declared_line; /* line of that definition; 0 unknown */
	const char *file; /* source file of line */
	uint32_t line; /* the running line, or that of the call to the previous place; 0 unknown */
	const char *folder; /* folder of declared and of file, where these do not begin with '/' */
};

/*
 * Find the places at an offset, innermost first. If there are more than SOURCE_PLACES_MAX, the
 * innermost functions are left out and count as part of their caller. Return the number of places;
 * 0: none are known.
 */
unsigned int dwarf_places_find(struct dwarf_places *p, uint64_t offset,
			       struct dwarf_place out[SOURCE_PLACES_MAX]);

#endif
