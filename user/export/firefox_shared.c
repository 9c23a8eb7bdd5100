// SPDX-License-Identifier: Apache-2.0
/* Write the tables that all threads of a Firefox profile share. */
#include <errno.h>
#include <string.h>

#include "export/firefox.h"

struct json *firefox_column(struct firefox *f, const char *name)
{
	json_key(&f->json, name);
	json_array(&f->json);
	return &f->json;
}

void firefox_table(struct firefox *f, const char *name, size_t length)
{
	json_key(&f->json, name);
	json_object(&f->json);
	json_key_uint(&f->json, "length", length);
}

void firefox_numbers(struct firefox *f, const char *name, int64_t number, size_t count)
{
	struct json *j = firefox_column(f, name);

	while (count--)
		json_int(j, number);
	json_array_end(j);
}

static void firefox_write_nulls(struct firefox *f, const char *name, size_t count)
{
	struct json *j = firefox_column(f, name);

	while (count--)
		json_null(j);
	json_array_end(j);
}

static void firefox_write_falses(struct firefox *f, const char *name, size_t count)
{
	struct json *j = firefox_column(f, name);

	while (count--)
		json_bool(j, false);
	json_array_end(j);
}

/* Write a number; null if it is 0. */
static void firefox_write_optional(struct json *j, uint64_t number)
{
	if (number)
		json_uint(j, number);
	else
		json_null(j);
}

static int firefox_number_string(struct numbering *n, uint32_t string, uint32_t *out)
{
	uint32_t at = index_get(&n->number_of, string);

	if (at == INDEX_NONE) {
		at = (uint32_t)n->strings.count;
		if (vector_push(&n->strings, string) < 0 ||
		    index_put(&n->number_of, string, at) < 0)
			return -ENOMEM;
	}
	*out = at;
	return 0;
}

/*
 * Collect from all frames the functions, and the modules (resources) and source files (sources)
 * that the functions are in.
 */
static int firefox_find_functions(struct firefox *f)
{
	const struct stacks *stacks = &f->gather.stacks;
	uint32_t number, nothing;
	int ret = 0;

	for (uint32_t i = 0; i < stacks->frames.texts.count && !ret; i++) {
		struct shown_frame shown = stacks_frame(stacks, i);

		shown.at = 0;
		ret = names_intern(&f->functions, &shown, sizeof(shown), &number);
		if (!ret)
			ret = vector_push(&f->function_of, number);
		if (!ret && shown.module)
			ret = firefox_number_string(&f->resources, shown.module, &nothing);
		if (!ret && shown.file)
			ret = firefox_number_string(&f->sources, shown.file, &nothing);
	}
	return ret;
}

static void firefox_write_strings(struct firefox *f)
{
	const struct stacks *stacks = &f->gather.stacks;
	struct json *j = firefox_column(f, "stringArray");

	for (uint32_t i = 0; i < stacks->strings.texts.count; i++)
		json_text(j, stacks_text(stacks, i));
	json_array_end(j);
}

static void firefox_write_stack_table(struct firefox *f)
{
	const struct stack_node *nodes = f->gather.stacks.nodes.items;
	size_t count = f->gather.stacks.nodes.count;
	struct json *j = &f->json;

	firefox_table(f, "stackTable", count);
	firefox_column(f, "frame");
	for (size_t i = 0; i < count; i++)
		json_uint(j, nodes[i].frame);
	json_array_end(j);
	firefox_column(f, "prefix");
	for (size_t i = 0; i < count; i++)
		if (nodes[i].parent == STACKS_NONE)
			json_null(j);
		else
			json_uint(j, nodes[i].parent);
	json_array_end(j);
	json_object_end(j);
}

static enum category firefox_category(uint32_t kind)
{
	static const enum category categories[FRAME_KIND_COUNT] = {
		[FRAME_NATIVE] = CATEGORY_USER,	  [FRAME_KERNEL] = CATEGORY_KERNEL,
		[FRAME_JIT] = CATEGORY_JIT,	  [FRAME_JAVA] = CATEGORY_JIT,
		[FRAME_PYTHON] = CATEGORY_PYTHON, [FRAME_END] = CATEGORY_TRUNCATED,
	};

	return kind < FRAME_KIND_COUNT ? categories[kind] : CATEGORY_OTHER;
}

