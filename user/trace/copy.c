// SPDX-License-Identifier: Apache-2.0
/*
 * Copy a trace page by page, or the file of one that does not change for a while, because this
 * takes little longer than the disk needs.
 */
#include "trace/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "trace/sql.h"
#include "trace/trace.h"

/* Return NAME-MARK.skein for NAME.skein, which the caller frees; NULL: no memory. */
static char *copy_trace_name(const char *path, const char *mark)
{
	static const char ending[] = ".skein";
	size_t length = strlen(path), end = strlen(ending);
	char *out;

	if (length > end && !strcmp(path + length - end, ending))
		length -= end;
	return asprintf(&out, "%.*s-%s%s", (int)length, path, mark, ending) < 0 ? NULL : out;
}

static int create_copy(const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return error_errno(err, -errno, "cannot write %s", path);
	outfile_give_to_invoker(fd);
	close(fd);
	return 0;
}

static int copy_pages(sqlite3 *from, sqlite3 *to, const char *path, struct error *err)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
	int ret;

	if (!backup)
		return sql_fail(to, sqlite3_errcode(to), err, path);
	ret = sqlite3_backup_step(backup, -1);
	sqlite3_backup_finish(backup);
	return ret == SQLITE_DONE ? 0 : sql_fail(to, ret, err, path);
}

static int set_host_end(sqlite3 *to, uint64_t now, struct error *err)
{
	char *sql = sqlite3_mprintf("UPDATE host SET \"end\" = %lld WHERE \"end\" = 0",
				    (sqlite3_int64)now);
	int ret = sql ? sql_exec(to, sql, err) : error_set(err, -ENOMEM, "out of memory");

	sqlite3_free(sql);
	return ret;
}

/* Open the file of a copy. The caller closes *out, also on failure. */
static int open_copy(const char *path, sqlite3 **out, struct error *err)
{
	int rc = sqlite3_open_v2(path, out,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
				 NULL);

	return rc == SQLITE_OK ? sql_exec(*out, "PRAGMA synchronous=OFF", err)
			       : sql_fail(*out, rc, err, path);
}

int copy_trace_pages(sqlite3 *db, const char *path, sqlite3 **out, struct error *err)
{
	sqlite3 *to = NULL;
	int ret = create_copy(path, err);

	if (ret < 0)
		return ret;
	ret = open_copy(path, &to, err);
	if (!ret)
		ret = copy_pages(db, to, path, err);
	if (!ret) {
		*out = to;
		return 0;
	}
	sqlite3_close(to);
	unlink(path);
	return ret;
}

/* Append all bytes of a file to another. Where both can, the kernel copies, or shares them. */
static int copy_bytes(int from, int to)
{
	char block[1 << 16];
	ssize_t n;

	do
		n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0);
	while (n > 0);
	if (n == 0)
		return 0;
	/* It refuses, at the begin, two file systems of different kinds, such as tmpfs and a disk.
	 */
	while ((n = read(from, block, sizeof(block))) > 0)
		for (ssize_t done = 0, part; done < n; done += part) {
			part = write(to, block + done, (size_t)(n - done));
			if (part <= 0)
				return part ? -errno : -EIO;
		}
	return n < 0 ? -errno : 0;
}

static int copy_frozen_file(const struct frozen_trace *f, const char *path, struct error *err)
{
	int from = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int to = from < 0 ? -1 : open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	int ret = to < 0 ? -errno : copy_bytes(from, to);

	if (from >= 0)
		close(from);
	if (to >= 0 && close(to) < 0 && !ret)
		ret = -errno;
	return ret ? error_errno(err, ret, "cannot copy %s to %s", f->path, path) : 0;
}

/* Add what the copy has in addition. */
static int complete_copy(const struct frozen_trace *f, const char *path, struct error *err)
{
	sqlite3 *to = NULL;
	int ret = open_copy(path, &to, err);

	if (!ret)
		ret = set_host_end(to, f->held.end, err);
	if (!ret)
		ret = held_samples_write(&f->held, to, err);
	sqlite3_close(to);
	return ret;
}

int frozen_trace_copy(struct frozen_trace *f, const char *path, struct error *err)
{
	int ret = create_copy(path, err);
	const bool created = !ret;

	if (!ret)
		ret = copy_frozen_file(f, path, err);
	__atomic_store_n(&f->copied, true, __ATOMIC_RELEASE);
	if (!ret)
		ret = complete_copy(f, path, err);
	if (ret && created)
		unlink(path);
	return ret;
}

void frozen_trace_free(struct frozen_trace *f)
{
	vector_free(&f->held.list);
}

int trace_writer_copy(struct sink *s, const char *mark, uint64_t now, char **out, struct error *err)
{
	struct frozen_trace frozen;
	int ret = trace_writer_freeze(s, now, &frozen, err);
	char *path;

	if (ret)
		return ret;
	path = copy_trace_name(frozen.path, mark);
	ret = path ? frozen_trace_copy(&frozen, path, err)
		   : error_set(err, -ENOMEM, "out of memory");
	trace_writer_thaw(s);
	frozen_trace_free(&frozen);
	if (ret < 0)
		free(path);
	else
		*out = path;
	return ret;
}
