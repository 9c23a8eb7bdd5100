// SPDX-License-Identifier: Apache-2.0
/*
 * Check that docs/trace-format.md describes the current schema: its chapters on tables must equal
 * the output of "test_trace_format --print".
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "trace/schema.h"

#define MARK "<!-- generated: build/tests/unit/test_trace_format --print -->\n"

/* Open the document in the current directory, or in a parent directory of the program. */
static FILE *open_document(void)
{
	char path[PATH_MAX + 32], program[PATH_MAX] = "";
	FILE *f = fopen("docs/trace-format.md", "r");
	char *slash;

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return f;
	while (!f && (slash = strrchr(program, '/'))) {
		*slash = '\0';
		snprintf(path, sizeof(path), "%s/docs/trace-format.md", program);
		f = fopen(path, "r");
	}
	return f;
}

static char *read_document(void)
{
	char *text = calloc(1, 1 << 20);
	FILE *f = open_document();

	ck_assert_msg(f != NULL, "docs/trace-format.md: run this in the repository");
	ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, f), (1 << 20) - 1);
	fclose(f);
	return text;
}

START_TEST(tables_are_the_schema)
{
	char *text = read_document(), *wanted = NULL, *mark = strstr(text, MARK);
	size_t size;
	FILE *out = open_memstream(&wanted, &size);

	schema_document(out);
	fclose(out);
	ck_assert_msg(mark != NULL, "the mark is missing");
	ck_assert_msg(!strcmp(mark + strlen(MARK), wanted),
		      "docs/trace-format.md is behind the schema: replace what follows its mark "
		      "by the output of test_trace_format --print");
	free(wanted);
	free(text);
}
END_TEST

static void has(const char *text, const char *word)
{
	ck_assert_msg(strstr(text, word) != NULL, "docs/trace-format.md does not know '%s'", word);
}

START_TEST(everything_occurs)
{
	char *text = read_document();

	for (int k = 0; k < KIND_COUNT; k++) {
		has(text, kinds[k].name);
		for (unsigned int i = 0; i < kinds[k].field_count; i++)
			has(text, kinds[k].fields[i].name);
	}
	for (const struct word_table *t = word_tables; t->name; t++) {
		has(text, t->name);
		for (const struct word *w = t->words; w->word; w++)
			has(text, w->word);
	}
	for (const struct schema_view *v = schema_views; v->name; v++)
		has(text, v->name);
	free(text);
}
END_TEST

int main(int argc, char **argv)
{
	const TTest *const tests[] = {tables_are_the_schema, everything_occurs};

	if (argc <= 1 || strcmp(argv[1], "--print"))
		return suite_run("trace-format", tests, sizeof(tests) / sizeof(tests[0]));
	schema_document(stdout);
	return 0;
}
