// SPDX-License-Identifier: Apache-2.0
/* Parsing of /proc texts: literal ones, hostile ones, and those of the running kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "capture/procfs.h"
#include "suite.h"

#define TAIL " S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 12345 1 2"

START_TEST(stat_fields)
{
	struct procfs_stat s;

	ck_assert_int_eq(procfs_parse_stat("42 (cat)" TAIL, &s), 0);
	ck_assert_uint_eq(s.pid, 42);
	ck_assert_uint_eq(s.parent, 7);
	ck_assert_int_eq(s.state, 'S');
	ck_assert_uint_eq(s.threads, 3);
	ck_assert_uint_eq(s.born, 12345 * procfs_tick());
	ck_assert(!s.kernel_thread);
	ck_assert_str_eq(s.comm, "cat");
	ck_assert_int_eq(
		procfs_parse_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 0 0 1 0 9 0",
				  &s),
		0);
	ck_assert(s.kernel_thread);
}
END_TEST

START_TEST(stat_bad)
{
	static const char *const bad[] = {
		"",
		"1",
		"1 (x",
		"1 x) S 1",
		"1 )x( S 1 2 3",
		"1 (x)",
		"1 (x) ",
		"1 (x) S 1 2",
		"1 (x) S 1 1 1 0 -1 y 1 2 3 4 5 6 7 8 20 0 3 0 12345 1 2",
	};
	struct procfs_stat s = {.pid = 99};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(procfs_parse_stat(bad[i], &s), -EINVAL);
	ck_assert_uint_eq(s.pid, 99);
}
END_TEST

/* Return what is read from a statm file with that text. */
static int read_statm(const char *text, uint64_t *bytes)
{
	char dir[] = "/tmp/statm-XXXXXX";
	int fd, file, ret;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	file = openat(fd, "statm", O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(write(file, text, strlen(text)), (int)strlen(text));
	close(file);
	ret = procfs_read_resident(fd, bytes);
	unlinkat(fd, "statm", 0);
	rmdir(dir);
	close(fd);
	return ret;
}

START_TEST(statm)
{
	uint64_t bytes = 99, page = (uint64_t)sysconf(_SC_PAGESIZE);
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY);

	ck_assert_int_eq(read_statm("", &bytes), -EINVAL);
	ck_assert_int_eq(read_statm("100", &bytes), -EINVAL);
	ck_assert_int_eq(procfs_read_resident(-1, &bytes), -ESRCH);
	ck_assert_uint_eq(bytes, 99);
	ck_assert_int_eq(read_statm("100 42 7 1 0 30 0\n", &bytes), 0);
	ck_assert_uint_eq(bytes, 42 * page);
	ck_assert_int_eq(procfs_read_resident(self, &bytes), 0);
	ck_assert_uint_gt(bytes, 100 << 10);
	ck_assert_uint_lt(bytes, 10ULL << 30);
	close(self);
}
END_TEST

/* The kernel's own text for names that look like the text around them. */
START_TEST(stat_hostile_comm)
{
	static const char *const names[] = {"a) R 1 2 (b",
					    "x\ny)\n",
					    "back\\slash\\n",
					    "(((",
					    ")))",
					    " ",
					    "\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\",
					    "\n\n\n\n\n\n"};
	struct procfs_stat s;
	struct timespec boot;
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY);
	uint64_t now;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		prctl(PR_SET_NAME, names[i]);
		ck_assert_int_eq(procfs_read_stat(self, &s), 0);
		ck_assert_str_eq(s.comm, names[i]);
		ck_assert_uint_eq(s.pid, (unsigned int)getpid());
		ck_assert_uint_eq(s.parent, (unsigned int)getppid());
		ck_assert_int_eq(s.state, 'R');
	}
	clock_gettime(CLOCK_BOOTTIME, &boot);
	now = (uint64_t)boot.tv_sec * 1000000000 + (uint64_t)boot.tv_nsec;
	ck_assert(s.born <= now && now - s.born < 60000000000);
	close(self);
}
END_TEST

START_TEST(status)
{
	struct procfs_status s = {0};
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY);

	procfs_parse_status("Name:\tNStgid:\\t5", &s);
	ck_assert_uint_eq(s.ns_pid, 0);
	procfs_parse_status("NStgid:\t500\t17\t1", &s);
	ck_assert_uint_eq(s.ns_pid, 1);
	procfs_parse_status("Uid:\t1\t2\t3\t4", &s);
	ck_assert_uint_eq(s.fsuid, 4);
	procfs_parse_status("Tgid:\t500", &s);
	ck_assert_uint_eq(s.pid, 500);
	procfs_parse_status("NStgid:", &s);
	procfs_parse_status("", &s);
	ck_assert_int_eq(procfs_read_status(self, &s), 0);
	ck_assert_uint_eq(s.pid, (unsigned int)getpid());
	ck_assert_uint_eq(s.fsuid, geteuid());
	close(self);
}
END_TEST

