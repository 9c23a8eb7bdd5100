// SPDX-License-Identifier: Apache-2.0
/* Test the timeline in a terminal: the choice of lanes, their strokes and the layout. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "base/text.h"
#include "cmd/lanes_axis.h"
#include "cmd/lanes_text.h"
#include "lanes_golden.h"
#include "reference.h"
#include "scene.h"
#include "suite.h"
#include "synthetic.h"

#define MS 1000000ULL
#define START 5000000000ULL

/*
 * 80 ms of two CPUs. Thread 1 (web) computes and waits for a lock, 2 (web's helper) waits for the
 * disk, 3 (cat) for a CPU, 4 never runs, and 5 has a hostile name.
 */
static const struct reference_stretch acts[] = {
	{1, START, START + 40 * MS, STATE_RUNNING, 0, 1},
	{1, START + 40 * MS, START + 60 * MS, STATE_IDLE, 0, 0},
	{1, START + 60 * MS, START + 80 * MS, STATE_RUNNING, 0, 3},
	{2, START, START + 20 * MS, STATE_IDLE, 0, 0},
	{2, START + 20 * MS, START + 30 * MS, STATE_RUNNING, 0, 2},
	{2, START + 30 * MS, START + 50 * MS, STATE_IDLE, 0, 0},
	{2, START + 50 * MS, START + 60 * MS, STATE_UNKNOWN, 0, 0},
	{2, START + 60 * MS, START + 61 * MS, STATE_RUNNING, 0, 5},
	{2, START + 61 * MS, START + 80 * MS, STATE_IDLE, 0, 0},
	{11, START, START + 40 * MS, STATE_RUNNING, 0, 0},
	{11, START + 40 * MS, START + 80 * MS, STATE_SLEEPING, WAIT_LOCK, 0},
	{12, START, START + 20 * MS, STATE_DISK, WAIT_IO, 0},
	{12, START + 20 * MS, START + 30 * MS, STATE_RUNNING, 0, 0},
	{12, START + 30 * MS, START + 50 * MS, STATE_SLEEPING, WAIT_SLEEP, 0},
	{12, START + 50 * MS, START + 60 * MS, STATE_UNKNOWN, 0, 0},
	{12, START + 60 * MS, START + 80 * MS, STATE_SLEEPING, WAIT_POLL, 0},
	{13, START + 30 * MS, START + 60 * MS, STATE_RUNNABLE, 0, 0},
	{13, START + 60 * MS, START + 80 * MS, STATE_RUNNING, 0, 0},
	{14, START, START + 80 * MS, STATE_SLEEPING, WAIT_PIPE, 0},
	{15, START + 60 * MS, START + 61 * MS, STATE_RUNNING, 0, 0},
	{15, START + 61 * MS, START + 80 * MS, STATE_SLEEPING, WAIT_OTHER, 0},
	{20, START, START + 10 * MS, STATE_RUNNING, 0, 1},
	{21, START + 20 * MS, START + 60 * MS, STATE_RUNNING, 0, 1},
	{21, START + 60 * MS, START + 80 * MS, STATE_RUNNABLE, 0, 0},
};
static const struct reference acts_reference = {acts, sizeof(acts) / sizeof(acts[0])};

static const struct host host = {
	.id = 1, .hostname = "web-1", .cpus = 2, .start = START, .end = START + 80 * MS};
static const struct process processes[] = {
	{.id = 1, .host = 1, .pid = 100, .comm = "web"},
	{.id = 2, .host = 1, .pid = 200, .comm = "cat"},
	{.id = 3,
	 .host = 1,
	 .pid = 300,
	 .comm = "a\033[2J\n\xe2\x80\xae"
		 "b"},
};
static const struct thread threads[] = {
	{1, 1, 100, START, 0, "web", 11, 0, ""},
	{2, 1, 101, START, START + 10 * MS, "web", 12, 0, ""},
	{3, 2, 200, START + 30 * MS, 0, "cat", 13, 0, ""},
	{4, 1, 102, START, 0, "spare", 14, 0, ""},
	{5, 3, 300, START + 60 * MS, 0,
	 "a\033[2J\n\xe2\x80\xae"
	 "b",
	 15, 0, ""},
	{6, 1, 101, START + 10 * MS, 0, "helper", 12, 0, ""},
	{7, 1, 103, START, 0, "without a lane", 0, 0, ""},
};
static const struct lane lanes_list[] = {
	{1, 1, 0, LANE_CPU, 0, "CPU 0"},   {2, 1, 0, LANE_CPU, 1, "CPU 1"},
	{11, 1, 0, LANE_THREAD, 1, "web"}, {12, 1, 0, LANE_THREAD, 2, "web"},
	{13, 1, 0, LANE_THREAD, 3, "cat"}, {14, 1, 0, LANE_THREAD, 4, "spare"},
	{15, 1, 0, LANE_THREAD, 5, ""},
};
static const struct loss losses[] = {
	{1, 1, 0, 2, LOSS_SWITCHES_LOST, START + 50 * MS, START + 60 * MS, 1234, 0},
	{2, 1, 1, 2, LOSS_RING_FULL, START + 50 * MS, START + 60 * MS, 99, 0}, /* of samples */
};

