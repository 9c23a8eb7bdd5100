// SPDX-License-Identifier: Apache-2.0
/* confine.c: a process so confined tries what the worker must not do, and dies of it. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

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

SUITE("confine", what_is_forbidden_kills, what_is_needed_works, nothing_is_left,
      shared_memory_and_descriptors_are_not_inherited, it_dies_with_its_parent)
