// SPDX-License-Identifier: Apache-2.0
/*
 * confine.c and opener_confine.c: a process so confined tries what the worker or the opener must
 * not do, and dies of it.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "capture/opener_wire.h"
#include "files.h"
#include "suite.h"
#include "symbolizers/confine.h"

static void try_open(void)
{
	_exit(open("/etc/passwd", O_RDONLY) >= 0 ? 7 : 8);
}

static void try_socket(void)
{
	_exit(socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 7 : 8);
}

static void try_fork(void)
{
	_exit(fork() >= 0 ? 7 : 8);
}

static void try_exec(void)
{
	execl("/bin/true", "true", NULL);
	_exit(8);
}

static void try_ptrace(void)
{
	_exit(ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0 ? 7 : 8);
}

static void try_setuid(void)
{
	_exit((int)syscall(SYS_setresuid, 0, 0, 0) == 0 ? 7 : 8);
}

static void try_kill(void)
{
	_exit(kill(getppid(), 0) == 0 ? 7 : 8);
}

static void try_executable_memory(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	_exit(p != MAP_FAILED ? 7 : 8);
}

static void try_map_file(void)
{
	_exit(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0) != MAP_FAILED ? 7 : 8);
}

static void try_memory_of_parent(void)
{
	char byte;
	struct iovec to = {&byte, 1}, from = {(void *)files_dir, 1};

	_exit(syscall(SYS_process_vm_readv, getppid(), &to, 1, &from, 1, 0) == 1 ? 7 : 8);
}

static void try_stat(void)
{
	struct stat st;

	_exit(stat("/etc/passwd", &st) == 0 ? 7 : 8);
}

static void try_call(long number, long a, long b, long c)
{
	_exit(syscall(number, a, b, c) >= 0 ? 7 : 8);
}

static void try_fork_bomb(void)
{
	for (;;)
		if (syscall(SYS_vfork) < 0)
			_exit(8);
}

static void try_thread(void)
{
	try_call(SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, 0, 0);
}

static void try_clone3(void)
{
	try_call(SYS_clone3, 0, 0, 0);
}

static void try_openat2(void)
{
	try_call(SYS_openat2, AT_FDCWD, (long)"/proc/self/status", 0);
}

static void try_proc(void)
{
	try_call(SYS_openat, AT_FDCWD, (long)"/proc/1/environ", O_RDONLY);
}

static void try_write_elsewhere(void)
{
	try_call(SYS_pwrite64, 3, (long)"x", 1);
}

static void try_connect(void)
{
	try_call(SYS_connect, 0, 0, 0);
}

static void try_signal_all(void)
{
	try_call(SYS_kill, -1, SIGKILL, 0);
}

static void try_signal_thread(void)
{
	try_call(SYS_tgkill, getppid(), getppid(), SIGKILL);
}

/* Would make every readable page executable. */
static void try_personality(void)
{
	try_call(SYS_personality, 0x0400000, 0, 0);
}

static void try_memfd(void)
{
	try_call(SYS_memfd_create, (long)"x", 0, 0);
}

static void try_ring(void)
{
	try_call(SYS_io_uring_setup, 1, 0, 0);
}

static void try_steal_descriptor(void)
{
	try_call(SYS_pidfd_getfd, 0, 1, 0);
}

static void try_bpf(void)
{
	try_call(SYS_bpf, 0, 0, 0);
}

static void try_event(void)
{
	try_call(SYS_perf_event_open, 0, 0, -1);
}

static void try_namespace(void)
{
	try_call(SYS_unshare, CLONE_NEWUSER, 0, 0);
}

static void try_limits(void)
{
	try_call(SYS_prlimit64, 0, RLIMIT_NPROC, 0);
}

static void try_dumpable(void)
{
	try_call(SYS_prctl, PR_SET_DUMPABLE, 1, 0);
}

#ifndef __SANITIZE_ADDRESS__ /* which needs these */
static void try_write(void)
{
	try_call(SYS_write, 0, (long)"x", 1);
}