START_TEST(mapping_lines)
{
	char file[] = "7f00-7fff r-xp 00001000 fe:01 4242            /usr/lib/a b\\012c\\040d";
	char anonymous[] = "400000-401000 rwxp 00000000 00:00 0 ";
	char vdso[] = "7ffc8b3fe000-7ffc8b400000 r-xp 00000000 00:00 0                  [vdso]";
	static const char *const bad[] = {"",
					  "zz",
					  "1-",
					  "1-2",
					  "1-2 r",
					  "1-2 r-xp",
					  "1-2 r-xp ",
					  "1-2 r-xp 0",
					  "1-2 r-xp 0 fe",
					  "1-2 r-xp 0 fe:01",
					  "1-2 r-xpp 0 0:0 0"};
	struct procfs_mapping m;
	char line[64];
	size_t i;

	ck_assert(procfs_parse_mapping(file, &m));
	ck_assert_uint_eq(m.start, 0x7f00);
	ck_assert_uint_eq(m.end, 0x7fff);
	ck_assert_uint_eq(m.offset, 0x1000);
	ck_assert_uint_eq(m.major, 0xfe);
	ck_assert_uint_eq(m.minor, 1);
	ck_assert_uint_eq(m.inode, 4242);
	ck_assert(m.executable);
	ck_assert_str_eq(m.path, "/usr/lib/a b\nc\\040d");
	ck_assert(procfs_parse_mapping(anonymous, &m));
	ck_assert_str_eq(m.path, "");
	ck_assert(procfs_parse_mapping(vdso, &m));
	ck_assert_str_eq(m.path, "[vdso]");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		strcpy(line, bad[i]);
		ck_assert_msg(!procfs_parse_mapping(line, &m), "'%s'", bad[i]);
	}
}
END_TEST

/* A mapped file whose name has a newline. */
START_TEST(mapping_of_self)
{
	char path[] = "/tmp/skein\nprocfs-XXXXXX", *line;
	struct procfs_lines lines;
	struct procfs_mapping m;
	int fd = mkstemp(path), maps;
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	bool found = false;

	ck_assert_ptr_ne(at, MAP_FAILED);
	maps = open("/proc/self/maps", O_RDONLY);
	procfs_lines_init(&lines, maps);
	while ((line = procfs_line(&lines))) {
		ck_assert(procfs_parse_mapping(line, &m));
		found |= m.start == (uintptr_t)at && m.executable && !strcmp(m.path, path);
	}
	ck_assert(found);
	ck_assert_int_eq(lines.error, 0);
	unlink(path);
	close(maps);
	close(fd);
}
END_TEST

START_TEST(unescape)
{
	char text[] = "a\\040b\\134\\011\\9\\08\\";

	procfs_unescape(text);
	ck_assert_str_eq(text, "a b\\\t\\9\\08\\");
	ck_assert_uint_eq(procfs_without_deleted("/a (deleted)"), 2);
	ck_assert_uint_eq(procfs_without_deleted("/a (deleted) "), 13);
	ck_assert_uint_eq(procfs_without_deleted(" (deleted)"), 10);
	ck_assert_uint_eq(procfs_without_deleted(""), 0);
}
END_TEST

/* Lines of lengths around that of the buffer; a line after a cut one is complete. */
START_TEST(long_lines)
{
	static struct procfs_lines lines;
	size_t length;
	char *line;

	for (length = PROCFS_LINE_MAX - 3; length < 3 * PROCFS_LINE_MAX; length += length / 7) {
		FILE *f = tmpfile();
		size_t i;

		fputs("first\n\n", f);
		for (i = 0; i < length; i++)
			fputc('x', f);
		fputs("\nlast", f);
		rewind(f);
		procfs_lines_init(&lines, fileno(f));
		ck_assert_str_eq(procfs_line(&lines), "first");
		ck_assert_str_eq(procfs_line(&lines), "");
		line = procfs_line(&lines);
		i = length < PROCFS_LINE_MAX - 1 ? length : PROCFS_LINE_MAX - 1;
		ck_assert_uint_eq(strspn(line, "x"), i);
		ck_assert_uint_eq(strlen(line), i);
		ck_assert_str_eq(procfs_line(&lines), "last");
		ck_assert_ptr_null(procfs_line(&lines));
		ck_assert_ptr_null(procfs_line(&lines));
		fclose(f);
	}
}
END_TEST

SUITE("procfs", stat_fields, stat_bad, statm, stat_hostile_comm, status, mapping_lines,
      mapping_of_self, unescape, long_lines)
