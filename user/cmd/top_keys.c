// SPDX-License-Identifier: Apache-2.0
/* Handle the keys of `skein top`. */
#include <limits.h>
#include <ncurses.h>
#include <string.h>
#include <wchar.h>

#include "cmd/top_ui.h"

#define KEY_TAB 9
#define KEY_RETURN 10
#define KEY_ESCAPE 27
#define KEY_DELETE 127

const char *const top_help[] = {
	"Up Down PgUp PgDn Home End\tmove (k and j, too)",
	"Enter\tgo into a process; callers, callees of a function",
	"Esc Backspace\tback out; Esc removes a filter first",
	"Right Left  e c\topen, close a row of a tree; all rows",
	"f\tcallers and callees of a function in a tree",
	"Tab Shift-Tab 1-9 0\tnext, previous, n-th view",
	"P M\tsort by CPU; processes by memory, of those that ran",
	"s t n r\tsort by self (as P), by total, by name; reverse",
	"/\tfilter by a regular expression on names and modules",
	"Space p\tpause: what is shown stays, sampling goes on",
	"h ?  q Ctrl-C\tthis help; quit",
	"",
#define LEGEND_LINE(word, meaning) word "\t" meaning,
	TOP_LEGEND(LEGEND_LINE)
#undef LEGEND_LINE
		NULL,
};

static void move_cursor_to(struct top_ui *ui, size_t row)
{
	struct top_level *l = top_ui_level(ui);
	size_t count = ui->model.rows.count;

	if (!count)
		return;
	l->cursor = row < count ? row : count - 1;
	l->key = ui->model.rows.items[l->cursor].key;
	l->moved = l->cursor != 0;
}

/* Return whether a row is a heading, which the cursor skips when it moves by some rows. */
static bool is_heading_row(const struct top_row *row)
{
	return row->kind == TOP_HEADING && !row->depth && !row->group;
}

static void move_cursor_by(struct top_ui *ui, long rows)
{
	const struct top_row *all = ui->model.rows.items;
	long to = (long)top_ui_level(ui)->cursor + rows, count = (long)ui->model.rows.count;

	to = to < 0 ? 0 : to >= count ? count - 1 : to;
	while (to > 0 && to < count - 1 && is_heading_row(&all[to]))
		to += rows < 0 ? -1 : 1;
	if (to >= 0 && !is_heading_row(&all[to]))
		move_cursor_to(ui, (size_t)to);
}

static bool is_tree_view(const struct top_ui *ui)
{
	enum top_view view = top_ui_level(ui)->view;

	return view == TOP_TREE || view == TOP_CALLERS;
}

/* The callers view is available only if one of the foci is a function. */
static bool is_view_available(const struct top_ui *ui, enum top_view view)
{
	if (!top_view_is_available(view, ui->model.off_cpu))
		return false;
	if (view != TOP_CALLERS)
		return true;
	for (size_t i = 0; i < ui->foci.count; i++)
		if (ui->foci.items[i].function)
			return true;
	return false;
}

static void step_view(struct top_ui *ui, int step)
{
	int view = top_ui_level(ui)->view;

	do
		view = (view + step + TOP_VIEW_COUNT) % TOP_VIEW_COUNT;
	while (!is_view_available(ui, view));
	top_ui_view(ui, view);
}

/* Choose a view by its number among the tabs, from 0. */
static void choose_view(struct top_ui *ui, unsigned int number)
{
	for (int view = 0; view < TOP_VIEW_COUNT; view++) {
		if (!top_view_is_available(view, ui->model.off_cpu) || number--)
			continue;
		if (is_view_available(ui, view))
			top_ui_view(ui, view);
		return;
	}
}

static void sort_rows_by(struct top_ui *ui, enum top_sort sort)
{
	ui->sort = sort;
	ui->stale = true;
}

/* Focus on the function under the cursor; the programs of a call tree are no functions. */
static int focus_function(struct top_ui *ui)
{
	const struct top_row *row = top_ui_row(ui);

	return row && row->kind != TOP_HEADING ? top_ui_enter(ui, row) : 0;
}

static int enter_row(struct top_ui *ui)
{
	const struct top_row *row = top_ui_row(ui);

	if (!row)
		return 0;
	if (row->branch)
		return top_ui_toggle(ui, row, !row->open);
	return is_tree_view(ui) ? 0 : top_ui_enter(ui, row);
}

static int open_row(struct top_ui *ui)
{
	const struct top_row *row = top_ui_row(ui);

	return row && row->branch && !row->open ? top_ui_toggle(ui, row, true) : 0;
}

/* Close an open row; from a closed row, move to its parent. */
static int close_row(struct top_ui *ui)
{
	const struct top_row *row = top_ui_row(ui);
	size_t at = top_ui_level(ui)->cursor;

	if (row && row->open)
		return top_ui_toggle(ui, row, false);
	if (!row || !is_tree_view(ui))
		return 0;
	while (at > 0 && ui->model.rows.items[at].depth >= row->depth)
		at--;
	move_cursor_to(ui, at);
	return 0;
}

