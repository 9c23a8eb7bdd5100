// SPDX-License-Identifier: Apache-2.0
/* Keeps the account of stacks of hits of probes. */
#include "capture/hit_stacks.h"

#include <errno.h>
#include <stdlib.h>

/* The account of one event on one CPU. */
struct hit_account {
	uint64_t counts[HIT_OUTCOMES];
	uint64_t lost[LOSS_COUNT]; /* as far as reported */
};

struct hit_accounts {
	struct hit_account of[HIT_EVENTS];
};

struct hit_stacks {
	struct hit_stacks_context c;
	struct hit_accounts *cpus;
	uint64_t reported; /* when losses were last reported, ns */
};

int hit_stacks_new(struct hit_stacks **out, const struct hit_stacks_context *c, struct error *err)
{
	struct hit_stacks *h = calloc(1, sizeof(*h));

	if (h)
		h->cpus = calloc(c->cpus, sizeof(*h->cpus));
	if (!h || !h->cpus) {
		free(h);
		return error_errno(err, -ENOMEM, "stacks of probes");
	}
	h->c = *c;
	*out = h;
	return 0;
}

void hit_stacks_free(struct hit_stacks *h)
{
	if (!h)
		return;
	free(h->cpus);
	free(h);
}

void hit_stacks_count(struct hit_stacks *h, enum hit_event event, unsigned int cpu,
		      enum hit_outcome outcome)
{
	if (cpu < h->c.cpus)
		h->cpus[cpu].of[event].counts[outcome]++;
}

static uint64_t load_count(const __u64 *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* Fill the numbers of stacks lost so far, by reason. Return how many were chosen on the CPU. */
static uint64_t count_hit_losses(const struct hit_stacks *h, enum hit_event event, unsigned int cpu,
				 uint64_t lost[LOSS_COUNT])
{
	const struct wire_hit_stacks *s = &h->c.cpu(h->c.context, cpu)->stacks[event];

	lost[LOSS_STACK_MISSED] = load_count(&s->missed);
	lost[LOSS_RING_FULL] = load_count(&s->ring_full);
	lost[LOSS_NOT_STORED] =
		sink_unstored(h->c.sink, KIND_SAMPLE, sample_place(h->c.events[event], cpu));
	return load_count(&s->chosen);
}

/* Put the losses since the last report; of: what all of them have in common. */
static int put_hit_losses(struct hit_stacks *h, struct hit_account *a, const struct loss *of,
			  const uint64_t lost[LOSS_COUNT], struct error *err)
{
	int ret = 0;

	for (int reason = 1; !ret && reason < LOSS_COUNT; reason++) {
		struct loss r = *of;

		if (lost[reason] == a->lost[reason])
			continue;
		r.id = ++*h->c.last_loss;
		r.reason = (uint64_t)reason;
		r.count = lost[reason] - a->lost[reason];
		ret = put_loss(h->c.sink, &r, err);
		a->lost[reason] = lost[reason];
	}
	return ret;
}

/* A report of accounts. */
struct hit_report {
	uint64_t now; /* ns */
	bool final;
};

static int report_hit_account(struct hit_stacks *h, enum hit_event event, unsigned int cpu,
			      const struct hit_report *at, struct error *err)
{
	struct hit_account *a = &h->cpus[cpu].of[event];
	uint64_t lost[LOSS_COUNT] = {0}, known;
	struct account r = {
		.event = h->c.events[event],
		.cpu = cpu,
		.due = count_hit_losses(h, event, cpu, lost),
		.written = a->counts[HIT_WRITTEN] - lost[LOSS_NOT_STORED],
		.filtered = a->counts[HIT_FILTERED],
		.cut_off = a->counts[HIT_CUT_OFF],
	};
	const struct loss of = {
		.host = h->c.host,
		.event = r.event,
		.cpu = cpu + 1,
		.time = h->reported,
		.end = at->now,
	};
	int ret;

	if (!r.due)
		return 0;
	known = r.written + r.filtered + r.cut_off;
	for (int reason = 1; reason < LOSS_COUNT; reason++)
		known += lost[reason];
	if (at->final && r.due > known)
		r.cut_off += r.due - known;
	ret = put_hit_losses(h, a, &of, lost, err);
	return ret ? ret : put_account(h->c.sink, &r, err);
}

int hit_stacks_report(struct hit_stacks *h, uint64_t now, bool final, struct error *err)
{
	const struct hit_report at = {now, final};
	int ret = 0;

	if (!h->reported)
		h->reported = now;
	for (unsigned int cpu = 0; !ret && cpu < h->c.cpus; cpu++)
		for (int event = 0; !ret && event < HIT_EVENTS; event++)
			ret = report_hit_account(h, (enum hit_event)event, cpu, &at, err);
	h->reported = now;
	return ret;
}

uint64_t hit_stacks_time_spent(const struct hit_stacks *h)
{
	uint64_t spent = 0;

	for (unsigned int cpu = 0; cpu < h->c.cpus; cpu++)
		spent += load_count(&h->c.cpu(h->c.context, cpu)->spent);
	return spent;
}

void hit_stacks_get_summary(const struct hit_stacks *h, struct hit_stacks_summary *out)
{
	*out = (struct hit_stacks_summary){.spent = hit_stacks_time_spent(h)};
	for (unsigned int cpu = 0; cpu < h->c.cpus; cpu++) {
		const struct wire_probe_cpu *c = h->c.cpu(h->c.context, cpu);

		for (int event = 0; event < HIT_EVENTS; event++) {
			uint64_t lost[LOSS_COUNT] = {0};

			(void)count_hit_losses(h, (enum hit_event)event, cpu, lost);
			for (int reason = 1; reason < LOSS_COUNT; reason++)
				out->lost += lost[reason];
			out->written += h->cpus[cpu].of[event].counts[HIT_WRITTEN];
			out->taken += load_count(&c->stacks[event].taken);
		}
	}
}
