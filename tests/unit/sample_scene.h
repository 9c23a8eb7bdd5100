/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small recording with everything that makes output hard, as a source: hostile names, one path
 * under two ids, incomplete stacks, references to missing entities, a pid used twice, losses. Unit
 * tests read it from memory; tests/readers/make_trace.c writes it to a file.
 *
 * It has 100 samples of cpu-clock at 100 Hz, of 10 ms each, one every 20 ms from 1 s on; scene_runs
 * lists their threads and stacks.
 */
#ifndef SKEIN_TESTS_SAMPLE_SCENE_H
#define SKEIN_TESTS_SAMPLE_SCENE_H

#include "scene.h"

#define SCENE_START 1000000000ULL
#define SCENE_STEP 20000000ULL
#define SCENE_PERIOD 10000000ULL
#define SCENE_SAMPLES 100

static const struct host scene_hosts[] = {
	{1, "web-1", "m", "b", "6.1.0-18-amd64", "x86_64", 4, 8ULL << 30, 1700000000000000000LL, 0,
	 SCENE_START, SCENE_START + 2000000000ULL},
};
static const struct info scene_infos[] = {
	{1, 1, "options", "record -F 100"},
};
static const struct event scene_events[] = {
	{1, 1, "cpu-clock", "ns", SCENE_PERIOD, 100},
};
static const struct process scene_processes[] = {
	{1, 1, 100, 100, 1, 5, 5, 0, "worker 3", "/usr/bin/worker", "/system.slice/w.service", "",
	 0, "w"},
	{2, 1, 101, 7, 1, 6, 6, 0, "a;b\nc\xff", "/x", "/docker/0123456789abcdef0123",
	 "0123456789abcdef0123", 0, "we\x1b[31mb;x\n"},
	{3, 1, 2, 2, 0, 1, 1, 0, "kthreadd", "", "/", "", 0, ""},
	/* Pid 100 again, with another program of the same name. */
	{4, 1, 100, 100, 1, 9, 9, 0, "worker 3", "/usr/bin/worker", "/system.slice/w.service", "",
	 0, "w"},
	{5, 1, 0, 0, 0, 0, 0, 0, "swapper/1", "", "/", "", 0, ""},
	{6, 1, 102, 102, 1, 7, 7, 0, "</script><b>\"'&", "", "/\x1b[31mred", "", 0, ""},
};
static const struct thread scene_threads[] = {
	{1, 1, 100, 5, 0, "worker 3", 0, 0, ""},   {2, 1, 110, 5, 0, "pool 12", 0, 0, ""},
	{3, 2, 101, 6, 0, "a;b\nc\xff", 0, 0, ""}, {4, 3, 2, 1, 0, "kthreadd", 0, 0, ""},
	{5, 4, 100, 9, 0, "worker 3", 0, 0, ""},   {6, 5, 0, 0, 0, "swapper/1", 0, 0, ""},
	{7, 6, 102, 7, 0, "", 0, 0, ""},
};
static const struct mapping scene_mappings[] = {
	{1, 1, MAPPING_FILE, 0, 100000, "/usr/bin/worker", "aabb"},
	{2, 1, MAPPING_FILE, 0, 2000000, "/lib/libc.so.6", "ccdd"},
	{3, 1, MAPPING_KERNEL, 0, 0, "[kernel]", ""},
	{4, 1, MAPPING_JIT, 2, 4096, "", ""},
	/* The same file again, because the recorder had forgotten it. */
	{5, 1, MAPPING_FILE, 0, 100000, "/usr/bin/worker", "aabb"},
	{6, 1, MAPPING_FILE, 0, 5000, "/tmp/evil;\x1b[2J 7", ""},
};
static const struct function scene_functions[] = {
	{1, 1, "_start", "", "", 0, 0},
	{2, 1, "main", "", "main.c", 10, 0},
	{3, 1, "std::vector<int, std::allocator<int> >::push_back(int&&)", "_ZNSt6vector9push_back",
	 "", 0, 0},
	{4, 2, "write", "__write", "", 0, 0},
	{5, 3, "do_syscall_64", "", "", 0, 0},
	{6, 3, "ext4_file_write_iter", "", "", 0, 0},
	{7, 4, "LMain;::run\t\xc3\x28 42", "", "", 0, 0},
	{8, 5, "main", "", "main.c", 10, 0},
	{9, 1, "fib", "", "main.c", 30, 0},
	{10, 3, "kthread", "", "", 0, 0},
	{11, 6,
	 "\"quoted\" 'x' </script>\xe2\x80\xae"
	 "evil 3.5",
	 "", "", 0, 0},
	{12, 2,
	 "spin\xe2\x80\x83"
	 "9",
	 "", "", 0, 0},
	{13, 2, "", "", "", 0, 0x2340},
};
static const struct frame scene_frames[] = {
	{1, FRAME_NATIVE, 1, 0x1000, 1, 0, FRAME_FLAG_START | FRAME_FLAG_LOOKED_UP},
	{2, FRAME_NATIVE, 1, 0x1100, 2, 12, FRAME_FLAG_LOOKED_UP},
	{3, FRAME_NATIVE, 1, 0x1200, 3, 0, FRAME_FLAG_LOOKED_UP},
	{4, FRAME_NATIVE, 2, 0x2000, 4, 0, FRAME_FLAG_LOOKED_UP},
	{5, FRAME_KERNEL, 3, 0xffffffff81000010, 5, 0, FRAME_FLAG_LOOKED_UP},
	{6, FRAME_KERNEL, 3, 0xffffffff81000420, 6, 0, FRAME_FLAG_LOOKED_UP},
	{7, FRAME_JIT, 4, 0x7f0000001000, 7, 0, FRAME_FLAG_LOOKED_UP},
	{8, FRAME_NATIVE, 5, 0x1100, 8, 12, FRAME_FLAG_LOOKED_UP},
	{9, FRAME_NATIVE, 1, 0x1300, 9, 31, FRAME_FLAG_LOOKED_UP},
	{10, FRAME_KERNEL, 3, 0xffffffff81000900, 10, 0, FRAME_FLAG_LOOKED_UP},
	{11, FRAME_NATIVE, 6, 0x30, 11, 0, FRAME_FLAG_LOOKED_UP},
	{12, FRAME_NATIVE, 2, 0x2345, 13, 0, FRAME_FLAG_LOOKED_UP}, /* has no name */
	{13, FRAME_NATIVE, 0, 0x7ffff123, 0, 0, 0}, /* in no mapping */
	{14, FRAME_END, 0, END_DEPTH, 0, 0, 0},
	{15, FRAME_END, 0, END_WALKED, 0, 0, 0},
	{16, FRAME_NATIVE, 2, 0x2400, 12, 0, FRAME_FLAG_LOOKED_UP},
};
static const struct stack scene_stacks[] = {
	{1, 0, 1}, /* _start */
	{2, 1, 2}, /* _start main */
	{3, 2, 3}, /* _start main push_back */
	{4, 2, 4}, /* _start main write */
	{5, 4, 5}, /* _start main write do_syscall_64 */
	{6, 5, 6}, /* _start main write do_syscall_64 ext4_file_write_iter */
	{7, 1, 8}, /* _start main: the same path as 2 */
	{8, 2, 9}, /* _start main fib */
	{9, 8, 9}, /* _start main fib fib */
	{10, 9, 9}, /* _start main fib fib fib */
	{11, 0, 10}, /* kthread, in a kernel thread */
	{12, 0, 14}, /* END too deep */
	{13, 12, 9}, /* END too deep, fib */
	{14, 13, 7}, /* END too deep, fib, JIT */
	{15, 0, 12}, /* unnamed code of libc, no first function */
	{16, 15, 11}, /* ... evil */
	{17, 0, 15}, /* END walked */
	{18, 17, 1}, /* END walked, _start: complete */
	{19, 18, 16}, /* END walked, _start, spin: complete */
	{20, 17, 13}, /* END walked, a frame in no mapping */
	{21, 99, 2}, /* its caller is missing */
	{22, 0, 15}, /* END walked */
	{23, 22, 5}, /* END walked, do_syscall_64: the user part is missing */
};

