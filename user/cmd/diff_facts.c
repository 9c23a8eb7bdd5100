// SPDX-License-Identifier: Apache-2.0
/*
 * Find the facts that make traces hard to compare: differences in how they were recorded and in how
 * complete they are.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cmd/diff.h"
#include "cmd/rates_text.h"

#define FACT_BYTES 256 /* bytes of one fact about one trace */
#define GAP_MIN 0.01 /* report shares (0 to 1) that differ by more than this */
/* prefix of the info keys that hold the options of the recording */
#define OPTION_INFO "option."

static char *show_event(const struct diff_trace *t, char *buf)
{
	snprintf(buf, FACT_BYTES, "%.64s", t->event ? t->event->name : "no event");
	return buf;
}

static char *show_frequency(const struct diff_trace *t, char *buf)
{
	*buf = '\0';
	if (t->event && event_is_of_waits(t->event->name)) /* weights have what T was */
		return buf;
	if (t->event && t->event->frequency)
		rates_show(t->profile, t->event_index, buf, FACT_BYTES);
	else if (t->event)
		snprintf(buf, FACT_BYTES, "every %" PRIu64, t->event->period);
	return buf;
}

static char *show_hostname(const struct diff_trace *t, char *buf)
{
	snprintf(buf, FACT_BYTES, "%.128s", t->profile->host.hostname);
	return buf;
}

static char *show_kernel(const struct diff_trace *t, char *buf)
{
	snprintf(buf, FACT_BYTES, "%.128s %.32s", t->profile->host.kernel, t->profile->host.arch);
	return buf;
}

static char *show_cpus(const struct diff_trace *t, char *buf)
{
	snprintf(buf, FACT_BYTES, "%" PRIu64, t->profile->host.cpus);
	return buf;
}

/*
 * Show the options that selected CPUs, threads and stacks. Leave out the ids of processes and
 * threads, because these differ between recordings anyway.
 */
static char *show_selection(const struct diff_trace *t, char *buf)
{
	int used = 0;

	*buf = '\0';
	for (uint32_t i = 0; i < t->profile->count.infos && used < FACT_BYTES; i++) {
		const struct info *info = &t->profile->infos[i];
		const char *name = info->key + strlen(OPTION_INFO);
		bool numbers;

		if (strncmp(info->key, OPTION_INFO, strlen(OPTION_INFO)) || !strcmp(name, "buffer"))
			continue;
		numbers = !strcmp(name, "pids") || !strcmp(name, "tids");
		used = text_append(buf, FACT_BYTES, used, "%s--%.32s%s%.64s", used ? " " : "", name,
				   numbers ? "" : " ", numbers ? "" : info->value);
	}
	if (!used)
		strcpy(buf, "everything");
	return buf;
}

static const struct compared_fact {
	const char *name;
	char *(*show)(const struct diff_trace *t, char *buf);
} facts[] = {
	{"events", show_event},	  {"frequencies", show_frequency},
	{"hosts", show_hostname}, {"kernels", show_kernel},
	{"CPUs", show_cpus},	  {"recorded", show_selection},
};

static double complete_share(const struct diff_trace *t)
{
	const struct completeness *c = &t->completeness;

	return c->due ? (double)c->complete / (double)c->due : 1;
}

/*
 * Return the share of lost samples among the samples due while any thread ran. The filter does not
 * restrict this share, because the threads of lost samples are not known.
 */
static double lost_share(const struct diff_trace *t)
{
	const struct account *a = &t->losses.total;
	double taken = fmax((double)(a->written + a->filtered), (double)t->count);
	double lost = (double)t->losses.due;

	return lost > 0 ? lost / (lost + taken) : 0;
}

static const struct compared_share {
	const char *name;
	double (*of)(const struct diff_trace *t);
} shares[] = {
	{"complete stacks", complete_share},
	{"samples lost", lost_share},
};

static size_t diff_count_traces(const struct comparison *c)
{
	return c->count[BEFORE] + c->count[AFTER];
}

static int add_difference(struct comparison *c, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	if (vector_push(&c->differences, copy) < 0) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

/*
 * Add a line such as "kernels: 6.1 x86_64 and 6.12 x86_64", for the first trace and the first one
 * that differs from it.
 */
static int compare_fact(struct comparison *c, const struct compared_fact *f)
{
	char first[FACT_BYTES], other[FACT_BYTES], text[3 * FACT_BYTES];

	f->show(&c->traces[0], first);
	for (size_t i = 1; i < diff_count_traces(c); i++) {
		if (!strcmp(first, f->show(&c->traces[i], other)))
			continue;
		snprintf(text, sizeof(text), "%s: %s and %s", f->name, first, other);
		return add_difference(c, text);
	}
	return 0;
}

static int compare_share(struct comparison *c, const struct compared_share *s)
{
	double first = s->of(&c->traces[0]);

	for (size_t i = 1; i < diff_count_traces(c); i++) {
		double other = s->of(&c->traces[i]);
		char text[FACT_BYTES];

		if (fabs(first - other) <= GAP_MIN)
			continue;
		snprintf(text, sizeof(text), "%s: %.1f %% and %.1f %%", s->name, 100 * first,
			 100 * other);
		return add_difference(c, text);
	}
	return 0;
}

int diff_find_differences(struct comparison *c)
{
	int ret = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && !ret; i++)
		ret = compare_fact(c, &facts[i]);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]) && !ret; i++)
		ret = compare_share(c, &shares[i]);
	for (size_t i = 0; i < diff_count_traces(c) && !ret; i++) {
		char text[2 * FACT_BYTES];

		if (c->traces[i].profile->host.end)
			continue;
		snprintf(text, sizeof(text), "%.300s was not finished", c->traces[i].path);
		ret = add_difference(c, text);
	}
	return ret;
}
