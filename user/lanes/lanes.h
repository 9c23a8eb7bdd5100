/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lanes of a timeline: choose which lanes of a trace get a row, and compute the strokes of each
 * row, for a terminal and for the page.
 */
#ifndef SKEIN_LANES_LANES_H
#define SKEIN_LANES_LANES_H

#include "analyze/index.h"
#include "analyze/lane_owners.h"
#include "analyze/names.h"
#include "base/pipe.h"
#include "base/vector.h"
#include "lanes/counters.h"
#include "lanes/fills.h"
#include "trace/window.h"

#define LANES_PARTLY FILL_COUNT /* number of a bit, see struct lanes.used */
#define LANES_NONE UINT32_MAX /* no index */

/*
 * What a lane of threads shows: X(NAME, "word", the letter before the number of such a lane in
 * requests of the page): one thread; the threads of a process that have the same name; threads of
 * a process one after the other, each on the smallest number that is free at its start.
 */
#define LANES_CHOICES(X) X(THREAD, "thread", 't') X(NAME, "name", 'n') X(POOL, "pool", 'l')

#define LANES_BY_ENUM(NAME, word, letter) LANES_BY_##NAME,
enum lanes_by { LANES_CHOICES(LANES_BY_ENUM) LANES_BY_COUNT };
#undef LANES_BY_ENUM

/* A process; its texts belong to lanes_entities.names. */
struct lane_process {
	struct process p; /* only id, pid, end and texts */
	uint32_t program; /* number of its name in programs */
	uint32_t rows; /* threads of the process that would have a row without a limit of rows */
};

/* A thread under one name. */
struct lane_thread {
	uint64_t lane, tid; /* lane is lane.id */
	uint64_t start, end; /* ns; end: 0 if it outlived the recording */
	const char *name; /* thread_display_name() */
	uint32_t process; /* index; LANES_NONE if the trace lacks the process */
	bool selected; /* selected by the filter */
};

/*
 * What a runtime did, or what served interrupts, in a part of the time: the acts of a lane do not
 * overlap.
 */
struct lane_act {
	uint64_t time, end; /* ns */
	uint64_t lane; /* lane.id */
	enum fill fill;
	/*
	 * Of what served interrupts, after lanes_read(): the number of its name in
	 * lanes_entities.names; LANES_NONE: not known, or of a runtime.
	 */
	uint32_t name;
};

/* The entities of a trace that lanes refer to. */
struct lanes_entities {
	struct host host; /* hostname belongs to names */
	struct names names, programs;
	VECTOR(struct lane_process) processes;
	VECTOR(struct lane_thread) threads; /* includes the idle thread */
	VECTOR(struct lane) cpus; /* without texts */
	VECTOR(struct lane) sliced; /* lanes of LANE_STATES_SLICES, with their names */
	VECTOR(struct lane) runtimes; /* of LANE_RUNTIME and LANE_HANDLERS, with their names */
	VECTOR(struct lane_act) acts; /* of these lanes; see lanes_divide_acts() */
	size_t handled; /* number of acts of LANE_HANDLERS so far, while spans are read */
	/* ns: shorter acts of LANE_HANDLERS are left out, since there were too many; 0: none are */
	uint64_t handled_least;
	struct lanes_counters counters;
	struct lane_owners owners;
	/* losses that belong to no event: records may be missing on the lanes */
	VECTOR(struct loss) losses;
	struct index process_by_id, thread_by_id;
};

/* A thread that shares a row with others, and when it lived, ns (end 0: it outlived). */
struct lane_part {
	uint64_t lane, start, end;
};

/* One row of the timeline. */
struct lane_row {
	uint64_t lane; /* lane.id */
	uint64_t cpu; /* number of the CPU, if the row is a CPU */
	uint32_t thread; /* index; LANES_NONE if the row is no thread */
	const struct lane *sliced; /* NULL if the row is a CPU, thread or runtime */
	/* NULL if the row is of no runtime, and not of the interrupts of a CPU */
	const struct lane *runtime;
	uint32_t process; /* index; of a row of a runtime, else undefined */
	double busy; /* busy share of the range; from cells, so within 1/127 */
	double wanted; /* busy plus half the share in which the thread was runnable */
	bool full; /* busy throughout the range */
	bool exists; /* a state of the lane is known at some time in the range */
	struct stroke *strokes; /* 2 for each column */
	/*
	 * Of a row by LANES_BY_NAME or LANES_BY_POOL: its threads; busy and wanted are their sums,
	 * and thread is the one that wanted most. Empty if the row is that of one thread.
	 */
	VECTOR(struct lane_part) parts;
	double most; /* wanted by that thread */
	uint32_t number; /* of a lane of a pool, from 1 on; else 0 */
};

