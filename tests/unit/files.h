/* SPDX-License-Identifier: Apache-2.0 */
/* Files for tests: a temporary directory, shell commands in it, and files from memory. */
#ifndef SKEIN_TESTS_FILES_H
#define SKEIN_TESTS_FILES_H

#include <check.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES_UNUSED __attribute__((unused))

static char files_dir[64];
static pid_t files_owner;

static void files_remove(void)
{
	char command[128];

	if (getpid() != files_owner)
		return;
	snprintf(command, sizeof(command), "rm -rf %s", files_dir);
	if (system(command) != 0)
		perror(command);
}

/* Make the directory and change to it; it is removed when the test's process exits. */
static FILES_UNUSED void files_begin(void)
{
	strcpy(files_dir, "/tmp/skein-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(files_dir));
	ck_assert_int_eq(chmod(files_dir, 0755), 0);
	ck_assert_int_eq(chdir(files_dir), 0);
	files_owner = getpid();
	atexit(files_remove);
}

static FILES_UNUSED void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static FILES_UNUSED void shell(const char *format, ...)
{
	char command[4096];
	va_list args;

	va_start(args, format);
	ck_assert_int_lt(vsnprintf(command, sizeof(command), format, args), sizeof(command));
	va_end(args);
	ck_assert_msg(system(command) == 0, "%s", command);
}

static FILES_UNUSED void file_write(const char *path, const char *text, size_t size)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
}

static FILES_UNUSED int file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s", path);
	return fd;
}

static FILES_UNUSED int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
	return fd;
}

static FILES_UNUSED char *file_read(const char *path, size_t *size)
{
	int fd = file_open(path);
	struct stat st;
	char *bytes;

	ck_assert_int_eq(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size + 1);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_int_eq(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
	bytes[st.st_size] = '\0';
	*size = (size_t)st.st_size;
	close(fd);
	return bytes;
}

static FILES_UNUSED uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#endif
