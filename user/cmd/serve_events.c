// SPDX-License-Identifier: Apache-2.0
/* What 'skein serve' records (serve_events.h). */
#include "cmd/serve_events.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

static int check_sampled_event(const char *option, const struct record_events *e)
{
	if (!e->event || !strcmp(e->event, "cpu-clock"))
		return 0;
	return log_error(2, "serve: %s cannot have %s: windows have samples of cpu-clock", option,
			 e->event);
}

int serve_events_check(const struct record_events *windows, const struct record_events *flights)
{
	struct record_events both;
	int status = check_sampled_event("--events", windows);

	if (!status)
		status = check_sampled_event("--keep-events", flights);
	if (!status && !record_events_join(&both, windows, flights))
		return log_error(2, "serve: --events and --keep-events have too many probes");
	return status;
}

struct record_choice serve_events_choice(const struct record_events *e)
{
	return (struct record_choice){
		.sched = e->sched,
		.waits = e->waits,
		.interrupts = e->interrupts,
		.probes = e->parts || e->user_probes.count,
	};
}

void serve_events_apply(const struct record_events *windows, const struct record_events *flights,
			struct record_events *both, struct capture_options *o)
{
	if (flights)
		(void)record_events_join(both, windows, flights);
	else
		*both = *windows;
	o->sched = both->sched;
	o->waits = record_events_waits(both);
	o->probes = record_events_probes(both);
	o->probes.interrupts.parts = true;
}

void serve_events_print(const struct record_events *windows)
{
	const struct {
		bool given;
		const char *text;
	} parts[] = {{windows->sched, "scheduler records"},
		     {windows->waits, "stacks of waits"},
		     {windows->interrupts, "interrupts"},
		     {windows->parts, "events of runtimes"},
		     {windows->user_probes.count, "probes"}};
	const char *before = "windows also have ";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].given)
			continue;
		printf("%s%s", before, parts[i].text);
		before = ", ";
	}
	printf("%s", before[0] == ',' ? "\n" : "");
}
