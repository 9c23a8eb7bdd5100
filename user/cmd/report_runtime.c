// SPDX-License-Identifier: Apache-2.0
/* Compute the part of a report about runtimes and probes, and show its sums as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cmd/report_runtime.h"
#include "cmd/report_sched.h"

#define SUMMARY_ROWS 3
#define ROWS 10
#define CAUSES 6
#define WIDE 100 /* columns of a screen with room for all columns */

#define KIND(NAME) (1ULL << SPAN_##NAME)

/* The tables, in order. */
static const struct section {
	const char *title;
	uint64_t kinds; /* of the spans that it has, as bits */
	const char *what; /* what a row is */
} sections[] = {
	{"Collections, by memory manager or generation", KIND(COLLECTION), "collections"},
	{"Stops for collections, and their named pauses", KIND(GC_STOP) | KIND(PAUSE), "pause"},
	{"Safepoints: all threads stand still", KIND(SAFEPOINT) | KIND(REACHING) | KIND(LEAVING),
	 "part"},
	{"VM operations", KIND(OPERATION), "operation"},
	{"Concurrent phases of collections, beside the program", KIND(PHASE), "phase"},
	{"Contended monitors", KIND(MONITOR), "monitor"},
	{"Waits for monitors, by the class of the object", KIND(MONITOR_WAIT), "class"},
	{"Who held the lock of a Python interpreter (GIL) while others waited", KIND(GIL),
	 "thread"},
	{"Classes", KIND(CLASS), "class"},
	{"Compilations", KIND(COMPILATION), "method"},
	{"Exceptions", KIND(EXCEPTION), "exception"},
	{"Deoptimizations", KIND(DEOPTIMIZATION), "method"},
	{"Allocations that were sampled", KIND(ALLOCATION), "class"},
	{"Threads of the JVM", KIND(THREAD), "life"},
	{"Probes and marks", KIND(PROBE) | KIND(MARK), "probe"},
};
/* Kinds whose spans all have the same name: the word of the kind says more. */
#define NAMED_BY_KIND \
	(KIND(GC_STOP) | KIND(SAFEPOINT) | KIND(REACHING) | KIND(LEAVING) | KIND(THREAD))

const struct runtime_row *report_runtime_rows(const struct report_runtime *t, uint64_t process,
					      const struct runtime_row **end)
{
	const struct runtime_row *row = t->all->rows.items, *last = row + t->all->rows.count;
	const struct runtime_row *first;

	while (row < last && row->process != process)
		row++;
	for (first = row; row < last && row->process == process;)
		row++;
	*end = row;
	return first;
}

uint64_t report_runtime_count(const struct runtime_row *row)
{
	return row->lengths.count + row->open;
}

static void add_runtime_total(struct runtime_total *to, const struct runtime_row *row)
{
	to->count += report_runtime_count(row);
	to->length += row->lengths.sum;
	to->inside += row->inside;
	to->longest = row->lengths.max > to->longest ? row->lengths.max : to->longest;
}

static struct report_runtime_process sum_runtime_process(const struct report_runtime *t,
							 const struct span_process *p)
{
	struct report_runtime_process made = {
		.process = sched_names_process(&t->names, p->id),
		.stops = p,
	};
	uint64_t stop = p->safepoints ? SPAN_SAFEPOINT : SPAN_GC_STOP;
	const struct runtime_row *end, *row = report_runtime_rows(t, p->id, &end);

	for (; row < end; row++) {
		if (row->kind == SPAN_COLLECTION)
			add_runtime_total(&made.collections, row);
		if (row->kind == stop)
			add_runtime_total(&made.stopped, row);
	}
	made.weight = made.stopped.inside ? made.stopped.inside : made.collections.inside;
	return made;
}

static int by_runtime_weight(const void *a, const void *b)
{
	const struct report_runtime_process *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->stops->id > y->stops->id) - (x->stops->id < y->stops->id);
}

