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

int jvm_counters_take(struct jvm_counters *c, const struct hotspot_perf *p, uint64_t time,
		      jvm_counters_fn *each, void *context)
{
	struct taking t = {.before = &c->now, .now = p, .each = each, .context = context};

	take_values(&t);
	take_generations(&t);
	take_collectors(&t);
	c->now = (struct jvm_reading){.perf = *p, .time = time};
	if (!strcmp(p->cause, NO_COLLECTION)) {
		c->last = c->now;
		if (!c->first.time)
			c->first = c->now;
	}
	return t.status;
}

/*
 * Counters that were compared with the JVM's own log on JDK 17, 21 and 25. Those of Shenandoah, and
 * of the pauses of G1's concurrent cycle, count something else than collections.
 */
static const struct {
	const char *counter, *manager;
} managers[] = {
	{"Serial young collection pauses", "Copy"},
	{"Serial full collection pauses", "MarkSweepCompact"},
	{"Parallel young collection pauses", "PS Scavenge"},
	{"Parallel full collection pauses", "PS MarkSweep"},
	{"G1 young collection pauses", "G1 Young Generation"},
	{"G1 full collection pauses", "G1 Old Generation"},
};

const char *jvm_counters_manager(const struct hotspot_collector *c)
{
	for (size_t i = 0; i < sizeof(managers) / sizeof(*managers); i++) {
		if (!strcmp(managers[i].counter, c->name))
			return managers[i].manager;
	}
	return NULL;
}

uint64_t jvm_counters_collections(const struct jvm_counters *c, unsigned int collector)
{
	uint64_t first = c->first.perf.collectors[collector].invocations;
	uint64_t last = c->last.perf.collectors[collector].invocations;

	return c->first.time && last > first ? last - first : 0;
}
