// SPDX-License-Identifier: Apache-2.0
/* Demangle names and keep recent results. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/demangle.h"
#include "symbolizers/demangle_run.h"
#include "symbolizers/protocol.h"

#define SLOTS 4096 /* a power of two */
/*
 * Bytes of a name and its result with their NULs. Longer ones are not cached, to bound the memory.
 */
#define CACHED_MAX 512
#define RUST_HASH_BYTES 19

/*
 * The time that demangling the names of one file may take: 100 ms (25 ticks), plus 100 us for each
 * name. The names of libclang-cpp take 1.6 us each, the slowest 0.1 ms.
 */
#define DEMANGLE_TICKS_FREE 25
#define DEMANGLE_NAMES_PER_TICK 40

struct demangler_slot {
	char *name; /* name as in the symbol table; the result follows its NUL */
	const char *result; /* NULL: the name stays unchanged */
};

struct demangler {
	struct demangle_run *run; /* NULL: there is no timer */
	struct demangle_cost *cost; /* the cost of demangling is added here; initially &own */
	struct demangle_cost own;
	bool refused; /* whether the last name was refused */
	struct demangler_slot slots[SLOTS];
	char mangled[MANGLED_MAX];
	/*
	 * The result, with room for the hash that may be removed. A longer result is cut in the
	 * reply anyway.
	 */
	char text[REPLY_NAME_MAX + 1 + RUST_HASH_BYTES];
	char buffer[REPLY_NAME_MAX + 1];
};

/*
 * Remove "::h" and 16 hexadecimal digits, which distinguish functions with the same name in the
 * source, from the end of the text.
 */
static void drop_rust_hash(char *text)
{
	size_t length = strlen(text);
	char *hash = length > RUST_HASH_BYTES ? text + length - RUST_HASH_BYTES : NULL;

	if (!hash || strncmp(hash, "::h", 3) != 0)
		return;
	for (const char *c = hash + 3; *c; c++) {
		if (!isdigit((unsigned char)*c) && (*c < 'a' || *c > 'f'))
			return;
	}
	*hash = '\0';
}

size_t demangle_copy_cut(const char *text, char *buf, size_t size)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	size_t length = strnlen(text, size);

	if (length < size) {
		memcpy(buf, text, length + 1);
		return length;
	}
	if (size < sizeof(ellipsis)) { /* another text has already filled the buffer */
		if (size)
			*buf = '\0';
		return 0;
	}
	length = size - sizeof(ellipsis);
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	memcpy(buf, text, length);
	memcpy(buf + length, ellipsis, sizeof(ellipsis));
	return length + sizeof(ellipsis) - 1;
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Return whether the file has used up the time for its names, so that no more are demangled. */
static bool is_cost_spent(const struct demangle_cost *cost)
{
	return cost->ticks > DEMANGLE_TICKS_FREE + cost->names / DEMANGLE_NAMES_PER_TICK;
}

/*
 * Demangle name into d->text, without its suffix " [module]", which is not part of the mangled
 * name.
 */
static enum demangle_end demangle_mangled(struct demangler *d, const char *name)
{
	size_t length = strcspn(name, " ");

	if (!is_mangled(name) || length >= MANGLED_MAX)
		return DEMANGLE_NONE;
	if (!d->run || is_cost_spent(d->cost))
		return DEMANGLE_REFUSED;
	d->cost->names++;
	memcpy(d->mangled, name, length);
	d->mangled[length] = '\0';
	return demangle_run(d->run, d->mangled, d->text, sizeof(d->text), &d->cost->ticks);
}

/*
 * Write the demangled name into d->buffer and return 1. Return 0 if libiberty does not demangle the
 * name, or the name is too long; -ETIME if the name takes too much time or memory, its file has
 * taken too much time before, or there is no timer.
 */
static int demangle_to_buffer(struct demangler *d, const char *name)
{
	enum demangle_end end = demangle_mangled(d, name);
	const char *module = strchr(name, ' ');
	size_t length;

	d->refused = end == DEMANGLE_REFUSED;
	if (d->refused)
		return -ETIME;
	if (end == DEMANGLE_NONE)
		return 0;
	if (end == DEMANGLE_WHOLE)
		drop_rust_hash(d->text);
	length = demangle_copy_cut(d->text, d->buffer, sizeof(d->buffer));
	if (module)
		demangle_copy_cut(module, d->buffer + length, sizeof(d->buffer) - length);
	return 1;
}

struct demangler *demangler_new(void)
{
	struct demangler *d = calloc(1, sizeof(struct demangler));

	/*
	 * Without a timer, a call could not be interrupted: every mangled name is then refused, and
	 * the client counts it.
	 */
	if (d && demangle_run_new(&d->run) < 0)
		d->run = NULL;
	if (d)
		d->cost = &d->own;
	return d;
}

bool demangler_refused(const struct demangler *d)
{
	return d->refused;
}

void demangler_charge(struct demangler *d, struct demangle_cost *cost)
{
	d->cost = cost;
}

void demangler_free(struct demangler *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		free(d->slots[i].name);
	demangle_run_free(d->run);
	free(d);
}

/* FNV-1a hash. Source: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint32_t hash(const char *text)
{
	uint32_t h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 16777619u;
	return h;
}

static void keep_demangled(struct demangler_slot *slot, const char *name, const char *result)
{
	size_t first = strlen(name) + 1, second = result ? strlen(result) + 1 : 0;
	char *text;

	if (first + second > CACHED_MAX)
		return;
	text = malloc(first + second);
	if (!text)
		return;
	memcpy(text, name, first);
	if (result)
		memcpy(text + first, result, second);
	free(slot->name);
	slot->name = text;
	slot->result = result ? text + first : NULL;
}

const char *demangler_get(struct demangler *d, const char *name)
{
	struct demangler_slot *slot;
	const char *ret;
	int rc;

	d->refused = false;
	if (!is_mangled(name))
		return NULL;
	slot = &d->slots[hash(name) & (SLOTS - 1)];
	if (slot->name && strcmp(slot->name, name) == 0)
		return slot->result;
	rc = demangle_to_buffer(d, name);
	ret = rc > 0 ? d->buffer : NULL;
	/* Do not keep a refusal: the same name in another file may be demangled. */
	if (rc >= 0)
		keep_demangled(slot, name, ret);
	return ret;
}
