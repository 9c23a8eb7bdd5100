/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which unit of a file's debugging information tells of an address, and which
 * function in it. The units' ranges are read once, the functions of a unit when
 * the first address in it is asked for.
 */
#ifndef SKEIN_SYMBOLIZERS_DWARF_UNITS_H
#define SKEIN_SYMBOLIZERS_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"
#include "symbolizers/beat.h"

struct dwarf_range {
	uint64_t start, end; /* end is exclusive */
	Dwarf_Off die; /* of the unit or the function */
};

typedef VECTOR(struct dwarf_range) dwarf_ranges_t; /* sorted by start, once they are all there */

struct dwarf_unit;

/* Zeroed memory is one without units. */
struct dwarf_units {
	Dwarf *dwarf; /* not owned */
	dwarf_ranges_t ranges;
	struct dwarf_unit *read; /* those whose functions are there */
	size_t functions; /* of those, ranges */
	unsigned int split; /* units whose information is in a .dwo file, which is not looked for */
	struct beat *beat;
};

/* Read the ranges of all units. 0, -EBADMSG, -E2BIG or -ENOMEM. Free also after failure. */
int dwarf_units_read(struct dwarf_units *u, Dwarf *dwarf, struct beat *b);
void dwarf_units_free(struct dwarf_units *u);

/*
 * The unit and the function at an address. 1: there is a unit, and a function if *in_function is
 * set; 0: no unit tells of it. Or errors as above.
 */
int dwarf_units_find(struct dwarf_units *u, uint64_t address, Dwarf_Die *unit, Dwarf_Die *function,
		     bool *in_function);

/* Does this part of a function cover the address? What has no range does not. */
bool dwarf_covers(Dwarf_Die *die, uint64_t address);

#endif
