// SPDX-License-Identifier: Apache-2.0
/*
 * replay_waits FILE SEEDS COST: choose the waits of a recorded trace again and again by chance,
 * with the product's own rules, and compare the estimates with the truth. A "stack" is a thread, a
 * class of wait and a decade of lengths: the hard case, in which long and short waits have
 * different stacks. COST: ns that taking a stack costs, for the period T that adapts. Prints JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "analyze/states.h"
#include "analyze/wait_sum.h"
#include "base/log.h"
#include "capture/wait_period.h"
#include "trace/trace.h"

#define LEAST_PERIOD (2 * NSEC_PER_MSEC)

struct replayed_wait {
	uint64_t end, length; /* ns */
	uint32_t stack;
};

struct replayed_stack {
	double truth; /* ns */
	struct wait_sum sum; /* of this seed */
	double squares; /* of errors, over all seeds, ns^2 */
	unsigned int held; /* seeds whose interval held the truth */
};

struct replay {
	struct sink sink;
	struct states *states;
	VECTOR(struct replayed_wait) waits;
	VECTOR(struct replayed_stack) stacks;
	struct names keys;
	double chosen; /* number of stacks, over all seeds */
};

enum scheme { SCHEME_SIZE, SCHEME_ADAPTIVE, SCHEME_UNIFORM, SCHEMES };

static int keep_stretch(void *context, const struct stretch *s, struct error *err)
{
	struct replay *r = context;
	struct replayed_wait w = {.end = s->end, .length = s->end - s->time};
	uint64_t key[] = {s->thread, s->wait, (uint64_t)log10((double)w.length)};
	struct replayed_stack fresh = {0};

	(void)err;
	if (!s->whole || !s->thread || !s->wait || s->wait == WAIT_THROTTLED ||
	    (s->state != STATE_SLEEPING && s->state != STATE_DISK))
		return 0;
	if (names_intern(&r->keys, key, sizeof(key), &w.stack) < 0)
		return -1;
	if (w.stack == r->stacks.count && vector_push(&r->stacks, fresh) < 0)
		return -1;
	r->stacks.items[w.stack].truth += (double)w.length;
	return vector_push(&r->waits, w);
}

static int replay_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	return states_put(((struct replay *)s)->states, kind, record, err);
}

static int by_end(const void *a, const void *b)
{
	const struct replayed_wait *x = a, *y = b;

	return (x->end > y->end) - (x->end < y->end);
}

/* Return a number in [0, 1). Source of the generator: Marsaglia, "Xorshift RNGs" (2003). */
static double draw(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (double)(*random >> 11) * 0x1p-53;
}

/* The state of one run through all waits. */
struct pass {
	enum scheme scheme;
	double probability; /* for SCHEME_UNIFORM */
	uint64_t cost; /* ns a stack */
	struct wait_period period;
	struct wait_budget budget;
	uint64_t spent, adapted; /* ns */
	double largest; /* weight of a wait that is not certain, ns */
};

static void adapt(struct pass *p, uint64_t now)
{
	struct wait_verdict v = {0};

	if (!p->adapted)
		p->adapted = now;
	while (now - p->adapted >= WAIT_ADAPT_INTERVAL) {
		p->adapted += WAIT_ADAPT_INTERVAL;
		wait_budget_judge(&p->budget, p->spent, WAIT_ADAPT_INTERVAL, &v);
		wait_period_apply(&p->period, &v);
		v = (struct wait_verdict){0};
	}
}

/* Return the weight of a wait if it is chosen, else 0. */
static uint64_t choose(struct pass *p, const struct replayed_wait *w, uint64_t *random)
{
	uint64_t t = p->period.list[p->period.now];

	if (p->scheme == SCHEME_UNIFORM)
		return draw(random) < p->probability
			       ? (uint64_t)((double)w->length / p->probability)
			       : 0;
	if (p->scheme == SCHEME_ADAPTIVE) {
		adapt(p, w->end);
		t = p->period.list[p->period.now];
	}
	if (w->length < t && draw(random) >= (double)w->length / (double)t)
		return 0;
	p->spent += p->cost;
	return w->length < t ? t : w->length;
}

static void replay_once(struct replay *r, struct pass *p, uint64_t *random)
{
	for (size_t i = 0; i < r->stacks.count; i++)
		r->stacks.items[i].sum = (struct wait_sum){0};
	wait_period_init(&p->period, LEAST_PERIOD);
	wait_budget_init(&p->budget);
	p->spent = p->adapted = 0;
	for (size_t i = 0; i < r->waits.count; i++) {
		const struct replayed_wait *w = &r->waits.items[i];
		uint64_t weight = choose(p, w, random);

		if (!weight)
			continue;
		r->chosen++;
		wait_sum_add(&r->stacks.items[w->stack].sum, w->length, weight);
	}
	p->largest = (double)p->period.list[p->period.most];
}

