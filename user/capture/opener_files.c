// SPDX-License-Identifier: Apache-2.0
/*
 * Opens files of profiled processes, which choose every name on the path. Paths are resolved inside
 * the root of a process. The target is checked through O_PATH, which has no effect on a device or
 * FIFO, before it is opened. For a mapping, a file found by name is only used if it is the mapped
 * file itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "capture/opener_wire.h"
#include "capture/procfs.h"

#define NS_PER_S 1000000000LL
#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define PERF_MAP_MAX (256 << 20) /* bytes */

/*
 * Open the regular file of an O_PATH descriptor for reading. Closes path. Return a descriptor or a
 * negative errno: -EINVAL if the file is not a regular one, path itself if path is negative.
 */
static int reopen_regular_file(int path)
{
	char self[32];
	struct stat st;
	int ret = -EINVAL;

	if (path < 0)
		return path;
	if (fstat(path, &st) < 0) {
		ret = -errno;
	} else if (S_ISREG(st.st_mode)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
		ret = open(self, READ_FLAGS);
		if (ret < 0)
			ret = -errno;
	}
	close(path);
	return ret;
}

/* Open a regular file by its path below root. links: follow symbolic links. */
static int open_below(int root, const char *path, bool links)
{
	return reopen_regular_file(opener_walk(root, path, links));
}

/* Open the root of an open /proc/PID; without one (process < 0), the opener's own root. */
static int open_process_root(int process)
{
	int fd;

	if (process < 0)
		fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	else
		fd = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Find the mapping that holds address in the maps of an open /proc/PID (process < 0: of the
 * opener). Store the identity of its file in *out, and its path in buf if buf is not NULL. Return 0
 * or a negative errno.
 */
static int find_mapped_file(int process, uint64_t address, struct file_id *out, char *buf,
			    size_t size)
{
	struct procfs_lines lines;
	struct procfs_mapping m;
	int fd, ret = -ENOENT;
	char *line;

	fd = process < 0 ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
			 : openat(process, "maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	procfs_lines_init(&lines, fd);
	while (ret < 0 && (line = procfs_line(&lines))) {
		if (!procfs_parse_mapping(line, &m) || address < m.start || address >= m.end)
			continue;
		*out = (struct file_id){m.major, m.minor, m.inode, 0};
		if (buf)
			snprintf(buf, size, "%s", m.path);
		ret = 0;
	}
	close(fd);
	return ret;
}

static bool same_file_id(const struct file_id *a, const struct file_id *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode;
}

/*
 * Get the identity of an open file as the kernel shows it in maps and mmap events, since overlayfs
 * and btrfs report other numbers in fstat(). To get the kernel's numbers, map a page of the file,
 * which is never touched, and read its line in maps.
 */
static int kernel_identity(int fd, struct file_id *out)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_NONE, MAP_PRIVATE, fd, 0);
	int ret;

	if (at == MAP_FAILED)
		return -errno;
	ret = find_mapped_file(-1, (uint64_t)(uintptr_t)at, out, NULL, 0);
	munmap(at, page);
	return ret;
}

static int64_t signed_clock_ns(clockid_t id)
{
	struct timespec t = {0};

	(void)clock_gettime(id, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/*
 * Return whether the file was made after the time seen (ns of CLOCK_BOOTTIME), when the mapping
 * existed; true if the times of the file cannot be read. A file's times are those of the wall
 * clock. Where the file system does not keep the time of birth, the time of the last change is
 * used.
 */
static bool is_younger(int fd, uint64_t seen)
{
	int64_t wall =
		(int64_t)seen + signed_clock_ns(CLOCK_REALTIME) - signed_clock_ns(CLOCK_BOOTTIME);
	struct statx_timestamp t;
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_CTIME, &st) < 0)
		return true;
	t = st.stx_mask & STATX_BTIME ? st.stx_btime : st.stx_ctime;
	return t.tv_sec * NS_PER_S + t.tv_nsec > wall;
}

/*
 * Return whether the file is not the requested one but another one with a reused inode number. An
 * inode number is free for another file once its file is unlinked and no longer mapped. The
 * generation distinguishes the two files. If the generation is not known or the file system does
 * not report it, the birth time of a file found by name is checked; map_files needs no such check.
 */
static bool is_successor(int fd, const struct open_request *r, bool by_name)
{
	/* The ioctl is declared with long but writes int: leave room for both. */
	unsigned int now[2] = {0};

	if (r->id.generation && ioctl(fd, FS_IOC_GETVERSION, now) == 0)
		return now[0] != (unsigned int)r->id.generation;
	return by_name && is_younger(fd, r->seen);
}

/*
 * Return fd if it is the mapped file or a negative errno; else close it and return -ESTALE.
 * by_name: the file was found by its path, not through map_files.
 */
static int check_identity(int fd, const struct open_request *r, bool by_name)
{
	struct file_id found;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		goto stale;
	found = (struct file_id){major(st.st_dev), minor(st.st_dev), st.st_ino, 0};
	if (!same_file_id(&found, &r->id) &&
	    (kernel_identity(fd, &found) < 0 || !same_file_id(&found, &r->id)))
		goto stale;
	if (is_successor(fd, r, by_name))
		goto stale;
	return fd;
stale:
	close(fd);
	return -ESTALE;
}

