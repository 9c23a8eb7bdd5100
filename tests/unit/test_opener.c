// SPDX-License-Identifier: Apache-2.0
/*
 * The opener against real processes, of which some are hostile: forked children
 * that map files, change their root or namespaces, stop and die. Most need root;
 * the suite is skipped without it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/opener.h"
#include "capture/procfs.h"
#include "suite.h"

#define NS_PER_S 1000000000ULL
#define NAMES_MAX 512

/* What the opener has told. */
struct seen {
	unsigned int answers;
	struct open_answer answer; /* the last */
	int fds[8];
	unsigned int processes, threads, mappings, ends, done, named;
	uint32_t watched;		/* pid whose records are counted; 0: all */
	struct scanned_process process; /* the last */
	char comm[PROCFS_COMM_MAX], exe[OPENER_PATH_MAX], cgroup[OPENER_PATH_MAX];
	char wanted[OPENER_PATH_MAX]; /* path of a mapping to look for */
	struct scanned_mapping found;
};

static struct opener *opener;
static struct seen seen;
static char directory[] = "/tmp/skein-opener-XXXXXX";

static void on_opened(void *context, const struct open_answer *a)
{
	struct seen *s = context;

	if (a->fd >= 0 && s->answers < 8)
		s->fds[s->answers] = a->fd;
	s->answer = *a;
	s->answers++;
}

static void on_process(void *context, const struct scanned_process *p)
{
	struct seen *s = context;

	if (s->watched && p->pid != s->watched)
		return;
	s->processes++;
	s->process = *p;
	snprintf(s->comm, sizeof(s->comm), "%s", p->comm);
	snprintf(s->exe, sizeof(s->exe), "%s", p->exe);
	snprintf(s->cgroup, sizeof(s->cgroup), "%s", p->cgroup);
}

static void on_thread(void *context, const struct scanned_thread *t)
{
	struct seen *s = context;

	if (s->watched && t->pid != s->watched)
		return;
	s->threads++;
	s->named += !strcmp(t->comm, "a) R 1 (\nb");
}

static void on_mapping(void *context, const struct scanned_mapping *m)
{
	struct seen *s = context;

	if (s->watched && m->pid != s->watched)
		return;
	s->mappings++;
	if (s->wanted[0] && !strcmp(m->path, s->wanted))
		s->found = *m;
}

static void on_scanned(void *context, uint32_t pid)
{
	struct seen *s = context;

	if (!pid)
		s->done++;
	else if (!s->watched || pid == s->watched)
		s->ends++;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t skipped; /* ns that the opener is made to believe have passed */

static void poll_once(void)
{
	struct error err = {""};

	ck_assert_msg(opener_poll(opener, clock_ns(CLOCK_MONOTONIC) + skipped, &err) == 0, "%s",
		      err.text);
}

/* Poll until everything is answered. */
static void settle(void)
{
	struct pollfd p = {.fd = opener_fd(opener), .events = POLLIN};

	do
		poll_once();
	while (opener_pending(opener) && poll(&p, 1, 100) >= 0);
}

/* Let time pass, without waiting for it, until the opener is given up. */
static void lose_patience(void)
{
	uint64_t restarts = opener_restarts(opener);

	while (opener_restarts(opener) == restarts) {
		skipped += NS_PER_S / 2;
		poll_once();
	}
}

static void begin(void)
{
	static const struct opener_events events = {on_opened,	on_process, on_thread,
						    on_mapping, on_scanned, &seen};
	struct error err = {""};

	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_msg(opener_new(&opener, &events, &err) == 0, "%s", err.text);
}

static void end(void)
{
	char command[64];
	int status;

	opener_free(opener);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	status = system(command);
	ck_assert_int_eq(status, 0);
}

static void scan(uint32_t pid)
{
	char wanted[OPENER_PATH_MAX];

	memcpy(wanted, seen.wanted, sizeof(wanted));
	memset(&seen, 0, sizeof(seen));
	memcpy(seen.wanted, wanted, sizeof(wanted));
	seen.watched = pid;
	ck_assert_int_eq(opener_scan(opener, pid), 0);
	settle();
}

START_TEST(scan_of_self)
{
	char exe[OPENER_PATH_MAX] = "", cgroup[OPENER_PATH_MAX];
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY);

	begin();
	prctl(PR_SET_NAME, "a) R 1 (\nb");
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	ck_assert_int_gt(procfs_read(self, "cgroup", cgroup, sizeof(cgroup)), 0);
	strcpy(seen.wanted, exe);
	scan((uint32_t)getpid());
	ck_assert_uint_eq(seen.processes, 1);
	ck_assert_uint_eq(seen.threads, 1);
	ck_assert_uint_eq(seen.named, 1);
	ck_assert_uint_eq(seen.ends, 1);
	ck_assert_uint_eq(seen.done, 0);
	ck_assert_str_eq(seen.comm, "a) R 1 (\nb");
	ck_assert_str_eq(seen.exe, exe);
	ck_assert_str_eq(seen.cgroup, cgroup);
	ck_assert_uint_eq(seen.process.parent, (unsigned int)getppid());
	ck_assert_uint_eq(seen.process.ns_pid, (unsigned int)getpid());
	ck_assert(!seen.process.kernel_thread);
	ck_assert_uint_ne(seen.found.id.inode, 0);
	ck_assert(seen.found.start <= (uintptr_t)scan && seen.found.end > (uintptr_t)scan);
	end();
}
END_TEST

