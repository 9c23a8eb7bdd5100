// SPDX-License-Identifier: Apache-2.0
/* Print the schema: the chapters on tables of docs/trace-format.md, and a list for terminals. */
#include <string.h>

#include "trace/schema.h"
#include "trace/trace.h"

#define LIST_WIDTH 80
#define LIST_INDENT 17

static const char *type_word(enum record_kind k, unsigned int field)
{
	const struct kind *kind = &kinds[k];

	if (kind->storage != STORAGE_TABLE)
		return "integer";
	if (field < schema_key_fields(k))
		return "integer, key";
	return kind->fields[field].type == FIELD_TEXT ? "text" : "integer";
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

void schema_document(FILE *out)
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

static const char examples[] =
	"\nexamples:\n"
	"  SELECT function, samples, percent FROM hottest LIMIT 10\n"
	"  SELECT cpu, count(*) FROM sample JOIN host WHERE time < start + 1000000000 GROUP BY "
	"cpu\n"
	"  SELECT comm, count(*) FROM sample JOIN thread ON thread.id = sample.thread GROUP BY 1\n";

/* Print the columns of a kind, wrapped and indented. */
static void list_fields(FILE *out, const struct kind *kind)
{
	size_t column = 0, size;

	for (unsigned int i = 0; i < kind->field_count; i++) {
		size = strlen(kind->fields[i].name) + 2;
		if (!i || column + size > LIST_WIDTH) {
			fprintf(out, "%s%*s", i ? "\n" : "", LIST_INDENT, "");
			column = LIST_INDENT;
		}
		fprintf(out, "%s%s", kind->fields[i].name, i + 1 < kind->field_count ? ", " : "\n");
		column += size;
	}
}

static void list_kinds(FILE *out, enum storage storage)
{
	for (int k = 0; k < KIND_COUNT; k++) {
		if (kinds[k].storage != storage)
			continue;
		fprintf(out, "  %-12s %s\n", kinds[k].name, kinds[k].doc);
		list_fields(out, &kinds[k]);
	}
}

void trace_describe(FILE *out)
{
	fputs("streams:\n", out);
	list_kinds(out, STORAGE_STREAM);
	fputs("\ntables:\n", out);
	list_kinds(out, STORAGE_TABLE);
	for (const struct word_table *t = word_tables; t->name; t++)
		fprintf(out, "  %-12s %s\n", t->name, t->doc);
	fputs("\nviews:\n", out);
	list_kinds(out, STORAGE_DERIVED);
	for (const struct schema_view *v = schema_views; v->name; v++)
		fprintf(out, "  %-12s %s\n", v->name, v->doc);
	fputs("\nTimes are nanoseconds of the clock since boot. Quote \"from\" and \"to\" of "
	      "edge.\n",
	      out);
	fputs(examples, out);
}