static int open_map_files(int process, const struct open_request *r)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, r->start, r->end);
	fd = openat(process, name, O_PATH | O_CLOEXEC);
	return check_identity(reopen_regular_file(fd < 0 ? -errno : fd), r, false);
}

/* Open the mapped file by its name below the root of a process, or the opener's own root (-1). */
static int open_by_path(int process, const struct open_request *r)
{
	size_t length = procfs_without_deleted(r->path);
	char path[OPENER_PATH_MAX];
	int root, fd;

	if (r->path[0] != '/')
		return -ENOENT;
	root = open_process_root(process);
	if (root < 0)
		return root;
	fd = check_identity(open_below(root, r->path, true), r, true);
	if (fd < 0 && r->path[length]) {
		/*
		 * The kernel appended " (deleted)" because this name was unlinked. In this root,
		 * the same path may still lead to the file, through another mount or a new link.
		 */
		snprintf(path, sizeof(path), "%.*s", (int)length, r->path);
		fd = check_identity(open_below(root, path, true), r, true);
	}
	close(root);
	return fd;
}

/*
 * Return the better result of two attempts to open a file: a descriptor, else the more informative
 * of two errors.
 */
static int better_outcome(int before, int now)
{
	if (now >= 0 || now == -ESTALE)
		return now;
	return before == -ENOENT ? now : before;
}

/*
 * Return whether theirs, the path as the process sees it, is the end of ours, the path as the
 * opener sees it.
 */
static bool same_path(const char *ours, const char *theirs)
{
	size_t a = procfs_without_deleted(ours), b = procfs_without_deleted(theirs);

	return a >= b && !memcmp(ours + a - b, theirs, b);
}

/*
 * If the identity of the mapped file is not known, take it from the process's own maps. Return 0,
 * or -ESTALE if the maps no longer have the file at this address, or the error that process is.
 */
static int resolve_identity(int process, struct open_request *r)
{
	char path[OPENER_PATH_MAX];

	if (r->id.inode)
		return 0;
	if (process < 0)
		return process;
	if (find_mapped_file(process, r->start, &r->id, path, sizeof(path)) < 0 || !r->id.inode ||
	    !same_path(path, r->path))
		return -ESTALE;
	return 0;
}

static int open_through_others(const struct open_request *r, int before)
{
	const size_t count = sizeof(r->fallback_pids) / sizeof(r->fallback_pids[0]);
	int fd = before;
	size_t i;

	for (i = 0; fd < 0 && i < count && r->fallback_pids[i]; i++) {
		int other = procfs_open(r->fallback_pids[i], 0);

		if (other < 0)
			continue;
		fd = better_outcome(fd, open_by_path(other, r));
		close(other);
	}
	return fd < 0 ? better_outcome(fd, open_by_path(-1, r)) : fd;
}

int opener_open_mapped(const struct open_request *request)
{
	struct open_request r = *request;
	int process = procfs_open(r.pid, r.born), fd;

	fd = resolve_identity(process, &r);
	if (fd < 0)
		goto out;
	fd = process;
	if (process >= 0)
		fd = open_map_files(process, &r);
	if (fd < 0 && process >= 0)
		fd = better_outcome(fd, open_by_path(process, &r));
	if (fd < 0)
		fd = open_through_others(&r, fd);
out:
	if (process >= 0)
		close(process);
	return fd;
}

/*
 * Return whether a user could read a file, without regard to its group. In a mount namespace of its
 * own, any user can put any file at any path; so a file that the process could not read itself is
 * not read for it.
 */
static bool may_read(const struct stat *st, uint32_t uid)
{
	return !uid || st->st_uid == uid || (st->st_mode & S_IROTH);
}

static int check_perf_map(int fd, uint32_t uid)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != uid && st.st_uid)
		return -EPERM;
	if (!may_read(&st, uid))
		return -EACCES;
	if (st.st_nlink != 1)
		return -EMLINK;
	return st.st_size > PERF_MAP_MAX ? -EFBIG : 0;
}

int opener_open_perf_map(const struct open_request *r)
{
	struct procfs_status status;
	char path[64];
	int process = procfs_open(r->pid, r->born), root = -1, fd = process, ret;

	if (process < 0)
		return process;
	ret = procfs_read_status(process, &status);
	if (ret < 0)
		goto out;
	ret = root = open_process_root(process);
	if (root < 0)
		goto out;
	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", status.ns_pid);
	ret = fd = open_below(root, path, false);
	if (fd < 0)
		goto out;
	ret = check_perf_map(fd, status.fsuid);
	if (ret < 0)
		close(fd);
	else
		ret = fd;
out:
	if (root >= 0)
		close(root);
	close(process);
	return ret;
}

