// SPDX-License-Identifier: Apache-2.0
/*
 * What `make bench` records: an interpreter walking a random, fixed expression
 * tree by recursion, the way parsers, template engines and query executors do.
 * Stacks are about 30 deep and there are thousands of different ones, so that
 * neither recorder gets by with a handful of them. Built without inlining, with
 * frame pointers or without.
 *
 *   bench_load mix SECONDS   interpret: computing, and system calls in some leaves
 *   bench_load fixed CHUNKS  compute at the bottom of 30 functions, a fixed amount of work:
 *                            prints ns of wall and of CPU time, chunk by chunk
 *   bench_load calls CHUNKS  the same of short system calls
 *   bench_load forks CHUNKS  the same of processes that run another program
 *   bench_load crowd COUNT   fork so many processes that sleep
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NODES 4096
#define NEST 22 /* how deep expressions nest: two functions for each level, at most */
#define DEPTH 30 /* functions on the stack of `fixed`, libc's and main included */

struct node {
	uint8_t kind;
	const struct node *left, *right;
};

struct machine {
	struct node nodes[NODES];
	unsigned int used;
	uint64_t random;
	int zero; /* /dev/zero */
	uint32_t heap[16384];
	char page[65536];
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static uint32_t draw(struct machine *m)
{
	m->random = m->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(m->random >> 33);
}

static uint64_t hash(struct machine *m, uint64_t value)
{
	for (unsigned int i = 0; i < 100; i++)
		value = (value ^ m->heap[(value + i) % 16384]) * 0x100000001b3ULL;
	return value;
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint64_t sort(struct machine *m, uint64_t value)
{
	uint32_t some[64];

	for (unsigned int i = 0; i < 64; i++)
		some[i] = m->heap[i] ^ (uint32_t)(value * i);
	qsort(some, 64, sizeof(some[0]), ascending);
	return some[value % 64];
}

static uint64_t copy(struct machine *m, uint64_t value)
{
	memmove(m->page, m->page + value % 1024, 8192);
	return value + (unsigned char)m->page[value % 4096];
}

static uint64_t load(struct machine *m, uint64_t value)
{
	return value + (uint64_t)pread(m->zero, m->page, 16384, 0);
}

static uint64_t allocate(struct machine *m, uint64_t value)
{
	size_t bytes = 16384;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return value;
	for (size_t i = 0; i < bytes; i += 4096)
		p[i] = m->page[i];
	munmap(p, bytes);
	return value + 1;
}

static uint64_t evaluate(struct machine *m, const struct node *n, uint64_t value);

static uint64_t add(struct machine *m, const struct node *n, uint64_t value)
{
	return evaluate(m, n->left, value) + evaluate(m, n->right, value + 1);
}

static uint64_t multiply(struct machine *m, const struct node *n, uint64_t value)
{
	return evaluate(m, n->left, value) * evaluate(m, n->right, value ^ 3);
}

static uint64_t choose(struct machine *m, const struct node *n, uint64_t value)
{
	if (hash(m, value) & 1)
		return evaluate(m, n->left, value) + 7;
	return evaluate(m, n->right, value) + 9;
}

static uint64_t call(struct machine *m, const struct node *n, uint64_t value)
{
	value = evaluate(m, n->left, value);
	return evaluate(m, n->right, value) ^ 5;
}

typedef uint64_t inner(struct machine *m, const struct node *n, uint64_t value);
typedef uint64_t leaf(struct machine *m, uint64_t value);

static inner *const inners[] = {add, multiply, choose, call};
/* About a third of the time ends up in the kernel. */
static leaf *const leaves[] = {hash, sort, copy, load, hash, sort, hash, allocate};

static uint64_t evaluate(struct machine *m, const struct node *n, uint64_t value)
{
	if (n->left)
		return inners[n->kind % 4](m, n, value) + 1;
	return leaves[n->kind % 8](m, value) + 1;
}

/* Lopsided, as programs are: one side goes deep, the other ends soon. */
static struct node *grow(struct machine *m, unsigned int depth)
{
	struct node *n = &m->nodes[m->used++];

	*n = (struct node){.kind = (uint8_t)draw(m)};
	if (!depth || m->used + 2 * NEST > NODES)
		return n;
	n->left = grow(m, depth - 1);
	n->right = grow(m, draw(m) % 4 ? depth / 4 : depth - 1);
	return n;
}

static void mix(struct machine *m, uint64_t until)
{
	for (uint64_t value = 1; now_ns() < until;) {
		const struct node *root;

		m->used = 0;
		m->random = value++ % 4; /* the programs that run, again and again */
		root = grow(m, NEST);
		for (unsigned int i = 0; i < 20 && now_ns() < until; i++)
			evaluate(m, root, i);
	}
}

static uint64_t enter(struct machine *m, uint64_t value)
{
	return value + (uint64_t)pread(m->zero, m->page, 16, 0);
}

static uint64_t spawn(struct machine *m, uint64_t value)
{
	pid_t child = fork();
	int status = 1;

	(void)m;
	if (!child) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status)
		exit(1);
	return value + 1;
}

/* What is done a fixed number of times; how often in a chunk. */
static const struct kind {
	const char *name;
	leaf *work;
	unsigned int times;
} kinds[] = {
	{"fixed", hash, 20000},
	{"calls", enter, 40000},
	{"forks", spawn, 20},
};

static uint64_t descend(struct machine *m, unsigned int depth, const struct kind *k, uint64_t value)
{
	if (depth)
		return descend(m, depth - 1, k, value) + 1;
	for (unsigned int i = 0; i < k->times / 10; i++)
		value = k->work(m, value);
	return value + 1;
}

/* Of the process and of the children that it has waited for. */
static uint64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) +
	       (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000ULL +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ULL;
}

/* Chunk by chunk, so that what disturbs one of them can be seen. */
static void fixed(struct machine *m, const struct kind *k, unsigned int chunks, unsigned int depth)
{
	while (chunks--) {
		uint64_t wall = now_ns(), cpu = cpu_ns();

		for (unsigned int i = 0; i < 10; i++)
			descend(m, depth, k, i);
		printf("%llu %llu\n", (unsigned long long)(now_ns() - wall),
		       (unsigned long long)(cpu_ns() - cpu));
		fflush(stdout); /* or children would write it, too */
	}
}

static void crowd(unsigned int count)
{
	while (count-- && fork())
		;
	pause();
}

int main(int argc, char **argv)
{
	static struct machine m;
	/* _start, __libc_start_main and its callee, main, fixed, descend (0), the leaf */
	const unsigned int depth = DEPTH - 7;
	double amount = argc == 3 ? atof(argv[2]) : 0;
	uint64_t until = now_ns() + (uint64_t)(amount * 1e9);

	m.zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (amount <= 0 || m.zero < 0)
		return 2;
	for (unsigned int i = 0; i < 16384; i++)
		m.heap[i] = draw(&m);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(argv[1], kinds[i].name)) {
			fixed(&m, &kinds[i], (unsigned int)amount, depth);
			return 0;
		}
	}
	if (!strcmp(argv[1], "mix"))
		mix(&m, until);
	else if (!strcmp(argv[1], "crowd"))
		crowd((unsigned int)amount);
	else
		return 2;
	return 0;
}
