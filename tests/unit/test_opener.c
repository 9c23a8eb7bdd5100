// SPDX-License-Identifier: Apache-2.0
/* The opener's reports about processes, and its life cycle: hanging, dying, flooding, starving. */
#include <dirent.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "targets.h"

START_TEST(scan_of_self)
{
	char exe[OPENER_PATH_MAX] = "";

	begin();
	prctl(PR_SET_NAME, "a) R 1 (\nb");
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	strcpy(seen.wanted, exe);
	scan((uint32_t)getpid());
	ck_assert_uint_eq(seen.processes, 1);
	ck_assert_uint_eq(seen.threads, 1);
	ck_assert_uint_eq(seen.named, 1);
	ck_assert_uint_eq(seen.ends, 1);
	ck_assert_uint_eq(seen.done, 0);
	ck_assert_str_eq(seen.comm, "a) R 1 (\nb");
	ck_assert_str_eq(seen.exe, exe);
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
	/* Every requested scan ends; scans that have not begun are merged into one. */
	seen.done = 0;
	opener_scan(opener, 0);
	opener_scan(opener, 0);
	opener_scan(opener, 0);
	settle();
	ck_assert_uint_eq(seen.done, 1);
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

/* The main thread has exited: the process's /proc directory has neither mappings nor a root. */
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

/* Processes start and end during a scan. */
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

/* A hanging opener fails the request that it was busy with, and no other. */
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
	/* The process of that request is left alone for a while. */
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

/* A long time between two polls is the recorder's own: no request is failed for it. */
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

/* A process that cannot be scanned to its end is left out; the scan continues after it. */
START_TEST(hanging_scan)
{
	uint64_t denied;
	pid_t pid;

	begin();
	scan(0);
	denied = opener_cut_short(opener); /* mappings that even root may not read */
	pid = spawn(play_many_mappings);
	memset(&seen, 0, sizeof(seen));
	seen.watched = (uint32_t)pid;
	ck_assert_int_eq(opener_scan(opener, 0), 0);
	while (!seen.mappings)
		poll_once();
	/* now the opener waits until the recorder takes the mappings of this process */
	usleep(50000);
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

/* With too many requests, the bounded queue reports an error, and nothing blocks. */
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

/*
 * Properties of the child: named, with no descriptor open except its socket, and gone when the
 * recorder is.
 */
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
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ck_assert_int_eq(pipe(out), 0);
	child = fork();
	if (child == 0) {
		strcpy(strrchr(directory, '-'), "-XXXXXX");
		begin();
		scan((uint32_t)getpid()); /* the opener has completed its setup once it replies */
		i = opener_pid(opener);
		kill(i, SIGSTOP); /* it cannot see that its socket was closed */
		rmdir(directory);
		_exit(write(out[1], &i, sizeof(i)) < 0);
	}
	ck_assert_int_eq(read(out[0], &pid, sizeof(pid)), sizeof(pid));
	waitpid(child, NULL, 0);
	ck_assert_int_eq(waitpid(pid, &i, 0), pid);
	ck_assert(WIFSIGNALED(i) && WTERMSIG(i) == SIGKILL);
}
END_TEST

/* Mount a FUSE file system, served through the returned descriptor; -1 on error. */
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

/* Reply to the first request, then never reply: the senders of requests cannot be killed. */
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
	char file[256], path[256];
	struct open_request r, bad;
	pid_t pid, server = -1;
	int fd, i;

	begin();
	mkdir(inside(path, "/fuse"), 0755);
	fd = mount_fuse(path);
	if (fd < 0) {
		end();
		return; /* skip: this machine has no FUSE */
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

/* Reply to each request with -EREMOTE, an error by which openers mean something. */
static void serve_remote(int fd)
{
	static char buf[1 << 17];
	struct fuse_in_header *in = (struct fuse_in_header *)buf;
	struct {
		struct fuse_out_header header;
		struct fuse_init_out init;
	} out = {.init = {.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION}};

	while (read(fd, buf, sizeof(buf)) > 0) {
		bool init = in->opcode == FUSE_INIT;

		out.header = (struct fuse_out_header){
			.len = init ? sizeof(out) : sizeof(out.header),
			.error = init ? 0 : -EREMOTE,
			.unique = in->unique,
		};
		if (in->opcode != FUSE_FORGET && write(fd, &out, out.header.len) < 0 && init)
			break;
	}
	_exit(0);
}

static void play_remote_root(void)
{
	char path[256];

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(inside(path, "/fuse"), "/tmp", NULL, MS_BIND, NULL))
		_exit(1);
}

/*
 * The file system under a process's /tmp chooses the error of open(2). It must not look like the
 * opener's own -EREMOTE, which would move the perf maps of all users to the second opener.
 */
START_TEST(fuse_that_chooses_the_error)
{
	pid_t pid, server;
	char path[256];
	int fd;

	begin();
	mkdir(inside(path, "/fuse"), 0755);
	fd = mount_fuse(path);
	if (fd < 0) {
		end();
		return; /* skip: this machine has no FUSE */
	}
	server = fork();
	if (server == 0)
		serve_remote(fd);
	close(fd);
	pid = spawn(play_remote_root);
	ck_assert_int_eq(ask_perf_map(pid), -EIO);
	ck_assert_int_eq(opener_restarts(opener), 0);
	finish(pid);
	ck_assert_int_eq(umount2(inside(path, "/fuse"), MNT_DETACH), 0);
	finish(server);
	end();
}
END_TEST

/* Tests with other users' processes, other roots and namespaces: skipped without root. */
int main(void)
{
	const TTest *const tests[] = {scan_of_self,
				      scan_of_all,
				      many_mappings,
				      many_threads_of_a_stopped_process,
				      main_thread_gone,
				      vanishing,
				      hanging,
				      own_pause,
				      hanging_scan,
				      killed,
				      flood,
				      refused_requests,
				      out_of_descriptors,
				      the_child,
				      fuse_without_server,
				      fuse_that_takes_and_does_not_answer,
				      fuse_that_chooses_the_error};

	if (geteuid()) {
		puts("skipped: needs root");
		return 0;
	}
	return suite_run("opener", tests, sizeof(tests) / sizeof(tests[0]));
}
