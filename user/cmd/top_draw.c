// SPDX-License-Identifier: Apache-2.0
/*
 * Draw the screen of `skein top`, from the top to the bottom. On a small terminal, parts are left
 * out, the least important first and the rows last.
 */
#include "cmd/top_draw.h"

#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "cmd/table.h"
#include "cmd/top_screen.h"

#define NAME_LINES 4 /* largest number of lines for the full name of the row under the cursor */
#define MODULE_COLUMNS 24
#define NAME_COLUMNS_MIN 30 /* least columns of names beside a column of modules */
#define KEYS_COLUMN 24 /* where the meanings of keys begin */
#define WORDS_COLUMN 12 /* where the meanings of words begin */
#define PROCESS_COLUMNS 15 /* columns of the name of a process; a comm has no more */

/* The parts of the screen that are shown, and where. */
struct top_layout {
	bool title, facts, tabs, chosen, name, keys;
	unsigned int first; /* line of the column titles; rows follow */
	unsigned int rows;
};

static void write_text(struct top_pen *p, enum top_style style, const char *text)
{
	top_screen_put(p, style, text, UINT16_MAX, TOP_CUT_END);
}

/* Write text only if it fits as a whole. */
static bool write_whole(struct top_pen *p, enum top_style style, const char *text)
{
	struct top_text t;

	top_text(&t, text, UINT16_MAX, TOP_CUT_END, true);
	if (p->column + t.columns > top_screen_columns())
		return false;
	write_text(p, style, text);
	return true;
}

static bool has_restriction(const struct top_ui *ui)
{
	return ui->foci.count || *top_ui_level(ui)->pattern || ui->typing;
}

static struct top_layout choose_top_layout(const struct top_ui *ui)
{
	unsigned int height = top_screen_rows();
	struct top_layout l = {
		.title = height >= 5,
		.facts = height >= 8,
		.tabs = height >= 9,
		.chosen = has_restriction(ui) && height >= 4,
		.name = height >= 7,
		.keys = height >= 11,
	};
	unsigned int below = (unsigned int)l.name + l.keys;

	l.first = (unsigned int)l.title + l.facts + l.tabs + l.chosen;
	l.rows = height > l.first + 1 + below ? height - l.first - 1 - below : 0;
	return l;
}

static void draw_title(const struct top_ui *ui, const struct top_head *head, struct top_pen p)
{
	write_text(&p, TOP_STYLE_TITLE, "skein top");
	write_text(&p, TOP_STYLE_PLAIN, "  ");
	if (ui->paused) {
		write_text(&p, TOP_STYLE_WARNING, "PAUSED");
		write_text(&p, TOP_STYLE_PLAIN, "  ");
	}
	write_text(&p, TOP_STYLE_PLAIN, head->title);
}

static void draw_facts(const struct top_facts *f, struct top_pen p)
{
	for (unsigned int i = 0; i < f->count; i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s%s", i ? "  " : "", f->list[i].text);
		write_whole(&p, f->list[i].warning ? TOP_STYLE_WARNING : TOP_STYLE_PLAIN, text);
	}
}

/* The tab of callers is shown only if the last focus is a function, or in that view. */
static bool has_tab(const struct top_ui *ui, enum top_view view)
{
	const struct top_level *l = top_ui_level(ui);

	return view != TOP_CALLERS || l->view == TOP_CALLERS ||
	       (ui->foci.count && ui->foci.items[ui->foci.count - 1].function);
}

static void draw_tabs(const struct top_ui *ui, struct top_pen p)
{
	const struct top_level *l = top_ui_level(ui);
	int number = 0;

	for (int view = 0; view < TOP_VIEW_COUNT; view++) {
		char text[32];
		bool here = l->view == (enum top_view)view;

		if (!top_view_is_available(view, ui->model.off_cpu))
			continue;
		number++;
		if (!has_tab(ui, view))
			continue;
		/* a narrow screen shows the whole name of the current tab only */
		snprintf(text, sizeof(text), "%d %s", number,
			 here || top_screen_columns() >= 90 ? top_view_word(view) : "");
		if (top_screen_columns() < 90 && !here)
			snprintf(text, sizeof(text), "%d %.4s", number, top_view_word(view));
		write_whole(&p, here ? TOP_STYLE_TAB : TOP_STYLE_PLAIN, text);
		write_text(&p, TOP_STYLE_PLAIN, "  ");
	}
}

