/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scene of sample_scene.h with more cases that are hard for formats that list single samples:
 * several events, one with a hostile name, different weights, names that look like the rest of a
 * line, and frames of every kind in one stack. Optionally without any samples.
 */
#ifndef SKEIN_TESTS_MIXED_SCENE_H
#define SKEIN_TESTS_MIXED_SCENE_H

#include "sample_scene.h"

static const struct event mixed_events[] = {
	{2, 1, "cycles:u", "count", 1000000, 0},
	{3, 1, " 77 evil\n#:\x1b[31m ", "count", 1, 0},
};
static const struct process mixed_processes[] = {
	{11, 1, 400, 400, 1, 5, 5, 0, "12 400/400 [000] 1.5: 7 x:", "/a b", "/", "", 0, ""},
	{12, 1, 401, 401, 1, 5, 5, 0, "#comment", "", "/", "", 0, ""},
	{13, 1, 402, 402, 1, 5, 5, 0, " lead\ttrail ", "", "/", "", 0, ""},
	{14, 1, 403, 403, 1, 5, 5, 0, "", "", "/", "", 0, ""},
	{15, 1, 404, 404, 1, 5, 5, 0, "\xe2\x80\x83(x) 9 (y)\xe3\x80\x80", "", "/", "", 0, ""},
};
static const struct thread mixed_threads[] = {
	{11, 11, 400, 5, 0, "12 400/400 [000] 1.5: 7 x:", 0, 0, ""},
	{12, 12, 401, 5, 0, "#comment", 0, 0, ""},
	{13, 13, 402, 5, 0, " lead\ttrail ", 0, 0, ""},
	{14, 14, 403, 5, 0, "", 0, 0, ""},
	{15, 15, 404, 5, 0, "\xe2\x80\x83(x) 9 (y)\xe3\x80\x80", 0, 0, ""},
	{16, 15, 404, 6, 0, "renamed", 0, 0, ""}, /* the same thread after a rename */
};
static const struct mapping mixed_mappings[] = {
	{11, 1, MAPPING_PYTHON, 11, 0, "[python3.11:400]", ""},
	{12, 1, MAPPING_FILE, 0, 100, "/tmp/a (b) c.so (deleted)", ""},
	{13, 1, MAPPING_KERNEL, 0, 0, "[ext4]", ""},
};
static const struct function mixed_functions[] = {
	{21, 11, "Handler.get", "", "/srv/my app/main (1).py", 10, 0},
	{22, 12, "f) (/bin/true", "", "", 0, 0},
	{23, 12, "  0xdead ;beef+0x10 (deleted) 12", "", "", 0, 0},
	{24, 13, "ext4_read", "", "", 0, 0},
	{25, 12, "\n\n# not a comment", "", "", 0, 0},
};
static const struct frame mixed_frames[] = {
	{21, FRAME_PYTHON, 11, 0x7f0000000010, 21, 12, FRAME_FLAG_LOOKED_UP},
	{22, FRAME_NATIVE, 12, 0x10, 22, 0, FRAME_FLAG_LOOKED_UP},
	{23, FRAME_NATIVE, 12, 0x20, 23, 0, FRAME_FLAG_LOOKED_UP},
	{24, FRAME_KERNEL, 13, 0xffffffffc0000000, 24, 0, FRAME_FLAG_LOOKED_UP},
	{25, FRAME_NATIVE, 12, UINT64_MAX, 25, 0, FRAME_FLAG_LOOKED_UP},
};
static const struct stack mixed_stacks[] = {
	{41, 1, 22}, /* _start, f) (/bin/true */
	{42, 41, 21}, /* ... Handler.get */
	{43, 42, 7}, /* ... JIT */
	{44, 43, 13}, /* ... a frame in no mapping */
	{45, 44, 23}, /* ... 0xdead */
	{46, 45, 25}, /* ... not a comment */
	{47, 46, 5}, /* ... do_syscall_64 */
	{48, 47, 24}, /* ... ext4_read */
	{49, 12, 48}, /* too deep, and a missing frame */
};
/* The samples in order: event, thread, stack, weight. */
static const uint64_t mixed_samples[][4] = {
	{2, 11, 48, 1000000}, {2, 11, 47, 3},	     {3, 11, 46, 1},  {1, 12, 48, 1234567},
	{1, 12, 48, 1},	      {1, 13, 46, 10000000}, {2, 14, 45, 5},  {1, 15, 44, 999999999},
	{1, 16, 43, 10},      {1, 15, 42, 10},	     {3, 16, 0, 1},   {2, 12, 49, 10},
	{1, 77, 48, 10},      {9, 11, 41, 100},	     {1, 11, 12, 10}, {2, 0, 17, 10},
};

static inline void mixed_put_samples(struct scene *s)
{
	uint64_t time = SCENE_START + 123456789;

	for (size_t i = 0; i < SCENE_COUNT(mixed_samples); i++) {
		const uint64_t *m = mixed_samples[i];

		time += i % 4 == 3 ? (uint64_t)-5000000 : 3000001; /* some are late */
		scene_sample(s, time, m[0], m[1], 200, m[2], m[3], 0, 0, 0, 0, 0);
	}
}

/* samples: NULL to build the scene without any. */
static inline void mixed_build(struct scene *s, const void *samples)
{
	SCENE_PUT_ALL(s, HOST, scene_hosts);
	SCENE_PUT_ALL(s, INFO, scene_infos);
	SCENE_PUT_ALL(s, EVENT, scene_events);
	SCENE_PUT_ALL(s, EVENT, mixed_events);
	SCENE_PUT_ALL(s, PROCESS, scene_processes);
	SCENE_PUT_ALL(s, PROCESS, mixed_processes);
	SCENE_PUT_ALL(s, THREAD, scene_threads);
	SCENE_PUT_ALL(s, THREAD, mixed_threads);
	SCENE_PUT_ALL(s, MAPPING, scene_mappings);
	SCENE_PUT_ALL(s, MAPPING, mixed_mappings);
	SCENE_PUT_ALL(s, FUNCTION, scene_functions);
	SCENE_PUT_ALL(s, FUNCTION, mixed_functions);
	SCENE_PUT_ALL(s, FRAME, scene_frames);
	SCENE_PUT_ALL(s, FRAME, mixed_frames);
	SCENE_PUT_ALL(s, STACK, scene_stacks);
	SCENE_PUT_ALL(s, STACK, mixed_stacks);
	if (samples) {
		scene_samples(s, scene_runs, SCENE_COUNT(scene_runs));
		mixed_put_samples(s);
	}
	SCENE_PUT_ALL(s, LOSS, scene_losses);
}

/* Return the scene as a source, which need not be freed. It puts no sums: they come from a file. */
static inline struct source *mixed_scene_source(bool samples)
{
	static struct scene_source mixed = SCENE_OF(mixed_build, mixed_samples),
				   empty = SCENE_OF(mixed_build, NULL);

	return samples ? &mixed.source : &empty.source;
}

#endif
