/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings for the flame graph page, as sources: one with 100,000 different stacks, and one with
 * texts and numbers that try to harm a page.
 */
#ifndef SKEIN_TESTS_FLAME_SCENE_H
#define SKEIN_TESTS_FLAME_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pipe.h"

#define FLAME_STACKS 100100 /* stacks with samples; some have equal names */
#define FLAME_NODES 420000 /* at most so many nodes in their tree */
#define FLAME_FRAMES 6000
#define FLAME_PROCESSES 12
#define FLAME_THREADS 96
#define FLAME_PERIOD 10101010

static const struct host flame_host = {1,   "flames",	 "n",
				       "c", "6.12.0",	 "x86_64",
				       16,  64ULL << 30, 1700000000000000000LL,
				       0,   1000000000,	 121000000000ULL};

/* Return a pseudo-random number, the same on every machine. */
static inline uint32_t flame_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33);
}

static inline uint64_t flame_kind(uint32_t frame)
{
	return frame % 6 == 5	 ? FRAME_KERNEL
	       : frame % 20 == 7 ? FRAME_PYTHON
	       : frame % 40 == 9 ? FRAME_JIT
				 : FRAME_NATIVE;
}

static inline int flame_put_frames(struct sink *to, struct error *err)
{
	static const char *const words[] = {"parse", "read",  "encode", "visit",    "lookup",
					    "alloc", "merge", "update", "schedule", "flush"};
	int rc = 0;

	for (uint64_t i = 1; i <= 20 && !rc; i++) {
		char path[32];
		struct mapping m = {.id = i, .host = 1, .kind = MAPPING_FILE, .build_id = ""};

		snprintf(path, sizeof(path), "/usr/lib/lib%s.so.%u", words[i % 10], (unsigned)i);
		m.path = path;
		if (i == 1)
			m = (struct mapping){1, 1, MAPPING_KERNEL, 0, 0, "[kernel]", ""};
		rc = put_mapping(to, &m, err);
	}
	for (uint64_t i = 1; i <= FLAME_FRAMES && !rc; i++) {
		uint64_t kind = flame_kind(i), mapping = kind == FRAME_KERNEL ? 1 : 2 + i % 19;
		char name[64];
		struct function f = {i, mapping, name, "", "main.c", i, 0};
		struct frame at = {i, kind, mapping, 0x1000 * i, i, 0, FRAME_FLAG_LOOKED_UP};

		snprintf(name, sizeof(name), "%s_%s_%u", words[i % 10], words[i / 10 % 10],
			 (unsigned)i);
		at.flags |= i == 1 ? FRAME_FLAG_START : 0;
		rc = put_function(to, &f, err);
		if (!rc)
			rc = put_frame(to, &at, err);
	}
	return rc;
}

static inline int flame_put_threads(struct sink *to, struct error *err)
{
	int rc = 0;

	for (uint64_t i = 1; i <= FLAME_PROCESSES && !rc; i++) {
		char name[32];
		struct process p = {i, 1, 100 + i, 0,	 1,    5,
				    5, 0, name,	   "/x", "/c", i % 2 ? "" : "0123456789ab"};

		snprintf(name, sizeof(name), "server-%u", (unsigned)(i % 5));
		rc = put_process(to, &p, err);
	}
	for (uint64_t i = 1; i <= FLAME_THREADS && !rc; i++) {
		struct thread t = {i, 1 + i % FLAME_PROCESSES, 1000 + i, 5, 0, "worker", 0};

		rc = put_thread(to, &t, err);
	}
	return rc;
}

/*
 * Put the stacks. Most stacks extend the previous one, so that they are deep. Only kernel frames
 * are called by kernel frames. last receives the ids of the stacks that get samples.
 */
static inline int flame_put_stacks(struct sink *to, uint64_t *last, struct error *err)
{
	uint64_t seed = 7, found = 0;
	unsigned char *kernel = calloc(FLAME_NODES + 1, 1);
	int rc = kernel ? 0 : -12;

	for (uint64_t i = 1; i <= FLAME_NODES && found < FLAME_STACKS && !rc; i++) {
		bool on = i > 1 && flame_random(&seed) % 100 < 72;
		uint64_t parent = i == 1 ? 0 : on ? i - 1 : 1 + flame_random(&seed) % (i - 1);
		uint32_t frame = i == 1 ? 1 : 1 + flame_random(&seed) % FLAME_FRAMES;
		struct stack s = {i, parent, 0};

		if (kernel[parent])
			frame = 5 + frame / 6 * 6;
		else if (flame_kind(frame) == FRAME_KERNEL && flame_random(&seed) % 12)
			frame--;
		s.frame = frame > FLAME_FRAMES ? 5 : frame;
		kernel[i] = flame_kind(s.frame) == FRAME_KERNEL;
		if (!on && i > 1)
			last[found++] = i - 1;
		rc = put_stack(to, &s, err);
	}
	free(kernel);
	return rc;
}

static inline int flame_put_samples(struct sink *to, const uint64_t *last, struct error *err)
{
	uint64_t seed = 11, time = 1000000000;
	int rc = 0;

	for (uint64_t i = 0; i < FLAME_STACKS && !rc; i++) {
		uint64_t thread = 1 + flame_random(&seed) % FLAME_THREADS;

		for (uint64_t n = flame_random(&seed) % 3 + 1; n && !rc; n--) {
			struct sample s = {time += 1000, 1, thread, 0, last[i], FLAME_PERIOD, 0};

			rc = put_sample(to, &s, err);
		}
		if (!rc && i % 100 == 0) {
			struct sample s = {time += 1000, 2, thread, 0, last[i], 1000, 0};

			rc = put_sample(to, &s, err);
		}
	}
	return rc;
}

