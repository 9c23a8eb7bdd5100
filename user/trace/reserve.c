// SPDX-License-Identifier: Apache-2.0
/*
 * Keep the reserve as an unnamed file: the file system frees its blocks when the file is closed,
 * even if the recorder is killed, and the blocks never become part of the trace.
 */
#include "trace/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Bytes for the last rows and for the copies of their pages in the journal: the rows of host, info
 * and event, and for each CPU one row of account and some of loss, of less than 64 bytes each.
 */
#define RESERVE_BYTES (32 << 10)
#define RESERVE_CPU_BYTES 512

/*
 * For file systems without O_TMPFILE: make a named file beside the trace and unlink it at once.
 * Return a descriptor or a negative errno.
 */
static int open_named(const char *path)
{
	char name[4096];
	int fd;

	if (snprintf(name, sizeof(name), "%s-XXXXXX", path) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd;

	if (!folder)
		return -ENOMEM;
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(folder);
	return fd < 0 ? open_named(path) : fd;
}

int reserve_take(struct reserve *r, const char *path, struct error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = RESERVE_BYTES + (cpus > 0 ? (uint64_t)cpus : 1) * RESERVE_CPU_BYTES;
	int fd = open_nameless(path), ret;

	if (fd < 0)
		return error_errno(err, fd, "cannot write in the folder of %s", path);
	ret = -posix_fallocate(fd, 0, (off_t)bytes);
	if (ret < 0) {
		close(fd);
		return error_errno(err, ret, "no room for %s, nor for the %llu KiB of its end",
				   path, (unsigned long long)bytes >> 10);
	}
	*r = (struct reserve){fd, bytes};
	return 0;
}

void reserve_release(struct reserve *r)
{
	if (r->bytes)
		close(r->fd);
	*r = (struct reserve){0};
}