static void try_make_executable(void)
{
	static char page[8192];
	long at = ((long)page + 4095) & ~4095L;

	try_call(SYS_mprotect, at, 4096, PROT_READ | PROT_EXEC);
}
#endif

#ifdef __x86_64__
/* The numbers of 32-bit programs mean other calls. */
static void try_other_abi(void)
{
	long number = 20; /* getpid, and writev to whoever takes it for a native number */

	__asm__ volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
	_exit(7);
}
#endif

static void (*const forbidden[])(void) = {
	try_open,
	try_socket,
	try_fork,
	try_exec,
	try_ptrace,
	try_setuid,
	try_kill,
	try_stat,
	try_executable_memory,
	try_map_file,
	try_memory_of_parent,
	try_fork_bomb,
	try_thread,
	try_clone3,
	try_openat2,
	try_proc,
	try_connect,
	try_signal_all,
	try_signal_thread,
	try_personality,
	try_memfd,
	try_ring,
	try_steal_descriptor,
	try_bpf,
	try_event,
	try_namespace,
	try_limits,
	try_dumpable,
	try_write_elsewhere,
#ifndef __SANITIZE_ADDRESS__
	try_write,
	try_make_executable,
#endif
#ifdef __x86_64__
	try_other_abi,
#endif
};

/* Fork, confine, act; returns what waitpid() says. */
static int in_confinement(void (*act)(void))
{
	int pair[2], status, parent = getpid();
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (confine(pair[1], parent, 32) < 0)
			_exit(9);
		act();
	}
	close(pair[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	close(pair[0]);
	return status;
}

START_TEST(what_is_forbidden_kills)
{
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		int status = in_confinement(forbidden[i]);

		ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS,
			      "attempt %zu: status %x", i, status);
	}
}
END_TEST

static void allowed(void)
{
	struct stat st;
	char *p = malloc(8 << 20);

	if (!p)
		_exit(1);
	memset(p, 1, 8 << 20);
	p = realloc(p, 16 << 20);
	if (!p || fstat(0, &st) < 0)
		_exit(2);
	free(p);
	_exit(clock_ns(CLOCK_MONOTONIC) ? 42 : 3);
}

START_TEST(what_is_needed_works)
{
	int status = in_confinement(allowed);

	ck_assert_int_eq(status, 42 << 8);
}
END_TEST

/* A child that waits, so that it can be looked at from outside. */
static pid_t waiting_child(int *socket)
{
	int pair[2], parent = getpid();
	char byte;
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		struct iovec one = {(void *)"", 1}, in = {&byte, 1};

		if (confine(pair[1], parent, 32) < 0 ||
		    sendmsg(0, &(struct msghdr){.msg_iov = &one, .msg_iovlen = 1}, 0) != 1)
			_exit(9);
		recvmsg(0, &(struct msghdr){.msg_iov = &in, .msg_iovlen = 1}, 0);
		_exit(0);
	}
	close(pair[1]);
	ck_assert_int_eq(recv(pair[0], &byte, 1, 0), 1);
	*socket = pair[0];
	return pid;
}

static void expect(const char *text, const char *line)
{
	ck_assert_msg(strstr(text, line), "no %s in %s", line, text);
}

static char *proc_text(pid_t pid, const char *file)
{
	static char text[1 << 16];
	char path[64];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = file_open(path);
	size = read(fd, text, sizeof(text) - 1);
	ck_assert_int_gt(size, 0);
	text[size] = '\0';
	close(fd);
	return text;
}

static void expect_limit(const char *text, const char *name, unsigned long wanted)
{
	const char *line = strstr(text, name);
	unsigned long soft, hard;

	ck_assert_ptr_nonnull(line);
	ck_assert_int_eq(sscanf(line + strlen(name), "%lu %lu", &soft, &hard), 2);
	ck_assert_uint_eq(soft, wanted);
	ck_assert_uint_eq(hard, wanted);
}

