// SPDX-License-Identifier: Apache-2.0
/*
 * Find functions by their symbols. GCC may split a function, and then appends to the names of its
 * parts: ".part.0", ".constprop.1", ".isra.0"; ".cold" is a part that does not begin it.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "symbolizers/probe_arguments.h"
#include "symbolizers/probe_finder.h"
#include "symbolizers/symtab.h"

#define SYMBOLS_READ 1024 /* entries at a time */
#define SYMBOL_LENGTH_MAX 1023 /* bytes of a name that is compared */
#define RETURNS_MAX 64 /* of one function */
#define PARTS_MAX 8 /* of one function */
#define FUNCTIONS_MAX 4096 /* that are kept, with their cold parts */

/* A symbol that matches. */
struct function {
	uint64_t address, size;
	const char *name;
	size_t base; /* bytes of name without a suffix */
	unsigned int row; /* as probe_site.row */
	bool cold;
};

typedef VECTOR(struct function) function_list;

void probe_symbols_free(struct probe_symbols *s)
{
	if (!s)
		return;
	free(s->strings);
	free(s);
}

static struct probe_symbols *read_probe_symbols(const struct elf_image *image)
{
	struct probe_symbols *s = calloc(1, sizeof(*s));
	uint64_t size = 0;
	GElf_Shdr section;

	if (s &&
	    (elf_section_typed(image, SHT_SYMTAB, &section) ||
	     elf_section_typed(image, SHT_DYNSYM, &section)) &&
	    elf_symbols_open(&s->table, image, &section))
		size = s->table.strings.sh_size;
	if (size && size <= SYMBOL_NAMES_MAX && s->table.count <= SYMBOLS_MAX)
		s->strings = malloc(size + 1);
	if (s && s->strings &&
	    !elf_image_read(image, s->table.strings.sh_offset, s->strings, size)) {
		s->strings[size] = '\0';
		return s;
	}
	probe_symbols_free(s);
	return NULL;
}

static struct probe_symbols *probe_symbols_of(struct probe_finder *f)
{
	if (!f->tried)
		f->symbols = read_probe_symbols(f->image);
	f->tried = true;
	return f->symbols;
}

/* Call each for every symbol with a name, until it returns something else than 0. */
static int each_symbol(struct probe_finder *f,
		       int (*each)(void *context, const Elf64_Sym *s, const char *name),
		       void *context)
{
	const struct probe_symbols *symbols = probe_symbols_of(f);
	Elf64_Sym entries[SYMBOLS_READ];
	int ret = 0;

	for (uint64_t at = 0; symbols && !ret && at < symbols->table.count; at += SYMBOLS_READ) {
		const uint64_t left = symbols->table.count - at;
		const size_t n = left < SYMBOLS_READ ? (size_t)left : SYMBOLS_READ;

		if (!elf_symbols_read(&symbols->table, at, n, entries))
			return -EBADMSG;
		heartbeat_send(f->image->heartbeat);
		for (size_t i = 0; !ret && i < n; i++)
			if (entries[i].st_name &&
			    entries[i].st_name < symbols->table.strings.sh_size)
				ret = each(context, &entries[i],
					   symbols->strings + entries[i].st_name);
	}
	return ret;
}

struct symbol_search {
	const char *name;
	uint64_t address;
};

static int is_searched_symbol(void *context, const Elf64_Sym *s, const char *name)
{
	struct symbol_search *search = context;

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || strcmp(name, search->name) != 0)
		return 0;
	search->address = s->st_value;
	return 1;
}

bool probe_symbols_find(struct probe_finder *f, const char *name, uint64_t *address)
{
	struct symbol_search search = {.name = name};

	if (each_symbol(f, is_searched_symbol, &search) != 1)
		return false;
	*address = search.address;
	return true;
}

