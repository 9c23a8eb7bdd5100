// SPDX-License-Identifier: Apache-2.0
/* Turns readings of a JVM's counters into quantities, and counts its collections. */
#include "capture/jvm_counters.h"

#include <stdio.h>
#include <string.h>

#include "capture/clock.h"

/* The JVM's text for the time between collections: GCCause::to_string(_no_gc). */
#define NO_COLLECTION "No GC"

/* Members of a reading that are times, in ticks. */
#define COUNTER_BIT(NAME) (1ull << HOTSPOT_COUNTER_##NAME)
#define TICK_COUNTERS \
	(COUNTER_BIT(SAFEPOINT_TIME) | COUNTER_BIT(SYNC_TIME) | COUNTER_BIT(APPLICATION_TIME))

/* One call of jvm_counters_take(). */
struct taking {
	const struct jvm_reading *before;
	const struct hotspot_perf *now;
	jvm_counters_fn *each;
	void *context;
	int status; /* the first error of each */
};

static int64_t ticks_to_ns(const struct hotspot_perf *p, uint64_t ticks)
{
	uint64_t frequency = p->values[HOTSPOT_COUNTER_FREQUENCY];

	if (!frequency)
		frequency = NSEC_PER_SEC;
	return (int64_t)((unsigned __int128)ticks * NSEC_PER_SEC / frequency);
}

/* Pass a quantity if it has changed, or if this is the first reading. */
static void pass(struct taking *t, const char *quantity, int64_t before, int64_t now)
{
	if (!t->status && (!t->before->time || before != now))
		t->status = t->each(t->context, quantity, now);
}

static void take_values(struct taking *t)
{
	for (unsigned int i = 0; i < HOTSPOT_COUNTER_COUNT; i++) {
		const char *quantity = hotspot_counter_quantity(i);
		uint64_t before = t->before->perf.values[i], now = t->now->values[i];

		if (!(t->now->present >> i & 1) || !*quantity)
			continue;
		if (TICK_COUNTERS >> i & 1)
			pass(t, quantity, ticks_to_ns(t->now, before), ticks_to_ns(t->now, now));
		else
			pass(t, quantity, (int64_t)before, (int64_t)now);
	}
}

static void take_generations(struct taking *t)
{
	int64_t used[2] = {0}, capacity[2] = {0};
	char quantity[HOTSPOT_PERF_TEXT_MAX + 32];
	bool any = false;

	for (int i = 0; i < HOTSPOT_GENERATIONS_MAX; i++) {
		const struct hotspot_generation *before = &t->before->perf.generations[i];
		const struct hotspot_generation *now = &t->now->generations[i];

		if (!*now->name)
			continue;
		any = true;
		used[0] += (int64_t)before->used;
		used[1] += (int64_t)now->used;
		capacity[0] += (int64_t)before->capacity;
		capacity[1] += (int64_t)now->capacity;
		snprintf(quantity, sizeof(quantity), "heap %s used", now->name);
		pass(t, quantity, (int64_t)before->used, (int64_t)now->used);
		snprintf(quantity, sizeof(quantity), "heap %s capacity", now->name);
		pass(t, quantity, (int64_t)before->capacity, (int64_t)now->capacity);
	}
	if (any) {
		pass(t, "heap used", used[0], used[1]);
		pass(t, "heap capacity", capacity[0], capacity[1]);
	}
}

static void take_collectors(struct taking *t)
{
	char quantity[HOTSPOT_PERF_TEXT_MAX + 32];

	for (int i = 0; i < HOTSPOT_COLLECTORS_MAX; i++) {
		const struct hotspot_collector *before = &t->before->perf.collectors[i];
		const struct hotspot_collector *now = &t->now->collectors[i];

		if (!*now->name)
			continue;
		snprintf(quantity, sizeof(quantity), "number of %s", now->name);
		pass(t, quantity, (int64_t)before->invocations, (int64_t)now->invocations);
		snprintf(quantity, sizeof(quantity), "time in %s", now->name);
		pass(t, quantity, ticks_to_ns(t->now, before->time),
		     ticks_to_ns(t->now, now->time));
	}
}