static void draw_filter(const struct top_ui *ui, struct top_pen *p)
{
	const struct top_level *l = top_ui_level(ui);
	char text[TOP_TYPED_MAX + 64];

	if (ui->typing)
		snprintf(text, sizeof(text), "/%s_%s", ui->typed,
			 ui->bad_pattern ? "  (no pattern yet)" : "");
	else if (*l->pattern)
		snprintf(text, sizeof(text), "/%s", l->pattern);
	else
		return;
	write_text(p, ui->bad_pattern ? TOP_STYLE_WARNING : TOP_STYLE_BOLD, text);
	if (!ui->typing && ui->model.weight && l->view != TOP_TREE && l->view != TOP_CALLERS) {
		snprintf(text, sizeof(text), "  %.1f%% in %zu rows",
			 (double)ui->model.matched * 100 / (double)ui->model.weight,
			 ui->model.rows.count);
		write_text(p, TOP_STYLE_PLAIN, text);
	}
}

/* Show the filter and the foci that restrict the rows. */
static void draw_chosen(const struct top_ui *ui, struct top_pen p)
{
	char text[1024];

	draw_filter(ui, &p);
	if (!ui->foci.count)
		return;
	if (p.column)
		write_text(&p, TOP_STYLE_PLAIN, "  ");
	top_focus_text(ui->foci.items, ui->foci.count, ui->foci.items[0].of, text, sizeof(text));
	top_screen_put(&p, TOP_STYLE_BOLD, text, UINT16_MAX, TOP_CUT_MIDDLE);
}

static enum top_style row_style(const struct top_row *row)
{
	static const enum top_style styles[] = {
		[TOP_NATIVE] = TOP_STYLE_PLAIN, [TOP_KERNEL] = TOP_STYLE_KERNEL,
		[TOP_JIT] = TOP_STYLE_JIT,	[TOP_PYTHON] = TOP_STYLE_PYTHON,
		[TOP_HEADING] = TOP_STYLE_BOLD,
	};

	return row->group ? TOP_STYLE_PLAIN : styles[row->kind];
}

static enum top_style row_heat_style(const struct top_ui *ui, const struct top_row *row)
{
	uint64_t whole = ui->model.weight;

	return row->self >= whole / 5 && whole	  ? TOP_STYLE_HOT
	       : row->self >= whole / 20 && whole ? TOP_STYLE_WARM
						  : TOP_STYLE_PLAIN;
}

/* Return the columns for the module at the right edge; 0 for none. */
static unsigned int module_columns(const struct top_ui *ui, unsigned int room)
{
	enum top_view view = top_ui_level(ui)->view;

	if (view == TOP_CLASSES || view == TOP_WAKERS || view == TOP_SERVICES ||
	    view == TOP_CONTAINERS || view == TOP_MODULES)
		return 0;
	if (view == TOP_PROCESSES)
		return room >= 2 * PROCESS_COLUMNS + 2 ? room - PROCESS_COLUMNS - 2 : 0;
	return room >= NAME_COLUMNS_MIN + MODULE_COLUMNS + 2 ? MODULE_COLUMNS : 0;
}

static void draw_branch(struct top_pen *p, const struct top_row *row)
{
	bool utf8 = top_screen_utf8();
	const char *mark = !row->branch ? "  "
			   : row->open	? utf8 ? "▾ " : "- "
			   : utf8	? "▸ "
					: "+ ";
	char text[128];
	/* limit the indentation, so that deep rows stay on the screen */
	int indent = row->depth > 1 ? (int)(row->depth - 1) * 2 : 0;
	int most = (int)top_screen_columns() / 2;

	if (row->kind == TOP_HEADING && !row->depth)
		return;
	indent = indent > most ? most : indent;
	snprintf(text, sizeof(text), "%*s%s", indent > 100 ? 100 : indent, "", mark);
	write_text(p, TOP_STYLE_PLAIN, text);
}

/* Fill a line with blanks, so that the cursor's row is reversed over its whole width. */
static void fill_line(struct top_pen p)
{
	char blank[512];
	unsigned int width = top_screen_columns();

	width = width < sizeof(blank) ? width : sizeof(blank) - 1;
	memset(blank, ' ', width);
	blank[width] = '\0';
	write_text(&p, TOP_STYLE_PLAIN, blank);
}