static int list_runtime_processes(struct report_runtime *t)
{
	for (size_t i = 0; i < t->all->processes.count; i++)
		if (vector_push(&t->processes, sum_runtime_process(t, &t->all->processes.items[i])))
			return -ENOMEM;
	if (t->processes.count)
		qsort(t->processes.items, t->processes.count, sizeof(*t->processes.items),
		      by_runtime_weight);
	return 0;
}

/* Count the samples in collections, but for those of Python, which has a line of its own. */
static uint64_t count_collecting(const struct report *r)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < r->profile->count.sums; i++) {
		const struct profile_sum *s = &r->profile->sums[i];

		if (s->event == r->event_index && s->flags & SAMPLE_FLAG_COLLECTING &&
		    !(s->flags & SAMPLE_FLAG_PYTHON))
			count += s->count;
	}
	return count;
}

int report_runtime_make(struct report *r, struct source *spans, struct error *err)
{
	struct report_runtime *t = calloc(1, sizeof(*t));
	const struct runtime_query q = {
		.from = r->options->filter.from,
		.to = r->options->filter.to,
		.by_thread = r->options->by == GROUP_THREAD,
	};
	int ret = t ? sched_names_of(&t->names, r->profile) : -ENOMEM;

	if (ret < 0) {
		free(t);
		return error_errno(err, ret, "cannot make the report");
	}
	t->report = r;
	t->collecting = count_collecting(r);
	ret = runtime_sums_read(&t->all, spans, &q, err);
	if (!ret) {
		t->elapsed = t->all->to - t->all->from;
		ret = list_runtime_processes(t);
	}
	if (ret < 0 || (!t->all->spans && !t->all->counters.count))
		report_runtime_free(t);
	else
		r->events.runtime = t;
	return ret;
}

void report_runtime_free(struct report_runtime *t)
{
	if (!t)
		return;
	runtime_sums_free(t->all);
	sched_names_free(&t->names);
	vector_free(&t->processes);
	free(t);
}

/* A line of the summary while it is written. */
struct summary_line {
	char text[512];
	size_t used;
};

static void add_total(struct summary_line *l, const struct report_runtime *t,
		      const struct runtime_total *total, const char *what)
{
	char count[32], length[64], share[32], longest[64];

	if (!total->count)
		return;
	l->used = text_append(
		l->text, sizeof(l->text), l->used, "%s%s %s%s, %s (%s of the time), longest %s",
		l->text[l->used - 1] == ':' ? " " : "; ",
		show_count(total->count, count, sizeof(count)), what, total->count == 1 ? "" : "s",
		show_duration(total->length, length, sizeof(length)),
		show_percent(total->inside, t->elapsed, share, sizeof(share)),
		show_duration(total->longest, longest, sizeof(longest)));
}

static void put_collecting(const struct report_runtime *t, const struct screen *to)
{
	char text[256], share[32], count[32];

	if (!t->collecting)
		return;
	snprintf(text, sizeof(text),
		 "%s of samples (%s) in collections of JVMs; --no-collections leaves them out",
		 show_percent(t->collecting, t->report->count, share, sizeof(share)),
		 show_count(t->collecting, count, sizeof(count)));
	screen_put_paragraph(to, "", STYLE_PLAIN, text);
}

/* Show a process's line; the first one has a label and names the option. */
static void put_summary_line(const struct report_runtime *t, const struct report_runtime_process *p,
			     bool first, const struct screen *to)
{
	struct summary_line l = {.text = ""};
	char name[128];

	l.used = text_append(l.text, sizeof(l.text), 0, "%s %" PRIu64 ":",
			     text_clean(process_name(p->process), name, sizeof(name)),
			     p->process->pid);
	add_total(&l, t, &p->collections, "collection");
	add_total(&l, t, &p->stopped, p->stops->safepoints ? "safepoint" : "stop");
	if (first)
		text_append(l.text, sizeof(l.text), l.used, " (--runtime shows more)");
	screen_put_paragraph(to, first ? "Runtime" : "", STYLE_PLAIN, l.text);
}

