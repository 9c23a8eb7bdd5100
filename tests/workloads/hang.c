// SPDX-License-Identifier: Apache-2.0
/*
 * A file system that stops replying: a FUSE server of program files. It serves reads until all
 * processes that run the files have begun, then takes every later request without a reply, so that
 * the kernel cannot even kill the process that made the request. Needs root, to mount it without a
 * setuid helper.
 *
 *   hang MOUNT-POINT PROGRAM UID PROCESSES SECONDS-OF-CPU
 *
 * Starts PROCESSES copies of PROGRAM (called with SECONDS-OF-CPU) as UID, each from a file of its
 * own, prints their number once they run, and serves until it is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_FROM 2 /* node numbers of the files; 1 is the directory */

static char request[1 << 18];
static char *content;
static size_t content_size;

static int load(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	content_size = (size_t)st.st_size;
	content = malloc(content_size);
	return content && read(fd, content, content_size) == st.st_size ? 0 : -1;
}

static void answer(int fd, uint64_t unique, int error, const void *body, size_t size)
{
	static char out[1 << 18];
	struct fuse_out_header h = {
		.len = (uint32_t)(sizeof(h) + size), .error = error, .unique = unique};

	memcpy(out, &h, sizeof(h));
	if (size)
		memcpy(out + sizeof(h), body, size);
	if (write(fd, out, sizeof(h) + size) < 0 && errno != ENOENT && errno != EINTR)
		perror("hang: answering");
}

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == 1 ? 0 : content_size,
		.mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void serve_read(int fd, const struct fuse_in_header *in)
{
	const struct fuse_read_in *r = (const void *)(in + 1);
	size_t left = r->offset < content_size ? content_size - r->offset : 0;

	answer(fd, in->unique, 0, content + r->offset, left < r->size ? left : r->size);
}

/* Serve the requests that the kernel makes to run a program, and no others. */
static void serve(int fd, const struct fuse_in_header *in)
{
	const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = 65536,
		.max_write = 65536,
	};
	const struct fuse_attr_out attr = {.attr_valid = 0, .attr = attr_of(in->nodeid)};
	const struct fuse_open_out opened = {.open_flags = 0};
	struct fuse_entry_out entry = {.entry_valid = 0};

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		entry.nodeid = FILES_FROM + strtoul((const char *)(in + 1), NULL, 10);
		entry.attr = attr_of(entry.nodeid);
		answer(fd, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		serve_read(fd, in);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
		answer(fd, in->unique, 0, NULL, 0);
		break;
	default:
		answer(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

/* In a child: run a program from the mount as the given user. */
static void run(const char *mount, int number, uid_t uid, char *seconds)
{
	char path[256], *args[] = {path, seconds, NULL};

	snprintf(path, sizeof(path), "%s/%d", mount, number);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setgid(uid) < 0 || setuid(uid) < 0)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!freopen("/dev/null", "w", stdout))
		_exit(1);
	execv(path, args);
	perror(path);
	_exit(1);
}

/* Return whether all processes have executed the programs from the mount. */
static bool all_run(const pid_t *pids, int count, const char *mount)
{
	char link[64], path[256];

	for (int i = 0; i < count; i++) {
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/%d/exe", (int)pids[i]);
		n = readlink(link, path, sizeof(path) - 1);
		path[n < 0 ? 0 : n] = '\0';
		if (strncmp(path, mount, strlen(mount)) != 0)
			return false;
	}
	return true;
}

/* In a child: start all programs, report that they run, and stay their parent. */
static void start_all(char **argv)
{
	int count = atoi(argv[4]);
	pid_t *pids = calloc((size_t)count, sizeof(*pids));

	for (int i = 0; pids && i < count; i++) {
		pids[i] = fork();
		if (!pids[i])
			run(argv[1], i, (uid_t)atoi(argv[3]), argv[5]);
	}
	while (pids && !all_run(pids, count, argv[1]))
		usleep(20000);
	usleep(300000); /* until they are in their loops, whose pages are loaded */
	if (getppid() > 1)
		kill(getppid(), SIGUSR1);
	for (;;)
		pause();
}

static volatile sig_atomic_t silent;

static void fall_silent(int signal)
{
	(void)signal;
	silent = 1;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = fall_silent};
	const struct fuse_in_header *in = (const void *)request;
	bool reported = false;
	char options[128];
	int fd;

	if (argc < 6 || load(argv[2]) < 0)
		return 2;
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fd);
	if (fd < 0 || mount("skein-hang", argv[1], "fuse", MS_NODEV, options) < 0) {
		perror("hang: mounting a FUSE file system");
		return 77;
	}
	sigaction(SIGUSR1, &action, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1UL);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		start_all(argv);
	}
	for (;;) {
		ssize_t n = read(fd, request, sizeof(request));

		if (silent && !reported) {
			printf("%s\n", argv[4]);
			fflush(stdout);
			reported = true;
		}
		if (n > 0 && !silent)
			serve(fd, in);
		else if (n < 0 && errno != EINTR && errno != ENOENT)
			return 0; /* unmounted */
	}
}
