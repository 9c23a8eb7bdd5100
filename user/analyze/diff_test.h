/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counts of samples say of a change: how large it is, within which bounds, and how likely
 * chance alone makes one as large. Pure.
 *
 * Samples are taken at times that have nothing to do with the program, so a count of them is
 * binomial of all samples (a share) or Poisson of a time (a rate), as far as sampling goes. How
 * runs of one program differ from each other is beyond that, and only more than one run
 * on a side can tell.
 */
#ifndef SKEIN_ANALYZE_DIFF_TEST_H
#define SKEIN_ANALYZE_DIFF_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One count in one run. */
struct diff_count {
	uint64_t count;
	double whole; /* of a share: all samples; of a rate: how long, in any unit. Above 0 */
	bool after; /* which side */
	uint64_t kernel; /* of count: samples in the kernel */
	double whole_kernel; /* of a share: all samples in the kernel */
};

struct diff_change {
	uint64_t count[2]; /* before, after: of all runs */
	double value[2]; /* count over whole; 0 where nothing was counted */
	double change, low, high; /* value[1] - value[0], and its interval of 95 % */
	double p; /* that a change as large, or larger, is chance */
	double q; /* the same among all that were tested: see diff_correct() */
	double spread; /* by how much runs of a side differ, see diff_change_of(); 0 not known */
	bool tested; /* there are samples enough for a change to be told from chance at all */
};

/* From which q on a change is significant. */
#define DIFF_LEVEL 0.05

/* How values differ from run to run beyond sampling, as far as one value's own runs do not show. */
struct diff_noise {
	/*
	 * The mean spread of all that is compared, 1 if it is not known: the spread of a single
	 * value is moderated with it, since a few runs estimate it badly.
	 */
	double usual;
	/*
	 * The standard deviations that are assumed among runs where there is one on each side, so
	 * that nothing measures them: these parts of the time in programs, and in the kernel.
	 */
	double program, kernel;
	/* The spread within those two, by diff_spread_within(), and its degrees of freedom; or 0. */
	double within;
	unsigned int freedom;
};

/*
 * The change between counts of two sides; there may be several runs on each, in any order. q is p
 * until diff_correct(). spread is the variance among runs of a side over that of sampling.
 *
 * p: Fisher's exact test for shares, the conditional binomial test for rates, two-sided as twice
 * the smaller tail (Przyborowski and Wilenski 1940; Agresti, Categorical Data Analysis, 3.5). With
 * more than one run on a side it is not below that of a quasi-likelihood t test, whose dispersion
 * comes from how the runs of a side differ (McCullagh and Nelder, Generalized Linear Models, 4.5;
 * moderated as Robinson and Smyth 2007 do). With one on each it is not below that of a normal
 * test whose variance is that of sampling, or within the runs if that is larger, and of runs as
 * noise assumes it (t with the degrees of freedom of Satterthwaite 1946).
 * Interval: score intervals of both values, combined as Newcombe (1998, method 10) does.
 */
struct diff_change diff_change_of(const struct diff_count *counts, size_t count, bool shares,
				  const struct diff_noise *noise);

/*
 * The same stretches of time of two runs, before and after in turn: the variance of their
 * difference over that of sampling, and *freedom; 0 and 0 of fewer than two. Samples are no
 * independent draws (a program's start is one event, however many samples it has; phases are
 * slow): what differs in one stretch alone is no change of the whole. Stretches are compared in
 * pairs, so that phases which both runs have make no difference.
 */
double diff_spread_within(const struct diff_count *pairs, size_t count, bool shares,
			  unsigned int *freedom);

/*
 * Set q of those that are tested, by Benjamini and Hochberg (1995): when all with q <= x are
 * taken for changes, x of them are expected to be none. Changes that could not be significant
 * however they were distributed do not count (Gilbert 2005). 0 or -ENOMEM.
 */
int diff_correct(struct diff_change **changes, size_t count);

/* The chance that |T| of that many degrees of freedom is t or more; and the t of a chance. */
double diff_student(double t, unsigned int freedom);
double diff_student_bound(double chance, unsigned int freedom);

#endif
