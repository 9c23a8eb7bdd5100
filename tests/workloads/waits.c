// SPDX-License-Identifier: Apache-2.0
/*
 * A thread named "waiter" that waits again and again in one way only, and measures how long. A
 * second thread or process ("waker") ends each wait.
 *
 *   waits MODE SECONDS [FILE]      FILE: in the file system on which I/O waits
 *   waits list                     prints one line "MODE CLASS" for each mode
 *
 * Prints what happened between begin and end (CLOCK_BOOTTIME): the number of waits, the time spent
 * in them, and the waiter's voluntary context switches, counted by the kernel. Prints {"skipped":
 * "reason"} if this machine does not support the mode.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

#define PAGE 4096UL
#define FILE_PAGES 4096UL
#define FAR_PAGES 64 /* faults this far apart find no page that was read ahead */
#define NAP (2 * MS)

struct mode {
	const char *name;
	const char *class; /* word of WAIT_CLASSES, expected for each wait */
	int (*prepare)(const char *file); /* 0 or a negative errno; may be NULL */
	void (*wait)(void); /* waits once */
	void (*wake)(void); /* ends a wait; NULL if it ends by itself */
};

static pthread_t waiter;
static volatile bool finished; /* set by the waiter at its end */
static uint64_t finish; /* boot_ns() at which the waits end */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static bool signalled;
static sem_t semaphore;

static int ends[2]; /* of a pipe or connection: the waiter's end, the waker's end */
static int epoll;
static int disk; /* a file of FILE_PAGES pages */
static int faults; /* userfaultfd */
static char *memory; /* FILE_PAGES pages */
static unsigned long page; /* index of the next page to use */
static unsigned int seed = 3;

static void nap(uint64_t ns)
{
	struct timespec rest = {0, (long)ns};

	nanosleep(&rest, NULL);
}

/* class lock */

static int prepare_inheriting(const char *file)
{
	pthread_mutexattr_t kind;

	(void)file;
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
	return -pthread_mutex_init(&mutex, &kind);
}

static void wait_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void hold_mutex(void)
{
	pthread_mutex_lock(&mutex);
	nap(NAP);
	pthread_mutex_unlock(&mutex);
}

static void wait_cond(void)
{
	pthread_mutex_lock(&mutex);
	while (!signalled)
		pthread_cond_wait(&cond, &mutex);
	signalled = false;
	pthread_mutex_unlock(&mutex);
}

static void wake_cond(void)
{
	pthread_mutex_lock(&mutex);
	signalled = true;
	pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&cond);
}

static int prepare_semaphore(const char *file)
{
	(void)file;
	return sem_init(&semaphore, 0, 0) ? -errno : 0;
}

static void wait_semaphore(void)
{
	sem_wait(&semaphore);
}

static void wake_semaphore(void)
{
	sem_post(&semaphore);
}

/* Wait on a futex that times out, since no thread wakes it. */
static void wait_in_vain(void)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += NAP;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	sem_timedwait(&semaphore, &end);
}

/* class I/O */

static int open_disk(const char *path, int flags)
{
	static char block[16 * PAGE];

	if (!path)
		return -ENOENT;
	disk = open(path, O_RDWR | O_CREAT, 0600);
	if (disk < 0)
		return -errno;
	memset(block, 'x', sizeof(block));
	for (unsigned long at = 0; at < FILE_PAGES * PAGE; at += sizeof(block))
		if (pwrite(disk, block, sizeof(block), (off_t)at) != sizeof(block))
			return -EIO;
	if (fsync(disk))
		return -errno;
	close(disk);
	disk = open(path, O_RDWR | flags);
	return disk < 0 ? -errno : 0;
}

static int prepare_direct(const char *file)
{
	int ret = open_disk(file, O_DIRECT);

	if (!ret && posix_memalign((void **)&memory, PAGE, PAGE))
		ret = -ENOMEM;
	if (!ret && pread(disk, memory, PAGE, 0) != (ssize_t)PAGE)
		ret = -EIO;
	return ret;
}

static void wait_direct(void)
{
	off_t at = (off_t)(rand_r(&seed) % FILE_PAGES * PAGE);

	if (pread(disk, memory, PAGE, at) != (ssize_t)PAGE)
		exit(1);
}

/* Drop the whole file from the page cache: a part of a large folio cannot be dropped alone. */
static void forget(void)
{
	posix_fadvise(disk, 0, 0, POSIX_FADV_DONTNEED);
}

/* Turn read-ahead off, so that each read only reads what it requests. */
static int prepare_read(const char *file)
{
	int ret = open_disk(file, 0);

	memory = malloc(PAGE);
	return ret ? ret : -posix_fadvise(disk, 0, 0, POSIX_FADV_RANDOM);
}

static void wait_read(void)
{
	off_t at = (off_t)(rand_r(&seed) % FILE_PAGES * PAGE);

	forget();
	if (pread(disk, memory, PAGE, at) != (ssize_t)PAGE)
		exit(1);
}

