// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that burn CPU time, sleep, hold a lock, wait for it, and read from the disk, in random
 * order and length, and that record when they did each. The log is locked memory, so that writing
 * to it never waits.
 *
 *   truth SECONDS FILE [THREADS]
 *
 * Prints of each thread its id, its CPU time by the kernel (ns, first field of schedstat) at its
 * beginning and end, its CPU clock at the same times, and its phases: [kind, begin, end, CPU time
 * in it, voluntary switches in it]. Times are of CLOCK_BOOTTIME, read before and after each phase,
 * and not corrected.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

#define PAGE 4096UL
#define FILE_PAGES 4096UL
#define PHASES 65536UL
#define THREADS 16

#define KINDS(X) X(BURST, "burst") X(SLEEP, "sleep") X(LOCK, "lock") X(HOLD, "hold") X(IO, "io")
#define ENUM_KIND(N, text) N,
enum kind { KINDS(ENUM_KIND) KIND_COUNT };
#define TEXT_KIND(N, text) text,
static const char *const kind_words[] = {KINDS(TEXT_KIND)};

struct phase {
	enum kind kind;
	uint64_t begin, end; /* boot_ns() */
	uint64_t cpu; /* ns of CPU time of this thread in the phase */
	long switches;
};

struct reported {
	pid_t tid;
	uint64_t begin, end; /* boot_ns() when schedstat was read */
	unsigned long long first, last; /* ns of CPU time by schedstat */
	uint64_t first_clock, last_clock; /* ns, thread_ns() at the same times */
	char *block; /* for reads from the disk */
	unsigned int seed;
	unsigned long count;
	struct phase *phases; /* an array of PHASES */
	struct phase *now; /* the current phase, or NULL */
};

static struct reported threads[THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t finish; /* boot_ns() */
static int disk;

static long voluntary(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/*
 * Begin a phase. The time stamps are read last at its begin and first at its end: other readings
 * for the log lie outside of them.
 */
static void begin(struct reported *t, enum kind kind)
{
	struct phase *p = &t->phases[t->count++];

	p->kind = kind;
	p->switches = -voluntary();
	p->cpu = -thread_ns();
	p->begin = boot_ns();
	t->now = p;
}

static void end(struct reported *t)
{
	struct phase *p = t->now;

	p->end = boot_ns();
	p->cpu += thread_ns();
	p->switches += voluntary();
}

/* Return a random time between a tenth of ns and ns. */
static uint64_t about(struct reported *t, uint64_t ns)
{
	return ns / 10 + ns * (rand_r(&t->seed) % 900) / 1000;
}

static void nap(uint64_t ns)
{
	struct timespec rest = {0, (long)ns};

	nanosleep(&rest, NULL);
}

/* Burn CPU time more finely than BURN_HERE, whose loop is a minimum. */
static void burn(uint64_t ns)
{
	uint64_t until = thread_ns() + ns;

	while (thread_ns() < until)
		;
}

static void burst(struct reported *t)
{
	begin(t, BURST);
	burn(about(t, 3 * MS));
	end(t);
}

static void sleep_some(struct reported *t)
{
	uint64_t ns = about(t, 5 * MS);

	begin(t, SLEEP);
	nap(ns);
	end(t);
}

static void hold(struct reported *t)
{
	begin(t, LOCK);
	pthread_mutex_lock(&mutex);
	end(t);
	begin(t, HOLD);
	burn(about(t, 2 * MS));
	end(t);
	pthread_mutex_unlock(&mutex);
}

static void read_disk(struct reported *t)
{
	off_t at = (off_t)(rand_r(&t->seed) % FILE_PAGES * PAGE);

	if (disk < 0)
		return;
	begin(t, IO);
	if (pread(disk, t->block, PAGE, at) != (ssize_t)PAGE)
		exit(1);
	end(t);
}

/*
 * Read the CPU time (ns) of schedstat, after a short sleep: at a switch, the kernel updates the
 * thread's account.
 */
static unsigned long long schedstat(int fd, uint64_t *time, uint64_t *clock)
{
	char text[128] = "";

	nap(MS);
	*clock = thread_ns();
	*time = boot_ns();
	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		exit(1);
	return strtoull(text, NULL, 10);
}

static void *run(void *argument)
{
	static void (*const todo[])(struct reported *) = {burst, sleep_some, hold, read_disk};
	struct reported *t = argument;
	char path[64];
	int fd;

	t->tid = (pid_t)syscall(SYS_gettid);
	snprintf(path, sizeof(path), "truth-%d", (int)(t - threads));
	prctl(PR_SET_NAME, path);
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		exit(1);
	t->first = schedstat(fd, &t->begin, &t->first_clock);
	while (boot_ns() < finish && t->count + 2 <= PHASES)
		todo[rand_r(&t->seed) % 4](t);
	t->last = schedstat(fd, &t->end, &t->last_clock);
	close(fd);
	return NULL;
}

static void prepare(struct reported *t, unsigned int number)
{
	t->seed = number + 1;
	t->phases = calloc(PHASES, sizeof(*t->phases));
	if (!t->phases || posix_memalign((void **)&t->block, PAGE, PAGE))
		exit(1);
	memset(t->block, 0, PAGE);
	memset(t->phases, 0, PHASES * sizeof(*t->phases));
}

static void open_disk(const char *path)
{
	static char block[FILE_PAGES * PAGE];

	memset(block, 'x', sizeof(block));
	disk = open(path, O_RDWR | O_CREAT, 0600);
	if (disk < 0 || write(disk, block, sizeof(block)) != sizeof(block) || fsync(disk))
		exit(1);
	close(disk);
	disk = open(path, O_RDONLY | O_DIRECT);
}

static void print_thread(const struct reported *t)
{
	printf("{\"tid\": %d, \"begin\": %lu, \"end\": %lu, \"schedstat\": [%llu, %llu], "
	       "\"clock\": [%lu, %lu], \"phases\": [",
	       t->tid, t->begin, t->end, t->first, t->last, t->first_clock, t->last_clock);
	for (unsigned long i = 0; i < t->count; i++) {
		const struct phase *p = &t->phases[i];

		printf("%s[\"%s\", %lu, %lu, %lu, %ld]", i ? ",\n" : "", kind_words[p->kind],
		       p->begin, p->end, p->cpu, p->switches);
	}
	printf("]}");
}

int main(int argc, char **argv)
{
	unsigned int count = argc > 3 ? (unsigned int)atoi(argv[3]) : 3;
	pthread_t ids[THREADS];

	if (argc < 3 || !count || count > THREADS)
		return 2;
	open_disk(argv[2]);
	for (unsigned int i = 0; i < count; i++)
		prepare(&threads[i], i);
	if (mlockall(MCL_CURRENT))
		perror("truth: mlockall");
	finish = boot_ns() + (uint64_t)(atof(argv[1]) * 1e9);
	for (unsigned int i = 0; i < count; i++)
		if (pthread_create(&ids[i], NULL, run, &threads[i]))
			return 1;
	printf("{\"threads\": [");
	for (unsigned int i = 0; i < count; i++) {
		pthread_join(ids[i], NULL);
		printf("%s", i ? ",\n" : "");
		print_thread(&threads[i]);
	}
	printf("]}\n");
	return 0;
}