static inline int flame_run(struct source *s, struct sink *to, struct error *err)
{
	static const struct event events[] = {
		{1, 1, "cpu-clock", "ns", FLAME_PERIOD, 99},
		{2, 1, "page-faults", "count", 1000, 0},
	};
	uint64_t *last = calloc(FLAME_STACKS, sizeof(*last));
	int rc = last ? put_host(to, &flame_host, err) : -12;

	(void)s;
	for (int i = 0; i < 2 && !rc; i++)
		rc = put_event(to, &events[i], err);
	if (!rc)
		rc = flame_put_threads(to, err);
	if (!rc)
		rc = flame_put_frames(to, err);
	if (!rc)
		rc = flame_put_stacks(to, last, err);
	if (!rc)
		rc = flame_put_samples(to, last, err);
	free(last);
	return rc;
}

/* Hostile names, each used for a function, a process, a thread and a module. */
static const char *const hostile_names[] = {
	"</script><script>window.harmed = 1</script>",
	"<img src=x onerror='window.harmed = 1'>",
	"<!--<script>",
	"]]></style><svg onload=window.harmed=1>",
	"\"><iframe src=javascript:window.harmed=1>",
	"${window.harmed = 1}`;window.harmed = 1;//",
	"\\u003c/script\\u003e\\",
	"\xe2\x80\xae"
	"gnp.live\xe2\x80\xac",
	"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xd8\xb3\xd9\x84\xd8\xa7\xd9\x85 (right to left)",
	"\x1b[2J\x1b]0;title\x07\x01\x7f\xc2\x9b",
	"\xe2\x80\x8b\xe2\x80\x8b\xef\xbb\xbf",
	"a\xe2\x80\x8b\xcc\xb6\xcc\xb7\xcc\xb8\xcd\xa2",
	"line\xe2\x80\xa8paragraph\xe2\x80\xa9"
	"end",
	"\xc3\x28 \xed\xa0\x80 \xf4\x90\x80\x80 \xff",
	"   ",
	"__proto__",
	"constructor",
	"https://example.com/?q=<b>&amp;",
	"@DATA@",
};
#define HOSTILE_NAMES (sizeof(hostile_names) / sizeof(hostile_names[0]))

static inline int hostile_put(struct sink *to, uint64_t i, const char *name, struct error *err)
{
	struct process p = {i, 1, i, 0, 0, 5, 5, 0, name, name, name, name};
	struct thread t = {i, i, i, 5, 0, name, 0};
	struct mapping m = {i, 1, MAPPING_FILE, 0, 0, name, name};
	struct function f = {i, i, name, name, name, i, i};
	struct frame at = {i, i % 9, i, i, i, i, 0};
	int rc = put_process(to, &p, err);

	if (!rc)
		rc = put_thread(to, &t, err);
	if (!rc)
		rc = put_mapping(to, &m, err);
	if (!rc)
		rc = put_function(to, &f, err);
	return rc ? rc : put_frame(to, &at, err);
}

static inline int hostile_run(struct source *s, struct sink *to, struct error *err)
{
	const char *first = hostile_names[0];
	struct host host = {1,		first, first,	  first, first, first,
			    UINT64_MAX, 1,     INT64_MAX, 0,	 5,	7};
	struct info info = {1, 1, "option.comm", first};
	struct event event = {1, 1, first, first, UINT64_MAX / 3, 99};
	struct loss loss = {1, 1, 1, 1, 999, 5, 6, UINT64_MAX, 1};
	char *longest = malloc(100001);
	int rc = longest ? put_host(to, &host, err) : -12;

	(void)s;
	if (!rc)
		rc = put_info(to, &info, err);
	if (!rc)
		rc = put_event(to, &event, err);
	if (longest) {
		memset(longest, 'W', 100000);
		longest[100000] = '\0';
	}
	for (uint64_t i = 0; i <= HOSTILE_NAMES && !rc; i++)
		rc = hostile_put(to, i + 1, i < HOSTILE_NAMES ? hostile_names[i] : longest, err);
	for (uint64_t i = 0; i <= HOSTILE_NAMES && !rc; i++) {
		struct stack below = {i + 1, i, i + 1};

		rc = put_stack(to, &below, err);
	}
	for (uint64_t i = 0; i <= HOSTILE_NAMES && !rc; i++) {
		struct sample sample = {6, 1, i + 1, 0, i + 1, 1 + i % 2 * (UINT64_MAX / 64), 0};

		rc = put_sample(to, &sample, err);
	}
	free(longest);
	if (!rc) {
		struct sample of_no_event = {7, 0, 1, 0, 1, 1, 0};

		rc = put_sample(to, &of_no_event, err);
	}
	return rc ? rc : put_loss(to, &loss, err);
}

static inline void flame_free(struct source *s)
{
	(void)s;
}

static const struct source_ops flame_scene_ops = {.run = flame_run, .free = flame_free};
static const struct source_ops hostile_scene_ops = {.run = hostile_run, .free = flame_free};

/*
 * Return the scene named "flames" or "hostile", which need not be freed; NULL for any other name.
 */
static inline struct source *flame_source(const char *name)
{
	static struct source flames = {.ops = &flame_scene_ops},
			     hostile = {.ops = &hostile_scene_ops};

	return !strcmp(name, "flames") ? &flames : !strcmp(name, "hostile") ? &hostile : NULL;
}

#endif