void report_runtime_summary(const struct report *r, const struct screen *to)
{
	const struct report_runtime *t = r->events.runtime;
	char text[256], spans[32];
	size_t all = 0;

	for (size_t i = 0; i < t->processes.count; i++) {
		const struct report_runtime_process *p = &t->processes.items[i];

		if ((p->collections.count || p->stopped.count) && all++ < SUMMARY_ROWS)
			put_summary_line(t, p, all == 1, to);
	}
	if (all > SUMMARY_ROWS) {
		snprintf(text, sizeof(text), "and %zu more process%s", all - SUMMARY_ROWS,
			 all - SUMMARY_ROWS == 1 ? "" : "es");
		screen_put_paragraph(to, "", STYLE_PLAIN, text);
	} else if (!all) {
		snprintf(text, sizeof(text),
			 "%s events with a length, %zu counter%s (--runtime shows them)",
			 show_count(t->all->spans, spans, sizeof(spans)), t->all->counters.count,
			 t->all->counters.count == 1 ? "" : "s");
		screen_put_paragraph(to, "Runtime", STYLE_PLAIN, text);
	}
	put_collecting(t, to);
}

static const char *runtime_row_label(const struct report_runtime *t, const struct runtime_row *row,
				     char *buf, size_t size)
{
	const char *name = runtime_sums_text(t->all, row->name);
	bool by_kind = (1ULL << row->kind & NAMED_BY_KIND) || !*name;
	size_t used = text_append(buf, size, 0, "%s%.200s", row->kind == SPAN_MARK ? "mark " : "",
				  by_kind ? span_kind_word(row->kind) : name);

	if (row->open)
		text_append(buf, size, used, " (%" PRIu64 " open)", row->open);
	return buf;
}

/* Write how the spans of rows are known, as "note, function", from bits of enum span_origin. */
static const char *show_origins(unsigned int origins, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int origin = 1; origin < ORIGIN_COUNT; origin++)
		if (origins & 1u << origin)
			used = text_append(buf, size, used, "%s%s", used ? ", " : "",
					   span_origin_word(origin));
	return buf;
}

/* Add a cell with a length; spans of no length are instants. */
static void length_cell(struct table *cells, const struct histogram *h, uint64_t length)
{
	if (h->max)
		report_sched_duration_cell(cells, length);
	else
		table_cell(cells, "");
}

/* Which columns a table has beside those that all have. */
struct runtime_columns {
	bool wide; /* the 95th percentile */
	bool origins; /* how spans are known, where this differs between rows */
	bool thread;
};

static void runtime_cells(struct table *cells, const struct report_runtime *t,
			  const struct runtime_row *row, const struct runtime_columns *with)
{
	const struct histogram *h = &row->lengths;
	char label[256], origins[64];

	report_sched_count_cell(cells, report_runtime_count(row));
	length_cell(cells, h, h->sum);
	/* the lives of threads overlap, so their sum is no share of the time */
	report_sched_share_cell(cells, row->kind == SPAN_THREAD ? 0 : row->inside, t->elapsed);
	length_cell(cells, h, histogram_quantile(h, 50));
	if (with->wide)
		length_cell(cells, h, histogram_quantile(h, 95));
	length_cell(cells, h, histogram_quantile(h, 99));
	length_cell(cells, h, h->max);
	if (with->origins)
		table_cell(cells, show_origins(row->origins, origins, sizeof(origins)));
	if (with->thread) {
		const struct thread *thread = sched_names_thread(&t->names, row->thread);

		if (thread)
			table_cellf(cells, "%" PRIu64 " %.64s", thread->tid,
				    thread_display_name(thread));
		else
			table_cell(cells, "");
	}
	table_cell(cells, runtime_row_label(t, row, label, sizeof(label)));
}

