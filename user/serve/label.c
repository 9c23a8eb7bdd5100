// SPDX-License-Identifier: Apache-2.0
/* Names as values of labels (label.h). */
#include "serve/label.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

/* FNV-1a of 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t hash_of_name(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
	return hash;
}

void label_write(FILE *out, const char *name)
{
	char shown[LABEL_MAX + 1];
	bool changed;

	text_clean(name, shown, sizeof(shown));
	changed = strcmp(name, shown) != 0;
	putc('"', out);
	for (const char *c = shown; *c; c++) {
		if (*c == '"' || *c == '\\')
			putc('\\', out);
		putc(*c, out);
	}
	if (changed)
		fprintf(out, "~%016llx", (unsigned long long)hash_of_name(name));
	putc('"', out);
}
