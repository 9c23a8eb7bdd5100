// SPDX-License-Identifier: Apache-2.0
/* Print the rows of skein top as plain text. */
#include "cmd/top_batch.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

static void top_batch_put_head(const struct screen *s, const struct top_head *head)
{
	char clean[TOP_TITLE_MAX];

	screen_put(s, STYLE_BOLD, "skein top: ");
	screen_put(s, STYLE_PLAIN, text_clean(head->title, clean, sizeof(clean)));
	fputc('\n', s->out);
	for (unsigned int i = 0; i < head->facts.count; i++) {
		const struct top_fact *f = &head->facts.list[i];

		screen_put(s, STYLE_PLAIN, i ? ", " : "");
		screen_put(s, f->warning ? STYLE_HOT : STYLE_PLAIN, f->text);
	}
	fputs("\n\n", s->out);
}

/* Cut off the blanks that separate the numbers from the name on a screen. Return numbers. */
static char *trim_numbers(char *numbers)
{
	size_t size = strlen(numbers);

	while (size && numbers[size - 1] == ' ')
		numbers[--size] = '\0';
	return numbers;
}

/* Add the name, indented in the views of trees. */
static void top_batch_put_row_name(struct table *t, const struct top_row *row)
{
	char name[4096];

	snprintf(name, sizeof(name), "%*s%s", row->depth > 1 ? (int)(row->depth - 1) * 2 : 0, "",
		 row->name);
	table_cell(t, name);
}

static void top_batch_put_rows(struct table *t, const struct top_ui *ui, size_t rows)
{
	size_t count = ui->model.rows.count;
	enum top_view view = top_ui_level(ui)->view;
	char numbers[64], more[256];

	for (size_t i = 0; i < count && i < rows; i++) {
		const struct top_row *row = &ui->model.rows.items[i];

		table_cell(t, trim_numbers(top_numbers(ui, row, numbers, sizeof(numbers))));
		top_batch_put_row_name(t, row);
		table_cell(t, top_more_text(view, row, more, sizeof(more)));
	}
}

int top_batch(const struct screen *s, const struct top_ui *ui, const struct top_head *head,
	      size_t rows)
{
	enum top_view view = top_ui_level(ui)->view;
	char numbers[64];
	const struct column columns[] = {
		{trim_numbers(top_numbers(ui, NULL, numbers, sizeof(numbers))), STYLE_PLAIN, false,
		 CUT_END, 0},
		{top_name_title(view), STYLE_PLAIN, false,
		 top_view_is_groups(view) ? CUT_END : CUT_NAME, 20},
		{top_more_title(view), STYLE_DIM, false,
		 view == TOP_PROCESSES ? CUT_END : CUT_FRONT, 8},
	};
	struct table t = {.columns = columns, .column_count = 3};
	int ret;

	top_batch_put_head(s, head);
	top_batch_put_rows(&t, ui, rows);
	ret = table_finish(&t, s, 0, 0);
	fputc('\n', s->out);
	errno = 0;
	if (fflush(s->out) == EOF || ferror(s->out))
		return errno ? -errno : -EIO;
	return ret;
}