int jvm_counters_take(struct jvm_counters *c, const struct jvm_reading *reading,
		      jvm_counters_fn *each, void *context)
{
	struct taking t = {
		.before = &c->now, .now = &reading->perf, .each = each, .context = context};

	take_values(&t);
	take_generations(&t);
	take_collectors(&t);
	c->now = *reading;
	if (!c->begin.time)
		c->begin = *reading;
	if (!strcmp(reading->perf.cause, NO_COLLECTION)) {
		c->quiet = *reading;
		if (!c->quiet_begin.time)
			c->quiet_begin = *reading;
	}
	return t.status;
}

/* Spans that counters of a JVM count, together. */
struct counted {
	const char *counters[2];
	const char *manager; /* of the collections; NULL: any */
	unsigned int kinds;
	/* it counts while the span goes on, so that a reading need not be between collections */
	bool inside;
};

/*
 * Compared with the JVM's own log and with its code on JDK 17, 21 and 25; docs/java.md has the
 * results. ZGC counts each pause for one of two counters, and not always for that of its
 * generation. Shenandoah has one counter, for cycles, pauses and most phases: it counts no more
 * than these. The pauses of G1's concurrent cycle are counted before their span begins, in a time
 * without a cause.
 */
static const struct counted counted[] = {
	{{"Serial young collection pauses"}, "Copy", 1 << SPAN_COLLECTION, false},
	{{"Serial full collection pauses"}, "MarkSweepCompact", 1 << SPAN_COLLECTION, false},
	{{"Parallel young collection pauses"}, "PS Scavenge", 1 << SPAN_COLLECTION, false},
	{{"Parallel full collection pauses"}, "PS MarkSweep", 1 << SPAN_COLLECTION, false},
	{{"G1 young collection pauses"}, "G1 Young Generation", 1 << SPAN_COLLECTION, false},
	{{"G1 full collection pauses"}, "G1 Old Generation", 1 << SPAN_COLLECTION, false},
	{{"Z concurrent cycle pauses"}, NULL, 1 << SPAN_PAUSE, true},
	{{"ZGC minor collection pauses", "ZGC major collection pauses"},
	 NULL,
	 1 << SPAN_PAUSE,
	 true},
	{{"Shenandoah full"},
	 NULL,
	 1 << SPAN_COLLECTION | 1 << SPAN_PAUSE | 1 << SPAN_PHASE,
	 false},
};

static bool is_counter_of(const struct counted *of, const struct hotspot_collector *c)
{
	return !strcmp(c->name, of->counters[0]) ||
	       (of->counters[1] && !strcmp(c->name, of->counters[1]));
}

/* Return how much the counters have grown from one reading to another. */
static uint64_t growth(const struct counted *of, const struct jvm_reading *from,
		       const struct jvm_reading *to)
{
	uint64_t sum = 0;

	for (int i = 0; i < HOTSPOT_COLLECTORS_MAX; i++) {
		const struct hotspot_collector *c = &to->perf.collectors[i];
		uint64_t before = from->perf.collectors[i].invocations;

		if (is_counter_of(of, c) && c->invocations > before)
			sum += c->invocations - before;
	}
	return sum;
}

uint64_t jvm_counters_not_seen(const struct jvm_counters *c, const struct runtime_events *r,
			       const struct process_entry *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(counted) / sizeof(*counted); i++) {
		const struct counted *of = &counted[i];
		const struct jvm_reading *from = of->inside ? &c->begin : &c->quiet_begin;
		const struct jvm_reading *to = of->inside ? &c->now : &c->quiet;
		const struct runtime_counted which = {of->kinds, of->manager, from->time,
						      to->until};
		uint64_t grown = growth(of, from, to), recorded;

		if (!grown)
			continue;
		recorded = runtime_events_counted(r, p, &which);
		sum += recorded < grown ? grown - recorded : 0;
	}
	return sum;
}
