/* SPDX-License-Identifier: Apache-2.0 */
/* Read the lanes of a trace, for a timeline in the terminal or on the page. */
#ifndef SKEIN_CMD_TIMELINE_INPUT_H
#define SKEIN_CMD_TIMELINE_INPUT_H

#include "cmd/filters.h"
#include "lanes/lanes.h"

struct timeline_input {
	struct filtered_input input;
	struct filter whole; /* the filter without its range: a value holds from before it */
	struct lanes_windows windows;
	struct lanes lanes;
};

/*
 * Open a trace with a filter, read its lanes and set the range of in->lanes to that of the filter.
 * *in must be zeroed, stay where it is, and be closed also after an error; path and what the filter
 * points to must outlive it. Return 0, or a negative errno with the cause in *err: -ENODATA if the
 * trace has no scheduler records.
 */
int timeline_input_open(struct timeline_input *in, const char *path, const struct filter *f,
			struct error *err);
/* The option --lanes: its help, and how its value is read into *by. */
#define TIMELINE_LANES_HELP \
	"What a lane of threads shows: thread, the default; name: all threads of a process that " \
	"have the same name; pool: threads of a process one after the other, each on the first " \
	"lane that is free when it starts, for programs that start them by the thousand."
int timeline_set_lanes(const char *value, enum lanes_by *by, struct error *err);

void timeline_input_close(struct timeline_input *in);

#endif