static void acts_build(struct scene *s, const void *unused)
{
	(void)unused;
	scene_put(s, KIND_HOST, &host);
	SCENE_PUT_ALL(s, PROCESS, processes);
	SCENE_PUT_ALL(s, THREAD, threads);
	SCENE_PUT_ALL(s, LANE, lanes_list);
	SCENE_PUT_ALL(s, LOSS, losses);
}

DEFINE_SCENE(acts_source, acts_build)

static const struct lane actors[] = {
	{20, 1, 0, LANE_ACTOR, 7, ""},
	{21, 1, 0, LANE_ACTOR, 8, "room_\033[2J"},
	{22, 1, 0, LANE_ACTOR, 9, "idle"},
};

static void actors_build(struct scene *s, const void *unused)
{
	acts_build(s, unused);
	SCENE_PUT_ALL(s, LANE, actors);
}

DEFINE_SCENE(actors_source, actors_build)

static const struct lanes_windows acts_windows = {reference_window, reference_free,
						  (void *)&acts_reference, NULL};

struct view {
	uint64_t from, to; /* ns since START */
	struct filter filter;
	struct lanes_limits limits;
	unsigned int width;
	enum canvas_colors colors;
	bool utf8, actors;
};

static char *shown(const struct view *v)
{
	char *text = NULL;
	size_t size = 0;
	struct screen s = {.out = open_memstream(&text, &size),
			   .width = v->width,
			   .color = v->colors != COLORS_NONE};
	struct canvas c = {s.out, v->colors, v->utf8};
	struct source *source = NULL;
	struct lanes l = {.windows = &acts_windows, .time = START + v->from, .end = START + v->to};
	struct error err = {""};

	ck_assert_int_eq(filter_source(&source, v->actors ? actors_source() : acts_source(),
				       &v->filter, &err),
			 0);
	ck_assert_int_eq(lanes_read(&l, source, &err), 0);
	ck_assert_int_eq(lanes_choose(&l, &v->limits, &err), 0);
	ck_assert_int_eq(lanes_text(&l, &s, &c, &err), 0);
	fclose(s.out);
	lanes_free(&l);
	source_free(source);
	return text;
}