static int prepare_fsync(const char *file)
{
	memory = malloc(PAGE);
	return open_disk(file, 0);
}

static void wait_fsync(void)
{
	memset(memory, (int)seed++, PAGE);
	if (pwrite(disk, memory, PAGE, 0) != (ssize_t)PAGE || fdatasync(disk))
		exit(1);
}

/* class sleep */

static void wait_nanosleep(void)
{
	nap(NAP);
}

static void wait_until(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += NAP;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* class poll */

static int prepare_pipe(const char *file)
{
	(void)file;
	return pipe(ends) ? -errno : 0;
}

static int prepare_epoll(const char *file)
{
	struct epoll_event event = {.events = EPOLLIN};
	int ret = prepare_pipe(file);

	epoll = epoll_create1(0);
	if (!ret && epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event))
		ret = -errno;
	return ret;
}

/* Read a byte that is available, which does not wait. */
static void take(void)
{
	char c;

	if (read(ends[0], &c, 1) != 1)
		exit(1);
}

static void give(void)
{
	if (write(ends[1], "x", 1) != 1)
		exit(1);
}

static void wait_poll(void)
{
	struct pollfd one = {.fd = ends[0], .events = POLLIN};

	if (poll(&one, 1, -1) == 1)
		take();
}

static void wait_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	if (select(ends[0] + 1, &set, NULL, NULL, NULL) == 1)
		take();
}

static void wait_epoll(void)
{
	struct epoll_event event;

	if (epoll_wait(epoll, &event, 1, -1) == 1)
		take();
}

static void wait_timeout(void)
{
	poll(NULL, 0, NAP / MS);
}

/* class page fault */

static void touch(void)
{
	(void)*(volatile char *)(memory + page * PAGE);
	page = (page + FAR_PAGES + 1) % FILE_PAGES;
}

static int prepare_major(const char *file)
{
	int ret = open_disk(file, 0);

	if (ret)
		return ret;
	memory = mmap(NULL, FILE_PAGES * PAGE, PROT_READ, MAP_SHARED, disk, 0);
	if (memory == MAP_FAILED)
		return -errno;
	forget();
	return madvise(memory, FILE_PAGES * PAGE, MADV_RANDOM) ? -errno : 0;
}

/*
 * Give the page just read back by MADV_PAGEOUT. Dropping it by forget() would wait for work on
 * every CPU, which is another class, and takes long where the CPUs are busy.
 */
static void wait_major(void)
{
	char *at = memory + page * PAGE;

	touch();
	madvise(at, PAGE, MADV_PAGEOUT);
}

static int prepare_userfault(const char *file)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	(void)file;
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (faults < 0)
		return -errno;
	memory = mmap(NULL, FILE_PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)memory;
	range.range.len = FILE_PAGES * PAGE;
	if (ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &range))
		return -errno;
	return 0;
}

static void wait_userfault(void)
{
	madvise(memory + page * PAGE, PAGE, MADV_DONTNEED);
	touch();
}

/* Wait for a fault, delay it, and resolve it. */
static void serve_userfault(void)
{
	struct pollfd one = {.fd = faults, .events = POLLIN};
	struct uffdio_zeropage zero = {.range = {.len = PAGE}};
	struct uffd_msg message;

	if (poll(&one, 1, 100) != 1 || read(faults, &message, sizeof(message)) < 0)
		return;
	nap(NAP);
	zero.range.start = message.arg.pagefault.address & ~(PAGE - 1);
	if (ioctl(faults, UFFDIO_ZEROPAGE, &zero))
		exit(1);
}

/* class pipe or socket */

static int prepare_socketpair(const char *file)
{
	(void)file;
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ? -errno : 0;
}

static int prepare_tcp(const char *file)
{
	struct sockaddr_in here = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(here);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	(void)file;
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&here, sizeof(here)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&here, &length) ||
	    connect(ends[1], (struct sockaddr *)&here, sizeof(here)))
		return -errno;
	ends[0] = accept(listener, NULL, NULL);
	return ends[0] < 0 ? -errno : 0;
}

/* Fill the pipe to which the waiter writes. */
static int prepare_full(const char *file)
{
	static const char block[PAGE];
	int ret = prepare_pipe(file);

	if (ret)
		return ret;
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	while (write(ends[1], block, sizeof(block)) > 0)
		;
	fcntl(ends[1], F_SETFL, 0);
	return 0;
}

static void wait_full(void)
{
	static const char block[PAGE];

	if (write(ends[1], block, sizeof(block)) != sizeof(block))
		exit(1);
}

static void drain(void)
{
	static char block[PAGE];

	if (read(ends[0], block, sizeof(block)) != sizeof(block))
		exit(1);
}

/* class child */

static pid_t child(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	nap(NAP);
	_exit(0);
}

static void wait_child(void)
{
	if (waitpid(child(), NULL, 0) < 0)
		exit(1);
}

static void wait_childid(void)
{
	siginfo_t info;

	if (waitid(P_PID, (id_t)child(), &info, WEXITED) < 0)
		exit(1);
}

