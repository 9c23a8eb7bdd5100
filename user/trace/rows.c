// SPDX-License-Identifier: Apache-2.0
/*
 * Print the rows of an SQL statement as a table, as CSV or as JSON. The column widths of a table
 * depend on its first rows, which are held in memory until they are measured; later rows are
 * printed as they come, so memory does not grow with the result.
 */
#include "trace/rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/outfile.h"
#include "base/text.h"
#include "base/vector.h"
#include "trace/sql.h"

#define MEASURED_ROWS 1000
#define MEASURED_BYTES (1 << 20)
#define CELL_BYTES 4096 /* maximum bytes of a table cell; longer texts are cut and marked */

struct printed_table {
	unsigned int columns;
	unsigned int *widths;
	bool *numeric; /* by column: the first rows have only numbers and NULLs */
	VECTOR(char *) cells; /* cells of the first rows, until they are printed */
	size_t bytes;
};

static bool is_number(int type)
{
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static const char *cell_text(sqlite3_stmt *stmt, int column, char *buf, size_t size)
{
	const char *text;

	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_NULL:
		return "";
	case SQLITE_BLOB:
		snprintf(buf, size, "(%d bytes)", sqlite3_column_bytes(stmt, column));
		return buf;
	default:
		text = (const char *)sqlite3_column_text(stmt, column);
		return text_clean(text ? text : "", buf, size);
	}
}

static void print_cell(FILE *out, const char *text, unsigned int width, bool right, bool last)
{
	unsigned int taken = text_width(text), pad = taken < width ? width - taken : 0;

	if (right)
		fprintf(out, "%*s%s", (int)pad, "", text);
	else
		fprintf(out, "%s%*s", text, last ? 0 : (int)pad, "");
	fputs(last ? "\n" : "  ", out);
}

static void print_rule(FILE *out, const struct printed_table *t)
{
	for (unsigned int i = 0; i < t->columns; i++) {
		for (unsigned int n = 0; n < t->widths[i]; n++)
			fputc('-', out);
		fputs(i + 1 == t->columns ? "\n" : "  ", out);
	}
}

/* Print the column names and a rule, then the first rows; free these rows. */
static void print_held_rows(struct printed_table *t, sqlite3_stmt *stmt, FILE *out)
{
	char buf[CELL_BYTES];

	for (unsigned int i = 0; i < t->columns; i++) {
		text_clean(sqlite3_column_name(stmt, (int)i), buf, sizeof(buf));
		if (text_width(buf) > t->widths[i])
			t->widths[i] = text_width(buf);
		print_cell(out, buf, t->widths[i], t->numeric[i], i + 1 == t->columns);
	}
	print_rule(out, t);
	for (size_t i = 0; i < t->cells.count; i++) {
		unsigned int column = (unsigned int)(i % t->columns);

		print_cell(out, t->cells.items[i], t->widths[column], t->numeric[column],
			   column + 1 == t->columns);
		free(t->cells.items[i]);
	}
	t->cells.count = 0;
}

static int hold_row(struct printed_table *t, sqlite3_stmt *stmt)
{
	char buf[CELL_BYTES], *copy;
	const char *text;

	for (unsigned int i = 0; i < t->columns; i++) {
		int type = sqlite3_column_type(stmt, (int)i);

		text = cell_text(stmt, (int)i, buf, sizeof(buf));
		copy = strdup(text);
		if (!copy || vector_push(&t->cells, copy) < 0) {
			free(copy);
			return -ENOMEM;
		}
		t->bytes += strlen(text) + 1;
		if (text_width(text) > t->widths[i])
			t->widths[i] = text_width(text);
		if (type != SQLITE_NULL && !is_number(type))
			t->numeric[i] = false;
	}
	return 0;
}

static void print_row(const struct printed_table *t, sqlite3_stmt *stmt, FILE *out)
{
	char buf[CELL_BYTES];

	for (unsigned int i = 0; i < t->columns; i++)
		print_cell(out, cell_text(stmt, (int)i, buf, sizeof(buf)), t->widths[i],
			   t->numeric[i], i + 1 == t->columns);
}

static int table_rows(sqlite3_stmt *stmt, struct printed_table *t, FILE *out, int *rc)
{
	bool held = true;
	int ret = 0;

	while (ret == 0 && (*rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (held &&
		    (t->cells.count / t->columns >= MEASURED_ROWS || t->bytes >= MEASURED_BYTES)) {
			print_held_rows(t, stmt, out);
			held = false;
		}
		if (held)
			ret = hold_row(t, stmt);
		else
			print_row(t, stmt, out);
		if (ferror(out))
			ret = -EIO;
	}
	if (ret == 0 && held)
		print_held_rows(t, stmt, out);
	return ret;
}

static int print_table(sqlite3_stmt *stmt, FILE *out, int *rc)
{
	struct printed_table t = {.columns = (unsigned int)sqlite3_column_count(stmt)};
	int ret = -ENOMEM;

	t.widths = calloc(t.columns, sizeof(*t.widths));
	t.numeric = malloc(t.columns * sizeof(*t.numeric));
	if (!t.widths || !t.numeric)
		goto out;
	memset(t.numeric, true, t.columns * sizeof(*t.numeric));
	ret = table_rows(stmt, &t, out, rc);
out:
	for (size_t i = 0; i < t.cells.count; i++)
		free(t.cells.items[i]);
	vector_free(&t.cells);
	free(t.widths);
	free(t.numeric);
	return ret;
}

static void put_hex(FILE *out, const unsigned char *bytes, int size)
{
	for (int i = 0; i < size; i++)
		fprintf(out, "%02x", bytes[i]);
}

/* Quote a CSV field as https://www.rfc-editor.org/rfc/rfc4180 does. */
static void csv_text(FILE *out, const char *text, size_t size)
{
	bool quote = false;

	for (size_t i = 0; i < size; i++)
		quote = quote || (text[i] && strchr(",\"\r\n", text[i]));
	if (!quote) {
		fwrite(text, 1, size, out);
		return;
	}
	fputc('"', out);
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"')
			fputc('"', out);
		fputc(text[i], out);
	}
	fputc('"', out);
}

