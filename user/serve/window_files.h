/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of the service's windows. A window is a trace, whose name shows when it began and how
 * long it is: 20261127T094500Z-60s.skein. The window that is being written has another name, which
 * it loses when it is complete: so every file with such a name is a complete trace.
 *
 * A flight is a trace of the flight recorder (flight.h), in the same folder: its name has the
 * reason, too, as in 20261127T094500Z-32s-signal.skein. Windows have its time already, so it is
 * never added to them.
 */
#ifndef SKEIN_SERVE_WINDOW_FILES_H
#define SKEIN_SERVE_WINDOW_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vector.h"
#include "serve/window_clock.h"

/* How the names of the files of sessions (on_demand.h) begin. */
#define SESSION_PREFIX "session-"

/* Where the service keeps windows, unless another folder is named. */
#define WINDOW_FOLDER "/var/lib/skein"

/* Size of the reason of a flight with its NUL: lower-case letters and '-', a letter first. */
#define FLIGHT_REASON_SIZE 24
/* All flights together may take this part of window_budget.bytes: one of so many. */
#define FLIGHTS_PART 4

struct window_file {
	char name[NAME_MAX + 1]; /* of the file in the folder */
	char reason[FLIGHT_REASON_SIZE]; /* of a flight; "": it is a window */
	uint64_t begin, end; /* s since 1970, UTC */
	uint64_t bytes; /* of the file */
};

struct window_files {
	VECTOR(struct window_file) list; /* by begin */
};

/*
 * Parse the name of a complete window, such as 20261127T094500Z-60s.skein or ...-60s-2.skein, or of
 * a flight, into *out, without its size. Return whether it is one.
 */
bool window_files_parse(const char *name, struct window_file *out);

/*
 * List the windows of a folder. Files with other names are not listed. Return 0, or a negative
 * errno with *out unchanged. Free *out with window_files_free().
 */
int window_files_list(struct window_files *out, const char *folder, struct error *err);
void window_files_free(struct window_files *w);
/* Remove from a list what is no window, or what is no flight. */
void window_files_leave_flights(struct window_files *w);
void window_files_leave_windows(struct window_files *w);

/* Return whether a text can be the reason of a flight. */
bool flight_reason_is_valid(const char *reason);

/* What is kept of a folder; 0: no limit. */
struct window_budget {
	uint64_t bytes; /* of all windows and flights, those included that are being written */
	uint64_t age; /* s since the end of a window */
};

/*
 * Remove the oldest windows of a folder until those that stay are within the budget at the time
 * now. Windows of the future, which are left when the clock was set back, are the first to go for
 * want of room, and are removed if they are further away than the age. Near a jump of the clock, a
 * window is removed only if it is too old by both clocks. A window that is being written is never
 * removed; it counts with the size of the last complete one, to which it may grow until the next
 * call. The same holds for
 * flights, which have a part of the bytes of their own. Add to *removed how many were removed.
 * Return 0 or a negative errno.
 */
int window_files_prune(const char *folder, const struct window_budget *budget,
		       const struct window_now *now, uint64_t *removed, struct error *err);

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
 * Write the path of the file in which a flight is written, without links, which SQLite does not
 * follow; a file that a service which was killed has left there is removed. Return 0 or a negative
 * errno.
 */
int flight_files_open_path(char *out, size_t size, const char *folder, struct error *err);
/* A flight that is to be published, with its times in s since 1970. */
struct flight_name {
	const char *folder, *reason;
	uint64_t begin, end;
};
/*
 * Give a complete flight its name, and have it on the disk before. Write its path to out, of
 * PATH_MAX bytes. Return 0; or a negative errno, and the file is removed: -EFBIG if it is larger
 * than the part that flights have of the budget.
 */
int flight_files_publish(char *out, const struct flight_name *name, const char *open_path,
			 const struct window_budget *budget, struct error *err);

/*
 * Publish the windows that a service which was killed has left open, with all that it had written
 * to them. Nobody may be writing to the folder. Store in *count how many there were. Return 0 or a
 * negative errno.
 */
int window_files_recover(const char *folder, uint64_t *count, struct error *err);

#endif