START_TEST(scan_of_all)
{
	begin();
	scan(0);
	ck_assert_uint_eq(seen.done, 1);
	ck_assert_uint_eq(seen.ends, seen.processes);
	ck_assert_uint_gt(seen.processes, 2);
	ck_assert_uint_ge(seen.threads, seen.processes);
	ck_assert_uint_eq(opener_restarts(opener), 0);
	/* Every scan that is asked for ends; those that have not begun are one. */
	seen.done = 0;
	opener_scan(opener, 0);
	opener_scan(opener, 0);
	opener_scan(opener, 0);
	settle();
	ck_assert_uint_eq(seen.done, 1);
	end();
}
END_TEST

/* A child in some role, and what it tells of itself. */
struct role {
	char path[OPENER_PATH_MAX]; /* file that it maps */
	char other[256];
	uint64_t start;
	uint32_t uid;
	bool ready;
};

static struct role *role;

static void *map_executable(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

static void make_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static pid_t spawn(void (*play)(void))
{
	struct timespec pause_for = {.tv_nsec = 1000000};
	pid_t pid;

	if (!role)
		role = mmap(NULL, sizeof(*role), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	role->ready = false;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		play();
		__atomic_store_n(&role->ready, true, __ATOMIC_RELEASE);
		for (;;)
			pause();
	}
	while (!__atomic_load_n(&role->ready, __ATOMIC_ACQUIRE)) {
		ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
		nanosleep(&pause_for, NULL);
	}
	return pid;
}

static void finish(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void play_mapper(void)
{
	role->start = (uintptr_t)map_executable(role->path);
	if (!role->start)
		_exit(1);
}

/* A child that has mapped directory/name with that content. */
static pid_t spawn_mapper(const char *name, const char *content)
{
	if (!role)
		role = mmap(NULL, sizeof(*role), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	snprintf(role->path, sizeof(role->path), "%s/%s", directory, name);
	make_file(role->path, content);
	return spawn(play_mapper);
}

static int ask(const struct open_request *r)
{
	memset(&seen, 0, sizeof(seen));
	ck_assert_int_eq(opener_open(opener, r), 0);
	settle();
	ck_assert_uint_ge(seen.answers, 1);
	ck_assert_uint_eq(seen.answer.token, r->token);
	ck_assert(!seen.answer.more);
	return seen.answer.fd;
}

/* The request for what the scan finds mapped under that path. */
static struct open_request request_of(pid_t pid, const char *path)
{
	struct open_request r = {.token = 7, .what = OPEN_MAPPED_FILE, .pid = (uint32_t)pid};

	snprintf(seen.wanted, sizeof(seen.wanted), "%s", path);
	scan((uint32_t)pid);
	ck_assert_msg(seen.found.id.inode, "%s is not mapped", path);
	r.born = seen.process.born;
	r.seen = clock_ns(CLOCK_BOOTTIME);
	r.start = seen.found.start;
	r.end = seen.found.end;
	r.id = seen.found.id;
	r.path = path;
	return r;
}

static void expect_content(int fd, const char *content)
{
	char buf[64] = "";
	struct stat st;

	ck_assert_msg(fd >= 0, "%s", strerror(-fd));
	ck_assert_int_eq(pread(fd, buf, sizeof(buf) - 1, 0), (int)strlen(content));
	ck_assert_str_eq(buf, content);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(seen.answer.inode, st.st_ino);
	ck_assert_uint_eq(seen.answer.device, st.st_dev);
	ck_assert_uint_eq(seen.answer.size, strlen(content));
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

/* The same without the range of the mapping: only the path leads there. */
static struct open_request by_path(struct open_request r)
{
	r.start = r.end = 0;
	return r;
}

START_TEST(mapped_file)
{
	struct open_request r, other;
	pid_t pid;

	begin();
	pid = spawn_mapper("file", "one");
	r = request_of(pid, role->path);
	expect_content(ask(&r), "one");
	other = by_path(r);
	expect_content(ask(&other), "one");
	other.id.inode++;
	ck_assert_int_eq(ask(&other), -ESTALE);
	other = r;
	other.id.minor++; /* also the mapping itself is asked whose it is */
	ck_assert_int_eq(ask(&other), -ESTALE);
	other = r;
	other.id = (struct file_id){0};
	expect_content(ask(&other), "one");
	other.path = "/bin/true";
	ck_assert_int_eq(ask(&other), -ESTALE);
	other = by_path(r);
	other.path = "relative";
	ck_assert_int_eq(ask(&other), -ENOENT);
	finish(pid);
	end();
}
END_TEST

START_TEST(another_generation)
{
	struct open_request r;
	unsigned long generation = 0;
	pid_t pid;
	int fd;

	begin();
	pid = spawn_mapper("file", "one");
	r = request_of(pid, role->path);
	fd = open(role->path, O_RDONLY);
	if (ioctl(fd, FS_IOC_GETVERSION, &generation) == 0) {
		r.id.generation = (unsigned int)generation + 1;
		ck_assert_int_eq(ask(&r), -ESTALE);
		r.id.generation = (unsigned int)generation;
	}
	close(fd);
	expect_content(ask(&r), "one");
	finish(pid);
	end();
}
END_TEST

START_TEST(deleted_and_replaced)
{
	char deleted[OPENER_PATH_MAX + 16], link_path[OPENER_PATH_MAX + 8];
	struct open_request r, other;
	pid_t pid;

	begin();
	pid = spawn_mapper("file", "old");
	snprintf(link_path, sizeof(link_path), "%s.link", role->path);
	ck_assert_int_eq(link(role->path, link_path), 0);
	ck_assert_int_eq(unlink(role->path), 0);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", role->path);
	r = request_of(pid, deleted);
	expect_content(ask(&r), "old");
	other = by_path(r);
	ck_assert_int_eq(ask(&other), -ENOENT);
	make_file(role->path, "new");
	expect_content(ask(&r), "old");
	ck_assert_int_eq(ask(&other), -ESTALE);
	/* The file itself under the name again: what follows the name does not matter. */
	ck_assert_int_eq(rename(link_path, role->path), 0);
	expect_content(ask(&other), "old");
	finish(pid);
	end();
}
END_TEST

START_TEST(process_gone)
{
	struct open_request r;
	pid_t pid;

	begin();
	pid = spawn_mapper("file", "one");
	r = request_of(pid, role->path);
	r.born += procfs_tick(); /* not this process: its mapping says nothing */
	expect_content(ask(&r), "one");
	ck_assert_int_eq(unlink(role->path), 0);
	ck_assert_int_eq(ask(&r), -ESRCH);
	r.born -= procfs_tick();
	expect_content(ask(&r), "one");
	finish(pid);
	ck_assert_int_eq(ask(&r), -ESRCH);
	usleep(30000);		      /* the file system's clock is coarse */
	make_file(role->path, "two"); /* as a rule with the same inode number */
	ck_assert_int_eq(ask(&r), -ESTALE);
	end();
}
END_TEST

/* A pid that is used again by another process, at the same path and address. */
START_TEST(pid_reused)
{
	struct open_request r;
	pid_t pid, again;
	FILE *last;

	begin();
	pid = spawn_mapper("file", "old");
	r = request_of(pid, role->path);
	finish(pid);
	ck_assert_int_eq(unlink(role->path), 0);
	usleep(30000);
	last = fopen("/proc/sys/kernel/ns_last_pid", "w");
	ck_assert_ptr_nonnull(last);
	fprintf(last, "%d", (int)pid - 1);
	fclose(last);
	again = spawn_mapper("file", "new");
	if (again == pid) {
		r.start = role->start;
		r.end = role->start + 4096;
		ck_assert_int_eq(ask(&r), -ESTALE);
		ck_assert_int_eq(unlink(role->path), 0);
		ck_assert_int_eq(ask(&r), -ESRCH);
	}
	finish(again);
	end();
}
END_TEST

static void play_jailed(void)
{
	if (chroot(role->other) < 0 || chdir("/") < 0)
		_exit(1);
	play_mapper();
	if (setresuid(role->uid, role->uid, role->uid) < 0)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Into buf: a path below the test's directory. */
static char *inside(char *buf, const char *path)
{
	snprintf(buf, OPENER_PATH_MAX, "%s%s", directory, path);
	return buf;
}

/* A child with the test's directory as its root, which has mapped /file. */
static pid_t spawn_jailed(uint32_t uid)
{
	char path[OPENER_PATH_MAX];

	role = mmap(NULL, sizeof(*role), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	chmod(directory, 0755);
	mkdir(inside(path, "/tmp"), 0777);
	chmod(path, 0777);
	make_file(inside(path, "/file"), "jail");
	strcpy(role->path, "/file");
	strcpy(role->other, directory);
	role->uid = uid;
	return spawn(play_jailed);
}

START_TEST(chrooted)
{
	struct open_request r;
	char path[OPENER_PATH_MAX];
	pid_t pid;

	begin();
	pid = spawn_jailed(0);
	r = request_of(pid, "/file");
	expect_content(ask(&r), "jail");
	r = by_path(r);
	expect_content(ask(&r), "jail");
	/* Symbolic links mean what they mean to the process, and cannot leave its root. */
	ck_assert_int_eq(symlink("/../../file", inside(path, "/up")), 0);
	ck_assert_int_eq(symlink("/etc/passwd", inside(path, "/passwd")), 0);
	ck_assert_int_eq(symlink("/proc/self/root/etc/passwd", inside(path, "/magic")), 0);
	r.path = "/up";
	expect_content(ask(&r), "jail");
	r.path = "/passwd";
	ck_assert_int_eq(ask(&r), -ENOENT);
	r.path = "/magic";
	ck_assert_int_eq(ask(&r), -ENOENT);
	finish(pid);
	end();
}
END_TEST

static void play_container(void)
{
	char path[2 * OPENER_PATH_MAX];
	pid_t inner;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, "") < 0 ||
	    mount("tmpfs", role->other, "tmpfs", 0, "") < 0)
		_exit(1);
	inner = fork();
	if (inner) {
		waitpid(inner, NULL, 0);
		_exit(1);
	}
	snprintf(path, sizeof(path), "%s/tmp", role->other);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/tmp/perf-1.map", role->other);
	make_file(path, "map of pid 1");
	snprintf(path, sizeof(path), "%s%s", role->other, role->path);
	make_file(path, "contained");
	if (chroot(role->other) < 0)
		_exit(1);
	play_mapper();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fork() == 0)
		for (;;)
			pause();
}

/* Children of a pid as the kernel lists them: the first. */
static pid_t child_of(pid_t pid)
{
	char path[64], text[256] = "";

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	procfs_read(AT_FDCWD, path, text, sizeof(text));
	return atoi(text);
}

START_TEST(mount_and_pid_namespace)
{
	struct open_request r;
	pid_t pid, inner;
	char path[OPENER_PATH_MAX];

	begin();
	role = mmap(NULL, sizeof(*role), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	strcpy(role->path, "/file");
	strcpy(role->other, directory);
	make_file(inside(path, "/file"), "host");
	pid = spawn(play_container);
	inner = child_of(pid);
	r = request_of(inner, "/file");
	ck_assert_uint_eq(seen.process.ns_pid, 1);
	expect_content(ask(&r), "contained");
	r = by_path(r);
	expect_content(ask(&r), "contained");
	r.what = OPEN_PERF_MAP;
	expect_content(ask(&r), "map of pid 1");
	/* A process that is gone, and another one that lives where it did. */
	r.what = OPEN_MAPPED_FILE;
	r.pid = (uint32_t)pid;
	r.born = 1;
	ck_assert_int_eq(ask(&r), -ESRCH);
	r.fallback_pids[0] = (uint32_t)getpid();
	r.fallback_pids[1] = (uint32_t)child_of(inner);
	expect_content(ask(&r), "contained");
	finish(pid);
	end();
}
END_TEST

static void play_overlay(void)
{
	char options[1024];

	snprintf(options, sizeof(options), "lowerdir=%s/low,upperdir=%s/a/up,workdir=%s/a/work",
		 role->other, role->other, role->other);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, "") < 0 ||
	    mount("overlay", role->path, "overlay", 0, options) < 0)
		_exit(errno == ENODEV ? 0 : 1);
	strcat(role->path, "/file");
	play_mapper();
}

/* fstat() on overlayfs gives numbers that the kernel's maps do not show. */
START_TEST(overlay)
{
	char path[OPENER_PATH_MAX];
	struct open_request r;
	pid_t pid;

	begin();
	role = mmap(NULL, sizeof(*role), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	mkdir(inside(path, "/low"), 0755);
	mkdir(inside(path, "/a"), 0755);
	ck_assert_int_eq(mount("tmpfs", path, "tmpfs", 0, ""), 0);
	mkdir(inside(path, "/a/up"), 0755);
	mkdir(inside(path, "/a/work"), 0755);
	mkdir(inside(path, "/merged"), 0755);
	make_file(inside(path, "/low/file"), "layer");
	strcpy(role->other, directory);
	inside(role->path, "/merged");
	pid = spawn(play_overlay);
	r = request_of(pid, role->path);
	expect_content(ask(&r), "layer");
	r = by_path(r);
	expect_content(ask(&r), "layer");
	r.id.inode += 1;
	ck_assert_int_eq(ask(&r), -ESTALE);
	finish(pid);
	ck_assert_int_eq(umount(inside(path, "/a")), 0);
	end();
}
END_TEST

static void make_other(const char *path, mode_t type)
{
	ck_assert_int_eq(mknod(path, type | 0666, makedev(1, 5) /* zero */), 0);
}

/* Anything but a regular file is refused without being opened, so without an effect on it. */
START_TEST(not_regular)
{
	static const mode_t types[] = {S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK};
	char path[OPENER_PATH_MAX];
	struct open_request r;
	pid_t pid;
	size_t i;

	begin();
	pid = spawn_mapper("file", "one");
	r = by_path(request_of(pid, role->path));
	r.path = directory;
	ck_assert_int_eq(ask(&r), -EINVAL);
	r.path = inside(path, "/other");
	for (i = 0; i < 4; i++) {
		make_other(path, types[i]);
		ck_assert_int_eq(ask(&r), -EINVAL);
		ck_assert_int_eq(unlink(path), 0);
	}
	finish(pid);
	end();
}
END_TEST

static int ask_perf_map(pid_t pid)
{
	struct open_request r = {.token = 1, .what = OPEN_PERF_MAP, .pid = (uint32_t)pid};

	return ask(&r);
}

/* Every way to lead to another file, or to one that is none. */
START_TEST(perf_maps)
{
	char map[OPENER_PATH_MAX], target[OPENER_PATH_MAX], name[64];
	pid_t pid;

	begin();
	pid = spawn_jailed(65534);
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)pid);
	inside(map, name);
	ck_assert_int_eq(ask_perf_map(pid), -ENOENT);
	make_other(map, S_IFIFO);
	ck_assert_int_eq(ask_perf_map(pid), -EINVAL);
	unlink(map);
	make_other(map, S_IFCHR);
	ck_assert_int_eq(ask_perf_map(pid), -EINVAL);
	unlink(map);
	make_other(map, S_IFSOCK);
	ck_assert_int_eq(ask_perf_map(pid), -EINVAL);
	unlink(map);
	mkdir(map, 0755);
	ck_assert_int_eq(ask_perf_map(pid), -EINVAL);
	rmdir(map);
	make_file(inside(target, "/target"), "secret");
	ck_assert_int_eq(symlink("/target", map), 0);
	ck_assert_int_eq(ask_perf_map(pid), -ELOOP);
	unlink(map);
	ck_assert_int_eq(link(target, map), 0);
	ck_assert_int_eq(ask_perf_map(pid), -EMLINK);
	unlink(map);

	make_file(map, "map");
	expect_content(ask_perf_map(pid), "map");
	ck_assert_int_eq(chown(map, 65534, 0), 0);
	ck_assert_int_eq(chmod(map, 0600), 0);
	expect_content(ask_perf_map(pid), "map");
	ck_assert_int_eq(chown(map, 0, 0), 0); /* root's, and nobody else's to read */
	ck_assert_int_eq(ask_perf_map(pid), -EACCES);
	ck_assert_int_eq(chown(map, 1234, 0), 0);
	ck_assert_int_eq(ask_perf_map(pid), -EPERM);
	ck_assert_int_eq(chown(map, 65534, 0), 0);
	ck_assert_int_eq(truncate(map, (256 << 20) + 1), 0);
	ck_assert_int_eq(ask_perf_map(pid), -EFBIG);

	ck_assert_int_eq(rename(inside(target, "/tmp"), inside(map, "/real")), 0);
	ck_assert_int_eq(symlink("/real", target), 0);
	ck_assert_int_eq(ask_perf_map(pid), -ELOOP);
	finish(pid);
	ck_assert_int_eq(ask_perf_map(pid), -ESRCH);
	end();
}
END_TEST

static void make_directories(const char *path)
{
	char command[OPENER_PATH_MAX + 32];
	int status;

	snprintf(command, sizeof(command), "mkdir -p %s", path);
	status = system(command);
	ck_assert_int_eq(status, 0);
}

START_TEST(debug_files)
{
	struct open_request r = {.token = 3,
				 .what = OPEN_DEBUG,
				 .build_id = "abcdef01",
				 .path = "/opt/program (deleted)",
				 .debuglink = "p.debug"};
	char path[OPENER_PATH_MAX], buf[8];
	pid_t pid;
	int i;

	begin();
	pid = spawn_jailed(65534);
	r.pid = (uint32_t)pid;
	ck_assert_int_eq(ask(&r), -ENOENT);
	make_directories(inside(path, "/usr/lib/debug/.build-id/ab"));
	make_directories(inside(path, "/usr/lib/debug/opt"));
	make_directories(inside(path, "/opt/.debug"));
	make_file(inside(path, "/usr/lib/debug/.build-id/ab/cdef01.debug"), "1");
	make_file(inside(path, "/opt/p.debug"), "2");
	make_file(inside(path, "/opt/.debug/p.debug"), "3");
	make_file(inside(path, "/usr/lib/debug/opt/p.debug"), "4");
	ask(&r);
	ck_assert_uint_eq(seen.answers, 4);
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(pread(seen.fds[i], buf, sizeof(buf), 0), 1);
		ck_assert_int_eq(buf[0], '1' + i);
		close(seen.fds[i]);
	}
	/* The same file twice is one candidate; what the process may not read is none. */
	unlink(inside(path, "/opt/.debug/p.debug"));
	ck_assert_int_eq(symlink("../p.debug", path), 0);
	ck_assert_int_eq(chmod(inside(path, "/usr/lib/debug/opt/p.debug"), 0600), 0);
	ask(&r);
	ck_assert_uint_eq(seen.answers, 2);
	/* Names that lead elsewhere. */
	r.build_id = "../opt/p.debug";
	r.debuglink = "../opt/p.debug";
	ck_assert_int_eq(ask(&r), -ENOENT);
	r.build_id = "ab";
	r.debuglink = "..";
	ck_assert_int_eq(ask(&r), -ENOENT);
	r.build_id = r.debuglink = r.path = NULL;
	ck_assert_int_eq(ask(&r), -ENOENT);
	finish(pid);
	end();
}
END_TEST

