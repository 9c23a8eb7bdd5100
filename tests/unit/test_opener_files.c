// SPDX-License-Identifier: Apache-2.0
/* Files that the opener hands out or refuses, for hostile processes. */
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

#include "targets.h"

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
	other.id.minor++; /* the identity of the mapping itself is checked as well */
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
	char deleted[300], link_path[300];
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
	/* The same file under the name again: text after the name does not matter. */
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
	r.born += procfs_tick(); /* the process does not match, so its mapping is not compared */
	expect_content(ask(&r), "one");
	ck_assert_int_eq(unlink(role->path), 0);
	ck_assert_int_eq(ask(&r), -ESRCH);
	r.born -= procfs_tick();
	expect_content(ask(&r), "one");
	finish(pid);
	ck_assert_int_eq(ask(&r), -ESRCH);
	usleep(30000); /* the file system's clock is coarse */
	make_file(role->path, "two"); /* usually gets the same inode number */
	ck_assert_int_eq(ask(&r), -ESTALE);
	end();
}
END_TEST

/* Another process reuses a pid, with a mapping at the same path and address. */
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

/* Start a child with the test's directory as its root, which maps /file. */
static pid_t spawn_jailed(uint32_t uid)
{
	char path[256];

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
	char path[256];
	pid_t pid;

	begin();
	pid = spawn_jailed(0);
	r = request_of(pid, "/file");
	expect_content(ask(&r), "jail");
	r = by_path(r);
	expect_content(ask(&r), "jail");
	/* Symbolic links are resolved as in the process, and cannot leave its root. */
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
	char path[600];
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

/* Return the first child of a pid in the kernel's list. */
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
	char path[256];

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
	/* The process is gone; another one in the same namespace takes its place. */
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

/* On overlayfs, fstat() returns other numbers than the kernel shows in /proc/PID/maps. */
START_TEST(overlay)
{
	char path[256];
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
	ck_assert_int_eq(mknod(path, type | 0666, makedev(1, 5) /* the device /dev/zero */), 0);
}

/* A file that is not regular is refused without being opened, and so not changed. */
START_TEST(not_regular)
{
	static const mode_t types[] = {S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK};
	char path[256];
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

/* All ways to lead to another file, or to something that is not a file. */
START_TEST(perf_maps)
{
	char map[256], target[256], name[64];
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
	ck_assert_int_eq(chown(map, 0, 0), 0); /* readable by root only */
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
	char command[300];
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
	char path[256], buf[8];
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
	/*
	 * The same file under two names is one candidate; a file that the process may not read is
	 * none.
	 */
	unlink(inside(path, "/opt/.debug/p.debug"));
	ck_assert_int_eq(symlink("../p.debug", path), 0);
	ck_assert_int_eq(chmod(inside(path, "/usr/lib/debug/opt/p.debug"), 0600), 0);
	ask(&r);
	ck_assert_uint_eq(seen.answers, 2);
	/* These names lead to other folders. */
	r.build_id = "../opt/p.debug";
	r.debuglink = "../opt/p.debug";
	ck_assert_int_eq(ask(&r), -ENOENT);
	r.build_id = "ab";
	r.debuglink = "..";
	ck_assert_int_eq(ask(&r), -ENOENT);
	r.build_id = r.debuglink = r.path = NULL;
	ck_assert_int_eq(ask(&r), -ENOENT);
	finish(pid);
	/* A process that has ended: its parent's root is searched. */
	r.build_id = "abcdef01";
	ck_assert_int_eq(ask(&r), -ENOENT);
	unlink(inside(path, "/file"));
	pid = spawn_jailed(65534);
	r.fallback_pids[0] = (uint32_t)pid;
	ask(&r);
	ck_assert_uint_eq(seen.answers, 1);
	close(seen.fds[0]);
	finish(pid);
	end();
}
END_TEST

/* Tests with other users' processes, other roots and namespaces: skipped without root. */
int main(void)
{
	const TTest *const tests[] = {mapped_file,
				      another_generation,
				      deleted_and_replaced,
				      process_gone,
				      pid_reused,
				      chrooted,
				      mount_and_pid_namespace,
				      overlay,
				      not_regular,
				      perf_maps,
				      debug_files};

	if (geteuid()) {
		puts("skipped: needs root");
		return 0;
	}
	return suite_run("opener files", tests, sizeof(tests) / sizeof(tests[0]));
}
