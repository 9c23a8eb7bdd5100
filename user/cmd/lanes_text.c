// SPDX-License-Identifier: Apache-2.0
/* Lay out a timeline: the axis, titles beside their lanes, the legend, and losses. */
#include <inttypes.h>
#include <string.h>

#include "analyze/groups.h"
#include "base/outfile.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/lanes_axis.h"
#include "cmd/lanes_text.h"
#include "cmd/report_sched.h"

#define TITLE_BYTES 256
#define NUMBERED_BYTES (TITLE_BYTES + 24) /* of a title with a number */
#define TITLE_COLUMNS_MIN 8
#define INTERRUPTS_TITLE "  interrupts"
#define SHARE_COLUMNS 6 /* columns of " 100% " */
#define LANE_COLUMNS_MIN 10

/* Widths of the parts of a timeline. */
struct lanes_layout {
	struct lanes *lanes;
	const struct screen *screen;
	const struct canvas *canvas;
	unsigned int title; /* columns of a title with its swatch of colour */
	unsigned int columns; /* columns of a lane */
};

/* Make a name safe for the terminal and fit it into the given number of columns. */
static char *fit_lane_name(const struct lanes_layout *y, const char *name, unsigned int columns,
			   char *buf, size_t size)
{
	char clean[TITLE_BYTES];

	text_clean(name, clean, sizeof(clean));
	if (!y->canvas->utf8)
		for (char *c = clean; *c; c++)
			*c = (*c & 0x80) ? '?' : *c;
	if (y->canvas->utf8 || strlen(clean) <= columns)
		return text_fit(clean, columns, false, buf, size);
	snprintf(buf, size, "%.*s~", (int)columns - 1, clean);
	return buf;
}

/*
 * Fit a name and what follows it into the given number of columns: shorten the name, but not to
 * less than 3 columns, and never the end.
 */
static char *name_and_end(const struct lanes_layout *y, const char *name, const char *end,
			  unsigned int columns, char buf[static NUMBERED_BYTES])
{
	char fitted[TITLE_BYTES];
	unsigned int taken = strlen(end), room = columns > taken + 3 ? columns - taken : 3;

	snprintf(buf, NUMBERED_BYTES, "%s%s", fit_lane_name(y, name, room, fitted, sizeof(fitted)),
		 end);
	return buf;
}

/* Fit "name 123" into the given number of columns. */
static char *name_and_number(const struct lanes_layout *y, const char *name, uint64_t number,
			     unsigned int columns, char buf[static NUMBERED_BYTES])
{
	char digits[24];

	snprintf(digits, sizeof(digits), " %" PRIu64, number);
	return name_and_end(y, name, digits, columns, buf);
}

static const struct lane_thread *row_thread(const struct lanes_layout *y,
					    const struct lane_row *row)
{
	return &y->lanes->entities.threads.items[row->thread];
}

static const struct lane_process *row_process(const struct lanes_layout *y,
					      const struct lane_row *row)
{
	uint32_t at = row_thread(y, row)->process;

	return at == LANES_NONE ? NULL : &y->lanes->entities.processes.items[at];
}

/* Return how many rows, from first on, belong to the same process. */
static size_t count_process_rows(const struct lanes_layout *y, size_t first)
{
	const lane_rows_t *rows = &y->lanes->threads;
	size_t i = first + 1;

	while (i < rows->count && row_thread(y, &rows->items[i])->process ==
					  row_thread(y, &rows->items[first])->process)
		i++;
	return i - first;
}

static const char *sliced_name(const struct lane_row *row)
{
	return *row->sliced->name ? row->sliced->name : lane_kind_word(row->sliced->kind);
}

