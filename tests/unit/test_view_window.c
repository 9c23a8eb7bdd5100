// SPDX-License-Identifier: Apache-2.0
/* Test what the page's timeline gets: the strokes of report --timeline, for any lanes and range. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "reference.h"
#include "scene.h"
#include "suite.h"
#include "synthetic.h"
#include "view/timeline.h"

#define CELL 1024ULL /* ns, the shortest cell of a window */
#define START (1ULL << 32) /* a multiple of every cell */
#define COLUMNS 64
#define LENGTH (COLUMNS * 16 * CELL) /* 16 cells of a column, so that columns begin with cells */
#define STRETCHES 40
#define LANES 4 /* CPUs 1 and 2, threads 11 and 12 */

static const uint64_t all_lanes[LANES] = {1, 2, 11, 12};
static const struct host host = {
	.id = 1, .hostname = "one", .cpus = 2, .start = START, .end = START + LENGTH};
static const struct process processes[] = {{.id = 1, .host = 1, .pid = 100, .comm = "web"}};
static const struct thread threads[] = {
	{1, 1, 100, START, 0, "web", 11, 0, ""},
	{2, 1, 101, START, 0, "helper\"</script>", 12, 0, ""},
};
static const struct lane lanes_list[] = {
	{1, 1, 0, LANE_CPU, 0, "CPU 0"},
	{2, 1, 0, LANE_CPU, 1, "CPU 1"},
	{11, 1, 0, LANE_THREAD, 1, "web"},
	{12, 1, 0, LANE_THREAD, 2, "helper"},
};

static void build(struct scene *s, const void *unused)
{
	(void)unused;
	scene_put(s, KIND_HOST, &host);
	SCENE_PUT_ALL(s, PROCESS, processes);
	SCENE_PUT_ALL(s, THREAD, threads);
	SCENE_PUT_ALL(s, LANE, lanes_list);
}

DEFINE_SCENE(made_source, build)

/* A machine in random states, and its lanes. */
struct made {
	struct reference_stretch list[LANES * STRETCHES];
	struct reference reference;
	struct lanes_windows windows;
	struct source *source;
	struct lanes lanes;
};

static void make_lane(struct made *m, uint64_t lane, uint64_t grain, uint64_t *seed)
{
	static const uint8_t states[] = {STATE_RUNNING, STATE_SLEEPING, STATE_RUNNABLE, STATE_IDLE,
					 STATE_UNKNOWN};
	uint64_t at = START;

	while (at < START + LENGTH) {
		uint64_t end = at + 1 + synthetic_random(seed) % (2 * LENGTH / STRETCHES);
		uint64_t state = states[synthetic_random(seed) % sizeof(states)];

		if (m->reference.count == LANES * STRETCHES)
			break;
		end = (end + grain - 1) / grain * grain;
		end = end < START + LENGTH ? end : START + LENGTH;
		m->list[m->reference.count++] = (struct reference_stretch){
			lane,
			at,
			end,
			state,
			state == STATE_SLEEPING ? WAIT_LOCK : 0,
			lane < 10 && state == STATE_RUNNING ? 1 + synthetic_random(seed) % 2 : 0};
		at = end;
	}
}

/* States change at multiples of grain, ns. */
static void make(struct made *m, uint64_t seed, uint64_t grain)
{
	const struct lanes_limits limits = {.everything = true};
	const struct filter all = {0};
	struct error err = {""};

	*m = (struct made){.reference = {.list = m->list}};
	for (size_t i = 0; i < LANES; i++)
		make_lane(m, all_lanes[i], grain, &seed);
	m->windows = (struct lanes_windows){reference_window, reference_free, &m->reference, NULL};
	m->lanes = (struct lanes){.windows = &m->windows, .time = START, .end = START + LENGTH};
	ck_assert_int_eq(filter_source(&m->source, made_source(), &all, &err), 0);
	ck_assert_int_eq(lanes_read(&m->lanes, m->source, &err), 0);
	ck_assert_int_eq(lanes_choose(&m->lanes, &limits, &err), 0);
	ck_assert_int_eq(lanes_join_all(&m->lanes, &err), 0);
	ck_assert_int_eq(lanes_choose_programs(&m->lanes, COLUMNS, &err), 0);
}

static void drop(struct made *m)
{
	lanes_free(&m->lanes);
	source_free(m->source);
}

static const struct stroke *strokes_in_terminal(const struct lanes *l, uint64_t lane)
{
	const lane_rows_t *both[] = {&l->cpus, &l->threads};

	for (size_t list = 0; list < 2; list++)
		for (size_t i = 0; i < both[list]->count; i++)
			if (both[list]->items[i].lane == lane)
				return both[list]->items[i].strokes;
	ck_abort_msg("lane %" PRIu64 " has no row", lane);
}

