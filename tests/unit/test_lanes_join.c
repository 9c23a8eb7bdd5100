// SPDX-License-Identifier: Apache-2.0
/* Test lanes that several threads share: who gets which, and that page and terminal agree. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "lanes/join.h"
#include "lanes/pool.h"
#include "reference.h"
#include "scene.h"
#include "suite.h"
#include "synthetic.h"
#include "view/timeline.h"

#define START (1ULL << 32) /* a multiple of every cell */
#define COLUMNS 64
#define COLUMN (16 * 1024ULL) /* ns; states change between columns only */
#define LENGTH (COLUMNS * COLUMN)
#define THREADS 24
#define FIRST 10 /* lane.id of the first thread */
#define STRETCHES 4

/* Random threads of three processes, with few names. */
struct crowd {
	struct thread threads[THREADS];
	struct reference_stretch list[THREADS * STRETCHES];
	struct reference reference;
	struct lanes_windows windows;
	struct scene_source scene;
	struct source *source;
	struct lanes lanes;
};

static const struct host host = {
	.id = 1, .hostname = "one", .cpus = 1, .start = START, .end = START + LENGTH};
static const struct process processes[] = {{.id = 1, .host = 1, .pid = 100, .comm = "web"},
					   {.id = 2, .host = 1, .pid = 200, .comm = "db"},
					   {.id = 3, .host = 1, .pid = 300, .comm = "sh"}};

static void crowd_build(struct scene *s, const void *context)
{
	const struct crowd *c = context;

	scene_put(s, KIND_HOST, &host);
	SCENE_PUT_ALL(s, PROCESS, processes);
	scene_put_all(s, KIND_THREAD, c->threads, THREADS);
	scene_put(s, KIND_LANE, &(struct lane){1, 1, 0, LANE_CPU, 0, "CPU 0"});
	for (size_t i = 0; i < THREADS; i++)
		scene_put(s, KIND_LANE,
			  &(struct lane){FIRST + i, 1, 0, LANE_THREAD, i + 1, "thread"});
}

static void make_thread(struct crowd *c, size_t i, uint64_t *seed)
{
	static const char *const names[] = {"main", "worker", "worker", "io"};
	static const uint8_t states[] = {STATE_RUNNING, STATE_SLEEPING, STATE_RUNNABLE,
					 STATE_UNKNOWN};
	uint64_t from = synthetic_random(seed) % COLUMNS, at = from;
	uint64_t to = from + 1 + synthetic_random(seed) % (COLUMNS - from);

	c->threads[i] = (struct thread){.id = i + 1,
					.process = 1 + synthetic_random(seed) % 3,
					.tid = 1000 + i,
					.start = START + from * COLUMN,
					.end = to == COLUMNS ? 0 : START + to * COLUMN,
					.comm = (char *)names[synthetic_random(seed) % 4],
					.lane = FIRST + i,
					.runtime_name = ""};
	for (unsigned int n = 0; n < STRETCHES && at < to; n++) {
		uint64_t end =
			n == STRETCHES - 1 ? to : at + 1 + synthetic_random(seed) % (to - at);
		uint8_t state = n ? states[synthetic_random(seed) % 4] : STATE_RUNNING;

		c->list[c->reference.count++] =
			(struct reference_stretch){FIRST + i,
						   START + at * COLUMN,
						   START + end * COLUMN,
						   state,
						   state == STATE_SLEEPING ? WAIT_LOCK : 0,
						   0};
		at = end;
	}
}

static void make_crowd(struct crowd *c, uint64_t seed, enum lanes_by by)
{
	const struct lanes_limits limits = {.everything = true, .by = by};
	const struct filter all = {0};
	struct error err = {""};

	*c = (struct crowd){.reference = {.list = c->list}};
	for (size_t i = 0; i < THREADS; i++)
		make_thread(c, i, &seed);
	c->windows = (struct lanes_windows){reference_window, reference_free, &c->reference, NULL};
	c->lanes = (struct lanes){.windows = &c->windows, .time = START, .end = START + LENGTH};
	c->scene = (struct scene_source)SCENE_OF(crowd_build, c);
	ck_assert_int_eq(filter_source(&c->source, &c->scene.source, &all, &err), 0);
	ck_assert_int_eq(lanes_read(&c->lanes, c->source, &err), 0);
	ck_assert_int_eq(lanes_choose(&c->lanes, &limits, &err), 0);
}

static void drop_crowd(struct crowd *c)
{
	lanes_free(&c->lanes);
	source_free(c->source);
}

static const struct thread *thread_of_part(const struct crowd *c, const struct lane_part *p)
{
	return &c->threads[p->lane - FIRST];
}

