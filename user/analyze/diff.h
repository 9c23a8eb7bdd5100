/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed between two recordings, or between several of each side: function by function,
 * self and total, or by program, thread and the like. Things are the same if their names are: of a
 * function its name and module, of a program its name, of a process its name and pid, of a thread
 * its name and its process's. Pure.
 */
#ifndef SKEIN_ANALYZE_DIFF_H
#define SKEIN_ANALYZE_DIFF_H

#include "analyze/diff_test.h"
#include "analyze/groups.h"
#include "analyze/names.h"
#include "base/vector.h"

#define DIFF_BY_FUNCTION GROUP_KIND_COUNT /* beside enum group_by */

/* What counts are compared as. X(NAME, "word of the command line") */
#define DIFF_MEASURES(X) \
	X(SHARE, "share") /* percent of all samples */ \
	X(TIME, "time") /* per time of recording: percent of a CPU, or the event's unit per second */ \
	X(NONE, "none") /* as it is: seconds of CPU, or the event's unit */

#define DIFF_ENUM(NAME, word) DIFF_##NAME,
enum diff_measure { DIFF_MEASURES(DIFF_ENUM) DIFF_MEASURE_COUNT };
#undef DIFF_ENUM

/* One recording. */
struct diff_run {
	const struct profile *profile;
	uint32_t event; /* index of the one that is compared */
	uint64_t time; /* how long it was recorded, ns; only DIFF_TIME needs it */
	/*
	 * Stretches of it, of equal length and one after the other, as profiles of their own: they
	 * show how it varies within, where there is one run a side. count 0: none.
	 */
	const struct diff_run *stretches;
	size_t stretch_count;
};

#define DIFF_STRETCHES 8 /* of a run: enough degrees of freedom, and longer than most phases */

/* What is compared, and how. */
struct diff_how {
	unsigned int by; /* enum group_by or DIFF_BY_FUNCTION */
	enum diff_measure measure;
	double least; /* in the measure's unit: what is too small to change by it is not tested */
};

struct diff_side {
	const struct diff_run *runs;
	size_t count; /* 1 at least */
};

enum diff_cost { DIFF_SELF, DIFF_TOTAL, DIFF_COSTS };

struct diff_row {
	const char *name;
	const char *more; /* module of a function, process of a thread, pid of a process; or "" */
	/*
	 * A function, module or thread of the kernel, or [unknown]: how much they take depends on
	 * what else runs on the machine (interrupts, softirqs, page cache) more than on the program.
	 */
	bool kernel;
	struct diff_change cost[DIFF_COSTS]; /* values in the measure's unit */
};

/*
 * What runs of one program are taken to differ by, where one run a side cannot show it: the
 * standard deviations of struct diff_noise. docs/diff.md has the measurements that chose them.
 */
#define DIFF_ASSUMED_PROGRAM 0.10
#define DIFF_ASSUMED_KERNEL 0.30

struct diff {
	struct names names;
	/* what changed itself first, then what changed through its callees, then the rest */
	VECTOR(struct diff_row) rows;
	size_t tested[2]; /* rows with samples enough to be tested: of programs, of the kernel */
	bool costs[DIFF_COSTS]; /* which there are: functions have both, others only a total */
};

/*
 * sides[0] is before. 0, -ENOMEM, or -EINVAL if a time is needed and there is none. The profiles
 * may go before the diff, which keeps nothing of them. Free it with diff_free().
 *
 * Rows of programs are one family of tests, those of the kernel another, each with its own usual
 * spread: neighbours that stir the kernel hide no change of the program, and pose as none.
 */
int diff_make(struct diff *ret, const struct diff_side sides[2], const struct diff_how *how);
void diff_free(struct diff *d);

bool diff_is_significant(const struct diff_change *c);
/* "***", "**", "*" or "": q at most 0.001, 0.01, 0.05. */
const char *diff_stars(const struct diff_change *c);

#endif
