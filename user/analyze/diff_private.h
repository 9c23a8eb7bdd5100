/* SPDX-License-Identifier: Apache-2.0 */
/* What diff.c, which compares recordings, and diff_waits.c share. */
#ifndef SKEIN_ANALYZE_DIFF_PRIVATE_H
#define SKEIN_ANALYZE_DIFF_PRIVATE_H

#include "analyze/diff.h"

/* Which samples are counted: all, and those in the kernel alone. */
enum diff_part { DIFF_PART_ALL, DIFF_PART_KERNEL, DIFF_PART_COUNT };

/* One run while it is being compared. */
struct compared_run {
	struct diff_run given;
	bool after;
	double whole; /* divisor of the counts; of waits: of their times, ns */
	uint32_t *labels; /* by index of frame; of waits: by number of symbol */
	uint64_t *counts[DIFF_PART_COUNT][DIFF_COSTS]; /* by label */
	struct wait_sum *waits[DIFF_COSTS]; /* by label, if waits are compared */
	double kernel; /* number of samples in the kernel */
	/*
	 * Samples of several rates have different weights: then counts and kernel are weights, of
	 * which so much is one sample; 0: they are counts.
	 */
	double unit;
};

struct diff_builder {
	struct names names;
	const struct diff_criteria *criteria;
	uint32_t unknown; /* label of frames that are missing in a trace */
	bool *kernel; /* by label; see struct diff_row */
	/*
	 * the runs; after these, if there is one run on each side, the stretches of both runs,
	 * alternating
	 */
	struct compared_run *runs;
	size_t run_count, stretch_count; /* stretch_count: of both runs together */
	double scale; /* factor from a value to the unit that is shown */
	struct diff_noise noise[2]; /* variation among runs: [0] of programs, [1] of the kernel */
	struct diff_count *list; /* scratch with room for one count of each run and stretch */
};

/* Intern the label of a row; more as in struct diff_row. Return 0 or -ENOMEM. */
int intern_diff_label(struct diff_builder *c, const char *name, const char *more, uint32_t *out);
/* Intern the label of a group, the same in every recording. Return 0 or -ENOMEM. */
int diff_label_group(struct diff_builder *c, const struct group *g, uint32_t *out);
/* Return whether a process, the first one of its group, is a kernel thread or the idle thread. */
bool is_kernel_thread_group(const struct diff_builder *c, const struct process *p);

/*
 * The functions below are of diff_waits.c, for runs with waits.
 *
 * Each wait that was chosen stands for its weight, and weights differ. A sum of such weights
 * scatters like a number of equal weights of the sum of squares over the sum: the scale. So times
 * are divided by a scale, and compared like numbers of samples (Kish, Survey Sampling, 1965, 11.7;
 * as in the interval of wait_sum.h). This is the variance of which waits are chosen, and of how
 * many there are, as if they came independently of each other. That waits that are long enough are
 * always chosen makes their time exact, but not equal from run to run.
 */

/* Intern the labels of a run: of its functions, groups or classes. Return 0 or -ENOMEM. */
int diff_label_waits(struct diff_builder *c, struct compared_run *r);
/* Add up the waits of a run by label, once all labels are known. Return 0 or -ENOMEM. */
int diff_count_waits(struct diff_builder *c, struct compared_run *r);
/* Set the divisor of a run's times, ns, and the scale of what is shown. Return 0 or -EINVAL. */
int diff_measure_waits(struct diff_builder *c, struct compared_run *r);
/* Return the scale of a label, ns, the same for all runs. */
double diff_waits_scale(const struct diff_builder *c, uint32_t number, enum diff_cost cost);
/* Add up the numbers of stacks of a label before and after. */
void diff_count_stacks(const struct diff_builder *c, uint32_t number, enum diff_cost cost,
		       uint64_t out[2]);
struct diff_count diff_waits_in_run(const struct compared_run *r, uint32_t number,
				    enum diff_cost cost, double scale);

#endif
