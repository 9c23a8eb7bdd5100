// SPDX-License-Identifier: Apache-2.0
/*
 * Collect facts about the whole window, the most important first, because a narrow terminal has
 * no room for all.
 */
#include "cmd/top_facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyze/broken.h"
#include "analyze/named.h"
#include "analyze/python.h"
#include "analyze/runtimes.h"
#include "base/text.h"
#include "base/units.h"
#include "capture/clock.h"

__attribute__((format(printf, 3, 4))) static void add_fact(struct top_facts *f, bool warning,
							   const char *format, ...)
{
	struct top_fact *to = &f->list[f->count];
	va_list args;

	if (f->count == TOP_FACTS_MAX)
		return;
	va_start(args, format);
	vsnprintf(to->text, sizeof(to->text), format, args);
	va_end(args);
	to->warning = warning;
	f->count++;
}

/* Add the load: the share of the due samples that were not idle is the busy part of the CPUs. */
static void add_load(struct top_facts *f, const struct recent_window *w)
{
	const struct recent_account *a = &w->account;
	double busy = a->total.due > a->total.idle ? (double)(a->total.due - a->total.idle) : 0;
	uint64_t written = w->account.total.written;

	if (a->total.due)
		add_fact(f, false, "%.2f/%u CPUs busy", busy * a->cpus / (double)a->total.due,
			 a->cpus);
	if (a->span)
		add_fact(f, false, "%.0f samples/s",
			 (double)written * NSEC_PER_SEC / (double)a->span);
}

/* Add how many threads waited at once, and how many stacks that is known from. */
static void add_waiting(struct top_facts *f, const struct recent_window *w)
{
	uint64_t weight = 0, count = 0;

	for (size_t i = 0; i < w->wait_count; i++) {
		weight += w->waits[i].weight;
		count += w->waits[i].count;
	}
	if (!w->span)
		return;
	add_fact(f, false, "%.1f threads waited at once", (double)weight / (double)w->span);
	add_fact(f, false, "%.0f stacks/s", (double)count * NSEC_PER_SEC / (double)w->span);
}

/* Add the lost samples of running threads, with the most frequent reason; then the stolen ones. */
static void add_lost_samples(struct top_facts *f, const struct recent_account *a)
{
	uint64_t lost = 0, most = 0, stolen = a->lost[LOSS_STOLEN];
	char part[32];

	for (uint64_t reason = 1; reason < LOSS_COUNT; reason++) {
		if (!loss_reason_is_due(reason) || reason == LOSS_STOLEN)
			continue;
		lost += a->lost[reason];
		if (a->lost[reason] > (most ? a->lost[most] : 0))
			most = reason;
	}
	if (lost && a->total.due)
		add_fact(f, true, "lost %s (%s)",
			 show_percent(lost, a->total.due, part, sizeof(part)),
			 loss_reason_word(most));
	else
		add_fact(f, false, "none lost");
	if (stolen && a->total.due)
		add_fact(f, true, "stolen %s",
			 show_percent(stolen, a->total.due, part, sizeof(part)));
}

static void add_other_losses(struct top_facts *f, const struct recent_account *a)
{
	char count[32];

	for (uint64_t reason = 1; reason < LOSS_COUNT; reason++)
		if (a->lost[reason] && !loss_reason_is_due(reason))
			add_fact(f, true, "%s: %s", loss_reason_word(reason),
				 show_count(a->lost[reason], count, sizeof(count)));
}

/* Return the most frequent end of incomplete stacks; END_COUNT if none is incomplete. */
static enum stack_end most_frequent_end(const struct completeness *c)
{
	enum stack_end most = END_COUNT;

	for (int end = 0; end < END_COUNT; end++)
		if (c->broken[end] > (most == END_COUNT ? 0 : c->broken[most]))
			most = end;
	return most;
}

/*
 * Add the share of complete stacks, and why most of the others are not, as the report does. Whether
 * a stack reaches the start of its thread is only known by the name of its outermost function.
 */
static void add_stacks(struct top_facts *f, const struct profile *p, uint32_t event, bool pending)
{
	struct completeness c;
	enum stack_end end;
	char complete[32], part[32], why[64] = "";

	completeness_of(&c, p, event);
	end = most_frequent_end(&c);
	if (end != END_COUNT)
		snprintf(why, sizeof(why), " (%s %s)",
			 show_percent(c.broken[end], c.due, part, sizeof(part)),
			 pending && end == END_UNKNOWN_ROOT ? "names not read yet"
							    : stack_end_word(end));
	if (c.due)
		add_fact(f, false, "stacks %s complete%s",
			 show_percent(c.complete, c.due, complete, sizeof(complete)), why);
}