/* Fit "name 123" of a thread, or "name x5" of five, into the given number of columns. */
static char *thread_row_title(const struct lanes_layout *y, const struct lane_row *row,
			      unsigned int columns, char buf[static NUMBERED_BYTES])
{
	char own[LANES_ROW_NAME], count[24];
	const char *name = lanes_row_name(y->lanes, row, own);

	name = *name ? name : "[unknown]";
	if (row->parts.count <= 1)
		return name_and_number(y, name, row_thread(y, row)->tid, columns, buf);
	snprintf(count, sizeof(count), " x%zu", row->parts.count);
	return name_and_end(y, name, count, columns, buf);
}

static const char *runtime_row_name(const struct lane_row *row)
{
	return *row->runtime->name ? row->runtime->name : lane_kind_word(row->runtime->kind);
}

static const char *runtime_row_title(const struct lane_row *row)
{
	return row->runtime->kind == LANE_HANDLERS ? INTERRUPTS_TITLE : runtime_row_name(row);
}

static const struct lane_counter *row_counter(const struct lanes_layout *y,
					      const struct counter_row *row)
{
	return &y->lanes->entities.counters.list.items[row->counter];
}

/* Fit the name of a counter and the top of its scale into the given number of columns. */
static char *counter_row_title(const struct lanes_layout *y, const struct counter_row *row,
			       unsigned int columns, char buf[static NUMBERED_BYTES])
{
	const struct lane_counter *c = row_counter(y, row);
	char scale[COUNTER_SCALE_SIZE], end[COUNTER_SCALE_SIZE + 2];

	snprintf(end, sizeof(end), "  %s", lanes_counter_scale(c, scale));
	return name_and_end(y, *c->name ? c->name : "[unknown]", end, columns, buf);
}

/* Choose the width of titles, enough for all but at most a third of the screen; then of lanes. */
static void choose_lane_widths(struct lanes_layout *y)
{
	const struct lanes *l = y->lanes;
	unsigned int most =
		y->screen->width / 3 > TITLE_COLUMNS_MIN ? y->screen->width / 3 : TITLE_COLUMNS_MIN;
	unsigned int widest = TITLE_COLUMNS_MIN;
	char text[NUMBERED_BYTES];

	for (size_t i = 0; i < l->threads.count; i++) {
		unsigned int width =
			text_width(thread_row_title(y, &l->threads.items[i], most, text));

		width += canvas_swatch_width(y->canvas) + 1;
		widest = width > widest ? width : widest;
	}
	for (size_t i = 0; i < l->sliced.count; i++) {
		const struct lane_row *row = &l->sliced.items[i];
		unsigned int width = text_width(
			name_and_number(y, sliced_name(row), row->sliced->number, most, text));

		widest = width > widest ? width : widest;
	}
	for (size_t i = 0; i < l->runtimes.count; i++) {
		unsigned int width = text_width(fit_lane_name(
			y, runtime_row_title(&l->runtimes.items[i]), most, text, sizeof(text)));

		width += canvas_swatch_width(y->canvas) + 1;
		widest = width > widest ? width : widest;
	}
	for (size_t i = 0; i < l->entities.counters.rows.count; i++) {
		unsigned int width = text_width(
			counter_row_title(y, &l->entities.counters.rows.items[i], most, text));

		width += canvas_swatch_width(y->canvas) + 1;
		widest = width > widest ? width : widest;
	}
	y->title = widest < most ? widest : most;
	y->columns = y->screen->width > y->title + SHARE_COLUMNS + LANE_COLUMNS_MIN
			     ? y->screen->width - y->title - SHARE_COLUMNS
			     : LANE_COLUMNS_MIN;
}

static void put_spaces(const struct lanes_layout *y, unsigned int count)
{
	fprintf(y->canvas->out, "%*s", (int)count, "");
}

/*
 * Show the busy share of a row in whole percent, because cells have 1/127 as their precision. <1%
 * means that the lane was busy at times, >99% that it was not busy throughout.
 */
