// SPDX-License-Identifier: Apache-2.0
/* Find the chain of functions at an address: descend the scopes that cover the address. */
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "symbolizers/dwarf_places.h"

/* Limits of the nesting of scopes, and of the entries examined for one address. */
#define DEPTH_MAX 512
#define STEPS_MAX (1u << 20)
/* The name that libdw returns for an unknown file number. */
#define NO_FILE "???"

/*
 * If dwz has moved common information of an image (of) to another file, open that file if it is fd,
 * otherwise set facts->wants_common. Return 0 in both cases, or a negative errno if fd is invalid
 * or exceeds the budget.
 */
static int open_common(struct dwarf_places *p, const struct elf_image *of, int fd, uint64_t budget,
		       struct source_facts *facts)
{
	struct object_facts identity = {0};
	struct elf_image image;
	uint64_t needed;
	int ret;

	if (!dwarf_image_alternate(of, facts->common, sizeof(facts->common), facts->common_id,
				   sizeof(facts->common_id)))
		return 0;
	facts->wants_common = true;
	if (fd < 0)
		return 0;
	ret = elf_image_open(&image, fd, of->heartbeat);
	if (!ret) {
		elf_image_identity(&image, &identity);
		if (strcmp(identity.build_id, facts->common_id) != 0)
			ret = -ENOENT;
	}
	if (!ret)
		ret = dwarf_image_open(&p->common, &image, budget, &needed);
	elf_image_close(&image);
	if (ret == -E2BIG)
		facts->needed += needed;
	if (!ret) {
		dwarf_setalt(p->image.dwarf, p->common.dwarf);
		facts->wants_common = false;
	}
	return ret == -ENOENT ? 0 : ret;
}

static int open_dwarf_places(struct dwarf_places *p, const struct elf_image *image, int common,
			     uint64_t budget, struct source_facts *facts)
{
	int ret = dwarf_image_open(&p->image, image, budget, &facts->needed);

	if (!ret)
		ret = open_common(p, image, common, budget - facts->needed, facts);
	if (!ret)
		ret = dwarf_units_read(&p->units, p->image.dwarf, image->heartbeat);
	facts->split = p->units.split;
	/* A file all of whose units are in other files has no information itself. */
	return !ret && !p->units.ranges.count ? -ENOENT : ret;
}

static void close_dwarf_places(struct dwarf_places *p)
{
	dwarf_units_free(&p->units);
	dwarf_image_close(&p->image);
	dwarf_image_close(&p->common);
}

static int open_places_of_debug_file(struct dwarf_places *p, const struct elf_files *files,
				     const struct object_facts *identity, uint64_t budget,
				     struct source_facts *facts)
{
	struct elf_image debug;
	int ret = elf_image_open(&debug, files->debug, files->file.heartbeat);

	if (!ret)
		ret = elf_is_debug_file_of(&debug, identity)
			      ? open_dwarf_places(p, &debug, files->common, budget, facts)
			      : -ENOENT;
	elf_image_close(&debug);
	return ret;
}

static void set_source_identity(struct source_facts *facts, const struct object_facts *identity)
{
	memcpy(facts->build_id, identity->build_id, sizeof(facts->build_id));
	memcpy(facts->debuglink, identity->debuglink, sizeof(facts->debuglink));
}

int dwarf_places_open(struct dwarf_places *out, const struct elf_files *files, uint64_t budget,
		      struct source_facts *facts)
{
	struct object_facts identity = {0};
	struct elf_image image;
	int ret;

	*out = (struct dwarf_places){0};
	ret = elf_image_open(&image, files->file.fd, files->file.heartbeat);
	if (!ret) {
		elf_image_identity(&image, &identity);
		set_source_identity(facts, &identity);
		ret = elf_read_segments(&out->elf, &image);
	}
	if (!ret)
		ret = open_dwarf_places(out, &image, files->common, budget, facts);
	elf_image_close(&image);
	if (ret == -ENOENT && files->debug >= 0) {
		close_dwarf_places(out);
		ret = open_places_of_debug_file(out, files, &identity, budget, facts);
	}
	facts->wants_debug = ret == -ENOENT && !facts->split;
	return ret ? ret : stamp_check(files->file.fd, &files->file.stamp);
}

void dwarf_places_close(struct dwarf_places *p)
{
	close_dwarf_places(p);
	elf_free(&p->elf);
	*p = (struct dwarf_places){0};
}

static bool is_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

/*
 * Find the scope that covers the address among the children of *die, and set *die to the scope.
 * Return false if there is none, or if more than STEPS_MAX entries were examined.
 */
