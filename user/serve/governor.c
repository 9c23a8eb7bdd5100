// SPDX-License-Identifier: Apache-2.0
/* Choose the sampling rate within a budget (governor.h). */
#include "serve/governor.h"

#include <stddef.h>

/*
 * The rates below the highest one, Hz. They are prime, so that they keep no step with programs that
 * do something 10 or 100 times a second, nor with each other; each is about half of the one before.
 */
static const uint64_t fixed_rates[] = {997, 199, 97, 47, 19, 7, 3};

_Static_assert(sizeof(fixed_rates) / sizeof(fixed_rates[0]) < GOVERNOR_RATES, "rates");

/* Measurements that come sooner after one another than this, ns, add nothing. */
#define LEAST_TIME (GOVERNOR_SECOND * 7 / 10)

void governor_init(struct governor *g, uint64_t budget, uint64_t frequency)
{
	*g = (struct governor){
		.budget = budget, .rates = {frequency}, .count = 1, .calm = GOVERNOR_CALM};
	if (budget)
		governor_add_rates(g);
}

void governor_add_rates(struct governor *g)
{
	g->count = 1;
	/* A step to a rate that is hardly lower would save nothing. */
	for (size_t i = 0; i < sizeof(fixed_rates) / sizeof(fixed_rates[0]); i++)
		if (3 * fixed_rates[i] <= 2 * g->rates[0])
			g->rates[g->count++] = fixed_rates[i];
}

static struct governor_point *point_at(struct governor *g, unsigned int i)
{
	return &g->points[(g->first + i) % GOVERNOR_POINTS];
}

static void begin_cost_window(struct governor *g, const struct governor_point *now)
{
	g->points[0] = *now;
	g->first = 0;
	g->used = 1;
}

/* Add a point, and drop those from before the window; the first one is at its begin or before. */
static void add_cost(struct governor *g, const struct governor_point *now)
{
	if (g->used == GOVERNOR_POINTS) {
		g->first = (g->first + 1) % GOVERNOR_POINTS;
		g->used--;
	}
	*point_at(g, g->used++) = *now;
	while (g->used > 2 && point_at(g, 1)->time + GOVERNOR_WINDOW <= now->time) {
		g->first = (g->first + 1) % GOVERNOR_POINTS;
		g->used--;
	}
}

static double grown_by(uint64_t before, uint64_t now)
{
	return now > before ? (double)(now - before) : 0;
}

/*
 * Return the cost of the last window, and in *apart the part of it that does not depend on the
 * rate. Of a longer time between two measurements, as after a suspend, the window has its part.
 */
static double cost_of_window(struct governor *g, const struct governor_point *now, double *apart)
{
	const struct governor_point *first = point_at(g, 0);
	double length = (double)(now->time - first->time), cost = grown_by(first->cost, now->cost);
	double part = length > (double)GOVERNOR_WINDOW ? (double)GOVERNOR_WINDOW / length : 1;

	if (length > 0)
		g->share = (uint64_t)(cost * GOVERNOR_SECOND / length);
	*apart = grown_by(first->apart, now->apart) * part;
	*apart = *apart < cost * part ? *apart : cost * part;
	return cost * part;
}

static void step_to(struct governor *g, unsigned int rate, const struct governor_point *now)
{
	if (rate < g->rate) {
		g->last_up = now->time;
	} else if (g->last_up) {
		bool again = now->time < g->last_up + GOVERNOR_AGAIN;

		g->calm = again ? 2 * g->calm : GOVERNOR_CALM;
		if (g->calm > GOVERNOR_CALM_MOST)
			g->calm = GOVERNOR_CALM_MOST;
		g->last_up = 0; /* further steps down belong to this one */
	}
	g->rate = rate;
	g->calm_since = now->time;
	begin_cost_window(g, now);
}

/* Return whether what a rate costs, of which a part does not depend on it, is within a budget. */
static bool fits_budget(double cost, double apart, double most)
{
	return cost * 100 <= most * GOVERNOR_MARGIN ||
	       (cost - apart) * 100 <= most * GOVERNOR_SMALL;
}

static void judge_cost(struct governor *g, const struct governor_point *now)
{
	const double most = (double)g->budget * (GOVERNOR_WINDOW / GOVERNOR_SECOND);
	double apart, cost = cost_of_window(g, now, &apart), higher;

	if (!g->budget) {
		g->rate = g->least;
		return;
	}
	g->exceeded = cost > most &&
		      (g->rate + 1 == g->count || (cost - apart) * 100 <= most * GOVERNOR_SMALL);
	if (cost > most && !g->exceeded) {
		g->clamps++;
		step_to(g, g->rate + 1, now);
		return;
	}
	if (g->rate <= g->least)
		return;
	higher = apart + (cost - apart) * (double)g->rates[g->rate - 1] / (double)g->rates[g->rate];
	if (!fits_budget(higher, apart, most))
		g->calm_since = now->time;
	else if (now->time >= g->calm_since + g->calm)
		step_to(g, g->rate - 1, now);
}

void governor_hold(struct governor *g, unsigned int least)
{
	g->least = least < g->count ? least : g->count - 1;
}

unsigned int governor_step(struct governor *g, const struct governor_point *now)
{
	bool gap;

	if (!g->started) {
		g->started = now->time;
		begin_cost_window(g, now);
	}
	if (g->rate < g->least) {
		g->rate = g->least;
		g->calm_since = now->time;
		begin_cost_window(g, now);
	}
	if (now->time < point_at(g, g->used - 1)->time + LEAST_TIME)
		return g->rate;
	if (now->time < g->started + GOVERNOR_GRACE) {
		begin_cost_window(g, now);
		return g->rate;
	}
	gap = now->time > point_at(g, g->used - 1)->time + GOVERNOR_WINDOW;
	add_cost(g, now);
	judge_cost(g, now);
	if (gap) /* of a suspend; later windows would have it as a cheap time */
		begin_cost_window(g, now);
	return g->rate;
}
