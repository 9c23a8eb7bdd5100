/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings for the flame graph page, as sources: one with 100,000 different stacks, and one with
 * texts and numbers that try to harm a page.
 */
#ifndef SKEIN_TESTS_FLAME_SCENE_H
#define SKEIN_TESTS_FLAME_SCENE_H

#include <stdio.h>
#include <string.h>

#include "scene.h"

#define FLAME_STACKS 100100 /* stacks with samples; some have equal names */
#define FLAME_NODES 420000 /* at most so many nodes in their tree */
#define FLAME_FRAMES 6000
#define FLAME_PROCESSES 12
#define FLAME_THREADS 96
#define FLAME_PERIOD 10101010

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

static const char *const flame_words[] = {"parse", "read",  "encode", "visit",	  "lookup",
					  "alloc", "merge", "update", "schedule", "flush"};

static inline void flame_put_frames(struct scene *s)
{
	char text[64];

	scene_mapping(s, 1, 1, MAPPING_KERNEL, 0, 0, "[kernel]", "");
	for (uint64_t i = 2; i <= 20; i++) {
		snprintf(text, sizeof(text), "/usr/lib/lib%s.so.%u", flame_words[i % 10],
			 (unsigned)i);
		scene_mapping(s, i, 1, MAPPING_FILE, 0, 0, text, "");
	}
	for (uint64_t i = 1; i <= FLAME_FRAMES; i++) {
		uint64_t kind = flame_kind(i), mapping = kind == FRAME_KERNEL ? 1 : 2 + i % 19;

		snprintf(text, sizeof(text), "%s_%s_%u", flame_words[i % 10],
			 flame_words[i / 10 % 10], (unsigned)i);
		scene_function(s, i, mapping, text, "", "main.c", i, 0);
		scene_frame(s, i, kind, mapping, 0x1000 * i, i, 0,
			    FRAME_FLAG_LOOKED_UP | (i == 1 ? FRAME_FLAG_START : 0));
	}
}

static inline void flame_put_threads(struct scene *s)
{
	for (uint64_t i = 1; i <= FLAME_PROCESSES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "server-%u", (unsigned)(i % 5));
		scene_process(s, i, 1, 100 + i, 0, 1, 5, 5, 0, name, "/x", "/c",
			      i % 2 ? "" : "0123456789ab", 0, i % 3 ? "" : "web");
	}
	for (uint64_t i = 1; i <= FLAME_THREADS; i++)
		scene_thread(s, i, 1 + i % FLAME_PROCESSES, 1000 + i, 5, 0, "worker", 0, 0, "");
}

/*
 * Put the stacks. Most stacks extend the previous one, so that they are deep. Only kernel frames
 * are called by kernel frames. last receives the ids of the stacks that get samples.
 */
static inline void flame_put_stacks(struct scene *s, uint64_t *last)
{
	static unsigned char kernel[FLAME_NODES + 1];
	uint64_t seed = 7, found = 0;

	for (uint64_t i = 1; i <= FLAME_NODES && found < FLAME_STACKS; i++) {
		bool on = i > 1 && flame_random(&seed) % 100 < 72;
		uint64_t parent = i == 1 ? 0 : on ? i - 1 : 1 + flame_random(&seed) % (i - 1);
		uint32_t frame = i == 1 ? 1 : 1 + flame_random(&seed) % FLAME_FRAMES;

		if (kernel[parent])
			frame = 5 + frame / 6 * 6;
		else if (flame_kind(frame) == FRAME_KERNEL && flame_random(&seed) % 12)
			frame--;
		frame = frame > FLAME_FRAMES ? 5 : frame;
		kernel[i] = flame_kind(frame) == FRAME_KERNEL;
		if (!on && i > 1)
			last[found++] = i - 1;
		scene_stack(s, i, parent, frame);
	}
}

static inline void flame_put_samples(struct scene *s, const uint64_t *last)
{
	uint64_t seed = 11, time = 1000000000;

	for (uint64_t i = 0; i < FLAME_STACKS; i++) {
		uint64_t thread = 1 + flame_random(&seed) % FLAME_THREADS;

		for (uint64_t n = flame_random(&seed) % 3 + 1; n; n--)
			scene_sample(s, time += 1000, 1, thread, 0, last[i], FLAME_PERIOD, 0, 0, 0,
				     0, 0);
		if (i % 100 == 0)
			scene_sample(s, time += 1000, 2, thread, 0, last[i], 1000, 0, 0, 0, 0, 0);
	}
}

static inline void flame_build(struct scene *s, const void *unused)
{
	static uint64_t last[FLAME_STACKS];

	(void)unused;
	scene_host(s, 1, "flames", "n", "c", "6.12.0", "x86_64", 16, 64ULL << 30,
		   1700000000000000000LL, 0, 1000000000, 121000000000ULL);
	scene_event(s, 1, 1, "cpu-clock", "ns", FLAME_PERIOD, 99);
	scene_event(s, 2, 1, "page-faults", "count", 1000, 0);
	flame_put_threads(s);
	flame_put_frames(s);
	flame_put_stacks(s, last);
	flame_put_samples(s, last);
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
#define HOSTILE_NAMES SCENE_COUNT(hostile_names)

static inline void hostile_put(struct scene *s, uint64_t i, const char *name)
{
	scene_process(s, i, 1, i, 0, 0, 5, 5, 0, name, name, name, name, 0, name);
	scene_thread(s, i, i, i, 5, 0, name, 0, 0, "");
	scene_mapping(s, i, 1, MAPPING_FILE, 0, 0, name, name);
	scene_function(s, i, i, name, name, name, i, i);
	scene_frame(s, i, i % 9, i, i, i, i, 0);
}

static inline void hostile_build(struct scene *s, const void *unused)
{
	const char *first = hostile_names[0];
	static char longest[100001];

	(void)unused;
	memset(longest, 'W', sizeof(longest) - 1);
	scene_host(s, 1, first, first, first, first, first, UINT64_MAX, 1, INT64_MAX, 0, 5, 7);
	scene_info(s, 1, 1, "option.comm", first);
	scene_event(s, 1, 1, first, first, UINT64_MAX / 3, 99);
	for (uint64_t i = 0; i <= HOSTILE_NAMES; i++)
		hostile_put(s, i + 1, i < HOSTILE_NAMES ? hostile_names[i] : longest);
	for (uint64_t i = 0; i <= HOSTILE_NAMES; i++)
		scene_stack(s, i + 1, i, i + 1);
	for (uint64_t i = 0; i <= HOSTILE_NAMES; i++)
		scene_sample(s, 6, 1, i + 1, 0, i + 1, 1 + i % 2 * (UINT64_MAX / 64), 0, 0, 0, 0,
			     0);
	scene_sample(s, 7, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0); /* of no event */
	scene_loss(s, 1, 1, 1, 1, 999, 5, 6, UINT64_MAX, 1);
}

DEFINE_SCENE(flames_source, flame_build)
DEFINE_SCENE(hostile_source, hostile_build)

#endif
