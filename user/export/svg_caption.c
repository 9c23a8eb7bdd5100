// SPDX-License-Identifier: Apache-2.0
/* Write the lines of a picture about its recording. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analyze/broken.h"
#include "analyze/groups.h"
#include "analyze/subject.h"
#include "base/text.h"
#include "base/units.h"
#include "export/roots.h"
#include "export/svg.h"

/* The time is in UTC, so that a picture does not depend on the time zone in which it is made. */
void svg_show_host(const struct profile *p, char buf[static SVG_LINE])
{
	const struct host *h = &p->host;
	time_t start = (time_t)((int64_t)(h->start + h->realtime_offset) / 1000000000);
	char when[64] = "", of[SUBJECT_SIZE];
	struct tm tm;

	if (gmtime_r(&start, &tm))
		strftime(when, sizeof(when), ", %Y-%m-%d %H:%M:%S UTC", &tm);
	profile_subject(p, of);
	snprintf(buf, SVG_LINE, "%.128s%s%.128s%s, Linux %.64s %.32s, %" PRIu64 " CPU%s", of,
		 *of ? " on " : "", *h->hostname ? h->hostname : "unknown host", when, h->kernel,
		 h->arch, h->cpus, h->cpus == 1 ? "" : "s");
}

/*
 * Write " of cpu-clock at 99 Hz", or " of several events", or nothing without an event. Return the
 * length.
 */
static int svg_show_events(const struct profile *p, enum stacks_of of, char *buf, size_t size)
{
	uint32_t main_event = profile_main_event(p);
	const struct event *e;

	if (of == STACKS_OF_WALL)
		return snprintf(buf, size, " of time on CPUs and of waiting");
	if (roots_need_events(p, of))
		return snprintf(buf, size, " of several events");
	if (main_event >= p->count.events)
		return 0;
	e = &p->events[main_event];
	if (!e->frequency)
		return snprintf(buf, size, " of %.64s", e->name);
	return snprintf(buf, size, " of %.64s at %" PRIu64 " Hz", e->name, e->frequency);
}

void svg_show_samples(const struct profile *p, const struct export_options *o,
		      char buf[static SVG_LINE])
{
	uint64_t length = p->host.end > p->host.start ? p->host.end - p->host.start : 0;
	enum stacks_of of = roots_stacks_of(p, o);
	uint64_t count = 0, weight = 0;
	char text[64], from[32];
	int used;

	for (uint32_t i = 0; i < p->count.sums; i++) {
		if (!roots_count(p, of, &p->sums[i]))
			continue;
		count += p->sums[i].count;
		weight += p->sums[i].weight;
	}
	used = snprintf(buf, SVG_LINE, "%s samples", show_count(count, text, sizeof(text)));
	used += svg_show_events(p, of, buf + used, SVG_LINE - used);
	if (of == STACKS_OF_HITS)
		used = (int)text_append(buf, SVG_LINE, used, ", for %s",
					show_count(weight, text, sizeof(text)));
	else if (of != STACKS_OF_SAMPLES)
		used = (int)text_append(buf, SVG_LINE, used, ", %s",
					show_duration(weight, text, sizeof(text)));
	if (o->to)
		length = length && length < o->to ? length : o->to;
	if (o->from || o->to)
		snprintf(buf + used, SVG_LINE - used, ", from %s to %s",
			 show_duration(o->from, from, sizeof(from)),
			 length ? show_duration(length, text, sizeof(text)) : "the end");
	else if (length)
		snprintf(buf + used, SVG_LINE - used, " in %s",
			 show_duration(length, text, sizeof(text)));
}

static int svg_show_losses(const struct losses *l, char *buf, size_t size)
{
	const char *before = "; lost: ";
	int used = 0;

	for (int reason = 1; reason < LOSS_COUNT; reason++) {
		char count[32];

		if (!l->by_reason[reason])
			continue;
		used = text_append(buf, size, used, "%s%s %s", before,
				   show_count(l->by_reason[reason], count, sizeof(count)),
				   loss_reason_word(reason));
		before = ", ";
	}
	if (!used && !l->unknown_reason)
		return (int)text_append(buf, size, 0, "; nothing lost");
	if (l->unknown_reason)
		used = text_append(buf, size, used, "%s%" PRIu64 " for unknown reasons", before,
				   l->unknown_reason);
	return used;
}

void svg_show_missing(const struct profile *p, char buf[static SVG_LINE])
{
	uint32_t event = profile_main_event(p);
	struct completeness c;
	struct losses l;
	char share[16];
	int used;

	completeness_of(&c, p, event);
	losses_of_event(&l, p, event);
	if (c.due)
		used = snprintf(buf, SVG_LINE, "%s of user stacks complete",
				show_percent(c.complete, c.due, share, sizeof(share)));
	else
		used = snprintf(buf, SVG_LINE, "no user stacks");
	used += svg_show_losses(&l, buf + used, SVG_LINE - used);
	if (!p->host.end)
		snprintf(buf + used, SVG_LINE - used, "; the recording was not finished");
}
