// SPDX-License-Identifier: Apache-2.0
/*
 * Frames of all shapes that C programs have, in an order that never repeats, for tests that compare
 * two debuggers' views of the same stack. Built without frame pointers.
 *
 *   unwindmix SECONDS [THREADS]
 */
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "burn.h"

#define FRAME __attribute__((noinline, noclone))
#define STACK_BYTES (1 << 18)
#define DEEP 300
#define NOWHERE ((void *)8)
#define SHORTLY 100 /* iterations of a leaf's loop per round */

typedef unsigned int (*frame_fn)(int depth);

static __thread unsigned int random_state;
static __thread sigjmp_buf back;
static volatile unsigned int sink;
static int null_fd;

static unsigned int at_random(unsigned int below)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 12) % below;
}

/* The work of the deepest frames. */

static FRAME unsigned int compute(int rounds)
{
	unsigned int sum = 0;

	for (int i = 0; i < rounds * SHORTLY; i++)
		sum = sum * 31 + (sum >> 7) + i;
	return sink = sum;
}

/* Short calls through the procedure linkage table: some samples hit the table itself. */
static FRAME unsigned int call_library(int rounds)
{
	unsigned int sum = 0;
	char text[32] = "0123456789";

	for (int i = 0; i < rounds * 5; i++) {
		text[i % 10] = '1';
		sum += atoi(text) + (unsigned int)strtoul(text, NULL, 16) + rand_r(&sum);
	}
	return sink = sum;
}

