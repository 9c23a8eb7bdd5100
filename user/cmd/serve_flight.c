// SPDX-License-Identifier: Apache-2.0
/* The flight recorder of skein serve (serve_flight.h). */
#include "cmd/serve_flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "capture/clock.h"

#define RUNTIME_FOLDER "/run/skein"
#define KEEP_MIN NSEC_PER_SEC
#define KEEP_MAX (600 * NSEC_PER_SEC)
#define AFTER_MAX (60 * NSEC_PER_SEC)
#define MEMORY_MIN (1ULL << 20)
#define PAUSE_PARTS (PROBE_PART_GC | PROBE_PART_JVM | PROBE_PART_PYTHON)

int flight_set_events(void *options, const char *value, struct error *err)
{
	return record_events_parse(&((struct flight_prefix *)options)->flight.events, value, err);
}

int flight_set_trigger(void *options, const char *value, struct error *err)
{
	struct trigger t;
	int ret = trigger_parse(&t, value, err);

	if (!ret && vector_push(&((struct flight_prefix *)options)->flight.triggers, t) < 0)
		ret = error_set(err, -ENOMEM, "out of memory");
	return ret;
}

int flight_set_limits(void *options, const char *value, struct error *err)
{
	return trigger_limits_parse(&((struct flight_prefix *)options)->flight.limits, value, err);
}

struct record_events flight_settings_events(const struct flight_settings *f)
{
	struct record_events e = f->events;

	if (!e.given) /* all */
		e.sched = e.waits = true;
	return e;
}

/* Check that the service has what a trigger looks at. */
static int check_trigger(const struct flight_settings *f, const struct trigger *t,
			 const char *no_sums)
{
	const char *words = NULL;
	char shown[TRIGGER_TEXT_SIZE];

	if (t->kind == TRIGGER_RUNQUEUE && !flight_settings_events(f).sched)
		words = "sched or all";
	if (t->kind == TRIGGER_PAUSE && !(f->events.parts & PAUSE_PARTS))
		words = "gc, jvm, python or runtime";
	if (words)
		return log_error(2, "serve: the trigger %s needs --keep-events with %s",
				 trigger_show(t, shown, sizeof(shown)), words);
	if (t->kind == TRIGGER_SERVICE_CPU && no_sums)
		return log_error(2,
				 "serve: the trigger %s needs the sums of control groups, which "
				 "are off: %s",
				 trigger_show(t, shown, sizeof(shown)), no_sums);
	return 0;
}

int flight_settings_check(const struct flight_settings *f, const char *no_sums)
{
	int ret = 0;

	if (!f->keep && (f->triggers.count || f->events.given))
		return log_error(2, "serve: --trigger and --keep-events need --keep");
	if (!f->keep)
		return 0;
	if (f->keep < KEEP_MIN || f->keep > KEEP_MAX)
		return log_error(2, "serve: --keep is 1s to 10m, or 0");
	if (f->after > AFTER_MAX)
		return log_error(2, "serve: --after is at most 1m");
	if (f->memory < MEMORY_MIN)
		return log_error(2, "serve: --keep-memory is at least 1M");
	for (size_t i = 0; i < f->triggers.count && !ret; i++)
		ret = check_trigger(f, &f->triggers.items[i], no_sums);
	return ret;
}

void flight_settings_print(const struct flight_settings *f)
{
	char keep[32], after[32], memory[32], shown[TRIGGER_TEXT_SIZE];

	if (!f->keep)
		return;
	printf("flight recorder: the last %s and %s more, in %s, on SIGUSR1",
	       show_duration(f->keep, keep, sizeof(keep)),
	       show_duration(f->after, after, sizeof(after)),
	       show_bytes(f->memory, memory, sizeof(memory)));
	for (size_t i = 0; i < f->triggers.count; i++)
		printf(", %s", trigger_show(&f->triggers.items[i], shown, sizeof(shown)));
	printf("\n");
}

void flight_settings_free(struct flight_settings *f)
{
	record_events_free(&f->events);
	vector_free(&f->triggers);
}

static bool equal_triggers(const trigger_list *a, const trigger_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].kind != b->items[i].kind ||
		    a->items[i].limit != b->items[i].limit ||
		    a->items[i].time != b->items[i].time ||
		    strcmp(a->items[i].service, b->items[i].service) != 0)
			return false;
	return true;
}

static bool equal_limits(const struct trigger_limits *a, const struct trigger_limits *b)
{
	if (a->count != b->count)
		return false;
	for (unsigned int i = 0; i < a->count; i++)
		if (a->rates[i].count != b->rates[i].count || a->rates[i].time != b->rates[i].time)
			return false;
	return true;
}

