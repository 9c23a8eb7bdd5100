// SPDX-License-Identifier: Apache-2.0
/*
 * Compare recordings. The names of all runs are interned in one table, so that a function or group
 * has the same label in all runs, and each label has one count per run.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_names.h"
#include "analyze/diff_private.h"
#include "analyze/functions.h"
#include "analyze/rates.h"

#define KTHREADD 2 /* pid of the parent of all kernel threads */

int intern_diff_label(struct diff_builder *c, const char *name, const char *more, uint32_t *out)
{
	size_t name_size = strlen(name) + 1, more_size = strlen(more);
	char *both = malloc(name_size + more_size);
	int ret;

	if (!both)
		return -ENOMEM;
	memcpy(both, name, name_size);
	memcpy(both + name_size, more, more_size);
	ret = names_intern(&c->names, both, name_size + more_size, out);
	free(both);
	return ret;
}

static int diff_label_frames(struct diff_builder *c, struct compared_run *r)
{
	const struct profile *p = r->given.profile;
	int ret = intern_diff_label(c, "[unknown]", "", &c->unknown);

	r->labels = calloc(p->count.frames + 1, sizeof(*r->labels));
	if (!r->labels)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.frames && !ret; i++) {
		char *name = diff_frame_name(p, i);

		ret = name ? intern_diff_label(c, name,
					       profile_module_name(p, p->frames[i].mapping),
					       &r->labels[i])
			   : -ENOMEM;
		free(name);
	}
	return ret;
}

int diff_label_group(struct diff_builder *c, const struct group *g, uint32_t *out)
{
	char pid[32];

	if (c->criteria->by == GROUP_THREAD)
		return intern_diff_label(c, g->name, process_name(g->process), out);
	if (c->criteria->by == GROUP_MODULE)
		return intern_diff_label(c, module_short_name(g->name), "", out);
	snprintf(pid, sizeof(pid), "%" PRIu64, g->process->pid);
	return intern_diff_label(c, g->name, c->criteria->by == GROUP_PROCESS ? pid : "", out);
}

bool is_kernel_thread_group(const struct diff_builder *c, const struct process *p)
{
	if (c->criteria->by >= GROUP_SERVICE)
		return false;
	return !*p->exe && (p->pid == 0 || p->pid == KTHREADD || p->parent == KTHREADD);
}

/*
 * Mark the labels of the kernel's own text, its modules, and code in no module. While c->kernel is
 * NULL, only intern the labels.
 */
static int mark_kernel_modules(struct diff_builder *c, const struct compared_run *r)
{
	const struct profile *p = r->given.profile;
	uint32_t number;
	int ret = intern_diff_label(c, "[unknown]", "", &number);

	if (!ret && c->kernel)
		c->kernel[number] = true;
	for (uint32_t i = 0; i < p->count.mappings && !ret; i++) {
		if (p->mappings[i].m.kind != MAPPING_KERNEL)
			continue;
		ret = intern_diff_label(c, profile_module_name(p, i), "", &number);
		if (!ret && c->kernel)
			c->kernel[number] = true;
	}
	return ret;
}

static void mark_kernel_frames(struct diff_builder *c, const struct compared_run *r)
{
	const struct profile *p = r->given.profile;

	for (uint32_t i = 0; i < p->count.frames; i++)
		if (p->frames[i].f.kind == FRAME_KERNEL)
			c->kernel[r->labels[i]] = true;
	c->kernel[c->unknown] = true;
}

