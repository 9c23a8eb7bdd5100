/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute a change between counts of samples: its size, its confidence interval, and the
 * probability that chance alone makes a change as large. Pure functions.
 *
 * Samples are taken at times that do not depend on the program, so as far as sampling goes, a count
 * of samples is binomial for a share of all samples, or Poisson for a rate over time. The
 * differences among runs of one program come in addition, and only several runs on a side can show
 * them.
 */
#ifndef SKEIN_ANALYZE_DIFF_TEST_H
#define SKEIN_ANALYZE_DIFF_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One count in one run: a number of samples; or, for samples of different weights, the number of
 * samples of equal weight that would scatter as much, which need not be whole (diff_waits.h).
 */
struct diff_count {
	double count;
	double whole; /* for a share, all samples; for a rate, the duration in any unit; > 0 */
	bool after; /* false: a run of the side before; true: after */
	double kernel; /* samples in the kernel, out of count */
	double whole_kernel; /* for a share: all samples in the kernel */
};

struct diff_change {
	uint64_t count[2]; /* sums of all runs before, after: numbers of samples */
	double value[2]; /* count over whole; 0 if the whole is 0 */
	double change, low, high; /* value[1] - value[0] and its 95 % interval */
	double p; /* probability that a change as large, or larger, is chance */
	double q; /* p corrected for all tested changes, see diff_correct() */
	double spread; /* variance among runs, see diff_change_of(); 0: not known */
	bool tested; /* there are enough samples for a change to be significant at all */
};

/* A change is significant if its q is at most this level. */
#define DIFF_SIGNIFICANCE 0.05

/*
 * Variation between runs beyond that of sampling, for values of which there are too few runs to
 * measure that variation.
 */
struct diff_noise {
	/*
	 * The mean spread of all compared values; 1 if not known. The spread of a single value is
	 * moderated with this mean, because a few runs estimate the spread badly.
	 */
	double usual;
	/*
	 * The standard deviations that are assumed among runs if there is one run on each side,
	 * which cannot show them: relative to the time in programs, and to that in the kernel.
	 */
	double program, kernel;
	/*
	 * The spread within the two runs by diff_spread_within(), with its degrees of freedom; both
	 * are 0 if not known.
	 */
	double within;
	unsigned int freedom;
};

/*
 * Compute the change between counts of two sides, each of one or more runs, in any order. q is p
 * until diff_correct() is called. spread is the variance among the runs of a side relative to that
 * of sampling; 0 with two runs or fewer.
 *
 * p: Fisher's exact test for shares, the conditional binomial test for rates, two-sided as twice
 * the smaller tail (Przyborowski and Wilenski 1940; Agresti, Categorical Data Analysis, 3.5); of
 * counts that are not whole, rounded so that they differ less. With more than one run on a side, p
 * is not below that of a quasi-likelihood t test whose dispersion comes from the differences among
 * the runs of a side (McCullagh and Nelder, Generalized Linear Models, 4.5; moderated as in
 * Robinson and Smyth 2007). With one run on each side, p is not below that of a normal test whose
 * variance is the larger of the variances of sampling and within the runs, plus the variance among
 * runs that noise assumes (t with the degrees of freedom of Satterthwaite 1946). Interval: score
 * intervals of both values, combined as in Newcombe (1998, method 10).
 */
struct diff_change diff_change_of(const struct diff_count *counts, size_t count, bool shares,
				  const struct diff_noise *noise);

/*
 * Compare the same stretches of time of two runs. pairs holds their counts, before and after in
 * turn. Return the variance of the differences relative to that of sampling, and its degrees of
 * freedom in *freedom; both are 0 with fewer than two pairs, or if the samples have no variance.
 * Samples are not independent (a program's start is one event, however many samples it has; phases
 * are slow), so a difference in one stretch alone is no change of the whole. Stretches are compared
 * in pairs, so that phases that both runs have make no difference.
 */
double diff_spread_within(const struct diff_count *pairs, size_t count, bool shares,
			  unsigned int *freedom);

/*
 * Set q of the tested changes by Benjamini and Hochberg (1995): if all changes with q <= x are
 * taken to be real, a part x of these is expected to be chance. Changes that could not be
 * significant, whatever their distribution over the sides, do not count (Gilbert 2005). Return 0 or
 * -ENOMEM.
 */
int diff_correct(struct diff_change **changes, size_t count);

#endif
