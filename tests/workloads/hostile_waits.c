// SPDX-License-Identifier: Apache-2.0
/*
 * Waits that are hard to take a stack of. Each kind waits in functions of its own, whose names
 * begin with wait_, and prints as JSON what happened.
 *
 *   hostile_waits MODE NUMBER [FILE]
 *
 *   killed   NUMBER processes wait, and are killed as they wait
 *   group    NUMBER processes of which one thread ends all while the others wait
 *   exits    NUMBER threads that end at once when they are woken
 *   execs    NUMBER processes of which a thread executes a program at once when it is woken
 *   away     NUMBER waits on a stack whose pages are gone: of FILE, or ("anonymous") swapped out
 *   herd     NUMBER threads wait for one futex, and are woken together
 *   deep     NUMBER waits in a recursion of 100,000 calls
 *   circle   NUMBER waits in code without unwind rules whose frame pointers form a circle
 *   nested   NUMBER short waits in a recursion of NESTED calls
 *   twins    waits for NUMBER ms of threads whose numbers differ by 2^19
 *   asks     writes NUMBER bytes to stdout, and waits for an answer to each on stdin
 *   answers  waits for a byte on stdin, and answers it on stdout a while later
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define PAGE 4096UL
#define US 1000ULL
#define STACK_BYTES (64 * 1024UL)
#define AWAY_PAGES 6
#define DEEP 100000
#define NESTED 40

static const char *program;
static int number; /* of the command line */

static void sleep_for(uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000),
			     .tv_nsec = (long)(ns % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* For the threads that arrange the waits. */
static __attribute__((noinline)) void rest_for(uint64_t ns)
{
	sleep_for(ns);
	__asm__ volatile("");
}

/* Return whether a thread waits, by its state in /proc. */
static bool is_asleep(pid_t pid, pid_t tid)
{
	char path[64], stat[256], *after;
	int fd;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	stat[n] = 0;
	after = strrchr(stat, ')');
	return after && !strncmp(after, ") S", 3);
}

/* Let the others run until a thread waits: how long that takes depends on how busy they are. */
static void rest_until_asleep(pid_t pid, pid_t tid)
{
	do
		rest_for(1 * MS);
	while (!is_asleep(pid, tid));
}

/* Not a tail call: the functions must be on the stack. */
#define WAIT_IN(name) \
	static __attribute__((noinline)) void name(uint64_t ns) \
	{ \
		sleep_for(ns); \
		__asm__ volatile(""); \
	}

WAIT_IN(wait_to_be_killed)
WAIT_IN(wait_in_group)
WAIT_IN(wait_to_exit)
WAIT_IN(wait_to_exec)
WAIT_IN(wait_for_exec)
WAIT_IN(wait_after_exec)
WAIT_IN(wait_away)
WAIT_IN(wait_deep)
WAIT_IN(wait_nested)
WAIT_IN(wait_first)
WAIT_IN(wait_second)
WAIT_IN(wait_between)
WAIT_IN(wait_foreign)

static void *start(pthread_t *thread, void *(*run)(void *), void *stack, size_t bytes)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	if (stack)
		pthread_attr_setstack(&attributes, stack, bytes);
	else
		pthread_attr_setstacksize(&attributes, bytes);
	if (pthread_create(thread, &attributes, run, NULL)) {
		perror("pthread_create");
		exit(1);
	}
	return thread;
}

/* Run a child for each of the numbers, and end it when it waits if it is to be killed. */
static void run_children(void (*child)(void), bool kill_it)
{
	for (int i = 0; i < number; i++) {
		pid_t pid = fork();

		if (!pid) {
			child();
			_exit(0);
		}
		if (kill_it) {
			rest_until_asleep(pid, pid);
			kill(pid, SIGKILL);
		}
		waitpid(pid, NULL, 0);
	}
}

static void be_killed(void)
{
	wait_to_be_killed(1000000 * MS);
}

static _Atomic pid_t in_group[4];

static void *stay_in_group(void *tid)
{
	*(_Atomic pid_t *)tid = (pid_t)syscall(SYS_gettid);
	wait_in_group(1000000 * MS);
	return tid;
}

static void end_group(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread, NULL, stay_in_group, &in_group[i]))
			_exit(1);
	for (int i = 0; i < 4; i++) {
		while (!in_group[i])
			rest_for(MS);
		rest_until_asleep(getpid(), in_group[i]);
	}
	wait_in_group(3 * MS);
	_exit(0);
}

static void *exit_at_once(void *unused)
{
	wait_to_exit(2 * MS);
	syscall(SYS_exit, 0);
	return unused;
}

static void run_exits(void)
{
	for (int i = 0; i < number; i++) {
		pthread_t thread;

		start(&thread, exit_at_once, NULL, STACK_BYTES);
		pthread_join(thread, NULL);
	}
}