static const char *show_busy_share(const struct lane_row *row, char *buf, size_t size)
{
	double percent = row->busy * 100;

	if (percent >= 100.5) /* of several threads */
		snprintf(buf, size, "%.0f%%", percent);
	else if (row->full)
		snprintf(buf, size, "100%%");
	else if (percent >= 99.5)
		snprintf(buf, size, ">99%%");
	else if (percent > 0 && percent < 1)
		snprintf(buf, size, "<1%%");
	else
		snprintf(buf, size, "%.0f%%", percent);
	return buf;
}

/* Draw the share and the lane after a title that took the given number of columns. */
static void draw_lane(const struct lanes_layout *y, const struct lane_row *row, unsigned int taken)
{
	char text[16];

	put_spaces(y, y->title > taken ? y->title - taken : 0);
	fprintf(y->canvas->out, " %4s ", show_busy_share(row, text, sizeof(text)));
	canvas_draw_lane(y->canvas, row->strokes, y->columns);
	fputc('\n', y->canvas->out);
}

static void put_more_lanes(const struct lanes_layout *y, size_t shown, size_t all, const char *what)
{
	char text[128];

	if (shown >= all)
		return;
	snprintf(text, sizeof(text), "... and %zu more %s%s (-n 0 shows all)\n", all - shown, what,
		 all - shown == 1 ? "" : "s");
	screen_put(y->screen, STYLE_DIM, text);
}

/*
 * Draw a swatch in the colour of a process's program, in front of a title; blank if the program has
 * no colour of its own.
 */
static void draw_program_swatch(const struct lanes_layout *y, const struct lane_process *p)
{
	enum fill fill = p ? lanes_fill_of_program(y->lanes, p->program) : FILL_OTHERS;

	if (fill == FILL_OTHERS)
		fill = FILL_NONE;
	canvas_draw_swatch(y->canvas, fill);
	fputc(' ', y->canvas->out);
}

/* Return what a row of threads is called. */
static const char *row_word(const struct lanes_layout *y)
{
	return y->lanes->by == LANES_BY_THREAD ? "thread" : "lane";
}

/* Draw the name of a process with several threads on a line of its own. */
static void draw_process(const struct lanes_layout *y, const struct lane_process *p, size_t drawn)
{
	unsigned int room = y->screen->width - canvas_swatch_width(y->canvas) - 1;
	const char *what = row_word(y);
	char name[NUMBERED_BYTES], count[64];

	if (!p->rows)
		snprintf(count, sizeof(count), "  no thread wanted a CPU\n");
	else if (drawn < p->rows)
		snprintf(count, sizeof(count), "  %zu of %" PRIu32 " %ss\n", drawn, p->rows, what);
	else
		snprintf(count, sizeof(count), "  %zu %s%s\n", drawn, what, drawn == 1 ? "" : "s");
	draw_program_swatch(y, p);
	screen_put(y->screen, STYLE_BOLD,
		   name_and_number(y, process_name(&p->p), p->p.pid, room - strlen(count), name));
	screen_put(y->screen, STYLE_DIM, count);
}

static void draw_thread(const struct lanes_layout *y, const struct lane_row *row, bool alone)
{
	unsigned int key = canvas_swatch_width(y->canvas) + 1;
	char text[NUMBERED_BYTES];

	if (alone)
		draw_program_swatch(y, row_process(y, row));
	else
		put_spaces(y, key);
	thread_row_title(y, row, y->title - key, text);
	screen_put(y->screen, alone ? STYLE_BOLD : STYLE_PLAIN, text);
	draw_lane(y, row, key + text_width(text));
}

/* Return the rows of the runtimes of a process: the index of the first, and their number. */
static size_t runtimes_of(const struct lanes *l, uint32_t process, size_t *count)
{
	size_t first = 0;

	while (first < l->runtimes.count && l->runtimes.items[first].process != process)
		first++;
	for (*count = 0; first + *count < l->runtimes.count &&
			 l->runtimes.items[first + *count].process == process;)
		(*count)++;
	return first;
}