/* The samples in order: how many of which thread at which stack. 100 in all. */
struct scene_run {
	unsigned int count;
	uint64_t thread, stack, cpu, flags;
};
static const struct scene_run scene_runs[] = {
	{20, 1, 3, 0, 0},
	{5, 1, 6, 0, SAMPLE_FLAG_KERNEL},
	{5, 2, 2, 1, 0},
	{5, 2, 7, 1, 0},
	{10, 1, 10, 0, 0},
	{5, 1, 8, 0, 0},
	{10, 3, 14, 2, 0},
	{5, 3, 13, 2, 0},
	{6, 4, 11, 3, SAMPLE_FLAG_KERNEL},
	{4, 5, 3, 1, 0},
	{5, 7, 16, 2, 0},
	{4, 7, 19, 2, 0},
	{3, 7, 20, 2, 0},
	{2, 7, 0, 2, 0},
	{1, 7, 21, 2, 0},
	{3, 7, 23, 2, SAMPLE_FLAG_KERNEL},
	{2, 77, 2, 2, 0}, /* a missing thread */
	{5, 6, 0, 3, SAMPLE_FLAG_IDLE},
};

static const struct account scene_accounts[] = {
	{1, 0, 200, 40, 3, 150, 0, 0},
	{1, 1, 200, 14, 0, 186, 0, 0},
	{1, 2, 200, 35, 0, 158, 1, 0},
	{1, 3, 200, 11, 0, 189, 0, 0},
};
static const struct loss scene_losses[] = {
	{1, 1, 1, 1, LOSS_NOT_DELIVERED, SCENE_START, SCENE_START + 1, 7, 7 * SCENE_PERIOD},
	{2, 1, 1, 3, LOSS_RING_FULL, SCENE_START, SCENE_START + 1, 5, 5 * SCENE_PERIOD},
	{3, 1, 1, 3, LOSS_RING_FULL, SCENE_START + 1, SCENE_START + 2, 2, 2 * SCENE_PERIOD},
};

