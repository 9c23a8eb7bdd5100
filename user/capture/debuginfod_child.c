// SPDX-License-Identifier: Apache-2.0
/*
 * The helper that runs debuginfod-find, once for each file. It has a user of its own, no
 * capabilities, and a new folder, which is its working directory: that is where debuginfod-find
 * puts its files, by relative paths, so no other folder needs to be open to the helper's user. The
 * program and its libraries speak to a server that may be hostile, with limits on the time and on
 * the size of files that the kernel enforces. While it runs, the helper reports that it is alive.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/own_user.h"
#include "capture/clock.h"
#include "capture/debuginfod_wire.h"
#include "symbolizers/confine.h"

#define ALIVE_MS 300 /* interval of the messages that the helper is alive */
#define TEXT_MAX 4096 /* bytes of the program's output that are read */

/* One run of debuginfod-find. */
struct finder_run {
	pid_t pid;
	int out; /* the pipe of its stdout and stderr */
	char text[TEXT_MAX];
	size_t size;
	bool late; /* killed at the deadline */
	int status;
};

/* Make the helper's own folder, and enter it. The cache folder is not for other users. */
static int enter_own_folder(int cache, pid_t parent)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), FETCH_FOLDER_PREFIX "%d-%d", (int)parent, (int)getpid());
	if (mkdirat(cache, name, 0700) < 0)
		return -errno;
	fd = openat(cache, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The helper's user is not known yet; nobody else can come here from the cache folder. */
	if (fchmod(fd, 0777) < 0 || fchdir(fd) < 0) {
		close(fd);
		return -errno;
	}
	close(fd);
	return 0;
}

static int limit_files(void)
{
	rlim_t size = debuginfod_limit("DEBUGINFOD_MAXSIZE", FETCH_BYTES_MAX);
	const struct rlimit file = {size, size}, none = {0, 0};

	return setrlimit(RLIMIT_FSIZE, &file) < 0 || setrlimit(RLIMIT_CORE, &none) < 0 ? -errno : 0;
}

static int confine_child(const struct debuginfod_child *c, pid_t parent)
{
	int ret = confine_drop_shared_memory();

	if (!ret)
		ret = enter_own_folder(c->folder, parent);
	if (!ret)
		ret = own_user_become();
	if (!ret)
		ret = own_user_keep(NULL, 0);
	if (!ret)
		ret = limit_files();
	/* This comes after the change of user, which resets the death signal and dumpability. */
	if (!ret &&
	    (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	     prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_NAME, "skein-fetch") < 0))
		ret = -errno;
	return !ret && getppid() != parent ? -ESRCH : ret;
}

/* Leave only the variables that debuginfod-find and its libraries get, and set skein's own. */
static void set_environment(const char *urls)
{
	static const char *const passed[] = {
		"PATH",
		"http_proxy",
		"https_proxy",
		"all_proxy",
		"no_proxy",
		"HTTPS_PROXY",
		"ALL_PROXY",
		"NO_PROXY",
		"SSL_CERT_FILE",
		"SSL_CERT_DIR",
		"DEBUGINFOD_RETRY_LIMIT",
	};
	char *values[sizeof(passed) / sizeof(*passed)];

	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		values[i] = getenv(passed[i]);
	clearenv();
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		if (values[i])
			setenv(passed[i], values[i], 1);
	setenv(DEBUGINFOD_URLS, urls, 1);
	setenv("DEBUGINFOD_CACHE_PATH", ".", 1);
	setenv("HOME", ".", 1);
	setenv("LC_ALL", "C", 1);
}

static void set_limit_variable(const char *name, uint64_t value)
{
	char number[32];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)value);
	setenv(name, number, 1);
}