static FRAME unsigned int call_kernel(int rounds)
{
	char page[4096];
	void *area;

	for (int i = 0; i < rounds; i++) {
		if (pread(null_fd, page, sizeof(page), 0) < 0)
			abort();
		area = mmap(NULL, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		if (area == MAP_FAILED)
			abort();
		memset(area, i, 1 << 18);
		munmap(area, 1 << 18);
	}
	return page[5];
}

static FRAME unsigned int ask_the_time(int rounds)
{
	uint64_t sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += read_clock(CLOCK_MONOTONIC);
	return (unsigned int)sum;
}

static int compare(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	compute(1);
	return x < y ? -1 : x > y;
}

static FRAME unsigned int sort(int count)
{
	unsigned int numbers[128];

	for (int i = 0; i < count && i < 128; i++)
		numbers[i] = at_random(1000);
	qsort(numbers, count, sizeof(*numbers), compare);
	return numbers[0];
}

static FRAME unsigned int interrupt(void)
{
	return raise(SIGUSR1);
}

static FRAME int touch(volatile int *address)
{
	return *address;
}

/* The signal handler makes the page readable, and the instruction is executed again. */
static FRAME unsigned int fault_once(void)
{
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int value;

	if (page == MAP_FAILED)
		abort();
	value = touch(page);
	munmap(page, 4096);
	return value;
}

static FRAME unsigned int leaf(int rounds)
{
	switch (at_random(7)) {
	case 0:
		return call_library(rounds);
	case 1:
		return call_kernel(1 + rounds / 20);
	case 2:
		return ask_the_time(rounds);
	case 3:
		return sort(rounds);
	case 4:
		return interrupt();
	case 5:
		return fault_once();
	default:
		return compute(rounds);
	}
}

/* Frames of many shapes, each of which calls a function of another shape. */

static unsigned int descend(int depth);

static FRAME unsigned int small_frame(int depth)
{
	return descend(depth) + 1;
}

static FRAME unsigned int saving_frame(int depth)
{
	unsigned int a = sink, b = a * 3, c = b ^ depth, d = c + a, e = d * b, f = e ^ c;

	a += descend(depth);
	return a + b * c + d * e + f; /* keeps these variables in saved registers */
}

static FRAME unsigned int big_frame(int depth)
{
	volatile char page[6000];

	page[depth] = (char)depth;
	return descend(depth) + page[depth];
}

static FRAME unsigned int alloca_frame(int depth)
{
	volatile char *some = alloca(16 + at_random(300));

	some[3] = (char)depth;
	return descend(depth) + some[3];
}

typedef float vector __attribute__((vector_size(32)));

/* Stacks aligned for AVX: the CFA is computed from a saved register. */
#ifdef __x86_64__
#define WITH_AVX __attribute__((target("avx")))
#define HAVE_AVX __builtin_cpu_supports("avx")
#else
#define WITH_AVX
#define HAVE_AVX 1
#endif

static FRAME WITH_AVX unsigned int vector_frame(int depth)
{
	volatile vector v = {1, 2, 3, (float)depth};
	volatile char *some = alloca(16 + at_random(100));

	some[5] = (char)depth;
	return descend(depth) + (unsigned int)v[3] + some[5];
}

static FRAME unsigned int plain_vector_frame(int depth)
{
	volatile vector v = {1, 2, 3, (float)depth};

	return descend(depth) + (unsigned int)v[2];
}

static FRAME unsigned int many_arguments(int depth, int a, int b, int c, int d, int e, long f,
					 long g, long h)
{
	return descend(depth) + a + b + c + d + e + (unsigned int)(f * g + h);
}

static FRAME unsigned int pushing_frame(int depth)
{
	return many_arguments(depth, 1, 2, 3, 4, 5, 6, sink, 8) + 1;
}

static frame_fn others[] = {
	small_frame,	    saving_frame,  big_frame,	 alloca_frame,
	plain_vector_frame, pushing_frame, vector_frame,
};

static FRAME unsigned int descend(int depth)
{
	size_t count = sizeof(others) / sizeof(*others);

	if (!depth)
		return leaf(1 + at_random(100));
	if (!HAVE_AVX)
		count--;
	return others[at_random(count)](depth - 1) + 1;
}

/* The call is the last instruction: its return address lies after the end of the function. */
static FRAME __attribute__((noreturn)) void leave(int depth)
{
	descend(depth);
	siglongjmp(back, 1);
}

static FRAME __attribute__((noreturn)) void leave_for_good(int depth)
{
	leave(depth + 1);
}

/* Actions between one descent and the next. */

static void jump(void)
{
	if (!sigsetjmp(back, 1))
		leave_for_good(at_random(40));
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	descend(at_random(8));
	if (number == SIGUSR1 && at_random(2))
		raise(SIGUSR2); /* a second handler's frame on top of this one */
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (info->si_addr == NOWHERE)
		leave(at_random(5));
	descend(at_random(5));
	if (mprotect(info->si_addr, 4096, PROT_READ))
		abort();
}

static void on_clock(int number)
{
	(void)number;
	compute(1000);
}

static void fault(void)
{
	if (!sigsetjmp(back, 1))
		sink = touch(NOWHERE);
}

static void run_program(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static __thread ucontext_t outside, inside;

static void in_coroutine(void)
{
	descend(at_random(20));
	swapcontext(&inside, &outside);
}

static void coroutine(void)
{
	static __thread char *stack;

	if (!stack)
		stack = malloc(STACK_BYTES);
	if (!stack || getcontext(&inside))
		abort();
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = STACK_BYTES;
	inside.uc_link = NULL;
	makecontext(&inside, in_coroutine, 0);
	swapcontext(&outside, &inside);
}

static void go_down(void)
{
	descend(at_random(30));
}

static void go_far_down(void)
{
	descend(at_random(DEEP));
}

static void (*const acts[])(void) = {
	go_down, go_far_down, jump, fault, coroutine, run_program,
};

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	if (sigaction(number, &a, NULL))
		abort();
}

static void *act(void *seconds)
{
	uint64_t end = boot_ns() + (uint64_t)(*(double *)seconds * 1e9);
	stack_t alternate = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};

	if (!alternate.ss_sp || sigaltstack(&alternate, NULL))
		abort();
	random_state = (unsigned int)getpid() + (unsigned int)(uintptr_t)&alternate;
	while (boot_ns() < end)
		acts[at_random(sizeof(acts) / sizeof(*acts))]();
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct itimerval often = {{0, 3000}, {0, 3000}};
	int others_count = argc > 2 ? atoi(argv[2]) - 1 : 0;
	pthread_t thread;

	null_fd = open("/dev/zero", O_RDONLY);
	handle(SIGUSR1, on_signal, SA_ONSTACK);
	handle(SIGUSR2, on_signal, 0);
	handle(SIGSEGV, on_fault, SA_ONSTACK | SA_NODEFER);
	signal(SIGALRM, on_clock);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < others_count; i++)
		if (pthread_create(&thread, NULL, act, &seconds))
			abort();
	act(&seconds);
	return 0;
}