/* Allocate the counts of a run, once all labels are known. */
static int diff_make_counts(struct diff_builder *c, struct compared_run *r)
{
	for (int i = 0; i < DIFF_PART_COUNT * DIFF_COSTS; i++) {
		uint64_t **counts = &r->counts[i / DIFF_COSTS][i % DIFF_COSTS];

		*counts = calloc(c->names.texts.count + 1, sizeof(**counts));
		if (!*counts)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Find the unit of a run. Samples of several rates have different weights. They count as so many of
 * one weight as have the same sum and the same variance: the weight of each is the sum of squares
 * over the sum.
 */
static void diff_find_unit(struct compared_run *r)
{
	const struct profile *p = r->given.profile;
	double squares = 0, sum = 0;
	struct sampled_rates rates;

	rates_of_event(&rates, p, r->given.event);
	for (uint32_t i = 0; rates.count > 1 && i < p->count.sums; i++) {
		const struct profile_sum *s = &p->sums[i];
		double weight = (double)s->weight;

		if (s->event != r->given.event || !s->count || !s->weight)
			continue;
		squares += weight / (double)s->count * weight;
		sum += weight;
	}
	r->unit = sum > 0 ? squares / sum : 0;
}

/* Return a number of samples of a run as it is added up there. */
static uint64_t diff_amount(const struct compared_run *r, uint64_t count, uint64_t weight)
{
	return r->unit > 0 ? weight : count;
}

/* Return the number of samples of what was added up. */
static double diff_samples(const struct compared_run *r, double amount)
{
	return r->unit > 0 ? amount / r->unit : amount;
}

static int diff_count_functions(struct diff_builder *c, struct compared_run *r,
				const struct profile *p, enum diff_part diff_part)
{
	/* functions_of() uses only the names of the symbols. */
	struct symbols symbols = {.names = c->names};
	struct tree_view view = {.frame_labels = r->labels, .unknown_label = c->unknown};
	struct functions found = {0};
	struct tree tree = {0};
	int ret = tree_build(&tree, p, r->given.event, &view);

	if (!ret)
		ret = functions_of(&found, &tree, &symbols);
	for (size_t i = 0; i < found.list.count && !ret; i++) {
		const struct function_cost *f = &found.list.items[i];

		r->counts[diff_part][DIFF_SELF][f->symbol] =
			diff_amount(r, f->self_count, f->self_weight);
		r->counts[diff_part][DIFF_TOTAL][f->symbol] =
			diff_amount(r, f->total_count, f->total_weight);
	}
	functions_free(&found);
	tree_free(&tree);
	return ret;
}

/* Intern the labels of all groups; the room for counts depends on their number. */
static int diff_label_groups(struct diff_builder *c, struct compared_run *r)
{
	struct groups groups = {0};
	int ret = groups_of(&groups, r->given.profile, r->given.event, c->criteria->by);
	uint32_t number;

	if (!ret && c->criteria->by == GROUP_MODULE)
		ret = mark_kernel_modules(c, r);
	for (size_t i = 0; i < groups.list.count && !ret; i++)
		ret = diff_label_group(c, &groups.list.items[i], &number);
	groups_free(&groups);
	return ret;
}

static int diff_count_groups(struct diff_builder *c, struct compared_run *r,
			     const struct profile *p, enum diff_part diff_part)
{
	struct groups groups = {0};
	int ret = groups_of(&groups, p, r->given.event, c->criteria->by);

	for (size_t i = 0; i < groups.list.count && !ret; i++) {
		const struct group *g = &groups.list.items[i];
		uint32_t number;

		ret = diff_label_group(c, g, &number);
		if (ret)
			continue;
		r->counts[diff_part][DIFF_TOTAL][number] += diff_amount(r, g->count, g->weight);
		c->kernel[number] |= is_kernel_thread_group(c, g->process);
	}
	groups_free(&groups);
	return ret;
}

static bool is_in_kernel(const struct profile *p, const struct profile_sum *s)
{
	uint32_t frame = s->stack == PROFILE_NONE ? PROFILE_NONE : p->stacks[s->stack].frame;

	return frame != PROFILE_NONE && p->frames[frame].f.kind == FRAME_KERNEL;
}

static int diff_count_part(struct diff_builder *c, struct compared_run *r, const struct profile *p,
			   enum diff_part diff_part)
{
	return c->criteria->by == DIFF_BY_FUNCTION ? diff_count_functions(c, r, p, diff_part)
						   : diff_count_groups(c, r, p, diff_part);
}

/* Count the samples in the kernel, in a copy of the profile that has only these samples. */
static int diff_count_kernel(struct diff_builder *c, struct compared_run *r)
{
	struct profile only = *r->given.profile;
	uint64_t count, weight;
	int ret;

	only.sums = calloc(only.count.sums + 1, sizeof(*only.sums));
	if (!only.sums)
		return -ENOMEM;
	only.count.sums = 0;
	for (uint32_t i = 0; i < r->given.profile->count.sums; i++)
		if (is_in_kernel(&only, &r->given.profile->sums[i]))
			only.sums[only.count.sums++] = r->given.profile->sums[i];
	ret = diff_count_part(c, r, &only, DIFF_PART_KERNEL);
	profile_event_total(&only, r->given.event, &count, &weight);
	r->kernel = diff_samples(r, (double)diff_amount(r, count, weight));
	free(only.sums);
	return ret;
}

static int diff_count_run(struct diff_builder *c, struct compared_run *r)
{
	int ret;

	if (r->given.waits)
		return diff_count_waits(c, r);
	ret = diff_make_counts(c, r);
	if (!ret && c->criteria->by == DIFF_BY_FUNCTION)
		mark_kernel_frames(c, r);
	else if (!ret && c->criteria->by == GROUP_MODULE)
		ret = mark_kernel_modules(c, r);
	if (!ret)
		ret = diff_count_part(c, r, r->given.profile, DIFF_PART_ALL);
	return ret ? ret : diff_count_kernel(c, r);
}

static int diff_label_run(struct diff_builder *c, struct compared_run *r)
{
	if (r->given.waits)
		return diff_label_waits(c, r);
	return c->criteria->by == DIFF_BY_FUNCTION ? diff_label_frames(c, r)
						   : diff_label_groups(c, r);
}

/* Intern the names of all runs first, then count each run. */
static int diff_count_all(struct diff_builder *c)
{
	size_t runs = c->run_count + c->stretch_count;
	int ret = 0;

	for (size_t i = 0; i < runs && !ret; i++)
		ret = diff_label_run(c, &c->runs[i]);
	if (ret)
		return ret;
	c->kernel = calloc(c->names.texts.count + 1, sizeof(*c->kernel));
	if (!c->kernel)
		return -ENOMEM;
	for (size_t i = 0; i < runs && !ret; i++)
		ret = diff_count_run(c, &c->runs[i]);
	return ret;
}

/*
 * Set the divisor of a run's counts, and the scale with which a quotient is shown. Return 0, or
 * -EINVAL if the measure needs the duration of the run and the duration is not known.
 */
static int diff_measure_run(struct diff_builder *c, struct compared_run *r)
{
	enum diff_measure measure = c->criteria->measure;
	const struct profile *p = r->given.profile;
	const struct event *e =
		r->given.event < p->count.events ? &p->events[r->given.event] : NULL;
	bool is_time = e && !strcmp(e->unit, "ns");
	double each = e && e->period ? (double)e->period : 1; /* weight of a sample */
	uint64_t count, weight;

	if (r->given.waits)
		return diff_measure_waits(c, r);
	diff_find_unit(r);
	profile_event_total(p, r->given.event, &count, &weight);
	if (r->unit > 0)
		each = r->unit;
	else if (count)
		each = (double)weight / (double)count;
	if (measure == DIFF_TIME && !r->given.time)
		return -EINVAL;
	c->scale = measure == DIFF_NONE ? 1 : measure == DIFF_TIME && !is_time ? 1e9 : 100;
	if (measure == DIFF_SHARE)
		r->whole = diff_samples(r, (double)diff_amount(r, count, weight));
	else if (measure == DIFF_TIME)
		r->whole = (double)r->given.time / each;
	else
		r->whole = (is_time ? 1e9 : 1) / each;
	return 0;
}

/*
 * Return whether the counts of both sides, if they were all on the side with the smaller divisor,
 * would amount to a change of at least criteria->least.
 */
static bool is_large_enough(const struct diff_builder *c, const struct diff_count *list,
			    size_t count)
{
	double whole[2] = {0, 0}, all = 0;

	for (size_t i = 0; i < count; i++) {
		whole[list[i].after] += list[i].whole;
		all += list[i].count;
	}
	return all / fmin(whole[0], whole[1]) * c->scale >= c->criteria->least;
}

/* Return the count of a label in a run. scale: of waits, see diff_waits_scale(). */
static struct diff_count diff_count_in_run(const struct compared_run *r, uint32_t number,
					   enum diff_cost cost, double scale)
{
	if (r->given.waits)
		return diff_waits_in_run(r, number, cost, scale);
	return (struct diff_count){
		.count = diff_samples(r, (double)r->counts[DIFF_PART_ALL][cost][number]),
		.whole = r->whole,
		.after = r->after,
		.kernel = diff_samples(r, (double)r->counts[DIFF_PART_KERNEL][cost][number]),
		.whole_kernel = r->kernel,
	};
}

/*
 * Return the variation between runs for a label: the usual and assumed variation of programs or of
 * the kernel, and the variation of this label within the two runs, from their stretches.
 */
static struct diff_noise diff_noise_of(const struct diff_builder *c, uint32_t number,
				       enum diff_cost cost, double scale)
{
	struct diff_noise noise = c->noise[c->kernel[number]];

	for (size_t i = 0; i < c->stretch_count; i++)
		c->list[i] = diff_count_in_run(&c->runs[c->run_count + i], number, cost, scale);
	noise.within = diff_spread_within(c->list, c->stretch_count,
					  c->criteria->measure == DIFF_SHARE, &noise.freedom);
	return noise;
}

/* Compute the change of one cost of a label. */
static struct diff_change diff_change_of_label(const struct diff_builder *c, uint32_t number,
					       enum diff_cost cost)
{
	double scale = c->runs->given.waits ? diff_waits_scale(c, number, cost) : 1;
	struct diff_noise noise = diff_noise_of(c, number, cost, scale);
	struct diff_change change;
	size_t count = 0;

	for (size_t i = 0; i < c->run_count; i++) {
		const struct compared_run *r = &c->runs[i];

		if (r->whole > 0) /* a run without samples has no shares */
			c->list[count++] = diff_count_in_run(r, number, cost, scale);
	}
	change = diff_change_of(c->list, count, c->criteria->measure == DIFF_SHARE, &noise);
	change.tested = change.tested && is_large_enough(c, c->list, count);
	if (c->runs->given.waits)
		diff_count_stacks(c, number, cost, change.count);
	for (int side = 0; side < 2; side++)
		change.value[side] *= c->scale;
	change.change *= c->scale;
	change.low *= c->scale;
	change.high *= c->scale;
	return change;
}

/*
 * Return the mean spread of the labels of programs, or of the kernel, that have enough samples, but
 * at least 1; the spread of a single label is moderated with this mean. Two runs show no spread:
 * the result is 1 then.
 */
static double diff_usual_spread(const struct diff_builder *c, bool kernel)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < c->names.texts.count && c->run_count > 2; i++) {
		struct diff_change change;

		if (c->kernel[i] != kernel)
			continue;
		change = diff_change_of_label(c, i, DIFF_TOTAL);
		if (change.tested) {
			sum += change.spread;
			count++;
		}
	}
	return count ? fmax(1, sum / (double)count) : 1;
}

