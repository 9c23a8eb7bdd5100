// SPDX-License-Identifier: Apache-2.0
/* Compare the waits of recordings: times that are estimates from samples of different weights. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_private.h"
#include "analyze/off_cpu.h"

static int label_symbols(struct diff_builder *c, struct compared_run *r)
{
	const struct symbols *s = r->given.symbols;
	int ret = intern_diff_label(c, "[unknown]", "", &c->unknown);

	r->labels = calloc(s->names.texts.count + 1, sizeof(*r->labels));
	if (!r->labels)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->names.texts.count && !ret; i++)
		ret = intern_diff_label(c, symbol_name(s, i), symbol_module(s, i), &r->labels[i]);
	return ret;
}

/* Intern the label of a row of groups or of classes of wait. */
static int label_row(struct diff_builder *c, const struct compared_run *r,
		     const struct off_cpu_row *row, uint32_t *out)
{
	struct group g = {.process = row->process, .thread = row->thread};

	if (c->criteria->by == DIFF_BY_CLASS)
		return intern_diff_label(c, wait_class_word(row->wait), "", out);
	g.name = r->given.waits->groups.items[row->group];
	return diff_label_group(c, &g, out);
}

static const struct off_cpu_table *compared_table(const struct diff_builder *c,
						  const struct compared_run *r)
{
	return &r->given.waits->tables[c->criteria->by == DIFF_BY_CLASS ? OFF_CPU_CLASSES
									: OFF_CPU_GROUPS];
}

int diff_label_waits(struct diff_builder *c, struct compared_run *r)
{
	const struct off_cpu_table *t = compared_table(c, r);
	uint32_t number;
	int ret = 0;

	if (c->criteria->by == DIFF_BY_FUNCTION)
		return label_symbols(c, r);
	for (size_t i = 0; i < t->list.count && !ret; i++)
		ret = label_row(c, r, &t->list.items[i], &number);
	return ret;
}

static void mark_kernel_symbols(struct diff_builder *c, const struct compared_run *r)
{
	const struct profile *p = r->given.profile;

	for (uint32_t i = 0; i < p->count.frames; i++)
		if (p->frames[i].f.kind == FRAME_KERNEL)
			c->kernel[r->labels[r->given.symbols->of_frame[i]]] = true;
	c->kernel[c->unknown] = true;
}

static void count_waiting_functions(struct diff_builder *c, struct compared_run *r)
{
	mark_kernel_symbols(c, r);
	for (size_t i = 0; i < r->given.waits->functions.count; i++) {
		const struct off_cpu_function *f = &r->given.waits->functions.items[i];

		wait_sum_merge(&r->waits[DIFF_SELF][r->labels[f->symbol]], &f->own);
		wait_sum_merge(&r->waits[DIFF_TOTAL][r->labels[f->symbol]], &f->total);
	}
}

int diff_count_waits(struct diff_builder *c, struct compared_run *r)
{
	const struct off_cpu_table *t = compared_table(c, r);
	uint32_t number;
	int ret = 0;

	for (int cost = 0; cost < DIFF_COSTS; cost++) {
		r->waits[cost] = calloc(c->names.texts.count + 1, sizeof(*r->waits[cost]));
		if (!r->waits[cost])
			return -ENOMEM;
	}
	if (c->criteria->by == DIFF_BY_FUNCTION) {
		count_waiting_functions(c, r);
		return 0;
	}
	for (size_t i = 0; i < t->list.count && !ret; i++) {
		const struct off_cpu_row *row = &t->list.items[i];

		ret = label_row(c, r, row, &number);
		if (ret)
			continue;
		wait_sum_merge(&r->waits[DIFF_TOTAL][number], &row->sum);
		if (c->criteria->by != DIFF_BY_CLASS)
			c->kernel[number] |= is_kernel_thread_group(c, row->process);
	}
	return ret;
}

