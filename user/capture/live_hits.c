// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of hits of probes: samples of events of their own, whose weights count hits. They are
 * taken while the recording runs, by the programs for JVMs (bpf/hit_stack.h).
 */
#include <stdlib.h>
#include <string.h>

#include "capture/live.h"

static const struct wire_probe_cpu *cpu_of_hits(const void *context, unsigned int cpu)
{
	return probes_cpu(context, cpu);
}

bool live_wants_hits(const struct live *l)
{
	const unsigned int parts = l->options.probes.parts;

	return !l->options.kernel_only && (probe_parts_have_stacks(parts, HIT_EXCEPTION) ||
					   probe_parts_have_stacks(parts, HIT_ALLOCATION));
}

/* Have the trace say that none are taken. */
static void note_no_hits(struct live *l)
{
	char *text = strdup("no stacks of exceptions and allocations: they need bpf_loop(), which "
			    "Linux 5.17 and later have");

	if (text && vector_push(&l->probes.described, text) < 0)
		free(text);
	l->summary.probed.no_stacks = true;
}

int live_begin_hits(struct live *l, struct error *err)
{
	const struct hit_stacks_context c = {
		.cpu = cpu_of_hits,
		.context = l->probes.attached,
		.cpus = program_cpus(l->program),
		.sink = l->sink,
		.host = HOST_ID,
		.events = {EXCEPTIONS_EVENT_ID, ALLOCATIONS_EVENT_ID},
		.last_loss = ledger_last_loss(l->ledger),
	};

	if (live_wants_hits(l) && !l->probes.stacks)
		note_no_hits(l);
	return l->probes.stacks ? hit_stacks_new(&l->probes.hits, &c, err) : 0;
}

int live_describe_hits(struct live *l, struct error *err)
{
	int ret = 0;

	for (int event = 0; !ret && l->probes.hits && event < HIT_EVENTS; event++) {
		const struct event e = {
			.id = EXCEPTIONS_EVENT_ID + (uint64_t)event,
			.host = HOST_ID,
			.name = hit_event_name((enum hit_event)event),
			.unit = "count",
			.period = 1,
		};

		if (probe_parts_have_stacks(l->options.probes.parts, (enum hit_event)event))
			ret = put_event(l->sink, &e, err);
	}
	return ret;
}

void live_follow_hits(struct live *l, bool wanted)
{
	if (l->probes.hits)
		probes_take_stacks(l->probes.attached, wanted);
}

static const struct wire_hit *hit_of(const struct wire_sample *s)
{
	return (const void *)(s + 1);
}

bool live_is_hit(const struct wire_sample *s, uint32_t size)
{
	return size >= sizeof(*s) + sizeof(struct wire_hit) && hit_of(s)->event < HIT_EVENTS;
}

bool live_describe_hit(struct live *l, const struct wire_sample *s, struct sample *r)
{
	const struct wire_hit *hit = hit_of(s);

	if (!live_is_recorded(l, s->time)) {
		live_count_hit(l, s, HIT_CUT_OFF);
		return false;
	}
	r->event = EXCEPTIONS_EVENT_ID + hit->event;
	r->weight = hit->weight;
	return true;
}

void live_count_hit(struct live *l, const struct wire_sample *s, enum hit_outcome outcome)
{
	hit_stacks_count(l->probes.hits, (enum hit_event)hit_of(s)->event, s->cpu, outcome);
}

void live_count_written_hit(struct live *l, const struct sample *r)
{
	hit_stacks_count(l->probes.hits, (enum hit_event)(r->event - EXCEPTIONS_EVENT_ID),
			 (unsigned int)r->cpu, HIT_WRITTEN);
}

int live_report_hits(struct live *l, uint64_t now, bool final, struct error *err)
{
	return l->probes.hits ? hit_stacks_report(l->probes.hits, now, final, err) : 0;
}
