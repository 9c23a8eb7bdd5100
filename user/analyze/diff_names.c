// SPDX-License-Identifier: Apache-2.0
/* Name frames so that the same function has the same name in every build. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_names.h"
#include "analyze/names.h"
#include "base/vector.h"

/* Suffixes of the names of functions that a compiler made from parts or copies of others. */
static const char *const suffixes[] = {
	".isra.", ".constprop.", ".part.", ".cold", ".lto_priv.", ".llvm.", ".clone.",
};

/* Return whether text is one of the suffixes, with nothing after it but a number or dots. */
static bool is_compiler_suffix(const char *text)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t size = strlen(suffixes[i]);

		if (!strncmp(text, suffixes[i], size) &&
		    strspn(text + size, ".0123456789") == strlen(text + size))
			return true;
	}
	return false;
}

/* Return whether text is the version of a symbol in a library: "@GLIBC_2.2.5", "@@GLIBC_2.17". */
static bool is_symbol_version(const char *text)
{
	text += 1 + (text[1] == '@');
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_.", *c))
			return false;
	return isupper((unsigned char)*text);
}

static void strip_symbol_suffixes(char *name)
{
	char *at_sign = strchr(name + (*name != '\0'), '@');

	if (at_sign && is_symbol_version(at_sign))
		*at_sign = '\0';
	for (size_t at = strlen(name); at-- > 1;) {
		if (name[at] != '.' || !is_compiler_suffix(name + at))
			continue;
		name[at] = '\0';
	}
}

/*
 * Return "function (file.py)", without the folders of the file, or "function" if the file is not
 * known. The caller frees the text; NULL without memory.
 */
static char *name_python_for_diff(const struct function *f)
{
	const char *slash = *f->file == '<' ? NULL : strrchr(f->file, '/');
	char *text = NULL;

	if (!*f->file)
		return strdup(f->name);
	return asprintf(&text, "%s (%s)", f->name, slash && slash[1] ? slash + 1 : f->file) < 0
		       ? NULL
		       : text;
}

/*
 * Return a name, which the caller frees, for a frame whose function has no name. If the file was
 * rebuilt, this is only its module, because the start address of a function differs from build to
 * build. NULL without memory.
 */
static char *name_nameless_for_diff(const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = &p->frames[frame];
	char buf[512], *text = NULL;

	if (f->mapping == PROFILE_NONE || !p->mappings[f->mapping].rebuilt)
		return strdup(profile_frame_name(p, frame, buf, sizeof(buf)));
	return asprintf(&text, "[%s]", profile_module_name(p, f->mapping)) < 0 ? NULL : text;
}

char *diff_frame_name(const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = &p->frames[frame];
	const char *name = profile_function_name(p, frame);
	char *copy;

	if (!name)
		return name_nameless_for_diff(p, frame);
	if (f->f.kind == FRAME_PYTHON)
		return name_python_for_diff(&p->functions[f->function].f);
	copy = strdup(name);
	if (copy)
		strip_symbol_suffixes(copy);
	return copy;
}

/*
 * The files of all profiles, by name: the mapping of each file's first build, and whether there is
 * another build.
 */
struct builds {
	struct names names;
	VECTOR(const struct mapping *) first;
	VECTOR(bool) differ;
};

static bool same_build(const struct mapping *a, const struct mapping *b)
{
	return *a->build_id || *b->build_id ? !strcmp(a->build_id, b->build_id)
					    : a->size == b->size;
}

static int note_build(struct builds *b, const struct profile *p, uint32_t mapping)
{
	const struct mapping *m = &p->mappings[mapping].m;
	uint32_t number;

	if (m->kind != MAPPING_FILE)
		return 0;
	if (names_intern_text(&b->names, profile_module_name(p, mapping), &number) < 0)
		return -ENOMEM;
	if (number < b->first.count) {
		b->differ.items[number] |= !same_build(b->first.items[number], m);
		return 0;
	}
	return vector_push(&b->first, m) < 0 || vector_push(&b->differ, false) < 0 ? -ENOMEM : 0;
}

static int mark_build(struct builds *b, struct profile *p, uint32_t mapping)
{
	uint32_t number;

	if (p->mappings[mapping].m.kind != MAPPING_FILE)
		return 0;
	if (names_intern_text(&b->names, profile_module_name(p, mapping), &number) < 0)
		return -ENOMEM;
	p->mappings[mapping].rebuilt = b->differ.items[number];
	return 0;
}

int diff_mark_builds(struct profile *const *profiles, size_t count)
{
	struct builds b = {0};
	int ret = 0;

	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < profiles[i]->count.mappings && !ret; k++)
			ret = note_build(&b, profiles[i], k);
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < profiles[i]->count.mappings && !ret; k++)
			ret = mark_build(&b, profiles[i], k);
	names_free(&b.names);
	vector_free(&b.first);
	vector_free(&b.differ);
	return ret;
}