/* class throttled: the test puts this process into a cgroup with a quota. */
static void wait_quota(void)
{
	BURN_HERE(5 * MS);
}

/* class other */

static void caught(int signal)
{
	(void)signal;
}

static int prepare_signal(const char *file)
{
	struct sigaction action = {.sa_handler = caught};

	(void)file;
	return sigaction(SIGUSR1, &action, NULL) ? -errno : 0;
}

static int prepare_blocked_signal(const char *file)
{
	sigset_t set;

	(void)file;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void wait_pause(void)
{
	pause();
}

static void wait_sigwait(void)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwait(&set, &signal);
}

static void kill_waiter(void)
{
	pthread_kill(waiter, SIGUSR1);
}

static const struct mode modes[] = {
	{"mutex", "lock", NULL, wait_mutex, hold_mutex},
	{"inheriting", "lock", prepare_inheriting, wait_mutex, hold_mutex},
	{"cond", "lock", NULL, wait_cond, wake_cond},
	{"semaphore", "lock", prepare_semaphore, wait_semaphore, wake_semaphore},
	{"in-vain", "lock", prepare_semaphore, wait_in_vain, NULL},
	{"direct", "I/O", prepare_direct, wait_direct, NULL},
	{"read", "I/O", prepare_read, wait_read, NULL},
	{"fsync", "I/O", prepare_fsync, wait_fsync, NULL},
	{"nanosleep", "sleep", NULL, wait_nanosleep, NULL},
	{"until", "sleep", NULL, wait_until, NULL},
	{"poll", "poll", prepare_pipe, wait_poll, give},
	{"select", "poll", prepare_pipe, wait_select, give},
	{"epoll", "poll", prepare_epoll, wait_epoll, give},
	{"timeout", "poll", NULL, wait_timeout, NULL},
	{"major", "page fault", prepare_major, wait_major, NULL},
	{"userfault", "page fault", prepare_userfault, wait_userfault, serve_userfault},
	{"pipe", "pipe or socket", prepare_pipe, take, give},
	{"full", "pipe or socket", prepare_full, wait_full, drain},
	{"socketpair", "pipe or socket", prepare_socketpair, take, give},
	{"tcp", "pipe or socket", prepare_tcp, take, give},
	{"child", "child", NULL, wait_child, NULL},
	{"childid", "child", NULL, wait_childid, NULL},
	{"quota", "throttled", NULL, wait_quota, NULL},
	{"pause", "other", prepare_signal, wait_pause, kill_waiter},
	{"sigwait", "other", prepare_blocked_signal, wait_sigwait, kill_waiter},
};

#define MODES (sizeof(modes) / sizeof(modes[0]))

struct log {
	pid_t tid;
	uint64_t begin, end; /* boot_ns() */
	uint64_t waits, waited, cpu; /* cpu: ns of CPU time */
	long switches; /* voluntary switches */
};

static const struct mode *mode;
static struct log reported;

static long voluntary(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void *wait_often(void *unused)
{
	uint64_t now;

	(void)unused;
	prctl(PR_SET_NAME, "waiter");
	reported.tid = (pid_t)syscall(SYS_gettid);
	mode->wait(); /* the first wait may include one-time work */
	reported.switches = -voluntary();
	reported.cpu = -thread_ns();
	reported.begin = boot_ns();
	do {
		uint64_t before = boot_ns();

		mode->wait();
		now = boot_ns();
		reported.waits++;
		reported.waited += now - before;
	} while (now < finish);
	reported.end = now;
	reported.cpu += thread_ns();
	reported.switches += voluntary();
	finished = true;
	return NULL;
}

static void print(void)
{
	printf("{\"mode\": \"%s\", \"class\": \"%s\", \"tid\": %d, \"begin\": %lu, \"end\": %lu, "
	       "\"waits\": %lu, \"waited\": %lu, \"cpu\": %lu, \"switches\": %ld}\n",
	       mode->name, mode->class, reported.tid, reported.begin, reported.end, reported.waits,
	       reported.waited, reported.cpu, reported.switches);
}

static int list(void)
{
	for (unsigned int i = 0; i < MODES; i++)
		printf("%s %s\n", modes[i].name, modes[i].class);
	return 0;
}

int main(int argc, char **argv)
{
	int ret;

	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	for (unsigned int i = 0; argc > 2 && i < MODES; i++)
		if (!strcmp(modes[i].name, argv[1]))
			mode = &modes[i];
	if (!mode)
		return 2;
	ret = mode->prepare ? mode->prepare(argv[3]) : 0;
	if (ret < 0) {
		printf("{\"skipped\": \"%s: %s\"}\n", mode->name, strerror(-ret));
		return 0;
	}
	prctl(PR_SET_NAME, "waker");
	finish = boot_ns() + (uint64_t)(atof(argv[2]) * 1e9);
	if (pthread_create(&waiter, NULL, wait_often, NULL))
		return 1;
	while (mode->wake && !finished) {
		nap(NAP / 4);
		mode->wake();
	}
	pthread_join(waiter, NULL);
	print();
	return 0;
}
