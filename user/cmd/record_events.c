// SPDX-License-Identifier: Apache-2.0
/* What a recording records: the words of -e. */
#include "cmd/record_events.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "capture/clock.h"

#define WAIT_PERIOD_MAX (4 * NSEC_PER_SEC) /* maximum of --off-cpu-period */

static const struct event_word {
	const char *word, *event; /* event is the sampled event, NULL if none */
	bool sched, waits;
} event_words[] = {
	{"cpu", "cpu-clock", false, false}, {"cpu-clock", "cpu-clock", false, false},
	{"cycles", "cycles", false, false}, {"sched", NULL, true, false},
	{"off-cpu", NULL, true, true},	    {"all", "cpu-clock", true, true},
	{NULL, NULL, false, false},
};

const char *record_events_word(unsigned int index)
{
	return event_words[index].word;
}

/* Parse one word of -e, of the given size in bytes. */
static int parse_event_word(struct record_events *o, const char *word, size_t size,
			    struct error *err)
{
	for (const struct event_word *w = event_words; w->word; w++) {
		if (strlen(w->word) != size || strncmp(w->word, word, size))
			continue;
		if (w->event)
			o->event = w->event;
		o->sample |= w->event != NULL;
		o->sched |= w->sched;
		o->waits |= w->waits;
		o->waits_needed |= w->waits && !w->event;
		return 0;
	}
	return error_set(err, -EINVAL,
			 "there is no event '%.*s'; there are cpu, cycles, sched, off-cpu and all",
			 (int)size, word);
}

int record_events_parse(struct record_events *o, const char *value, struct error *err)
{
	const char *at = value;
	int ret;

	do {
		size_t size = strcspn(at, ",");

		ret = parse_event_word(o, at, size, err);
		at += size;
	} while (!ret && *at++);
	return ret;
}

int record_events_check(const struct record_events *o)
{
	if ((o->wait_period || o->all_stacks) && !o->waits)
		return log_error(2, "record: --off-cpu-period and --all-stacks need -e off-cpu");
	if (o->wait_period && o->all_stacks)
		return log_error(2, "record: --off-cpu-period and --all-stacks exclude each other");
	if (o->wait_period > WAIT_PERIOD_MAX)
		return log_error(2, "record: --off-cpu-period is at most 4s");
	return 0;
}

struct capture_waits record_events_waits(const struct record_events *o)
{
	return (struct capture_waits){
		.stacks = o->waits,
		.optional = !o->waits_needed,
		.all = o->all_stacks,
		.period = o->wait_period ? o->wait_period : CAPTURE_WAIT_PERIOD,
	};
}