static inline void scene_samples(struct scene *s, const struct scene_run *runs, size_t count)
{
	uint64_t time = SCENE_START;

	for (const struct scene_run *r = runs; r < runs + count; r++)
		for (unsigned int n = 0; n < r->count; n++, time += SCENE_STEP)
			scene_sample(s, time, 1, r->thread, r->cpu, r->stack, SCENE_PERIOD,
				     r->flags, 0, 0, 0, 0);
}

/* Put the samples, and the sums that a trace makes of them. */
static inline void scene_runs_and_sums(struct scene *s, const struct scene_run *runs, size_t count)
{
	scene_samples(s, runs, count);
	for (const struct scene_run *r = runs; r < runs + count; r++)
		scene_sum(s, 1, r->thread, r->stack, r->count, r->count * SCENE_PERIOD,
			  r->flags & SAMPLE_FLAGS_OF_RUNTIME, 0);
}

static inline void scene_build(struct scene *s, const void *unused)
{
	(void)unused;
	SCENE_PUT_ALL(s, HOST, scene_hosts);
	SCENE_PUT_ALL(s, INFO, scene_infos);
	SCENE_PUT_ALL(s, EVENT, scene_events);
	SCENE_PUT_ALL(s, PROCESS, scene_processes);
	SCENE_PUT_ALL(s, THREAD, scene_threads);
	SCENE_PUT_ALL(s, MAPPING, scene_mappings);
	SCENE_PUT_ALL(s, FUNCTION, scene_functions);
	SCENE_PUT_ALL(s, FRAME, scene_frames);
	SCENE_PUT_ALL(s, STACK, scene_stacks);
	scene_runs_and_sums(s, scene_runs, SCENE_COUNT(scene_runs));
	SCENE_PUT_ALL(s, ACCOUNT, scene_accounts);
	SCENE_PUT_ALL(s, LOSS, scene_losses);
}

DEFINE_SCENE(scene_source, scene_build)

#endif