/*
 * A field of TSV cannot be quoted: write a tab, an end of line and a backslash as \t, \n, \r and
 * \\, as the text format of PostgreSQL's COPY does.
 */
static void tsv_text(FILE *out, const char *text, size_t size)
{
	static const char special[] = "\t\n\r\\", letters[] = "tnr\\";

	for (size_t i = 0; i < size; i++) {
		const char *found = text[i] ? strchr(special, text[i]) : NULL;

		if (found)
			fputc('\\', out);
		fputc(found ? letters[found - special] : text[i], out);
	}
}

/* A format of one line for each row. */
struct line_format {
	char separator;
	void (*put)(FILE *out, const char *text, size_t size);
};

static void line_cell(const struct line_format *f, FILE *out, sqlite3_stmt *stmt, int column)
{
	const void *data;

	if (sqlite3_column_type(stmt, column) == SQLITE_BLOB) {
		data = sqlite3_column_blob(stmt, column);
		put_hex(out, data, sqlite3_column_bytes(stmt, column));
		return;
	}
	data = sqlite3_column_text(stmt, column);
	if (data)
		f->put(out, data, (size_t)sqlite3_column_bytes(stmt, column));
}

/* Lines end as every tool of this system expects, although RFC 4180 ends those of CSV with \r\n. */
static int print_lines(const struct line_format *f, sqlite3_stmt *stmt, FILE *out, int *rc)
{
	int columns = sqlite3_column_count(stmt);

	for (int i = 0; i < columns; i++) {
		const char *name = sqlite3_column_name(stmt, i);

		f->put(out, name, strlen(name));
		fputc(i + 1 == columns ? '\n' : f->separator, out);
	}
	while ((*rc = sqlite3_step(stmt)) == SQLITE_ROW && !ferror(out)) {
		for (int i = 0; i < columns; i++) {
			line_cell(f, out, stmt, i);
			fputc(i + 1 == columns ? '\n' : f->separator, out);
		}
	}
	return 0;
}

/* Write a blob as the hexadecimal digits of its bytes. */
static int json_blob(struct json *j, sqlite3_stmt *stmt, int column)
{
	const unsigned char *bytes = sqlite3_column_blob(stmt, column);
	int size = sqlite3_column_bytes(stmt, column);
	char *text = malloc(2 * (size_t)size + 1);

	if (!text)
		return -ENOMEM;
	text[0] = '\0';
	for (int i = 0; i < size; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", bytes[i]);
	json_text(j, text);
	free(text);
	return 0;
}

static int json_cell(struct json *j, sqlite3_stmt *stmt, int column)
{
	const char *text;

	json_key(j, sqlite3_column_name(stmt, column));
	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_NULL:
		json_null(j);
		return 0;
	case SQLITE_INTEGER:
		json_int(j, sqlite3_column_int64(stmt, column));
		return 0;
	case SQLITE_FLOAT:
		json_real(j, sqlite3_column_double(stmt, column));
		return 0;
	case SQLITE_BLOB:
		return json_blob(j, stmt, column);
	default:
		text = (const char *)sqlite3_column_text(stmt, column);
		json_text(j, text ? text : "");
		return 0;
	}
}

static int print_json(sqlite3_stmt *stmt, FILE *out, int *rc)
{
	struct json j;
	int ret = 0;

	json_begin(&j, out, false);
	json_array(&j);
	while ((*rc = sqlite3_step(stmt)) == SQLITE_ROW && !ret && !ferror(out)) {
		json_object(&j);
		for (int i = 0; !ret && i < sqlite3_column_count(stmt); i++)
			ret = json_cell(&j, stmt, i);
		json_object_end(&j);
	}
	json_array_end(&j);
	return ret < 0 ? ret : json_end(&j);
}

int rows_print(sqlite3_stmt *stmt, enum query_format format, FILE *out, struct error *err)
{
	static const struct line_format csv = {',', csv_text}, tsv = {'\t', tsv_text};
	int rc = SQLITE_DONE, ret;

	switch (format) {
	case QUERY_CSV:
	case QUERY_TSV:
		ret = print_lines(format == QUERY_CSV ? &csv : &tsv, stmt, out, &rc);
		break;
	case QUERY_JSON:
		ret = print_json(stmt, out, &rc);
		break;
	default:
		ret = print_table(stmt, out, &rc);
		break;
	}
	if (ferror(out))
		return outfile_flush(out, "the rows", err);
	if (ret < 0)
		return error_errno(err, ret, "cannot write the rows");
	if (rc != SQLITE_DONE)
		return sql_fail(sqlite3_db_handle(stmt), rc, err, "the query stopped");
	return 0;
}