/* Check that a row has threads that belong together, and count them. */
static size_t check_row(const struct crowd *c, const struct lane_row *row, enum lanes_by by)
{
	const struct thread *first = thread_of_part(c, row->parts.items);

	for (size_t i = 0; i < row->parts.count; i++) {
		const struct lane_part *p = &row->parts.items[i];
		const struct thread *t = thread_of_part(c, p);

		ck_assert_uint_eq(t->process, first->process);
		ck_assert_uint_eq(p->start, t->start);
		ck_assert_uint_eq(p->end, t->end);
		if (by == LANES_BY_NAME)
			ck_assert_str_eq(t->comm, first->comm);
		else if (i) /* one after the other */
			ck_assert(p[-1].end && p[-1].end <= p->start);
	}
	return row->parts.count;
}

/* Return how many threads of a process lived at once, at most. */
static size_t most_at_once(const struct crowd *c, uint64_t process)
{
	size_t most = 0;

	for (uint64_t at = START; at < START + LENGTH; at += COLUMN) {
		size_t count = 0;

		for (size_t i = 0; i < THREADS; i++) {
			const struct thread *t = &c->threads[i];

			count +=
				t->process == process && t->start <= at && (!t->end || t->end > at);
		}
		most = count > most ? count : most;
	}
	return most;
}

/*
 * Every thread is in one row. By name, no two rows of a process have the same name; a pool has as
 * many rows as the process had threads at once.
 */
START_TEST(rows_of_threads)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct crowd c;
		size_t total = 0, pools = 0, most = 0;

		for (enum lanes_by by = LANES_BY_NAME; by <= LANES_BY_POOL; by++) {
			make_crowd(&c, seed, by);
			for (size_t i = 0; i < c.lanes.threads.count; i++) {
				const struct lane_row *row = &c.lanes.threads.items[i];

				total += check_row(&c, row, by);
				ck_assert_int_eq(by == LANES_BY_POOL, row->number > 0);
				for (size_t n = 0; n < i && by == LANES_BY_NAME; n++) {
					const struct thread *a, *b;

					a = thread_of_part(&c, row->parts.items);
					b = thread_of_part(&c,
							   c.lanes.threads.items[n].parts.items);
					ck_assert(a->process != b->process ||
						  strcmp(a->comm, b->comm));
				}
			}
			pools = c.lanes.threads.count;
			drop_crowd(&c);
		}
		ck_assert_uint_eq(total, 2 * THREADS);
		for (uint64_t process = 1; process <= 3; process++)
			most += most_at_once(&c, process);
		ck_assert_uint_eq(pools, most);
	}
}
END_TEST

/* A row of the page and the same row of a terminal have the same strokes. */
static void check_strokes(const struct crowd *page, const struct crowd *terminal, enum lanes_by by,
			  size_t number)
{
	const struct lane_row *row = &terminal->lanes.threads.items[number];
	struct error err = {""};
	char name[32];
	uint8_t *body;
	size_t size;

	snprintf(name, sizeof(name), "%c%zu", lanes_by_letter(by), number);
	ck_assert_int_eq(view_window(&page->lanes,
				     &(struct view_range){0, LENGTH, COLUMNS, .names = name}, &body,
				     &size, &err),
			 0);
	ck_assert_uint_eq(size, 16 + 3 * COLUMNS);
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct stroke *s = &row->strokes[i];

		ck_assert_uint_eq(body[16 + 3 * i], s->level);
		ck_assert_uint_eq(body[16 + 3 * i + 2], s->ground);
		if (s->level)
			ck_assert_uint_eq(body[16 + 3 * i + 1], s->bar);
	}
	free(body);
}

START_TEST(page_agrees_with_the_terminal)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct error err = {""};
		struct crowd page, terminal;

		make_crowd(&page, seed, LANES_BY_THREAD);
		ck_assert_int_eq(lanes_join_all(&page.lanes, &err), 0);
		ck_assert_int_eq(lanes_choose_programs(&page.lanes, COLUMNS, &err), 0);
		for (enum lanes_by by = LANES_BY_NAME; by <= LANES_BY_POOL; by++) {
			make_crowd(&terminal, seed, by);
			ck_assert_int_eq(lanes_render(&terminal.lanes, COLUMNS / 2, &err), 0);
			ck_assert_uint_eq(terminal.lanes.threads.count,
					  page.lanes.joined[by].count);
			for (size_t i = 0; i < terminal.lanes.threads.count; i++) {
				check_strokes(&page, &terminal, by, i);
			}
			drop_crowd(&terminal);
		}
		drop_crowd(&page);
	}
}
END_TEST

/* Ask for lanes from a quarter to a half of the time; return the strokes, after a head. */
static uint8_t *ask_for_quarter(const struct crowd *c, const char *names, size_t count)
{
	const struct view_range range = {LENGTH / 4, LENGTH / 2, COLUMNS / 4, .names = names};
	struct error err = {""};
	uint8_t *body;
	size_t size;

	ck_assert_int_eq(view_window(&c->lanes, &range, &body, &size, &err), 0);
	ck_assert_uint_eq(size, 16 + 3 * (COLUMNS / 4) * count);
	return body;
}