static void draw_runtimes(const struct lanes_layout *y, size_t first, size_t count)
{
	unsigned int key = canvas_swatch_width(y->canvas) + 1;

	for (size_t i = first; i < first + count; i++) {
		const struct lane_row *row = &y->lanes->runtimes.items[i];
		char text[TITLE_BYTES];

		put_spaces(y, key);
		fit_lane_name(y, runtime_row_name(row), y->title - key, text, sizeof(text));
		screen_put(y->screen, STYLE_DIM, text);
		draw_lane(y, row, key + text_width(text));
	}
}

/* Return the sign of a counter's column: its largest value as a share of the scale. */
static const char *counter_sign(const struct lanes_layout *y, const struct lane_counter *c,
				const struct counter_column *column)
{
	static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
	double bottom = lanes_counter_bottom(c), range = lanes_counter_top(c) - bottom, share;

	if (isnan(column->least))
		return column->lost ? "?" : " ";
	share = range > 0 ? (column->most - bottom) / range : 0;
	if (y->canvas->utf8)
		return report_share_block(share);
	return digits[share <= 0 ? 0 : share * 9 < 1 ? 1 : (int)(share * 9 + 0.5)];
}

static void draw_counter(const struct lanes_layout *y, const struct counter_row *row)
{
	unsigned int key = canvas_swatch_width(y->canvas) + 1;
	const struct lane_counter *c = row_counter(y, row);
	char text[NUMBERED_BYTES];

	put_spaces(y, key);
	counter_row_title(y, row, y->title - key, text);
	screen_put(y->screen, STYLE_DIM, text);
	key += text_width(text);
	put_spaces(y, (y->title > key ? y->title - key : 0) + SHARE_COLUMNS);
	for (unsigned int i = 0; i < y->columns; i++)
		screen_put(y->screen, STYLE_PLAIN, counter_sign(y, c, &row->columns[i]));
	fputc('\n', y->canvas->out);
}

/* Draw the counters of a CPU, by its lane.id. */
static void draw_cpu_counters(const struct lanes_layout *y, uint64_t cpu)
{
	const struct lanes_counters *c = &y->lanes->entities.counters;

	for (size_t i = 0; i < c->rows.count; i++)
		if (row_counter(y, &c->rows.items[i])->lane == cpu)
			draw_counter(y, &c->rows.items[i]);
}

static void draw_cpus(const struct lanes_layout *y)
{
	const struct lanes *l = y->lanes;

	for (size_t i = 0; i < l->cpus.count; i++) {
		const struct lane_row *interrupts;
		char text[32];

		snprintf(text, sizeof(text), "CPU %" PRIu64, l->cpus.items[i].cpu);
		screen_put(y->screen, STYLE_PLAIN, text);
		draw_lane(y, &l->cpus.items[i], strlen(text));
		interrupts = lanes_interrupts_of(l, l->cpus.items[i].cpu);
		if (interrupts) {
			fputs(INTERRUPTS_TITLE, y->canvas->out);
			draw_lane(y, interrupts, strlen(INTERRUPTS_TITLE));
		}
		draw_cpu_counters(y, l->cpus.items[i].lane);
	}
	put_more_lanes(y, l->cpus.count, l->cpu_total, "CPU");
}

/* Return how many rows of counters a process, by its index, has; and draw them if that is asked. */
static size_t draw_counters(const struct lanes_layout *y, uint32_t process, bool draw)
{
	const struct lanes_counters *c = &y->lanes->entities.counters;
	size_t count = 0;

	for (size_t i = 0; i < c->rows.count; i++) {
		if (row_counter(y, &c->rows.items[i])->process != process)
			continue;
		count++;
		if (draw)
			draw_counter(y, &c->rows.items[i]);
	}
	return count;
}

static bool has_thread_row(const struct lanes_layout *y, uint32_t process)
{
	const lane_rows_t *rows = &y->lanes->threads;
	size_t i = 0;

	while (i < rows->count && row_thread(y, &rows->items[i])->process != process)
		i++;
	return i < rows->count;
}

