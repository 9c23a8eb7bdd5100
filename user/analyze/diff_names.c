// SPDX-License-Identifier: Apache-2.0
/* Naming frames so that the same function has one name in every build. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_names.h"

/* What compilers put behind the names of functions that they made from others. */
static const char *const suffixes[] = {
	".isra.", ".constprop.", ".part.", ".cold", ".lto_priv.", ".llvm.", ".clone.",
};

/* Whether all of text is one of the suffixes, with a number where there is one. */
static bool is_suffix(const char *text)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t size = strlen(suffixes[i]);

		if (!strncmp(text, suffixes[i], size) &&
		    strspn(text + size, ".0123456789") == strlen(text + size))
			return true;
	}
	return false;
}

/* The version of a symbol in a library: "@GLIBC_2.2.5", "@@GLIBC_2.17". */
static bool is_version(const char *text)
{
	text += 1 + (text[1] == '@');
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_.", *c))
			return false;
	return isupper((unsigned char)*text);
}

static void strip_suffixes(char *name)
{
	char *at_sign = strchr(name + (*name != '\0'), '@');

	if (at_sign && is_version(at_sign))
		*at_sign = '\0';
	for (size_t at = strlen(name); at-- > 1;) {
		if (name[at] != '.' || !is_suffix(name + at))
			continue;
		name[at] = '\0';
	}
}

/* "function (file.py)" */
static char *python_function(const struct function *f)
{
	const char *slash = *f->file == '<' ? NULL : strrchr(f->file, '/');
	char *text = NULL;

	if (!*f->file)
		return strdup(f->name);
	return asprintf(&text, "%s (%s)", f->name, slash && slash[1] ? slash + 1 : f->file) < 0
		       ? NULL
		       : text;
}

static char *unnamed(const char *module)
{
	char *text = NULL;

	if (!*module)
		return strdup("[unknown]");
	return asprintf(&text, *module == '[' ? "%s" : "[%s]", module) < 0 ? NULL : text;
}

char *diff_frame_name(const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = &p->frames[frame];
	const char *name = profile_function_name(p, frame);
	char *copy;

	if (!name)
		return unnamed(profile_module_name(p, f->mapping));
	if (f->f.kind == FRAME_PYTHON)
		return python_function(&p->functions[f->function].f);
	copy = strdup(name);
	if (copy)
		strip_suffixes(copy);
	return copy;
}