static void draw_row(const struct top_ui *ui, const struct top_row *row, unsigned int line,
		     bool here)
{
	enum top_view view = top_ui_level(ui)->view;
	enum top_cut cut = view == TOP_MODULES ? TOP_CUT_FRONT : TOP_CUT_MIDDLE;
	const struct screen names = {.full_names = ui->full_names};
	unsigned int width = top_screen_columns(), module, room, name_room;
	struct top_pen p = {line, 0, here};
	char numbers[64], short_name[4096], place[256];
	const char *name = row->name;

	if (here)
		fill_line(p);
	top_numbers(ui, row, numbers, sizeof(numbers));
	write_text(&p, row_heat_style(ui, row), numbers);
	if (view == TOP_TREE || view == TOP_CALLERS)
		draw_branch(&p, row);
	room = width > p.column ? width - p.column : 0;
	module = module_columns(ui, room);
	name_room = module ? room - module - 2 : room;
	if (!row->group && !ui->full_names)
		name = screen_name(&names, name, name_room, short_name, sizeof(short_name));
	top_screen_put(&p, row_style(row), name, name_room, cut);
	p.column = width - module;
	if (module)
		top_screen_put(&p, TOP_STYLE_DIM, top_more_text(view, row, place, sizeof(place)),
			       module, view == TOP_PROCESSES ? TOP_CUT_END : TOP_CUT_FRONT);
}

static void draw_columns(const struct top_ui *ui, unsigned int line)
{
	enum top_view view = top_ui_level(ui)->view;
	unsigned int width = top_screen_columns(), module;
	struct top_pen p = {line, 0, false};
	char numbers[64];

	write_text(&p, TOP_STYLE_COLUMNS, top_numbers(ui, NULL, numbers, sizeof(numbers)));
	module = width > p.column ? module_columns(ui, width - p.column) : 0;
	write_text(&p, TOP_STYLE_COLUMNS, top_name_title(view));
	p.column = width - module;
	if (module)
		write_text(&p, TOP_STYLE_COLUMNS, top_more_title(view));
}

static void scroll_to_cursor(struct top_level *l, unsigned int rows, size_t count)
{
	if (l->centre)
		l->first = l->cursor > rows / 2 ? l->cursor - rows / 2 : 0;
	l->centre = false;
	if (l->cursor < l->first)
		l->first = l->cursor;
	if (rows && l->cursor >= l->first + rows)
		l->first = l->cursor - rows + 1;
	/* leave no empty lines at the end while there are rows above */
	if (l->first + rows > count)
		l->first = count > rows ? count - rows : 0;
}

/*
 * Get the full name and module of the row under the cursor. Return the number of lines for them, 1
 * to NAME_LINES.
 */
static unsigned int full_name_text(const struct top_ui *ui, char *buf, size_t size)
{
	const struct top_row *row = top_ui_row(ui);
	unsigned int width = top_screen_columns(), lines;
	struct top_text t;

	*buf = '\0';
	if (!row)
		return 1;
	snprintf(buf, size, "%s  %s", row->name, row->module);
	top_text(&t, buf, UINT16_MAX, TOP_CUT_END, top_screen_utf8());
	lines = width ? (t.columns + width - 1) / width : 1;
	return lines < 1 ? 1 : lines > NAME_LINES ? NAME_LINES : lines;
}

/* Draw the name in some lines; a name that is too long is cut in its middle. */
static void draw_name(const char *text, unsigned int line, unsigned int lines)
{
	unsigned int width = top_screen_columns();
	struct top_text t;
	const wchar_t *at = t.cells;

	top_text(&t, text, width * lines, TOP_CUT_MIDDLE, top_screen_utf8());
	for (unsigned int i = 0; i < lines; i++) {
		unsigned int columns = 0;

		move((int)(line + i), 0);
		clrtoeol();
		for (; *at && columns + (wcwidth(*at) == 2 ? 2 : 1) <= width; at++) {
			mvaddnwstr((int)(line + i), (int)columns, at, 1);
			columns += wcwidth(*at) == 2 ? 2 : 1;
		}
	}
}

