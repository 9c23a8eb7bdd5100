// SPDX-License-Identifier: Apache-2.0
/* libiberty's demanglers, within bounds, and what they gave last time. */
#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/demangle.h"
#include "symbolizers/protocol.h"

#define SLOTS 4096     /* a power of two */
#define CACHED_MAX 512 /* longer names are demangled each time, so that memory stays bounded */

struct slot {
	char *name;	    /* as in the symbol table, and behind its NUL the result */
	const char *result; /* NULL: not mangled */
};

struct demangler {
	struct slot slots[SLOTS];
	char buffer[ANSWER_NAME_MAX + 1];
};

/* "::h" and 16 hexadecimal digits: tells apart what the programmer called by one name. */
static void drop_rust_hash(char *text)
{
	size_t length = strlen(text);
	char *hash = length > 19 ? text + length - 19 : NULL;

	if (!hash || strncmp(hash, "::h", 3) != 0)
		return;
	for (const char *c = hash + 3; *c; c++) {
		if (!isdigit((unsigned char)*c) && (*c < 'a' || *c > 'f'))
			return;
	}
	*hash = '\0';
}

size_t copy_cut(const char *text, char *buf, size_t size)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	size_t length = strnlen(text, size);

	if (length < size) {
		memcpy(buf, text, length + 1);
		return length;
	}
	if (size < sizeof(ellipsis)) { /* what came before has taken all of the room */
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

static char *demangled(const char *name)
{
	size_t length = strnlen(name, MANGLED_MAX);
	const char *module = strchr(name, ' ');
	char *copy, *text;

	if (!is_mangled(name) || length >= MANGLED_MAX)
		return NULL;
	if (!module)
		return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	copy = strndup(name, (size_t)(module - name));
	text = copy ? cplus_demangle(copy, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO) : NULL;
	free(copy);
	return text;
}

int demangle(const char *name, char *buf, size_t size)
{
	const char *module = strchr(name, ' ');
	char *text = demangled(name);
	size_t length;

	if (!text)
		return 0;
	drop_rust_hash(text);
	length = copy_cut(text, buf, size);
	if (module)
		copy_cut(module, buf + length, size - length);
	free(text);
	return 1;
}

struct demangler *demangler_new(void)
{
	return calloc(1, sizeof(struct demangler));
}

void demangler_free(struct demangler *d)
{
	for (size_t i = 0; d && i < SLOTS; i++)
		free(d->slots[i].name);
	free(d);
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint32_t hash(const char *text)
{
	uint32_t h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 16777619u;
	return h;
}

static void remember(struct slot *slot, const char *name, const char *result)
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
	struct slot *slot;
	const char *result;

	if (!is_mangled(name))
		return NULL;
	slot = &d->slots[hash(name) & (SLOTS - 1)];
	if (slot->name && strcmp(slot->name, name) == 0)
		return slot->result;
	result = demangle(name, d->buffer, sizeof(d->buffer)) ? d->buffer : NULL;
	remember(slot, name, result);
	return result;
}
