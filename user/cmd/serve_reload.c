// SPDX-License-Identifier: Apache-2.0
/* The configuration of a running service is read again (serve.h). */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "capture/clock.h"
#include "cmd/commands.h"
#include "cmd/serve.h"
#include "serve/window_sink.h"

#define NSEC_PER_USEC 1000ULL

/* Options that change in a running service. */
static bool changes_at_once(const char *name)
{
	return !strcmp(name, "window") || !strcmp(name, "disk") || !strcmp(name, "age");
}

static bool equal_texts(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool equal_lists(const number_list *a, const number_list *b)
{
	return a->count == b->count &&
	       (!a->count || !memcmp(a->items, b->items, a->count * sizeof(a->items[0])));
}

/* Compare an option of which the table has only a function that sets it. */
static bool equal_called(const char *name, const struct serve_options *a,
			 const struct serve_options *b)
{
	if (!strcmp(name, "pid"))
		return equal_lists(&a->targets.pids, &b->targets.pids);
	if (!strcmp(name, "tid"))
		return equal_lists(&a->targets.tids, &b->targets.tids);
	if (!strcmp(name, "freq"))
		return a->targets.frequency == b->targets.frequency;
	if (!strcmp(name, "events"))
		return record_events_equal(&a->events, &b->events);
	return flight_settings_equal(name, &a->flight, &b->flight);
}

static bool equal_options(const struct option_spec *o, const struct serve_options *a,
			  const struct serve_options *b)
{
	const char *x = (const char *)a + o->offset, *y = (const char *)b + o->offset;

	switch (o->type) {
	case OPTION_HEADING:
		return true;
	case OPTION_FLAG:
		return *(const bool *)x == *(const bool *)y;
	case OPTION_TEXT:
	case OPTION_OPTIONAL:
		return equal_texts(*(const char *const *)x, *(const char *const *)y);
	case OPTION_CALL:
		return equal_called(o->name, a, b);
	default:
		return *(const uint64_t *)x == *(const uint64_t *)y;
	}
}

/* Warn of options that differ and do not change in a running service. */
static void warn_of_restart(const struct serve_options *now, const struct serve_options *wanted)
{
	char names[512] = "";
	size_t length = 0;

	for (const struct option_spec *o = serve_command.options; o->name; o++) {
		if (changes_at_once(o->name) || equal_options(o, now, wanted))
			continue;
		snprintf(names + length, sizeof(names) - length, "%s%s", length ? ", " : "",
			 o->name);
		length = strlen(names);
	}
	if (length)
		log_warn("serve: a change of %s needs a restart of the service", names);
}

/* Notify systemd that the configuration is being read, by sd_notify(3), or that it was. */
static void notify_reload(const struct notifier *n, bool begins)
{
	char text[64];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%llu",
		 (unsigned long long)(clock_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC));
	notifier_send(n, begins ? text : "READY=1");
}

static void change_windows(struct serve_options *o, const struct serve_options *wanted,
			   struct sink *windows)
{
	const struct window_budget budget = {wanted->disk, wanted->age / NSEC_PER_SEC};
	char window[32], disk[32], age[32];

	o->window = wanted->window;
	o->disk = wanted->disk;
	o->age = wanted->age;
	window_sink_change(windows, o->window, &budget);
	log_info("serve: the configuration was read again: windows of %s, at most %s and %s",
		 show_duration(o->window, window, sizeof(window)),
		 o->disk ? show_bytes(o->disk, disk, sizeof(disk)) : "any size",
		 o->age ? show_duration(o->age, age, sizeof(age)) : "any age");
}

void serve_reload(struct serve_options *o, const struct serve_source *from, struct sink *windows,
		  const struct notifier *n)
{
	struct serve_source again = {.argc = from->argc, .argv = from->argv};
	struct serve_options wanted;

	notify_reload(n, true);
	if (serve_options_read(&wanted, &again)) {
		log_warn("serve: the configuration is wrong and was not taken over");
	} else {
		warn_of_restart(o, &wanted);
		change_windows(o, &wanted, windows);
	}
	serve_options_free(&wanted, &again);
	notify_reload(n, false);
}