/* A column of the page and half a character of the terminal show the same, for the same time. */
START_TEST(agrees_with_the_terminal)
{
	struct error err = {""};
	struct made m;

	for (uint64_t seed = 1; seed <= 50; seed++) {
		uint8_t *body;
		size_t size;

		/* each reads cells of another length, so no cell may have two states */
		make(&m, seed, LENGTH / COLUMNS);
		ck_assert_int_eq(
			view_window(&m.lanes,
				    &(struct view_range){0, LENGTH, COLUMNS, .names = "1,2,11,12"},
				    &body, &size, &err),
			0);
		ck_assert_uint_eq(size, 16 + 3 * COLUMNS * LANES);
		ck_assert_int_eq(lanes_render(&m.lanes, COLUMNS / 2, &err), 0);
		for (size_t i = 0; i < LANES; i++) {
			const struct stroke *s = strokes_in_terminal(&m.lanes, all_lanes[i]);
			const uint8_t *row = body + 16 + 3 * COLUMNS * i;

			for (size_t c = 0; c < COLUMNS; c++) {
				ck_assert_uint_eq(row[3 * c], s[c].level);
				ck_assert_uint_eq(row[3 * c + 2], s[c].ground);
				if (s[c].level)
					ck_assert_uint_eq(row[3 * c + 1], s[c].bar);
			}
		}
		free(body);
		drop(&m);
	}
}
END_TEST

/* Return whether a lane was running in none (0) or all (2) of a column, or in between (1). */
static int share_of_column(const struct made *m, uint64_t lane, size_t column)
{
	uint64_t from = START + column * (LENGTH / COLUMNS), to = from + LENGTH / COLUMNS, sum = 0;

	for (size_t i = 0; i < m->reference.count; i++) {
		const struct reference_stretch *s = &m->list[i];
		uint64_t begin = s->time > from ? s->time : from, end = s->end < to ? s->end : to;

		if (s->lane == lane && s->state == STATE_RUNNING && end > begin)
			sum += end - begin;
	}
	return sum == 0 ? 0 : sum == to - from ? 2 : 1;
}

static int share_of_level(uint8_t level)
{
	return level == 0 ? 0 : level == STROKE_FULL ? 2 : 1;
}

/* Check that a lane of the page says whether it ran not at all, in between, or throughout. */
static void check_column(const struct made *m, const uint8_t *row, size_t lane, size_t column)
{
	const uint8_t *stroke = row + 3 * (lane * COLUMNS + column);

	/* where more than half is unknown, nothing else is said */
	if (stroke[2] != FILL_UNKNOWN)
		ck_assert_int_eq(share_of_level(stroke[0]),
				 share_of_column(m, all_lanes[lane], column));
}

/* Check that a process is hatched if a thread is unknown and none shows a wait: row 4 is of 2, 3.
 */
static void check_unknown(const uint8_t *row, size_t column)
{
	uint8_t a = row[3 * (2 * COLUMNS + column) + 2], b = row[3 * (3 * COLUMNS + column) + 2];
	uint8_t both = row[3 * (4 * COLUMNS + column) + 2];

	if (!fill_is_solid(a) && !fill_is_solid(b))
		ck_assert_int_eq(both == FILL_UNKNOWN, a == FILL_UNKNOWN || b == FILL_UNKNOWN);
}

/*
 * A process ran if one of its threads did, and throughout only if one of them did; the CPUs are all
 * in use only if each is.
 */
START_TEST(joined_lanes)
{
	const struct view_range range = {0, LENGTH, COLUMNS, .names = "1,2,11,12,p0,parallel"};
	struct error err = {""};
	struct made m;

	for (uint64_t seed = 1; seed <= 50; seed++) {
		int at[LANES + 2];
		uint8_t *body;
		size_t size;

		make(&m, seed, 1);
		ck_assert_int_eq(view_window(&m.lanes, &range, &body, &size, &err), 0);
		for (size_t c = 0; c < COLUMNS; c++) {
			for (size_t i = 0; i < LANES; i++)
				check_column(&m, body + 16, i, c);
			for (size_t i = 0; i < LANES + 2; i++)
				at[i] = share_of_level(body[16 + 3 * (i * COLUMNS + c)]);
			check_unknown(body + 16, c);
			ck_assert_int_eq(at[4] == 0, at[2] == 0 && at[3] == 0);
			ck_assert_int_eq(at[4] == 2, at[2] == 2 || at[3] == 2);
			ck_assert_int_eq(at[5] == 0, at[0] == 0 && at[1] == 0);
			ck_assert_int_eq(at[5] == 2, at[0] == 2 && at[1] == 2);
		}
		free(body);
		drop(&m);
	}
}
END_TEST

