// SPDX-License-Identifier: Apache-2.0
/*
 * The child's side of the opener: take a request, do the work, reply; between requests continue the
 * scan of /proc. The child holds one packet of replies and waits in send() while the recorder is
 * slow, so that neither side needs more memory for more processes, threads or mappings.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/helper.h"
#include "capture/opener_wire.h"
#include "capture/procfs.h"

#define NS_PER_S 1000000000LL

struct child {
	int socket;
	/* the open /proc of the current scan of all processes; NULL without such a scan */
	DIR *all;
	uint32_t after; /* the scan leaves out pids up to this one */
	size_t used; /* bytes of packet in use */
	_Alignas(8) char packet[OPENER_MESSAGE_MAX];
	_Alignas(8) char request[OPENER_MESSAGE_MAX];
	/* Uids whose mappings the scan of all processes leaves out; 0 ends the list. */
	uint32_t avoided[OPENER_AVOIDED_MAX];
	struct opener_mounts mounts;
};

/* Send the packet, with the descriptor fd unless fd is negative. Exit if the recorder is gone. */
static void send_packet(struct child *c, int fd)
{
	union helper_descriptor room;
	struct iovec part = {c->packet, c->used};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	const struct timespec pause = {.tv_nsec = 1000000};
	ssize_t n;

	if (!c->used)
		return;
	helper_attach_fd(&message, &room, fd);
	while ((n = sendmsg(c->socket, &message, MSG_NOSIGNAL)) < 0) {
		/*
		 * The kernel limits the descriptors in flight; wait until the recorder has taken
		 * some.
		 */
		if (errno == ETOOMANYREFS || errno == ENOBUFS || errno == ENOMEM)
			nanosleep(&pause, NULL);
		else if (errno != EINTR)
			_exit(0);
	}
	c->used = 0;
}

/*
 * Append one record with its texts (an array ended by NULL, or NULL) to the packet; if the packet
 * has no room for the record, send the packet first.
 */
static void append_reply(struct child *c, struct opener_reply t, const char *const *texts)
{
	size_t size = offsetof(struct opener_reply, texts), i;
	char *at;

	for (i = 0; texts && texts[i]; i++)
		size += strlen(texts[i]) + 1;
	size = (size + 7) & ~(size_t)7;
	if (c->used + size > sizeof(c->packet))
		send_packet(c, -1);
	at = c->packet + c->used;
	memset(at, 0, size);
	t.size = (uint32_t)size;
	memcpy(at, &t, offsetof(struct opener_reply, texts));
	at += offsetof(struct opener_reply, texts);
	for (i = 0; texts && texts[i]; i++) {
		strcpy(at, texts[i]);
		at += strlen(at) + 1;
	}
	c->used += size;
}

/*
 * Send the reply to an open request, and close fd, which may be a negative errno. local: the file
 * system is known to be local (opener_mounts.c).
 */
static void reply_opened(struct child *c, const struct open_request *r, int fd, bool more,
			 bool local)
{
	struct opener_reply t = {.kind = OPENER_REPLY_OPENED,
				 .opened = {.token = r->token, .more = more}};
	struct stat st;

	/* Only reply_not_local() may send -EREMOTE, and a file system may choose any error. */
	if (fd == -EREMOTE)
		fd = -EIO;
	if (fd >= 0 && fstat(fd, &st) < 0) {
		int error = -errno;

		close(fd);
		fd = error;
	}
	if (fd >= 0) {
		t.opened.device = st.st_dev;
		t.opened.suspicious =
			!local &&
			!opener_is_local(&c->mounts, r->pid, major(st.st_dev), minor(st.st_dev));
		t.opened.inode = st.st_ino;
		t.opened.size = (uint64_t)st.st_size;
		t.opened.mtime_ns = st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
		t.opened.ctime_ns = st.st_ctim.tv_sec * NS_PER_S + st.st_ctim.tv_nsec;
	}
	t.opened.fd = fd < 0 ? fd : 0;
	append_reply(c, t, NULL);
	send_packet(c, fd);
	if (fd >= 0)
		close(fd);
}

/* Refuse a request whose file is not on a local file system: it is for the second opener. */
static void reply_not_local(struct child *c, const struct open_request *r)
{
	const struct opener_reply t = {.kind = OPENER_REPLY_OPENED,
				       .opened = {.token = r->token, .fd = -EREMOTE}};

	append_reply(c, t, NULL);
	send_packet(c, -1);
}

static void reply_debug_files(struct child *c, const struct open_request *r)
{
	int fds[OPENER_DEBUG_MAX];
	unsigned int i, count = opener_open_debug(r, fds);

	for (i = 0; i < count; i++)
		reply_opened(c, r, fds[i], i + 1 < count, false);
	if (!count)
		reply_opened(c, r, -ENOENT, false, false);
}

