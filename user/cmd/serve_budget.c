// SPDX-License-Identifier: Apache-2.0
/* Follow the CPU budget of the service (serve_budget.h). */
#include "cmd/serve_budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "capture/clock.h"

#define LOG_TIME (60 * NSEC_PER_SEC) /* between two messages */

/* Write ns per second as a share of a core: "0.21 %". Return buf. */
static char *show_share(uint64_t share, char *buf, size_t size)
{
	snprintf(buf, size, "%.3g %%", (double)share * 100 / NSEC_PER_SEC);
	return buf;
}

void serve_budget_begin(struct serve_budget *b, uint64_t limit, bool memory,
			struct capture_options *o)
{
	struct capture_rates *r = &o->when.rates;

	*b = (struct serve_budget){.logged_rate = 0};
	governor_init(&b->governor, limit, o->frequency);
	if (memory)
		governor_add_rates(&b->governor);
	r->count = b->governor.count - 1;
	memcpy(r->lower, &b->governor.rates[1], r->count * sizeof(r->lower[0]));
	if (limit)
		r->budget = show_share(limit, b->text, sizeof(b->text));
}

static void log_rate(struct serve_budget *b, uint64_t share, uint64_t now)
{
	const struct governor *g = &b->governor;
	const uint64_t rate = g->rates[g->rate], before = g->rates[b->logged_rate];
	char cost[32];

	if ((g->rate == b->logged_rate && g->exceeded == b->logged_exceeded) ||
	    (b->logged && now < b->logged + LOG_TIME))
		return;
	show_share(share, cost, sizeof(cost));
	if (g->exceeded && !b->logged_exceeded)
		log_warn("serve: the CPU budget of %s is exceeded at %s, %" PRIu64
			 " Hz: %s of a core",
			 b->text,
			 g->rate + 1 == g->count ? "the lowest rate"
						 : "a rate that is no large part of it",
			 rate, cost);
	else if (g->rate > b->logged_rate && g->rate == g->least)
		log_info("serve: %" PRIu64 " Hz instead of %" PRIu64 " Hz", rate, before);
	else if (g->rate > b->logged_rate)
		log_warn("serve: %" PRIu64 " Hz instead of %" PRIu64
			 " Hz: the CPU budget of %s was reached with %s of a core",
			 rate, before, b->text, cost);
	else
		log_info("serve: %" PRIu64 " Hz again, within the budget", rate);
	b->logged_rate = g->rate;
	b->logged_exceeded = g->exceeded;
	b->logged = now;
}

unsigned int serve_budget_choose(struct serve_budget *b, const struct capture_progress *p)
{
	const struct governor_point now = {
		.time = clock_boot_ns(),
		.cost = p->cost.own + p->cost.helpers + p->cost.kernel + p->cost.apart,
		.apart = p->cost.apart,
	};
	const unsigned int rate = governor_step(&b->governor, &now);

	log_rate(b, b->governor.share, now.time);
	return rate;
}

char *serve_budget_status(const struct serve_budget *b, char *buf, size_t size)
{
	const struct governor *g = &b->governor;
	char cost[32];
	int used = snprintf(buf, size, "%" PRIu64 " Hz, %s of a core", g->rates[g->rate],
			    show_share(g->share, cost, sizeof(cost)));

	if (g->exceeded)
		text_append(buf, size, used, ": budget of %s exceeded", b->text);
	else if (g->rate > g->least)
		text_append(buf, size, used,
			    ": budget of %s reached, %" PRIu64 " steps down so far", b->text,
			    g->clamps);
	return buf;
}

char *serve_budget_show(uint64_t limit, char *buf, size_t size)
{
	char share[32];

	if (limit)
		snprintf(buf, size, "%s of a core", show_share(limit, share, sizeof(share)));
	else
		snprintf(buf, size, "any CPU time");
	return buf;
}