/* Requests that make no sense have a reason, and unknown lanes are empty. */
START_TEST(bad_requests)
{
	static const struct view_range bad[] = {
		{5, 5, 10, .names = "1"},
		{6, 5, 10, .names = "1"},
		{0, LENGTH, 0, .names = "1"},
		{0, LENGTH, 1 << 20, .names = "1"},
		{0, LENGTH, 10, .names = "x"},
		{0, LENGTH, 10, .names = "p"},
		{0, LENGTH, 10, .names = "1;2"},
		{0, LENGTH, 10, .names = "-1"},
		{0, LENGTH, 10, .names = "1,,2"},
		{0, LENGTH, 10, .names = "99999999999999999999999"},
		{0, UINT64_MAX, 10, .names = "1"},
	};
	struct made m;
	uint8_t *body = NULL;
	size_t size;

	make(&m, 1, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = {""};

		ck_assert_int_eq(view_window(&m.lanes, &bad[i], &body, &size, &err), -EINVAL);
		ck_assert_ptr_null(body);
		ck_assert_int_gt(strlen(err.text), 0);
	}
	ck_assert_int_eq(view_window(&m.lanes, &(struct view_range){0, 10, 2, .names = "999,p7"},
				     &body, &size, &(struct error){""}),
			 0);
	ck_assert_uint_eq(size, 16 + 3 * 2 * 2);
	for (size_t i = 16; i < size; i += 3)
		ck_assert_uint_eq(body[i], 0);
	free(body);
	drop(&m);
}
END_TEST

/* A range outside of the recording is no error: nothing ran there. */
static bool has_no_time(const void *unused)
{
	(void)unused;
	return true;
}

/* What is not painted in time is unknown, and the answer says that something is missing. */
START_TEST(too_little_time)
{
	enum { MOST = VIEW_COLUMNS_MAX, MANY = 100, IN_TIME = (1 << 20) / MOST };
	struct view_range range = {0, LENGTH, MOST, NULL, has_no_time, NULL};
	char names[3 * MANY + 1] = "";
	struct error err = {""};
	uint8_t *whole, *part;
	struct made m;
	size_t size;

	for (unsigned int i = 0; i < MANY; i++)
		strcat(names, i % 2 ? "12," : "11,");
	range.names = names;
	make(&m, 1, 1);
	ck_assert_int_eq(view_window(&m.lanes, &range, &part, &size, &err), 0);
	range.expired = NULL;
	ck_assert_int_eq(view_window(&m.lanes, &range, &whole, &size, &err), 0);
	ck_assert_uint_eq(size, 16 + 3 * MOST * MANY);
	ck_assert_uint_eq(whole[12], 0);
	ck_assert_uint_eq(part[12], VIEW_PARTIAL);
	ck_assert_int_eq(memcmp(whole + 16, part + 16, 3 * MOST * IN_TIME), 0);
	for (size_t i = 16 + 3 * MOST * IN_TIME; i < size; i += 3)
		ck_assert(!part[i] && part[i + 2] == FILL_UNKNOWN);
	free(whole);
	free(part);
	drop(&m);
}
END_TEST

START_TEST(outside_of_the_recording)
{
	const struct view_range range = {2 * LENGTH, 3 * LENGTH, 10, .names = "1,11,p0,parallel"};
	struct error err = {""};
	struct made m;
	uint8_t *body;
	size_t size;

	make(&m, 1, 1);
	ck_assert_int_eq(view_window(&m.lanes, &range, &body, &size, &err), 0);
	ck_assert_uint_eq(size, 16 + 3 * 10 * 4);
	for (size_t i = 16; i < size; i += 3)
		ck_assert_uint_eq(body[i], 0);
	free(body);
	drop(&m);
}
END_TEST

/* The list of lanes is JSON whatever the names are. */
START_TEST(list_of_lanes)
{
	const struct view_about about = {.version = "1",
					 .subject = "a \"subject\"",
					 .kernel = "6.1",
					 .warning = "",
					 .utc = 5,
					 .usual = LANES_BY_NAME};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct made m;

	make(&m, 1, 1);
	ck_assert_int_eq(view_write_trace(&m.lanes, &about, LANES_BY_THREAD, out), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "{\"lane\":\"1\",\"kind\":\"cpu\",\"name\":\"CPU 0\""));
	ck_assert_ptr_nonnull(strstr(text, "\"lane\":\"p0\",\"kind\":\"process\","));
	ck_assert_ptr_nonnull(strstr(text, "\"subject\":\"a \\\"subject\\\"\""));
	ck_assert_ptr_null(strstr(text, "</script>"));
	free(text);
	drop(&m);
}
END_TEST

SUITE("view_window", agrees_with_the_terminal, joined_lanes, bad_requests, too_little_time,
      outside_of_the_recording, list_of_lanes)