static _Noreturn void exec_finder(const struct debuginfod_child *c,
				  const struct debuginfod_request *r, int out)
{
	static const char *const words[] = {
		[DEBUGINFOD_DEBUG] = "debuginfo", [DEBUGINFOD_EXECUTABLE] = "executable"};
	uint64_t total = debuginfod_limit("DEBUGINFOD_MAXTIME", FETCH_SECONDS);
	uint64_t stall = debuginfod_limit("DEBUGINFOD_TIMEOUT", STALL_SECONDS);
	char *argv[] = {(char *)DEBUGINFOD_PROGRAM, (char *)words[r->what], (char *)r->build_id,
			NULL};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	set_environment(c->urls);
	set_limit_variable("DEBUGINFOD_MAXTIME", total);
	set_limit_variable("DEBUGINFOD_TIMEOUT", stall);
	/* The limit on the size of files ends the program, whatever the server announces. */
	signal(SIGXFSZ, SIG_DFL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(127);
	execv(c->program, argv);
	_exit(127);
}

static int start_finder(struct finder_run *f, const struct debuginfod_child *c,
			const struct debuginfod_request *r)
{
	int pair[2];

	*f = (struct finder_run){.out = -1};
	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	f->pid = fork();
	if (f->pid == 0)
		exec_finder(c, r, pair[1]);
	close(pair[1]);
	f->out = pair[0];
	return f->pid < 0 ? -errno : 0;
}

/* Send a reply, with a descriptor unless fd is -1. Exit if the owner is gone. */
static void send_reply(int socket, const struct debuginfod_reply *reply, int fd)
{
	union helper_descriptor room;
	struct iovec part = {(void *)reply, sizeof(*reply)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	helper_attach_fd(&message, &room, fd);
	while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			_exit(0);
}

/*
 * Read what the program has written; the rest of a long text is dropped. Return false at its end.
 */
static bool read_finder(struct finder_run *f)
{
	char dropped[512];
	size_t room = sizeof(f->text) - 1 - f->size;
	ssize_t n = read(f->out, room ? f->text + f->size : dropped, room ? room : sizeof(dropped));

	if (n > 0 && room)
		f->size += (size_t)n;
	f->text[f->size] = '\0';
	return n > 0 || (n < 0 && errno == EINTR);
}

/* Wait for the program, at most until the deadline; meanwhile report that the helper is alive. */
static void await_finder(struct finder_run *f, int socket, const struct debuginfod_request *r)
{
	const struct debuginfod_reply alive = {.sequence = r->sequence};
	/* debuginfod-find itself ends at its limit; this is for one that does not */
	uint64_t seconds = debuginfod_limit("DEBUGINFOD_MAXTIME", FETCH_SECONDS) + 2;
	uint64_t end = clock_boot_ns() + seconds * NSEC_PER_SEC;
	struct pollfd wait = {.fd = f->out, .events = POLLIN};
	bool open = true;

	while (open) {
		int n = poll(&wait, 1, ALIVE_MS);

		if (n > 0)
			open = read_finder(f);
		send_reply(socket, &alive, -1);
		if (open && clock_boot_ns() >= end) {
			f->late = true;
			break;
		}
	}
	kill(f->pid, SIGKILL);
	while (waitpid(f->pid, &f->status, 0) < 0 && errno == EINTR)
		;
	close(f->out);
}

/* Keep the last line of the program's output, which is the path or the failure. */
static void keep_last_line(struct finder_run *f)
{
	char *line;

	while (f->size && f->text[f->size - 1] == '\n')
		f->text[--f->size] = '\0';
	line = strrchr(f->text, '\n');
	if (line)
		memmove(f->text, line + 1, strlen(line));
}

/* Open the file whose path the program has printed, if it is a regular one. */
static int open_found(const struct finder_run *f)
{
	const char *path = f->text;
	struct stat st;
	int fd;

	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -1;
}

/* Return what a run without a file means. Texts: strerror() of what debuginfod_find_*() returns. */
static enum debuginfod_outcome failed_outcome(const struct finder_run *f)
{
	if (f->late)
		return DEBUGINFOD_SILENT;
	if (WIFSIGNALED(f->status) && WTERMSIG(f->status) == SIGXFSZ)
		return DEBUGINFOD_LARGE;
	if (WIFEXITED(f->status) && WEXITSTATUS(f->status) == 127)
		return DEBUGINFOD_NO_PROGRAM;
	if (strstr(f->text, strerror(ETIME)) || strstr(f->text, strerror(ETIMEDOUT)))
		return DEBUGINFOD_SILENT;
	if (strstr(f->text, strerror(EFBIG)))
		return DEBUGINFOD_LARGE;
	return strstr(f->text, strerror(ENOENT)) ? DEBUGINFOD_NONE : DEBUGINFOD_FAILED;
}

/* Return what the program says of a failure, without its own words for any failure. */
static const char *failure_text(const struct finder_run *f)
{
	static const char usual[] = "Server query failed: ";

	return f->text + (strncmp(f->text, usual, strlen(usual)) ? 0 : strlen(usual));
}

/* Fetch a file and reply. Files are removed after each request; the owner keeps what is right. */
static void serve_request(const struct debuginfod_child *c, int socket,
			  const struct debuginfod_request *r)
{
	struct debuginfod_reply reply = {.sequence = r->sequence, .done = 1};
	struct finder_run f;
	int fd = -1;

	if (start_finder(&f, c, r) < 0) {
		reply.outcome = DEBUGINFOD_FAILED;
	} else {
		await_finder(&f, socket, r);
		keep_last_line(&f);
		if (!f.late && WIFEXITED(f.status) && !WEXITSTATUS(f.status))
			fd = open_found(&f);
		reply.outcome = fd >= 0 ? DEBUGINFOD_FOUND : failed_outcome(&f);
		if (reply.outcome == DEBUGINFOD_FAILED)
			snprintf(reply.why, sizeof(reply.why), "%.200s", failure_text(&f));
	}
	send_reply(socket, &reply, fd);
	if (fd >= 0)
		close(fd);
	debuginfod_remove_below(AT_FDCWD, ".", FETCH_DEPTH);
}

void debuginfod_child_main(const struct debuginfod_child *c, int socket, pid_t parent)
{
	struct debuginfod_request r;
	ssize_t n;

	if (confine_child(c, parent) < 0)
		_exit(HELPER_EXIT_UNCONFINED);
	/*
	 * The socket becomes descriptor 0, and everything of the owner is closed. 1 and 2 stay in
	 * use, so that no pipe gets these numbers, which the program's output has.
	 */
	if ((socket != 0 && dup2(socket, 0) < 0) || close_range(1, ~0u, 0) < 0 ||
	    fcntl(0, F_SETFD, FD_CLOEXEC) < 0 || open("/dev/null", O_RDWR) != 1 || dup(1) != 2)
		_exit(1);
	while ((n = recv(0, &r, sizeof(r), 0)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(r) || r.what >= DEBUGINFOD_WHAT_COUNT)
			break;
		r.build_id[BUILD_ID_MAX] = '\0';
		serve_request(c, 0, &r);
	}
	_exit(0);
}
