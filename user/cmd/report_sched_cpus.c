// SPDX-License-Identifier: Apache-2.0
/*
 * Show the CPUs: how busy they were over time, how long threads waited for them, how many threads
 * ran at once.
 */
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "cmd/report_sched.h"

#define FIXED_COLUMNS 44 /* columns in front of the blocks */
#define BLOCKS_MIN 16
#define BLOCKS_MAX 60
#define PROCESS_ROWS 10
#define CPU_ROWS 32
#define AT_ONCE_BINS 7
#define AT_ONCE_TITLE \
	"How many threads ran at once, as shares of the time; processes of more than one\n"
/* Do not show absent time up to 1 / ROUNDED_SHARE: time stamps of slices are rounded down. */
#define ROUNDED_SHARE 10000

static unsigned int count_blocks(const struct screen *to)
{
	unsigned int room = to->width > FIXED_COLUMNS ? to->width - FIXED_COLUMNS : 0;

	room = room < BLOCKS_MIN ? BLOCKS_MIN : room;
	return room > BLOCKS_MAX ? BLOCKS_MAX : room;
}

const char *report_share_block(double share)
{
	static const char *const eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	int step = (int)(share * 8 - 0.5);

	if (share <= 0)
		return "·";
	return eighths[step < 0 ? 0 : step > 7 ? 7 : step];
}

/*
 * Write a row of blocks: the busy time of some CPUs over time, as a share of all their time; "?"
 * where their state is unknown for more than half of the time.
 */
static void blocks_cell(struct table *t, const struct report_sched *s, size_t first, size_t cpus,
			unsigned int count)
{
	double step = (double)s->elapsed / count;
	char text[BLOCKS_MAX * 4 + 1] = "";

	for (unsigned int i = 0; i < count; i++) {
		uint64_t time = s->all->from + (uint64_t)(step * i);
		uint64_t end = s->all->from + (uint64_t)(step * (i + 1));
		double busy = 0, unknown = 0;

		for (size_t c = first; c < first + cpus; c++) {
			const struct sched_cpu *cpu = s->all->cpus.items[c];

			busy += series_sum(&cpu->busy_when, time, end);
			unknown += series_sum(&cpu->unknown_when, time, end);
		}
		strcat(text, unknown > busy && unknown * 2 > step * (double)cpus
				     ? "?"
				     : report_share_block(busy / (step * (double)cpus)));
	}
	table_cell(t, text);
}

static void cpu_cells(struct table *t, const struct report_sched *s, size_t first, size_t cpus,
		      unsigned int blocks)
{
	uint64_t busy = 0, unknown = 0, idle = 0, all = s->elapsed * cpus, absent;

	for (size_t i = first; i < first + cpus; i++) {
		busy += s->all->cpus.items[i]->busy;
		idle += s->all->cpus.items[i]->idle;
		unknown += s->all->cpus.items[i]->unknown;
	}
	report_sched_share_cell(t, busy, all);
	report_sched_share_cell(t, unknown, all);
	absent = all - busy - idle - unknown;
	report_sched_share_cell(t, absent > all / ROUNDED_SHARE ? absent : 0, all);
	blocks_cell(t, s, first, cpus, blocks);
}

/* Compute the average number of waiting threads during each block; return the largest. */
static double compute_waiting(const struct report_sched *s, double *threads, unsigned int count)
{
	double step = (double)s->elapsed / count, most = 0;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t time = s->all->from + (uint64_t)(step * i);
		uint64_t end = s->all->from + (uint64_t)(step * (i + 1));

		threads[i] = series_sum(&s->all->waiting_when, time, end) / step;
		most = threads[i] > most ? threads[i] : most;
	}
	return most;
}

static void waiting_cells(struct table *t, const struct report_sched *s, const double *threads,
			  double most, unsigned int count)
{
	char text[BLOCKS_MAX * 4 + 1] = "";

	for (unsigned int i = 0; i < count; i++)
		strcat(text, report_share_block(most > 0 ? threads[i] / most : 0));
	table_cell(t, "waiting");
	table_cellf(t, "%.2f threads", (double)sched_queued(&s->all->times) / (double)s->elapsed);
	table_cell(t, "");
	table_cell(t, "");
	table_cell(t, text);
}

