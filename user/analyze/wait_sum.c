// SPDX-License-Identifier: Apache-2.0
/* The 95 % interval of a sum of waits that were chosen by chance. */
#include "analyze/wait_sum.h"

#include <math.h>

#define TAIL 0.025 /* of the 95 % interval, at each end */
#define STEPS_MAX 500

/*
 * Return the lower regularized gamma function P(a, x). Sources: NIST, Digital Library of
 * Mathematical Functions, 8.7.1 (series) and 8.9.2 (continued fraction, by Lentz's method).
 */
static double gamma_series(double a, double x)
{
	double term = 1 / a, sum = term;

	for (int n = 1; n < STEPS_MAX && term > sum * 1e-15; n++) {
		term *= x / (a + n);
		sum += term;
	}
	return sum * exp(a * log(x) - x - lgamma(a));
}

static double gamma_fraction(double a, double x)
{
	const double tiny = 1e-300;
	double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;

	for (int n = 1; n < STEPS_MAX; n++) {
		double factor, numerator = -n * (n - a);

		b += 2;
		d = numerator * d + b;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = b + numerator / c;
		c = fabs(c) < tiny ? tiny : c;
		factor = d * c;
		h *= factor;
		if (fabs(factor - 1) < 1e-15)
			break;
	}
	return 1 - h * exp(a * log(x) - x - lgamma(a));
}

static double gamma_lower(double a, double x)
{
	if (x <= 0)
		return 0;
	return x < a + 1 ? gamma_series(a, x) : gamma_fraction(a, x);
}

/* The distribution grows with x, so halving an interval that contains the quantile finds it. */
double chi_square_quantile(double p, double degrees)
{
	double low = 0, high = degrees + 10 * sqrt(2 * degrees) + 40;

	if (degrees <= 0)
		return 0;
	for (int n = 0; n < 200 && high - low > 1e-12 * high; n++) {
		double middle = (low + high) / 2;

		if (gamma_lower(degrees / 2, middle / 2) < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

void wait_sum_add(struct wait_sum *s, uint64_t length, uint64_t weight)
{
	s->count++;
	if (weight <= length) {
		s->certain += weight;
		s->certain_squares += (double)weight * (double)weight;
		return;
	}
	s->chance += (double)weight;
	s->squares += (double)weight * (double)weight;
}

void wait_sum_merge(struct wait_sum *to, const struct wait_sum *s)
{
	to->count += s->count;
	to->certain += s->certain;
	to->chance += s->chance;
	to->squares += s->squares;
	to->certain_squares += s->certain_squares;
}

double wait_sum_total(const struct wait_sum *s)
{
	return (double)s->certain + s->chance;
}

double wait_sum_half_width(const struct wait_sum *s, double largest)
{
	struct wait_interval in = wait_sum_interval(s, largest);
	double sum = wait_sum_total(s);

	return fmax(in.high - sum, sum - in.low);
}

struct wait_shares wait_sum_divide(const struct wait_sum *s, double largest, uint64_t exact)
{
	double sum = wait_sum_total(s), certain = (double)s->certain, whole = (double)exact;
	struct wait_shares all = {1, 1, 0};

	if (whole > sum && (s->chance <= 0 || whole - sum > wait_sum_half_width(s, largest)))
		all.without = exact - (uint64_t)sum;
	else if (whole < certain)
		all.certain = all.chance = whole / sum;
	else if (s->chance > 0)
		all.chance = (whole - certain) / s->chance;
	return all;
}

double wait_sum_variance(const struct wait_sum *s)
{
	return s->squares + s->certain_squares;
}

struct wait_interval wait_sum_interval(const struct wait_sum *s, double largest)
{
	double sum = s->chance, squares = s->squares;
	double more = sum + largest, more_squares = squares + largest * largest;
	struct wait_interval out = {(double)s->certain, (double)s->certain};

	if (sum > 0)
		out.low += squares / (2 * sum) * chi_square_quantile(TAIL, 2 * sum * sum / squares);
	if (more > 0)
		out.high += more_squares / (2 * more) *
			    chi_square_quantile(1 - TAIL, 2 * more * more / more_squares);
	return out;
}