/* Draw the runtimes and their counters of processes without a row of a thread. */
static void draw_other_runtimes(const struct lanes_layout *y)
{
	const struct lanes *l = y->lanes;

	for (size_t first = 0, count; first < l->runtimes.count; first += count) {
		uint32_t process = l->runtimes.items[first].process;

		runtimes_of(l, process, &count);
		if (process == LANES_NONE || has_thread_row(y, process))
			continue;
		draw_process(y, &l->entities.processes.items[process], 0);
		draw_runtimes(y, first, count);
		draw_counters(y, process, true);
	}
}

/* Draw the counters of processes and CPUs without any other row, and those of neither. */
static void draw_other_counters(const struct lanes_layout *y)
{
	const struct lanes *l = y->lanes;
	const struct lanes_counters *c = &l->entities.counters;

	for (size_t i = 0; i < c->rows.count; i++) {
		uint32_t process = row_counter(y, &c->rows.items[i])->process;
		size_t runtimes;

		if (lanes_counter_is_of_cpu(l, row_counter(y, &c->rows.items[i])))
			continue;
		if (process != LANES_NONE) {
			runtimes_of(l, process, &runtimes);
			if (runtimes || has_thread_row(y, process))
				continue;
			if (!i || row_counter(y, &c->rows.items[i - 1])->process != process)
				draw_process(y, &l->entities.processes.items[process], 0);
		}
		draw_counter(y, &c->rows.items[i]);
	}
}

static void draw_threads(const struct lanes_layout *y)
{
	const struct lanes *l = y->lanes;

	for (size_t i = 0; i < l->threads.count;) {
		size_t size = count_process_rows(y, i), runtimes;
		const struct lane_process *p = row_process(y, &l->threads.items[i]);
		uint32_t process = row_thread(y, &l->threads.items[i])->process;
		size_t first = runtimes_of(l, process, &runtimes);
		/* a row of several threads does not say which process has them */
		bool alone = !p || (size == 1 && p->rows == 1 && !runtimes &&
				    !draw_counters(y, process, false) &&
				    l->threads.items[i].parts.count <= 1);

		if (!alone)
			draw_process(y, p, size);
		if (p) {
			draw_runtimes(y, first, runtimes);
			draw_counters(y, process, true);
		}
		for (size_t n = 0; n < size; n++)
			draw_thread(y, &l->threads.items[i + n], alone);
		i += size;
	}
	put_more_lanes(y, l->threads.count, l->thread_total, row_word(y));
	draw_other_runtimes(y);
	draw_other_counters(y);
	put_more_lanes(y, l->entities.counters.rows.count, l->entities.counters.total, "counter");
}

static void draw_sliced(const struct lanes_layout *y)
{
	const struct lanes *l = y->lanes;

	for (size_t i = 0; i < l->sliced.count; i++) {
		const struct lane_row *row = &l->sliced.items[i];
		char text[NUMBERED_BYTES];

		name_and_number(y, sliced_name(row), row->sliced->number, y->title, text);
		screen_put(y->screen, STYLE_PLAIN, text);
		draw_lane(y, row, text_width(text));
	}
	put_more_lanes(y, l->sliced.count, l->sliced_total, "lane");
}

/* State of a legend whose entries are filled into lines. */
struct legend {
	const struct lanes_layout *layout;
	unsigned int column;
};

static void draw_legend_entry(struct legend *g, enum fill fill, const char *word)
{
	const struct lanes_layout *y = g->layout;
	unsigned int indent = y->title + SHARE_COLUMNS;
	unsigned int width = canvas_swatch_width(y->canvas) + 1 + text_width(word);

	if (g->column && g->column + 2 + width > y->columns) {
		fputc('\n', y->canvas->out);
		g->column = 0;
	}
	put_spaces(y, g->column ? 2 : indent);
	g->column += width + (g->column ? 2 : 0);
	canvas_draw_swatch(y->canvas, fill);
	fputc(' ', y->canvas->out);
	fputs(word, y->canvas->out);
}

