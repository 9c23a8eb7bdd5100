// SPDX-License-Identifier: Apache-2.0
/*
 * Read units and their functions. The search of entries only goes to entries with larger offsets,
 * so that forged references cannot lead into a cycle.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "symbolizers/dwarf_units.h"

/* Maximum number of ranges of units, or of functions of a unit; a file with more is bad. */
#define RANGES_MAX (4u << 20)
/*
 * Number of ranges of functions above which those of all units are dropped before another unit is
 * read.
 */
#define FUNCTIONS_MAX (1u << 20)
/* Maximum nesting of scopes in which functions are searched for. */
#define DEPTH_MAX 64
/*
 * Maximum number of ranges that are examined for an address. The nearest one would be enough for
 * valid files, whose ranges do not overlap.
 */
#define OVERLAP_MAX 32

/* The name of DW_AT_dwo_name in the extensions of DWARF 4. */
#define AT_GNU_DWO_NAME 0x2130

struct dwarf_unit {
	Dwarf_Off die;
	dwarf_ranges_t functions;
	UT_hash_handle hh;
};

static int by_dwarf_start(const void *a, const void *b)
{
	const struct dwarf_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void sort_dwarf_ranges(dwarf_ranges_t *ranges)
{
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), by_dwarf_start);
}

/*
 * Return the last range that contains the address; NULL if none of the last OVERLAP_MAX ranges that
 * begin at or before the address does.
 */
static const struct dwarf_range *find_dwarf_range(const dwarf_ranges_t *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < OVERLAP_MAX; i--) {
		if (address < ranges->items[i - 1].end)
			return &ranges->items[i - 1];
	}
	return NULL;
}

/*
 * Add all ranges of an entry, except empty ones and those that begin at 0, whose code the linker
 * has dropped.
 */
static int add_dwarf_ranges(dwarf_ranges_t *to, Dwarf_Die *die)
{
	struct dwarf_range r = {.die = dwarf_dieoffset(die)};
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &r.start, &r.end)) > 0) {
		if (!r.start || r.end <= r.start)
			continue;
		if (to->count >= RANGES_MAX)
			return -E2BIG;
		if (vector_push(to, r) < 0)
			return -ENOMEM;
	}
	return 0;
}

int dwarf_units_read(struct dwarf_units *u, Dwarf *dwarf, struct heartbeat *b)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int ret = 0, more;

	*u = (struct dwarf_units){.dwarf = dwarf, .heartbeat = b};
	while (!ret && (more = dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL)) == 0) {
		if (type == DW_UT_skeleton || dwarf_hasattr(&die, AT_GNU_DWO_NAME))
			u->split++;
		else if (type == DW_UT_compile)
			ret = add_dwarf_ranges(&u->ranges, &die);
		heartbeat_send(b);
	}
	sort_dwarf_ranges(&u->ranges);
	/* After an invalid unit, the units before it are still used. */
	return ret ? ret : more < 0 && !u->ranges.count ? -EBADMSG : 0;
}

static void drop_unit_functions(struct dwarf_units *u)
{
	struct dwarf_unit *unit, *next;

	HASH_ITER (hh, u->read, unit, next) {
		HASH_DEL(u->read, unit);
		vector_free(&unit->functions);
		free(unit);
	}
	u->functions = 0;
}

void dwarf_units_free(struct dwarf_units *u)
{
	drop_unit_functions(u);
	vector_free(&u->ranges);
}

/*
 * Return whether functions may be children of an entry: of a namespace, a type or, in some
 * languages, another function or a block in it.
 */
static bool may_hold_functions(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return dwarf_haschildren(die) > 0;
	default:
		return false;
	}
}

/* Move to the next entry on this level. Return 0; 1: there is none, or its offset is not larger. */
static int next_sibling(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);

	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > before ? 0 : 1;
}

/* Read all functions below the entry of a unit. */
static int read_unit_functions(struct dwarf_unit *unit, Dwarf_Die *root, struct heartbeat *b)
{
	Dwarf_Die level[DEPTH_MAX];
	int depth = 0, rc = 0;

	if (dwarf_child(root, &level[0]) != 0)
		return 0;
	while (!rc && depth >= 0) {
		Dwarf_Die *die = &level[depth];

		if (dwarf_tag(die) == DW_TAG_subprogram)
			rc = add_dwarf_ranges(&unit->functions, die);
		heartbeat_send(b);
		if (depth + 1 < DEPTH_MAX && may_hold_functions(die) &&
		    dwarf_child(die, &level[depth + 1]) == 0 &&
		    dwarf_dieoffset(&level[depth + 1]) > dwarf_dieoffset(die)) {
			depth++;
			continue;
		}
		while (depth >= 0 && next_sibling(&level[depth]))
			depth--;
	}
	sort_dwarf_ranges(&unit->functions);
	return rc;
}

static int find_or_read_unit(struct dwarf_units *u, Dwarf_Die *root, struct dwarf_unit **out)
{
	Dwarf_Off die = dwarf_dieoffset(root);
	struct dwarf_unit *unit;
	int ret;

	HASH_FIND(hh, u->read, &die, sizeof(die), unit);
	*out = unit;
	if (unit)
		return 0;
	if (u->functions > FUNCTIONS_MAX)
		drop_unit_functions(u);
	unit = calloc(1, sizeof(*unit));
	if (!unit)
		return -ENOMEM;
	unit->die = die;
	ret = read_unit_functions(unit, root, u->heartbeat);
	if (!ret) {
		HASH_ADD(hh, u->read, die, sizeof(die), unit);
		ret = HASH_HAS(hh, unit) ? 0 : -ENOMEM;
	}
	if (ret < 0) {
		vector_free(&unit->functions);
		free(unit);
		return ret;
	}
	u->functions += unit->functions.count;
	*out = unit;
	return 0;
}

int dwarf_units_find(struct dwarf_units *u, uint64_t address, Dwarf_Die *unit, Dwarf_Die *function,
		     bool *in_function)
{
	const struct dwarf_range *r = find_dwarf_range(&u->ranges, address);
	struct dwarf_unit *of;
	int ret;

	*in_function = false;
	if (!r)
		return 0;
	if (!dwarf_offdie(u->dwarf, r->die, unit))
		return -EBADMSG;
	ret = find_or_read_unit(u, unit, &of);
	if (ret < 0)
		return ret;
	r = find_dwarf_range(&of->functions, address);
	*in_function = r && dwarf_offdie(u->dwarf, r->die, function);
	return 1;
}

bool dwarf_covers(Dwarf_Die *die, uint64_t address)
{
	return dwarf_haspc(die, address) == 1;
}
