/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the changes between two recordings, or between several on each side: function by function,
 * self and total, or by program, thread and so on. Functions, programs and so on are the same in
 * two recordings if their names are: name and module of a function, name of a program, name and pid
 * of a process, name and process name of a thread. Pure functions.
 */
#ifndef SKEIN_ANALYZE_DIFF_H
#define SKEIN_ANALYZE_DIFF_H

#include "analyze/diff_test.h"
#include "analyze/groups.h"
#include "analyze/names.h"
#include "analyze/off_cpu.h"
#include "base/vector.h"

/* values of "by" in addition to those of enum group_by */
#define DIFF_BY_FUNCTION GROUP_KIND_COUNT
#define DIFF_BY_CLASS (GROUP_KIND_COUNT + 1) /* by class of wait; only for runs with waits */

/* The unit in which counts are compared. X(NAME, "word of the command line") */
#define DIFF_MEASURES(X) \
	X(SHARE, "share") /* percent of all samples */ \
	X(TIME, "time") /* per time: percent of a CPU, or the event's unit per second */ \
	X(NONE, "none") /* unchanged: seconds of CPU, or the event's unit */

#define DIFF_ENUM(NAME, word) DIFF_##NAME,
enum diff_measure { DIFF_MEASURES(DIFF_ENUM) DIFF_MEASURE_COUNT };
#undef DIFF_ENUM

/* One recording. */
struct diff_run {
	const struct profile *profile;
	uint32_t event; /* index of the event that is compared */
	uint64_t time; /* duration of the recording, ns; only needed for DIFF_TIME */
	/*
	 * Consecutive stretches of the recording, of equal length, each as a profile. With one run
	 * on each side, the stretches show how much a value varies within a run. stretch_count is 0
	 * if there are none.
	 */
	const struct diff_run *stretches;
	size_t stretch_count;
	/*
	 * The waits of the recording, if these are compared: by the groups that are compared; and
	 * the functions of the profile, by symbols_in_common(). NULL: samples are compared.
	 */
	const struct off_cpu *waits;
	const struct symbols *symbols;
};

/*
 * Number of stretches of a run: enough for a test (7 degrees of freedom), and few enough that a
 * stretch is longer than most phases of a program.
 */
#define DIFF_STRETCHES 8

/* How to compare: by functions or by a kind of group, the unit, and the smallest change. */
struct diff_criteria {
	unsigned int by; /* enum group_by, DIFF_BY_FUNCTION or DIFF_BY_CLASS */
	enum diff_measure measure;
	/*
	 * smallest change of interest, in the unit of measure; rows that cannot change by this much
	 * are not tested
	 */
	double least;
};

struct diff_side {
	const struct diff_run *runs;
	size_t count; /* number of runs, at least 1 */
};

enum diff_cost { DIFF_SELF, DIFF_TOTAL, DIFF_COSTS };

struct diff_row {
	const char *name;
	const char *more; /* module of a function, process of a thread, pid of a process, or "" */
	/*
	 * A function, module or thread of the kernel, or [unknown]. How much time these take
	 * depends more on the other load of the machine (interrupts, softirqs, page cache) than on
	 * the program.
	 */
	bool kernel;
	struct diff_change cost[DIFF_COSTS]; /* values in the measure's unit */
};

/*
 * Relative standard deviations among runs of one program (struct diff_noise). These are assumed
 * with one run on each side, which cannot show them. docs/diff.md has the measurements on which the
 * values are based.
 */
#define DIFF_ASSUMED_PROGRAM 0.10
#define DIFF_ASSUMED_KERNEL 0.30

struct diff {
	struct names names;
	/* first rows whose self changed significantly, then rows whose total did, then the rest */
	VECTOR(struct diff_row) rows;
	size_t tested[2]; /* rows with enough samples to be tested: of programs, of the kernel */
	/* the costs that exist: rows of functions have both, other rows only DIFF_TOTAL */
	bool costs[DIFF_COSTS];
};

/*
 * Compare sides[0] (before) with sides[1] (after). Return 0, -ENOMEM, or -EINVAL if a time is
 * needed and there is none. The profiles may be freed before the diff, which keeps no pointer to
 * them. Free the diff with diff_free().
 *
 * If the runs have waits, all must have them. Then the self of a function is the time of the waits
 * in which it is the innermost function outside of the kernel and of libraries
 * (off_cpu_function.own), and counts are numbers of stacks.
 *
 * Rows of programs are one family of tests, rows of the kernel another, each with a usual spread of
 * its own: so other programs that change the load of the kernel neither hide a change of the
 * program nor appear as one.
 */
int diff_make(struct diff *out, const struct diff_side sides[2], const struct diff_criteria *how);
void diff_free(struct diff *d);

bool diff_is_significant(const struct diff_change *c);
/* Return "***", "**" or "*" for a tested change with q of at most 0.001, 0.01 or 0.05; else "". */
const char *diff_stars(const struct diff_change *c);

#endif
