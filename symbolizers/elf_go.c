// SPDX-License-Identifier: Apache-2.0
/*
 * Name functions of stripped Go programs by Go's own table of functions, which is never stripped.
 */
#include <errno.h>
#include <string.h>

#include "symbolizers/elf.h"
#include "symbolizers/go_table.h"

/*
 * The rank is above those of all symbol tables: Go's table has the same functions, with their exact
 * ends.
 */
#define RANK (UINT32_MAX - 1)

/*
 * Add all names at once, unchanged, so that a name which several functions share is stored once.
 * Set *out to the offset of the first name in t->names.
 */
static int add_go_names(struct symtab *t, const struct go_table *table, uint32_t *out)
{
	size_t first = t->names.count ? t->names.count : 1;
	size_t size = table->names_end - table->names;

	if (first + size > SYMBOL_NAMES_MAX)
		return -E2BIG;
	if (vector_reserve(&t->names, size + 1) < 0)
		return -ENOMEM;
	t->names.items[0] = '\0';
	memcpy(t->names.items + first, table->bytes + table->names, size);
	t->names.count = first + size;
	*out = (uint32_t)first;
	return 0;
}

static int add_go_symbols(struct symtab *t, struct go_table *table)
{
	struct symbol_range range = {.rank = RANK};
	struct go_function f;
	uint32_t names = 0;
	int ret = add_go_names(t, table, &names);

	for (uint64_t i = 0; !ret && i < table->functions; i++) {
		if (go_table_function(table, i, &f) || !*go_table_name(table, &f))
			continue;
		range.start = f.start;
		range.end = f.end;
		range.name = names + (uint32_t)f.name;
		ret = symtab_add(t, &range);
	}
	return ret;
}

int elf_add_go(struct elf *e, const struct elf_image *image)
{
	struct go_table table;
	int ret = go_table_open(&table, image);

	if (!ret)
		ret = add_go_symbols(&e->symbols, &table);
	go_table_close(&table);
	return ret == -ENOENT || ret == -EBADMSG ? 0 : ret;
}