static int add_diff_rows(struct diff *d, struct diff_builder *c)
{
	int ret = 0;

	c->list = calloc(c->run_count + c->stretch_count, sizeof(*c->list));
	if (!c->list)
		return -ENOMEM;
	for (int kernel = 0; kernel < 2; kernel++)
		c->noise[kernel].usual = diff_usual_spread(c, kernel);
	for (size_t i = 0; i < c->names.texts.count && !ret; i++) {
		const char *name = names_text(&c->names, i);
		struct diff_row row = {
			.name = name, .more = name + strlen(name) + 1, .kernel = c->kernel[i]};

		for (int cost = 0; cost < DIFF_COSTS; cost++)
			row.cost[cost] = diff_change_of_label(c, i, cost);
		if (!row.cost[DIFF_TOTAL].count[0] && !row.cost[DIFF_TOTAL].count[1])
			continue;
		d->tested[row.kernel] += row.cost[DIFF_TOTAL].tested;
		ret = vector_push(&d->rows, row);
	}
	return ret;
}

/*
 * Correct one family of tests for their number (diff_correct()). All changes of programs, self and
 * total of all rows, are one family; all changes of the kernel are another.
 */
static int correct_diff_family(struct diff *d, bool kernel)
{
	struct diff_change **all = calloc(d->rows.count * DIFF_COSTS + 1, sizeof(*all));
	size_t count = 0;
	int ret;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < d->rows.count; i++)
		for (int cost = 0; cost < DIFF_COSTS; cost++)
			if (d->costs[cost] && d->rows.items[i].kernel == kernel)
				all[count++] = &d->rows.items[i].cost[cost];
	ret = diff_correct(all, count);
	free(all);
	return ret;
}

