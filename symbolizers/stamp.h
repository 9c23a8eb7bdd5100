/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detect by size and modification time that a file was changed after its stamp was taken.
 */
#ifndef SKEIN_SYMBOLIZERS_STAMP_H
#define SKEIN_SYMBOLIZERS_STAMP_H

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

struct stamp {
	uint64_t size; /* bytes */
	int64_t mtime; /* time of the last modification, in ns since 1970 */
};

struct heartbeat;

/* An open file. Results from it are only used if stamp_check() succeeds after reading. */
struct stamped_file {
	int fd; /* -1: the file is not open, or not any more */
	struct stamp stamp; /* taken when the client added the file */
	struct heartbeat *heartbeat; /* sent while the file is read; may be NULL */
};

/* Read the stamp of the file open as fd. Return 0 or a negative errno. */
static inline int stamp_of(int fd, struct stamp *out)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*out = (struct stamp){
		.size = (uint64_t)st.st_size,
		.mtime = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
	};
	return 0;
}

/* Return 0, -ESTALE if size or mtime differ from the stamp, or another negative errno. */
static inline int stamp_check(int fd, const struct stamp *stamp)
{
	struct stamp now = {0};
	int ret = stamp_of(fd, &now);

	if (ret < 0)
		return ret;
	return now.size == stamp->size && now.mtime == stamp->mtime ? 0 : -ESTALE;
}

#endif
