// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps the account of samples for every CPU and rate: due = written + filtered + idle + cut off +
 * losses of samples by reason.
 */
#include "capture/ledger.h"

#include <errno.h>
#include <stdlib.h>

struct rate_ledger { /* the account of one rate on one CPU */
	/*
	 * written: samples passed to the sink, which may not have stored all of them. filtered:
	 * samples left out because of the names of their threads. late: written samples that were
	 * processed out of order.
	 */
	uint64_t written, filtered, late;
	uint64_t lost[LOSS_COUNT]; /* number of lost samples reported to the sink, by reason */
	uint64_t cut_off;
};

struct cpu_ledger {
	uint64_t gone, back; /* ns when the CPU went offline and came back; 0: it did not */
	uint64_t gone_loss; /* id of the loss that reports the absence */
};

struct ledger {
	struct ledger_context c;
	struct cpu_ledger *pages; /* indexed by CPU */
	struct rate_ledger *rates; /* those of a CPU one after the other, in the sampler's order */
	/* lost records that are not samples of a CPU, and the part of them reported to the sink */
	uint64_t lost[LOSS_COUNT];
	uint64_t lost_reported[LOSS_COUNT];
	uint64_t last_loss; /* last loss.id given */
	uint64_t since, now; /* times of the report before the last one, and of the last one, ns */
};

int ledger_new(struct ledger **out, const struct ledger_context *c, struct error *err)
{
	struct ledger *l = calloc(1, sizeof(*l));

	if (l) {
		l->pages = calloc(c->cpus, sizeof(*l->pages));
		l->rates = calloc((size_t)c->cpus * c->rate_count, sizeof(*l->rates));
	}
	if (!l || !l->pages || !l->rates) {
		ledger_free(l);
		return error_errno(err, -ENOMEM, "accounts");
	}
	l->c = *c;
	*out = l;
	return 0;
}

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	free(l->pages);
	free(l->rates);
	free(l);
}

static struct rate_ledger *rate_ledger_of(const struct ledger *l, unsigned int cpu,
					  unsigned int rate)
{
	return &l->rates[cpu * l->c.rate_count + rate];
}

void ledger_count_written(struct ledger *l, unsigned int cpu, unsigned int rate, bool late)
{
	if (cpu >= l->c.cpus || rate >= l->c.rate_count)
		return;
	rate_ledger_of(l, cpu, rate)->written++;
	rate_ledger_of(l, cpu, rate)->late += late;
}

void ledger_count_filtered(struct ledger *l, unsigned int cpu, unsigned int rate)
{
	if (cpu < l->c.cpus && rate < l->c.rate_count)
		rate_ledger_of(l, cpu, rate)->filtered++;
}

void ledger_cpu_gone(struct ledger *l, unsigned int cpu, uint64_t since)
{
	struct cpu_ledger *p;

	if (cpu >= l->c.cpus)
		return;
	p = &l->pages[cpu];
	if (!p->gone)
		p->gone = since;
	p->back = 0;
}

void ledger_cpu_back(struct ledger *l, unsigned int cpu, uint64_t now)
{
	if (cpu < l->c.cpus && l->pages[cpu].gone)
		l->pages[cpu].back = now;
}

uint64_t *ledger_last_loss(struct ledger *l)
{
	return &l->last_loss;
}

void ledger_count_lost(struct ledger *l, enum loss_reason reason, uint64_t count)
{
	l->lost[reason] += count;
}

/*
 * Put a loss since the last report, of which count, reason and, for samples, event, CPU and weight
 * are set. Does nothing if its count is 0.
 */
static int put_lost(struct ledger *l, struct loss r, struct error *err)
{
	r.id = l->last_loss + 1;
	r.host = l->c.host;
	r.time = l->since;
	r.end = l->now;
	if (!r.count)
		return 0;
	l->last_loss++;
	return put_loss(l->c.sink, &r, err);
}

/*
 * Put the loss that reports the absence of a CPU that is or was offline. No sample is due during
 * the absence: the loss has the count 1, and is put again with a later end as long as the CPU is
 * offline.
 */
static int report_cpu_gone(struct ledger *l, unsigned int cpu, struct error *err)
{
	struct cpu_ledger *p = &l->pages[cpu];
	struct loss r = {
		.host = l->c.host,
		.cpu = cpu + 1,
		.reason = LOSS_CPU_GONE,
		.time = p->gone,
		.end = p->back ? p->back : l->now,
		.count = 1,
	};

	if (!p->gone)
		return 0;
	if (!p->gone_loss) {
		p->gone_loss = ++l->last_loss;
		l->lost[LOSS_CPU_GONE]++;
		l->lost_reported[LOSS_CPU_GONE]++;
	}
	r.id = p->gone_loss;
	if (p->back)
		p->gone = p->back = p->gone_loss = 0;
	return put_loss(l->c.sink, &r, err);
}

int ledger_put_suspend(struct ledger *l, uint64_t from, uint64_t to, struct error *err)
{
	const struct loss r = {
		.id = ++l->last_loss,
		.host = l->c.host,
		.reason = LOSS_SUSPENDED,
		.time = from,
		.end = to,
		.count = 1,
	};

	l->lost[LOSS_SUSPENDED]++;
	l->lost_reported[LOSS_SUSPENDED]++;
	return put_loss(l->c.sink, &r, err);
}

/* Store the losses of a CPU so far, counted by BPF programs, sampler and sink, by reason. */
static void count_lost(const struct cpu_account *c, uint64_t not_stored, uint64_t lost[LOSS_COUNT])
{
	lost[LOSS_NOT_STORED] = not_stored;
	lost[LOSS_RING_FULL] = c->ring_full;
	lost[LOSS_STOLEN] = c->stolen;
	lost[LOSS_LATE_TICK] = c->delayed;
	lost[LOSS_SKIPPED] = c->skipped;
}

