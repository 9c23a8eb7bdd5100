// SPDX-License-Identifier: Apache-2.0
/*
 * Find a folder for pages that other users can neither read nor change. Another user may have put
 * anything under a name in /tmp, so a folder is opened first, without following a link, and judged
 * and used by its descriptor afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"
#include "cmd/open.h"

struct open_user open_user_find(void)
{
	struct open_user user = {.uid = geteuid(), .gid = getegid()};
	uid_t uid;
	gid_t gid;

	if (outfile_invoker(&uid, &gid) && uid != user.uid)
		user = (struct open_user){uid, gid, true};
	return user;
}

/* Return whether the open folder is the user's own and closed to others. */
static bool is_private(int fd, const struct open_user *user)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == user->uid && !(st.st_mode & 077);
}

static int open_folder_at(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Return the descriptor of the session's own folder; negative if there is none to be used. */
static int open_session_folder(char **path, const struct open_user *user)
{
	const char *session = user->by_sudo ? NULL : getenv("XDG_RUNTIME_DIR");
	int fd, n;

	if (session && *session == '/')
		n = asprintf(path, "%s", session);
	else
		n = asprintf(path, "/run/user/%u", (unsigned int)user->uid);
	if (n < 0) {
		*path = NULL;
		return -ENOMEM;
	}
	fd = open_folder_at(*path);
	if (fd >= 0 && is_private(fd, user))
		return fd;
	if (fd >= 0)
		close(fd);
	free(*path);
	*path = NULL;
	return -ENOENT;
}

/* Create the folder in a folder that others may write to, or open the one of an earlier run. */
static int open_own_folder(char **path, const struct open_user *user, struct error *err)
{
	const char *parent = user->by_sudo ? NULL : getenv("TMPDIR");
	bool made;
	int fd;

	if (!parent || *parent != '/')
		parent = "/tmp";
	if (asprintf(path, "%s/skein-%u", parent, (unsigned int)user->uid) < 0) {
		*path = NULL;
		return error_errno(err, -ENOMEM, "cannot name a folder");
	}
	made = !mkdir(*path, 0700);
	if (!made && errno != EEXIST)
		return error_errno(err, -errno, "cannot create %s", *path);
	fd = open_folder_at(*path);
	if (fd == -ELOOP || fd == -ENOTDIR)
		return error_set(err, fd,
				 "%s is not a folder: somebody has put something else there",
				 *path);
	if (fd < 0)
		return error_errno(err, fd, "cannot open %s", *path);
	if (made && user->by_sudo)
		outfile_give_to_invoker(fd);
	if (is_private(fd, user))
		return fd;
	close(fd);
	return error_set(err, -EPERM,
			 "%s belongs to another user, or is open to others: remove it, or set "
			 "XDG_RUNTIME_DIR to a folder of your own",
			 *path);
}

int open_folder_find(struct open_folder *out, const struct open_user *user, struct error *err)
{
	char *path = NULL;
	int fd = open_session_folder(&path, user);

	if (fd < 0)
		fd = open_own_folder(&path, user, err);
	if (fd < 0) {
		free(path);
		return fd;
	}
	*out = (struct open_folder){fd, path};
	return 0;
}

void open_folder_close(struct open_folder *f)
{
	if (f->path)
		close(f->fd);
	free(f->path);
	*f = (struct open_folder){0};
}
