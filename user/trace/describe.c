// SPDX-License-Identifier: Apache-2.0
/* Print the schema for terminals. */
#include <string.h>

#include "trace/schema.h"
#include "trace/trace.h"

#define LIST_WIDTH 80
#define LIST_INDENT 17

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