/*
 * Show the use of each CPU over time. Besides the shares that are shown (busy, unknown, and absent:
 * without any record), the CPU was idle.
 */
static int put_cpu_use(const struct report_sched *s, const struct screen *to)
{
	static const struct column columns[] = {
		{"CPU", STYLE_PLAIN, true, CUT_END, 0},
		{"busy", STYLE_BOLD, true, CUT_END, 0},
		{"unknown", STYLE_HOT, true, CUT_END, 0},
		{"absent", STYLE_DIM, true, CUT_END, 0},
		{"over time", STYLE_WARM, false, CUT_END, 0},
	};
	struct table t = {.columns = columns, .column_count = 5};
	unsigned int blocks = count_blocks(to);
	size_t cpus = s->all->cpus.count, count = report_row_limit(s->report, cpus, CPU_ROWS);
	double threads[BLOCKS_MAX], most = compute_waiting(s, threads, blocks);
	char text[160], length[64];

	show_duration(s->elapsed / blocks, length, sizeof(length));
	snprintf(text, sizeof(text),
		 "CPU use over time; a block is %s, full at 100 %% (waiting: %.1f threads)\n",
		 length, most);
	fputc('\n', to->out);
	screen_put(to, STYLE_BOLD, text);
	for (size_t i = 0; i < count; i++) {
		table_cellf(&t, "%" PRIu64, s->all->cpus.items[i]->number);
		cpu_cells(&t, s, i, 1, blocks);
	}
	if (cpus > 1) {
		table_cell(&t, "all");
		cpu_cells(&t, s, 0, cpus, blocks);
	}
	waiting_cells(&t, s, threads, most, blocks);
	return table_finish(&t, to, count, cpus);
}

static void put_cpu_wait_rows(struct table *t, const struct report_sched *s,
			      const struct histogram waits[static QUEUED_COUNT], const char *cpu,
			      uint64_t switches)
{
	double seconds = (double)s->elapsed / 1e9;

	for (int how = 0; how < QUEUED_COUNT; how++) {
		const struct histogram *h = &waits[how];
		bool woken = how == QUEUED_WOKEN;

		if (!h->count && !woken)
			continue;
		table_cell(t, cpu);
		report_sched_count_cell(t, woken ? (uint64_t)((double)switches / seconds) : 0);
		report_sched_count_cell(t, h->count);
		table_cell(t, woken ? "woken" : "preempted");
		report_sched_quantile_cell(t, h, 50);
		report_sched_quantile_cell(t, h, 90);
		report_sched_quantile_cell(t, h, 99);
		report_sched_duration_cell(t, h->max);
	}
}

/* Show how long threads waited for each CPU. */
static int put_cpu_waits(const struct report_sched *s, const struct screen *to)
{
	static const struct column columns[] = {
		{"CPU", STYLE_PLAIN, true, CUT_END, 0},
		{"switches/s", STYLE_PLAIN, true, CUT_END, 0},
		{"waits", STYLE_PLAIN, true, CUT_END, 0},
		{"after being", STYLE_PLAIN, false, CUT_END, 0},
		{"p50", STYLE_PLAIN, true, CUT_END, 0},
		{"p90", STYLE_PLAIN, true, CUT_END, 0},
		{"p99", STYLE_BOLD, true, CUT_END, 0},
		{"max", STYLE_WARM, true, CUT_END, 0},
	};
	struct table t = {.columns = columns, .column_count = 8};
	size_t cpus = s->all->cpus.count, count = report_row_limit(s->report, cpus, CPU_ROWS);

	fputc('\n', to->out);
	screen_put(to, STYLE_BOLD, "How long threads waited for a CPU\n");
	put_cpu_wait_rows(&t, s, s->waits, "all", s->switches);
	for (size_t i = 0; i < count && cpus > 1; i++) {
		const struct sched_cpu *c = s->all->cpus.items[i];
		char cpu[32];

		snprintf(cpu, sizeof(cpu), "%" PRIu64, c->number);
		put_cpu_wait_rows(&t, s, c->waits, cpu, c->switches);
	}
	return table_finish(&t, to, count, cpus);
}

