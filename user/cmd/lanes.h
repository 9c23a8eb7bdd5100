/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline for a terminal: which lanes of a trace are worth their rows, and
 * what is drawn in them.
 */
#ifndef SKEIN_CMD_LANES_H
#define SKEIN_CMD_LANES_H

#include "analyze/index.h"
#include "analyze/names.h"
#include "base/pipe.h"
#include "base/vector.h"
#include "cmd/canvas.h"
#include "trace/window.h"

#define LANES_NONE UINT32_MAX /* no index */

/* Texts belong to lanes.names. */
struct lane_process {
	struct process p; /* only id, pid and texts */
	uint32_t program; /* number of its name among programs */
	uint32_t rows;	  /* of its threads that are worth one, drawn or not */
};

/* A thread under one name. */
struct lane_thread {
	uint64_t lane, tid, start; /* lane.id */
	const char *comm;
	uint32_t process; /* index, LANES_NONE if the trace does not tell */
	bool holds;	  /* it was asked for */
};

/* What the trace says of those who have lanes. */
struct lanes_cast {
	struct host host; /* hostname belongs to names */
	struct names names, programs;
	VECTOR(struct lane_process) processes;
	VECTOR(struct lane_thread) threads; /* the idle thread is among them */
	VECTOR(struct lane) cpus;	    /* without texts */
	VECTOR(struct loss) losses;	    /* of no event: what lanes may lack */
	struct index process_by_id, thread_by_id;
};

/* One row. */
struct lane_row {
	uint64_t lane;		/* lane.id */
	uint64_t cpu;		/* number, of a CPU */
	uint32_t thread;	/* index; LANES_NONE: it is a CPU */
	double busy;		/* share of the range, from the cells: within 1/127 */
	double wanted;		/* the same with half the time in which it was runnable */
	bool full;		/* busy all through the range */
	bool exists;		/* something is known of it there */
	struct stroke *strokes; /* 2 for each column */
};

typedef VECTOR(struct lane_row) lane_rows_t;

/* Where windows come from: a trace, or a test's own. */
struct lanes_windows {
	int (*window)(void *context, const struct window_query *q, struct window **ret,
		      struct error *err);
	void (*free)(struct window *w);
	void *context;
};

struct lanes {
	struct lanes_cast cast;
	const struct lanes_windows *windows;
	uint64_t time, end; /* what is shown, ns */
	bool unfinished;  /* the recording did not come to its end; cast.host.end is its last record
			   */
	lane_rows_t cpus; /* by number */
	/* by process: first the one that wanted most of the CPUs, in it the thread that did */
	lane_rows_t threads;
	size_t cpu_total, thread_total; /* of those that would have been worth a row */
	uint64_t used;			/* a bit for each enum paint that is drawn */
	uint8_t *program_paints; /* by number of the program; PAINT_OTHERS without one of its own */
	unsigned int program_count;	       /* that have a paint of their own */
	uint32_t top_programs[PROGRAM_PAINTS]; /* numbers, in the order of their paints */
};

/* Which rows: 0 for all. everything: also threads that wanted no CPU in the range. */
struct lanes_limits {
	size_t cpus, threads;
	bool everything;
};

/*
 * Read the cast from a source of filter_source(), whose filter says which
 * threads are asked for. Zeroed lanes before; lanes_free() after, also when it fails.
 */
int lanes_read(struct lanes *l, struct source *filtered, struct error *err);

/* Choose the rows for the range (l->time, l->end), by what they did in it. */
int lanes_choose(struct lanes *l, const struct lanes_limits *limits, struct error *err);

/* Give every row its strokes, for so many columns. */
int lanes_paint(struct lanes *l, unsigned int columns, struct error *err);

/* Everything as text: the axis, the rows, what the colours mean, what is lost. */
int lanes_text(struct lanes *l, const struct screen *s, const struct canvas *c, struct error *err);

void lanes_free(struct lanes *l);

/* Of a row's cells: how long it was busy and runnable (ns), and whether it was busy throughout. */
struct lane_load {
	double busy, runnable;
	bool full;
};

/* The part of a cell that lies in the range, ns. */
uint64_t cell_overlap(const struct window *w, unsigned int cell, uint64_t time, uint64_t end);
/* cells: of one lane of w. */
struct lane_load lane_load(const struct window *w, const struct cell *cells, uint64_t time,
			   uint64_t end);
/*
 * count strokes of equal length for the range. programs: the paint for each thread that may run
 * on a CPU lane (context, thread.id), NULL for a thread lane.
 */
void lane_strokes(const struct window *w, const struct cell *cells, uint64_t time, uint64_t end,
		  enum paint (*program)(const void *context, uint64_t thread), const void *context,
		  struct stroke *strokes, unsigned int count);

#endif
