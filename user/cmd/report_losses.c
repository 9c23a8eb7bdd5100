// SPDX-License-Identifier: Apache-2.0
/* Show what a report lacks: the account of due samples, losses by reason, and why it is empty. */
#include <inttypes.h>
#include <string.h>

#include "analyze/rates.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/account_text.h"
#include "cmd/report_parts.h"

/* prefix of the info keys that record why a process's files were refused */
#define REFUSED_INFO "refused."
/* A program that runs for so many periods, and is not sampled, hardly ran. */
#define MANY_PERIODS 20

/* Show the users whose files were not opened, and why: frames in such files lack names. */
static void report_put_refusals(const struct report *r, const struct screen *s)
{
	const char *title = "Refused";

	for (uint32_t i = 0; i < r->profile->count.infos; i++) {
		const struct info *info = &r->profile->infos[i];

		if (strncmp(info->key, REFUSED_INFO, strlen(REFUSED_INFO)))
			continue;
		screen_put_paragraph(s, title, STYLE_PLAIN, info->value);
		title = "";
	}
}

static void report_put_suspended(const struct report *r, const struct screen *s)
{
	char time[32], text[256];

	if (!r->losses.by_reason[LOSS_SUSPENDED])
		return;
	snprintf(text, sizeof(text), "%s: %s",
		 show_duration(r->losses.suspended, time, sizeof(time)),
		 loss_reason_text(LOSS_SUSPENDED));
	screen_put_paragraph(s, "Suspended", STYLE_PLAIN, text);
}

void report_put_losses(const struct report *r, const struct screen *s)
{
	report_put_refusals(r, s);
	report_put_suspended(r, s);
	for (int reason = 1; reason < LOSS_COUNT; reason++) {
		char count[32], text[512];

		if (!r->losses.by_reason[reason] || reason == LOSS_SUSPENDED)
			continue;
		snprintf(text, sizeof(text), "%s %s: %s",
			 show_count(r->losses.by_reason[reason], count, sizeof(count)),
			 loss_reason_word(reason), loss_reason_text(reason));
		if (reason == LOSS_STOLEN) /* no thread ran, so no sample is lost */
			screen_put_paragraph(s, "Stolen", STYLE_PLAIN, text);
		else
			screen_put_paragraph(s, "Lost", STYLE_WARM, text);
	}
	if (r->losses.unknown_reason) {
		char text[64];

		snprintf(text, sizeof(text),
			 "%" PRIu64 " for reasons that this skein does not know",
			 r->losses.unknown_reason);
		screen_put_paragraph(s, "Lost", STYLE_WARM, text);
	}
	if (r->profile->missing) {
		char text[128];

		snprintf(text, sizeof(text), "%" PRIu64 " %s not in it: shown as unknown",
			 r->profile->missing,
			 r->profile->missing == 1 ? "thing that the trace refers to is"
						  : "things that the trace refers to are");
		screen_put_paragraph(s, "Missing", STYLE_WARM, text);
	}
}

static struct account_terms report_account_terms(const struct report *r)
{
	const struct losses *l = &r->losses;

	return (struct account_terms){
		.due = l->total.due,
		.written = l->total.written,
		.idle = l->total.idle,
		.filtered = l->total.filtered,
		.stolen = l->by_reason[LOSS_STOLEN],
		.lost = l->due,
		.cut_off = l->cut_off,
		.unexplained = l->unexplained,
	};
}

/* Samples of several rates stand for different times, so their losses are counted as time. */
static struct account_terms report_error_terms(const struct report *r)
{
	struct sampled_rates rates;

	rates_of_event(&rates, r->profile, r->event_index);
	if (rates.count < 2)
		return report_account_terms(r);
	return (struct account_terms){.written = rates.sampled, .lost = rates.lost};
}

void report_put_error(const struct report *r, const struct screen *s, bool matters)
{
	const struct account_terms terms = report_error_terms(r);
	char text[320];

	/* a lost stack of a wait or of a hit may stand for any weight */
	if (!r->profile->count.accounts || event_is_weighted(r->event->name))
		return;
	if (account_loss_matters(&terms, terms.lost) == matters &&
	    *account_show_error(&terms, text, sizeof(text)))
		screen_put_paragraph(s, "Lost", matters ? STYLE_WARM : STYLE_PLAIN, text);
}

void report_put_account(const struct report *r, const struct screen *s)
{
	const struct account_terms terms = report_account_terms(r);
	char sum[256], text[320];

	if (!r->profile->count.accounts)
		return;
	snprintf(text, sizeof(text), "%s%s", account_show(&terms, sum, sizeof(sum)),
		 r->filtered ? " (of the whole recording)" : "");
	screen_put_paragraph(s, "Account", STYLE_PLAIN, text);
	report_put_error(r, s, false);
}

/*
 * Explain by the time between two samples why nothing of what was asked for was sampled. Return
 * buf.
 */
static const char *why_not_met(const struct report *r, char *buf, size_t size)
{
	const struct host *h = &r->profile->host;
	uint64_t length = h->end > h->start ? h->end - h->start : 0;
	bool clocked = !strcmp(r->event->unit, "ns");
	char lasted[32], period[32];

	if (!clocked && !r->losses.total.due)
		return "no samples: none was due, the event did not happen";
	if (!clocked || !length || length > MANY_PERIODS * r->event->period)
		return r->sched ? "no samples: what was asked for did not run when samples were due"
				: "no samples: what was asked for did not run when samples were "
				  "due; 'skein record -e sched' shows what it waited for";
	snprintf(buf, size,
		 "no samples: the recording lasted %s, and a sample is due every %s on each CPU: "
		 "'skein record -F 9999' samples more often",
		 show_duration(length, lasted, sizeof(lasted)),
		 show_duration(r->event->period, period, sizeof(period)));
	return buf;
}

const char *report_why_empty(const struct report *r, char *buf, size_t size)
{
	const struct account *a = &r->losses.total;
	int64_t unexplained = r->losses.unexplained;
	uint64_t lost = r->losses.due + (unexplained > 0 ? (uint64_t)unexplained : 0);

	if (!r->event)
		return "no samples: the trace has no event; its recorder ended before it "
		       "began";
	if (r->filtered)
		return "no samples: none passes the filters";
	if (!r->profile->count.accounts)
		return "no samples: the recorder was killed before it wrote any";
	if (a->written)
		return "no samples of programs: only idle CPUs were sampled (--idle shows them)";
	if (!a->due || (a->filtered && a->filtered >= lost))
		return why_not_met(r, buf, size);
	if (a->idle >= lost)
		return "no samples: every CPU was idle";
	return "no samples: all that were due are lost, see below";
}