int report_sched_cpus(const struct report_sched *s, const struct screen *to)
{
	int ret = s->elapsed ? put_cpu_use(s, to) : 0;

	return ret || !s->elapsed ? ret : put_cpu_waits(s, to);
}

/*
 * Columns by number of simultaneous threads. Each number has a column of its own; if there are more
 * numbers than columns, 3-4, 5-8 and so on share a column.
 */
#define AT_ONCE_NARROW 5 /* columns on a narrow screen */

struct thread_bins {
	size_t first[AT_ONCE_BINS + 1];
	unsigned int count;
};

static void choose_thread_bins(struct thread_bins *b, size_t most, bool wide)
{
	unsigned int bins = wide ? AT_ONCE_BINS : AT_ONCE_NARROW;

	*b = (struct thread_bins){.count = 1};
	for (size_t next = 1; next <= most && b->count < bins; b->count++) {
		b->first[b->count] = next;
		next = most <= bins - 1 || next < 3 ? next + 1 : 2 * next - 1;
	}
	b->first[b->count] = SIZE_MAX;
}

static void at_once_cells(struct table *t, const struct report_sched *s, const uint64_t *ns,
			  size_t count, const struct thread_bins *b)
{
	uint64_t parts[AT_ONCE_BINS] = {0}, sum = 0;
	double total = 0;
	unsigned int bin = 0;

	for (size_t k = 1; k < count; k++) {
		while (k >= b->first[bin + 1])
			bin++;
		parts[bin] += ns[k];
		sum += ns[k];
		total += (double)k * (double)ns[k];
	}
	parts[0] = s->elapsed > sum ? s->elapsed - sum : 0;
	table_cellf(t, "%.2f", total / (double)s->elapsed);
	for (unsigned int i = 0; i < b->count; i++)
		report_sched_share_cell(t, parts[i], s->elapsed);
}

static unsigned int at_once_columns(struct column *columns, const struct thread_bins *b,
				    size_t most, char (*titles)[32])
{
	columns[0] = (struct column){"average", STYLE_BOLD, true, CUT_END, 0};
	for (unsigned int i = 0; i < b->count; i++) {
		size_t first = b->first[i], next = b->first[i + 1];

		if (next == first + 1 || (next == SIZE_MAX && first >= most))
			snprintf(titles[i], sizeof(titles[i]), "%zu", first);
		else if (next == SIZE_MAX)
			snprintf(titles[i], sizeof(titles[i]), "%zu+", first);
		else
			snprintf(titles[i], sizeof(titles[i]), "%zu-%zu", first, next - 1);
		columns[i + 1] = (struct column){titles[i], STYLE_PLAIN, true, CUT_END, 0};
	}
	return b->count + 1;
}

int report_sched_at_once(const struct report_sched *s, const struct screen *to, enum group_by by)
{
	struct column columns[TABLE_MAX_COLUMNS];
	const struct sched_rows *rows = &s->rows[by];
	size_t count = report_row_limit(s->report, rows->order.count, PROCESS_ROWS), shown = 0,
	       most;
	struct table t = {.columns = columns};
	char titles[AT_ONCE_BINS][32];
	struct thread_bins bins;

	if (!s->elapsed)
		return 0;
	most = s->all->at_once.done.count ? s->all->at_once.done.count - 1 : 0;
	choose_thread_bins(&bins, most, to->width >= SCHED_WIDE);
	t.column_count = at_once_columns(columns, &bins, most, titles);
	t.column_count += report_sched_id_columns(columns + t.column_count, by, to);
	fputc('\n', to->out);
	screen_put(to, STYLE_BOLD, AT_ONCE_TITLE);
	at_once_cells(&t, s, s->all->at_once.done.items, s->all->at_once.done.count, &bins);
	table_cell(&t, "");
	table_cell(&t, "the machine");
	for (size_t i = 0; i < rows->order.count; i++) {
		const struct sched_row *r = report_sched_row(rows, i);

		/* leave out groups of which two threads never ran at once */
		if (r->at_once.count < 3 || shown++ >= count)
			continue;
		at_once_cells(&t, s, r->at_once.items, r->at_once.count, &bins);
		report_sched_id_cells(&t, r, by, to);
	}
	return table_finish(&t, to, count < shown ? count : shown, shown);
}
