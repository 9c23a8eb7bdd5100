// SPDX-License-Identifier: Apache-2.0
/*
 * What the opener gives up. It needs the recorder's rights to look at files, and looks at what
 * hostile processes have put there; but it only ever reads, and starts, signals and traces nobody.
 */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/prctl.h>

#include "capture/opener_wire.h"
#include "symbolizers/confine.h"

static const int forbidden[] = {
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(clone),
	SCMP_SYS(clone3),
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(kill),
	SCMP_SYS(socket),
	SCMP_SYS(socketpair),
	SCMP_SYS(connect),
	SCMP_SYS(bind),
	SCMP_SYS(listen),
	SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(reboot),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(pivot_root),
	SCMP_SYS(chroot),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_tree),
	SCMP_SYS(setns),
	SCMP_SYS(unshare),
	SCMP_SYS(setuid),
	SCMP_SYS(setresuid),
	SCMP_SYS(capset),
	SCMP_SYS(personality),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(memfd_create),
	SCMP_SYS(creat),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(unlinkat),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	SCMP_SYS(linkat),
	SCMP_SYS(symlinkat),
	SCMP_SYS(mkdirat),
	SCMP_SYS(mknodat),
	SCMP_SYS(fchmod),
	SCMP_SYS(fchmodat),
	SCMP_SYS(fchown),
	SCMP_SYS(fchownat),
	SCMP_SYS(ftruncate),
	SCMP_SYS(truncate),
	SCMP_SYS(fallocate),
	SCMP_SYS(setxattr),
	SCMP_SYS(fsetxattr),
#ifdef __x86_64__ /* what arm64 never had */
	SCMP_SYS(fork),
	SCMP_SYS(vfork),
	SCMP_SYS(unlink),
	SCMP_SYS(rename),
	SCMP_SYS(link),
	SCMP_SYS(symlink),
	SCMP_SYS(mkdir),
	SCMP_SYS(rmdir),
	SCMP_SYS(mknod),
	SCMP_SYS(chmod),
	SCMP_SYS(chown),
	SCMP_SYS(lchown),
#endif
};

/* Files are opened for reading only. The flags of openat2() cannot be seen by a filter. */
static int forbid_writing(scmp_filter_ctx filter)
{
	static const int ways[] = {O_WRONLY, O_RDWR};
	int rc = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(openat), 1,
				  SCMP_A2(SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT));

	for (size_t i = 0; !rc && i < sizeof(ways) / sizeof(*ways); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(openat), 1,
				      SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, ways[i]));
	return rc;
}

int opener_confine(void)
{
	scmp_filter_ctx filter;
	int rc = confine_drop_shared_memory();

	if (rc < 0)
		return rc;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	filter = seccomp_init(SCMP_ACT_ALLOW);
	if (!filter)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < sizeof(forbidden) / sizeof(*forbidden); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, forbidden[i], 0);
	if (!rc)
		rc = forbid_writing(filter);
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc;
}
