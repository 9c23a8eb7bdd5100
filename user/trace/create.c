// SPDX-License-Identifier: Apache-2.0
/*
 * Make a new, empty trace file under its final name. The directory is resolved first, so that
 * SQLite can open the file with SQLITE_OPEN_NOFOLLOW; the file is created with O_EXCL, so that no
 * other user can put a file or link of the same name there first.
 */
#include "trace/create.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"

/* Position of SQLite's locks in a file: https://sqlite.org/src/file/src/os.h, PENDING_BYTE. */
#define LOCKS_START 0x40000000
#define LOCKS_SIZE 512

/* Fail with -EBUSY if a recorder holds the write lock of the file, which it holds until it ends. */
static int check_not_recording(const char *real, const char *path, struct error *err)
{
	struct flock lock = {.l_type = F_RDLCK,
			     .l_whence = SEEK_SET,
			     .l_start = LOCKS_START,
			     .l_len = LOCKS_SIZE};
	int fd = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int ret = 0;

	if (fd < 0)
		return 0; /* rename() will show whether the file can be replaced */
	if (!fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK)
		ret = error_set(err, -EBUSY, "%s is being written by another recording", path);
	close(fd);
	return ret;
}

static int rename_with_suffix(const char *real, const char *from, const char *to)
{
	char old[PATH_MAX], new[PATH_MAX];

	if (snprintf(old, sizeof(old), "%s%s", real, from) >= (int)sizeof(old) ||
	    snprintf(new, sizeof(new), "%s%s", real, to) >= (int)sizeof(new))
		return -ENAMETOOLONG;
	return rename(old, new) < 0 ? -errno : 0;
}

static int unlink_with_suffix(const char *real, const char *suffix)
{
	char name[PATH_MAX];

	if (snprintf(name, sizeof(name), "%s%s", real, suffix) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	return unlink(name) < 0 && errno != ENOENT ? -errno : 0;
}

/*
 * Rename a trace together with its journal, which a killed recorder may have left. from and to are
 * suffixes of real. A journal of the new name is removed.
 */
static int move_trace(const char *real, const char *from, const char *to)
{
	char journal_from[32], journal_to[32];
	int ret;

	snprintf(journal_from, sizeof(journal_from), "%s-journal", from);
	snprintf(journal_to, sizeof(journal_to), "%s-journal", to);
	ret = unlink_with_suffix(real, journal_to);
	if (ret < 0)
		return ret;
	ret = rename_with_suffix(real, journal_from, journal_to);
	if (ret < 0 && ret != -ENOENT)
		return ret;
	return rename_with_suffix(real, from, to);
}

/* Check whether a trace may get this name; *there: a file of this name exists. */
static int check_resolved_name(const char *real, const char *path, bool *there, struct error *err)
{
	struct stat st;

	*there = false;
	if (lstat(real, &st) < 0)
		return errno == ENOENT ? 0 : error_errno(err, -errno, "cannot write %s", path);
	if (S_ISLNK(st.st_mode))
		return error_set(err, -ELOOP, "%s is a symbolic link; name its target instead",
				 path);
	if (S_ISDIR(st.st_mode))
		return error_errno(err, -EISDIR, "cannot write %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "%s is not a regular file", path);
	*there = true;
	return check_not_recording(real, path, err);
}

static int rename_old_trace(struct new_file *f, const char *path, struct error *err)
{
	bool there;
	int ret = check_resolved_name(f->path, path, &there, err);

	if (ret < 0 || !there)
		return ret;
	ret = move_trace(f->path, "", ".old");
	if (ret < 0)
		return error_errno(err, ret, "cannot rename %s to %s.old", path, path);
	f->replaced = true;
	return 0;
}

int resolve_trace_path(char **out, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *copy = NULL, *directory = NULL;
	int ret = 0;

	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return error_errno(err, -EISDIR, "cannot write '%s'", path);
	copy = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	directory = copy ? realpath(copy, NULL) : NULL;
	if (!directory)
		ret = error_errno(err, -errno, "cannot write %s", path);
	else if (asprintf(out, "%s/%s", strcmp(directory, "/") ? directory : "", name) < 0)
		ret = error_set(err, -ENOMEM, "out of memory");
	free(copy);
	free(directory);
	return ret;
}

static int create_empty_trace(struct new_file *f, const char *path, struct error *err)
{
	int fd, ret = unlink_with_suffix(f->path, "-journal");

	if (ret < 0)
		return error_errno(err, ret, "cannot remove %s-journal", path);
	fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, -errno, "cannot write %s", path);
	outfile_give_to_invoker(fd);
	/*
	 * Close before SQLite opens the file: closing any descriptor of a file drops the process's
	 * POSIX locks on it.
	 */
	close(fd);
	return 0;
}

int create_trace_file(struct new_file *out, const char *path, struct error *err)
{
	struct new_file f = {0};
	int ret;

	ret = resolve_trace_path(&f.path, path, err);
	if (ret < 0)
		return ret;
	ret = rename_old_trace(&f, path, err);
	if (ret < 0)
		goto end;
	ret = create_empty_trace(&f, path, err);
	if (ret < 0 && f.replaced)
		move_trace(f.path, ".old", "");
	if (ret < 0)
		goto end;
	*out = f;
	f.path = NULL;
end:
	free(f.path);
	return ret;
}

int check_trace_name(const char *path, struct error *err)
{
	char *real = NULL;
	bool there;
	int ret = resolve_trace_path(&real, path, err);

	if (ret == 0)
		ret = check_resolved_name(real, path, &there, err);
	free(real);
	return ret;
}

int publish_trace_file(const char *made, const char *path, struct error *err)
{
	struct new_file f = {0};
	int ret = resolve_trace_path(&f.path, path, err);

	if (ret == 0)
		ret = rename_old_trace(&f, path, err);
	if (ret == 0 && rename(made, f.path) < 0) {
		ret = error_errno(err, -errno, "cannot rename %s to %s", made, path);
		if (f.replaced)
			move_trace(f.path, ".old", "");
	}
	free_trace_file(&f);
	return ret;
}

void undo_trace_file(struct new_file *f)
{
	unlink_with_suffix(f->path, "");
	unlink_with_suffix(f->path, "-journal");
	if (f->replaced)
		move_trace(f->path, ".old", "");
}

void free_trace_file(struct new_file *f)
{
	free(f->path);
	*f = (struct new_file){0};
}