bool flight_settings_equal(const char *name, const struct flight_settings *a,
			   const struct flight_settings *b)
{
	if (!strcmp(name, "trigger"))
		return equal_triggers(&a->triggers, &b->triggers);
	if (!strcmp(name, "trigger-limit"))
		return equal_limits(&a->limits, &b->limits);
	return record_events_equal(&a->events, &b->events);
}

struct flight_given flight_settings_given(const struct flight_settings *f)
{
	return (struct flight_given){f->events.given, f->triggers.count};
}

void flight_settings_drop(struct flight_settings *f, struct flight_given given)
{
	if (given.triggers)
		vector_free(&f->triggers);
	if (!given.events)
		return;
	record_events_free(&f->events);
	f->events = (struct record_events){.interrupt_min = RECORD_UNSET};
}

/*
 * The first of a unit's runtime folders, between which there are colons, or the default. With
 * DynamicUser=yes it is a link that root made, which SQLite does not follow.
 */
static void choose_runtime_folder(char *out, size_t size)
{
	const char *unit = getenv("RUNTIME_DIRECTORY");
	char *real;

	if (unit && unit[0] == '/')
		snprintf(out, size, "%.*s", (int)strcspn(unit, ":"), unit);
	else
		snprintf(out, size, "%s", RUNTIME_FOLDER);
	real = realpath(out, NULL);
	if (real)
		snprintf(out, size, "%s", real);
	free(real);
}

int serve_flight_open(struct serve_flight *s, const struct flight_settings *f,
		      const struct window_options *windows, struct sink **out, struct error *err)
{
	const struct record_events events = flight_settings_events(f);
	const struct flight_options o = {
		.folder = windows->folder,
		.ring = s->ring,
		.keep = f->keep,
		.after = f->after,
		.memory = f->memory,
		.budget = windows->budget,
		.records = serve_events_choice(&events),
		.triggers = &f->triggers,
		.limits = f->limits,
	};
	char runtime[PATH_MAX];
	int ret;

	choose_runtime_folder(runtime, sizeof(runtime));
	flight_ring_remove(runtime, windows->folder);
	if (!f->keep)
		return 0;
	ret = flight_ring_prepare(s->ring, runtime, windows->folder, err);
	if (!ret)
		ret = flight_new(&s->flight, *out, &o, err);
	if (ret)
		return ret;
	s->triggers = &f->triggers;
	*out = flight_sink(s->flight);
	if (!flight_ring_in_memory(s->ring))
		log_warn("serve: the flight recorder keeps its part on a disk: %s is not in memory",
			 runtime);
	return 0;
}

void serve_flight_close(struct serve_flight *s)
{
	if (!s->flight)
		return;
	serve_flight_poll(s); /* log what the end of the recording has written */
	sink_free(flight_sink(s->flight));
	s->flight = NULL;
	unlink(s->ring);
	*strrchr(s->ring, '/') = '\0';
	rmdir(s->ring);
}

static void log_flight_problems(struct serve_flight *s, const struct flight_counts *c)
{
	if (c->failed != s->seen.failed)
		log_warn("serve: the flight recorder: %s", c->problem);
	if (c->off && !s->seen.off)
		log_warn("serve: the flight recorder is off until the service is started again");
	if (c->written != s->seen.written)
		s->suppressed = false;
	if (c->suppressed != s->seen.suppressed && !s->suppressed) {
		log_warn("serve: the trigger %s was met, but --trigger-limit allows no further "
			 "trace now; more of them are only counted (%llu so far)",
			 c->refused, (unsigned long long)c->suppressed);
		s->suppressed = true;
	}
}

void serve_flight_poll(struct serve_flight *s)
{
	struct flight_counts c;

	if (!s->flight)
		return;
	flight_poll(s->flight);
	flight_get_counts(s->flight, &c);
	if (c.written != s->seen.written)
		log_info("serve: the trigger %s was met, the trace is %s", c.condition, c.last);
	log_flight_problems(s, &c);
	s->seen = c;
}

void serve_flight_lacks_sums(struct serve_flight *s)
{
	char shown[TRIGGER_TEXT_SIZE];

	for (size_t i = 0; s->flight && !s->without_sums && i < s->triggers->count; i++) {
		const struct trigger *t = &s->triggers->items[i];

		if (t->kind != TRIGGER_SERVICE_CPU)
			continue;
		log_warn("serve: the trigger %s is never met: only a part of the machine is "
			 "recorded here, so there are no sums of control groups",
			 trigger_show(t, shown, sizeof(shown)));
		s->without_sums = true;
	}
}

void serve_flight_signal(struct serve_flight *s)
{
	if (!s->flight)
		log_warn("serve: SIGUSR1 has no effect without --keep");
	else if (flight_trigger(s->flight, TRIGGER_SIGNAL) == -EIO)
		log_warn("serve: SIGUSR1 has no effect, the flight recorder is off");
}

bool serve_flight_wants_open_waits(struct serve_flight *s)
{
	return s->flight && flight_wants_open_waits(s->flight);
}