int diff_measure_waits(struct diff_builder *c, struct compared_run *r)
{
	switch (c->criteria->measure) {
	case DIFF_TIME: /* ms per second */
		r->whole = (double)r->given.time;
		c->scale = 1000;
		return r->given.time ? 0 : -EINVAL;
	case DIFF_NONE: /* s */
		r->whole = 1e9;
		c->scale = 1;
		return 0;
	default: /* percent */
		r->whole = wait_sum_total(&r->given.waits->sum);
		c->scale = 100;
		return 0;
	}
}

/* The waits of one side, and of everything else. */
struct side_scales {
	double sum, squares, whole; /* ns, ns^2; of the label */
	double others, other_squares;
	double largest; /* the largest period with which waits were chosen, ns */
};

static double ratio_or_zero(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/*
 * Return a scale that is right for the variance of the change. If the sides have different weights
 * and wholes, that is the mean of both scales weighted by the inverse of the wholes. To each side
 * one wait of the largest period is added, as in the upper limit of wait_sum_interval(): a side of
 * which no wait was chosen may have some. The scale is not below that of all waits together, since
 * a side may lack the long waits of the other by chance.
 */
static double combine_scales(const struct side_scales *sides)
{
	double sums = 0, squares = 0, weights = 0, weighted = 0;

	for (int side = 0; side < 2; side++) {
		const struct side_scales *s = &sides[side];
		double more = s->sum + s->largest;

		sums += s->sum;
		squares += s->squares;
		if (more <= 0 || s->whole <= 0)
			continue;
		weights += 1 / s->whole;
		weighted += (s->squares + s->largest * s->largest) / more / s->whole;
	}
	return sums > 0 ? fmax(squares / sums, ratio_or_zero(weighted, weights)) : 0;
}

/*
 * A share p also varies with everything else: its variance is that of a share of equal weights of
 * (1 - p) times the own scale plus p times the scale of the others.
 */
static double scale_of_share(const struct side_scales *sides, double own)
{
	struct side_scales others[2];
	double sum = 0, all = 0, p;

	for (int side = 0; side < 2; side++) {
		others[side] = (struct side_scales){.sum = sides[side].others,
						    .squares = sides[side].other_squares,
						    .whole = sides[side].whole,
						    .largest = sides[side].largest};
		sum += sides[side].sum;
		all += sides[side].sum + sides[side].others;
	}
	p = ratio_or_zero(sum, all);
	return (1 - p) * own + p * combine_scales(others);
}

double diff_waits_scale(const struct diff_builder *c, uint32_t number, enum diff_cost cost)
{
	struct side_scales sides[2] = {{.sum = 0}, {.sum = 0}};
	double own;

	for (size_t i = 0; i < c->run_count; i++) {
		const struct compared_run *r = &c->runs[i];
		const struct wait_sum *s = &r->waits[cost][number], *all = &r->given.waits->sum;
		struct side_scales *to = &sides[r->after];

		to->sum += wait_sum_total(s);
		to->squares += wait_sum_variance(s);
		to->whole += r->whole;
		to->largest = fmax(to->largest, (double)r->given.waits->largest);
		to->others += wait_sum_total(all) - wait_sum_total(s);
		to->other_squares += wait_sum_variance(all) - wait_sum_variance(s);
	}
	own = combine_scales(sides);
	if (own > 0 && c->criteria->measure == DIFF_SHARE)
		own = scale_of_share(sides, own);
	return own > 0 ? own : 1;
}

void diff_count_stacks(const struct diff_builder *c, uint32_t number, enum diff_cost cost,
		       uint64_t out[2])
{
	out[0] = out[1] = 0;
	for (size_t i = 0; i < c->run_count; i++)
		out[c->runs[i].after] += c->runs[i].waits[cost][number].count;
}

struct diff_count diff_waits_in_run(const struct compared_run *r, uint32_t number,
				    enum diff_cost cost, double scale)
{
	double count = wait_sum_total(&r->waits[cost][number]) / scale, whole = r->whole / scale;

	/* How long threads wait depends on what else runs, as time in the kernel does. */
	return (struct diff_count){count, whole, r->after, count, whole};
}
