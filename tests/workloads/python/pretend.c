// SPDX-License-Identifier: Apache-2.0
/*
 * A program that claims to contain Python 3.11, and has the structures that the walker reads in
 * wrong forms. Built with symbolizers/python_layout.c, so that they lie at the offsets of 3.11.
 *
 *   pretend SECONDS KIND
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbolizers/python_file.h"

#define APART __attribute__((noinline, noipa))
#define MANY 4096 /* objects of a list */
#define OBJECT 1024 /* bytes of each */
#define CALLS 6 /* nested calls of the evaluation loop */

const unsigned long Py_Version = 0x030b02f0;
__attribute__((used)) const char Py_Home[] = "lib/python3.11";
char _PyRuntime[1 << 17] __attribute__((aligned(64)));
char PyCode_Type[512] __attribute__((aligned(64)));
static const struct python_layout *layout;
static char *objects;
static volatile int done;

static char *object(unsigned int i)
{
	return objects + (size_t)(i % MANY) * OBJECT;
}

static void put(char *to, uint32_t offset, const void *value)
{
	uint64_t word = (uint64_t)(uintptr_t)value;

	if (offset != PYTHON_ABSENT)
		memcpy(to + offset, &word, sizeof(word));
}

static void put_number(char *to, uint32_t offset, uint64_t word)
{
	if (offset != PYTHON_ABSENT)
		memcpy(to + offset, &word, sizeof(word));
}

/* Make a str of the compact ASCII kind with any stated length. */
static char *text(unsigned int i, const char *is, uint64_t length)
{
	char *t = object(i);

	put_number(t, layout->text_length, length);
	put_number(t, layout->text_state, 1 << 2 | 1 << 5 | 1 << 6 | 1 << 7);
	strcpy(t + layout->text_ascii, is);
	return t;
}

static char *code(unsigned int i, uint64_t length)
{
	char *c = object(i);

	put_number(c, 0, 1); /* ob_refcnt: in use */
	put(c, PYTHON_OBJECT_TYPE, PyCode_Type);
	put_number(c, layout->code_first_line, i);
	put(c, layout->code_name, text(i + 1, "planted_name", length));
	put(c, layout->code_qualified_name, text(i + 1, "planted_name", length));
	put(c, layout->code_file, text(i + 2, "planted_file.py", length ? length : 15));
	put(c, layout->code_lines, object(i + 3));
	put_number(object(i + 3), layout->bytes_size, length ? length : 16);
	return c;
}

/* Make an interpreter with this thread and the given list of frames. */
static char *thread_of(char *frames)
{
	char *interpreter = object(0), *thread = object(1), *cframe = object(2);

	put(interpreter, layout->interpreter_threads, thread);
	put(thread, layout->thread_interpreter, interpreter);
	put_number(thread, layout->thread_ident, (uint64_t)pthread_self());
	put(thread, layout->thread_frame, cframe);
	put(cframe, layout->cframe_frame, frames);
	put(_PyRuntime, layout->runtime_interpreters, interpreter);
	return thread;
}

static char *frames_of(unsigned int count, char *last, uint64_t length)
{
	for (unsigned int i = 0; i < count; i++) {
		char *frame = object(100 + i), *of = code(2000 + 4 * (i % 8), length);

		put(frame, layout->frame_code, of);
		put(frame, layout->frame_instruction, of + layout->code_units + 2 * i);
		/* one entry frame for each of the CALLS native calls */
		frame[layout->frame_owner] = count < CALLS || (i + 1) % (count / CALLS) == 0;
		put(frame, layout->frame_previous, i + 1 < count ? object(101 + i) : last);
	}
	return object(100);
}

/* Make every object point to itself, so that all lists are cycles. */
static void make_selves(void)
{
	for (unsigned int i = 0; i < MANY; i++) {
		for (unsigned int j = 0; j < OBJECT; j += 8)
			put(object(i), j, object(i + (j == 0)));
	}
	for (unsigned int j = 0; j < sizeof(_PyRuntime); j += 8)
		put(_PyRuntime, j, object(0));
}