static void expect(struct view v, const char *expected)
{
	char *text = shown(&v);

	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(ascii)
{
	expect((struct view){.to = 80 * MS, .width = 70}, golden_ascii);
}
END_TEST

START_TEST(letters)
{
	expect((struct view){.to = 80 * MS, .width = 70, .utf8 = true}, golden_letters);
}
END_TEST

START_TEST(colours)
{
	expect((struct view){.to = 80 * MS, .width = 70, .utf8 = true, .colors = COLORS_256},
	       golden_colours);
}
END_TEST

START_TEST(closer)
{
	expect((struct view){.from = 59 * MS, .to = 61500000, .width = 70}, golden_closer);
}
END_TEST

/* One process with its waiting threads; then one CPU and two of the threads that ran. */
START_TEST(what_is_asked_for)
{
	expect((struct view){.to = 80 * MS,
			     .width = 70,
			     .filter = {.pids = "100"},
			     .limits = {.everything = true}},
	       golden_process);
	expect((struct view){.to = 80 * MS, .width = 70, .limits = {.cpus = 1, .threads = 2}},
	       golden_few);
}
END_TEST

START_TEST(nobody_ran)
{
	expect(
		(struct view){
			.from = 62 * MS, .to = 63 * MS, .width = 70, .filter = {.pids = "300"}},
		golden_nobody);
}
END_TEST

/* Lanes whose states are their own slices have rows after those of the threads. */
START_TEST(lanes_of_slices)
{
	struct view v = {.to = 80 * MS, .width = 70, .actors = true};
	char *text = shown(&v);

	ck_assert_ptr_nonnull(strstr(text, "\nroom_?[2J 8       50%  "));
	ck_assert_ptr_nonnull(strstr(text, "\nactor 7           12% *####*:"));
	ck_assert(strstr(text, "\nactor 7") > strstr(text, "\nroom_"));
	ck_assert(strstr(text, "\nroom_") > strstr(text, "cat 200"));
	ck_assert_ptr_null(strstr(text, "idle 9"));
	free(text);
	v.limits.threads = 1;
	text = shown(&v);
	ck_assert_ptr_null(strstr(text, "actor 7"));
	ck_assert_ptr_nonnull(strstr(text, "... and 1 more lane (-n 0 shows all)"));
	free(text);
}
END_TEST

/* A thread that renames itself is shown under its name in the range. */
START_TEST(names_of_their_time)
{
	struct view v = {.to = 9 * MS,
			 .width = 70,
			 .filter = {.tids = "101"},
			 .limits = {.everything = true}};
	char *early = shown(&v), *late;

	v.to = 80 * MS;
	late = shown(&v);
	ck_assert_ptr_nonnull(strstr(early, "web 101"));
	ck_assert_ptr_null(strstr(early, "helper"));
	ck_assert_ptr_nonnull(strstr(late, "helper 101"));
	ck_assert_ptr_null(strstr(late, "web 101"));
	free(early);
	free(late);
}
END_TEST

/* A thread that only waited for a CPU did not run, but is shown. */
START_TEST(who_starves_is_seen)
{
	struct view v = {.from = 35 * MS, .to = 55 * MS, .width = 70};
	char *text = shown(&v);

	ck_assert_ptr_nonnull(strstr(text, "  0% rrrrrrrr"));
	free(text);
}
END_TEST

/* A thread has no row before it started, and losses of another time are not shown. */
START_TEST(only_of_the_range)
{
	struct view v = {.to = 29 * MS,
			 .width = 70,
			 .filter = {.pids = "200"},
			 .limits = {.everything = true}};
	char *text = shown(&v);

	ck_assert_ptr_null(strstr(text, "cat"));
	ck_assert_ptr_nonnull(strstr(text, "no thread wanted a CPU"));
	ck_assert_ptr_null(strstr(text, "Lost"));
	free(text);
	v.from = 61 * MS;
	v.to = 80 * MS;
	text = shown(&v);
	ck_assert_ptr_nonnull(strstr(text, "cat 200"));
	ck_assert_ptr_null(strstr(text, "Lost"));
	free(text);
}
END_TEST

/* No line is wider than the screen, and no text contains control sequences, for any range. */
START_TEST(fits_the_screen)
{
	for (unsigned int width = 40; width <= 200; width += 20) {
		struct view v = {.from = width * 1000,
				 .to = 80 * MS - width * 100000,
				 .width = width,
				 .utf8 = width % 40 == 0};
		char *text = shown(&v), *rest;

		for (char *line = strtok_r(text, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) {
			ck_assert_msg(text_width(line) <= width, "%u columns: %s", width, line);
			for (const char *c = line; *c; c++)
				ck_assert(v.utf8 ? (unsigned char)*c >= ' '
						 : *c >= ' ' && *c < 0x7f);
		}
		free(text);
	}
}
END_TEST

/* Return the ns that the painted list of one lane was busy within a range. */
static uint64_t busy_within(const struct reference_stretch *list, size_t count, uint64_t from,
			    uint64_t to)
{
	uint64_t busy = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t begin = list[i].time > from ? list[i].time : from;
		uint64_t end = list[i].end < to ? list[i].end : to;

		if (list[i].state == STATE_RUNNING && end > begin)
			busy += end - begin;
	}
	return busy;
}

static void check_strokes(const struct reference_stretch *list, size_t count, uint64_t from,
			  uint64_t to)
{
	uint64_t lane = 1;
	struct reference truth = {list, count};
	struct window_query q = {from, to, 4 * 50, &lane, 1};
	struct window *w = NULL;
	struct stroke strokes[50];
	struct error err;

	reference_window(&truth, &q, &w, &err);
	lanes_make_strokes(&(struct lane_cells){w, w->cells, from, to}, NULL, NULL, strokes, 50);
	for (uint64_t i = 0; i < 50; i++) {
		uint64_t begin = from + (to - from) * i / 50,
			 end = from + (to - from) * (i + 1) / 50;
		uint64_t busy = busy_within(list, count, begin, end), length = end - begin;
		/* A cell may extend beyond the stroke at both sides. */
		uint64_t edge = 2 * (w->cell < length ? w->cell : length);

		if (!strokes[i].level)
			ck_assert_uint_eq(busy, 0);
		if (strokes[i].level == STROKE_FULL)
			ck_assert_uint_eq(busy, length);
		ck_assert_uint_le(busy * STROKE_FULL,
				  (strokes[i].level + 1) * length + edge * STROKE_FULL);
		ck_assert_uint_ge((busy + edge) * STROKE_FULL + 2 * length,
				  strokes[i].level * length);
	}
	reference_free(w);
}

/*
 * Random lists and ranges: strokes are empty only if idle, full only if busy, and about right in
 * between.
 */
START_TEST(strokes_keep_the_promise)
{
	uint64_t random = 4711;

	for (unsigned int round = 0; round < 200; round++) {
		struct reference_stretch list[100];
		uint64_t at = START, from, to;

		for (size_t i = 0; i < 100; i++) {
			uint64_t length = synthetic_random(&random) % (1ULL << (i % 25)) + 1;

			list[i] =
				(struct reference_stretch){1, at, at + length, STATE_RUNNING, 0, 0};
			if (synthetic_random(&random) % 2)
				list[i].state = STATE_SLEEPING;
			at += length;
		}
		from = START + synthetic_random(&random) % (at - START) / 2;
		to = from + synthetic_random(&random) % (at - from) + 50;
		check_strokes(list, 100, from, to);
	}
}
END_TEST

/* Return the stroke of a range by counting every ns; a cell is 16 ns. */
static struct stroke stroke_by_ns(const struct cell *cells, uint64_t from, uint64_t to)
{
	static const enum fill grounds[STATE_COUNT] = {[STATE_SLEEPING] = FILL_LOCK,
						       [STATE_RUNNABLE] = FILL_RUNNABLE,
						       [STATE_UNKNOWN] = FILL_UNKNOWN};
	uint64_t votes[FILL_COUNT] = {0}, busy = 0, whole = (to - from) * CELL_FULL;
	struct stroke s = {.ground = FILL_NONE};
	bool full = true;

	for (uint64_t at = from; at < to; at++) {
		const struct cell *c = &cells[at / 16];

		busy += c->activity;
		full = full && c->activity == CELL_FULL;
		if (c->state != STATE_RUNNING)
			votes[grounds[c->state]] += CELL_FULL - c->activity;
	}
	for (enum fill fill = 0; fill < FILL_COUNT; fill++)
		if (votes[fill] > votes[s.ground])
			s.ground = fill;
	if (votes[FILL_UNKNOWN] * 2 > whole)
		return (struct stroke){.ground = FILL_UNKNOWN};
	if (!busy)
		return s;
	s.bar = FILL_RUNNING;
	s.level = (uint8_t)((busy * STROKE_FULL * 2 + whole) / (2 * whole));
	if (!full)
		s.level = s.level < 1 ? 1 : s.level == STROKE_FULL ? STROKE_FULL - 1 : s.level;
	return s;
}

static void make_runs_of_cells(struct cell *cells, unsigned int count, uint64_t *random)
{
	static const struct cell kinds_of_cells[] = {
		{0, STATE_SLEEPING, WAIT_LOCK, 0},
		{1, STATE_SLEEPING, WAIT_LOCK, 0},
		{64, STATE_RUNNABLE, 0, 0},
		{126, STATE_UNKNOWN, 0, 0},
		{0, STATE_UNKNOWN, 0, 0},
		{CELL_FULL, STATE_RUNNING, 0, 0},
		{CELL_FULL - 1, STATE_RUNNING, 0, 0},
		{0, 0, 0, 0},
	};

	for (unsigned int i = 0; i < count; i++)
		cells[i] = i && synthetic_random(random) % 8
				   ? cells[i - 1]
				   : kinds_of_cells[(synthetic_random(random) >> 32) % 8];
}

/* Strokes of runs of equal cells, which are copied where they are equal, are those of each alone.
 */
START_TEST(strokes_of_runs)
{
	struct cell cells[64];
	struct window w = {0, 16, 64, 1, cells};
	struct stroke strokes[100];
	uint64_t random = 99;

	for (unsigned int round = 0; round < 2000; round++) {
		uint64_t from = (synthetic_random(&random) >> 32) % 500;
		uint64_t to = from + 1 + (synthetic_random(&random) >> 32) % (64 * 16 - from - 1);
		unsigned int count = 1 + (synthetic_random(&random) >> 32) % 100;
		struct lane_cells c = {&w, cells, from, to};

		make_runs_of_cells(cells, 64, &random);
		lanes_make_strokes(&c, NULL, NULL, strokes, count);
		for (unsigned int i = 0; i < count; i++) {
			uint64_t begin = from + (to - from) * i / count;
			uint64_t end = from + (to - from) * (i + 1) / count;
			struct stroke s = stroke_by_ns(cells, begin, end > begin ? end : begin + 1);

			ck_assert_uint_eq(strokes[i].level, s.level);
			ck_assert_uint_eq(strokes[i].bar, s.bar);
			ck_assert_uint_eq(strokes[i].ground, s.ground);
		}
	}
}
END_TEST

START_TEST(every_state_has_its_paint)
{
	for (uint8_t state = STATE_RUNNABLE; state < STATE_COUNT; state++) {
		bool absent = state == STATE_DEAD || state == STATE_OFFLINE;

		for (uint8_t wait = 0; wait < WAIT_COUNT; wait++) {
			struct cell cell = {.state = state, .wait = wait};
			struct window w = {START, 1024, 1, 1, &cell};
			struct lane_cells c = {&w, &cell, START, START + 1024};
			struct stroke s;

			lanes_make_strokes(&c, NULL, NULL, &s, 1);
			ck_assert_uint_eq(s.level, 0);
			ck_assert_msg((s.ground == FILL_NONE) == absent, "%s %s",
				      slice_state_word(state), wait_class_word(wait));
		}
	}
}
END_TEST

START_TEST(a_broken_file_says_anything)
{
	struct cell cells[] = {{255, 255, 255, UINT64_MAX}, {200, STATE_SLEEPING, 99, 0}};
	struct window w = {START, 1024, 2, 1, cells};
	struct lane_cells c = {&w, cells, START - 500, START + 9999};
	struct stroke s[7];

	lanes_make_strokes(&c, NULL, NULL, s, 7);
	for (unsigned int i = 0; i < 7; i++) {
		ck_assert_uint_le(s[i].level, STROKE_FULL);
		ck_assert_uint_lt(s[i].bar, FILL_COUNT);
		ck_assert_uint_lt(s[i].ground, FILL_COUNT);
	}
}
END_TEST

static void expect_axis(uint64_t from, uint64_t to, unsigned int columns, const char *expected)
{
	struct axis a = {START, START + from, START + to, columns, false};
	char *text = NULL;
	size_t size = 0;
	struct screen s = {.out = open_memstream(&text, &size), .width = 80};

	axis_print(&a, &s);
	fclose(s.out);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(axes)
{
	expect_axis(0, 10000 * MS, 40, "|0 s    |2 s    |4 s    |6 s    |8 s\n");
	expect_axis(1200 * MS, 1300 * MS, 70,
		    "|1.20 s       |1.22 s       |1.24 s       |1.26 s       |1.28 s\n");
	expect_axis(1200 * MS + 17, 1200 * MS + 2117, 70,
		    "                |1.2000005 s    |1.2000010 s     |1.2000015 s\n");
	expect_axis(0, 1, 40, "|0 ns\n");
	expect_axis(0, 7 * 3600000 * MS, 60,
		    "|0 h    |1 h     |2 h    |3 h     |4 h    |5 h     |6 h\n");
	expect_axis(100000 * MS, 220000 * MS, 60,
		    "|100 s    |120 s    |140 s    |160 s    |180 s    |200 s\n");
	expect_axis(0, UINT64_MAX - START, 60, "|0 h              |1572864 h        |3145728 h\n");
	expect_axis(0, 10000 * MS, 3, "\n");
}
END_TEST

static void expect_time(uint64_t time, uint64_t last, uint64_t range, const char *expected)
{
	char text[48];

	ck_assert_str_eq(axis_format_time(time, last, range, text, sizeof(text)), expected);
}

START_TEST(times)
{
	expect_time(0, 10000 * MS, 10000 * MS, "0 s");
	expect_time(700 * MS, 1200 * MS, 500 * MS, "0.7 s");
	expect_time(6200 * MS, 6300 * MS, 100 * MS, "6.2 s");
	expect_time(6213 * MS + 123456, 6300 * MS, 100 * MS, "6.213 s");
	expect_time(6200 * MS + 123456, 6200 * MS + 123556, 100, "6.200123456 s");
	expect_time(90000 * MS, 90000 * MS, 90000 * MS, "90 s");
	expect_time(12345, 12445, 100, "12.345 us");
	expect_time(59 * MS, 62 * MS, 3 * MS, "59 ms");
	expect_time(5, 5, 5, "5 ns");
}
END_TEST

SUITE("lanes", ascii, letters, colours, closer, what_is_asked_for, lanes_of_slices, nobody_ran,
      names_of_their_time, who_starves_is_seen, only_of_the_range, fits_the_screen,
      strokes_keep_the_promise, strokes_of_runs, every_state_has_its_paint,
      a_broken_file_says_anything, axes, times)
