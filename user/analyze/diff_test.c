// SPDX-License-Identifier: Apache-2.0
/* Statistical tests and confidence intervals for two counts. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/diff_test.h"

#define NORMAL_95 1.959963984540054 /* standard deviations of a 95 % interval */
#define NEGLIGIBLE 1e-17 /* relative size of terms left out of a sum */
#define COVERED 0.95
/*
 * A count with a larger variance is treated as normally distributed; exact sums would take too
 * long.
 */
#define MANY 1e8
/* With this many degrees of freedom, freedom_of() treats Student's t as normally distributed. */
#define MANY_FREEDOM 1000
#define USUAL_FREEDOM 4 /* weight of the usual spread, in degrees of freedom */

/* The sums of all runs of both sides. */
struct side_sums {
	double count[2], whole[2];
	double kernel, whole_kernel; /* sums of these members of struct diff_count, of both sides */
	bool shares;
};

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Return the probability that x of the k counts are on a side, if nothing changed. */
static double side_probability(const struct side_sums *s, double x, double k, int side)
{
	double of = s->whole[side], others = s->whole[!side], part = of / (of + others);

	if (s->shares)
		return exp(log_choose(of, x) + log_choose(others, k - x) -
			   log_choose(of + others, k));
	return exp(log_choose(k, x) + x * log(part) + (k - x) * log1p(-part));
}

/* Return the probability of x + 1 relative to that of x. */
static double ratio_at(const struct side_sums *s, double x, double k, int side)
{
	double of = s->whole[side], others = s->whole[!side];

	if (s->shares)
		return (of - x) * (k - x) / ((x + 1) * (others - k + x + 1));
	return (k - x) / (x + 1) * of / others;
}

/*
 * Return the two-sided p of x of k counts on a side, where x is at least the expected count: twice
 * the probability of x or more, at most 1.
 */
static double two_sided(const struct side_sums *s, double x, double k, int side)
{
	double term = side_probability(s, x, k, side), sum = 0;

	while (term > sum * NEGLIGIBLE && x <= k) {
		sum += term;
		term *= ratio_at(s, x, k, side);
		x++;
	}
	return sum < 0.5 ? 2 * sum : 1;
}

static double exact_probability(const struct side_sums *s)
{
	double k = s->count[0] + s->count[1], all = s->whole[0] + s->whole[1];
	double part = s->whole[1] / all, expected = k * part;
	double variance = expected * (1 - part) * (s->shares ? 1 - k / all : 1), more;
	int side = s->count[1] >= expected;

	if (variance > MANY)
		return erfc(fabs(s->count[1] - expected) / sqrt(2 * variance));
	/* whole numbers that differ less than the counts */
	more = floor(s->count[side]);
	k = more + ceil(s->count[!side]);
	return more > 0 ? two_sided(s, more, k, side) : 1;
}

/* Return whether any distribution of these counts over the two sides would be significant. */
static bool can_be_significant(const struct side_sums *s)
{
	double k = floor(s->count[0] + s->count[1]);

	for (int side = 0; side < 2 && k > 0; side++) {
		double most = s->shares ? fmin(k, floor(s->whole[side])) : k;

		if (two_sided(s, most, k, side) <= DIFF_SIGNIFICANCE)
			return true;
	}
	return false;
}

/*
 * Return the probability that |T| with that many degrees of freedom is t or more (Abramowitz and
 * Stegun, 26.7.3 and 26.7.4).
 */
static double student_chance(double t, unsigned int freedom)
{
	double angle = atan2(fabs(t), sqrt(freedom)), c = cos(angle), term, sum;

	if (freedom == 1)
		return 1 - angle * M_2_PI;
	term = sum = freedom % 2 ? c : 1;
	for (unsigned int i = freedom % 2 ? 3 : 2; i < freedom; i += 2)
		sum += term *= c * c * (i - 1) / i;
	sum *= sin(angle);
	return 1 - (freedom % 2 ? M_2_PI * (angle + sum) : sum);
}

/* Return the t that |T| exceeds with that probability. */
static double student_bound(double chance, unsigned int freedom)
{
	double low = 0, high = 1;

	while (student_chance(high, freedom) > chance)
		high *= 2;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		*(student_chance(middle, freedom) > chance ? &low : &high) = middle;
	}
	return low;
}

static double side_value(const struct side_sums *s, int side)
{
	return s->whole[side] > 0 ? s->count[side] / s->whole[side] : 0;
}