bool diff_is_significant(const struct diff_change *c)
{
	return c->tested && c->q <= DIFF_SIGNIFICANCE;
}

const char *diff_stars(const struct diff_change *c)
{
	if (!diff_is_significant(c))
		return "";
	return c->q <= 0.001 ? "***" : c->q <= 0.01 ? "**" : "*";
}

/* Order for qsort(): return -1, 0 or 1, so that the larger comes first. */
static int compare_larger_first(double x, double y)
{
	return (x < y) - (x > y);
}

/*
 * Order of rows: first rows whose self changed significantly; then rows whose total did; then all
 * other rows; each by amount. Equal rows are ordered by name, so that the order does not depend on
 * which side is before.
 */
static int compare_diff_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int order = 0;

	for (int cost = 0; cost < DIFF_COSTS && !order; cost++) {
		const struct diff_change *c = &x->cost[cost], *k = &y->cost[cost];

		order = (int)diff_is_significant(k) - (int)diff_is_significant(c);
		if (!order && diff_is_significant(c))
			order = compare_larger_first(fabs(c->change), fabs(k->change));
	}
	for (int cost = 0; cost < DIFF_COSTS && !order; cost++)
		order = compare_larger_first(fabs(x->cost[cost].change),
					     fabs(y->cost[cost].change));
	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->more, y->more);
}

