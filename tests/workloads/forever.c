// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that wait and are never woken, each in a function of its own.
 *
 *   forever [THREADS]      THREADS: how many more threads wait in pause()
 *
 * Prints "FUNCTION TID" for each thread but those in pause(), once all of them wait.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEEP_FRAME 8192 /* bytes; DEEP_FRAMES of them are more than a recorder reads */
#define DEEP_FRAMES 600
#define STACK_BYTES (16UL << 20)
#define SMALL_STACK (64UL << 10)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ends[2]; /* of a pipe to which nobody writes */
static volatile int sink; /* what follows a call here keeps it from being a tail call */

#define WAIT_IN(name, call) \
	static __attribute__((noinline)) void name(void) \
	{ \
		call; \
		sink++; \
	}

WAIT_IN(wait_futex, pthread_mutex_lock(&mutex))
WAIT_IN(wait_poll, poll(NULL, 0, -1))
WAIT_IN(wait_pipe, char byte; sink = (int)read(ends[0], &byte, 1))
WAIT_IN(wait_sleep, sleep(100000))
WAIT_IN(wait_pause, pause())
WAIT_IN(wait_paged_out, poll(NULL, 0, -1))

static __attribute__((noinline)) void wait_deep(int frames)
{
	volatile char room[DEEP_FRAME];

	room[0] = 1;
	if (frames)
		wait_deep(frames - 1);
	else
		poll(NULL, 0, -1);
	sink = room[0];
}

WAIT_IN(begin_deep, wait_deep(DEEP_FRAMES))

struct waiter {
	const char *name;
	void (*wait)(void);
	void *stack;
	volatile pid_t tid;
};

static void *run(void *arg)
{
	struct waiter *w = arg;

	w->tid = (pid_t)syscall(SYS_gettid);
	w->wait();
	return NULL;
}

static int start(struct waiter *w, size_t stack)
{
	pthread_attr_t attributes;
	pthread_t thread;

	w->stack = mmap(NULL, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->stack == MAP_FAILED || pthread_attr_init(&attributes) ||
	    pthread_attr_setstack(&attributes, w->stack, stack))
		return -1;
	return pthread_create(&thread, &attributes, run, w);
}

/* Return whether a thread waits. */
static int sleeps(pid_t tid)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	if (f)
		fclose(f);
	return state == 'S';
}

int main(int argc, char **argv)
{
	static struct waiter waiters[] = {
		{.name = "wait_futex", .wait = wait_futex},
		{.name = "wait_poll", .wait = wait_poll},
		{.name = "wait_pipe", .wait = wait_pipe},
		{.name = "wait_sleep", .wait = wait_sleep},
		{.name = "wait_deep", .wait = begin_deep},
		{.name = "wait_paged_out", .wait = wait_paged_out},
	};
	const int count = sizeof(waiters) / sizeof(*waiters), more = argc > 1 ? atoi(argv[1]) : 0;
	struct waiter *others = calloc((size_t)more + 1, sizeof(*others));

	if (!others || pipe(ends) || pthread_mutex_lock(&mutex))
		return 1;
	for (int i = 0; i < count; i++)
		if (start(&waiters[i], STACK_BYTES))
			return 1;
	for (int i = 0; i < more; i++) {
		others[i].wait = wait_pause;
		if (start(&others[i], SMALL_STACK))
			return 1;
	}
	for (int i = 0; i < count; i++)
		while (!waiters[i].tid || !sleeps(waiters[i].tid))
			usleep(1000);
	for (int i = 0; i < more; i++)
		while (!others[i].tid || !sleeps(others[i].tid))
			usleep(1000);
	/* Without swap, the pages stay. */
	madvise(waiters[count - 1].stack, STACK_BYTES, MADV_PAGEOUT);
	for (int i = 0; i < count; i++)
		printf("%s %d\n", waiters[i].name, (int)waiters[i].tid);
	printf("main %d\n", (int)getpid());
	fflush(stdout);
	wait_pause();
	return 0;
}