/*
 * Return the sampling variance of a value for a whole of 1: binomial for a share, Poisson for a
 * rate.
 */
static double variance_of(const struct side_sums *s, double value)
{
	return s->shares ? value * (1 - value) : value;
}

/*
 * Return the variance among the runs of a side relative to that of sampling: about 1 if sampling is
 * the only cause.
 */
static double spread_of(const struct side_sums *s, const struct diff_count *counts, size_t count,
			unsigned int freedom)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		double mean = side_value(s, counts[i].after);
		double off = counts[i].count - mean * counts[i].whole;

		if (variance_of(s, mean) > 0)
			sum += off * off / (variance_of(s, mean) * counts[i].whole);
	}
	return sum / freedom;
}

/* Return the variance of the change due to sampling, if both sides have the same value. */
static double sampling_variance(const struct side_sums *s)
{
	double pooled = (s->count[0] + s->count[1]) / (s->whole[0] + s->whole[1]);

	return variance_of(s, pooled) * (1 / s->whole[0] + 1 / s->whole[1]);
}

/*
 * Return |change| in standard deviations; 0 if the variance is 0. spread is the variance relative
 * to that of sampling.
 */
static double deviations(const struct side_sums *s, double spread)
{
	double variance = spread * sampling_variance(s);

	return variance > 0 ? fabs(side_value(s, 1) - side_value(s, 0)) / sqrt(variance) : 0;
}

/* Score interval of one value, z standard deviations each way (Wilson 1927). */
static void score_interval(const struct side_sums *s, int side, double z, double *low, double *high)
{
	double n = s->whole[side], v = side_value(s, side), width = z * z / n;
	double middle = v + width / 2;
	double half = z * sqrt(variance_of(s, v) / n + width / (4 * n));
	double over = s->shares ? 1 + width : 1;

	*low = s->count[side] > 0 ? (middle - half) / over : 0;
	*high = (middle + half) / over;
	if (s->shares && s->count[side] >= n)
		*high = 1;
}

static void set_interval(struct diff_change *c, const struct side_sums *s, double z)
{
	double low[2], high[2];

	for (int side = 0; side < 2; side++)
		score_interval(s, side, z, &low[side], &high[side]);
	c->low = c->change - hypot(c->value[1] - low[1], high[0] - c->value[0]);
	c->high = c->change + hypot(high[1] - c->value[1], c->value[0] - low[0]);
}

/*
 * Account for the variance among several runs: raise p. Return the half-width of the interval in
 * standard deviations of sampling.
 */
static double account_for_runs(struct diff_change *c, const struct side_sums *s,
			       unsigned int freedom, double usual)
{
	unsigned int all = freedom + USUAL_FREEDOM;
	double moderated = (c->spread * freedom + usual * USUAL_FREEDOM) / all;
	double spread = fmax(1, moderated);

	c->p = fmax(c->p, student_chance(deviations(s, spread), all));
	return student_bound(1 - COVERED, all) * sqrt(spread);
}

static double square(double x)
{
	return x * x;
}

/*
 * Return the assumed variance of a value among runs. If the own program time of a value changes by
 * dU and its own kernel time by dK, a rate changes by dU + dK, and a share p by (1 - p)(dU + dK). A
 * share also changes by -p dK' with the other kernel time. Variation of other programs is taken to
 * be included in dU.
 */
static double assumed_variance(const struct side_sums *s, const struct diff_noise *noise)
{
	double all = s->whole[0] + s->whole[1], value = (s->count[0] + s->count[1]) / all;
	double kernel = s->kernel / all, others = (s->whole_kernel - s->kernel) / all;
	double own = square(noise->program * (value - kernel)) + square(noise->kernel * kernel);

	return s->shares ? square(1 - value) * own + square(value * noise->kernel * others) : own;
}

/*
 * Return the two-sided probability of a change of this many standard deviations or more, by
 * Student's t distribution, or by the normal distribution if freedom is 0.
 */
static double probability_beyond(double deviations, unsigned int freedom)
{
	return freedom ? student_chance(deviations, freedom) : erfc(deviations / M_SQRT2);
}

/*
 * Return the degrees of freedom of a sum of variances (all) of which only one term (measured) is an
 * estimate, which has freedom degrees; 0 if there are so many that the normal distribution can be
 * used.
 */
static unsigned int freedom_of(double measured, double all, unsigned int freedom)
{
	double sum = freedom * square(all / measured);

	return sum < MANY_FREEDOM ? (unsigned int)sum : 0;
}

