// SPDX-License-Identifier: Apache-2.0
/* Read kallsyms, which has no sizes: a function ends where the next symbol of any kind begins. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizers/kernel.h"
#include "symbolizers/lines.h"

/*
 * Largest size of a function, in bytes. It limits a function that no other symbol follows closely,
 * such as the last one of a module.
 */
#define FUNCTION_MAX (1u << 20)
#define KALLSYMS_MAX (256u << 20) /* bytes that are read */
#define ADDED_MAX (1u << 16) /* symbols */

struct kallsyms_entry {
	uint64_t address;
	char type; /* as in nm(1) */
	const char *name;
	size_t name_size;
	const char *module; /* "[MODULE]"; NULL: the kernel itself */
	size_t module_size;
};

static bool parse_kallsyms_line(const struct text_line *line, struct kallsyms_entry *out)
{
	const char *p = line->text, *end = p + line->length, *tab;

	*out = (struct kallsyms_entry){0};
	if (line->too_long || !lines_parse_hex(&p, end, &out->address) || end - p < 3 ||
	    p[1] != ' ')
		return false;
	out->type = p[0];
	out->name = p + 2;
	tab = memchr(out->name, '\t', (size_t)(end - out->name));
	if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']') {
		out->module = tab + 1;
		out->module_size = (size_t)(end - out->module);
		end = tab;
	}
	out->name_size = (size_t)(end - out->name);
	return out->name_size > 0;
}

static int add_kallsyms_entry(struct symtab *t, const struct kallsyms_entry *e)
{
	struct symbol_range r = {.start = e->address, .end = e->address + FUNCTION_MAX};
	char name[1024];
	int64_t at;

	if (r.end < r.start)
		r.end = UINT64_MAX;
	/* Symbols of other types, such as data, only mark the end of the function before them. */
	if (!strchr("tTwW", e->type))
		return symtab_add(t, &r);
	if (!e->module) {
		at = symtab_add_name(t, e->name, e->name_size);
	} else {
		if (e->name_size + e->module_size + 1 > sizeof(name))
			return 0;
		memcpy(name, e->name, e->name_size);
		name[e->name_size] = ' ';
		memcpy(name + e->name_size + 1, e->module, e->module_size);
		at = symtab_add_name(t, name, e->name_size + 1 + e->module_size);
	}
	if (at < 0)
		return (int)at;
	r.name = (uint32_t)at;
	return symtab_add(t, &r);
}

/*
 * Order ranges by address; at one address, a function ranks above data, and the first line above
 * later ones.
 */
static int by_kernel_address(const void *a, const void *b)
{
	const struct symbol_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return !x->name != !y->name ? (x->name ? 1 : -1)
				    : (x->name < y->name) - (x->name > y->name);
}

static void end_kernel_symbols(struct symtab *t)
{
	uint64_t next = UINT64_MAX;

	qsort(t->ranges.items, t->ranges.count, sizeof(*t->ranges.items), by_kernel_address);
	for (size_t i = t->ranges.count; i-- > 0;) {
		struct symbol_range *r = &t->ranges.items[i];

		if (i + 1 < t->ranges.count && r[1].start != r->start)
			next = r[1].start;
		if (next < r->end)
			r->end = next;
		r->rank = (uint32_t)i;
	}
}

static int read_kallsyms_lines(struct symtab *t, struct lines *lines, struct object_facts *facts)
{
	bool shown = false;
	struct text_line line;
	struct kallsyms_entry e;
	int ret;

	while ((ret = lines_next(lines, &line)) > 0) {
		if (!parse_kallsyms_line(&line, &e)) {
			facts->bad_lines++;
			continue;
		}
		/*
		 * Per-CPU symbols have small values, so only an address above 4 GiB proves that the
		 * kernel does not hide addresses.
		 */
		shown |= e.address > UINT32_MAX;
		facts->symbols++;
		ret = add_kallsyms_entry(t, &e);
		if (ret < 0)
			return ret;
	}
	if (ret < 0 || shown)
		return ret;
	facts->hidden = facts->symbols > 0;
	return facts->hidden ? -EACCES : -EBADMSG;
}

int kernel_read(struct kernel *k, int fd, struct object_facts *facts, struct heartbeat *b)
{
	struct lines *lines = malloc(sizeof(*lines));
	struct symtab t = {0};
	int ret = -ENOMEM;

	if (!lines)
		return ret;
	*lines = (struct lines){.fd = fd, .limit = KALLSYMS_MAX, .heartbeat = b};
	ret = read_kallsyms_lines(&t, lines, facts);
	if (!ret) {
		end_kernel_symbols(&t);
		ret = symtab_build(&t);
	}
	free(lines);
	if (ret < 0) {
		symtab_free(&t);
		return ret;
	}
	symtab_seal(&t);
	symtab_free(&k->symbols);
	k->symbols = t;
	return 0;
}

void kernel_free(struct kernel *k)
{
	symtab_free(&k->symbols);
	symtab_free(&k->added);
}

int kernel_add(struct kernel *k, uint64_t address, uint64_t size, const char *name, size_t length)
{
	struct symbol_range r = {.start = address, .end = address + size, .rank = k->next_rank};
	int64_t at;

	if (r.end < r.start || k->added.ranges.count >= ADDED_MAX)
		return -E2BIG;
	at = symtab_add_name(&k->added, name, length);
	if (at < 0)
		return (int)at;
	r.name = (uint32_t)at;
	k->next_rank++;
	k->dirty = true;
	return symtab_add(&k->added, &r);
}

bool kernel_find(struct kernel *k, uint64_t address, struct found_symbol *out)
{
	if (k->dirty && symtab_build(&k->added) == 0)
		k->dirty = false;
	*out = (struct found_symbol){.name = ""};
	return symtab_find(&k->added, address, out) || symtab_find(&k->symbols, address, out);
}

size_t kernel_bytes(const struct kernel *k)
{
	return symtab_bytes(&k->symbols) + symtab_bytes(&k->added);
}
