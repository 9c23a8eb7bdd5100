/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the unit of a file's debugging information that covers an address, and the function in the
 * unit. Ranges of units are read once, functions of a unit when the first address in the unit is
 * looked up.
 */
#ifndef SKEIN_SYMBOLIZERS_DWARF_UNITS_H
#define SKEIN_SYMBOLIZERS_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"
#include "symbolizers/heartbeat.h"

struct dwarf_range {
	uint64_t start, end; /* end is exclusive */
	Dwarf_Off die; /* offset of the entry of the unit or the function */
};

typedef VECTOR(struct dwarf_range) dwarf_ranges_t; /* sorted by start, once complete */

struct dwarf_unit;

/* Zeroed memory has no units. */
struct dwarf_units {
	Dwarf *dwarf; /* not owned */
	dwarf_ranges_t ranges;
	struct dwarf_unit *read; /* units whose functions were read */
	size_t functions; /* number of ranges of functions in the units of read */
	unsigned int split; /* number of units with information in .dwo files, which are not read */
	struct heartbeat *heartbeat;
};

/*
 * Read the ranges of all units except split ones. If a unit is invalid, those before it are kept.
 * Return 0; -EBADMSG: there is none before it; -E2BIG: too many ranges; -ENOMEM. Call
 * dwarf_units_free() also after failure.
 */
int dwarf_units_read(struct dwarf_units *u, Dwarf *dwarf, struct heartbeat *b);
void dwarf_units_free(struct dwarf_units *u);

/*
 * Find the unit and the function at an address. Return 1: there is a unit, and a function if
 * *in_function is set; 0: no unit covers the address; -EBADMSG, -E2BIG or -ENOMEM.
 */
int dwarf_units_find(struct dwarf_units *u, uint64_t address, Dwarf_Die *unit, Dwarf_Die *function,
		     bool *in_function);

/* Return whether the ranges of an entry cover the address; false without ranges. */
bool dwarf_covers(Dwarf_Die *die, uint64_t address);

#endif
