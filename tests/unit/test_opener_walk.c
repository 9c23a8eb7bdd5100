// SPDX-License-Identifier: Apache-2.0
/* opener_walk.c: where paths inside of a root lead, and that no path leads out of it. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "capture/opener_wire.h"
#include "files.h"
#include "suite.h"

static int root = -1;

static void make_file(const char *path, const char *content)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	close(fd);
}

/* Make a folder beside the root that no path may reach, and a tree in the root. */
static void begin(void)
{
	files_begin();
	ck_assert_int_eq(mkdir("root", 0755), 0);
	ck_assert_int_eq(mkdir("root/a", 0755), 0);
	ck_assert_int_eq(mkdir("root/a/b", 0755), 0);
	ck_assert_int_eq(mkdir("root/etc", 0755), 0);
	make_file("secret", "secret");
	make_file("root/file", "top");
	make_file("root/a/b/file", "deep");
	make_file("root/etc/secret", "inside");
	root = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(root, 0);
}

static void make_link(const char *to, const char *path)
{
	ck_assert_int_eq(symlink(to, path), 0);
}

/* Return the content of the file that the walk found; "" if it is not a regular file. */
static const char *content_of(int fd)
{
	static char text[64];
	char path[64];
	ssize_t n;
	int file;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = open(path, O_RDONLY | O_CLOEXEC);
	n = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	close(file);
	close(fd);
	return text;
}

static void expect(const char *path, const char *content)
{
	int fd = opener_walk(root, path, true);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(-fd));
	ck_assert_str_eq(content_of(fd), content);
}

static void expect_error(const char *path, int error)
{
	int fd = opener_walk(root, path, true);

	ck_assert_msg(fd == error, "%s: %d", path, fd);
}

static int open_descriptors(void)
{
	int first = dup(0), count = 0;

	close(first);
	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

START_TEST(names_and_dots)
{
	char path[5000] = "";
	int before;

	begin();
	before = open_descriptors();
	expect("/file", "top");
	expect("file", "top");
	expect("//a///b//file", "deep");
	expect("/a/./b/./file", "deep");
	expect("/a/../a/b/../b/file", "deep");
	expect("/../../../../file", "top");
	expect("../etc/../../etc/secret", "inside");
	expect_error("", -ENOENT);
	expect_error("/", -ENOENT);
	expect_error("/..", -EISDIR);
	expect_error("/missing", -ENOENT);
	expect_error("/missing/file", -ENOENT);
	expect_error("/file/file", -ENOTDIR);
	expect_error("/file/../file", -ENOTDIR);
	memset(path, 'x', 300);
	expect_error(path, -ENOENT);
	memset(path, '/', sizeof(path) - 1);
	expect_error(path, -ENAMETOOLONG);
	path[0] = '\0';
	for (int i = 0; i < 1000; i++)
		strcat(path, "a/..");
	expect_error(path, -ENOENT); /* the path is cut to "..a" */
	path[0] = '\0';
	for (int i = 0; i < 800; i++)
		strcat(path, "/a/.");
	expect_error(path, -ENOENT); /* the path is cut to a/a */
	path[0] = '\0';
	for (int i = 0; i < 800; i++)
		strcat(path, "a/../");
	expect_error(path, -ELOOP); /* too many steps */
	ck_assert_int_eq(open_descriptors(), before);
	close(root);
}
END_TEST

START_TEST(links)
{
	char path[64];
	int before;

	begin();
	make_link("/a/b/file", "root/absolute");
	make_link("b/file", "root/a/relative");
	make_link("../../../../../../secret", "root/a/escape");
	make_link("/secret", "root/nothing");
	make_link("../a/b", "root/etc/folder");
	make_link("/etc/folder/../../etc/secret", "root/through");
	make_link("loop", "root/loop");
	make_link("/proc/self/root/etc/passwd", "root/magic");
	make_link("link-1", "root/link-0");
	before = open_descriptors();
	expect("/absolute", "deep");
	expect("/a/relative", "deep");
	expect("/etc/folder/file", "deep");
	expect("/etc/folder/../b/file", "deep");
	expect("/through", "inside");
	expect_error("/a/escape", -ENOENT);
	expect_error("/nothing", -ENOENT);
	expect_error("/loop", -ELOOP);
	expect_error("/loop/file", -ELOOP);
	expect_error("/magic", -ENOENT); /* that root has no /proc */
	for (int i = 1; i < 50; i++) {
		char from[16];

		snprintf(path, sizeof(path), "root/link-%d", i);
		snprintf(from, sizeof(from), i == 49 ? "file" : "link-%d", i + 1);
		make_link(from, path);
	}
	expect_error("/link-0", -ELOOP);
	expect("/link-10", "top");
	ck_assert_int_eq(opener_walk(root, "/absolute", false), -ELOOP);
	ck_assert_int_eq(opener_walk(root, "/etc/folder/file", false), -ELOOP);
	ck_assert_str_eq(content_of(opener_walk(root, "/a/b/file", false)), "deep");
	ck_assert_int_eq(open_descriptors(), before);
	close(root);
}
END_TEST

/* The links of /proc/PID lead to files without a path. */
START_TEST(magic_links_are_not_followed)
{
	static const char *const paths[] = {
		"/proc/self/exe",  "/proc/self/root/etc/passwd", "/proc/self/cwd/secret",
		"/proc/self/fd/0", "/proc/thread-self/exe",
	};
	int fd;

	begin();
	close(root);
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		expect_error(paths[i], -ELOOP);
	fd = opener_walk(root, "/proc/meminfo", true);
	ck_assert_int_ge(fd, 0);
	close(fd);
	close(root);
}
END_TEST

static atomic_bool stop;

/* Exchange a folder with a link out of the root, and move another folder out and back. */
static void *exchange(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop)) {
		(void)syscall(SYS_renameat2, AT_FDCWD, "root/a", AT_FDCWD, "root/evil",
			      1 << 1); /* RENAME_EXCHANGE */
		(void)rename("root/x", "moved");
		(void)rename("moved", "root/x");
	}
	return NULL;
}

/* Folder x is moved beside the secret during the walk: ".." still ends at the root. */
START_TEST(nothing_leads_out_while_folders_move)
{
	static const char *const paths[] = {
		"/a/../secret", "/a/b/../../../secret", "/x/../secret",	   "/x/y/../../secret",
		"/a/secret",	"/evil/secret",		"/evil/../secret",
	};
	unsigned int found = 0;
	pthread_t thread;

	begin();
	ck_assert_int_eq(mkdir("root/x", 0755), 0);
	ck_assert_int_eq(mkdir("root/x/y", 0755), 0);
	make_link("../../../../../../../", "root/evil");
	ck_assert_int_eq(pthread_create(&thread, NULL, exchange, NULL), 0);
	for (int i = 0; i < 40000; i++) {
		int fd = opener_walk(root, paths[i % 7], true);

		if (fd >= 0)
			ck_assert_str_ne(content_of(fd), "secret");
		fd = opener_walk(root, i % 2 ? "/a/b/file" : "/x/../file", true);
		if (fd < 0)
			continue;
		found++;
		ck_assert_int_eq(strcmp(content_of(fd), i % 2 ? "deep" : "top"), 0);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	ck_assert_uint_gt(found, 100);
	close(root);
}
END_TEST

SUITE("opener walk", names_and_dots, links, magic_links_are_not_followed,
      nothing_leads_out_while_folders_move)