static int add_compared_run(struct diff_builder *c, struct compared_run *r,
			    const struct diff_run *given, bool after)
{
	r->given = *given;
	r->after = after;
	return diff_measure_run(c, r);
}

/* Return how many pairs of stretches can be compared; 0 unless each side has exactly one run. */
static size_t count_stretches(const struct diff_side sides[2])
{
	const struct diff_run *before = sides[0].runs, *after = sides[1].runs;

	if (sides[0].count != 1 || sides[1].count != 1)
		return 0;
	return before->stretch_count < after->stretch_count ? before->stretch_count
							    : after->stretch_count;
}

static int make_compared_runs(struct diff_builder *c, const struct diff_side sides[2])
{
	size_t stretches = count_stretches(sides);
	int ret = 0;

	c->runs = calloc(sides[0].count + sides[1].count + 2 * stretches, sizeof(*c->runs));
	if (!c->runs)
		return -ENOMEM;
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side].count && !ret; i++)
			ret = add_compared_run(c, &c->runs[c->run_count++], &sides[side].runs[i],
					       side == 1);
	for (size_t i = 0; i < 2 * stretches && !ret; i++, c->stretch_count++)
		ret = add_compared_run(c, &c->runs[c->run_count + i],
				       &sides[i % 2].runs->stretches[i / 2], i % 2 == 1);
	return ret;
}

static void free_compared_runs(struct diff_builder *c)
{
	for (size_t i = 0; i < c->run_count + c->stretch_count; i++) {
		free(c->runs[i].labels);
		for (int k = 0; k < DIFF_PART_COUNT * DIFF_COSTS; k++)
			free(c->runs[i].counts[k / DIFF_COSTS][k % DIFF_COSTS]);
		for (int cost = 0; cost < DIFF_COSTS; cost++)
			free(c->runs[i].waits[cost]);
	}
	free(c->runs);
	free(c->kernel);
	free(c->list);
}

int diff_make(struct diff *out, const struct diff_side sides[2],
	      const struct diff_criteria *criteria)
{
	static const struct diff_noise assumed = {1, DIFF_ASSUMED_PROGRAM, DIFF_ASSUMED_KERNEL, 0,
						  0};
	struct diff_builder c = {.criteria = criteria, .noise = {assumed, assumed}};
	struct diff d = {
		.costs = {[DIFF_SELF] = criteria->by == DIFF_BY_FUNCTION, [DIFF_TOTAL] = true}};
	int ret = make_compared_runs(&c, sides);

	if (!ret)
		ret = diff_count_all(&c);
	if (!ret)
		ret = add_diff_rows(&d, &c);
	for (int kernel = 0; kernel < 2 && !ret; kernel++)
		ret = correct_diff_family(&d, kernel);
	free_compared_runs(&c);
	d.names = c.names;
	if (ret < 0) {
		diff_free(&d);
		return ret;
	}
	if (d.rows.count)
		qsort(d.rows.items, d.rows.count, sizeof(*d.rows.items), compare_diff_rows);
	*out = d;
	return 0;
}

void diff_free(struct diff *d)
{
	names_free(&d->names);
	vector_free(&d->rows);
}