#define MANY 20000

static void play_many_mappings(void)
{
	char *at = mmap(NULL, 2 * MANY * 4096UL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	for (i = 0; i < MANY; i++)
		if (mprotect(at + 2 * i * 4096, 4096, PROT_READ | PROT_EXEC) < 0)
			_exit(1);
}

START_TEST(many_mappings)
{
	pid_t pid;

	begin();
	pid = spawn(play_many_mappings);
	scan((uint32_t)pid);
	ck_assert_uint_ge(seen.mappings, MANY);
	ck_assert_uint_eq(seen.ends, 1);
	ck_assert_uint_eq(opener_cut_short(opener), 0);
	finish(pid);
	end();
}
END_TEST

static void *sleep_on(void *unused)
{
	prctl(PR_SET_NAME, "a) R 1 (\nb");
	for (;;)
		pause();
	return unused;
}

static void play_threads(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < 500; i++)
		if (pthread_create(&thread, &attr, sleep_on, NULL))
			_exit(1);
	usleep(100000);
}

START_TEST(many_threads_of_a_stopped_process)
{
	pid_t pid;

	begin();
	pid = spawn(play_threads);
	kill(pid, SIGSTOP);
	scan((uint32_t)pid);
	ck_assert_uint_eq(seen.threads, 501);
	ck_assert_uint_eq(seen.named, 500);
	ck_assert_int_eq(ask_perf_map(pid), -ENOENT);
	finish(pid);
	end();
}
END_TEST