/* Add the runtimes whose functions have no names, and what gives names. */
static int add_runtimes(struct top_facts *f, const struct profile *p, uint32_t event)
{
	struct runtime_shares shares;
	uint64_t all, weight;
	char part[32];
	int ret = runtime_shares_of(&shares, p, event);

	profile_event_total(p, event, &all, &weight);
	for (int i = 0; i < RUNTIME_COUNT && !ret; i++)
		if (runtime_share_matters(shares.samples[i], all))
			add_fact(f, true, "%s %s without names: %s", runtime_table[i].name,
				 show_percent(shares.samples[i], all, part, sizeof(part)),
				 runtime_table[i].names);
	return ret;
}

/* Add how much of the self time has names. */
static int add_named(struct top_facts *f, const struct profile *p, uint32_t event)
{
	struct named_share share;
	char text[64];
	int ret = named_share_of(&share, p, event);
	bool low = !ret && named_share_is_low(&share);

	if (!ret && *named_share_text(&share, text, sizeof(text)))
		add_fact(f, low, "%s%s", text, low ? ": " NAMED_ADVICE_LIVE : "");
	named_share_free(&share);
	return ret;
}

static int add_python(struct top_facts *f, const struct profile *p, uint32_t event)
{
	struct python_share share;
	char part[32];
	int ret = python_share_of(&share, p, event);

	if (!ret && share.samples)
		add_fact(f, false, "Python's GIL held %s",
			 show_percent(share.gil, share.samples, part, sizeof(part)));
	return ret;
}

int top_facts_collect(struct top_facts *out, const struct recent_window *w, uint32_t event,
		      double cost, bool pending)
{
	bool waits = event < w->profile->count.events &&
		     event_is_of_waits(w->profile->events[event].name);
	int ret;

	*out = (struct top_facts){.count = 0};
	if (waits)
		add_waiting(out, w);
	else
		add_load(out, w);
	add_stacks(out, w->profile, event, pending);
	add_lost_samples(out, &w->account);
	add_other_losses(out, &w->account);
	ret = add_named(out, w->profile, event);
	if (!ret)
		ret = add_runtimes(out, w->profile, event);
	if (!ret && !waits)
		ret = add_python(out, w->profile, event);
	add_fact(out, false, "skein %.1f %%", cost * 100);
	return ret;
}

static uint64_t child_cpu_time(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);
}

uint64_t top_facts_own_cpu(void)
{
	uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	FILE *children = fopen("/proc/thread-self/children", "re");
	int pid;

	while (children && fscanf(children, "%d", &pid) == 1)
		cpu += child_cpu_time(pid);
	if (children)
		fclose(children);
	return cpu;
}

char *top_facts_title(const struct recent_window *w, uint32_t event, char *buf, size_t size)
{
	const struct profile *p = w->profile;
	const struct event *e = event < p->count.events ? &p->events[event] : NULL;
	uint64_t step = w->span < NSEC_PER_SEC ? NSEC_PER_SEC / 10 : NSEC_PER_SEC;
	char span[32], rate[32];

	snprintf(rate, sizeof(rate), "%" PRIu64 " Hz", e ? e->frequency : 0);
	snprintf(buf, size, "%s, %s, last %s", p->host.hostname,
		 e && event_is_of_waits(e->name) ? "waits" : rate,
		 show_duration(w->span / step * step, span, sizeof(span)));
	return buf;
}

static const char *focus_word(const struct top_focus *f)
{
	static const char *const words[GROUP_KIND_COUNT] = {
#define FOCUS_WORD(NAME, word) [GROUP_##NAME] = word,
		GROUP_KINDS(FOCUS_WORD)
#undef FOCUS_WORD
	};

	if (f->by == GROUP_KIND_COUNT && !f->function)
		return f->view == TOP_CLASSES ? "class" : "ended by";
	return f->function ? "function" : words[f->by];
}

char *top_focus_text(const struct top_focus *foci, size_t count, uint64_t all, char *buf,
		     size_t size)
{
	size_t used = 0;
	char part[32];

	*buf = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		const struct top_focus *f = &foci[i];
		char id[32] = "";

		if (f->tid || f->pid)
			snprintf(id, sizeof(id), " %" PRIu64, f->tid ? f->tid : f->pid);
		used = text_append(buf, size, used, "%s%s %s%s", i ? " > " : "", focus_word(f),
				   f->name, id);
	}
	if (count && used < size)
		snprintf(buf + used, size - used, ": %s of all",
			 show_percent(foci[count - 1].weight, all, part, sizeof(part)));
	return buf;
}
