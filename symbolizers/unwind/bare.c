// SPDX-License-Identifier: Apache-2.0
/* Find functions that nothing describes by their symbols, and follow their paths. */
#include "symbolizers/unwind/bare.h"

#include <errno.h>
#include <stdlib.h>

#include "symbolizers/unwind/code_flow.h"

#define SYMBOLS_SIZE_MAX (4u << 20) /* bytes of .symtab; libjvm has 1.6 MiB */
#define FUNCTIONS_MAX 256 /* that are followed; libjvm has 9 */
#define CODE_MAX 4096 /* bytes of a function; libjvm's longest has 0.3 KiB */

struct bare {
	struct unwind_rows *rows;
	const struct unwind_source *source;
	uint64_t start, end; /* file offsets: the undescribed code of the function */
	unsigned int functions;
};

static int find_hole(void *context, uint64_t start, uint64_t end, enum unwind_layer layer,
		     struct unwind_extent *function)
{
	struct bare *b = context;

	(void)layer;
	if (!function && start == b->start)
		b->end = end;
	return 1;
}

static bool is_described(const struct bare *b, uint64_t offset)
{
	for (int layer = 0; layer < UNWIND_LAYERS; layer++) {
		if (unwind_rows_find(b->rows, (enum unwind_layer)layer, offset))
			return true;
	}
	return false;
}

/* Add a row for each run of instructions that the paths have found. */
static int add_rows(const struct bare *b, const struct code_flow *f)
{
	int ret = 0;

	for (size_t at = 0; !ret && at < f->size;) {
		const struct code_state *state = code_flow_state(f, at);
		struct unwind_rule rule;

		if (!state) {
			at++;
			continue;
		}
		rule = code_state_rule(state);
		ret = unwind_rows_add(b->rows, UNWIND_LAYER_LINES, b->start + at,
				      b->start + at + f->sizes[at], &rule);
		at += f->sizes[at];
	}
	return ret == -EINVAL ? 0 : ret;
}

/* Follow the code at b->start, of which nothing up to b->end is described. */
static int follow_function(struct bare *b)
{
	uint8_t code[CODE_MAX];
	struct code_flow f;
	bool made_sense = false;
	int ret;

	if (unwind_source_read(b->source, b->start, code, b->end - b->start))
		return 0;
	ret = code_flow_init(&f, code, b->end - b->start);
	if (!ret)
		ret = code_flow_try(&f, 0, &code_state_function, true, &made_sense);
	if (!ret && made_sense)
		ret = add_rows(b, &f);
	code_flow_free(&f);
	return ret;
}

/* Follow the function at an address, if it is not described. */
static int add_function(struct bare *b, uint64_t address)
{
	uint64_t room;

	if (!unwind_source_offset(b->source, address, &b->start, &room) || !room ||
	    is_described(b, b->start))
		return 0;
	b->functions++;
	b->end = b->start;
	unwind_rows_walk(b->rows, b->start, b->start + (room < CODE_MAX ? room : CODE_MAX),
			 find_hole, b);
	unwind_source_hash(b->source, (const uint64_t[]){b->start, b->end}, 2);
	return b->end > b->start ? follow_function(b) : 0;
}

int unwind_bare_add(struct unwind_rows *rows, const struct unwind_source *s)
{
	struct bare b = {.rows = rows, .source = s};
	GElf_Shdr section;
	Elf64_Sym *symbols;
	int ret = 0;

	if (unwind_source_machine(s)->elf != EM_X86_64 || s->parts.count ||
	    !rows->layers[UNWIND_LAYER_FRAMES].count ||
	    !elf_section_typed(s->image, SHT_SYMTAB, &section) ||
	    section.sh_size > SYMBOLS_SIZE_MAX)
		return 0;
	unwind_rows_sort(rows);
	symbols = (Elf64_Sym *)elf_section_bytes(s->image, &section, SYMBOLS_SIZE_MAX);
	for (size_t i = 0; symbols && !ret && i < section.sh_size / sizeof(*symbols); i++) {
		if (GELF_ST_TYPE(symbols[i].st_info) != STT_FUNC || symbols[i].st_size ||
		    symbols[i].st_shndx == SHN_UNDEF || b.functions == FUNCTIONS_MAX)
			continue;
		ret = add_function(&b, symbols[i].st_value);
		unwind_rows_sort(rows);
	}
	free(symbols);
	return ret;
}
