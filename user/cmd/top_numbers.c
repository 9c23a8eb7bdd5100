// SPDX-License-Identifier: Apache-2.0
/* Format the numbers in front of a row of `skein top`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
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

#define SORTED_SIZE 16
/*
 * Format a column title, as wide as the column and marked if the rows are sorted by the column.
 * Return buf.
 */
static char *sorted_title(const struct top_ui *ui, enum top_sort sort, const char *text, int width,
			  char buf[static SORTED_SIZE])
{
	enum top_sort by = top_view_sort(top_ui_level(ui)->view, ui->sort);
	const char *mark = by != sort ? "" : !ui->utf8 ? "*" : ui->reverse ? "↑" : "↓";
	/* printf pads by bytes; the mark may have more bytes than columns */
	int pad = width - (int)strlen(text) - (*mark ? 1 : 0);

	snprintf(buf, SORTED_SIZE, "%*s%s%s", pad > 0 ? pad : 0, "", mark, text);
	return buf;
}

#define SHARE_COLUMNS 6
#define RESIDENT_COLUMNS 9

/* Format the titles of groups: how much they ran or waited first, then the memory and the id. */
static void format_group_titles(const struct top_ui *ui, enum top_view view, char *buf, size_t size)
{
	char most[SORTED_SIZE], memory[SORTED_SIZE];
	bool off_cpu = ui->model.off_cpu;
	size_t used;

	sorted_title(ui, TOP_BY_SELF, off_cpu ? "SHARE" : "%CPU", SHARE_COLUMNS, most);
	sorted_title(ui, TOP_BY_MEMORY, "RES", RESIDENT_COLUMNS, memory);
	used = (size_t)snprintf(buf, size, "%s %s", most, off_cpu ? "   MS/S" : " SHARE");
	if (view == TOP_PROCESSES)
		used = text_append(buf, size, used, " %s", memory);
	text_append(buf, size, used, "%s",
		    view == TOP_PROCESSES ? "     PID  "
		    : view == TOP_THREADS ? "     TID  "
					  : "  ");
}

static void format_number_titles(const struct top_ui *ui, enum top_view view, char *buf,
				 size_t size)
{
	char self[SORTED_SIZE], total[SORTED_SIZE];

	if (top_view_is_groups(view))
		format_group_titles(ui, view, buf, size);
	else
		snprintf(buf, size, "%s %s %s ",
			 sorted_title(ui, TOP_BY_SELF, "SELF", SHARE_COLUMNS, self),
			 sorted_title(ui, TOP_BY_TOTAL, "TOTAL", SHARE_COLUMNS, total),
			 ui->model.off_cpu ? "   MS/S " : "");
}

/* Return how long threads waited at once, ms per second: 1,000 for one that always waits. */
static double ms_per_second(const struct top_ui *ui, const struct top_row *row)
{
	uint64_t span = ui->model.window.span;

	return span ? (double)row->total * 1000 / (double)span : 0;
}

/* Format the memory of a process; "-" if it has ended. */
static char *row_resident(const struct top_row *row, char *buf, size_t size)
{
	if (row->resident == TOP_RESIDENT_UNKNOWN)
		snprintf(buf, size, "-");
	else
		show_bytes(row->resident, buf, size);
	return buf;
}

/*
 * Format the numbers of a group: its CPU use, where 100 is one CPU, or its share and time of
 * waiting; its share of the samples in focus; the memory of a process; and the pid or tid.
 */
static void format_group_numbers(const struct top_ui *ui, const struct top_row *row,
				 enum top_view view, char *buf, size_t size)
{
	const struct group *g = row->group;
	uint64_t span = ui->model.window.span;
	char share[16], resident[32];
	size_t used;

	row_percent(row->self, ui->model.weight, share, sizeof(share));
	if (ui->model.off_cpu)
		used = (size_t)snprintf(buf, size, "%6s %7.1f", share, ms_per_second(ui, row));
	else
		used = (size_t)snprintf(buf, size, "%6.1f %6s",
					span ? (double)row->self * 100 / (double)span : 0, share);
	if (view == TOP_PROCESSES)
		used = text_append(buf, size, used, " %*s", RESIDENT_COLUMNS,
				   row_resident(row, resident, sizeof(resident)));
	if (view == TOP_PROCESSES || view == TOP_THREADS)
		used = text_append(buf, size, used, " %7" PRIu64,
				   g->thread ? g->thread->tid : g->process->pid);
	text_append(buf, size, used, "  ");
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

char *top_numbers(const struct top_ui *ui, const struct top_row *row, char *buf, size_t size)
{
	enum top_view view = top_ui_level(ui)->view;
	char self[16], total[16];

	if (!row)
		format_number_titles(ui, view, buf, size);
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

const char *top_more_title(enum top_view view)
{
	return top_view_group(view) == GROUP_KIND_COUNT ? "MODULE"
	       : view == TOP_PROCESSES			? "COMMAND"
	       : view == TOP_THREADS			? "PROCESS"
	       : view == TOP_PROGRAMS			? "WHERE"
							: "";
}

const char *top_more_text(enum top_view view, const struct top_row *row, char *buf, size_t size)
{
	if (view == TOP_PROGRAMS)
		return process_place(row->group->process, buf, size);
	return row->group || row->alike ? row->module : module_short_name(row->module);
}
