// SPDX-License-Identifier: Apache-2.0
/* Show the progress and the summary of a recording. */
#include "cmd/record_summary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "capture/clock.h"
#include "cmd/account_text.h"
#include "cmd/filters.h"

#define REDRAW_INTERVAL (250 * NSEC_PER_MSEC)
/* Summaries of shorter recordings show no CPU share: most of it would be the start and the end. */
#define LONG_ENOUGH (10 * NSEC_PER_SEC)

void progress_line_begin(struct progress_line *l, bool quiet, bool announce)
{
	*l = (struct progress_line){.shown = !quiet && isatty(STDERR_FILENO),
				    .announces = !quiet && announce};
}

/* Print once, for a script that waits for it, that the recording has begun or is ready to. */
static void announce_recording(struct progress_line *l, const struct capture_progress *p)
{
	if (!l->announces || p->preparing || (p->waiting && l->waited))
		return;
	log_info("%s", p->waiting ? "not recording yet" : "recording");
	l->announces = p->waiting;
	l->waited = true;
}

/* Show the amount recorded so far, such as "12 samples, 345 switches, 6 probe events". */
static const char *show_recorded(const struct capture_progress *p, char *buf, size_t size)
{
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = {{p->samples, "samples"}, {p->switches, "switches"}, {p->hits, "probe events"}};
	char count[32];
	size_t used = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].count)
			used = text_append(buf, size, used, "%s%s %s", used ? ", " : "",
					   show_count(parts[i].count, count, sizeof(count)),
					   parts[i].what);
	if (!used)
		snprintf(buf, size, "0 samples");
	return buf;
}

/* Show the work that the end of the recording waits for. */
static const char *show_pending_work(const struct capture_progress *p, char *buf, size_t size)
{
	char count[32];

	if (p->pending.names || !p->pending.inlines)
		return "; looking up names";
	snprintf(buf, size, "; looking up inlined functions at %s addresses",
		 show_count(p->pending.inlines, count, sizeof(count)));
	return buf;
}

void progress_line_print(struct progress_line *l, const struct capture_progress *p,
			 uint64_t duration)
{
	char left[96], elapsed[32], whole[32] = "", recorded[128], lost[48] = "", count[32];

	announce_recording(l, p);
	if (l->shown && p->preparing && p->pending.tables) {
		fprintf(stderr, "\r\033[Kpreparing: unwind tables of %s files",
			show_count(p->pending.tables, count, sizeof(count)));
		fflush(stderr);
	}
	if (l->shown && p->waiting) {
		fprintf(stderr, "\r\033[Knot recording yet%s", duration ? "" : " (Ctrl-C ends)");
		fflush(stderr);
	}
	if (!l->shown || p->preparing || p->waiting ||
	    (p->elapsed < l->last + REDRAW_INTERVAL && p->finishing == l->finishing))
		return;
	l->last = p->elapsed;
	l->finishing = p->finishing;
	show_duration(p->elapsed, elapsed, sizeof(elapsed));
	if (duration) {
		char text[24];

		show_duration(duration, text, sizeof(text));
		snprintf(whole, sizeof(whole), " of %s", text);
	}
	if (p->lost)
		snprintf(lost, sizeof(lost), ", %s lost",
			 show_count(p->lost, count, sizeof(count)));
	fprintf(stderr, "\r\033[K%s %s%s: %s%s%s", p->paused ? "paused after" : "recording",
		elapsed, whole, show_recorded(p, recorded, sizeof(recorded)), lost,
		p->finishing ? show_pending_work(p, left, sizeof(left))
		: duration   ? ""
			     : " (Ctrl-C ends)");
	fflush(stderr);
}

void progress_line_end(struct progress_line *l)
{
	if (l->shown)
		fputs("\r\033[K", stderr);
}

