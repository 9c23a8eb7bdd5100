// SPDX-License-Identifier: Apache-2.0
/* Files of SQLite that are open descriptors (fd_vfs.h). */
#include "trace/fd_vfs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#define PREFIX "fd-"

struct fd_file {
	sqlite3_file file;
	int fd;
};

void fd_vfs_name(char *out, size_t size, int fd)
{
	snprintf(out, size, PREFIX "%d", fd);
}

static int fd_close(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

/* What lies behind the end of the file reads as zeros, as SQLite expects of a short read. */
static int fd_read(sqlite3_file *file, void *out, int size, sqlite3_int64 offset)
{
	const struct fd_file *f = (const struct fd_file *)file;
	int done = 0;

	while (done < size) {
		ssize_t bytes =
			pread(f->fd, (char *)out + done, (size_t)(size - done), offset + done);

		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes < 0)
			return SQLITE_IOERR_READ;
		if (!bytes) {
			memset((char *)out + done, 0, (size_t)(size - done));
			return SQLITE_IOERR_SHORT_READ;
		}
		done += (int)bytes;
	}
	return SQLITE_OK;
}

static int fd_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset)
{
	(void)file;
	(void)data;
	(void)size;
	(void)offset;
	return SQLITE_READONLY;
}

static int fd_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file;
	(void)size;
	return SQLITE_READONLY;
}

static int fd_flags(sqlite3_file *file, int flags)
{
	(void)file;
	(void)flags;
	return SQLITE_OK;
}

static int fd_size(sqlite3_file *file, sqlite3_int64 *out)
{
	struct stat st;

	if (fstat(((struct fd_file *)file)->fd, &st) < 0)
		return SQLITE_IOERR_FSTAT;
	*out = st.st_size;
	return SQLITE_OK;
}

static int fd_check_lock(sqlite3_file *file, int *out)
{
	(void)file;
	*out = 0;
	return SQLITE_OK;
}

static int fd_control(sqlite3_file *file, int operation, void *argument)
{
	(void)file;
	(void)operation;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int fd_number(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static const sqlite3_io_methods fd_methods = {
	.iVersion = 1,
	.xClose = fd_close,
	.xRead = fd_read,
	.xWrite = fd_write,
	.xTruncate = fd_truncate,
	.xSync = fd_flags,
	.xFileSize = fd_size,
	.xLock = fd_flags,
	.xUnlock = fd_flags,
	.xCheckReservedLock = fd_check_lock,
	.xFileControl = fd_control,
	.xSectorSize = fd_number,
	.xDeviceCharacteristics = fd_number,
};

static int fd_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	struct fd_file *f = (struct fd_file *)file;

	(void)vfs;
	file->pMethods = NULL;
	if (!name || strncmp(name, PREFIX, strlen(PREFIX)) != 0 || !(flags & SQLITE_OPEN_MAIN_DB) ||
	    !(flags & SQLITE_OPEN_READONLY))
		return SQLITE_CANTOPEN;
	f->fd = atoi(name + strlen(PREFIX));
	file->pMethods = &fd_methods;
	if (out)
		*out = flags;
	return SQLITE_OK;
}

static int fd_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_READONLY;
}

/* There are no other files: no journal. */
static int fd_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*out = 0;
	return SQLITE_OK;
}

static int fd_full_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	(void)vfs;
	sqlite3_snprintf(size, out, "%s", name);
	return SQLITE_OK;
}

static sqlite3_vfs fd_vfs;
static int registered = SQLITE_ERROR;

static void register_fd_vfs(void)
{
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	if (!usual)
		return;
	fd_vfs = *usual; /* for its clock and random numbers */
	fd_vfs.iVersion = 1;
	fd_vfs.szOsFile = sizeof(struct fd_file);
	fd_vfs.pNext = NULL;
	fd_vfs.zName = FD_VFS_NAME;
	fd_vfs.xOpen = fd_open;
	fd_vfs.xDelete = fd_delete;
	fd_vfs.xAccess = fd_access;
	fd_vfs.xFullPathname = fd_full_name;
	registered = sqlite3_vfs_register(&fd_vfs, 0);
}

int fd_vfs_register(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_fd_vfs);
	return registered;
}