int opener_open_memory(const struct open_request *r)
{
	int process = procfs_open(r->pid, r->born), fd;

	if (process < 0)
		return process;
	fd = openat(process, "mem", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(process);
	return fd;
}

int opener_open_named(const struct open_request *r)
{
	char path[OPENER_PATH_MAX];
	int root, fd;

	if (r->path[0] != '/')
		return -ENOENT;
	snprintf(path, sizeof(path), "%.*s", (int)procfs_without_deleted(r->path), r->path);
	root = open_process_root(-1);
	if (root < 0)
		return root;
	fd = open_below(root, path, true);
	close(root);
	return fd;
}

/*
 * Where a debug file is sought: in the root of the process, in the opener's own, and in that of the
 * first process, which a recorder in a container sees if it records the host.
 */
enum { ROOT_OF_PROCESS, ROOT_OF_OPENER, ROOT_OF_FIRST, ROOT_COUNT };

/* The candidates for a debug file found so far, each a different file. */
struct candidates {
	const struct open_request *request;
	/*
	 * fsuid of the process: only files that this user may read are taken; UINT32_MAX: not
	 * known, so only files that all users may read
	 */
	uint32_t uid;
	int roots[ROOT_COUNT]; /* -1: none */
	int *fds;
	unsigned int count;
};

static bool is_known_candidate(const struct candidates *c, const struct stat *st)
{
	const struct file_id *id = &c->request->id;
	struct stat other;
	unsigned int i;

	if (major(st->st_dev) == id->major && minor(st->st_dev) == id->minor &&
	    st->st_ino == id->inode)
		return true;
	for (i = 0; i < c->count; i++)
		if (!fstat(c->fds[i], &other) && other.st_dev == st->st_dev &&
		    other.st_ino == st->st_ino)
			return true;
	return false;
}

static void try_candidate(struct candidates *c, const char *path)
{
	struct stat st;
	size_t i;

	for (i = 0; i < ROOT_COUNT && c->count < OPENER_DEBUG_MAX; i++) {
		int fd = c->roots[i] < 0 ? -ENOENT : open_below(c->roots[i], path, true);

		if (fd < 0)
			continue;
		if (fstat(fd, &st) < 0 || !may_read(&st, c->uid) || is_known_candidate(c, &st))
			close(fd);
		else
			c->fds[c->count++] = fd;
	}
}

static void try_build_id(struct candidates *c)
{
	const char *id = c->request->build_id;
	char path[OPENER_BUILD_ID_MAX + 64];

	/*
	 * The first two digits name the directory. Characters that are not hex could lead
	 * elsewhere.
	 */
	if (strlen(id) < 3 || id[strspn(id, "0123456789abcdef")])
		return;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	try_candidate(c, path);
}

static void try_debuglink(struct candidates *c)
{
	static const char *const places[] = {"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s"};
	const char *path = c->request->path, *name = c->request->debuglink;
	const char *slash = strrchr(path, '/');
	char found[OPENER_PATH_MAX + OPENER_NAME_MAX + 64];
	size_t i;

	if (path[0] != '/' || !name[0] || strchr(name, '/') || !strcmp(name, ".."))
		return;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(found, sizeof(found), places[i], (int)(slash - path), path, name);
		try_candidate(c, found);
	}
}

/*
 * Try the path of dwz's common file. The name may contain directories, but cannot lead out of the
 * roots.
 */
static void try_common(struct candidates *c)
{
	char path[OPENER_NAME_MAX + 64];

	if (!c->request->debuglink[0])
		return;
	snprintf(path, sizeof(path), "/usr/lib/debug/.dwz/%s", c->request->debuglink);
	try_candidate(c, path);
}

/* Open the root of a process, and read its user. If the process has ended, *root stays -1. */
static void open_debug_root(uint32_t pid, uint64_t born, int *root, uint32_t *uid)
{
	struct procfs_status status = {.fsuid = UINT32_MAX};
	int process = procfs_open(pid, born);

	if (process < 0)
		return;
	(void)procfs_read_status(process, &status);
	*uid = status.fsuid;
	*root = open_process_root(process);
	close(process);
}

unsigned int opener_open_debug(const struct open_request *r, int fds[OPENER_DEBUG_MAX])
{
	struct candidates c = {.request = r, .uid = UINT32_MAX, .roots = {-1, -1, -1}, .fds = fds};
	uint32_t first_uid;
	size_t i;

	open_debug_root(r->pid, r->born, &c.roots[ROOT_OF_PROCESS], &c.uid);
	/*
	 * Names of a file are sought once. If the process that was seen first has ended, its parent
	 * usually has the same root.
	 */
	if (c.roots[ROOT_OF_PROCESS] < 0 && r->fallback_pids[0])
		open_debug_root(r->fallback_pids[0], 0, &c.roots[ROOT_OF_PROCESS], &c.uid);
	c.roots[ROOT_OF_OPENER] = open_process_root(-1);
	open_debug_root(1, 0, &c.roots[ROOT_OF_FIRST], &first_uid);
	try_build_id(&c);
	if (r->what == OPEN_COMMON)
		try_common(&c);
	else
		try_debuglink(&c);
	for (i = 0; i < ROOT_COUNT; i++)
		if (c.roots[i] >= 0)
			close(c.roots[i]);
	return c.count;
}