static void draw_used_fill(struct legend *g, uint64_t used, enum fill fill)
{
	if (used & (1ULL << fill))
		draw_legend_entry(g, fill, fill_look(fill)->word);
}

/* Draw the legend of the lanes of CPUs: the programs, and what else occurs there. */
static void draw_program_legend(const struct lanes_layout *y)
{
	const struct lanes *l = y->lanes;
	struct legend g = {.layout = y};

	for (unsigned int i = 0; i < l->program_count; i++) {
		char name[TITLE_BYTES];

		fit_lane_name(y, names_text(&l->entities.programs, l->top_programs[i]), 20, name,
			      sizeof(name));
		draw_legend_entry(&g, FILL_PROGRAM_A + i, name);
	}
	draw_used_fill(&g, l->used_on_cpus, FILL_OTHERS);
	draw_used_fill(&g, l->used_on_cpus, FILL_IDLE);
	draw_used_fill(&g, l->used_on_cpus, FILL_UNKNOWN);
	fputs(g.column ? "\n\n" : "\n", y->canvas->out);
}

/* Draw the legend of the thread states that occur in the timeline. */
static void draw_state_legend(const struct lanes_layout *y)
{
	struct legend g = {.layout = y};

	for (enum fill p = FILL_RUNNING; p <= FILL_UNKNOWN; p++)
		draw_used_fill(&g, y->lanes->used | y->lanes->used_by_runtimes, p);
	for (enum fill p = FILL_COLLECTION; p < FILL_COUNT; p++)
		draw_used_fill(&g, y->lanes->used_by_runtimes, p);
	fputc('\n', y->canvas->out);
}

/* Explain what the signs that are in use mean beside their colour or letter. */
static void put_signs(const struct lanes_layout *y)
{
	const struct lanes *l = y->lanes;
	bool letters = y->canvas->colors == COLORS_NONE || !y->canvas->utf8;
	bool partly = (l->used | l->used_on_cpus | l->used_by_runtimes) & (1ULL << LANES_PARTLY);
	char text[1024];
	size_t used = (size_t)snprintf(text, sizeof(text),
				       "%%: the part of the time in which a CPU was busy, a thread "
				       "ran%s; %s before a name: its program",
				       l->runtimes.count ? ", a runtime did what is drawn" : "",
				       letters ? "letter" : "colour");

	if (l->used_on_cpus & (1ULL << LANES_PARTLY) && letters)
		used = text_append(text, sizeof(text), used,
				   "; small letter of a program: the CPU was busy for half of the "
				   "time or less");
	if (l->used & (1ULL << LANES_PARTLY) && letters)
		used = text_append(text, sizeof(text), used,
				   "; capital of a state: also ran, for half of the time or less; "
				   "%s: ran for a part, the denser the longer",
				   y->canvas->utf8 ? "░ ▒ ▓" : ": + *");
	if (l->used_by_runtimes & (1ULL << LANES_PARTLY) && letters)
		used = text_append(text, sizeof(text), used,
				   "; small letter in a row of a runtime: for half of the time or "
				   "less");
	if (partly && !letters)
		used = text_append(
			text, sizeof(text), used,
			"; height of a bar: how much of the time, the rest as the colour "
			"above it");
	if (l->used & (1ULL << FILL_NONE))
		used = text_append(text, sizeof(text), used,
				   "; blank: the thread had not started, or had ended");
	if (l->runtimes.count)
		used = text_append(text, sizeof(text), used,
				   "; blank in a row of a runtime: none of this");
	if (l->entities.counters.rows.count)
		used = text_append(text, sizeof(text), used,
				   "; %s in a row of a counter: the largest value, as a share of "
				   "that behind the name; blank: none, ?: one may be lost",
				   y->canvas->utf8 ? "block" : "digit");
	if (l->used_on_cpus & (1ULL << FILL_NONE))
		text_append(text, sizeof(text), used, "; blank on a CPU: offline");
	screen_put_paragraph(y->screen, "Signs", STYLE_PLAIN, text);
}

