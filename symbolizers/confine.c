// SPDX-License-Identifier: Apache-2.0
/*
 * Confine a process in steps. The order of the steps matters: some steps forbid system calls that
 * earlier steps make.
 */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/own_user.h"
#include "symbolizers/confine.h"

#define MAPS_MAX (4u << 20)

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/*
 * Move socket to descriptor 0 and close all others, but keep stderr for AddressSanitizer's report.
 */
static int close_all_but(int socket)
{
	if (socket != 0 && dup2(socket, 0) < 0)
		return -errno;
	if (close_range(1, SANITIZED ? 1 : 2, 0) < 0 || close_range(3, ~0u, 0) < 0)
		return -errno;
	return 0;
}

static char *read_own_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char *text = malloc(MAPS_MAX);
	size_t size;

	if (f && text) {
		size = fread(text, 1, MAPS_MAX - 1, f);
		text[size] = '\0';
	}
	if (!f) {
		free(text);
		return NULL;
	}
	fclose(f);
	return text;
}

int confine_drop_shared_memory(void)
{
	char *text = read_own_maps(), *save = NULL, *line, mode[5];
	uintptr_t start, end;

	if (!text)
		return -ENOENT;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, mode) == 3 && mode[3] == 's')
			munmap((void *)start, end - start);
	}
	free(text);
	return 0;
}

static uint64_t own_memory(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%llu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int set_limits(uint64_t memory, unsigned int files)
{
	const struct {
		int resource;
		rlim_t limit;
	} limits[] = {
		{RLIMIT_CORE, 0},
		{RLIMIT_FSIZE, 0},
		{RLIMIT_NPROC, 0},
		{RLIMIT_MEMLOCK, 0},
		{RLIMIT_NOFILE, files},
		/*
		 * Do not limit the address space with AddressSanitizer, which reserves terabytes.
		 */
		{RLIMIT_AS, SANITIZED ? RLIM_INFINITY : memory},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct rlimit now, wanted = {limits[i].limit, limits[i].limit};

		if (getrlimit(limits[i].resource, &now) < 0)
			return -errno;
		if (now.rlim_max != RLIM_INFINITY && wanted.rlim_max > now.rlim_max)
			wanted = (struct rlimit){now.rlim_max, now.rlim_max};
		if (setrlimit(limits[i].resource, &wanted) < 0)
			return -errno;
	}
	return 0;
}

static int set_attributes(int parent, const char *name)
{
	/* This comes after the change of user, which resets the death signal and dumpability. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_NAME, name) < 0)
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

static const int calls[] = {
	SCMP_SYS(read),
	SCMP_SYS(pread64),
	SCMP_SYS(lseek),
	SCMP_SYS(fstat),
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg),
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(futex),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(close),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(sysinfo), /* qsort() reads the size of memory */
};

/* The calls that AddressSanitizer makes while it runs and to write its report. */
static const int sanitizer_calls[] = {
	SCMP_SYS(write),  SCMP_SYS(mprotect),	  SCMP_SYS(sigaltstack), SCMP_SYS(getpid),
	SCMP_SYS(gettid), SCMP_SYS(rt_sigaction), SCMP_SYS(sched_yield), SCMP_SYS(rt_sigprocmask),
};

int confine_allow(void *filter, const int *list, size_t count)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < count; i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, list[i], 0);
	return ret;
}

int confine_allow_sanitizer(void *filter)
{
	return SANITIZED ? confine_allow(filter, sanitizer_calls,
					 sizeof(sanitizer_calls) / sizeof(*sanitizer_calls))
			 : 0;
}

static int allow_checked_calls(scmp_filter_ctx filter)
{
	int ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
				   SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
				   SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));

	/*
	 * glibc implements fstat() by newfstatat(); libelf checks by fcntl() whether a descriptor
	 * is open.
	 */
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				       SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				       SCMP_A1(SCMP_CMP_EQ, F_GETFD));
	return ret;
}

static int refuse_link_calls(scmp_filter_ctx filter)
{
	static const int list[] = {SCMP_SYS(readlink), SCMP_SYS(readlinkat)};
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(list) / sizeof(*list); i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOENT), list[i], 0);
	return ret;
}

static int confine_filter_calls(bool refuse_links)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int ret;

	if (!filter)
		return -ENOMEM;
	ret = confine_allow(filter, calls, sizeof(calls) / sizeof(*calls));
	if (!ret)
		ret = allow_checked_calls(filter);
	if (!ret && refuse_links)
		ret = refuse_link_calls(filter);
	if (!ret)
		ret = confine_allow_sanitizer(filter);
	if (!ret)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	return ret;
}

int confine_within(int socket, int parent, const struct confine_limits *c)
{
	uint64_t memory;
	int ret = close_all_but(socket);

	if (ret < 0)
		return ret;
	ret = confine_drop_shared_memory();
	memory = own_memory() + c->memory;
	if (!ret)
		ret = own_user_become();
	if (!ret)
		ret = own_user_keep(NULL, 0);
	if (!ret)
		ret = set_limits(memory, c->files);
	if (!ret)
		ret = set_attributes(parent, c->name);
	return ret ? ret : confine_filter_calls(c->refuse_links);
}