typedef VECTOR(struct lane_row) lane_rows_t;

/* Source of windows: a trace, or a test. */
struct lanes_windows {
	int (*window)(void *context, const struct window_query *q, struct window **out,
		      struct error *err);
	void (*free)(struct window *w);
	void *context;
	/* as trace_stretches(); NULL: there is no source of exact states */
	int (*stretches)(void *context, const struct stretches_query *q, struct error *err);
};

struct lanes {
	struct lanes_entities entities;
	const struct lanes_windows *windows;
	uint64_t time, end; /* the shown range, ns */
	/* the recording has no known end; entities.host.end is the time of its last record */
	bool unfinished;
	lane_rows_t cpus; /* by number */
	/*
	 * Grouped by process, the process that wanted most CPU time first; within a process, the
	 * thread that wanted most first.
	 */
	lane_rows_t threads;
	enum lanes_by by; /* what the rows of threads show */
	/* for the page: the other choices, made by lanes_join_all() of rows by LANES_BY_THREAD */
	lane_rows_t joined[LANES_BY_COUNT];
	lane_rows_t sliced; /* the lane that was busy longest first */
	/*
	 * By process and lane.id, those that did something in the range; at the end, without a
	 * process, those of the interrupts of CPUs.
	 */
	lane_rows_t runtimes;
	size_t cpu_total, thread_total, sliced_total; /* rows without a limit */
	/*
	 * A bit for each enum fill in use, on the lanes of CPUs and on the others; FILL_NONE: a
	 * blank. LANES_PARTLY: a stroke is busy for a part of its time.
	 */
	uint64_t used_on_cpus, used_by_runtimes, used;
	/* enum fill by thread: that of its program; FILL_OTHERS for programs without one of their
	 * own */
	uint8_t *thread_fills;
	unsigned int program_count; /* programs with a fill of their own */
	uint32_t top_programs[PROGRAM_FILLS]; /* program numbers, in the order of their fills */
};

/*
 * Largest number of rows of each kind, 0 for all; counters: of each process, and of those that
 * changed, if it is not 0. threads is also the limit of sliced rows. everything includes threads
 * and sliced lanes that wanted no CPU time in the range, and counters that did not change in it,
 * too.
 */
struct lanes_limits {
	size_t cpus, threads, counters;
	bool everything;
	enum lanes_by by;
};

/*
 * Read the struct lanes_entities of *l from a source made by filter_source(), whose filter says
 * which threads are selected. l must be zeroed, and must be freed with lanes_free() also after an
 * error. Return 0, or a negative errno with the cause in *err.
 */
int lanes_read(struct lanes *l, struct source *filtered, struct error *err);

/*
 * Choose the rows for the range from l->time to l->end, by the CPU time used and wanted in this
 * range. Return 0, or a negative errno with the cause in *err; so do the next two functions.
 */
int lanes_choose(struct lanes *l, const struct lanes_limits *limits, struct error *err);

/* Make l->joined after lanes_choose() by LANES_BY_THREAD. */
int lanes_join_all(struct lanes *l, struct error *err);

/* Return the word of a choice, static; NULL behind the last one. */
const char *lanes_by_word(unsigned int by);
char lanes_by_letter(enum lanes_by by);
/* Find the choice of a word. Return 0, or -EINVAL with *by unchanged. */
int lanes_by_find(const char *word, enum lanes_by *by);

/* Return the rows of threads by a choice: l->threads, or those of lanes_join_all(). */
const lane_rows_t *lanes_rows_by(const struct lanes *l, enum lanes_by by);

#define LANES_ROW_NAME 32 /* bytes */
/* Return the name of a row of threads: that of the threads, or "pool N", which is put into buf. */
const char *lanes_row_name(const struct lanes *l, const struct lane_row *row,
			   char buf[static LANES_ROW_NAME]);

/* Compute the strokes of every row for the given number of columns. */
int lanes_render(struct lanes *l, unsigned int columns, struct error *err);

