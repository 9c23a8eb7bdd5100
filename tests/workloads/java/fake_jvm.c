// SPDX-License-Identifier: Apache-2.0
/*
 * A program that exports HotSpot's tables, and has the structures that skein reads in wrong forms.
 * Its code cache has one compiled method (in it, a.Scene.outer) and one interpreter's loop
 * (a.Scene.outer as well), which spin() calls.
 *
 *   fake_jvm SECONDS KIND
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/hotspot_scene.h"

#define CODE 0x7f0000100000ull /* two heaps of 1 MiB, as in scene_cache() */
#define COMPILED 0x7f0000200000ull
#define INTERPRETER 0x7f0000110000ull
#define SEGMENTS 0x7f0000400000ull
#define SEGMENT_COUNT 8192
#define KERNEL 0xffff888000001000ull
#define UNMAPPED 0x7e0000001000ull

#define DEFINE_OBJECT(NAME, symbol) uint64_t object_##NAME __asm__(symbol);
HOTSPOT_OBJECT_NAMES(DEFINE_OBJECT)
#define POINT_TO_OBJECT(NAME, symbol) &object_##NAME,
static uint64_t *const objects[] = {HOTSPOT_OBJECT_NAMES(POINT_TO_OBJECT)};

static struct hotspot_scene *const scene = (void *)IMAGE_BASE;
static uint64_t blob; /* the nmethod in the code cache */
static volatile int done;

static uint64_t word_of(uint64_t address)
{
	return *(uint64_t *)address;
}

static void set(uint64_t address, uint64_t value, size_t bytes)
{
	memcpy((void *)address, &value, bytes);
}

static void map(uint64_t address, size_t size, int protection)
{
	if (mmap((void *)address, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		exit(1);
}

/* Copy the made-up nmethod into the code cache, with code that spins rdi times. */
static void place_compiled(void)
{
	static const uint8_t code[] = {
		0x55, 0x48, 0x83, 0xec, 0x10, /* push rbp; sub rsp, 16 */
		0x48, 0xff, 0xcf, 0x75, 0xfb, /* dec rdi; jnz */
		0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3, /* add rsp, 16; pop rbp; ret */
	};

	blob = COMPILED + SCENE_BLOCK;
	memcpy((void *)COMPILED, (void *)(scene->code - SCENE_BLOCK), SCENE_BLOCK + SCENE_NMETHOD);
	memcpy((void *)(blob + SCENE_NMETHOD), code, sizeof(code));
	set(blob + 12, 4, 4); /* words of the frame */
	set(blob + 16, 5, 4); /* end of the prologue */
	set(blob + 24, blob + SCENE_NMETHOD, 8);
	set(blob + 32, blob + SCENE_NMETHOD + sizeof(code), 8);
	/* offsets from the blob */
	for (int i = 60; i <= 68; i += 4)
		set(blob + (uint64_t)i, (uint32_t)word_of(blob + (uint64_t)i) + scene->code - blob,
		    4);
}

/* Code that makes a frame of the interpreter, with rdx as Method and rcx as bcp. */
static void place_interpreter(void)
{
	static const uint8_t code[] = {
		0x55, 0x48, 0x89, 0xe5, /* push rbp; mov rbp, rsp */
		0x48, 0x8d, 0x45, 0x10, 0x50, /* lea rax, [rbp+16]; push rax */
		0x6a, 0x00, 0x52, /* push 0; push rdx */
		0x6a, 0x00, 0x6a, 0x00, 0x6a, 0x00, 0x6a, 0x00, /* push 0, four times */
		0x51, /* push rcx */
		0x48, 0xff, 0xcf, 0x75, 0xfb, /* dec rdi; jnz */
		0x48, 0x89, 0xec, 0x5d, 0xc3, /* mov rsp, rbp; pop rbp; ret */
	};

	memcpy((void *)INTERPRETER, code, sizeof(code));
}

static void make_scene(void)
{
	struct hotspot_entry entries[128];
	struct hotspot_image *image;
	uint64_t statics;

	map(IMAGE_BASE, sizeof(*scene) + 4096, PROT_READ | PROT_WRITE);
	map(CODE, 0x200000, PROT_READ | PROT_WRITE | PROT_EXEC);
	map(SEGMENTS, 65536, PROT_READ | PROT_WRITE);
	image = &scene->image;
	scene->old = true;
	(void)image_room(image, 256);
	statics = image_room(image, 24);
	image_tables(image, entries, scene_entries(entries, true, statics));
	scene_cache(scene, statics);
	scene_counters(scene, statics);
	scene->outer = scene_method(scene, "a/Scene", "outer", 40);
	scene->inner = scene_method(scene, "a/Scene", "inner", 100);
	scene_code(scene);
	for (int i = 0; i < SEGMENT_COUNT; i++)
		((uint8_t *)SEGMENTS)[i] = i < 254 ? (uint8_t)i : 254;
	place_compiled();
	place_interpreter();
}

static void export_tables(void)
{
	for (int i = 0; i < HOTSPOT_OBJECTS; i++)
		*objects[i] = image_object_value(&scene->image, i);
}

__attribute__((noinline, noipa)) static void spin(void)
{
	static unsigned int turn;
	uint64_t const_method = word_of(scene->outer + 8);
	void (*compiled)(uint64_t) = (void (*)(uint64_t))(blob + SCENE_NMETHOD);
	void (*interpreted)(uint64_t, uint64_t, uint64_t, uint64_t) = (void *)INTERPRETER;

	if (turn++ % 2)
		compiled(200000);
	else
		interpreted(200000, 0, scene->outer, const_method + SCENE_CONST + 3);
	__asm__ volatile(""); /* no tail call */
}

static uint32_t next_random(void)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 16);
}

