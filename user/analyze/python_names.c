// SPDX-License-Identifier: Apache-2.0
/* Name Python functions as outputs show them: "function (file.py:line)". */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/python.h"
#include "base/vector.h"

/* A name with the file's name but not its folders. */
struct short_name {
	const char *file; /* whole path of the file of the first function with this name */
	bool ambiguous; /* functions of several files have this name */
};

struct python_naming {
	struct names *texts;
	struct names shorts; /* number = index in list */
	VECTOR(struct short_name) list;
	VECTOR(char) text;
};

/*
 * Return a file's name without folders. The name of a module that comes from no file, such as
 * <string> or <frozen os>, is returned whole.
 */
static const char *python_base_name(const char *file)
{
	const char *slash = *file == '<' ? NULL : strrchr(file, '/');

	return slash && slash[1] ? slash + 1 : file;
}

static int compose_python_name(struct python_naming *n, const char *name, const char *file,
			       uint64_t line)
{
	size_t size = strlen(name) + strlen(file) + 32;
	char number[24] = "";

	n->text.count = 0;
	if (vector_reserve(&n->text, size) < 0)
		return -ENOMEM;
	if (line)
		snprintf(number, sizeof(number), ":%" PRIu64, line);
	if (*file)
		snprintf(n->text.items, size, "%s (%s%s)", name, file, number);
	else
		snprintf(n->text.items, size, "%s", name);
	return 0;
}

/* Set *out to the number of the short name of a function at a line. */
static int intern_short_name(struct python_naming *n, const struct function *f, uint64_t line,
			     uint32_t *out)
{
	struct short_name fresh = {.file = f->file};
	struct short_name *known;

	if (compose_python_name(n, f->name, python_base_name(f->file), line) < 0 ||
	    names_intern_text(&n->shorts, n->text.items, out) < 0)
		return -ENOMEM;
	if (*out == n->list.count)
		return vector_push(&n->list, fresh);
	known = &n->list.items[*out];
	known->ambiguous = known->ambiguous || strcmp(known->file, f->file) != 0;
	return 0;
}

/* Set *out to the name to show, once all short names are known. */
static int finish_python_name(struct python_naming *n, const struct function *f, uint64_t line,
			      uint32_t number, const char **out)
{
	const char *text = names_text(&n->shorts, number);
	uint32_t kept;

	if (n->list.items[number].ambiguous) {
		if (compose_python_name(n, f->name, f->file, line) < 0)
			return -ENOMEM;
		text = n->text.items;
	}
	if (names_intern_text(n->texts, text, &kept) < 0)
		return -ENOMEM;
	*out = names_text(n->texts, kept);
	return 0;
}

static void free_python_naming(struct python_naming *n)
{
	names_free(&n->shorts);
	vector_free(&n->list);
	vector_free(&n->text);
}

static bool is_named_python_function(const struct profile *p, const struct profile_function *f)
{
	return f->mapping != PROFILE_NONE && p->mappings[f->mapping].m.kind == MAPPING_PYTHON &&
	       *f->f.name;
}

static int name_python_functions(struct profile *p, struct names *texts)
{
	uint32_t *numbers = calloc(p->count.functions + 1, sizeof(*numbers));
	struct python_naming n = {.texts = texts};
	int ret = numbers ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < p->count.functions && !ret; i++)
		if (is_named_python_function(p, &p->functions[i]))
			ret = intern_short_name(&n, &p->functions[i].f, p->functions[i].f.line,
						&numbers[i]);
	for (uint32_t i = 0; i < p->count.functions && !ret; i++) {
		struct profile_function *f = &p->functions[i];

		if (is_named_python_function(p, f))
			ret = finish_python_name(&n, &f->f, f->f.line, numbers[i], &f->shown);
	}
	free_python_naming(&n);
	free(numbers);
	return ret;
}

/* Return the function that names a Python frame; NULL for other frames, and without a name. */
static const struct profile_function *python_function_of(const struct profile *p,
							 const struct profile_frame *f)
{
	const struct profile_function *of =
		f->function == PROFILE_NONE ? NULL : &p->functions[f->function];

	return f->f.kind == FRAME_PYTHON && of && of->shown ? of : NULL;
}

static int name_python_lines(struct profile *p, struct names *texts)
{
	uint32_t *numbers = calloc(p->count.frames + 1, sizeof(*numbers));
	struct python_naming n = {.texts = texts};
	int ret = numbers ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < p->count.frames && !ret; i++) {
		const struct profile_function *f = python_function_of(p, &p->frames[i]);

		if (f)
			ret = intern_short_name(&n, &f->f, p->frames[i].f.line, &numbers[i]);
	}
	for (uint32_t i = 0; i < p->count.frames && !ret; i++) {
		const struct profile_function *f = python_function_of(p, &p->frames[i]);

		if (f)
			ret = finish_python_name(&n, &f->f, p->frames[i].f.line, numbers[i],
						 &p->frames[i].shown);
	}
	free_python_naming(&n);
	free(numbers);
	return ret;
}

int python_name_frames(struct profile *p, struct names *texts, bool by_line)
{
	int ret = name_python_functions(p, texts);

	if (ret < 0 || by_line)
		return ret < 0 ? ret : name_python_lines(p, texts);
	for (uint32_t i = 0; i < p->count.frames; i++) {
		const struct profile_function *f = python_function_of(p, &p->frames[i]);

		p->frames[i].shown = f ? f->shown : NULL;
	}
	return 0;
}