static void play_leader_gone(void)
{
	pthread_t thread;

	play_mapper();
	if (pthread_create(&thread, NULL, sleep_on, NULL))
		_exit(1);
	__atomic_store_n(&role->ready, true, __ATOMIC_RELEASE);
	syscall(SYS_exit, 0);
}

/* The main thread has exited: its /proc directory has neither mappings nor a root. */
START_TEST(main_thread_gone)
{
	struct open_request r;
	uint64_t born;
	pid_t pid;

	begin();
	role = mmap(NULL, sizeof(*role), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	make_file(inside(role->path, "/file"), "one");
	pid = spawn(play_leader_gone);
	usleep(50000);
	r = request_of(pid, role->path);
	born = seen.process.born;
	ck_assert_uint_eq(seen.process.pid, (unsigned int)pid);
	ck_assert_uint_eq(seen.threads, 2);
	ck_assert_uint_eq(unlink(role->path), 0);
	r.born = born;
	expect_content(ask(&r), "one");
	finish(pid);
	end();
}
END_TEST

/* Processes that come and go while they are told of. */
START_TEST(vanishing)
{
	int round;

	begin();
	for (round = 0; round < 50; round++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		ck_assert_int_eq(opener_scan(opener, (uint32_t)pid), 0);
		poll_once();
		waitpid(pid, NULL, 0);
		settle();
		scan((uint32_t)pid);
		ck_assert_uint_eq(seen.processes, 0);
		ck_assert_uint_eq(seen.ends, 1);
	}
	ck_assert_uint_eq(opener_cut_short(opener), 0);
	ck_assert_uint_eq(opener_restarts(opener), 0);
	end();
}
END_TEST

/* An opener that hangs costs the request it was busy with, and no other. */
START_TEST(hanging)
{
	struct open_request r;
	pid_t pid, old;
	int i;

	begin();
	pid = spawn_mapper("file", "one");
	r = request_of(pid, role->path);
	memset(&seen, 0, sizeof(seen));
	old = opener_pid(opener);
	kill(old, SIGSTOP);
	for (i = 0; i < 3; i++) {
		r.token = (uint64_t)i;
		r.pid = (uint32_t)(i ? getpid() : pid);
		r.born = 0;
		ck_assert_int_eq(opener_open(opener, &r), 0);
	}
	ck_assert_int_eq(opener_scan(opener, 0), 0);
	lose_patience();
	ck_assert_uint_ge(seen.answers, 1);
	settle();
	ck_assert_uint_eq(opener_restarts(opener), 1);
	ck_assert_int_ne(opener_pid(opener), old);
	ck_assert_int_eq(kill(old, 0), -1);
	ck_assert_uint_eq(seen.answers, 3);
	ck_assert_uint_eq(seen.answer.token, 2);
	expect_content(seen.answer.fd, "one");
	ck_assert_uint_eq(seen.done, 1);
	/* The process it was is left alone for a while. */
	r.token = 9;
	r.pid = (uint32_t)pid;
	ck_assert_int_eq(ask(&r), -ETIMEDOUT);
	skipped += 31 * NS_PER_S;
	expect_content(ask(&r), "one");
	ck_assert_uint_eq(opener_restarts(opener), 1);
	finish(pid);
	end();
}
END_TEST

/* A long time between two polls is our own: nobody is blamed for it. */
START_TEST(own_pause)
{
	struct open_request r;
	pid_t pid;

	begin();
	pid = spawn_mapper("file", "one");
	r = request_of(pid, role->path);
	memset(&seen, 0, sizeof(seen));
	kill(opener_pid(opener), SIGSTOP);
	ck_assert_int_eq(opener_open(opener, &r), 0);
	poll_once();
	skipped += 60 * NS_PER_S;
	poll_once();
	kill(opener_pid(opener), SIGCONT);
	settle();
	ck_assert_uint_eq(opener_restarts(opener), 0);
	expect_content(seen.answer.fd, "one");
	finish(pid);
	end();
}
END_TEST

/* A process that cannot be told of to its end is left out, the scan goes on behind it. */
START_TEST(hanging_scan)
{
	uint64_t denied;
	pid_t pid;

	begin();
	scan(0);
	denied = opener_cut_short(opener); /* maps that even root may not read */
	pid = spawn(play_many_mappings);
	memset(&seen, 0, sizeof(seen));
	seen.watched = (uint32_t)pid;
	ck_assert_int_eq(opener_scan(opener, 0), 0);
	while (!seen.mappings)
		poll_once();
	usleep(50000); /* now it waits for us to take what it tells of this process */
	kill(opener_pid(opener), SIGSTOP);
	lose_patience();
	settle();
	ck_assert_uint_eq(opener_restarts(opener), 1);
	ck_assert_uint_ge(opener_cut_short(opener), denied + 1);
	ck_assert_uint_le(opener_cut_short(opener), 2 * denied + 1);
	ck_assert_uint_eq(seen.processes, 1);
	ck_assert_uint_lt(seen.mappings, MANY);
	ck_assert_uint_eq(seen.ends, 1);
	ck_assert_uint_eq(seen.done, 1);
	finish(pid);
	end();
}
END_TEST

START_TEST(killed)
{
	struct open_request r;
	pid_t pid;
	int i;

	begin();
	pid = spawn_mapper("file", "one");
	r = request_of(pid, role->path);
	for (i = 0; i < 3; i++) {
		kill(opener_pid(opener), SIGSTOP);
		memset(&seen, 0, sizeof(seen));
		ck_assert_int_eq(opener_open(opener, &r), 0);
		poll_once();
		kill(opener_pid(opener), SIGKILL);
		settle();
		expect_content(seen.answer.fd, "one");
	}
	ck_assert_uint_eq(opener_restarts(opener), 3);
	finish(pid);
	end();
}
END_TEST

/* More than fits: the queue has a bound, the recorder is told, and nothing waits. */
START_TEST(flood)
{
	struct open_request r = {.what = OPEN_DEBUG, .path = "/nonexistent", .pid = 1};
	unsigned int asked = 0;
	int result;

	begin();
	kill(opener_pid(opener), SIGSTOP);
	while ((result = opener_open(opener, &r)) == 0) {
		asked++;
		if (asked % 1000 == 0)
			poll_once();
	}
	ck_assert_int_eq(result, -ENOBUFS);
	ck_assert_uint_gt(asked, 10000);
	ck_assert_uint_eq(opener_pending(opener), asked);
	kill(opener_pid(opener), SIGCONT);
	settle();
	ck_assert_uint_eq(seen.answers, asked);
	end();
}
END_TEST

START_TEST(refused_requests)
{
	static char path[OPENER_PATH_MAX + 1], name[OPENER_PATH_MAX];
	struct open_request r = {.what = OPEN_MAPPED_FILE, .path = path};

	begin();
	memset(path, 'a', sizeof(path) - 1);
	memset(name, 'a', 256);
	ck_assert_int_eq(opener_open(opener, &r), -ENAMETOOLONG);
	r.path = "/";
	r.debuglink = name;
	ck_assert_int_eq(opener_open(opener, &r), -ENAMETOOLONG);
	r.debuglink = NULL;
	r.build_id = name;
	ck_assert_int_eq(opener_open(opener, &r), -ENAMETOOLONG);
	ck_assert_uint_eq(opener_pending(opener), 0);
	path[OPENER_PATH_MAX - 1] = '\0';
	path[0] = '/';
	r = (struct open_request){.what = OPEN_MAPPED_FILE, .path = path, .id = {1, 1, 1, 0}};
	ck_assert_int_eq(ask(&r), -ESRCH);
	end();
}
END_TEST

START_TEST(out_of_descriptors)
{
	struct open_request r;
	struct rlimit limit;
	pid_t pid;
	int fd;

	begin();
	pid = spawn_mapper("file", "one");
	r = request_of(pid, role->path);
	getrlimit(RLIMIT_NOFILE, &limit);
	fd = dup(0);
	close(fd);
	limit.rlim_cur = (rlim_t)fd;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(ask(&r), -EMFILE);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	expect_content(ask(&r), "one");
	finish(pid);
	end();
}
END_TEST

static unsigned int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned int n = 0;

	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* What the child is: named, with nothing open but its socket, and gone when we are. */
START_TEST(the_child)
{
	char path[64], comm[32];
	int out[2], i;
	pid_t pid, child;

	begin();
	scan((uint32_t)getpid());
	snprintf(path, sizeof(path), "/proc/%d/comm", opener_pid(opener));
	procfs_read(AT_FDCWD, path, comm, sizeof(comm));
	ck_assert_str_eq(comm, "skein-opener\n");
	snprintf(path, sizeof(path), "/proc/%d/fd", opener_pid(opener));
	ck_assert_uint_eq(count_entries(path), 1);
	end();
	ck_assert_int_eq(pipe(out), 0);
	child = fork();
	if (child == 0) {
		strcpy(strrchr(directory, '-'), "-XXXXXX");
		begin();
		i = opener_pid(opener);
		rmdir(directory);
		_exit(write(out[1], &i, sizeof(i)) < 0);
	}
	ck_assert_int_eq(read(out[0], &pid, sizeof(pid)), sizeof(pid));
	waitpid(child, NULL, 0);
	for (i = 0; i < 5000 && kill(pid, 0) == 0; i++)
		usleep(1000);
	ck_assert_int_eq(kill(pid, 0), -1);
}
END_TEST

/* Mount a FUSE file system that is served through the descriptor returned, or not. */
static int mount_fuse(const char *path)
{
	char options[128];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fd);
	if (mount("skein-test", path, "fuse", 0, options) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Answer the greeting, then take requests and never answer: their senders cannot be killed. */
static void serve_never(int fd)
{
	static char buf[1 << 17];
	struct fuse_in_header *in = (struct fuse_in_header *)buf;
	struct {
		struct fuse_out_header header;
		struct fuse_init_out init;
	} out = {.header = {.len = sizeof(out)},
		 .init = {.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION}};

	while (read(fd, buf, sizeof(buf)) > 0) {
		out.header.unique = in->unique;
		if (in->opcode == FUSE_INIT && write(fd, &out, sizeof(out)) < 0)
			break;
	}
	_exit(0);
}

static void hang_on_fuse(bool served)
{
	char file[OPENER_PATH_MAX], path[OPENER_PATH_MAX];
	struct open_request r, bad;
	pid_t pid, server = -1;
	int fd, i;

	begin();
	mkdir(inside(path, "/fuse"), 0755);
	fd = mount_fuse(path);
	if (fd < 0) {
		end();
		return; /* this machine has no FUSE */
	}
	if (served) {
		server = fork();
		if (server == 0)
			serve_never(fd);
		close(fd);
	}
	pid = spawn_mapper("file", "one");
	r = request_of(pid, role->path);
	bad = by_path(r);
	bad.pid = (uint32_t)getpid();
	bad.born = 0;
	bad.path = inside(file, "/fuse/file");
	memset(&seen, 0, sizeof(seen));
	ck_assert_int_eq(opener_open(opener, &bad), 0);
	ck_assert_int_eq(opener_open(opener, &r), 0);
	poll_once();
	for (i = 0; i < 20; i++, usleep(10000))
		poll_once();
	ck_assert_uint_eq(seen.answers, 0);
	lose_patience();
	ck_assert_int_eq(opener_restarts(opener), 1);
	settle();
	ck_assert_uint_eq(seen.answers, 2);
	expect_content(seen.answer.fd, "one");
	finish(pid);
	if (served)
		finish(server);
	else
		close(fd);
	ck_assert_int_eq(umount2(path, MNT_DETACH), 0);
	end();
}

START_TEST(fuse_without_server)
{
	hang_on_fuse(false);
}
END_TEST

START_TEST(fuse_that_takes_and_does_not_answer)
{
	hang_on_fuse(true);
}
END_TEST

SUITE("opener", scan_of_self, scan_of_all, mapped_file, another_generation, deleted_and_replaced,
      process_gone, pid_reused, chrooted, mount_and_pid_namespace, overlay, not_regular, perf_maps,
      debug_files, many_mappings, many_threads_of_a_stopped_process, main_thread_gone, vanishing,
      hanging, own_pause, hanging_scan, killed, flood, refused_requests, out_of_descriptors,
      the_child, fuse_without_server, fuse_that_takes_and_does_not_answer)
