/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of the opener: an opener, the answers that it gave, and forked children that
 * map files, change their root or namespaces, stop and die.
 */
#ifndef SKEIN_TESTS_TARGETS_H
#define SKEIN_TESTS_TARGETS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/opener.h"
#include "capture/procfs.h"
#include "suite.h"

#define NS_PER_S 1000000000ULL

/* The answers and scan results of the opener. */
struct seen {
	unsigned int answers;
	struct open_reply answer; /* last answer */
	int fds[8];
	unsigned int processes, threads, mappings, ends, done, named;
	uint32_t watched; /* pid whose records are counted; 0: all */
	struct scanned_process process; /* last process */
	char comm[PROCFS_COMM_MAX], exe[OPENER_PATH_MAX];
	char wanted[512]; /* path of a mapping to look for */
	struct scanned_mapping found;
};

static struct opener *opener;
static struct seen seen;
static char directory[] = "/tmp/skein-opener-XXXXXX";

static inline void on_opened(void *context, const struct open_reply *a)
{
	struct seen *s = context;

	if (a->fd >= 0 && s->answers < 8)
		s->fds[s->answers] = a->fd;
	s->answer = *a;
	s->answers++;
}

static inline void on_process(void *context, const struct scanned_process *p)
{
	struct seen *s = context;

	if (s->watched && p->pid != s->watched)
		return;
	s->processes++;
	s->process = *p;
	snprintf(s->comm, sizeof(s->comm), "%s", p->comm);
	snprintf(s->exe, sizeof(s->exe), "%s", p->exe);
}

static inline void on_thread(void *context, const struct scanned_thread *t)
{
	struct seen *s = context;

	if (s->watched && t->pid != s->watched)
		return;
	s->threads++;
	s->named += !strcmp(t->comm, "a) R 1 (\nb");
}

static inline void on_mapping(void *context, const struct scanned_mapping *m)
{
	struct seen *s = context;

	if (s->watched && m->pid != s->watched)
		return;
	s->mappings++;
	if (s->wanted[0] && !strcmp(m->path, s->wanted))
		s->found = *m;
}

static inline void on_scanned(void *context, uint32_t pid)
{
	struct seen *s = context;

	if (!pid)
		s->done++;
	else if (!s->watched || pid == s->watched)
		s->ends++;
}

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t skipped; /* ns added to the clock that the opener sees */

static inline void poll_once(void)
{
	struct error err = {""};

	ck_assert_msg(opener_poll(opener, clock_ns(CLOCK_MONOTONIC) + skipped, &err) == 0, "%s",
		      err.text);
}

/* Poll until nothing is pending. */
static inline void settle(void)
{
	struct pollfd p = {.fd = opener_fd(opener), .events = POLLIN};

	do
		poll_once();
	while (opener_pending(opener) && poll(&p, 1, 100) >= 0);
}

/* Advance the opener's clock, without waiting, until the opener is restarted. */
static inline void lose_patience(void)
{
	uint64_t restarts = opener_restarts(opener);

	while (opener_restarts(opener) == restarts) {
		skipped += NS_PER_S / 2;
		poll_once();
	}
}

static inline void begin(void)
{
	static const struct opener_events events = {
		.opened = on_opened,
		.process = on_process,
		.thread = on_thread,
		.mapping = on_mapping,
		.scanned = on_scanned,
		.context = &seen,
	};
	struct error err = {""};

	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_msg(opener_new(&opener, &events, &err) == 0, "%s", err.text);
}

static inline void end(void)
{
	char command[64];
	int status;

	opener_free(opener);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	status = system(command);
	ck_assert_int_eq(status, 0);
}

static inline void scan(uint32_t pid)
{
	char wanted[512];

	memcpy(wanted, seen.wanted, sizeof(wanted));
	memset(&seen, 0, sizeof(seen));
	memcpy(seen.wanted, wanted, sizeof(wanted));
	seen.watched = pid;
	ck_assert_int_eq(opener_scan(opener, pid), 0);
	settle();
}

/* Memory shared with a child: its task, and what it reports back. */
struct role {
	char path[256]; /* file that it maps */
	char other[256];
	uint64_t start;
	uint32_t uid;
	bool ready;
};

static struct role *role;

static inline void *map_executable(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

static inline void make_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static inline pid_t spawn(void (*play)(void))
{
	struct timespec pause_for = {.tv_nsec = 1000000};
	pid_t pid;

	if (!role)
		role = mmap(NULL, sizeof(*role), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	role->ready = false;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		play();
		__atomic_store_n(&role->ready, true, __ATOMIC_RELEASE);
		for (;;)
			pause();
	}
	while (!__atomic_load_n(&role->ready, __ATOMIC_ACQUIRE)) {
		ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
		nanosleep(&pause_for, NULL);
	}
	return pid;
}

static inline void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static inline void play_mapper(void)
{
	role->start = (uintptr_t)map_executable(role->path);
	if (!role->start)
		_exit(1);
}

/* Fork a child that maps directory/name with that content. */
static inline pid_t spawn_mapper(const char *name, const char *content)
{
	if (!role)
		role = mmap(NULL, sizeof(*role), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	snprintf(role->path, sizeof(role->path), "%s/%s", directory, name);
	make_file(role->path, content);
	return spawn(play_mapper);
}

static inline int ask(const struct open_request *r)
{
	memset(&seen, 0, sizeof(seen));
	ck_assert_int_eq(opener_open(opener, r), 0);
	settle();
	ck_assert_uint_ge(seen.answers, 1);
	ck_assert_uint_eq(seen.answer.token, r->token);
	ck_assert(!seen.answer.more);
	return seen.answer.fd;
}

/* Scan the process and return the request for its mapping of that path. */
static inline struct open_request request_of(pid_t pid, const char *path)
{
	struct open_request r = {.token = 7, .what = OPEN_MAPPED_FILE, .pid = (uint32_t)pid};

	snprintf(seen.wanted, sizeof(seen.wanted), "%s", path);
	scan((uint32_t)pid);
	ck_assert_msg(seen.found.id.inode, "%s is not mapped", path);
	r.born = seen.process.born;
	r.seen = clock_ns(CLOCK_BOOTTIME);
	r.start = seen.found.start;
	r.end = seen.found.end;
	r.id = seen.found.id;
	r.path = path;
	return r;
}

static inline void expect_content(int fd, const char *content)
{
	char buf[64] = "";
	struct stat st;

	ck_assert_msg(fd >= 0, "%s", strerror(-fd));
	ck_assert_int_eq(pread(fd, buf, sizeof(buf) - 1, 0), (int)strlen(content));
	ck_assert_str_eq(buf, content);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(seen.answer.inode, st.st_ino);
	ck_assert_uint_eq(seen.answer.device, st.st_dev);
	ck_assert_uint_eq(seen.answer.size, strlen(content));
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

/*
 * Return the request without the range of the mapping, so that only the path identifies the file.
 */
static inline struct open_request by_path(struct open_request r)
{
	r.start = r.end = 0;
	return r;
}

/* Write to buf the path below the test's directory, and return buf. */
static char *inside(char *buf, const char *path)
{
	snprintf(buf, 256, "%s%s", directory, path);
	return buf;
}

static inline int ask_perf_map(pid_t pid)
{
	struct open_request r = {.token = 1, .what = OPEN_PERF_MAP, .pid = (uint32_t)pid};

	return ask(&r);
}

#endif
