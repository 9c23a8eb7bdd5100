/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scene of scene.h with more cases that are hard for formats that list single samples: several
 * events, one with a hostile name, different weights, names that look like the rest of a line, and
 * frames of every kind in one stack. Optionally without any samples.
 */
#ifndef SKEIN_TESTS_MIXED_SCENE_H
#define SKEIN_TESTS_MIXED_SCENE_H

#include "scene.h"

static const struct event mixed_events[] = {
	{2, 1, "cycles:u", "count", 1000000, 0},
	{3, 1, " 77 evil\n#:\x1b[31m ", "count", 1, 0},
};
static const struct process mixed_processes[] = {
	{11, 1, 400, 400, 1, 5, 5, 0, "12 400/400 [000] 1.5: 7 x:", "/a b", "/", ""},
	{12, 1, 401, 401, 1, 5, 5, 0, "#comment", "", "/", ""},
	{13, 1, 402, 402, 1, 5, 5, 0, " lead\ttrail ", "", "/", ""},
	{14, 1, 403, 403, 1, 5, 5, 0, "", "", "/", ""},
	{15, 1, 404, 404, 1, 5, 5, 0, "\xe2\x80\x83(x) 9 (y)\xe3\x80\x80", "", "/", ""},
};
static const struct thread mixed_threads[] = {
	{11, 11, 400, 5, 0, "12 400/400 [000] 1.5: 7 x:", 0},
	{12, 12, 401, 5, 0, "#comment", 0},
	{13, 13, 402, 5, 0, " lead\ttrail ", 0},
	{14, 14, 403, 5, 0, "", 0},
	{15, 15, 404, 5, 0, "\xe2\x80\x83(x) 9 (y)\xe3\x80\x80", 0},
	{16, 15, 404, 6, 0, "renamed", 0}, /* the same thread after a rename */
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

static inline int mixed_put_samples(struct sink *to, struct error *err)
{
	size_t count = sizeof(mixed_samples) / sizeof(mixed_samples[0]);
	struct sample s = {.time = SCENE_START + 123456789, .cpu = 200};
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		const uint64_t *m = mixed_samples[i];

		s.time += i % 4 == 3 ? (uint64_t)-5000000 : 3000001; /* some are late */
		s.event = m[0];
		s.thread = m[1];
		s.stack = m[2];
		s.weight = m[3];
		rc = put_sample(to, &s, err);
	}
	return rc;
}

static inline int mixed_put(struct sink *to, bool samples, struct error *err)
{
	int rc = 0;

	SCENE_PUT_ALL(host, scene_hosts)
	SCENE_PUT_ALL(info, scene_infos)
	SCENE_PUT_ALL(event, scene_events)
	SCENE_PUT_ALL(event, mixed_events)
	SCENE_PUT_ALL(process, scene_processes)
	SCENE_PUT_ALL(process, mixed_processes)
	SCENE_PUT_ALL(thread, scene_threads)
	SCENE_PUT_ALL(thread, mixed_threads)
	SCENE_PUT_ALL(mapping, scene_mappings)
	SCENE_PUT_ALL(mapping, mixed_mappings)
	SCENE_PUT_ALL(function, scene_functions)
	SCENE_PUT_ALL(function, mixed_functions)
	SCENE_PUT_ALL(frame, scene_frames)
	SCENE_PUT_ALL(frame, mixed_frames)
	SCENE_PUT_ALL(stack, scene_stacks)
	SCENE_PUT_ALL(stack, mixed_stacks)
	if (!rc && samples)
		rc = scene_put_runs(to, scene_runs, sizeof(scene_runs) / sizeof(scene_runs[0]),
				    false, err);
	if (!rc && samples)
		rc = mixed_put_samples(to, err);
	SCENE_PUT_ALL(loss, scene_losses)
	return rc;
}

static inline int mixed_run(struct source *s, struct sink *to, struct error *err)
{
	(void)s;
	return mixed_put(to, true, err);
}

static inline int empty_run(struct source *s, struct sink *to, struct error *err)
{
	(void)s;
	return mixed_put(to, false, err);
}

/* Return the scene as a source, which need not be freed. It puts no sums: they come from a file. */
static inline struct source *mixed_scene_source(bool samples)
{
	static const struct source_ops mixed_ops = {.run = mixed_run, .free = scene_free};
	static const struct source_ops empty_ops = {.run = empty_run, .free = scene_free};
	static struct source mixed = {.ops = &mixed_ops}, empty = {.ops = &empty_ops};

	return samples ? &mixed : &empty;
}

#endif