static void make(const char *kind)
{
	char *thread;

	if (strcmp(kind, "selves") == 0)
		return make_selves();
	if (strcmp(kind, "zeros") == 0)
		return;
	thread = thread_of(NULL);
	if (strcmp(kind, "threads") == 0) { /* a cycle of threads without this one */
		put_number(thread, layout->thread_ident, 1);
		for (unsigned int i = 10; i < 2000; i++)
			put(object(i), layout->thread_next, object(i + 1));
		put(thread, layout->thread_next, object(10));
		put(object(2000), layout->thread_next, thread);
	} else if (strcmp(kind, "interpreters") == 0) {
		for (unsigned int i = 10; i < MANY - 1; i++)
			put(object(i), layout->interpreter_next, object(i + 1));
		put_number(thread, layout->thread_ident, 1);
		put(object(0), layout->interpreter_next, object(10));
		put(object(MANY - 1), layout->interpreter_next, object(0));
	} else if (strcmp(kind, "frames") == 0) {
		thread_of(frames_of(600, object(100), 12));
	} else if (strcmp(kind, "lengths") == 0) {
		thread_of(frames_of(12, NULL, 1ULL << 62));
	} else if (strcmp(kind, "nowhere") == 0) {
		thread_of(frames_of(12, (char *)0x7000dead0000, 12));
		for (unsigned int i = 0; i < 8; i++)
			put(object(2000 + 4 * i), layout->code_name, (void *)0x7000dead0000);
	} else { /* plausible; torn: plausible between the changes of tear() */
		thread_of(frames_of(12, NULL, 12));
	}
}

/* Return the i-th object in use: interpreter, thread, call; frames; code and its names. */
static char *used(unsigned int i)
{
	return i < 3 ? object(i) : i < 15 ? object(100 + i - 3) : object(2000 + (i - 15) % 32);
}

/* Overwrite words of the objects in use with words of others for a few moments, in a loop. */
static void *tear(void *unused)
{
	unsigned int seed = 1;

	while (!done) {
		volatile uint64_t *to = (void *)used((unsigned int)rand_r(&seed) % 47);
		volatile uint64_t *from = (void *)used((unsigned int)rand_r(&seed) % 47);
		int at = rand_r(&seed) % 32;
		uint64_t before = to[at];

		to[at] = from[rand_r(&seed) % 32];
		for (volatile int i = 0; i < 1000; i++)
			;
		to[at] = before;
	}
	return unused;
}

APART unsigned int pretend_burn(double seconds)
{
	unsigned int total = 0;
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

	while (clock() < end)
		for (unsigned int i = 0; i < 10000; i++)
			total = total * 31 + i;
	return total;
}

/* The evaluation loop contains a computed jump; this one is never reached. */
#if defined(__aarch64__)
#define COMPUTED_JUMP "b 1f; br x0; 1:"
#else
#define COMPUTED_JUMP "jmp 1f; jmp *%rax; 1:"
#endif

APART int _PyEval_EvalFrameDefault(double seconds, int depth)
{
	__asm__ volatile(COMPUTED_JUMP);
	int got = depth ? _PyEval_EvalFrameDefault(seconds, depth - 1) : (int)pretend_burn(seconds);

	__asm__ volatile("" ::: "memory"); /* prevents a tail call */
	return got + 1;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int torn;

	if (argc < 3)
		return 2;
	layout = python_layout_of(3, 11);
	if (!layout)
		return 3;
	objects = aligned_alloc(4096, (size_t)MANY * OBJECT);
	memset(objects, 0, (size_t)MANY * OBJECT);
	make(argv[2]);
	torn = strcmp(argv[2], "torn") == 0;
	if (torn)
		pthread_create(&thread, NULL, tear, NULL);
	_PyEval_EvalFrameDefault(atof(argv[1]), CALLS - 1);
	done = 1;
	if (torn)
		pthread_join(thread, NULL);
	return 0;
}
