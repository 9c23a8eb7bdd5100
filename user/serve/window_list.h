/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of windows as clients get it. Reading a folder with the windows of a week takes some
 * 20 ms, so the text is kept until a window comes or goes. What others do to the folder is seen
 * after WINDOW_LIST_TIME.
 */
#ifndef SKEIN_SERVE_WINDOW_LIST_H
#define SKEIN_SERVE_WINDOW_LIST_H

#include "serve/window_files.h"

#define WINDOW_LIST_TIME 10000000000ULL /* ns */

/* Zeroed memory is a list that has not been read. */
struct window_list {
	char *text; /* a line for each: name, begin, end, bytes; NULL: not read */
	size_t size; /* of text */
	struct window_file last; /* the last one that is no flight; an empty name: there is none */
	uint64_t changes, time; /* as passed when it was read */
};

/*
 * Have the list of a folder up to date. changes: a number that grows whenever the service completes
 * or removes a window or a flight; now: ns. Return 0 or a negative errno: the list is what it was.
 */
int window_list_update(struct window_list *l, const char *folder, uint64_t changes, uint64_t now,
		       struct error *err);
void window_list_free(struct window_list *l);

#endif
