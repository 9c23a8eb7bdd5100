/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of the service's windows. A window is a trace, whose name shows when it began and how
 * long it is: 20261127T094500Z-60s.skein. The window that is being written has another name, which
 * it loses when it is complete: so every file with such a name is a complete trace.
 */
#ifndef SKEIN_SERVE_WINDOW_FILES_H
#define SKEIN_SERVE_WINDOW_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vector.h"

/* Where the service keeps windows, unless another folder is named. */
#define WINDOW_FOLDER "/var/lib/skein"

struct window_file {
	char name[NAME_MAX + 1]; /* of the file in the folder */
	uint64_t begin, end; /* s since 1970, UTC */
	uint64_t bytes; /* of the file */
};

struct window_files {
	VECTOR(struct window_file) list; /* by begin */
};

/*
 * Parse the name of a complete window, such as 20261127T094500Z-60s.skein or ...-60s-2.skein, into
 * *out, without its size. Return whether it is one.
 */
bool window_files_parse(const char *name, struct window_file *out);

/*
 * List the windows of a folder. Files with other names are not listed. Return 0, or a negative
 * errno with *out unchanged. Free *out with window_files_free().
 */
int window_files_list(struct window_files *out, const char *folder, struct error *err);
void window_files_free(struct window_files *w);

/* What is kept of a folder; 0: no limit. */
struct window_budget {
	uint64_t bytes; /* of all windows together */
	uint64_t age; /* s since the end of a window */
};

/*
 * Remove the oldest windows of a folder until those that stay are within the budget at the time now
 * (s since 1970). Add to *removed how many were removed. Return 0 or a negative errno.
 */
int window_files_prune(const char *folder, const struct window_budget *budget, uint64_t now,
		       uint64_t *removed, struct error *err);

/*
 * Write the path of the file in which a window that begins at that time is written; there is no
 * such file yet. Return 0 or a negative errno.
 */
int window_files_open_path(char *out, size_t size, const char *folder, uint64_t begin,
			   struct error *err);
/*
 * Give a complete window, which ends at that time, its name, and have it on the disk before. Return
 * 0 or a negative errno; the file then keeps its former name.
 */
int window_files_publish(const char *folder, const char *open_path, uint64_t begin, uint64_t end,
			 struct error *err);
/*
 * Publish the windows that a service which was killed has left open, with all that it had written
 * to them. Nobody may be writing to the folder. Store in *count how many there were. Return 0 or a
 * negative errno.
 */
int window_files_recover(const char *folder, uint64_t *count, struct error *err);

#endif
