/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add up what runtimes (a JVM, a Python interpreter) and probes reported: spans by kind and name,
 * the longest stops with what was done in them, and counters over time. Spans may come in any
 * order. Memory grows with names, not with time.
 */
#ifndef SKEIN_ANALYZE_RUNTIME_SUMS_H
#define SKEIN_ANALYZE_RUNTIME_SUMS_H

#include "analyze/histogram.h"
#include "analyze/names.h"
#include "base/pipe.h"
#include "base/vector.h"

#define RUNTIME_STOPS 5 /* longest stops that are kept for each process */
#define RUNTIME_POINTS 48 /* parts of the range for which a counter's value is kept */
#define RUNTIME_NO_NAME UINT32_MAX

/* Memory before and after collections, where these report the pools of the heap. */
struct runtime_heap {
	uint64_t count; /* collections with pools */
	int64_t freed; /* bytes, of all of them */
	uint64_t last; /* when the last of them ended, ns */
	uint64_t after; /* bytes in use after the last one */
};

/* Spans of one kind and name, in one process, or in one thread if that is asked for. */
struct runtime_row {
	uint64_t process; /* process.id */
	uint64_t thread; /* thread.id; 0: of all threads, or of none */
	uint32_t name; /* number in runtime_sums.texts; RUNTIME_NO_NAME: of all names */
	uint16_t kind; /* enum span_kind */
	uint16_t origins; /* a bit for each enum span_origin */
	/* ns: whole lengths of spans that touch the range and have an end */
	struct histogram lengths;
	uint64_t inside; /* ns within the range; of those without an end, until that of the process
			    or range */
	uint64_t open; /* spans without an end */
	struct runtime_heap heap;
};

/* Collections of one row for one cause. */
struct runtime_cause {
	uint64_t process; /* process.id */
	uint32_t name, cause; /* numbers in runtime_sums.texts */
	uint64_t count, length; /* ns */
};

/* A time in which all threads of a process stood still. */
struct runtime_stop {
	uint64_t time, end; /* ns */
	uint64_t reaching; /* ns until all threads stood still; 0: not known */
	uint64_t operation_length; /* ns */
	/* numbers in runtime_sums.texts of the longest operation (without one, collection) in it
	 */
	uint32_t operation, requester; /* RUNTIME_NO_NAME: not known */
};

struct span_process {
	uint64_t id; /* process.id */
	bool safepoints; /* the stops are SPAN_SAFEPOINT, else SPAN_GC_STOP */
	unsigned int stop_count;
	struct runtime_stop stops[RUNTIME_STOPS]; /* longest first */
};

struct runtime_counter {
	uint64_t process; /* process.id */
	uint32_t name;
	uint64_t count; /* values */
	uint64_t last_time; /* ns */
	int64_t first, last, least, most;
	/* the largest value in each part of the range; meaningless where seen is false */
	int64_t points[RUNTIME_POINTS];
	bool seen[RUNTIME_POINTS];
};

struct runtime_sums {
	uint64_t from, to; /* the range, ns */
	struct names texts;
	VECTOR(struct span_process) processes;
	VECTOR(struct runtime_row) rows; /* by process, kind, most time first */
	VECTOR(struct runtime_cause) causes; /* by process, name, most frequent first */
	VECTOR(struct runtime_counter) counters; /* as they came */
	uint64_t spans; /* number of spans that touch the range */
};

/*
 * Run a source, filtered if only a part is wanted, to its end, up to twice. from, to: ns since the
 * start of the recording; to 0: until its end. Return 0 or a negative errno with the cause in *err.
 * Free the result with runtime_sums_free(), which accepts NULL.
 */
struct runtime_query {
	uint64_t from, to;
	bool by_thread; /* rows of spans on lanes of threads are divided by thread */
};
int runtime_sums_read(struct runtime_sums **out, struct source *source,
		      const struct runtime_query *q, struct error *err);
void runtime_sums_free(struct runtime_sums *r);

/* Return the text of a number; "" for RUNTIME_NO_NAME. It is hostile. */
const char *runtime_sums_text(const struct runtime_sums *r, uint32_t number);

#endif
