/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two recordings of one program, before and after a change and a new build: other addresses, other
 * folders, a compiler's suffix, another line of a Python function, one function removed and one
 * added. The second is twice as long. diff_lines lists which function has how many samples.
 */
#ifndef SKEIN_TESTS_DIFF_SCENE_H
#define SKEIN_TESTS_DIFF_SCENE_H

#include "scene.h"

#define DIFF_PERIOD 10000000ULL /* ns: 100 Hz */
#define DIFF_SECONDS 20 /* length of the first recording */

/* A line is a function, a frame and a stack, all with one id: the line's index + 1. */
static const struct diff_line {
	uint64_t parent;
	const char *names[2]; /* before and after; "": no name */
	uint64_t kind;
	uint64_t samples[2];
} diff_lines[] = {
	{0, {"_start", "_start"}, FRAME_NATIVE, {0, 0}},
	{1, {"main", "main"}, FRAME_NATIVE, {0, 0}},
	{2, {"parse", "parse.isra.0"}, FRAME_NATIVE, {400, 500}},
	{3, {"read@@GLIBC_2.2.5", "read"}, FRAME_NATIVE, {100, 500}},
	{2, {"gone", "gone"}, FRAME_NATIVE, {100, 0}},
	{2, {"fresh", "fresh"}, FRAME_NATIVE, {0, 200}},
	{2, {"render", "render"}, FRAME_PYTHON, {300, 600}},
	{2, {"", ""}, FRAME_NATIVE, {100, 200}},
};

#define DIFF_LINES SCENE_COUNT(diff_lines)
#define DIFF_SAMPLES(after) ((after) ? 2000 : 1000)

static inline void diff_put_entities(struct scene *s, bool after)
{
	uint64_t length = (after ? 2 : 1) * DIFF_SECONDS * 1000000000ULL;
	uint64_t pid = after ? 777 : 100;

	scene_host(s, 1, "web-1", "m", "b", after ? "6.12.0" : "6.1.0", "x86_64", 4, 8ULL << 30,
		   1700000000000000000LL, 0, 1000000000ULL, 1000000000ULL + length);
	scene_event(s, 1, 1, "cpu-clock", "ns", DIFF_PERIOD, 100);
	scene_process(s, 1, 1, pid, 0, 1, 5, 5, 0, "server", "/srv/server", "/", "", 0, "");
	scene_thread(s, 1, 1, pid, 5, 0, "server", 0, 0, "");
	scene_mapping(s, 1, 1, MAPPING_FILE, 0, 100000, after ? "/srv/v2/server" : "/srv/v1/server",
		      "");
	scene_mapping(s, 2, 1, MAPPING_PYTHON, 1, 0, "[python3.11:1]", "");
}

static inline void diff_put_line(struct scene *s, bool after, uint64_t id)
{
	const struct diff_line *l = &diff_lines[id - 1];
	bool python = l->kind == FRAME_PYTHON, named = *l->names[after];
	uint64_t mapping = python ? 2 : 1, line = after ? 90 : 20;

	if (named)
		scene_function(s, id, mapping, l->names[after], "", python ? "/src/a.py" : "",
			       python ? line : 0, 0);
	scene_frame(s, id, l->kind, mapping, 0x1000 * id + (after ? 0x70 : 0), named ? id : 0, 0,
		    FRAME_FLAG_LOOKED_UP | (id == 1 ? FRAME_FLAG_START : 0));
	scene_stack(s, id, l->parent, id);
}

/*
 * Return the line that has had the smallest part of its samples so far, which spreads the samples
 * of each line evenly over the time.
 */
static inline uint64_t diff_next_line(bool after, const uint64_t *put, uint64_t number)
{
	int64_t most = INT64_MIN;
	uint64_t next = 0;

	for (uint64_t i = 0; i < DIFF_LINES; i++) {
		int64_t behind = (int64_t)(diff_lines[i].samples[after] * (number + 1)) -
				 (int64_t)(put[i] * DIFF_SAMPLES(after));

		if (behind > most) {
			most = behind;
			next = i;
		}
	}
	return next;
}

/* Put the samples, half of a CPU's time throughout, and their sums. */
static inline void diff_put_samples(struct scene *s, bool after)
{
	uint64_t time = 1000000000ULL, put[DIFF_LINES] = {0};

	for (uint64_t i = 0; i < DIFF_SAMPLES(after); i++) {
		uint64_t line = diff_next_line(after, put, i);

		put[line]++;
		scene_sample(s, time += 2 * DIFF_PERIOD, 1, 1, 0, line + 1, DIFF_PERIOD, 0, 0, 0, 0,
			     0);
	}
	for (uint64_t i = 0; i < DIFF_LINES; i++)
		if (put[i])
			scene_sum(s, 1, 1, i + 1, put[i], put[i] * DIFF_PERIOD, 0, 0);
}

/* after: NULL to build the first recording. */
static inline void diff_build(struct scene *s, const void *after)
{
	diff_put_entities(s, after);
	for (uint64_t id = 1; id <= DIFF_LINES; id++)
		diff_put_line(s, after, id);
	diff_put_samples(s, after);
	scene_account(s, 1, 0, DIFF_SAMPLES(after), DIFF_SAMPLES(after), 0, 0, 0, 0);
}

/* Return the scene as a source, which need not be freed. */
static inline struct source *diff_source(bool after)
{
	static struct scene_source first = SCENE_OF(diff_build, NULL),
				   second = SCENE_OF(diff_build, "after");

	return after ? &second.source : &first.source;
}

#endif