/* Return the bytes of a symbol's name without a suffix of GCC, and whether it is a cold part. */
static size_t base_of_symbol(const char *name, bool *cold)
{
	const char *dot = strchr(name, '.');

	*cold = dot && strstr(dot, ".cold");
	return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

/* A function that is wanted: by its name in C, or by the beginning of its mangled name. */
struct wanted_symbol {
	unsigned int row; /* as probe_site.row */
	const char *name; /* of a row: the base of the symbol; of a pattern: a glob */
	char method[256]; /* "5Class6methodE", if the name has "::" */
	size_t size; /* bytes of method, or of a row's name */
	bool glob;
};

/*
 * A method "Class::method" is mangled as "_ZN", both names with their lengths, and "E"; as "_ZNK"
 * if it is const.
 */
static void mangle_method(struct wanted_symbol *w)
{
	size_t size = 0;

	for (const char *at = w->name; *at && size < sizeof(w->method);) {
		const char *end = strstr(at, "::");
		const int length = end ? (int)(end - at) : (int)strlen(at);

		size += (size_t)snprintf(w->method + size, sizeof(w->method) - size, "%d%.*s",
					 length, length, at);
		at = end ? end + 2 : at + length;
	}
	if (size + 1 >= sizeof(w->method))
		size = 0; /* too long: it is not found */
	strcpy(w->method + size, "E");
	w->size = size + 1;
}

static bool is_wanted_function(const struct wanted_symbol *w, const char *symbol, size_t base)
{
	char text[SYMBOL_LENGTH_MAX + 1];

	if (w->method[0]) {
		if (strncmp(symbol, "_ZN", 3) != 0)
			return false;
		symbol += symbol[3] == 'K' ? 4 : 3;
		return !strncmp(symbol, w->method, w->size);
	}
	if (!w->glob)
		return w->size == base && !memcmp(symbol, w->name, base);
	if (base > SYMBOL_LENGTH_MAX)
		return false;
	memcpy(text, symbol, base);
	text[base] = '\0';
	return !fnmatch(w->name, text, 0);
}

/* What each_symbol() looks for. */
struct function_search {
	struct probe_finder *finder;
	VECTOR(struct wanted_symbol) wanted;
	function_list found;
};

static bool is_function_origin(enum probe_origin o)
{
	return o == PROBE_FUNCTION || o == PROBE_RETURN;
}

static int want_function(struct function_search *search, unsigned int row, const char *name,
			 bool glob)
{
	struct wanted_symbol w = {.row = row, .name = name, .size = strlen(name), .glob = glob};

	if (strstr(name, "::"))
		mangle_method(&w);
	return vector_push(&search->wanted, w);
}

static int list_wanted(struct function_search *search)
{
	const struct probe_finder *f = search->finder;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < probe_row_count; i++)
		if (is_function_origin(probe_rows[i].origin) &&
		    probe_finder_wants_row(f, &probe_rows[i]))
			ret = want_function(search, i, probe_rows[i].name, false);
	for (unsigned int i = 0; !ret && i < f->wanted->count; i++)
		if (is_function_origin(f->wanted->patterns[i].origin) &&
		    probe_finder_wants_pattern(f, i))
			ret = want_function(search, probe_row_count + i,
					    f->wanted->patterns[i].name, true);
	return ret;
}

static int keep_function(struct function_search *search, const Elf64_Sym *s, const char *name,
			 size_t base, unsigned int row)
{
	struct function f = {s->st_value, s->st_size, name, base, row, false};

	(void)base_of_symbol(name, &f.cold);
	for (size_t i = 0; i < search->found.count; i++)
		if (search->found.items[i].address == f.address &&
		    search->found.items[i].row == row)
			return 0; /* another name of the same function */
	if (search->found.count >= FUNCTIONS_MAX) {
		search->finder->out->dropped++;
		return 0;
	}
	return vector_push(&search->found, f);
}