/*
 * Give the programs that used most CPU time in the range fills of their own, by cells of which each
 * lane of a CPU has at least width. lanes_render() does that, too.
 */
int lanes_choose_programs(struct lanes *l, unsigned int width, struct error *err);

/* Lanes to paint in any range, which need not be that of the rows. */
struct lanes_query {
	uint64_t time, end; /* ns; time < end */
	unsigned int columns; /* strokes of each lane */
	const uint64_t *lanes; /* lane.id of CPUs, threads, runtimes or lanes with slices */
	size_t count;
};

/*
 * Compute the strokes of lanes after lanes_choose() and lanes_choose_programs(): q->columns for
 * each lane, in the order of the query. Nothing is known of lanes that are not in the trace. Return
 * 0, or a negative errno with the cause in *err.
 */
int lanes_paint(const struct lanes *l, const struct lanes_query *q, struct stroke *strokes,
		struct error *err);

void lanes_free(struct lanes *l);

/*
 * runtimes.c. Note a span while entities are read; when all have come, divide them into acts
 * that do not overlap, of each the innermost. Then choose the rows for the range, and compute their
 * strokes. All return 0 or -ENOMEM.
 */
int lanes_add_span(struct lanes_entities *c, const struct span *s);
/* Return the index of the first act of a lane that ends after a time (ns), or of a later lane. */
size_t lanes_first_act(const struct lanes_entities *c, uint64_t lane, uint64_t time);
int lanes_divide_acts(struct lanes_entities *c);
/*
 * interrupts.c. Note what served an interrupt; name: name.id. If there are too many, the shortest
 * ones are left out. Return 0 or -ENOMEM.
 */
int lanes_add_handled(struct lanes_entities *c, const struct lane_act *a, uint64_t name);
/* Name what served interrupts: run a source for the names that the acts have. */
int lanes_name_acts(struct lanes_entities *c, struct source *source, struct error *err);
/*
 * Return the act of a lane at a time (ns), or the last one before it, or NULL; *next: the one after
 * that, or NULL.
 */
const struct lane_act *lanes_act_at(const struct lanes *l, uint64_t lane, uint64_t time,
				    const struct lane_act **next);
/* Return the row of the interrupts of a CPU; NULL if there were none in the range. */
const struct lane_row *lanes_interrupts_of(const struct lanes *l, uint64_t cpu);
/* Return the text of what an act was, static or owned by l. It is hostile. */
const char *lanes_act_text(const struct lanes *l, const struct lane_act *a);
int lanes_choose_runtimes(struct lanes *l);
int lanes_render_runtimes(struct lanes *l, unsigned int count);
/* Compute count strokes of the lane of a runtime in the range. Return 0 or -ENOMEM. */
int lanes_runtime_strokes(const struct lanes *l, uint64_t lane, struct stroke *strokes,
			  unsigned int count);

/* The cells of one lane of a window, and the part of the time in ns that is shown. */
struct lane_cells {
	const struct window *window;
	const struct cell *cells;
	uint64_t time, end;
};

/*
 * Times of a row's cells: how long the lane was busy and runnable (ns), and whether it was busy
 * throughout.
 */
struct lane_load {
	double busy, runnable;
	bool full;
};

/* Return how to draw the time in which a lane was in a state other than running. */
enum fill lanes_ground_fill(uint8_t state, uint8_t wait);
/* Return the fill of a program, by its number; FILL_OTHERS if it has none of its own. */
enum fill lanes_fill_of_program(const struct lanes *l, uint32_t program);
/* Return how to draw the time in which a thread (thread.id) ran on a CPU. */
enum fill lanes_program_fill(const struct lanes *l, uint64_t thread);

/* Return the part of a cell that lies in the range, ns. */
uint64_t lanes_cell_overlap(const struct window *w, unsigned int cell, uint64_t time, uint64_t end);
struct lane_load lanes_measure_load(const struct lane_cells *c);
/*
 * Compute count strokes of equal length for the range. On the lane of a CPU,
 * program(context, thread.id) returns the fill for the time in which that thread ran; on other
 * lanes program is NULL, and the fill is FILL_RUNNING.
 */
void lanes_make_strokes(const struct lane_cells *c,
			enum fill (*program)(const void *context, uint64_t thread),
			const void *context, struct stroke *strokes, unsigned int count);

#endif
