// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the opener give up privileges. The opener needs some of the recorder's capabilities to look
 * at files that hostile processes may have prepared, but it only reads them. Its system call filter
 * lists the calls that the opener makes, with limits on those arguments that a filter can check.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/own_user.h"
#include "capture/opener_wire.h"
#include "symbolizers/confine.h"

/*
 * The capabilities that the opener needs. If the recorder lacks the wanted capability, the opener
 * keeps the greater one, which includes it. CAP_PERFMON: newer kernels show a process's mappings to
 * a holder of it.
 */
static const struct {
	int wanted, greater;
} needed[] = {
	{CAP_SYS_PTRACE, CAP_SYS_PTRACE},
	{CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE},
	{CAP_CHECKPOINT_RESTORE, CAP_SYS_ADMIN},
	{CAP_PERFMON, CAP_SYS_ADMIN},
};

#define NEEDED_COUNT (sizeof(needed) / sizeof(*needed))

static const int calls[] = {
	SCMP_SYS(read),
	SCMP_SYS(close),
	SCMP_SYS(fstat),
	SCMP_SYS(fstatfs),
	SCMP_SYS(getdents64),
	SCMP_SYS(lseek),
	SCMP_SYS(readlinkat),
	SCMP_SYS(statx),
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall),
};

/* All other flags of open(2) create, write, truncate or have a side effect. */
#define ALLOWED_OPEN_FLAGS \
	(O_PATH | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_LARGEFILE)

static int allow_files(scmp_filter_ctx filter)
{
	int ret = seccomp_rule_add(
		filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
		SCMP_A2(SCMP_CMP_MASKED_EQ, 0xffffffffu & ~ALLOWED_OPEN_FLAGS, O_RDONLY));

	/*
	 * Some versions of glibc implement fstat() by newfstatat(); fdopendir() calls fstat() and
	 * F_GETFL.
	 */
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				       SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				       SCMP_A1(SCMP_CMP_EQ, F_GETFL));
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				       SCMP_A1(SCMP_CMP_EQ, F_SETFD));
	if (!ret)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				       SCMP_A1(SCMP_CMP_EQ, FS_IOC_GETVERSION));
	return ret;
}

/*
 * Allow anonymous memory that is not executable, and a private PROT_NONE mapping of a file, which
 * kernel_identity() of opener_files.c makes.
 */
static int allow_memory(scmp_filter_ctx filter)
{
	int ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
				   SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
				   SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));

	return ret ? ret
		   : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
				      SCMP_A2(SCMP_CMP_EQ, PROT_NONE),
				      SCMP_A3(SCMP_CMP_EQ, MAP_PRIVATE));
}

/* Allow communication with the recorder only. */
static int allow_socket(scmp_filter_ctx filter, int socket)
{
	const struct scmp_arg_cmp it = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)socket);
	int ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(recvfrom), 1, it);

	return ret ? ret : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 1, it);
}

static int load_opener_filter(int socket)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int ret = filter ? 0 : -ENOMEM;

	if (!ret)
		ret = confine_allow(filter, calls, sizeof(calls) / sizeof(*calls));
	if (!ret)
		ret = confine_allow_sanitizer(filter);
	if (!ret)
		ret = allow_files(filter);
	if (!ret)
		ret = allow_memory(filter);
	if (!ret)
		ret = allow_socket(filter, socket);
	if (!ret)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	return ret;
}

static int wanted_or_greater(size_t i)
{
	return own_user_has(needed[i].wanted) ? needed[i].wanted : needed[i].greater;
}

/*
 * Without the first two capabilities of needed[], an opener with another user would see less than
 * the recorder's own user does.
 */
bool opener_may_change_user(void)
{
	return own_user_possible() && own_user_has(wanted_or_greater(0)) &&
	       own_user_has(wanted_or_greater(1));
}

static int change_user(void)
{
	int kept[NEEDED_COUNT], rc = 0;

	for (size_t i = 0; i < NEEDED_COUNT; i++)
		kept[i] = wanted_or_greater(i);
	if (opener_may_change_user())
		rc = own_user_become();
	return rc ? rc : own_user_keep(kept, NEEDED_COUNT);
}

int opener_confine(int socket, pid_t parent)
{
	int ret = confine_drop_shared_memory();

	if (!ret)
		ret = change_user();
	/* These calls come after the change of user, which resets the first two settings. */
	if (!ret && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
		     prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0))
		ret = -errno;
	if (!ret && getppid() != parent)
		ret = -ESRCH;
	return ret ? ret : load_opener_filter(socket);
}