START_TEST(nothing_is_left)
{
	char *text;
	int socket;
	pid_t pid = waiting_child(&socket);

	text = proc_text(pid, "status");
	expect(text, "Name:\tskein-names\n");
	expect(text, "CapInh:\t0000000000000000\n");
	expect(text, "CapPrm:\t0000000000000000\n");
	expect(text, "CapEff:\t0000000000000000\n");
	expect(text, "CapAmb:\t0000000000000000\n");
	expect(text, "NoNewPrivs:\t1\n");
	expect(text, "Seccomp:\t2\n");
	if (geteuid() == 0) {
		expect(text, "CapBnd:\t0000000000000000\n");
		expect(text, "Uid:\t65534\t65534\t65534\t65534\n");
		expect(text, "Gid:\t65534\t65534\t65534\t65534\n");
		expect(text, "Groups:\t \n");
	}
	text = proc_text(pid, "limits");
	expect_limit(text, "Max file size", 0);
	expect_limit(text, "Max core file size", 0);
	expect_limit(text, "Max processes", 0);
	expect_limit(text, "Max open files", 32);
	close(socket);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(shared_memory_and_descriptors_are_not_inherited)
{
	void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int socket, fd = file_open("/etc/passwd"), count = 0;
	char path[64];
	struct dirent *d;
	pid_t pid;
	DIR *dir;

	ck_assert(shared != MAP_FAILED);
	pid = waiting_child(&socket);
	ck_assert_ptr_null(strstr(proc_text(pid, "maps"), "rw-s"));
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while ((d = readdir(dir)))
		count += d->d_name[0] != '.' && d->d_name[0] != '2'; /* 2: a sanitizer's */
	closedir(dir);
	ck_assert_int_eq(count, 1);
	close(fd);
	close(socket);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(it_dies_with_its_parent)
{
	int pipe_ends[2];
	char byte;
	pid_t middle, pid;

	ck_assert_int_eq(pipe(pipe_ends), 0);
	middle = fork();
	if (!middle) {
		int socket;

		pid = waiting_child(&socket);
		ck_assert_int_eq(write(pipe_ends[1], &pid, sizeof(pid)), sizeof(pid));
		pause();
	}
	close(pipe_ends[1]);
	ck_assert_int_eq(read(pipe_ends[0], &pid, sizeof(pid)), sizeof(pid));
	kill(middle, SIGKILL);
	ck_assert_int_eq(waitpid(middle, NULL, 0), middle);
	ck_assert_int_eq(read(pipe_ends[0], &byte, 1), 0);
	for (int i = 0; i < 1000 && kill(pid, 0) == 0; i++)
		usleep(10000);
	ck_assert_int_eq(kill(pid, 0), -1);
	close(pipe_ends[0]);
}
END_TEST

static void try_open_for_writing(void)
{
	try_call(SYS_openat, AT_FDCWD, (long)"/dev/null", O_WRONLY);
}

static void try_create(void)
{
	try_call(SYS_openat, AT_FDCWD, (long)"/tmp/never-made", O_RDONLY | O_CREAT);
}

static void try_unlink(void)
{
	try_call(SYS_unlinkat, AT_FDCWD, (long)"/tmp/never-made", 0);
}

/* What the opener must not do, with all its rights. */
static void (*const forbidden_to_opener[])(void) = {
	try_exec,   try_fork,	try_ptrace,	try_kill,      try_socket, try_open_for_writing,
	try_create, try_unlink, try_setuid,	try_namespace, try_bpf,	   try_event,
	try_ring,   try_memfd,	try_signal_all,
};

static void open_for_reading(void)
{
	_exit(open("/proc/self/maps", O_RDONLY) >= 0 ? 42 : 8);
}

static int as_opener(void (*act)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (opener_confine() < 0)
			_exit(9);
		act();
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(the_opener_only_reads)
{
	ck_assert_int_eq(as_opener(open_for_reading), 42 << 8);
	for (size_t i = 0; i < sizeof(forbidden_to_opener) / sizeof(*forbidden_to_opener); i++) {
		int status = as_opener(forbidden_to_opener[i]);

		ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS,
			      "attempt %zu: status %x", i, status);
	}
}
END_TEST

SUITE("confine", what_is_forbidden_kills, what_is_needed_works, nothing_is_left,
      shared_memory_and_descriptors_are_not_inherited, it_dies_with_its_parent,
      the_opener_only_reads)
