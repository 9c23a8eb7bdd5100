// SPDX-License-Identifier: Apache-2.0
/* Format the numbers in front of a row of `skein top`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/top_draw.h"

/* Format a percentage as "12.3%", at most six columns; "" if the part is 0. */
static char *row_percent(uint64_t part, uint64_t whole, char *buf, size_t size)
{
	if (part && whole)
		snprintf(buf, size, "%.1f%%", (double)part * 100 / (double)whole);
	else
		*buf = '\0';
	return buf;
}

/* Return the sort order; trees are sorted by total where other views are sorted by self. */
static enum top_sort effective_sort(const struct top_ui *ui)
{
	enum top_view view = top_ui_level(ui)->view;
	bool tree = view == TOP_TREE || view == TOP_CALLERS;

	return tree && ui->sort == TOP_BY_SELF ? TOP_BY_TOTAL : ui->sort;
}

#define SORTED_SIZE 16
/* Format a column title, marked if the rows are sorted by the column. Return buf. */
static char *sorted_title(const struct top_ui *ui, enum top_sort sort, const char *text, bool utf8,
			  char buf[static SORTED_SIZE])
{
	const char *mark = effective_sort(ui) != sort ? "" : utf8 ? ui->reverse ? "↑" : "↓" : "*";
	/* printf pads by bytes; the mark may have more bytes than columns */
	int pad = 6 - (int)strlen(text) - (*mark ? 1 : 0);

	snprintf(buf, SORTED_SIZE, "%*s%s%s", pad > 0 ? pad : 0, "", mark, text);
	return buf;
}

static bool has_id_column(enum top_view view)
{
	return view == TOP_PROCESSES || view == TOP_THREADS;
}

static void format_number_titles(const struct top_ui *ui, enum top_view view, bool utf8, char *buf,
				 size_t size)
{
	char self[SORTED_SIZE], total[SORTED_SIZE];

	if (!top_view_is_groups(view) && ui->model.off_cpu)
		snprintf(buf, size, "%s %s    MS/S  ",
			 sorted_title(ui, TOP_BY_SELF, "SELF", utf8, self),
			 sorted_title(ui, TOP_BY_TOTAL, "TOTAL", utf8, total));
	else if (top_view_is_groups(view))
		snprintf(buf, size, "%s %s %s", sorted_title(ui, TOP_BY_SELF, "SHARE", utf8, self),
			 ui->model.off_cpu ? "   MS/S" : "   CPU",
			 !has_id_column(view)  ? " "
			 : view == TOP_THREADS ? "     TID  "
					       : "     PID  ");
	else
		snprintf(buf, size, "%s %s  ", sorted_title(ui, TOP_BY_SELF, "SELF", utf8, self),
			 sorted_title(ui, TOP_BY_TOTAL, "TOTAL", utf8, total));
}

/* Return how long threads waited at once, ms per second: 1,000 for one that always waits. */
static double ms_per_second(const struct top_ui *ui, const struct top_row *row)
{
	uint64_t span = ui->model.window.span;

	return span ? (double)row->total * 1000 / (double)span : 0;
}

/*
 * Format the numbers of a group: its share of the samples in focus, its CPU use, where 100 is one
 * CPU, and the pid or tid.
 */
static void format_group_numbers(const struct top_ui *ui, const struct top_row *row,
				 enum top_view view, char *buf, size_t size)
{
	const struct group *g = row->group;
	uint64_t span = ui->model.window.span;
	char share[16], number[16] = "";

	if (has_id_column(view))
		snprintf(number, sizeof(number), " %7" PRIu64 " ",
			 g->thread ? g->thread->tid : g->process->pid);
	snprintf(buf, size, ui->model.off_cpu ? "%6s %7.1f %s " : "%6s %6.1f %s ",
		 row_percent(row->self, ui->model.weight, share, sizeof(share)),
		 ui->model.off_cpu ? ms_per_second(ui, row)
		 : span		   ? (double)row->self * 100 / (double)span
				   : 0,
		 number);
}

/* Format the shares and the time of a function in which threads waited; a heading has none. */
static void format_wait_numbers(const struct top_ui *ui, const struct top_row *row, char *buf,
				size_t size)
{
	char self[16], total[16], time[16] = "";

	if (row->total)
		snprintf(time, sizeof(time), "%.1f", ms_per_second(ui, row));
	snprintf(buf, size, "%6s %6s %7s  ",
		 row_percent(row->self, ui->model.weight, self, sizeof(self)),
		 row_percent(row->total, ui->model.weight, total, sizeof(total)), time);
}

char *top_numbers(const struct top_ui *ui, const struct top_row *row, bool utf8, char *buf,
		  size_t size)
{
	enum top_view view = top_ui_level(ui)->view;
	char self[16], total[16];

	if (!row)
		format_number_titles(ui, view, utf8, buf, size);
	else if (!row->group && ui->model.off_cpu)
		format_wait_numbers(ui, row, buf, size);
	else if (row->group)
		format_group_numbers(ui, row, view, buf, size);
	else
		snprintf(buf, size, "%6s %6s  ",
			 row_percent(row->self, ui->model.weight, self, sizeof(self)),
			 row_percent(row->total, ui->model.weight, total, sizeof(total)));
	return buf;
}

const char *top_name_title(enum top_view view)
{
	static const char *const titles[] = {
#define VIEW_TITLE(NAME, word, title, group) title,
		TOP_VIEWS(VIEW_TITLE)};

	return titles[view];
}