static bool enter_scope(Dwarf_Die *die, uint64_t address, unsigned int *steps)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	for (;;) {
		Dwarf_Off before = dwarf_dieoffset(&child);

		if (++*steps > STEPS_MAX || before <= dwarf_dieoffset(die))
			return false;
		if (is_scope(&child) && dwarf_covers(&child, address))
			break;
		if (dwarf_siblingof(&child, &child) != 0 || dwarf_dieoffset(&child) <= before)
			return false;
	}
	*die = child;
	return true;
}

/*
 * List a function and the functions inlined into it at the address, outermost first. Return the
 * number of functions.
 */
static unsigned int list_inlined(Dwarf_Die *function, uint64_t address,
				 Dwarf_Die chain[SOURCE_PLACES_MAX])
{
	Dwarf_Die die = *function;
	unsigned int count = 0, steps = 0;

	chain[count++] = *function;
	for (int depth = 0; depth < DEPTH_MAX && enter_scope(&die, address, &steps); depth++) {
		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		if (count == SOURCE_PLACES_MAX)
			break;
		chain[count++] = die;
	}
	return count;
}

static const char *dwarf_text(const char *s)
{
	return s ? s : "";
}

/*
 * Get the attribute and its number. Return false if there is no such attribute, or if its number is
 * larger than INT32_MAX.
 */
static bool attribute_number(Dwarf_Die *die, unsigned int attribute, Dwarf_Attribute *a,
			     uint32_t *out)
{
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, attribute, a) || dwarf_formudata(a, &value) != 0 ||
	    value > INT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

static uint32_t attribute_line(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute a;
	uint32_t number;

	return attribute_number(die, attribute, &a, &number) ? number : 0;
}

/* Return the file that the attribute refers to by number, or "". 0 is valid since DWARF 5. */
static const char *attribute_file(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute a;
	Dwarf_Files *files;
	const char *name = NULL;
	uint32_t number;
	Dwarf_Die unit;
	size_t count;

	if (attribute_number(die, attribute, &a, &number) &&
	    dwarf_cu_die(a.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) &&
	    dwarf_getsrcfiles(&unit, &files, &count) == 0 && number < count)
		name = dwarf_filesrc(files, number, NULL, NULL);
	return name && strcmp(name, NO_FILE) != 0 ? name : "";
}

static const char *unit_folder(Dwarf_Die *unit)
{
	Dwarf_Attribute a;

	return dwarf_text(dwarf_attr(unit, DW_AT_comp_dir, &a) ? dwarf_formstring(&a) : NULL);
}

static const char *function_linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		name = dwarf_formstring(&a);
	return dwarf_text(name ? name : dwarf_diename(die));
}

/* Set the file and line of the caller from which the function inlined was called. */
static void set_call_place(Dwarf_Die *inlined, struct dwarf_place *to)
{
	to->line = attribute_line(inlined, DW_AT_call_line);
	to->file = attribute_file(inlined, DW_AT_call_file);
}

static void set_line_place(Dwarf_Die *unit, uint64_t address, struct dwarf_place *to)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number = 0;

	to->file = "";
	to->line = 0;
	if (!line)
		return;
	to->file = dwarf_text(dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		to->line = (uint32_t)number;
}

static void set_function_place(Dwarf_Die *die, struct dwarf_place *to)
{
	to->name = function_linkage_name(die);
	to->declared = attribute_file(die, DW_AT_decl_file);
	to->declared_line = attribute_line(die, DW_AT_decl_line);
}

unsigned int dwarf_places_find(struct dwarf_places *p, uint64_t offset,
			       struct dwarf_place out[SOURCE_PLACES_MAX])
{
	Dwarf_Die unit, function, chain[SOURCE_PLACES_MAX];
	unsigned int count = 1;
	bool in_function;
	uint64_t address;

	memset(out, 0, SOURCE_PLACES_MAX * sizeof(*out));
	if (!elf_offset_to_address(&p->elf, offset, &address) ||
	    dwarf_units_find(&p->units, address, &unit, &function, &in_function) != 1)
		return 0;
	if (in_function)
		count = list_inlined(&function, address, chain);
	out[0].name = out[0].declared = "";
	out[0].folder = unit_folder(&unit);
	for (unsigned int i = 0; in_function && i < count; i++) {
		set_function_place(&chain[count - 1 - i], &out[i]);
		out[i].folder = out[0].folder;
	}
	set_line_place(&unit, address, &out[0]);
	for (unsigned int i = 1; i < count; i++)
		set_call_place(&chain[count - i], &out[i]);
	return in_function || out[0].line ? count : 0;
}
