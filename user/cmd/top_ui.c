// SPDX-License-Identifier: Apache-2.0
/* Keep the state of the user's navigation: levels, foci and filters. */
#include "cmd/top_ui.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tree rows with at least 1 / OPEN_PART of the whole are open at first. */
#define OPEN_PART 8

static void free_level(struct top_level *l)
{
	if (*l->pattern)
		regfree(&l->filter);
	index_free(&l->toggled);
}

static int push_level(struct top_ui *ui, enum top_view view)
{
	const struct top_level l = {.view = view, .open_part = OPEN_PART};

	ui->stale = true;
	return vector_push(&ui->levels, l);
}

int top_ui_begin(struct top_ui *ui, enum top_view view, enum top_sort sort)
{
	ui->sort = sort;
	return push_level(ui, view);
}

void top_ui_free(struct top_ui *ui)
{
	for (size_t i = 0; i < ui->levels.count; i++)
		free_level(&ui->levels.items[i]);
	for (size_t i = 0; i < ui->foci.count; i++)
		top_focus_free(&ui->foci.items[i]);
	vector_free(&ui->levels);
	vector_free(&ui->foci);
	top_model_free(&ui->model);
}

struct top_level *top_ui_level(const struct top_ui *ui)
{
	return &ui->levels.items[ui->levels.count - 1];
}

const struct top_row *top_ui_row(const struct top_ui *ui)
{
	size_t at = top_ui_level(ui)->cursor;

	return at < ui->model.rows.count ? &ui->model.rows.items[at] : NULL;
}

int top_ui_enter(struct top_ui *ui, const struct top_row *row)
{
	struct top_focus f;
	uint64_t key = row->key;
	int ret = top_focus_make(&f, top_ui_level(ui)->view, row);

	if (ret)
		return ret;
	ret = push_level(ui, f.function ? TOP_CALLERS : TOP_FUNCTIONS);
	if (!ret)
		ret = vector_push(&ui->foci, f);
	if (ret) {
		top_focus_free(&f);
		return ret;
	}
	/* in the view of callers, the row of the function has the same key */
	top_ui_level(ui)->key = key;
	top_ui_level(ui)->moved = top_ui_level(ui)->centre = f.function;
	return 0;
}

void top_ui_leave(struct top_ui *ui)
{
	if (ui->levels.count < 2)
		return;
	free_level(top_ui_level(ui));
	ui->levels.count--;
	top_focus_free(&ui->foci.items[--ui->foci.count]);
	ui->stale = true;
}

void top_ui_view(struct top_ui *ui, enum top_view view)
{
	struct top_level *l = top_ui_level(ui);

	if (l->view == view)
		return;
	l->view = view;
	l->cursor = l->first = 0;
	l->moved = l->centre = false;
	ui->stale = true;
}

static bool has_capital(const char *text)
{
	while (*text && !isupper((unsigned char)*text))
		text++;
	return *text;
}

void top_ui_filter(struct top_ui *ui, const char *pattern)
{
	struct top_level *l = top_ui_level(ui);
	int flags = REG_EXTENDED | REG_NOSUB | (has_capital(pattern) ? 0 : REG_ICASE);
	regex_t filter;

	ui->bad_pattern = *pattern && regcomp(&filter, pattern, flags) != 0;
	if (ui->bad_pattern)
		return;
	if (*l->pattern)
		regfree(&l->filter);
	if (*pattern)
		l->filter = filter;
	snprintf(l->pattern, sizeof(l->pattern), "%s", pattern);
	ui->stale = true;
}

int top_ui_toggle(struct top_ui *ui, const struct top_row *row, bool open)
{
	ui->stale = true;
	return index_put(&top_ui_level(ui)->toggled, row->key, open);
}

/*
 * If the user has moved the cursor, put the cursor on the same row as before, or, if that row is
 * gone, leave the cursor at its position. Otherwise put the cursor on the first row.
 */
static void place_cursor(struct top_ui *ui)
{
	struct top_level *l = top_ui_level(ui);
	size_t count = ui->model.rows.count;

	for (size_t i = 0; l->moved && i < count; i++)
		if (ui->model.rows.items[i].key == l->key) {
			l->cursor = i;
			return;
		}
	if (!l->moved)
		l->cursor = 0;
	if (l->cursor >= count)
		l->cursor = count ? count - 1 : 0;
}

int top_ui_update(struct top_ui *ui)
{
	const struct top_level *l = top_ui_level(ui);
	const struct top_request request = {
		.view = l->view,
		.sort = ui->sort,
		.reverse = ui->reverse,
		.full_names = ui->full_names,
		.foci = ui->foci.items,
		.focus_count = ui->foci.count,
		.filter = *l->pattern ? &l->filter : NULL,
		.toggled = &l->toggled,
		.open_part = l->open_part,
	};
	int ret;

	if (!ui->stale)
		return 0;
	ret = top_model_show(&ui->model, &request);
	ui->stale = false;
	place_cursor(ui);
	return ret;
}