static void reply_mapped_file(struct child *c, const struct open_request *r, bool anywhere)
{
	bool local = r->id.inode && opener_is_local(&c->mounts, r->pid, r->id.major, r->id.minor);

	if (anywhere || local || !r->id.inode)
		reply_opened(c, r, opener_open_mapped(r), false, local);
	else
		reply_not_local(c, r);
}

static void reply_open(struct child *c, const struct open_request *r, bool anywhere)
{
	switch (r->what) {
	case OPEN_MAPPED_FILE:
		reply_mapped_file(c, r, anywhere);
		break;
	case OPEN_PERF_MAP:
		reply_opened(c, r, opener_open_perf_map(r), false, false);
		break;
	case OPEN_DEBUG:
	case OPEN_COMMON:
		reply_debug_files(c, r);
		break;
	case OPEN_NAMED:
		reply_opened(c, r, opener_open_named(r), false, false);
		break;
	case OPEN_MEMORY:
		reply_opened(c, r, opener_open_memory(r), false, true);
		break;
	}
}

static void reply_thread(struct child *c, uint32_t pid, uint32_t tid, const char *comm)
{
	const struct opener_reply t = {.kind = OPENER_REPLY_THREAD,
				       .thread = {.pid = pid, .tid = tid}};

	append_reply(c, t, (const char *const[]){comm, NULL});
}

static void scan_threads(struct child *c, int process, uint32_t pid)
{
	int fd = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
	char path[NAME_MAX + 8], comm[PROCFS_COMM_MAX + 1];
	struct dirent *entry;
	int n;

	if (!tasks) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(tasks))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/comm", entry->d_name);
		n = procfs_read(dirfd(tasks), path, comm, sizeof(comm));
		if (n <= 0)
			continue;
		/* The kernel adds the last newline; earlier ones are part of the name. */
		if (comm[n - 1] == '\n')
			comm[n - 1] = '\0';
		reply_thread(c, pid, (uint32_t)strtoul(entry->d_name, NULL, 10), comm);
	}
	closedir(tasks);
}

/*
 * Return the path as the process sees it. For a process in a chroot, maps shows the path from the
 * opener's root, which begins with the path of the process's root.
 */
static const char *below_root(const char *path, const char *root)
{
	size_t length = strlen(root);

	return length > 1 && !strncmp(path, root, length) && path[length] == '/' ? path + length
										 : path;
}

static bool is_gone(int error)
{
	return error == ESRCH || error == ENOENT;
}

/*
 * Report the mappings of a process. Return false if some are missing from the report; a process
 * that is gone has none.
 */
static bool scan_mappings(struct child *c, int process, uint32_t pid)
{
	struct opener_reply t = {.kind = OPENER_REPLY_MAPPING, .mapping = {.pid = pid}};
	char root[OPENER_PATH_MAX], path[OPENER_PATH_MAX], *line;
	ssize_t n = readlinkat(process, "root", root, sizeof(root) - 1);
	int fd = openat(process, "maps", O_RDONLY | O_CLOEXEC);
	struct procfs_lines lines;
	struct procfs_mapping m;

	if (fd < 0)
		return is_gone(errno);
	root[n < 0 ? 0 : n] = '\0';
	procfs_lines_init(&lines, fd);
	while ((line = procfs_line(&lines))) {
		if (!procfs_parse_mapping(line, &m) || !m.executable)
			continue;
		snprintf(path, sizeof(path), "%s", below_root(m.path, root));
		t.mapping.start = m.start;
		t.mapping.end = m.end;
		t.mapping.offset = m.offset;
		t.mapping.id = (struct file_id){m.major, m.minor, m.inode, 0};
		append_reply(c, t, (const char *const[]){path, NULL});
	}
	close(fd);
	return !lines.error || is_gone(-lines.error);
}

static void reply_process(struct child *c, int process, const struct procfs_stat *stat,
			  uint32_t ns_pid, bool all)
{
	struct opener_reply t = {.kind = OPENER_REPLY_PROCESS, .all = all};
	char exe[OPENER_PATH_MAX];
	ssize_t n = readlinkat(process, "exe", exe, sizeof(exe) - 1);

	exe[n < 0 ? 0 : n] = '\0';
	t.process.pid = stat->pid;
	t.process.parent = stat->parent;
	t.process.ns_pid = ns_pid;
	t.process.born = stat->born;
	t.process.kernel_thread = stat->kernel_thread;
	append_reply(c, t, (const char *const[]){stat->comm, exe, NULL});
}

static bool is_user_avoided(const struct child *c, uint32_t uid)
{
	for (size_t i = 0; i < OPENER_AVOIDED_MAX && c->avoided[i]; i++)
		if (c->avoided[i] == uid)
			return true;
	return false;
}