/* Return the stroke of a process in a column, from those of all threads. */
static struct stroke stroke_of_process(const struct crowd *c, const uint8_t *parts,
				       uint64_t process, size_t column)
{
	struct joined sum = {0};

	for (size_t n = 0; n < THREADS; n++) {
		const uint8_t *at = parts + 16 + 3 * (n * (COLUMNS / 4) + column);
		const struct stroke s = {at[0], at[1], at[2]};

		if (c->threads[n].process == process)
			lanes_join_stroke(&sum, &s);
	}
	return lanes_joined_stroke(&sum, 2);
}

/* A process is what all its threads are together, though those that do not live are not read. */
START_TEST(process_has_all_threads)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		char names[THREADS * 4] = "";
		struct error err = {""};
		struct crowd c;
		uint8_t *parts, *whole;

		make_crowd(&c, seed, LANES_BY_THREAD);
		ck_assert_int_eq(lanes_join_all(&c.lanes, &err), 0);
		ck_assert_int_eq(lanes_choose_programs(&c.lanes, COLUMNS, &err), 0);
		for (int i = 0; i < THREADS; i++)
			sprintf(names + strlen(names), "%s%d", i ? "," : "", FIRST + i);
		parts = ask_for_quarter(&c, names, THREADS);
		whole = ask_for_quarter(&c, "p0,p1,p2", 3);
		for (size_t i = 0; i < 3 * (COLUMNS / 4); i++) {
			struct stroke s = stroke_of_process(&c, parts, 1 + i / (COLUMNS / 4),
							    i % (COLUMNS / 4));

			ck_assert_uint_eq(whole[16 + 3 * i], s.level);
			ck_assert_uint_eq(whole[16 + 3 * i + 2], s.ground);
		}
		free(parts);
		free(whole);
		drop_crowd(&c);
	}
}
END_TEST

/* The smallest free number is that of a list of all that are in use. */
START_TEST(smallest_free_number)
{
	enum { COUNT = 60 };
	uint64_t seed = 7;

	for (unsigned int round = 0; round < 200; round++) {
		struct lane_part parts[COUNT] = {0};
		uint32_t numbers[COUNT];

		for (size_t i = 0; i < COUNT; i++) {
			parts[i].start = i * 3; /* no two at once, so that the order is known */
			parts[i].end = synthetic_random(&seed) % 8
					       ? i * 3 + 1 + synthetic_random(&seed) % 40
					       : synthetic_random(&seed) % 2 * (i * 3);
		}
		ck_assert_int_eq(pool_number_threads(parts, COUNT, numbers), 0);
		for (size_t i = 0; i < COUNT; i++) {
			bool used[COUNT + 2] = {false};
			uint32_t least = 1;

			for (size_t n = 0; n < i; n++)
				if (parts[n].end <= parts[n].start || parts[n].end > parts[i].start)
					used[numbers[n]] = true;
			while (used[least])
				least++;
			ck_assert_uint_eq(numbers[i], least);
		}
	}
}
END_TEST

/* The rows for the page are JSON with the lanes of their threads; a limit frees what it drops. */
START_TEST(rows_for_the_page)
{
	const struct view_about about = {.version = "1",
					 .subject = "",
					 .kernel = "6.1",
					 .warning = "",
					 .utc = 5,
					 .usual = LANES_BY_POOL};
	struct error err = {""};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct crowd c;

	make_crowd(&c, 3, LANES_BY_THREAD);
	ck_assert_int_eq(lanes_join_all(&c.lanes, &err), 0);
	ck_assert_int_eq(view_write_trace(&c.lanes, &about, LANES_BY_NAME, out), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "\"choices\":[\"thread\",\"name\",\"pool\"],"
					   "\"by\":\"name\",\"usual\":\"pool\""));
	ck_assert_ptr_nonnull(strstr(text, "{\"lane\":\"n1\",\"kind\":\"threads\",\"name\":"));
	ck_assert_ptr_nonnull(strstr(text, "\"parts\":[\"1"));
	free(text);
	drop_crowd(&c);
}
END_TEST

START_TEST(limited_rows)
{
	const struct lanes_limits limits = {.threads = 2, .everything = true, .by = LANES_BY_NAME};
	struct error err = {""};
	struct crowd c;

	make_crowd(&c, 5, LANES_BY_THREAD);
	lanes_drop_rows(&c.lanes.threads, 0);
	lanes_drop_rows(&c.lanes.cpus, 0);
	ck_assert_int_eq(lanes_choose(&c.lanes, &limits, &err), 0);
	ck_assert_uint_eq(c.lanes.threads.count, 2);
	ck_assert_uint_gt(c.lanes.thread_total, 2);
	drop_crowd(&c);
}
END_TEST

SUITE("lanes_join", process_has_all_threads, rows_of_threads, page_agrees_with_the_terminal,
      smallest_free_number, rows_for_the_page, limited_rows)