static void draw_keys(const struct top_ui *ui, unsigned int line)
{
	static const char *const keys[] = {
		"?:help",   "Enter:drill in", "/:filter", "Space:pause",
		"Tab:view", "P M t n:sort",   "q:quit",	  NULL,
	};
	struct top_pen p = {line, 0, false};

	if (ui->typing) {
		write_text(&p, TOP_STYLE_DIM, "Enter:keep the filter  Esc:remove it");
		return;
	}
	if (ui->foci.count)
		write_text(&p, TOP_STYLE_DIM, "Esc:back");
	for (const char *const *k = keys; *k; k++) {
		char text[32];

		snprintf(text, sizeof(text), "%s%s", p.column ? "  " : "", *k);
		if (!write_whole(&p, TOP_STYLE_DIM, text))
			break;
	}
}

static void draw_rows(struct top_ui *ui, const struct top_head *head, const struct top_layout *l)
{
	struct top_level *level = top_ui_level(ui);
	const struct top_row *rows = ui->model.rows.items;
	size_t count = ui->model.rows.count;
	char name[4096];
	unsigned int lines = full_name_text(ui, name, sizeof(name));
	/* further lines of the name cover the last rows, but must not cover the cursor's row */
	unsigned int free_rows = l->name && l->rows > lines ? l->rows - lines + 1 : l->rows;
	struct top_pen p = {l->first + 2, 2, false};

	scroll_to_cursor(level, free_rows, count);
	ui->page = free_rows > 1 ? free_rows - 1 : 1;
	for (size_t i = 0; i < l->rows && level->first + i < count; i++)
		draw_row(ui, &rows[level->first + i], l->first + 1 + (unsigned int)i,
			 level->first + i == level->cursor);
	if (!count && l->rows > 1)
		write_text(&p, TOP_STYLE_DIM,
			   head->waiting		? head->waiting
			   : *level->pattern		? "nothing that fits the filter"
			   : level->view == TOP_CALLERS ? "no sample of this function in the window"
			   : ui->model.off_cpu		? "no wait ended in the window"
							: "no samples in the window");
	if (l->name)
		draw_name(name, top_screen_rows() - l->keys - lines, lines);
}

/* Show what the colours mean, each in itself. */
static void draw_color_legend(struct top_pen p)
{
	static const struct {
		enum top_style style;
		const char *text;
	} parts[] = {
		{TOP_STYLE_BOLD, "colours"},	  {TOP_STYLE_PLAIN, "native  "},
		{TOP_STYLE_KERNEL, "kernel  "},	  {TOP_STYLE_JIT, "generated code, Java  "},
		{TOP_STYLE_PYTHON, "Python  "},	  {TOP_STYLE_HOT, "20 %  "},
		{TOP_STYLE_WARM, "5 % and more"},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		write_text(&p, parts[i].style, parts[i].text);
		p.column = i ? p.column : WORDS_COLUMN;
	}
}

static void draw_help(void)
{
	struct top_pen p = {0, 0, false};
	unsigned int column = KEYS_COLUMN;

	write_text(&p, TOP_STYLE_TITLE, "skein top: keys, and what the words mean");
	for (unsigned int i = 0; top_help[i] && p.row < top_screen_rows(); i++) {
		size_t size = strcspn(top_help[i], "\t");
		char keys[64];

		p = (struct top_pen){i + 1, 1, false};
		snprintf(keys, sizeof(keys), "%.*s", (int)size, top_help[i]);
		write_text(&p, TOP_STYLE_BOLD, keys);
		column = size ? column : WORDS_COLUMN; /* an empty line ends the keys */
		p.column = size > column - 3 ? p.column + 2 : column;
		if (top_help[i][size])
			write_text(&p, TOP_STYLE_PLAIN, top_help[i] + size + 1);
	}
	draw_color_legend((struct top_pen){p.row + 1, 1, false});
}

static void draw_all(struct top_ui *ui, const struct top_head *head)
{
	struct top_layout l = choose_top_layout(ui);
	unsigned int line = 0;

	if (l.title)
		draw_title(ui, head, (struct top_pen){line++, 0, false});
	if (l.facts)
		draw_facts(&head->facts, (struct top_pen){line++, 0, false});
	if (l.tabs)
		draw_tabs(ui, (struct top_pen){line++, 0, false});
	if (l.chosen)
		draw_chosen(ui, (struct top_pen){line++, 0, false});
	draw_columns(ui, line);
	draw_rows(ui, head, &l);
	if (l.keys)
		draw_keys(ui, top_screen_rows() - 1);
}

void top_draw(struct top_ui *ui, const struct top_head *head)
{
	erase();
	ui->utf8 = top_screen_utf8();
	if (ui->help)
		draw_help();
	else
		draw_all(ui, head);
	refresh();
}