static void compare(struct replay *r, const struct pass *p)
{
	for (size_t i = 0; i < r->stacks.count; i++) {
		struct replayed_stack *s = &r->stacks.items[i];
		struct wait_interval in = wait_sum_interval(&s->sum, p->largest);
		double error = wait_sum_total(&s->sum) - s->truth;

		s->squares += error * error;
		s->held += in.low <= s->truth && s->truth <= in.high;
	}
}

/* Run all seeds of a scheme, and print what came out. Return the stacks taken per seed. */
static double replay_scheme(struct replay *r, struct pass *p, unsigned int seeds, const char *name)
{
	double widest[2] = {0, 0}, relative = 0, worst_period = 0;
	unsigned int least_held = seeds, large = 0;

	for (size_t i = 0; i < r->stacks.count; i++)
		r->stacks.items[i].squares = r->stacks.items[i].held = 0;
	r->chosen = 0;
	for (unsigned int seed = 1; seed <= seeds; seed++) {
		uint64_t random = seed * 0x9e3779b97f4a7c15ULL;

		replay_once(r, p, &random);
		compare(r, p);
		worst_period = fmax(worst_period, p->largest);
	}
	for (size_t i = 0; i < r->stacks.count; i++) {
		const struct replayed_stack *s = &r->stacks.items[i];
		double half = 1.96 * sqrt(s->squares / seeds) / s->truth;

		if (s->truth < 1e8)
			continue;
		large++;
		relative += s->squares / seeds / (s->truth * s->truth);
		least_held = s->held < least_held ? s->held : least_held;
		widest[0] = fmax(widest[0], half);
		if (s->truth >= 1e9)
			widest[1] = fmax(widest[1], half);
	}
	printf("\"%s\": {\"chosen\": %.1f, \"stacks_over_100_ms\": %u, \"least_held\": %u, "
	       "\"half_width_over_100_ms\": %.4f, \"half_width_over_1_s\": %.4f, "
	       "\"error\": %.6f, \"largest_period\": %.0f}",
	       name, r->chosen / seeds, large, least_held, widest[0], widest[1],
	       large ? sqrt(relative / large) : 0, worst_period);
	return r->chosen / seeds;
}

static void replay_all(struct replay *r, unsigned int seeds, uint64_t cost)
{
	struct pass p = {.scheme = SCHEME_SIZE, .cost = cost};
	uint64_t truth = 0;
	double chosen;

	for (size_t i = 0; i < r->waits.count; i++)
		truth += r->waits.items[i].length;
	printf("{\"waits\": %zu, \"seconds\": %.3f, ", r->waits.count, (double)truth / 1e9);
	chosen = replay_scheme(r, &p, seeds, "by_size");
	p.scheme = SCHEME_ADAPTIVE;
	printf(", ");
	replay_scheme(r, &p, seeds, "adaptive");
	p.scheme = SCHEME_UNIFORM;
	p.probability = chosen / (double)r->waits.count;
	printf(", ");
	replay_scheme(r, &p, seeds, "one_probability");
	printf("}\n");
}

int main(int argc, char **argv)
{
	static const struct sink_ops ops = {.put = replay_put};
	struct replay r = {.sink = {.ops = &ops, .wants = WANT_ALL}};
	const struct states_events events = {.stretch = keep_stretch, .context = &r};
	struct source *source = NULL;
	struct trace *trace = NULL;
	struct error err = {""};
	int ret;

	if (argc != 4)
		return log_error(2, "usage: replay_waits FILE SEEDS COST");
	ret = states_new(&r.states, &events, &err);
	if (!ret)
		ret = trace_open(&trace, argv[1], &err);
	if (!ret)
		ret = trace_source(&source, trace, &err);
	if (!ret)
		ret = source->ops->run(source, &r.sink, &err);
	if (ret < 0)
		return log_failure(1, &err);
	if (r.waits.count)
		qsort(r.waits.items, r.waits.count, sizeof(struct replayed_wait), by_end);
	replay_all(&r, (unsigned int)atoi(argv[2]), (uint64_t)atoll(argv[3]));
	source_free(source);
	trace_close(trace);
	states_free(r.states);
	names_free(&r.keys);
	vector_free(&r.waits);
	vector_free(&r.stacks);
	return 0;
}