static void draw_time_range(const struct lanes_layout *y)
{
	const struct lanes *l = y->lanes;
	const struct host *h = &l->entities.host;
	uint64_t range = l->end - l->time, whole = h->end - h->start;
	uint64_t from = l->time - h->start, to = l->end - h->start;
	char first[48], last[48], text[512];
	int used = snprintf(text, sizeof(text), "%.64s, ",
			    h->hostname && *h->hostname ? h->hostname : "unknown host");

	if (range < whole)
		used = text_append(text, sizeof(text), used, "%s to %s of ",
				   axis_format_time(from, to, range, first, sizeof(first)),
				   axis_format_time(to, to, range, last, sizeof(last)));
	used = text_append(text, sizeof(text), used, "%s",
			   show_duration(whole, last, sizeof(last)));
	snprintf(text + used, sizeof(text) - used, "; a character is %s",
		 show_duration(range / y->columns, last, sizeof(last)));
	screen_put_paragraph(y->screen, "Timeline", STYLE_PLAIN, text);
	if (l->unfinished)
		screen_put_paragraph(
			y->screen, "Unfinished", STYLE_WARM,
			"the recording still runs, or its recorder was killed: this is all "
			"but its last second");
}

void lanes_count_losses(const struct lanes *l, uint64_t counts[static LOSS_COUNT])
{
	memset(counts, 0, LOSS_COUNT * sizeof(*counts));
	for (size_t i = 0; i < l->entities.losses.count; i++) {
		const struct loss *loss = &l->entities.losses.items[i];

		if (loss->time < l->end && loss->end >= l->time)
			counts[loss->reason < LOSS_COUNT ? loss->reason : LOSS_NONE] += loss->count;
	}
}

/* Show the losses that overlap the range. */
static void draw_lane_losses(const struct lanes_layout *y)
{
	uint64_t counts[LOSS_COUNT];

	lanes_count_losses(y->lanes, counts);
	for (int reason = 0; reason < LOSS_COUNT; reason++) {
		char count[32], text[512];

		if (!counts[reason])
			continue;
		snprintf(text, sizeof(text), "%s %s%s%s",
			 show_count(counts[reason], count, sizeof(count)),
			 reason ? loss_reason_word(reason)
				: "for a reason that this skein does "
				  "not know",
			 reason ? ": " : "", reason ? loss_reason_text(reason) : "");
		screen_put_paragraph(y->screen, "Lost", STYLE_WARM, text);
	}
}

int lanes_text(struct lanes *l, const struct screen *s, const struct canvas *c, struct error *err)
{
	struct lanes_layout y = {.lanes = l, .screen = s, .canvas = c};
	struct axis axis = {0};
	int ret;

	choose_lane_widths(&y);
	ret = lanes_render(l, y.columns, err);
	if (ret < 0)
		return ret;
	draw_time_range(&y);
	fputc('\n', c->out);
	axis = (struct axis){.start = l->entities.host.start,
			     .time = l->time,
			     .end = l->end,
			     .columns = y.columns,
			     .utf8 = c->utf8};
	put_spaces(&y, y.title + SHARE_COLUMNS);
	axis_print(&axis, s);
	draw_cpus(&y);
	draw_program_legend(&y);
	if (l->threads.count || l->sliced.count || l->runtimes.count ||
	    l->entities.counters.rows.count) {
		draw_threads(&y);
		draw_sliced(&y);
		draw_state_legend(&y);
	} else {
		screen_put(s, STYLE_DIM, "no thread wanted a CPU\n");
	}
	put_signs(&y);
	draw_lane_losses(&y);
	return outfile_flush(c->out, "the timeline", err);
}