static void firefox_write_frame_table(struct firefox *f)
{
	const struct stacks *stacks = &f->gather.stacks;
	uint32_t count = (uint32_t)stacks->frames.texts.count;
	struct json *j = &f->json;

	firefox_table(f, "frameTable", count);
	firefox_column(f, "func");
	for (uint32_t i = 0; i < count; i++)
		json_uint(j, f->function_of.items[i]);
	json_array_end(j);
	firefox_column(f, "category");
	for (uint32_t i = 0; i < count; i++)
		json_uint(j, firefox_category(stacks_frame(stacks, i).kind));
	json_array_end(j);
	firefox_column(f, "line");
	for (uint32_t i = 0; i < count; i++)
		firefox_write_optional(j, stacks_frame(stacks, i).at);
	json_array_end(j);
	firefox_numbers(f, "address", -1, count);
	firefox_numbers(f, "inlineDepth", 0, count);
	firefox_numbers(f, "subcategory", 0, count);
	firefox_numbers(f, "innerWindowID", 0, count);
	firefox_write_nulls(f, "nativeSymbol", count);
	firefox_write_nulls(f, "column", count);
	firefox_write_nulls(f, "originalLocation", count);
	json_object_end(j);
}

static struct shown_frame firefox_function_at(const struct firefox *f, uint32_t number)
{
	struct shown_frame shown;

	memcpy(&shown, names_text(&f->functions, number), sizeof(shown));
	return shown;
}

static void firefox_write_function_table(struct firefox *f)
{
	uint32_t count = (uint32_t)f->functions.texts.count;
	struct json *j = &f->json;

	firefox_table(f, "funcTable", count);
	firefox_column(f, "name");
	for (uint32_t i = 0; i < count; i++)
		json_uint(j, firefox_function_at(f, i).name);
	json_array_end(j);
	firefox_column(f, "resource");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t module = firefox_function_at(f, i).module;

		json_int(j, module ? (int64_t)index_get(&f->resources.number_of, module) : -1);
	}
	json_array_end(j);
	firefox_column(f, "source");
	for (uint32_t i = 0; i < count; i++) {
		uint32_t file = firefox_function_at(f, i).file;

		if (file)
			json_uint(j, index_get(&f->sources.number_of, file));
		else
			json_null(j);
	}
	json_array_end(j);
	firefox_column(f, "lineNumber");
	for (uint32_t i = 0; i < count; i++)
		firefox_write_optional(j, firefox_function_at(f, i).line);
	json_array_end(j);
	firefox_write_falses(f, "isJS", count);
	firefox_write_falses(f, "relevantForJS", count);
	firefox_write_nulls(f, "columnNumber", count);
	firefox_write_nulls(f, "originalLocation", count);
	json_object_end(j);
}

static void firefox_write_numbering(struct firefox *f, const char *column,
				    const struct numbering *n)
{
	struct json *j = firefox_column(f, column);

	for (size_t i = 0; i < n->strings.count; i++)
		json_uint(j, n->strings.items[i]);
	json_array_end(j);
}

static void firefox_write_objects(struct firefox *f)
{
	size_t resources = f->resources.strings.count, sources = f->sources.strings.count;

	firefox_table(f, "resourceTable", resources);
	firefox_write_numbering(f, "name", &f->resources);
	firefox_write_nulls(f, "lib", resources);
	firefox_write_nulls(f, "host", resources);
	firefox_numbers(f, "type", 1, resources); /* type 1: a library */
	json_object_end(&f->json);
	firefox_table(f, "sources", sources);
	firefox_write_numbering(f, "filename", &f->sources);
	firefox_write_nulls(f, "id", sources);
	firefox_numbers(f, "startLine", 1, sources);
	firefox_numbers(f, "startColumn", 1, sources);
	firefox_write_nulls(f, "sourceMapURL", sources);
	firefox_write_nulls(f, "content", sources);
	json_object_end(&f->json);
}

/* Write a table without rows; the names of its columns end with NULL. */
static void firefox_write_empty(struct firefox *f, const char *table, const char *const *columns)
{
	firefox_table(f, table, 0);
	for (; *columns; columns++) {
		firefox_column(f, *columns);
		json_array_end(&f->json);
	}
	json_object_end(&f->json);
}

int firefox_shared(struct firefox *f)
{
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
	static const char *const locations[] = {"source", "line", "column", NULL};
	int ret = firefox_find_functions(f);

	if (ret < 0)
		return ret;
	json_key(&f->json, "shared");
	json_object(&f->json);
	firefox_write_stack_table(f);
	firefox_write_frame_table(f);
	firefox_write_function_table(f);
	firefox_write_objects(f);
	firefox_write_empty(f, "nativeSymbols", symbols);
	firefox_write_empty(f, "sourceLocationTable", locations);
	firefox_write_strings(f);
	json_object_end(&f->json);
	return 0;
}

void firefox_shared_free(struct firefox *f)
{
	names_free(&f->functions);
	vector_free(&f->function_of);
	index_free(&f->sources.number_of);
	vector_free(&f->sources.strings);
	index_free(&f->resources.number_of);
	vector_free(&f->resources.strings);
}
