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

static const char *type_word(enum record_kind k, unsigned int field)
{
	const struct kind *kind = &kinds[k];

	if (kind->storage != STORAGE_TABLE)
		return "integer";
	if (kind->fields[field].type == FIELD_TEXT)
		return field < schema_key_fields(k) ? "text, key" : "text";
	return field < schema_key_fields(k) ? "integer, key" : "integer";
}

static void document_kind(FILE *out, enum record_kind k)
{
	const struct kind *kind = &kinds[k];

	fprintf(out, "#### %s\n\n%c%s.\n\n| column | type | meaning |\n|---|---|---|\n", kind->name,
		kind->doc[0] - (kind->doc[0] >= 'a' ? 'a' - 'A' : 0), kind->doc + 1);
	for (unsigned int i = 0; i < kind->field_count; i++)
		fprintf(out, "| `%s` | %s | %s |\n", kind->fields[i].name, type_word(k, i),
			kind->fields[i].doc);
	fputc('\n', out);
}

static void document_words(FILE *out, const struct word_table *t)
{
	fprintf(out, "#### %s\n\n%s.\n\n| id | word | text |\n|---|---|---|\n", t->name, t->doc);
	for (const struct word *w = t->words; w->word; w++)
		fprintf(out, "| %llu | %s | %s |\n", (unsigned long long)w->id, w->word,
			w->text ? w->text : "");
	fputc('\n', out);
}

static void document_kinds(FILE *out, enum storage storage)
{
	for (int k = 0; k < KIND_COUNT; k++)
		if (kinds[k].storage == storage)
			document_kind(out, (enum record_kind)k);
}

static void document_blobs(FILE *out, const struct blob_table *t)
{
	fprintf(out, "#### %s\n\n%c%s.\n\n| column | type | meaning |\n|---|---|---|\n", t->name,
		t->doc[0] - ('a' - 'A'), t->doc + 1);
	for (const struct chunk_column *c = t->columns; c->name; c++)
		fprintf(out, "| `%s` | %s | %s |\n", c->name, c->type, c->doc);
	fputc('\n', out);
}

/* Print the chapters on tables of docs/trace-format.md, in Markdown. */
static void schema_document(FILE *out)
{
	fputs("### Tables\n\n", out);
	document_kinds(out, STORAGE_TABLE);
	for (const struct blob_table *t = blob_tables; t->name; t++)
		document_blobs(out, t);
	fputs("### Streams\n\n", out);
	document_kinds(out, STORAGE_STREAM);
	fputs("### Derived\n\n", out);
	document_kinds(out, STORAGE_DERIVED);
	fputs("### Words\n\n", out);
	for (const struct word_table *t = word_tables; t->name; t++)
		document_words(out, t);
	fputs("### Views\n\n| view | shows |\n|---|---|\n", out);
	for (const struct schema_view *v = schema_views; v->name; v++)
		fprintf(out, "| `%s` | %s |\n", v->name, v->doc);
}

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
		      "docs/trace-format.md is not the schema of today: replace what follows "
		      "its mark by the output of test_trace_format --print");
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