static unsigned int add_runtime_columns(struct column *columns, const char *what,
					const struct runtime_columns *with)
{
	unsigned int count = 0;

	columns[count++] = (struct column){"number", STYLE_BOLD, true, CUT_END, 0};
	columns[count++] = (struct column){"total", STYLE_BOLD, true, CUT_END, 0};
	columns[count++] = (struct column){"of time", STYLE_PLAIN, true, CUT_END, 0};
	columns[count++] = (struct column){"median", STYLE_PLAIN, true, CUT_END, 0};
	if (with->wide)
		columns[count++] = (struct column){"p95", STYLE_PLAIN, true, CUT_END, 0};
	columns[count++] = (struct column){"p99", STYLE_PLAIN, true, CUT_END, 0};
	columns[count++] = (struct column){"longest", STYLE_WARM, true, CUT_END, 0};
	if (with->origins)
		columns[count++] = (struct column){"known by", STYLE_DIM, false, CUT_END, 0};
	if (with->thread)
		columns[count++] = (struct column){"thread", STYLE_PLAIN, false, CUT_END, 20};
	columns[count++] = (struct column){what, STYLE_PLAIN, false, CUT_END, 10};
	return count;
}

/* Show the causes of a process's collections, by manager. */
static void put_causes(const struct report_runtime *t, const struct process *p,
		       const struct screen *to)
{
	const struct runtime_cause *cause = t->all->causes.items;
	const struct runtime_cause *end = cause + t->all->causes.count;

	while (cause < end && cause->process != p->id)
		cause++;
	while (cause < end && cause->process == p->id) {
		uint32_t name = cause->name, left = 0, shown = 0;
		char text[1024], count[32];
		size_t used = text_append(text, sizeof(text), 0,
					  "causes of %.100s:", runtime_sums_text(t->all, name));

		for (; cause < end && cause->process == p->id && cause->name == name; cause++)
			if (shown == CAUSES)
				left++;
			else
				used = text_append(text, sizeof(text), used, "%s %.100s %s",
						   shown++ ? "," : "",
						   runtime_sums_text(t->all, cause->cause),
						   show_count(cause->count, count, sizeof(count)));
		if (left)
			text_append(text, sizeof(text), used, " and %" PRIu32 " more", left);
		screen_put_paragraph(to, "", STYLE_DIM, text);
	}
}

/* Show how much memory the collections of each row freed, if they report it. */
static void put_freed(const struct report_runtime *t, const struct process *p,
		      const struct screen *to)
{
	const struct runtime_row *end, *row = report_runtime_rows(t, p->id, &end);

	for (; row < end; row++) {
		uint64_t freed = row->heap.freed > 0 ? (uint64_t)row->heap.freed : 0;
		char all[32], each[32], after[32], text[512];

		if (row->kind != SPAN_COLLECTION || !row->heap.count)
			continue;
		snprintf(text, sizeof(text),
			 "%.100s freed %s, %s each on average; in use after the last: %s",
			 runtime_sums_text(t->all, row->name), show_bytes(freed, all, sizeof(all)),
			 show_bytes(freed / row->heap.count, each, sizeof(each)),
			 show_bytes(row->heap.after, after, sizeof(after)));
		screen_put_paragraph(to, "", STYLE_DIM, text);
	}
}

static void put_longest_stop(const struct report_runtime *t, const struct runtime_stop *s,
			     const struct screen *to, const char *label)
{
	char length[64], at[64], part[64], text[512];
	size_t used = text_append(
		text, sizeof(text), 0, "%s at %s",
		show_duration(s->end - s->time, length, sizeof(length)),
		show_duration(s->time - t->report->profile->host.start, at, sizeof(at)));

	if (s->operation != RUNTIME_NO_NAME)
		used = text_append(text, sizeof(text), used, ": %.100s, %s",
				   runtime_sums_text(t->all, s->operation),
				   show_duration(s->operation_length, part, sizeof(part)));
	if (s->requester != RUNTIME_NO_NAME)
		used = text_append(text, sizeof(text), used, ", requested by %.100s",
				   runtime_sums_text(t->all, s->requester));
	if (s->reaching)
		text_append(text, sizeof(text), used, "; %s to reach it",
			    show_duration(s->reaching, part, sizeof(part)));
	screen_put_paragraph(to, label, STYLE_PLAIN, text);
}