static uint64_t accounted_samples(const struct account *a, const uint64_t lost[LOSS_COUNT])
{
	uint64_t known = a->written + a->filtered + a->idle;

	for (int reason = 1; reason < LOSS_COUNT; reason++)
		known += lost[reason];
	return known;
}

static int put_rate_losses(struct ledger *l, unsigned int cpu, unsigned int rate,
			   const uint64_t lost[LOSS_COUNT], struct error *err)
{
	const struct ledger_rate *of = &l->c.rates[rate];
	struct rate_ledger *p = rate_ledger_of(l, cpu, rate);
	int ret = 0;

	for (int reason = 1; !ret && reason < LOSS_COUNT; reason++) {
		const struct loss r = {
			.event = of->event,
			.cpu = cpu + 1,
			.reason = (enum loss_reason)reason,
			.count = lost[reason] - p->lost[reason],
			.weight = (lost[reason] - p->lost[reason]) * of->period,
		};

		ret = put_lost(l, r, err);
		p->lost[reason] = lost[reason];
	}
	return ret;
}

/*
 * Return how many late samples to report: not more than were stored by the sink, since it is not
 * known which of the late samples the sink did not store.
 */
static uint64_t late_of(const struct rate_ledger *p, uint64_t not_stored)
{
	uint64_t written = p->written > not_stored ? p->written - not_stored : 0;

	return p->late < written ? p->late : written;
}

static int report_rate(struct ledger *l, unsigned int cpu, unsigned int rate, bool final,
		       struct error *err)
{
	const uint64_t event = l->c.rates[rate].event;
	struct rate_ledger *p = rate_ledger_of(l, cpu, rate);
	uint64_t lost[LOSS_COUNT] = {0};
	uint64_t not_stored = sink_unstored(l->c.sink, KIND_SAMPLE, sample_place(event, cpu));
	struct cpu_account c;
	struct account r;
	int ret;

	sampler_account(l->c.sampler, cpu, rate, &c);
	if (!c.used)
		return 0;
	r = (struct account){
		.event = event,
		.cpu = cpu,
		.due = c.due,
		.written = p->written > not_stored ? p->written - not_stored : 0,
		.filtered = p->filtered + c.filtered,
		.idle = c.idle,
		.late = late_of(p, not_stored),
	};
	count_lost(&c, not_stored, lost);
	if (final) {
		uint64_t known = accounted_samples(&r, lost);

		if (r.due > known + c.cut_most)
			lost[LOSS_NOT_DELIVERED] = r.due - known;
		else
			r.cut_off = r.due > known ? r.due - known : 0;
	}
	p->cut_off = r.cut_off;
	ret = put_rate_losses(l, cpu, rate, lost, err);
	return ret ? ret : put_account(l->c.sink, &r, err);
}

int ledger_report(struct ledger *l, uint64_t now, bool final, struct error *err)
{
	int ret = 0;

	l->since = l->now ? l->now : now;
	l->now = now;
	for (unsigned int cpu = 0; cpu < l->c.cpus; cpu++)
		for (unsigned int rate = 0; !ret && rate < l->c.rate_count; rate++)
			ret = report_rate(l, cpu, rate, final, err);
	for (unsigned int cpu = 0; !ret && cpu < l->c.cpus; cpu++)
		ret = report_cpu_gone(l, cpu, err);
	l->lost[LOSS_SWITCHES_NOT_STORED] =
		sink_unstored(l->c.sink, KIND_SLICE, 0) + sink_unstored(l->c.sink, KIND_EDGE, 0);
	l->lost[LOSS_SPANS_NOT_STORED] =
		sink_unstored(l->c.sink, KIND_SPAN, 0) + sink_unstored(l->c.sink, KIND_COUNTER, 0);
	for (int reason = 1; !ret && reason < LOSS_COUNT; reason++) {
		const struct loss r = {.reason = (enum loss_reason)reason,
				       .count = l->lost[reason] - l->lost_reported[reason]};

		ret = put_lost(l, r, err);
		l->lost_reported[reason] = l->lost[reason];
	}
	return ret;
}

void ledger_progress(const struct ledger *l, uint64_t *filtered, uint64_t *lost)
{
	*filtered = 0;
	*lost = l->lost[LOSS_LIFE_LOST];
	for (unsigned int i = 0; i < l->c.cpus * l->c.rate_count; i++) {
		struct cpu_account c;

		sampler_get_counts(l->c.sampler, i / l->c.rate_count, i % l->c.rate_count, &c);
		*filtered += l->rates[i].filtered + c.filtered;
		*lost += c.ring_full + c.stolen + c.delayed + c.skipped;
	}
}

void ledger_get_summary(const struct ledger *l, struct capture_summary *out)
{
	for (int reason = 1; reason < LOSS_COUNT; reason++)
		out->lost[reason] = l->lost[reason];
	for (unsigned int i = 0; i < l->c.cpus * l->c.rate_count; i++) {
		const struct rate_ledger *p = &l->rates[i];
		struct cpu_account c;

		sampler_account(l->c.sampler, i / l->c.rate_count, i % l->c.rate_count, &c);
		out->samples.due += c.due;
		out->samples.written += p->written - p->lost[LOSS_NOT_STORED];
		out->samples.filtered += p->filtered + c.filtered;
		out->samples.idle += c.idle;
		out->samples.late += late_of(p, p->lost[LOSS_NOT_STORED]);
		out->samples.cut_off += p->cut_off;
		for (int reason = 1; reason < LOSS_COUNT; reason++)
			out->lost[reason] += p->lost[reason];
	}
}
