// SPDX-License-Identifier: Apache-2.0
/* Keep the list of windows (window_list.h). */
#include "serve/window_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int write_window_list(struct window_list *out, const struct window_files *w)
{
	FILE *to = open_memstream(&out->text, &out->size);

	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < w->list.count; i++) {
		const struct window_file *f = &w->list.items[i];

		fprintf(to, "%s %llu %llu %llu\n", f->name, (unsigned long long)f->begin,
			(unsigned long long)f->end, (unsigned long long)f->bytes);
		if (!f->reason[0])
			out->last = *f;
	}
	if (!fclose(to))
		return 0;
	free(out->text);
	return -ENOMEM;
}

int window_list_update(struct window_list *l, const char *folder, uint64_t changes, uint64_t now,
		       struct error *err)
{
	struct window_list read = {.changes = changes, .time = now};
	struct window_files w;
	int ret;

	if (l->text && l->changes == changes && now < l->time + WINDOW_LIST_TIME)
		return 0;
	ret = window_files_list(&w, folder, err);
	if (ret)
		return ret;
	ret = write_window_list(&read, &w);
	window_files_free(&w);
	if (ret)
		return error_errno(err, ret, "%s", folder);
	window_list_free(l);
	*l = read;
	return 0;
}

void window_list_free(struct window_list *l)
{
	free(l->text);
	l->text = NULL;
}