static void put_longest_stops(const struct report_runtime *t,
			      const struct report_runtime_process *p, const struct screen *to)
{
	for (unsigned int i = 0; i < p->stops->stop_count; i++)
		put_longest_stop(t, &p->stops->stops[i], to, i ? "" : "Longest");
}

/* Print the title of a table, with how its spans are known: all of them, or each its own way. */
static void put_section_title(const struct section *s, unsigned int origins,
			      const struct screen *to)
{
	char words[64], text[192];

	snprintf(text, sizeof(text), "\n%s (known by: %s)\n", s->title,
		 show_origins(origins, words, sizeof(words)));
	screen_put(to, STYLE_BOLD, text);
}

static int put_section(const struct report_runtime *t, const struct report_runtime_process *p,
		       const struct section *s, const struct screen *to)
{
	bool wide = to->width >= WIDE || to->uncut;
	struct runtime_columns with = {.wide = wide,
				       .thread = t->report->options->by == GROUP_THREAD};
	const struct runtime_row *end, *row = report_runtime_rows(t, p->stops->id, &end);
	struct column columns[TABLE_MAX_COLUMNS];
	struct table cells = {.columns = columns};
	size_t all = 0, limit, shown = 0;
	unsigned int origins = 0;

	for (const struct runtime_row *each = row; each < end; each++) {
		if (!(1ULL << each->kind & s->kinds))
			continue;
		with.origins = with.origins || (wide && all && each->origins != origins);
		origins |= each->origins;
		all++;
	}
	if (!all)
		return 0;
	limit = report_row_limit(t->report, all, ROWS);
	cells.column_count = add_runtime_columns(columns, s->what, &with);
	put_section_title(s, origins, to);
	for (; row < end && shown < limit; row++) {
		if (!(1ULL << row->kind & s->kinds))
			continue;
		runtime_cells(&cells, t, row, &with);
		shown++;
	}
	return table_finish(&cells, to, limit, all);
}

static int put_runtime_process(const struct report_runtime *t,
			       const struct report_runtime_process *p, const struct screen *to)
{
	char name[128], title[256];
	int ret = 0;

	text_clean(process_name(p->process), name, sizeof(name));
	snprintf(title, sizeof(title), "\n%s %" PRIu64 "\n", name, p->process->pid);
	screen_put(to, STYLE_BOLD, title);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && !ret; i++) {
		const struct section *s = &sections[i];

		ret = put_section(t, p, s, to);
		if (s->kinds & KIND(COLLECTION))
			put_causes(t, p->process, to);
		if (s->kinds & KIND(COLLECTION))
			put_freed(t, p->process, to);
		if (s->kinds & (p->stops->safepoints ? KIND(SAFEPOINT) : KIND(GC_STOP)))
			put_longest_stops(t, p, to);
	}
	if (!ret)
		ret = report_runtime_waits(t, p->process, to);
	return ret ? ret : report_runtime_counters(t, p->process, to);
}

int report_runtime_tables(const struct report *r, const struct screen *to)
{
	const struct report_runtime *t = r->events.runtime;
	size_t count = report_row_limit(r, t->processes.count, ROWS);
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		ret = put_runtime_process(t, &t->processes.items[i], to);
	if (count < t->processes.count)
		fprintf(to->out, "\n... and %zu more processes (--limit 0 shows all)\n",
			t->processes.count - count);
	fputc('\n', to->out);
	return ret;
}
