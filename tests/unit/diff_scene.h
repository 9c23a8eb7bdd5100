/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two recordings of one program, before and after a change and a new build: other addresses, other
 * folders, a compiler's suffix, another line of a Python function, one function removed and one
 * added. The second is twice as long. diff_lines lists which function has how many samples.
 */
#ifndef SKEIN_TESTS_DIFF_SCENE_H
#define SKEIN_TESTS_DIFF_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"

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

#define DIFF_LINES (sizeof(diff_lines) / sizeof(diff_lines[0]))
#define DIFF_SAMPLES(after) ((after) ? 2000 : 1000)

struct diff_scene_source {
	struct source source;
	bool after;
};

static inline int diff_put_entities(struct sink *to, bool after, struct error *err)
{
	uint64_t length = (after ? 2 : 1) * DIFF_SECONDS * 1000000000ULL;
	struct host host = {1,
			    "web-1",
			    "m",
			    "b",
			    after ? "6.12.0" : "6.1.0",
			    "x86_64",
			    4,
			    8ULL << 30,
			    1700000000000000000LL,
			    0,
			    1000000000ULL,
			    1000000000ULL + length};
	struct event event = {1, 1, "cpu-clock", "ns", DIFF_PERIOD, 100};
	struct process process = {1, 1,	       after ? 777 : 100, 0,   1, 5, 5,
				  0, "server", "/srv/server",	  "/", ""};
	struct thread thread = {1, 1, after ? 777 : 100, 5, 0, "server", 0};
	struct mapping mappings[] = {
		{1, 1, MAPPING_FILE, 0, 100000, after ? "/srv/v2/server" : "/srv/v1/server", ""},
		{2, 1, MAPPING_PYTHON, 1, 0, "[python3.11:1]", ""},
	};
	int rc = put_host(to, &host, err);

	if (!rc)
		rc = put_event(to, &event, err);
	if (!rc)
		rc = put_process(to, &process, err);
	if (!rc)
		rc = put_thread(to, &thread, err);
	for (int i = 0; i < 2 && !rc; i++)
		rc = put_mapping(to, &mappings[i], err);
	return rc;
}

static inline int diff_put_line(struct sink *to, bool after, uint64_t id, struct error *err)
{
	const struct diff_line *l = &diff_lines[id - 1];
	bool python = l->kind == FRAME_PYTHON, named = *l->names[after];
	uint64_t mapping = python ? 2 : 1;
	struct function function = {id,
				    mapping,
				    l->names[after],
				    "",
				    python ? "/src/a.py" : "",
				    python ? after ? 90 : 20 : 0,
				    0};
	struct frame frame = {id,
			      l->kind,
			      mapping,
			      0x1000 * id + (after ? 0x70 : 0),
			      named ? id : 0,
			      0,
			      FRAME_FLAG_LOOKED_UP | (id == 1 ? FRAME_FLAG_START : 0)};
	struct stack stack = {id, l->parent, id};
	int rc = named ? put_function(to, &function, err) : 0;

	if (!rc)
		rc = put_frame(to, &frame, err);
	return rc ? rc : put_stack(to, &stack, err);
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

/* Put the samples, half of a CPU's time throughout, or their sums. */
static inline int diff_put_samples(struct sink *to, bool after, bool as_sums, struct error *err)
{
	uint64_t time = 1000000000ULL, put[DIFF_LINES] = {0};
	int rc = 0;

	for (uint64_t id = 1; id <= DIFF_LINES && as_sums && !rc; id++) {
		uint64_t count = diff_lines[id - 1].samples[after];
		struct sum sum = {1, 1, id, count, count * DIFF_PERIOD, 0};

		if (count)
			rc = put_sum(to, &sum, err);
	}
	for (uint64_t i = 0; i < DIFF_SAMPLES(after) && !as_sums && !rc; i++) {
		uint64_t line = diff_next_line(after, put, i);
		struct sample s = {time += 2 * DIFF_PERIOD, 1, 1, 0, line + 1, DIFF_PERIOD, 0};

		put[line]++;
		rc = put_sample(to, &s, err);
	}
	return rc;
}

static inline int diff_scene_run(struct source *s, struct sink *to, struct error *err)
{
	bool after = ((struct diff_scene_source *)s)->after;
	struct account account = {1, 0, DIFF_SAMPLES(after), DIFF_SAMPLES(after), 0, 0, 0, 0};
	int rc = diff_put_entities(to, after, err);

	for (uint64_t id = 1; id <= DIFF_LINES && !rc; id++)
		rc = diff_put_line(to, after, id, err);
	if (!rc)
		rc = diff_put_samples(to, after, false, err);
	if (!rc)
		rc = diff_put_samples(to, after, true, err);
	return rc ? rc : put_account(to, &account, err);
}

static inline void diff_source_free(struct source *s)
{
	(void)s;
}

/* Return the scene as a source, which need not be freed. */
static inline struct source *diff_source(bool after)
{
	static const struct source_ops ops = {.run = diff_scene_run, .free = diff_source_free};
	static struct diff_scene_source scenes[2] = {{{&ops}, false}, {{&ops}, true}};

	return &scenes[after].source;
}

#endif
