// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the network process give up its rights (network_child.h). It talks to clients that may be
 * anybody, so it can open no files, start no programs and make no connections; what it may read
 * comes to it as descriptors. Other calls fail with EPERM, so that a library that tries one goes
 * on.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/own_user.h"
#include "serve/network_child.h"
#include "symbolizers/confine.h"

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Bytes of private writable memory, with the stacks of all threads (150 MiB of addresses). */
#define MEMORY_MAX (1ull << 30)
#define FILES_MAX 256 /* descriptors: connections, and those that come from the core */

static const int network_calls[] = {
	SCMP_SYS(read),
	SCMP_SYS(pread64),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(sendto),
	SCMP_SYS(sendmsg),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(accept4),
	SCMP_SYS(accept),
	SCMP_SYS(shutdown),
	SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),
	SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt),
	SCMP_SYS(close),
	SCMP_SYS(fstat),
	SCMP_SYS(lseek),
	SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(eventfd2),
	SCMP_SYS(futex),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(brk),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(getrandom),
	SCMP_SYS(gettid),
	SCMP_SYS(getpid),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sysinfo),
	SCMP_SYS(sched_getaffinity),
};

/* Memory that is not executable, threads, and questions about descriptors. */
static int allow_network_arguments(scmp_filter_ctx filter)
{
	int ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
				   SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
				   SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));

	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				       SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	/* A filter cannot see the flags of clone3(); without it, glibc calls clone(). */
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				       SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
	for (int command = F_GETFD; !ret && command <= F_SETFL; command++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				       SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)command));
	return ret;
}

static int load_network_filter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int ret = filter ? 0 : -ENOMEM;

	if (!ret)
		ret = confine_allow(filter, network_calls,
				    sizeof(network_calls) / sizeof(*network_calls));
	if (!ret)
		ret = confine_allow_sanitizer(filter);
	if (!ret)
		ret = allow_network_arguments(filter);
	if (!ret)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	return ret;
}

/* Keep the two descriptors, as 3 and 4, and those of the terminal or log. */
static int keep_two_descriptors(int *socket, int *listener)
{
	int a = fcntl(*socket, F_DUPFD_CLOEXEC, 16), b = fcntl(*listener, F_DUPFD_CLOEXEC, 16);

	if (a < 0 || b < 0 || dup2(a, 3) < 0 || dup2(b, 4) < 0)
		return -errno;
	if (close_range(5, ~0u, 0) < 0)
		return -errno;
	*socket = 3;
	*listener = 4;
	return 0;
}

static int limit_network_process(void)
{
	const struct rlimit none = {0, 0}, files = {FILES_MAX, FILES_MAX};
	const struct rlimit memory = {MEMORY_MAX, MEMORY_MAX};

	/* AddressSanitizer maps terabytes. */
	if (!SANITIZED && setrlimit(RLIMIT_DATA, &memory) < 0)
		return -errno;
	if (setrlimit(RLIMIT_CORE, &none) < 0 || setrlimit(RLIMIT_FSIZE, &none) < 0 ||
	    setrlimit(RLIMIT_NOFILE, &files) < 0)
		return -errno;
	return 0;
}

int network_confine(int *socket, int *listener, pid_t parent)
{
	int ret = keep_two_descriptors(socket, listener);

	if (!ret)
		ret = confine_drop_shared_memory();
	if (!ret)
		ret = own_user_become();
	if (!ret)
		ret = own_user_keep(NULL, 0);
	if (!ret)
		ret = limit_network_process();
	/* These calls come after the change of user, which resets the first two settings. */
	if (!ret &&
	    (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	     prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_NAME, "skein-network") < 0))
		ret = -errno;
	if (!ret && getppid() != parent)
		ret = -ESRCH;
	return ret ? ret : load_network_filter();
}
