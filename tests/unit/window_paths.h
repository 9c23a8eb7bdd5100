/* SPDX-License-Identifier: Apache-2.0 */
/* The windows that a test has written. */
#ifndef SKEIN_TESTS_WINDOW_PATHS_H
#define SKEIN_TESTS_WINDOW_PATHS_H

#include <stdio.h>

#include "serve/window_files.h"
#include "suite.h"

#define WINDOWS_MAX 64

/* List the windows of a folder, in order. Return their number; the caller frees each path. */
static size_t list_windows(const char *folder, char **paths)
{
	struct error err = {""};
	struct window_files w;
	size_t count;

	ck_assert_msg(window_files_list(&w, folder, &err) == 0, "%s", err.text);
	count = w.list.count;
	ck_assert_uint_le(count, WINDOWS_MAX);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_gt(asprintf(&paths[i], "%s/%s", folder, w.list.items[i].name), 0);
	window_files_free(&w);
	return count;
}

#endif
