// SPDX-License-Identifier: Apache-2.0
/*
 * Pack the names of a table of symbols. A file's table of strings has the names of its data, too,
 * and names of C++ are long: what is left takes a fifth to a seventh (libstdc++, the kernel). Names
 * are added in an order in which neighbours are alike.
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
	uint32_t *order; /* spans in the order in which their names are added; NULL: in their own */
	size_t used; /* bytes of the names so far */
	size_t most; /* of used */
};

static int by_name(const void *a, const void *b, void *spans)
{
	const struct symbol_span *s = spans;
	const uint32_t x = s[*(const uint32_t *)a].name, y = s[*(const uint32_t *)b].name;

	return (x > y) - (x < y);
}

/*
 * Names in memory are added in the order of the spans, by address, those outside in the order of
 * the file. That takes less memory (rustc's library: 3.2 MiB in place of 3.7; its LLVM: 3.7 in
 * place of 4.0), and more time: reading these files takes 0.24 s in place of 0.14.
 */
static int order_names(struct packing *p, const struct symtab *t)
{
	if (!t->outside.size)
		return 0;
	p->order = malloc(t->spans.count * sizeof(*p->order));
	if (!p->order)
		return -ENOMEM;
	for (size_t i = 0; i < t->spans.count; i++)
		p->order[i] = (uint32_t)i;
	qsort_r(p->order, t->spans.count, sizeof(*p->order), by_name, t->spans.items);
	return 0;
}

static size_t ordered(const struct packing *p, size_t i)
{
	return p->order ? p->order[i] : i;
}

/* Set the name of the span at place i to that of a span just before it that has the same one. */
static bool is_recent_name(const struct packing *p, const struct symtab *t, size_t i)
{
	const size_t span = ordered(p, i);

	for (size_t k = 1; k <= RECENT && k <= i; k++) {
		const size_t before = ordered(p, i - k);

		if (t->spans.items[before].name == t->spans.items[span].name) {
			p->names[span] = p->names[before];
			return true;
		}
	}
	return false;
}

/* Return the name of a span; NULL: it is outside, and cannot be read. */
static const char *name_of_span(struct symtab *t, uint32_t name)
{
	return name & SYMBOL_NAME_OUTSIDE
		       ? symbol_strings_next(&t->outside, name & ~SYMBOL_NAME_OUTSIDE)
		       : t->names.items + name;
}

/*
 * Names may overlap in the file's table. A hostile file could have millions of long ones in few
 * bytes, so names that take more than the table itself are not packed; of a table outside, those
 * that take more than twice as much, since the table cannot be used then.
 */
static int pack_names(struct packing *p, struct symtab *t)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < t->spans.count; i++) {
		const size_t span = ordered(p, i);
		const char *name;

		if (is_recent_name(p, t, i))
			continue;
		name = name_of_span(t, t->spans.items[span].name);
		if (!name)
			return -EIO;
		p->used += strlen(name) + 1;
		ret = p->used > p->most ? -E2BIG
					: name_blocks_add(p->blocks, name, &p->names[span]);
	}
	return ret ? ret : name_blocks_end(p->blocks);
}

int symtab_pack(struct symtab *t)
{
	struct packing p = {.most = t->names.count + 2 * t->outside.size};
	int ret = -ENOMEM;

	if (t->packed || !t->spans.count)
		return 0;
	p.blocks = name_blocks_new();
	p.names = malloc(t->spans.count * sizeof(*p.names));
	if (p.blocks && p.names)
		ret = order_names(&p, t);
	if (!ret)
		ret = pack_names(&p, t);
	if (ret < 0)
		goto out;
	for (size_t i = 0; i < t->spans.count; i++)
		t->spans.items[i].name = p.names[i];
	vector_free(&t->names);
	symbol_strings_close(&t->outside);
	t->packed = p.blocks;
	p.blocks = NULL;
out:
	name_blocks_free(p.blocks);
	free(p.names);
	free(p.order);
	return ret;
}
