// SPDX-License-Identifier: Apache-2.0
/*
 * Work on every CPU with known times: which thread had which CPU when. One thread is bound to each
 * CPU:
 *
 *  - first the threads take turns, each waking the next: every fourth burns 1 ms of its CPU time
 *    per turn on average, the next ones 2, 3 and 4 ms, in functions of their own;
 *  - a "wanderer" at the same time moves itself from CPU to CPU, burning 1 ms on each;
 *  - then all burn at once, each with a short sleep after every 2 ms.
 *
 *   relay SECONDS-OF-TURNS SECONDS-AT-ONCE
 *
 * Prints, with times of CLOCK_BOOTTIME in ns:
 *   thread TID CPU CPU-TIME          of the turns only; the wanderer's CPU is -1
 *   turn TID CPU BEGIN END           also of the wanderer
 *   once TID CPU BEGIN END CPU-TIME
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

#define CPUS_MAX 1024
#define TURNS_MAX 65536 /* of one thread */
#define STEP 7 /* of the wanderer, in CPUs */

struct turn {
	int cpu;
	uint64_t begin, end;
};

struct runner {
	pthread_t thread;
	sem_t turn_comes;
	int cpu, number;
	unsigned int seed;
	pid_t tid;
	uint64_t used; /* ns of CPU time, in the turns */
	struct turn *turns;
	unsigned int count;
	struct turn once;
	uint64_t used_once;
};

static struct runner runners[CPUS_MAX + 1]; /* the last is the wanderer */
static int cpus[CPUS_MAX], count;
static uint64_t turns_end, once_length; /* boot_ns(), ns */
static pthread_barrier_t together;

BURNER(burn_10)
BURNER(burn_20)
BURNER(burn_30)
BURNER(burn_40)
BURNER(burn_wandering)
BURNER(burn_at_once)

static void (*const burners[])(uint64_t ns) = {burn_10, burn_20, burn_30, burn_40};

static void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}

/* Take a turn of random length, so that the sampling clock cannot fall into step with the turns. */
static void take_turn(struct runner *r, void (*burn)(uint64_t ns), uint64_t mean)
{
	uint64_t ns = mean / 2 + mean * ((uint64_t)rand_r(&r->seed) % 1000) / 1000;
	struct turn t = {.cpu = sched_getcpu(), .begin = boot_ns()};

	burn(ns);
	t.end = boot_ns();
	if (r->count < TURNS_MAX)
		r->turns[r->count++] = t;
}

static void begin(struct runner *r, const char *name)
{
	prctl(PR_SET_NAME, name);
	r->tid = (pid_t)syscall(SYS_gettid);
	r->turns = calloc(TURNS_MAX, sizeof(*r->turns));
	if (!r->turns)
		exit(1);
}

static void burn_with_others(struct runner *r)
{
	uint64_t before = thread_ns();

	r->once = (struct turn){.cpu = sched_getcpu(), .begin = boot_ns()};
	while (boot_ns() < r->once.begin + once_length) {
		burn_at_once(2 * MS);
		usleep(100);
	}
	r->once.end = boot_ns();
	r->used_once = thread_ns() - before;
}

/*
 * Run one thread. A thread that gets its turn after the end passes the turn on, so that no thread
 * waits for ever.
 */
static void *run(void *context)
{
	struct runner *r = context, *next = &runners[(r->number + 1) % count];
	uint64_t before;
	bool over;

	begin(r, "runner");
	r->seed = (unsigned int)r->number + 1;
	bind_to(r->cpu);
	before = thread_ns();
	do {
		while (sem_wait(&r->turn_comes))
			;
		over = boot_ns() >= turns_end;
		if (!over)
			take_turn(r, burners[r->number % 4], (1 + (uint64_t)r->number % 4) * MS);
		sem_post(&next->turn_comes);
	} while (!over);
	r->used = thread_ns() - before;
	pthread_barrier_wait(&together);
	burn_with_others(r);
	return NULL;
}

static void *wander(void *context)
{
	struct runner *r = context;
	uint64_t before;

	begin(r, "wanderer");
	before = thread_ns();
	for (int at = 0; boot_ns() < turns_end; at = (at + STEP) % count) {
		bind_to(cpus[at]);
		take_turn(r, burn_wandering, MS);
		usleep(2000);
	}
	r->used = thread_ns() - before;
	return NULL;
}

static void print(const struct runner *r)
{
	printf("thread %d %d %llu\n", r->tid, r->cpu, (unsigned long long)r->used);
	for (unsigned int i = 0; i < r->count; i++)
		printf("turn %d %d %llu %llu\n", r->tid, r->turns[i].cpu,
		       (unsigned long long)r->turns[i].begin, (unsigned long long)r->turns[i].end);
	if (r->used_once)
		printf("once %d %d %llu %llu %llu\n", r->tid, r->once.cpu,
		       (unsigned long long)r->once.begin, (unsigned long long)r->once.end,
		       (unsigned long long)r->used_once);
}

static void find_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		exit(1);
	for (int i = 0; i < CPU_SETSIZE && count < CPUS_MAX; i++)
		if (CPU_ISSET(i, &set))
			cpus[count++] = i;
}

int main(int argc, char **argv)
{
	struct runner *wanderer;

	turns_end = boot_ns() + (argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 2000 * MS);
	once_length = argc > 2 ? (uint64_t)(atof(argv[2]) * 1e9) : 500 * MS;
	find_cpus();
	pthread_barrier_init(&together, NULL, (unsigned int)count);
	for (int i = 0; i < count; i++) {
		runners[i].cpu = cpus[i];
		runners[i].number = i;
		sem_init(&runners[i].turn_comes, 0, i == 0);
	}
	wanderer = &runners[count];
	wanderer->cpu = -1;
	for (int i = 0; i < count; i++)
		if (pthread_create(&runners[i].thread, NULL, run, &runners[i]))
			return 1;
	if (pthread_create(&wanderer->thread, NULL, wander, wanderer))
		return 1;
	for (int i = 0; i <= count; i++)
		pthread_join(runners[i].thread, NULL);
	for (int i = 0; i <= count; i++)
		print(&runners[i]);
	return 0;
}
