// SPDX-License-Identifier: Apache-2.0
/*
 * Copy a trace page by page, because this takes little longer than the disk needs: the recorder
 * waits for the copy.
 */
#include "trace/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "trace/sql.h"

char *copy_trace_name(const char *path, const char *mark)
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

int copy_trace_pages(sqlite3 *db, const char *path, sqlite3 **out, struct error *err)
{
	sqlite3 *to = NULL;
	int rc, ret = create_copy(path, err);

	if (ret < 0)
		return ret;
	rc = sqlite3_open_v2(path, &to,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
			     NULL);
	if (rc != SQLITE_OK)
		ret = sql_fail(to, rc, err, path);
	if (!ret)
		ret = sql_exec(to, "PRAGMA synchronous=OFF", err);
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

int copy_trace(sqlite3 *db, const char *path, const struct held_samples *held, struct error *err)
{
	sqlite3 *to = NULL;
	int ret = copy_trace_pages(db, path, &to, err);

	if (ret < 0)
		return ret;
	ret = set_host_end(to, held->end, err);
	if (ret == 0)
		ret = held_samples_write(held, to, err);
	sqlite3_close(to);
	if (ret < 0)
		unlink(path);
	return ret;
}
