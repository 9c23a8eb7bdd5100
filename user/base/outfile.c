// SPDX-License-Identifier: Apache-2.0
/*
 * Output files. A new file is created next to the final name and renamed to it, so that a file that
 * another user may have put there (a link, a file held open) is replaced and never written to.
 * Devices and pipes are written to directly.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"

/*
 * Return an id from the environment that sudo sets. Return (uid_t)-1, which means "unchanged" to
 * fchown(), if there is none or if this process does not run as root.
 */
static uid_t sudo_id(const char *variable)
{
	const char *text = geteuid() == 0 ? getenv(variable) : NULL;
	unsigned long id;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return (uid_t)-1;
	errno = 0;
	id = strtoul(text, &end, 10);
	return errno || *end || id > UINT32_MAX ? (uid_t)-1 : (uid_t)id;
}

bool outfile_invoker(uid_t *uid, gid_t *gid)
{
	uid_t user = sudo_id("SUDO_UID"), group = sudo_id("SUDO_GID");

	if (user == (uid_t)-1 || group == (uid_t)-1)
		return false;
	*uid = user;
	*gid = (gid_t)group;
	return true;
}

void outfile_give_to_invoker(int fd)
{
	uid_t uid;
	gid_t gid;

	/* On failure the file belongs to root, who can still read it and change its owner. */
	if (outfile_invoker(&uid, &gid) && fchown(fd, uid, gid) < 0)
		return;
}

static bool trusted_owner(uid_t uid)
{
	return uid == 0 || uid == geteuid() || uid == sudo_id("SUDO_UID");
}

/* Return an error if the existing file must be neither replaced nor written to. */
static int check_existing(const char *path, const struct stat *st, struct error *err)
{
	if (S_ISLNK(st->st_mode))
		return error_set(err, -ELOOP, "%s is a symbolic link; name the file itself", path);
	if (S_ISDIR(st->st_mode))
		return error_set(err, -EISDIR, "%s is a directory", path);
	if (S_ISBLK(st->st_mode) || S_ISSOCK(st->st_mode))
		return error_set(err, -EINVAL, "%s is neither a file nor a pipe", path);
	if (!S_ISREG(st->st_mode) && !trusted_owner(st->st_uid))
		return error_set(err, -EPERM, "%s belongs to another user", path);
	return 0;
}

/* Open a device or pipe, and check that it still is the file that lstat() has returned. */
static int open_special(const char *path, const struct stat *seen, struct error *err)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return error_errno(err, -errno, "cannot open %s", path);
	if (!fstat(fd, &st) && st.st_dev == seen->st_dev && st.st_ino == seen->st_ino)
		return fd;
	close(fd);
	return error_set(err, -EAGAIN, "%s changed while it was opened", path);
}

/*
 * Open path if it is a device or a pipe. Otherwise create a file next to path; its name is then in
 * *temporary. Return the file descriptor or a negative errno.
 */
static int outfile_open_path(const char *path, char **temporary, struct error *err)
{
	struct stat st;
	int fd, r;

	if (!*path)
		return error_set(err, -EINVAL, "the name of the output file is empty");
	if (!lstat(path, &st)) {
		r = check_existing(path, &st, err);
		if (r < 0)
			return r;
		if (!S_ISREG(st.st_mode))
			return open_special(path, &st, err);
	}
	if (asprintf(temporary, "%s.XXXXXX", path) < 0) {
		*temporary = NULL;
		return error_errno(err, -ENOMEM, "cannot create %s", path);
	}
	fd = mkostemp(*temporary, O_CLOEXEC);
	if (fd >= 0)
		return fd;
	r = error_errno(err, -errno, "cannot create %s", path);
	free(*temporary);
	*temporary = NULL;
	return r;
}

static int outfile_open_stdout(struct outfile *f, bool binary, struct error *err)
{
	if (binary && isatty(STDOUT_FILENO))
		return error_set(err, -ENOTTY,
				 "binary data is not written to a terminal; name a file with -o");
	*f = (struct outfile){.stream = stdout};
	return 0;
}

int outfile_open(struct outfile *f, const char *path, bool binary, struct error *err)
{
	struct outfile new = {0};
	int fd, r;

	if (!strcmp(path, "-"))
		return outfile_open_stdout(f, binary, err);
	r = fd = outfile_open_path(path, &new.temporary, err);
	if (r < 0)
		goto out;
	new.path = strdup(path);
	new.stream = fdopen(fd, "w");
	if (!new.path || !new.stream) {
		r = error_errno(err, -ENOMEM, "cannot open %s", path);
		goto out;
	}
	*f = new;
	return 0;
out:
	if (fd >= 0 && !new.stream)
		close(fd);
	outfile_abort(&new);
	return r;
}

int outfile_flush(FILE *stream, const char *what, struct error *err)
{
	bool failed = ferror(stream);

	errno = 0;
	if (failed) /* stdio has lost the errno; another write should fail with the same errno */
		putc('\n', stream);
	if (!fflush(stream) && !failed)
		return 0;
	return error_errno(err, errno ? -errno : -EIO, "cannot write %s", what);
}

int outfile_close_memory(FILE *stream, char *const *text)
{
	return fclose(stream) || !*text ? -ENOMEM : 0;
}

int outfile_commit(struct outfile *f, struct error *err)
{
	const char *what = f->path ? f->path : "to stdout";
	int ret = outfile_flush(f->stream, what, err);

	if (ret < 0)
		goto out;
	if (f->stream != stdout) {
		FILE *stream = f->stream;

		if (f->temporary)
			outfile_give_to_invoker(fileno(stream));
		f->stream = NULL;
		if (fclose(stream) || (f->temporary && rename(f->temporary, f->path) < 0))
			ret = error_errno(err, -errno, "cannot write %s", what);
	}
	if (!ret) {
		free(f->temporary);
		f->temporary = NULL;
	}
out:
	outfile_abort(f);
	return ret;
}

void outfile_abort(struct outfile *f)
{
	if (f->stream && f->stream != stdout)
		fclose(f->stream);
	if (f->temporary)
		unlink(f->temporary);
	free(f->temporary);
	free(f->path);
	*f = (struct outfile){0};
}
