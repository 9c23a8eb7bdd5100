/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of a trace over time, for a terminal and for the page. A counter is recorded when it
 * changes, so a value holds until the next one, and the last one until the end of its process. Of a
 * total, the rate between two values is drawn. Values beyond 2^53 are rounded.
 */
#ifndef SKEIN_LANES_COUNTERS_H
#define SKEIN_LANES_COUNTERS_H

#include <math.h>

#include "analyze/index.h"
#include "analyze/names.h"
#include "analyze/quantities.h"
#include "base/record.h"
#include "base/vector.h"

/* Where a counter has no value: before the first and after the end; or because one was lost. */
#define COUNTER_ABSENT ((double)NAN)
#define COUNTER_LOST ((double)INFINITY)

/* From this time on a counter has a value, or COUNTER_ABSENT or COUNTER_LOST. */
struct counter_point {
	uint64_t time; /* ns */
	double value; /* in the unit quantity.drawn */
};

struct lane_counter {
	uint64_t lane; /* lane.id */
	const char *name; /* of the quantity; with that of its thread, if it is of a thread */
	const struct quantity *quantity;
	uint32_t process; /* index in lanes_entities.processes; LANES_NONE: of none */
	size_t first, count; /* its points; the last one is COUNTER_ABSENT */
	double least, most; /* of all values */
};

/* What a counter was in a part of the time. */
struct counter_column {
	/* of the values that held at some time in it, however short; COUNTER_ABSENT: none did */
	double least, most;
	double last; /* at its end; COUNTER_ABSENT, COUNTER_LOST */
	bool lost; /* a value may have been lost in it */
};

/* A counter that gets a row of a timeline. */
struct counter_row {
	uint32_t counter; /* index in lanes_counters.list */
	struct counter_column *columns;
};

/* A value as it was read. */
struct counter_reading {
	uint64_t time;
	int64_t value;
	uint32_t counter, number; /* in the order of the trace */
};

struct lanes_counters {
	/* by process; in it the heap first, then what changes, then what does not */
	VECTOR(struct lane_counter) list;
	VECTOR(struct counter_point) points; /* of each counter in the order of time */
	VECTOR(struct counter_row) rows; /* chosen by lanes_choose() */
	size_t total; /* rows without a limit */
	/* while the trace is read */
	struct names texts, keys; /* key: a lane.id and the number of a text */
	struct index text_of_name; /* by name.id */
	VECTOR(struct counter_reading) readings;
};

struct lanes;
struct lanes_entities;
struct lanes_limits;

/* Note a name or a value while entities are read. Return 0 or -ENOMEM. */
int lanes_add_name(struct lanes_entities *e, const struct name *n);
int lanes_add_value(struct lanes_entities *e, const struct counter *value);
/* Make the points of all counters when all records have come. Return 0 or -ENOMEM. */
int lanes_end_counters(struct lanes_entities *e);

/* Choose the rows for the range of l, and compute their columns. Both return 0 or -ENOMEM. */
int lanes_choose_counters(struct lanes *l, const struct lanes_limits *limits);
int lanes_render_counters(struct lanes *l, unsigned int columns);

/*
 * Compute count columns of a counter, by its index, that divide a range (ns, time < end) as strokes
 * do: if there are more columns than ns, several show the same time.
 */
struct counter_range {
	uint64_t time, end;
	unsigned int count;
};
/* Return the time (ns) at which a column begins; that of column number count is the end. */
uint64_t lanes_column_edge(const struct counter_range *r, uint64_t column);
void lanes_counter_columns(const struct lanes_counters *c, size_t counter,
			   const struct counter_range *r, struct counter_column *columns);

/* Return the index of the point of a counter that holds at a time (ns); SIZE_MAX: none does. */
size_t lanes_counter_point(const struct lanes_counters *c, size_t counter, uint64_t time);

/* Return whether a counter is of a CPU that has a row in l, below which it stands. */
bool lanes_counter_is_of_cpu(const struct lanes *l, const struct lane_counter *c);

/* Return the least and the largest value on the scale of a counter: 0 is always on it. */
double lanes_counter_bottom(const struct lane_counter *c);
double lanes_counter_top(const struct lane_counter *c);
/* Write the scale to buf, such as "512 MiB", or "-3 to 7". Return buf. */
#define COUNTER_SCALE_SIZE (2 * QUANTITY_SIZE + 8)
char *lanes_counter_scale(const struct lane_counter *c, char buf[static COUNTER_SCALE_SIZE]);

void lanes_free_counters(struct lanes_counters *c);

#endif
