/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 95 % interval of a sum of waits that were chosen by chance. Waits of at least the period T
 * are always chosen and certain; each shorter one that is chosen stands for T. The number of chosen
 * short waits scatters less than a Poisson number, so the interval for a weighted sum of Poisson
 * numbers never promises too much: Fay and Feuer, "Confidence intervals for directly standardized
 * rates: a method based on the gamma distribution", Statistics in Medicine 16 (1997); for one T it
 * is the exact interval of Garwood (1936).
 */
#ifndef SKEIN_ANALYZE_WAIT_SUM_H
#define SKEIN_ANALYZE_WAIT_SUM_H

#include <stdbool.h>
#include <stdint.h>

struct wait_sum {
	uint64_t count; /* chosen waits */
	uint64_t certain; /* ns of waits that were chosen for certain */
	double chance; /* sum of the weights of the others, ns */
	double squares; /* sum of the squares of these weights, ns^2 */
	double certain_squares; /* sum of the squares of the certain weights, ns^2 */
};

/* Add a chosen wait. length, weight: ns. */
void wait_sum_add(struct wait_sum *s, uint64_t length, uint64_t weight);
/* Add all waits of a sum to another one. */
void wait_sum_merge(struct wait_sum *to, const struct wait_sum *s);
/* Return the estimate, ns. */
double wait_sum_total(const struct wait_sum *s);
/*
 * Return the variance of the estimate, ns^2, if not only which waits are chosen is chance, but also
 * how many happen, which scatters like a Poisson number: the sum of the squares of all weights.
 */
double wait_sum_variance(const struct wait_sum *s);

struct wait_interval {
	double low, high; /* ns */
};

/*
 * Return the interval. largest: the largest period with which waits were chosen, ns; 0 if all waits
 * were chosen.
 */
struct wait_interval wait_sum_interval(const struct wait_sum *s, double largest);

/* Return the largest distance of the ends of the interval from the sum, ns. */
double wait_sum_half_width(const struct wait_sum *s, double largest);

/*
 * How the exact time of waits (from the records of switches) divides among the stacks that were
 * taken. What is missing in the sum counts as time without a stack if chance does not explain it;
 * else the weights of the waits that were chosen by chance are scaled, so that the parts add up to
 * the exact time. Certain waits keep their time, unless they alone have more than the exact time:
 * then all are scaled.
 */
struct wait_shares {
	double certain, chance; /* factors of the weights */
	uint64_t without; /* time without a stack, ns */
};

/* Return the parts of the exact time (ns) of the waits of a sum; largest as above. */
struct wait_shares wait_sum_divide(const struct wait_sum *s, double largest, uint64_t exact);

/*
 * Return the quantile p (above 0, below 1) of the chi-square distribution with so many degrees of
 * freedom, which need not be whole; 0 for 0 degrees.
 */
double chi_square_quantile(double p, double degrees);

#endif
