// SPDX-License-Identifier: Apache-2.0
/*
 * Pack the names of a table of symbols. A file's table of strings has the names of its data, too,
 * and names of C++ are long: what is left takes a fifth to a seventh (libstdc++, the kernel). Names
 * are added in the order of
 * the spans, by address, where neighbours are alike.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/symtab.h"

/* A span may be a part of the function before the last one, which has another one inside. */
#define RECENT 2

struct packing {
	struct name_blocks *blocks;
	uint32_t *names; /* of each span, by name_blocks_add() */
	size_t used; /* bytes of the names so far */
};

/* Set p->names[i] to the name of the span before it that has the same one. */
static bool is_recent_name(const struct packing *p, const struct symtab *t, size_t i)
{
	for (size_t k = 1; k <= RECENT && k <= i; k++)
		if (t->spans.items[i - k].name == t->spans.items[i].name) {
			p->names[i] = p->names[i - k];
			return true;
		}
	return false;
}

/*
 * Names may overlap in the file's table. A hostile file could have millions of long ones in few
 * bytes, so names that take more than the table itself are not packed.
 */
static int pack_names(struct packing *p, const struct symtab *t)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < t->spans.count; i++) {
		const char *name = t->names.items + t->spans.items[i].name;

		if (is_recent_name(p, t, i))
			continue;
		p->used += strlen(name) + 1;
		ret = p->used > t->names.count ? -E2BIG
					       : name_blocks_add(p->blocks, name, &p->names[i]);
	}
	return ret ? ret : name_blocks_end(p->blocks);
}

void symtab_pack(struct symtab *t)
{
	struct packing p = {0};

	if (t->packed || !t->spans.count)
		return;
	p.blocks = name_blocks_new();
	p.names = malloc(t->spans.count * sizeof(*p.names));
	if (!p.blocks || !p.names || pack_names(&p, t) < 0)
		goto out;
	for (size_t i = 0; i < t->spans.count; i++)
		t->spans.items[i].name = p.names[i];
	vector_free(&t->names);
	t->packed = p.blocks;
	p.blocks = NULL;
out:
	name_blocks_free(p.blocks);
	free(p.names);
}