static void *exec_at_once(void *unused)
{
	rest_until_asleep(getpid(), getpid());
	wait_to_exec(3 * MS);
	execl(program, program, "executed", "1", NULL);
	return unused;
}

/* The thread that executes the program gets the number of this one. */
static void execute(void)
{
	pthread_t thread;

	start(&thread, exec_at_once, NULL, STACK_BYTES);
	wait_for_exec(1000000 * MS);
}

/* The stack whose pages are taken away while its thread waits. */
static char *stack_away;

/* Of the pages that the thread uses, count those that can be read without a fault. */
static int count_resident(void)
{
	uint64_t pages[AWAY_PAGES];
	uint64_t first = (uint64_t)(stack_away + STACK_BYTES) / PAGE - AWAY_PAGES;
	int fd = open("/proc/self/pagemap", O_RDONLY), found = 0;
	ssize_t n = pread(fd, pages, sizeof(pages), (off_t)(first * sizeof(uint64_t)));

	close(fd);
	if (n != sizeof(pages))
		return -1;
	for (unsigned int i = 0; i < AWAY_PAGES; i++)
		found += pages[i] >> 63; /* present */
	return found;
}

/* Each call has a page of its own, as the pages that are read one after the other. */
static __attribute__((noinline)) void descend_away(int left)
{
	volatile char frame[PAGE];

	frame[0] = (char)left;
	if (left)
		descend_away(left - 1);
	else
		wait_away(60 * MS);
	frame[1] = frame[0];
}

static _Atomic bool is_back;

static void *be_away(void *unused)
{
	descend_away(4);
	is_back = true;
	return unused;
}

static void run_away(const char *path)
{
	bool anonymous = !strcmp(path, "anonymous");
	cpu_set_t one;
	int fd = anonymous ? -1 : open(path, O_RDWR | O_CREAT, 0600);
	int gone = 0, resident;

	if (!anonymous && (fd < 0 || ftruncate(fd, STACK_BYTES)))
		exit(1);
	stack_away = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			  anonymous ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	/* a page is not taken away while it is in a list of another CPU */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < number; i++) {
		pthread_t thread;
		uint64_t end;

		is_back = false;
		start(&thread, be_away, stack_away, STACK_BYTES);
		rest_for(10 * MS);
		end = boot_ns() + 30 * MS;
		do { /* a page that is being written cannot go yet */
			msync(stack_away, STACK_BYTES, MS_SYNC);
			madvise(stack_away, STACK_BYTES, MADV_PAGEOUT);
			resident = count_resident();
		} while (resident > 0 && boot_ns() < end);
		gone += !resident;
		while (!is_back) /* pthread_join() reads that memory */
			rest_for(MS);
		pthread_join(thread, NULL);
	}
	printf("{\"waits\": %d, \"gone\": %d}\n", number, gone);
}

static _Atomic unsigned int released, waiting;