/* Report a process if it exists. Return false if mappings are missing from the report. */
static bool scan_process(struct child *c, uint32_t pid, bool all)
{
	struct procfs_status status;
	struct procfs_stat stat;
	bool complete = true;
	int process;

	/*
	 * The pids, comm and uid are those of the main thread; files and mappings are read through
	 * a thread that is alive.
	 */
	process = procfs_open_main(pid, 0);
	if (process < 0)
		return true;
	if (procfs_read_stat(process, &stat) < 0 || procfs_read_status(process, &status) < 0 ||
	    status.pid != pid) {
		close(process);
		return true;
	}
	process = procfs_open_living(process, &stat);
	if (process < 0)
		return true;
	reply_process(c, process, &stat, status.ns_pid, all);
	if (stat.threads == 1)
		reply_thread(c, pid, pid, stat.comm);
	else
		scan_threads(c, process, pid);
	if (all && is_user_avoided(c, status.uid))
		complete = false;
	else if (!stat.kernel_thread)
		complete = scan_mappings(c, process, pid);
	close(process);
	return complete;
}

static void reply_scan(struct child *c, uint32_t pid, bool all)
{
	struct opener_reply t = {.kind = OPENER_REPLY_BEGIN, .all = all, .pid = pid};

	if (all) {
		/*
		 * Send this record at once: if the process hangs the child, the recorder then knows
		 * its pid.
		 */
		append_reply(c, t, NULL);
		send_packet(c, -1);
	}
	t.kind = OPENER_REPLY_END;
	t.complete = scan_process(c, pid, all);
	append_reply(c, t, NULL);
	send_packet(c, -1);
}

/*
 * Report the next process of the scan of all processes, or the end of the scan. /proc lists
 * processes by rising pid.
 */
static void scan_next_process(struct child *c)
{
	struct dirent *entry;
	uint32_t pid = 0;

	while (pid <= c->after && (entry = readdir(c->all)))
		pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
	if (pid > c->after) {
		c->after = pid;
		reply_scan(c, pid, true);
		return;
	}
	closedir(c->all);
	c->all = NULL;
	append_reply(c, (struct opener_reply){.kind = OPENER_REPLY_DONE, .all = true}, NULL);
	send_packet(c, -1);
}

static void start_scan(struct child *c, uint32_t after)
{
	if (c->all)
		closedir(c->all);
	c->all = opendir("/proc");
	c->after = after;
	if (!c->all)
		/*
		 * The opener cannot work without /proc. The recorder notices the end of the child.
		 */
		_exit(1);
}

static void handle_request(struct child *c, size_t size)
{
	struct opener_request *incoming = (struct opener_request *)c->request;
	const char *at = incoming->texts, *end = c->request + size;

	switch (size < sizeof(*incoming) ? 0 : incoming->kind) {
	case OPENER_REQUEST_OPEN:
		incoming->open.path = opener_text(&at, end);
		incoming->open.build_id = opener_text(&at, end);
		incoming->open.debuglink = opener_text(&at, end);
		reply_open(c, &incoming->open, incoming->anywhere);
		break;
	case OPENER_REQUEST_SCAN:
		reply_scan(c, incoming->pid, false);
		break;
	case OPENER_REQUEST_SCAN_ALL:
		memcpy(c->avoided, incoming->avoided, sizeof(c->avoided));
		start_scan(c, incoming->pid);
		break;
	}
}

/*
 * Close inherited descriptors, since they must not stay open in a child that hangs. Give up
 * privileges. Return the socket's new descriptor; exit on failure.
 */
static int prepare_child(int socket, pid_t parent)
{
	const struct rlimit none = {0};
	int fd = fcntl(socket, F_DUPFD_CLOEXEC, 3);

	prctl(PR_SET_NAME, "skein-opener");
	if (fd < 0)
		_exit(1);
	helper_reset_signals();
	setrlimit(RLIMIT_CORE, &none);
	if (fd > 0)
		syscall(SYS_close_range, 0, fd - 1, 0);
	syscall(SYS_close_range, fd + 1, ~0U, 0);
	if (chdir("/") < 0 || opener_confine(fd, parent) < 0)
		_exit(HELPER_EXIT_UNCONFINED);
	return fd;
}

_Noreturn void opener_child(int socket, pid_t parent)
{
	struct child *c = calloc(1, sizeof(*c));

	if (!c)
		_exit(1);
	opener_mounts_init(&c->mounts);
	c->socket = prepare_child(socket, parent);
	for (;;) {
		ssize_t n =
			recv(c->socket, c->request, sizeof(c->request), c->all ? MSG_DONTWAIT : 0);

		if (n > 0)
			handle_request(c, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			_exit(0);
		if (c->all)
			scan_next_process(c);
	}
}
