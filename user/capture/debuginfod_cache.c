// SPDX-License-Identifier: Apache-2.0
/*
 * The cache of files from debuginfod servers: one folder that only its owner may enter, with a file
 * for each build-id. A file gets its name only after its build-id was checked. The least recently
 * used files are removed beyond a budget.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/vector.h"
#include "capture/debuginfod_wire.h"

/* Bytes on disk that the cache may take, besides the file that was fetched last. */
#define CACHE_BYTES_MAX (4ull << 30)
/* Seconds after which unfinished files and folders count as left by a process that died. */
#define LEFT_AGE 3600

static const char *const suffixes[] = {
	[DEBUGINFOD_DEBUG] = ".debug", [DEBUGINFOD_EXECUTABLE] = ".exe"};

static void cached_name(char out[BUILD_ID_MAX + 16], const char *build_id,
			enum debuginfod_what what)
{
	snprintf(out, BUILD_ID_MAX + 16, "%.*s%s", BUILD_ID_MAX, build_id, suffixes[what]);
}

static int open_folder(const char *path)
{
	struct stat st;
	int fd;

	/* if this fails and there is no folder, open() fails as well */
	(void)mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077))
		return fd;
	close(fd);
	return -EPERM;
}

void debuginfod_remove_below(int at, const char *name, unsigned int depth)
{
	int fd = depth ? openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	DIR *all = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (fd >= 0 && !all)
		close(fd);
	while (all && (entry = readdir(all))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0 && (errno == EISDIR || errno == EPERM)) {
			debuginfod_remove_below(fd, entry->d_name, depth - 1);
			(void)unlinkat(fd, entry->d_name, AT_REMOVEDIR);
		}
	}
	if (all)
		closedir(all);
}

void debuginfod_cache_remove_folder(int folder, const char *name)
{
	debuginfod_remove_below(folder, name, FETCH_DEPTH);
	(void)unlinkat(folder, name, AT_REMOVEDIR);
}

static bool is_left(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_mtim.tv_sec + LEFT_AGE < time(NULL);
}

static DIR *list_folder(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *all = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !all)
		close(fd);
	return all;
}

static void remove_left(int folder)
{
	DIR *all = list_folder(folder);
	struct dirent *entry;

	while (all && (entry = readdir(all))) {
		bool file = !strncmp(entry->d_name, FETCH_NEW_PREFIX, strlen(FETCH_NEW_PREFIX));
		bool own =
			!strncmp(entry->d_name, FETCH_FOLDER_PREFIX, strlen(FETCH_FOLDER_PREFIX));

		if ((!file && !own) || !is_left(folder, entry->d_name))
			continue;
		if (file)
			(void)unlinkat(folder, entry->d_name, 0);
		else
			debuginfod_cache_remove_folder(folder, entry->d_name);
	}
	if (all)
		closedir(all);
}

int debuginfod_cache_open(const char *path, struct error *err)
{
	int folder = open_folder(path);

	if (folder == -EPERM)
		return error_set(err, folder,
				 "%s must be a folder of this user that nobody else may enter",
				 path);
	if (folder < 0)
		return error_errno(err, folder, "cannot use the folder %s", path);
	remove_left(folder);
	return folder;
}

int debuginfod_cache_get(int folder, const char *build_id, enum debuginfod_what what)
{
	const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
	char name[BUILD_ID_MAX + 16];
	struct stat st;
	int fd;

	cached_name(name, build_id, what);
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		close(fd);
		return -EBADMSG;
	}
	(void)futimens(fd, now); /* if this fails, the file is only removed too early */
	return fd;
}

int debuginfod_cache_create(int folder, char name[64])
{
	uint64_t random = 0;
	int fd;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint64_t)getpid();
	snprintf(name, 64, FETCH_NEW_PREFIX "%016llx", (unsigned long long)random);
	fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

struct kept_file {
	char name[BUILD_ID_MAX + 16];
	int64_t used; /* s of the wall clock */
	uint64_t bytes;
};

static int by_use(const void *a, const void *b)
{
	int64_t x = ((const struct kept_file *)a)->used, y = ((const struct kept_file *)b)->used;

	return (x > y) - (x < y);
}

/* Remove the least recently used files beyond the budget. */
static void trim_cache(int folder)
{
	VECTOR(struct kept_file) files = {0};
	DIR *all = list_folder(folder);
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while (all && (entry = readdir(all))) {
		struct kept_file f = {.used = 0};

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(f.name) ||
		    fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		strcpy(f.name, entry->d_name);
		f.used = st.st_mtim.tv_sec;
		f.bytes = (uint64_t)st.st_blocks * 512;
		bytes += f.bytes;
		if (vector_push(&files, f) < 0)
			break;
	}
	if (files.count)
		qsort(files.items, files.count, sizeof(*files.items), by_use);
	for (size_t i = 0; i + 1 < files.count && bytes > CACHE_BYTES_MAX; i++) {
		(void)unlinkat(folder, files.items[i].name, 0);
		bytes -= files.items[i].bytes;
	}
	vector_free(&files);
	if (all)
		closedir(all);
}

void debuginfod_cache_settle(int folder, const char *name, const char *build_id,
			     enum debuginfod_what what, bool right)
{
	char final[BUILD_ID_MAX + 16];

	cached_name(final, build_id, what);
	if (right && renameat(folder, name, folder, final) == 0)
		trim_cache(folder);
	else
		(void)unlinkat(folder, name, 0);
}

void debuginfod_cache_drop(int folder, const char *build_id, enum debuginfod_what what)
{
	char name[BUILD_ID_MAX + 16];

	cached_name(name, build_id, what);
	(void)unlinkat(folder, name, 0);
}