/*
 * Like account_for_runs() with one run on each side. The variance is the sum of the assumed
 * variance among runs and the larger of the variances of sampling and within the runs.
 */
static double account_for_assumed(struct diff_change *c, const struct side_sums *s,
				  const struct diff_noise *noise)
{
	double sampling = sampling_variance(s), spread = fmax(1, noise->within);
	unsigned int freedom = 0;

	if (sampling > 0)
		spread += 2 * assumed_variance(s, noise) / sampling;
	if (noise->within > 1)
		freedom = freedom_of(noise->within, spread, noise->freedom);
	c->p = fmax(c->p, probability_beyond(deviations(s, spread), freedom));
	return (freedom ? student_bound(1 - COVERED, freedom) : NORMAL_95) * sqrt(spread);
}

struct diff_change diff_change_of(const struct diff_count *counts, size_t count, bool shares,
				  const struct diff_noise *noise)
{
	struct side_sums s = {.shares = shares};
	struct diff_change c = {.p = 1};
	unsigned int freedom = count > 2 ? count - 2 : 0;
	double z;

	for (size_t i = 0; i < count; i++) {
		s.count[counts[i].after] += counts[i].count;
		s.whole[counts[i].after] += counts[i].whole;
		s.kernel += counts[i].kernel;
		s.whole_kernel += counts[i].whole_kernel;
	}
	for (int side = 0; side < 2; side++) {
		c.count[side] = (uint64_t)s.count[side];
		c.value[side] = side_value(&s, side);
	}
	c.change = c.low = c.high = c.value[1] - c.value[0];
	if (s.whole[0] > 0 && s.whole[1] > 0) {
		c.tested = can_be_significant(&s);
		c.p = exact_probability(&s);
		if (freedom) {
			c.spread = spread_of(&s, counts, count, freedom);
			z = account_for_runs(&c, &s, freedom, noise->usual);
		} else {
			z = account_for_assumed(&c, &s, noise);
		}
		set_interval(&c, &s, z);
	}
	c.q = c.p;
	return c;
}

/* Return the weight of a pair: the inverse of its sampling variance, up to a constant factor. */
static double pair_weight(const struct diff_count *pair)
{
	double whole = pair[0].whole + pair[1].whole;

	return whole > 0 ? pair[0].whole * pair[1].whole / whole : 0;
}

static double pair_difference(const struct diff_count *pair)
{
	return pair[1].count / pair[1].whole - pair[0].count / pair[0].whole;
}

double diff_spread_within(const struct diff_count *pairs, size_t count, bool shares,
			  unsigned int *freedom)
{
	struct side_sums s = {.shares = shares};
	double weights = 0, mean = 0, sum = 0, variance;
	unsigned int found = 0;

	for (size_t i = 0; i + 1 < count; i += 2) {
		double weight = pair_weight(&pairs[i]);

		if (weight <= 0)
			continue;
		found++;
		weights += weight;
		mean += weight * pair_difference(&pairs[i]);
		s.count[0] += pairs[i].count + pairs[i + 1].count;
		s.whole[0] += pairs[i].whole + pairs[i + 1].whole;
	}
	variance = variance_of(&s, side_value(&s, 0));
	*freedom = found > 1 && variance > 0 ? found - 1 : 0;
	if (!*freedom)
		return 0;
	mean /= weights;
	for (size_t i = 0; i + 1 < count; i += 2) {
		double weight = pair_weight(&pairs[i]);

		if (weight > 0)
			sum += weight * square(pair_difference(&pairs[i]) - mean);
	}
	return sum / (variance * *freedom);
}

static int compare_changes_by_p(const void *a, const void *b)
{
	double x = (*(struct diff_change *const *)a)->p, y = (*(struct diff_change *const *)b)->p;

	return (x > y) - (x < y);
}

int diff_correct(struct diff_change **changes, size_t count)
{
	struct diff_change **tested = malloc((count + 1) * sizeof(*tested));
	size_t rank = 0;
	double least = 1;

	if (!tested)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (changes[i]->tested)
			tested[rank++] = changes[i];
	if (rank)
		qsort(tested, rank, sizeof(*tested), compare_changes_by_p);
	for (double all = (double)rank; rank; rank--) {
		least = fmin(least, tested[rank - 1]->p * all / (double)rank);
		tested[rank - 1]->q = least;
	}
	free(tested);
	return 0;
}