static void open_all_rows(struct top_ui *ui, bool open)
{
	struct top_level *l = top_ui_level(ui);

	index_free(&l->toggled);
	l->open_part = open ? UINT32_MAX : 0;
	ui->stale = true;
}

static void step_back(struct top_ui *ui, bool filter_first)
{
	if (filter_first && *top_ui_level(ui)->pattern)
		top_ui_filter(ui, "");
	else
		top_ui_leave(ui);
}

static void begin_typing(struct top_ui *ui)
{
	ui->typing = true;
	memcpy(ui->typed, top_ui_level(ui)->pattern, sizeof(ui->typed));
}

/* Remove the last character, which may have several bytes. */
static void delete_character(char *text)
{
	size_t size = strlen(text);

	while (size && (text[--size] & 0xc0) == 0x80)
		;
	text[size] = '\0';
}

static void type_character(struct top_ui *ui, unsigned int c)
{
	char bytes[MB_LEN_MAX];
	mbstate_t state = {0};
	size_t used = strlen(ui->typed), size = wcrtomb(bytes, (wchar_t)c, &state);

	if (c < ' ' || size == (size_t)-1 || used + size >= sizeof(ui->typed))
		return;
	memcpy(ui->typed + used, bytes, size);
	ui->typed[used + size] = '\0';
}

/* Handle a key while a filter is typed; the filter applies at once. */
static void typing_key(struct top_ui *ui, unsigned int key, bool code)
{
	if (!code && (key == KEY_ESCAPE || key == KEY_RETURN || key == '\r')) {
		ui->typing = false;
		if (key == KEY_ESCAPE)
			top_ui_filter(ui, "");
		ui->bad_pattern = false;
		return;
	}
	if ((code && key == KEY_BACKSPACE) || (!code && (key == KEY_DELETE || key == '\b')))
		delete_character(ui->typed);
	else if (!code && key == ('u' & 0x1f))
		ui->typed[0] = '\0';
	else if (!code)
		type_character(ui, key);
	top_ui_filter(ui, ui->typed);
}

/* Handle keys with an ncurses code (KEY_*) instead of a character. */
static int special_key(struct top_ui *ui, unsigned int key)
{
	switch (key) {
	case KEY_UP:
		return move_cursor_by(ui, -1), 0;
	case KEY_DOWN:
		return move_cursor_by(ui, 1), 0;
	case KEY_PPAGE:
		return move_cursor_by(ui, -(long)ui->page), 0;
	case KEY_NPAGE:
		return move_cursor_by(ui, (long)ui->page), 0;
	case KEY_HOME:
		return move_cursor_to(ui, 0), 0;
	case KEY_END:
		return move_cursor_to(ui, SIZE_MAX), 0;
	case KEY_RIGHT:
		return open_row(ui);
	case KEY_LEFT:
		return close_row(ui);
	case KEY_ENTER:
		return enter_row(ui);
	case KEY_BACKSPACE:
		return step_back(ui, false), 0;
	case KEY_BTAB:
		return step_view(ui, -1), 0;
	default:
		return 0;
	}
}

static void show_by_memory(struct top_ui *ui)
{
	top_ui_view(ui, TOP_PROCESSES);
	sort_rows_by(ui, TOP_BY_MEMORY);
}

/* Handle keys that change how the rows are shown. */
static void display_key(struct top_ui *ui, unsigned int key)
{
	if (key == 's' || key == 'P')
		sort_rows_by(ui, TOP_BY_SELF);
	else if (key == 'M')
		show_by_memory(ui);
	else if (key == 't')
		sort_rows_by(ui, TOP_BY_TOTAL);
	else if (key == 'n')
		sort_rows_by(ui, TOP_BY_NAME);
	else if (key == 'r')
		ui->reverse = !ui->reverse, ui->stale = true;
	else if (key == 'e' || key == 'c')
		open_all_rows(ui, key == 'e');
	else if (key == ' ' || key == 'p')
		ui->paused = !ui->paused;
	else if (key == '/')
		begin_typing(ui);
	else if (key == 'h' || key == '?')
		ui->help = true;
	else if (key >= '0' && key <= '9')
		choose_view(ui, key == '0' ? 9 : key - '1');
}

static int plain_key(struct top_ui *ui, unsigned int key)
{
	switch (key) {
	case 'q':
		ui->quit = true;
		return 0;
	case 'k':
		return move_cursor_by(ui, -1), 0;
	case 'j':
		return move_cursor_by(ui, 1), 0;
	case 'f':
		return is_tree_view(ui) ? focus_function(ui) : 0;
	case KEY_RETURN:
	case '\r':
		return enter_row(ui);
	case KEY_ESCAPE:
		return step_back(ui, true), 0;
	case KEY_DELETE:
	case '\b':
		return step_back(ui, false), 0;
	case KEY_TAB:
		return step_view(ui, 1), 0;
	default:
		return display_key(ui, key), 0;
	}
}

int top_ui_key(struct top_ui *ui, unsigned int key, bool code)
{
	if (ui->help) { /* any key leaves the help */
		ui->help = false;
		ui->quit = !code && key == 'q';
		return 0;
	}
	if (ui->typing)
		return typing_key(ui, key, code), 0;
	return code ? special_key(ui, key) : plain_key(ui, key);
}
