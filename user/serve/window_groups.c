// SPDX-License-Identifier: Apache-2.0
/* Divide the sums of control groups among windows (window_groups.h). */
#include "serve/window_groups.h"

#include <errno.h>

/* Get the row of a key, and what the source has put of it. */
static int find_window_group(struct window_groups *w, const struct group_time *r, uint32_t *out)
{
	int ret = group_times_find(&w->window, r, out);

	while (!ret && w->source.count < w->window.rows.count)
		ret = vector_push(&w->source, (struct window_group){0});
	return ret < 0 ? -ENOMEM : 0;
}

int window_groups_take(struct window_groups *w, const struct group_time *r)
{
	struct window_group *of;
	struct group_time *row;
	uint32_t number;
	int ret = find_window_group(w, r, &number);

	if (ret)
		return ret;
	of = &w->source.items[number];
	row = &w->window.rows.items[number];
	if (r->ns < of->ns || r->count < of->count) /* it counts from 0 again */
		of->ns = of->count = 0;
	row->ns += r->ns - of->ns;
	row->count += r->count - of->count;
	*of = (struct window_group){r->ns, r->count, true};
	return 0;
}

int window_groups_put(struct window_groups *w, struct sink *to, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < w->source.count && !ret; i++) {
		const struct group_time *row = &w->window.rows.items[i];

		if (!w->source.items[i].changed)
			continue;
		if (row->ns || row->count)
			ret = put_group_time(to, row, err);
		w->source.items[i].changed = false;
	}
	return ret;
}

/* Copy what the source has put, without the groups that it has forgotten. */
static int copy_window_groups(struct window_groups *to, const struct window_groups *w)
{
	uint32_t number;
	int ret = 0;

	for (size_t i = 0; i < w->source.count && !ret; i++) {
		const struct window_group *known = &w->source.items[i];

		if (!known->ns && !known->count)
			continue;
		ret = find_window_group(to, &w->window.rows.items[i], &number);
		if (!ret)
			to->source.items[number] = *known;
	}
	return ret;
}

void window_groups_next(struct window_groups *w)
{
	struct window_groups next = {0};

	for (size_t i = 0; i < w->source.count; i++) {
		w->window.rows.items[i].ns = w->window.rows.items[i].count = 0;
		w->source.items[i].changed = false;
	}
	if (copy_window_groups(&next, w) < 0) { /* forgotten groups stay until there is memory */
		window_groups_free(&next);
		return;
	}
	window_groups_free(w);
	*w = next;
}

void window_groups_again(struct window_groups *w)
{
	for (size_t i = 0; i < w->source.count; i++)
		w->source.items[i].changed = true;
}

void window_groups_free(struct window_groups *w)
{
	group_times_free(&w->window);
	vector_free(&w->source);
	*w = (struct window_groups){0};
}
