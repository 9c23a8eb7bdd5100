// SPDX-License-Identifier: Apache-2.0
/*
 * Test confine.c and opener_confine.c: a confined process tries calls that the worker or the opener
 * must not make, and is killed.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/own_user.h"
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

/* This personality would make every readable page executable. */
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

#ifndef __SANITIZE_ADDRESS__ /* the sanitizer needs these calls */
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
/* The call numbers of 32-bit programs mean other calls. */
static void try_other_abi(void)
{
	long number = 20; /* getpid for 32-bit programs, writev as a native number */

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

/* Those of the worker of names, with fewer files. */
static const struct confine_limits limits = {
	.name = "skein-names",
	.files = 32,
	.memory = CONFINED_MEMORY,
};

/* Fork, confine the child and call act() in it; return the status of waitpid(). */
static int in_confinement(void (*act)(void))
{
	int pair[2], status, parent = getpid();
	pid_t pid;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (confine_within(pair[1], parent, &limits) < 0)
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

/* Start a confined child that waits, so that it can be examined from outside. */
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

		if (confine_within(pair[1], parent, &limits) < 0 ||
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

static void expect_same(const char *text, const char *key, unsigned int number)
{
	char line[128];

	snprintf(line, sizeof(line), "%s:\t%u\t%u\t%u\t%u\n", key, number, number, number, number);
	expect(text, line);
}

/*
 * Check that all four uids and gids are the same number, from the range of drawn ones, and that
 * there are no supplementary groups.
 */
static unsigned int expect_own_user(const char *text)
{
	const char *line = strstr(text, "\nUid:");
	unsigned int number = 0;

	ck_assert_ptr_nonnull(line);
	ck_assert_int_eq(sscanf(line, "\nUid: %u", &number), 1);
	ck_assert_uint_ge(number, OWN_USER_FIRST);
	ck_assert_uint_lt(number, OWN_USER_FIRST + OWN_USER_COUNT);
	expect_same(text, "Uid", number);
	expect_same(text, "Gid", number);
	expect(text, "Groups:\t \n");
	return number;
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
		expect_own_user(text);
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
		count += d->d_name[0] != '.' && d->d_name[0] != '2'; /* 2: of a sanitizer */
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

/*
 * The calls that the opener may make with any arguments, and those whose arguments the filter
 * checks.
 */
static const int opener_calls[] = {
	SYS_read,	   SYS_close,	     SYS_fstat,		  SYS_fstatfs,
	SYS_getdents64,	   SYS_lseek,	     SYS_statx,		  SYS_readlinkat,
	SYS_brk,	   SYS_munmap,	     SYS_mremap,	  SYS_madvise,
	SYS_clock_gettime, SYS_nanosleep,    SYS_clock_nanosleep, SYS_exit,
	SYS_exit_group,	   SYS_rt_sigreturn, SYS_restart_syscall, SYS_openat,
	SYS_newfstatat,	   SYS_fcntl,	     SYS_ioctl,		  SYS_mmap,
	SYS_recvfrom,	   SYS_sendmsg,
#ifdef __SANITIZE_ADDRESS__
	SYS_write,	   SYS_mprotect,     SYS_sigaltstack,	  SYS_getpid,
	SYS_gettid,	   SYS_rt_sigaction, SYS_sched_yield,	  SYS_rt_sigprocmask,
#endif
};

/* Higher than all call numbers: Linux 6.12 has 462. */
#define CALLS_MAX 520

/* A call that the opener never makes, or never with these arguments. */
struct attempt {
	long number;
	long a, b, c, d;
	const char *what;
};

#define BIT(capability) (1ULL << (capability))
#define OPENERS_CAPABILITIES \
	(BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE) | \
	 BIT(CAP_PERFMON))

static const char here[] = "/";
static const char never[] = "/tmp/never-made";

static const struct attempt misuses[] = {
	{SYS_openat, AT_FDCWD, (long)"/dev/null", O_WRONLY, 0, "opening for writing"},
	{SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR | O_CLOEXEC, 0, "opening for both"},
	{SYS_openat, AT_FDCWD, (long)never, O_RDONLY | O_CREAT, 0600, "creating"},
	{SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDONLY | O_TRUNC, 0, "emptying"},
	{SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDONLY | O_APPEND, 0, "appending"},
	{SYS_openat, AT_FDCWD, (long)"/tmp", O_TMPFILE | O_RDWR, 0600, "a nameless file"},
	{SYS_openat, AT_FDCWD, (long)"/tmp", O_TMPFILE, 0600, "a nameless file, for reading"},
	{SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDONLY | O_ASYNC, 0, "opening with signals"},
	{SYS_openat, AT_FDCWD, (long)"/dev/null", 3, 0, "opening with the access mode 3"},
	{SYS_newfstatat, AT_FDCWD, (long)here, (long)never, 0, "looking at a name"},
	{SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, "code"},
	{SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, "reading a mapped file"},
	{SYS_mmap, 0, 4096, PROT_NONE, MAP_SHARED, "sharing a mapped file"},
	{SYS_fcntl, 0, F_SETFL, O_ASYNC, 0, "signals of a descriptor"},
	{SYS_fcntl, 0, F_SETOWN, 1, 0, "who gets these"},
	{SYS_fcntl, 0, F_SETLEASE, F_RDLCK, 0, "a lease"},
	{SYS_fcntl, 0, F_SETLK, 0, 0, "a lock"},
	{SYS_fcntl, 0, F_DUPFD, 0, 0, "another number"},
	{SYS_ioctl, 0, TIOCSTI, (long)here, 0, "typing into a terminal"},
	{SYS_ioctl, 0, FS_IOC_SETVERSION, (long)here, 0, "changing a file's generation"},
	{SYS_ioctl, 0, FS_IOC_SETFLAGS, (long)here, 0, "changing a file's flags"},
	{SYS_sendmsg, 0, 0, 0, 0, "sending elsewhere"},
	{SYS_recvfrom, 0, 0, 0, 0, "receiving from elsewhere"},
};

/* The descriptor that takes the place of the opener's socket; it is not open. */
#define ITS_SOCKET 99

static int as_opener(void (*act)(const struct attempt *), const struct attempt *attempt)
{
	pid_t parent = getpid(), pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (opener_confine(ITS_SOCKET, parent) < 0)
			_exit(9);
		act(attempt);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void try_attempt(const struct attempt *a)
{
	_exit(syscall(a->number, a->a, a->b, a->c, a->d, -1, 0) >= 0 ? 7 : 8);
}

static void open_for_reading(const struct attempt *a)
{
	(void)a;
	_exit(open("/proc/self/maps", O_RDONLY) >= 0 &&
			      open("/", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) >= 0
		      ? 42
		      : 8);
}

static bool is_call_of_opener(int number)
{
	/*
	 * uretprobe(2) and uprobe(2) pass every filter, and kill a process that no probe has led
	 * there.
	 */
	if (number == 335 || number == 336)
		return true;
	for (size_t i = 0; i < sizeof(opener_calls) / sizeof(*opener_calls); i++)
		if (opener_calls[i] == number)
			return true;
	return false;
}

static void expect_killed(const struct attempt *a)
{
	int status = as_opener(try_attempt, a);

	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s (%ld): status %x",
		      a->what, a->number, status);
}

/* With all arguments 0, none of the calls does any harm if it is allowed. */
START_TEST(the_opener_makes_no_other_calls)
{
	ck_assert_int_eq(as_opener(open_for_reading, NULL), 42 << 8);
	for (int number = 0; number < CALLS_MAX; number++) {
		const struct attempt a = {number, 0, 0, 0, 0, "call"};

		if (!is_call_of_opener(number))
			expect_killed(&a);
	}
}
END_TEST

START_TEST(the_opener_only_reads)
{
	for (size_t i = 0; i < sizeof(misuses) / sizeof(*misuses); i++)
		expect_killed(&misuses[i]);
}
END_TEST

/*
 * The opener keeps the capabilities for reading the files of others, and none that can change
 * anything.
 */
static void show_status(const struct attempt *a)
{
	static char text[8192];
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	const char *line = n > 0 ? strstr(text, "\nCapPrm:") : NULL;
	unsigned long long permitted, effective;
	unsigned int user = 0;

	(void)a;
	if (!line || sscanf(line, "\nCapPrm: %llx\nCapEff: %llx", &permitted, &effective) != 2 ||
	    sscanf(strstr(text, "\nUid:"), "\nUid: %u", &user) != 1)
		_exit(1);
	if (permitted != effective || permitted & ~OPENERS_CAPABILITIES)
		_exit(2);
	if (permitted != OPENERS_CAPABILITIES || user < OWN_USER_FIRST)
		_exit(3);
	_exit(42);
}

START_TEST(the_opener_keeps_what_it_needs)
{
	int status;

	if (geteuid() || !own_user_possible())
		return; /* tests/live/test_privileges.py tests this for a user */
	status = as_opener(show_status, NULL);
	ck_assert_int_eq(status, 42 << 8);
}
END_TEST

/* Two helpers have two different uids, which no other processes have. */
START_TEST(users_are_drawn)
{
	unsigned int users[2];
	int sockets[2];
	pid_t pids[2];

	if (geteuid() || !own_user_possible())
		return;
	for (int i = 0; i < 2; i++) {
		pids[i] = waiting_child(&sockets[i]);
		users[i] = expect_own_user(proc_text(pids[i], "status"));
	}
	ck_assert_uint_ne(users[0], users[1]);
	for (int i = 0; i < 2; i++) {
		close(sockets[i]);
		ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
	}
}
END_TEST

SUITE("confine", what_is_forbidden_kills, what_is_needed_works, nothing_is_left,
      shared_memory_and_descriptors_are_not_inherited, it_dies_with_its_parent,
      the_opener_makes_no_other_calls, the_opener_only_reads, the_opener_keeps_what_it_needs,
      users_are_drawn)
