// SPDX-License-Identifier: Apache-2.0
/*
 * The opener against real processes, of which some are hostile. The children
 * of a test run this program again in a role, so that what they map is known.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/opener.h"
#include "capture/procfs.h"
#include "suite.h"

#define NS_PER_S 1000000000ULL
#define NAMES_MAX 512

/* What the opener has told. */
struct seen {
	unsigned int answers;
	struct open_answer answer; /* the last */
	int fds[8];
	unsigned int processes, threads, mappings, ends, done, named;
	uint32_t watched;		/* pid whose records are counted; 0: all */
	struct scanned_process process; /* the last */
	char comm[PROCFS_COMM_MAX], exe[OPENER_PATH_MAX], cgroup[OPENER_PATH_MAX];
	char wanted[OPENER_PATH_MAX]; /* path of a mapping to look for */
	struct scanned_mapping found;
};

static struct opener *opener;
static struct seen seen;
static char directory[] = "/tmp/skein-opener-XXXXXX";

static void on_opened(void *context, const struct open_answer *a)
{
	struct seen *s = context;

	if (a->fd >= 0 && s->answers < 8)
		s->fds[s->answers] = a->fd;
	s->answer = *a;
	s->answers++;
}

static void on_process(void *context, const struct scanned_process *p)
{
	struct seen *s = context;

	if (s->watched && p->pid != s->watched)
		return;
	s->processes++;
	s->process = *p;
	snprintf(s->comm, sizeof(s->comm), "%s", p->comm);
	snprintf(s->exe, sizeof(s->exe), "%s", p->exe);
	snprintf(s->cgroup, sizeof(s->cgroup), "%s", p->cgroup);
}

static void on_thread(void *context, const struct scanned_thread *t)
{
	struct seen *s = context;

	if (s->watched && t->pid != s->watched)
		return;
	s->threads++;
	s->named += !strcmp(t->comm, "a) R 1 (\nb");
}

static void on_mapping(void *context, const struct scanned_mapping *m)
{
	struct seen *s = context;

	if (s->watched && m->pid != s->watched)
		return;
	s->mappings++;
	if (s->wanted[0] && !strcmp(m->path, s->wanted))
		s->found = *m;
}

static void on_scanned(void *context, uint32_t pid)
{
	struct seen *s = context;

	if (!pid)
		s->done++;
	else if (!s->watched || pid == s->watched)
		s->ends++;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Poll until everything is answered; no single poll may take long. */
static void settle(void)
{
	struct pollfd p = {.fd = opener_fd(opener), .events = POLLIN};
	struct error err = {""};

	do {
		uint64_t before = now();

		ck_assert_msg(opener_poll(opener, before, &err) == 0, "%s", err.text);
		ck_assert_uint_lt(now() - before, NS_PER_S / 2);
	} while (opener_pending(opener) && poll(&p, 1, 100) >= 0);
}

static void begin(void)
{
	static const struct opener_events events = {on_opened,	on_process, on_thread,
						    on_mapping, on_scanned, &seen};
	struct error err = {""};

	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_msg(opener_new(&opener, &events, &err) == 0, "%s", err.text);
}

static void end(void)
{
	char command[64];
	int status;

	opener_free(opener);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	status = system(command);
	ck_assert_int_eq(status, 0);
}

static void scan(uint32_t pid)
{
	char wanted[OPENER_PATH_MAX];

	memcpy(wanted, seen.wanted, sizeof(wanted));
	memset(&seen, 0, sizeof(seen));
	memcpy(seen.wanted, wanted, sizeof(wanted));
	seen.watched = pid;
	ck_assert_int_eq(opener_scan(opener, pid), 0);
	settle();
}

START_TEST(scan_of_self)
{
	char exe[OPENER_PATH_MAX] = "", cgroup[OPENER_PATH_MAX];
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY);

	begin();
	prctl(PR_SET_NAME, "a) R 1 (\nb");
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	ck_assert_int_gt(procfs_read(self, "cgroup", cgroup, sizeof(cgroup)), 0);
	strcpy(seen.wanted, exe);
	scan((uint32_t)getpid());
	ck_assert_uint_eq(seen.processes, 1);
	ck_assert_uint_eq(seen.threads, 1);
	ck_assert_uint_eq(seen.named, 1);
	ck_assert_uint_eq(seen.ends, 1);
	ck_assert_uint_eq(seen.done, 0);
	ck_assert_str_eq(seen.comm, "a) R 1 (\nb");
	ck_assert_str_eq(seen.exe, exe);
	ck_assert_str_eq(seen.cgroup, cgroup);
	ck_assert_uint_eq(seen.process.parent, (unsigned int)getppid());
	ck_assert_uint_eq(seen.process.ns_pid, (unsigned int)getpid());
	ck_assert(!seen.process.kernel_thread);
	ck_assert_uint_ne(seen.found.id.inode, 0);
	ck_assert(seen.found.start <= (uintptr_t)scan && seen.found.end > (uintptr_t)scan);
	end();
}
END_TEST

START_TEST(scan_of_all)
{
	begin();
	scan(0);
	ck_assert_uint_eq(seen.done, 1);
	ck_assert_uint_eq(seen.ends, seen.processes);
	ck_assert_uint_gt(seen.processes, 2);
	ck_assert_uint_ge(seen.threads, seen.processes);
	ck_assert_uint_eq(opener_restarts(opener), 0);
	/* Every scan that is asked for ends; those that have not begun are one. */
	seen.done = 0;
	opener_scan(opener, 0);
	opener_scan(opener, 0);
	opener_scan(opener, 0);
	settle();
	ck_assert_uint_eq(seen.done, 1);
	end();
}
END_TEST

SUITE("opener", scan_of_self, scan_of_all)
