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
#define LEAST_TIME (GOVERNOR_SECOND * 9 / 10)

void governor_init(struct governor *g, uint64_t budget, uint64_t frequency)
{
	*g = (struct governor){
		.budget = budget, .rates = {frequency}, .count = 1, .calm = GOVERNOR_CALM};
	/* A step to a rate that is hardly lower would save nothing. */
	for (size_t i = 0; budget && i < sizeof(fixed_rates) / sizeof(fixed_rates[0]); i++)
		if (3 * fixed_rates[i] <= 2 * frequency)
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

/*
 * Return the cost of the last window. Of a longer time between two measurements, as after a
 * suspend, the window has its part.
 */
static double cost_of_window(struct governor *g, const struct governor_point *now)
{
	const struct governor_point *first = point_at(g, 0);
	double length = (double)(now->time - first->time), cost = 0;

	if (now->cost > first->cost)
		cost = (double)(now->cost - first->cost);
	if (length > 0)
		g->share = (uint64_t)(cost * GOVERNOR_SECOND / length);
	return length > (double)GOVERNOR_WINDOW ? cost * (double)GOVERNOR_WINDOW / length : cost;
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

static void judge_cost(struct governor *g, const struct governor_point *now)
{
	const double most = (double)g->budget * (GOVERNOR_WINDOW / GOVERNOR_SECOND);
	const double cost = cost_of_window(g, now);
	double higher;

	if (!g->budget)
		return;
	g->exceeded = cost > most && g->rate + 1 == g->count;
	if (cost > most && g->rate + 1 < g->count) {
		step_to(g, g->rate + 1, now);
		return;
	}
	if (!g->rate)
		return;
	higher = cost * (double)g->rates[g->rate - 1] / (double)g->rates[g->rate];
	if (higher * 100 > most * GOVERNOR_MARGIN)
		g->calm_since = now->time;
	else if (now->time >= g->calm_since + g->calm)
		step_to(g, g->rate - 1, now);
}

unsigned int governor_step(struct governor *g, uint64_t time, uint64_t cost)
{
	const struct governor_point now = {time, cost};
	bool gap;

	if (!g->started) {
		g->started = time;
		begin_cost_window(g, &now);
	}
	if (time < point_at(g, g->used - 1)->time + LEAST_TIME)
		return g->rate;
	if (time < g->started + GOVERNOR_GRACE) {
		begin_cost_window(g, &now);
		return g->rate;
	}
	gap = time > point_at(g, g->used - 1)->time + GOVERNOR_WINDOW;
	add_cost(g, &now);
	judge_cost(g, &now);
	if (gap) /* of a suspend; later windows would have it as a cheap time */
		begin_cost_window(g, &now);
	return g->rate;
}
