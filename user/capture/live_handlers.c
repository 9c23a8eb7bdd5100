// SPDX-License-Identifier: Apache-2.0
/* Puts spans and sums of what served interrupts on the CPUs. */
#include <errno.h>
#include <stdlib.h>

#include "capture/live.h"

int live_handlers_load(struct live *l, struct error *err)
{
	struct live_handlers *h = &l->probes.handlers;
	unsigned int cpus = program_cpus(l->program);

	if (!l->options.probes.interrupts.wanted)
		return 0;
	h->lanes = calloc(cpus, sizeof(*h->lanes));
	h->put = calloc(cpus, sizeof(*h->put));
	if (!h->lanes || !h->put)
		return error_errno(err, -ENOMEM, "interrupts");
	return handlers_load(&h->attached, l->rings.order, cpus, l->options.probes.interrupts.least,
			     err);
}

void live_handlers_free(struct live *l)
{
	handlers_free(l->probes.handlers.attached);
	free(l->probes.handlers.lanes);
	free(l->probes.handlers.put);
}

int live_handlers_attach(struct live *l, struct error *err)
{
	return l->probes.handlers.attached ? handlers_attach(l->probes.handlers.attached, err) : 0;
}

int live_handlers_drain(struct live *l, uint64_t now)
{
	return l->probes.handlers.attached ? handlers_drain(l->probes.handlers.attached, now) : 0;
}

void live_handlers_follow(struct live *l, unsigned int cpu, bool wanted)
{
	if (l->probes.handlers.attached)
		handlers_set_wanted(l->probes.handlers.attached, cpu, wanted);
}

/* Names are put again for the records that follow. */
void live_handlers_forget(struct live *l)
{
	for (uint32_t slot = 0; slot < WIRE_HANDLERS; slot++)
		l->probes.handlers.names[slot] = 0;
}

/* Emit the lane of a CPU's handlers, below the CPU's, unless it has one. */
static int need_handlers_lane(struct live *l, unsigned int cpu, struct error *err)
{
	uint64_t *lane = &l->probes.handlers.lanes[cpu];
	char name[48];
	struct lane made = {.host = HOST_ID, .kind = LANE_HANDLERS, .number = cpu, .name = name};
	int ret = 0;

	if (*lane)
		return 0;
	if (l->switches.schedule && l->options.sched)
		ret = schedule_cpu_lane(l->switches.schedule, cpu, &made.parent, err);
	if (ret)
		return ret;
	snprintf(name, sizeof(name), "interrupts of CPU %u", cpu);
	made.id = l->switches.last_lane + 1;
	ret = put_lane(l->sink, &made, err);
	if (!ret)
		l->switches.last_lane = *lane = made.id;
	return ret;
}

/* Put the name of a slot, unless it was put. */
static int need_handler_name(struct live *l, uint32_t slot, uint64_t *out, struct error *err)
{
	char text[HANDLERS_NAME];
	struct name name = {.id = l->probes.last_name + 1,
			    .text = handlers_name(l->probes.handlers.attached, slot, text)};
	int ret = 0;

	if (!l->probes.handlers.names[slot]) {
		ret = put_name(l->sink, &name, err);
		if (ret)
			return ret;
		l->probes.last_name = l->probes.handlers.names[slot] = name.id;
	}
	*out = l->probes.handlers.names[slot];
	return 0;
}

int live_handlers_record(struct live *l, const struct ordered_record *r, struct error *err)
{
	const struct wire_handled *w = r->data;
	struct span span = {.time = w->time,
			    .end = w->end,
			    .kind = w->slot < WIRE_VECTORS ? SPAN_SOFTIRQ : SPAN_INTERRUPT,
			    .origin = ORIGIN_KERNEL};
	int ret;

	if (w->cpu >= program_cpus(l->program) || w->slot >= WIRE_HANDLERS || w->time > w->end) {
		ledger_count_lost(l->ledger, LOSS_BAD_RECORD, 1);
		return 0;
	}
	ret = need_handlers_lane(l, w->cpu, err);
	if (!ret)
		ret = need_handler_name(l, w->slot, &span.name, err);
	span.lane = l->probes.handlers.lanes[w->cpu];
	return ret ? ret : put_span(l->sink, &span, err);
}

/*
 * Read the sums of a slot of a CPU, since the recording began. before: what was put of them; the
 * longest run is the longer of that one and of those since.
 */
static struct handler read_handler_sums(struct live *l, unsigned int cpu, uint32_t slot,
					const struct handler_sums_put *before)
{
	struct handlers *h = l->probes.handlers.attached;
	const struct wire_handler *w = &handlers_cpu(h, cpu)->slots[slot];
	struct handler sums = {
		.number = slot,
		.kind = slot < WIRE_VECTORS ? SPAN_SOFTIRQ : SPAN_INTERRUPT,
		.count = __atomic_load_n(&w->count, __ATOMIC_RELAXED),
		.time = __atomic_load_n(&w->time, __ATOMIC_RELAXED),
		.without = __atomic_load_n(&w->lost, __ATOMIC_RELAXED),
	};

	if (sums.count != before->count)
		sums.longest = handlers_take_longest(h, cpu, slot);
	if (sums.longest < before->longest)
		sums.longest = before->longest;
	return sums;
}

/* Put the sums of a slot of a CPU if they have changed, and add what was lost to *lost. */
static int put_handler_sums(struct live *l, unsigned int cpu, uint32_t slot, uint64_t *lost,
			    struct error *err)
{
	struct handler_sums_put *put = &l->probes.handlers.put[cpu][slot], next;
	struct handler sums = read_handler_sums(l, cpu, slot, put);
	char name[HANDLERS_NAME];
	int ret;

	*lost += sums.without;
	if (sums.count == put->count)
		return 0;
	ret = need_handlers_lane(l, cpu, err);
	if (ret)
		return ret;
	next = (struct handler_sums_put){sums.count, sums.time, sums.longest, sums.without};
	if (l->options.probes.interrupts.parts) {
		next.longest = 0;
		sums.count -= put->count;
		sums.time -= put->time;
		sums.without -= put->without;
	}
	sums.lane = l->probes.handlers.lanes[cpu];
	sums.name = handlers_name(l->probes.handlers.attached, slot, name);
	ret = put_handler(l->sink, &sums, err);
	if (!ret)
		*put = next;
	return ret;
}

int live_handlers_tick(struct live *l, struct error *err)
{
	struct live_handlers *h = &l->probes.handlers;
	uint64_t lost = 0, unpaired = 0;
	int ret = 0;

	if (!h->attached)
		return 0;
	for (uint32_t slot = 0; slot < WIRE_HANDLERS && !ret; slot++) {
		if (!handlers_uses_slot(h->attached, slot))
			continue;
		for (unsigned int cpu = 0; cpu < program_cpus(l->program) && !ret; cpu++)
			ret = put_handler_sums(l, cpu, slot, &lost, err);
	}
	for (unsigned int cpu = 0; cpu < program_cpus(l->program); cpu++)
		unpaired += handlers_cpu(h->attached, cpu)->unpaired;
	if (ret)
		return ret;
	ledger_count_lost(l->ledger, LOSS_INTERRUPTS_LOST, lost - h->lost);
	ledger_count_lost(l->ledger, LOSS_UNPAIRED, unpaired - h->unpaired);
	h->lost = lost;
	h->unpaired = unpaired;
	return 0;
}