/* Change words of what is read, in a thread of its own; the code itself stays. */
static void *tear(void *unused)
{
	static const uint64_t values[] = {0,	      1,    KERNEL,   UNMAPPED,
					  IMAGE_BASE, CODE, COMPILED, -1ull};

	while (!done) {
		uint32_t offset = next_random() % (uint32_t)scene->image.used & ~7u;
		uint64_t at = next_random() % 4 ? IMAGE_BASE + offset
						: blob + next_random() % (SCENE_NMETHOD - 8);
		uint64_t old = word_of(at);

		/* what spin() reads must stay */
		if (at == scene->outer + 8)
			continue;
		set(at, next_random() % 2 ? values[next_random() % 8] : next_random(), 8);
		usleep(next_random() % 100);
		set(at, old, 8);
	}
	return unused;
}

static void *count_unloads(void *unused)
{
	while (!done)
		++*(volatile uint64_t *)scene->unloads;
	return unused;
}

static void *resize_frame(void *unused)
{
	static const uint32_t sizes[] = {0, 1, 2, 3, 5, 1000, 65536, 65537, 1u << 31, -1u};

	while (!done)
		*(volatile uint32_t *)(blob + 12) = sizes[next_random() % 10];
	return unused;
}

static void start(void *(*work)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		exit(1);
}

static void lie_segments(void)
{
	memset((void *)SEGMENTS, 1, SEGMENT_COUNT); /* goes back by one, and has no begin */
	set(INTERPRETER - 8, 0, 8);
}

static void lie_headers(void)
{
	set(blob, KERNEL, 8); /* name */
	set(blob + 24, UNMAPPED, 8);
}

static void lie_methods(void)
{
	uint64_t const_method = word_of(scene->outer + 8), pool = word_of(const_method + 8);

	set(pool + 24, KERNEL, 8); /* holder */
	set(pool + SCENE_POOL + 8, pool, 8); /* name */
	set(blob + 40, scene->inner + 4, 8);
}

/* The senders of a scope never end. */
static void lie_scopes(void)
{
	static const uint8_t scope[] = {4, 2, 4}; /* at 4: its own sender */

	memcpy((void *)(scene->scopes + 4), scope, sizeof(scope));
}

static void lie_counters(void)
{
	set(scene->counters + 28, -1u, 4);
	for (uint64_t i = 0; i < 2; i++)
		set(scene->counters + 32 + 64 * i + 4, 60, 4); /* the name */
	set(scene->counters + 32, 32, 4);
	set(scene->counters + 32 + 16, 24, 4);
}

static void lie_heaps(void)
{
	uint64_t data = word_of(scene->heaps + 8);

	set(scene->heaps, 2, 4);
	set(data + 8, word_of(data), 8); /* the same heap twice */
}

/* All words of the tables are the same pointer to a text. */
static void lie_garbled(void)
{
	uint64_t text = image_text(&scene->image, "garbled");
	uint64_t at = image_object_value(&scene->image, HOTSPOT_STRUCTS);

	for (uint64_t i = at; i + 48 < IMAGE_BASE + scene->image.used; i += 8)
		if (i + 8 <= text || i > text)
			set(i, text, 8);
}

static void lie_foreign(void)
{
	image_change(&scene->image, HOTSPOT_TYPES, KERNEL);
	image_change(&scene->image, HOTSPOT_INTS, UNMAPPED);
}

static void lie_unfilled(void)
{
	image_change(&scene->image, HOTSPOT_STRUCT_STRIDE, 0);
}

static double seconds_used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const struct {
	const char *name;
	void (*lie)(void);
	void *(*thread)(void *);
} kinds[] = {
	{"plausible", NULL, NULL},	  {"late", NULL, NULL},
	{"segments", lie_segments, NULL}, {"headers", lie_headers, NULL},
	{"methods", lie_methods, NULL},	  {"scopes", lie_scopes, NULL},
	{"counters", lie_counters, NULL}, {"heaps", lie_heaps, NULL},
	{"garbled", lie_garbled, NULL},	  {"foreign", lie_foreign, NULL},
	{"unfilled", lie_unfilled, NULL}, {"unloads", NULL, count_unloads},
	{"frames", NULL, resize_frame},	  {"torn", NULL, tear},
};

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	size_t kind = 0, count = sizeof(kinds) / sizeof(*kinds);

	while (argc > 2 && kind < count && strcmp(argv[2], kinds[kind].name))
		kind++;
	if (kind == count)
		return 2;
	make_scene();
	if (kinds[kind].lie)
		kinds[kind].lie();
	if (kinds[kind].thread)
		start(kinds[kind].thread);
	if (strcmp(kinds[kind].name, "late"))
		export_tables();
	while (seconds_used() < seconds) {
		spin();
		if (seconds_used() > seconds / 4)
			export_tables();
	}
	done = 1;
	return 0;
}
