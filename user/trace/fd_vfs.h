/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system for SQLite (https://sqlite.org/vfs.html) whose files are open descriptors, for a
 * process that may open no files. Files are read only, and have no journal and no locks: nobody may
 * be writing to them.
 */
#ifndef SKEIN_TRACE_FD_VFS_H
#define SKEIN_TRACE_FD_VFS_H

#include <stddef.h>

#define FD_VFS_NAME "skein-fd"

/* Make it known to SQLite, once. Any thread may call it. Return 0 or a code of SQLite. */
int fd_vfs_register(void);
/* Write the name of the file that a descriptor is. The descriptor stays the caller's. */
void fd_vfs_name(char *out, size_t size, int fd);

#endif