static uint64_t recorder_cpu_time(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void summary_show_cost(const struct capture_summary *s)
{
	uint64_t cpu = recorder_cpu_time() + s->helpers.cpu;
	uint64_t shared = s->buffer_memory + s->unwind.memory;
	char spent[32], share[32], of[64] = "", memory[32], with[32], helpers[32];

	if (s->elapsed >= LONG_ENOUGH)
		snprintf(of, sizeof(of), " (%s of one CPU)",
			 show_percent(cpu, s->elapsed, share, sizeof(share)));
	log_info("recorder: %s of CPU%s; resident at most %s (%s of it buffers and "
		 "unwind tables), and %s in its helper processes",
		 show_duration(cpu, spent, sizeof(spent)), of,
		 show_bytes(s->memory, memory, sizeof(memory)),
		 show_bytes(shared < s->memory ? shared : s->memory, with, sizeof(with)),
		 show_bytes(s->helpers.memory, helpers, sizeof(helpers)));
}

/*
 * Show the number and size of unwind tables. Their memory belongs to the kernel, is mapped into the
 * recorder, and is bounded by --unwind-memory.
 */
static void summary_show_unwinding(const struct capture_summary *s, bool all)
{
	const struct tables_summary *t = &s->unwind;
	char files[32], bytes[32], memory[32], evicted[32];

	if (t->files && all)
		log_info("unwind tables of %s files: %s in %s of kernel memory; %llu made, %llu "
			 "from the cache",
			 show_count(t->files, files, sizeof(files)),
			 show_bytes(t->bytes, bytes, sizeof(bytes)),
			 show_bytes(t->memory, memory, sizeof(memory)),
			 (unsigned long long)s->symbolizer.tables_made,
			 (unsigned long long)s->symbolizer.tables_cached);
	if (t->evicted)
		log_warn("%s unwind tables were given up: raise --unwind-memory for whole stacks",
			 show_count(t->evicted, evicted, sizeof(evicted)));
}

/* Show why a file's debugging information was not read, and which option helps. */
static void summary_show_refusal(const struct inlines_refusal *r)
{
	char path[256], needed[32], memory[32];

	text_clean(r->path, path, sizeof(path));
	if ((r->status == -E2BIG || r->status == -ENOMEM) && r->needed)
		log_warn("no inlined functions of %s: it has %s of debugging information; "
			 "--inline-memory %s would do",
			 path, show_bytes(r->needed, needed, sizeof(needed)),
			 show_bytes(3 * r->needed, memory, sizeof(memory)));
	else
		log_warn("no inlined functions of %s: %s", path,
			 r->status == -EIO     ? "its debugging information killed its reader, or "
						 "took too long; more --inline-memory may help"
			 : r->status == -EBADF ? "it is not open any more"
					       : strerror(-r->status));
}

static void summary_show_inlines(const struct capture_summary *s, bool all)
{
	const struct inlines_summary *i = &s->inlines;
	char requested[32], found[32], files[32], bare[32], count[32];

	if (!s->inlined)
		return;
	if (all)
		log_info("inlined functions: %s addresses looked up, %s found; %s files with "
			 "debugging information, %s without",
			 show_count(i->requested, requested, sizeof(requested)),
			 show_count(i->found, found, sizeof(found)),
			 show_count(i->files, files, sizeof(files)),
			 show_count(i->bare, bare, sizeof(bare)));
	for (uint64_t n = 0; n < i->refused && n < INLINES_REFUSALS_MAX; n++)
		summary_show_refusal(&i->refusals[n]);
	if (i->refused > INLINES_REFUSALS_MAX)
		log_warn("no inlined functions of %s files more",
			 show_count(i->refused - INLINES_REFUSALS_MAX, count, sizeof(count)));
	if (i->split)
		log_warn("debugging information of %s units is in .dwo files, which are not read",
			 show_count(i->split, count, sizeof(count)));
	if (i->unrequested)
		log_warn("inlined functions at %s addresses were not looked up for want of time "
			 "or room",
			 show_count(i->unrequested, count, sizeof(count)));
	if (i->restarts)
		log_warn("the reader of debugging information was started again %s times",
			 show_count(i->restarts, count, sizeof(count)));
}

static void summary_show_bad_stacks(const struct capture_summary *s)
{
	char bad[32], saved[32];

	if (s->saved.bad)
		log_info("%s stacks ended badly, %s of them are kept: a few of each kind",
			 show_count(s->saved.bad, bad, sizeof(bad)),
			 show_count(s->saved.kept, saved, sizeof(saved)));
}

static void summary_show_mangled(const struct capture_summary *s)
{
	char count[32], path[256];

	if (!s->unnamed.mangled)
		return;
	text_clean(s->unnamed.mangled_in, path, sizeof(path));
	log_warn("%s names stay as the linker knows them (_Z..., _R...): they, or others of their "
		 "file, take more than some ms of CPU time to demangle%s%s",
		 show_count(s->unnamed.mangled, count, sizeof(count)),
		 path[0] ? "; the first is of " : "", path);
}

/*
 * Report how often a file could not be opened because the limit of open files was reached. Names
 * and unwind tables from such a file are missing.
 */
static void summary_show_refused(const struct capture_summary *s)
{
	struct error why = {""};
	char count[32];

	if (!s->opened.refused)
		return;
	limits_explain(&why, -EMFILE);
	log_warn("%s times a file was not opened for want of descriptors, and lacks names and "
		 "unwind tables: %s",
		 show_count(s->opened.refused, count, sizeof(count)),
		 why.text + strspn(why.text, "\n"));
}

static struct account_terms summary_account_terms(const struct capture_summary *s)
{
	struct account_terms t = {
		.due = s->samples.due,
		.written = s->samples.written,
		.idle = s->samples.idle,
		.filtered = s->samples.filtered,
		.stolen = s->lost[LOSS_STOLEN],
		.cut_off = s->samples.cut_off,
	};

	for (uint64_t reason = 1; reason < LOSS_COUNT; reason++)
		if (loss_reason_is_due(reason) && reason != LOSS_STOLEN)
			t.lost += s->lost[reason];
	return t;
}

/* Show losses by reason: all of them, or as warnings those that a reader of the trace must know. */
static void summary_show_reasons(const struct capture_summary *s, bool all)
{
	const struct account_terms samples = summary_account_terms(s);
	const struct account_terms waits = {.written = s->waits.chosen};
	const struct account_terms switches = {.written = s->switches.switches};
	char count[32], share[32];

	for (uint64_t reason = 1; reason < LOSS_COUNT; reason++) {
		bool due = loss_reason_is_due(reason), wait = reason >= LOSS_WAIT_MISSED;
		const struct account_terms *t = wait ? &waits : &samples;

		if (!s->lost[reason])
			continue;
		show_count(s->lost[reason], count, sizeof(count));
		if (all)
			log_info("%s: %s (%s)", loss_reason_word(reason), count,
				 loss_reason_text(reason));
		else if (due && account_loss_matters(t, s->lost[reason]) && reason != LOSS_STOLEN)
			log_warn("%s of the %s are lost (%s), %s: %s",
				 show_percent(s->lost[reason], account_running(t), share,
					      sizeof(share)),
				 wait ? "stacks of waits" : "samples", count,
				 loss_reason_word(reason), loss_reason_text(reason));
		else if (!due && (reason != LOSS_UNREPORTED ||
				  account_loss_matters(&switches, s->lost[reason])))
			log_warn("%s: %s (%s)", loss_reason_word(reason), count,
				 loss_reason_text(reason));
	}
}

static void summary_show_probed(const struct capture_probed *p)
{
	if (!p->wanted)
		return;
	if (!p->attached)
		log_warn("no probe was attached: nothing that ran has those that were asked for; "
			 "'skein doctor --probes' lists them");
	else if (p->one_by_one)
		log_warn("this kernel attaches probes one by one, and still takes about 0.1 s for "
			 "each of %u to detach it: Linux 6.6 and newer do that at once",
			 p->attached);
}

/* Show what is missing of the stacks of exceptions and allocations. */
static void summary_show_no_stacks(const struct capture_probed *p)
{
	const struct hit_stacks_summary *s = &p->stacks;
	char share[16], count[32];

	if (p->no_stacks)
		log_warn("no stacks of exceptions and allocations: they need bpf_loop(), which "
			 "Linux 5.17 and later have");
	if (s->lost)
		log_warn("%s of the stacks of exceptions and allocations are lost (%s): "
			 "'skein report --event' shows why",
			 show_percent(s->lost, s->written + s->lost, share, sizeof(share)),
			 show_count(s->lost, count, sizeof(count)));
}

/* Show names and files that are missing, and what helps. */
static void summary_show_missing(const struct capture_summary *s)
{
	if (s->unnamed.unready) {
		char count[32];

		log_warn("%s functions have no name: it was still being read at the end; "
			 "--wait-names 20s waits longer, Ctrl-C ends the wait",
			 show_count(s->unnamed.unready, count, sizeof(count)));
	}
	summary_show_mangled(s);
	summary_show_refused(s);
	summary_show_probed(&s->probed);
	summary_show_no_stacks(&s->probed);
	if (s->unnamed.hosts)
		log_warn("containers have no host names, by which services are named: %s",
			 strerror(-s->unnamed.hosts));
	if (s->unnamed.java_waits)
		log_warn("stacks of waits that had not ended have no Java frames: the kernel "
			 "refused the program that reads them: %s",
			 strerror(-s->unnamed.java_waits));
	for (size_t i = 0; i < CAPTURE_REFUSALS_MAX && s->refusals[i].what[0]; i++)
		log_warn("refused %s", s->refusals[i].what);
	if (s->symbolizer.restarts || s->opened.restarts)
		log_warn("helper processes were started again: names %llu times, files %llu times",
			 (unsigned long long)s->symbolizer.restarts,
			 (unsigned long long)s->opened.restarts);
}

static void summary_show_samples(const struct capture_summary *s)
{
	const struct account_terms terms = summary_account_terms(s);
	char elapsed[32], sum[256], error[128];

	log_info("recorded %s: %s", show_duration(s->elapsed, elapsed, sizeof(elapsed)),
		 account_show(&terms, sum, sizeof(sum)));
	if (*account_show_error(&terms, error, sizeof(error)))
		log_info("%s", error);
	if (s->samples.late) {
		char late[32];

		log_info("late: %s (counted, may miss their process's latest mappings)",
			 show_count(s->samples.late, late, sizeof(late)));
	}
}

static void summary_show_switches(const struct capture_summary *s)
{
	char elapsed[32], switches[32], wakeups[32], migrations[32];

	log_info("recorded %s: %s context switches, %s wake-ups, %s migrations",
		 show_duration(s->elapsed, elapsed, sizeof(elapsed)),
		 show_count(s->switches.switches, switches, sizeof(switches)),
		 show_count(s->switches.wakeups, wakeups, sizeof(wakeups)),
		 show_count(s->switches.migrations, migrations, sizeof(migrations)));
}

/* Show how many stacks of waits were taken, and with which periods they were chosen. */
static void summary_show_waits(const struct wait_stacks_summary *w)
{
	char taken[32], chosen[32], wakers[32], least[32], most[40] = "", open[32], text[32];
	bool changed = w->period_most != w->period_least;

	show_duration(w->period_least, least, sizeof(least));
	if (changed)
		snprintf(most, sizeof(most), " to %s",
			 show_duration(w->period_most, text, sizeof(text)));
	show_count(w->written, taken, sizeof(taken));
	show_count(w->wakers, wakers, sizeof(wakers));
	log_info("stacks of %s waits and %s wakers; %s waits chosen, always those of %s%s; stacks "
		 "of %s waits that had not ended",
		 taken, wakers, show_count(w->chosen, chosen, sizeof(chosen)), least, most,
		 show_count(w->open, open, sizeof(open)));
}

/* Show how many stacks of exceptions and allocations were taken, and what one has cost. */
static void summary_show_hits(const struct hit_stacks_summary *s)
{
	char count[32], each[32];

	log_info("stacks of %s exceptions and allocations, %s of a CPU for each",
		 show_count(s->written, count, sizeof(count)),
		 show_duration(s->spent / s->taken, each, sizeof(each)));
}

/* Show everything, with the account and the recorder's own cost. */
static void summary_show_all(const struct capture_summary *s)
{
	if (s->sampled)
		summary_show_samples(s);
	if (s->scheduled)
		summary_show_switches(s);
	if (s->waits.period_most || s->waits.chosen)
		summary_show_waits(&s->waits);
	if (s->probed.stacks.taken)
		summary_show_hits(&s->probed.stacks);
}

/* Show the one line that every recording ends with: what is where, and what reads it. */
static void summary_show_result(const struct capture_summary *s, const struct trace_stats *t,
				const char *path)
{
	const struct capture_progress recorded = {
		.samples = s->samples.written,
		.switches = s->scheduled ? s->switches.switches : 0,
		.hits = s->probed.hits,
	};
	char what[128], elapsed[32], size[32];

	show_recorded(&recorded, what, sizeof(what));
	show_duration(s->elapsed, elapsed, sizeof(elapsed));
	if (path)
		log_info("%s in %s: %s, %s; see it with: skein report%s%s", what, elapsed, path,
			 show_bytes(t->file_bytes, size, sizeof(size)),
			 strcmp(path, DEFAULT_TRACE) ? " " : "",
			 strcmp(path, DEFAULT_TRACE) ? path : "");
	else
		log_info("%s in %s", what, elapsed);
}

void record_summary_warn_empty(const struct capture_summary *s, const char *comm, bool command)
{
	char elapsed[32];

	show_duration(s->elapsed, elapsed, sizeof(elapsed));
	if (comm && s->comm.known && !s->comm.matched)
		log_warn("there are threads called '%s', but none of them ran in these %s; 'skein "
			 "record -e sched' shows what they waited for",
			 comm, elapsed);
	else if (command && s->sampled && !s->samples.written && s->elapsed < NSEC_PER_SEC)
		log_warn("the command ended after %s, before a sample was taken of it: -F 9999 "
			 "samples more often",
			 elapsed);
}

void record_summary_hint(uint64_t switches, uint64_t time)
{
	char count[32];

	log_info("-e all also records what threads waited for, and what ended that (about %s "
		 "switches a second on this machine)",
		 show_count(switches * NSEC_PER_SEC / time, count, sizeof(count)));
}

void record_summary_print(const struct capture_summary *s, const struct trace_stats *t,
			  const char *path, bool all)
{
	if (all)
		summary_show_all(s);
	if (*s->waits.refused)
		log_warn("%s: recorded without them", s->waits.refused);
	summary_show_reasons(s, all);
	summary_show_missing(s);
	if (all)
		summary_show_cost(s);
	summary_show_unwinding(s, all);
	summary_show_inlines(s, all);
	summary_show_bad_stacks(s);
	summary_show_result(s, t, path);
}