static int match_function(void *context, const Elf64_Sym *s, const char *name)
{
	struct function_search *search = context;
	bool cold;
	size_t base = base_of_symbol(name, &cold);
	int ret = 0;

	if (!elf_symbol_is_usable(s, STT_FUNC))
		return 0;
	for (size_t i = 0; !ret && i < search->wanted.count; i++)
		if (is_wanted_function(&search->wanted.items[i], name, base))
			ret = keep_function(search, s, name, base, search->wanted.items[i].row);
	return ret;
}

static enum probe_origin origin_of(const struct probe_finder *f, unsigned int row)
{
	return row < probe_row_count ? probe_rows[row].origin
				     : f->wanted->patterns[row - probe_row_count].origin;
}

static struct probe_site site_of_function(const struct function *of)
{
	struct probe_site s = {.row = (uint16_t)of->row};

	snprintf(s.label, sizeof(s.label), "%.*s", (int)of->base, of->name);
	return s;
}

/* Have the 8 bytes sent to which some of the arguments of a row of the table point. */
static void follow_pointers(struct probe_site *s, unsigned int row)
{
	uint8_t pointers = row < probe_row_count ? probe_rows[row].pointers : 0;

	for (unsigned int i = 0; i < s->count; i++)
		if (pointers & (1U << i))
			s->operands[i].kind = PROBE_OPERAND_MEMORY;
}

static void add_function_entry(struct probe_finder *f, const struct function *of)
{
	struct probe_site s = site_of_function(of);

	if (!probe_finder_has_room(f, of->row)) {
		f->out->dropped++;
		return;
	}
	probe_code_classify(f, of->address, true, &s);
	s.count = (uint8_t)probe_arguments_of_entry(s.operands, f->machine);
	follow_pointers(&s, of->row);
	probe_finder_add(f, &s);
}

/* Collect the parts of a function: itself, and cold parts of the same name. */
static unsigned int parts_of(struct probe_code_part parts[PARTS_MAX], const function_list *found,
			     const struct function *of)
{
	unsigned int count = 0;

	parts[count++] = (struct probe_code_part){of->address, of->size};
	for (size_t i = 0; i < found->count && count < PARTS_MAX; i++) {
		const struct function *other = &found->items[i];

		if (other->cold && other->row == of->row && other->base == of->base &&
		    !memcmp(other->name, of->name, of->base))
			parts[count++] = (struct probe_code_part){other->address, other->size};
	}
	return count;
}

static void add_returns(struct probe_finder *f, const function_list *found,
			const struct function *of)
{
	struct probe_site s = site_of_function(of);
	struct probe_code_part parts[PARTS_MAX];
	uint64_t addresses[RETURNS_MAX];
	int count =
		probe_code_returns(f, parts, parts_of(parts, found, of), addresses, RETURNS_MAX);

	/* with some of them only, calls would seem never to end */
	if (count > (int)(PROBE_SITES_MAX - f->out->count))
		count = 0;
	for (int i = 0; i < count; i++) {
		s.offset = 0;
		probe_code_classify(f, addresses[i], false, &s);
		s.count = (uint8_t)probe_arguments_of_return(s.operands, f->machine);
		probe_finder_add(f, &s);
	}
	if (count > 0)
		return;
	s.refused = PROBE_REFUSED_RETURNS;
	probe_finder_add(f, &s);
}

int probe_functions_find(struct probe_finder *f)
{
	struct function_search search = {.finder = f};
	int ret = list_wanted(&search);

	/* most files have more symbols than notes */
	if (!ret && search.wanted.count)
		ret = each_symbol(f, match_function, &search);

	for (size_t i = 0; !ret && i < search.found.count; i++) {
		const struct function *of = &search.found.items[i];

		if (of->cold)
			continue;
		if (origin_of(f, of->row) == PROBE_FUNCTION)
			add_function_entry(f, of);
		else
			add_returns(f, &search.found, of);
	}
	vector_free(&search.found);
	vector_free(&search.wanted);
	return ret;
}