static __attribute__((noinline)) void wait_in_herd(void)
{
	while (!released)
		syscall(SYS_futex, &released, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	__asm__ volatile("");
}

static void *join_herd(void *unused)
{
	waiting++;
	wait_in_herd();
	return unused;
}

static void run_herd(void)
{
	pthread_t *threads = calloc((size_t)number, sizeof(*threads));

	for (int i = 0; i < number; i++)
		start(&threads[i], join_herd, NULL, 16384);
	while (waiting < (unsigned int)number)
		rest_for(MS);
	rest_for(200 * MS);
	released = 1;
	syscall(SYS_futex, &released, FUTEX_WAKE_PRIVATE, number, NULL, NULL, 0);
	for (int i = 0; i < number; i++)
		pthread_join(threads[i], NULL);
	printf("{\"threads\": %d}\n", number);
}

static __attribute__((noinline)) void descend_deep(int left)
{
	if (left)
		descend_deep(left - 1);
	else
		for (int i = 0; i < number; i++)
			wait_deep(3 * MS);
	__asm__ volatile("");
}

static void *be_deep(void *unused)
{
	descend_deep(DEEP);
	return unused;
}

static void run_deep(void)
{
	pthread_t thread;

	start(&thread, be_deep, NULL, DEEP * 64UL + 1024 * 1024);
	pthread_join(thread, NULL);
}

/*
 * wait_in_circle(call, first, clock, time): a system call with a frame pointer that leads to first.
 * The function has no unwind rules.
 */
long wait_in_circle(long call, uint64_t *first, long clock, const struct timespec *time);
#if defined(__x86_64__)
__asm__(".text\n.globl wait_in_circle\n.type wait_in_circle, @function\nwait_in_circle:\n"
	"push %rbp\n"
	"mov %rdi, %rax\n"
	"mov %rsi, %rbp\n"
	"mov %rdx, %rdi\n"
	"mov %rcx, %rdx\n"
	"xor %esi, %esi\n"
	"xor %r10d, %r10d\n"
	"syscall\n"
	"pop %rbp\n"
	"ret\n"
	".fill 32, 1, 0x90\n"
	".size wait_in_circle, . - wait_in_circle\n");
#else
long wait_in_circle(long call, uint64_t *first, long clock, const struct timespec *time)
{
	(void)first;
	return syscall(call, clock, 0, time, NULL);
}
#endif

static void run_circle(void)
{
	const struct timespec time = {0, 3 * MS};
	uint64_t frames[8];

	/* two frames that lead to each other, both of this code */
	frames[0] = (uint64_t)&frames[4];
	frames[4] = (uint64_t)&frames[0];
	frames[1] = frames[5] = (uint64_t)wait_in_circle + 8;
	for (int i = 0; i < number; i++)
		wait_in_circle(SYS_clock_nanosleep, frames, CLOCK_MONOTONIC, &time);
}

static __attribute__((noinline)) void descend_nested(int left)
{
	if (left)
		descend_nested(left - 1);
	else
		for (int i = 0; i < number; i++)
			wait_nested(20 * US);
	__asm__ volatile("");
}

struct twin {
	pthread_t thread;
	pid_t tid;
	uint64_t ns; /* of each wait */
	uint64_t count, waited; /* ns, by the program's clock */
	void (*wait)(uint64_t ns);
};

static struct twin twins[2] = {{.ns = 300 * US, .wait = wait_first},
			       {.ns = 700 * US, .wait = wait_second}};
static pthread_barrier_t both;

static void *be_twin(void *index)
{
	struct twin *t = &twins[(uintptr_t)index];
	uint64_t finish;

	t->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&both);
	if (twins[0].tid + (1 << 19) != twins[1].tid)
		return NULL;
	for (finish = boot_ns() + (uint64_t)number * MS; boot_ns() < finish; t->count++) {
		uint64_t begin = boot_ns();

		t->wait(t->ns);
		t->waited += boot_ns() - begin;
	}
	return NULL;
}

static void set_next_number(pid_t next)
{
	char text[16];
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY), length;

	length = snprintf(text, sizeof(text), "%d", next - 1);
	if (fd < 0 || write(fd, text, (size_t)length) < 0)
		perror("ns_last_pid");
	close(fd);
}

/* Another process may take a number in between: then the threads end at once. */
static bool try_twins(pid_t first)
{
	for (uintptr_t i = 0; i < 2; i++) {
		set_next_number(first + (pid_t)(i << 19));
		if (pthread_create(&twins[i].thread, NULL, be_twin, (void *)i))
			exit(1);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(twins[i].thread, NULL);
	return twins[0].count;
}

static void run_twins(void)
{
	int tries = 0;

	pthread_barrier_init(&both, NULL, 2);
	while (tries < 50 && !try_twins(400000 + 10 * tries))
		tries++;
	for (int i = 0; i < 2; i++)
		printf("%s\"wait_%s\": {\"tid\": %d, \"count\": %lu, \"ns\": %lu}", i ? ", " : "{",
		       i ? "second" : "first", twins[i].tid, (unsigned long)twins[i].count,
		       (unsigned long)twins[i].waited);
	printf("}\n");
}

static __attribute__((noinline)) bool wait_for_byte(void)
{
	char byte;
	bool found = read(STDIN_FILENO, &byte, 1) == 1;

	__asm__ volatile("");
	return found;
}

static __attribute__((noinline)) void wake_other(void)
{
	if (write(STDOUT_FILENO, "x", 1) != 1)
		exit(0);
	__asm__ volatile("");
}

static void run_asks(void)
{
	for (int i = 0; i < number; i++) {
		wait_between(MS);
		wake_other();
		if (!wait_for_byte())
			return;
	}
}

static void run_answers(void)
{
	while (wait_for_byte()) {
		wait_foreign(2 * MS);
		wake_other();
	}
}

static void run_killed(void)
{
	run_children(be_killed, true);
}

static void run_group(void)
{
	run_children(end_group, false);
}

static void run_execs(void)
{
	run_children(execute, false);
}

static void run_executed(void)
{
	wait_after_exec(3 * MS);
}

static void run_nested(void)
{
	descend_nested(NESTED - 1);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"killed", run_killed}, {"group", run_group},	    {"exits", run_exits},
	{"execs", run_execs},	{"executed", run_executed}, {"herd", run_herd},
	{"deep", run_deep},	{"circle", run_circle},	    {"nested", run_nested},
	{"twins", run_twins},	{"asks", run_asks},	    {"answers", run_answers},
};

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc < 3)
		return 2;
	number = atoi(argv[2]);
	if (!strcmp(argv[1], "away") && argc > 3) {
		run_away(argv[3]);
		return 0;
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			return 0;
		}
	}
	return 2;
}
