// SPDX-License-Identifier: Apache-2.0
/*
 * Resolves a path inside the root of another process, step by step. openat2(RESOLVE_IN_ROOT) would
 * do it in one call, but its flags are in memory, which a system call filter cannot see: an opener
 * that is allowed to call it could open any file for writing.
 *
 * The owner of the directories can rename them and replace links during the walk. So every step is
 * one call that opens one name without following it, the text of a link is read from the very link
 * that was opened, and ".." returns to the directory through which the walk came, never to its
 * current parent: no step leaves the root. The caller checks that the result is the right file.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "capture/opener_wire.h"

/*
 * Limits: as many links as the kernel follows (40), and more directories and steps than any path of
 * a program has.
 */
#define LINKS_MAX 40
#define FOLDERS_MAX 256
#define STEPS_MAX 1024
#define ANY (O_PATH | O_NOFOLLOW | O_CLOEXEC)

struct path_walk {
	int root;
	int folders[FOLDERS_MAX]; /* directories that the walk came through, below the root */
	unsigned int depth; /* number of folders */
	unsigned int links, steps;
	char rest[2 * OPENER_PATH_MAX]; /* the part of the path that is not resolved yet */
};

static int current_folder(const struct path_walk *w)
{
	return w->depth ? w->folders[w->depth - 1] : w->root;
}

static void leave_folders(struct path_walk *w, unsigned int depth)
{
	while (w->depth > depth)
		close(w->folders[--w->depth]);
}

/* Insert the text of a link before the part of the path that is not resolved yet. Closes link. */
static int follow_link(struct path_walk *w, int link)
{
	char text[OPENER_PATH_MAX];
	size_t rest = strlen(w->rest) + 1;
	struct statfs fs;
	ssize_t n = -1;
	int ret = 0;

	/*
	 * Links of procfs, such as /proc/PID/root, lead out of every root; their texts are not
	 * paths.
	 */
	if (++w->links > LINKS_MAX || fstatfs(link, &fs) < 0 || fs.f_type == PROC_SUPER_MAGIC)
		ret = -ELOOP;
	else
		n = readlinkat(link, "", text, sizeof(text));
	if (!ret && n <= 0)
		ret = n < 0 ? -errno : -ENOENT;
	else if (!ret && ((size_t)n == sizeof(text) || (size_t)n + 1 + rest > sizeof(w->rest)))
		ret = -ENAMETOOLONG;
	close(link);
	if (ret)
		return ret;
	if (text[0] == '/')
		leave_folders(w, 0);
	memmove(w->rest + n + 1, w->rest, rest);
	memcpy(w->rest, text, (size_t)n);
	w->rest[n] = '/';
	return 0;
}

static int enter_folder(struct path_walk *w, int folder)
{
	if (w->depth == FOLDERS_MAX) {
		close(folder);
		return -ENAMETOOLONG;
	}
	w->folders[w->depth++] = folder;
	return 0;
}

/* Take the step through one name that is not the last one. Return 0 or a negative errno. */
static int walk_through_name(struct path_walk *w, const char *name, bool links)
{
	struct stat st;
	int fd;

	if (!strcmp(name, ".."))
		leave_folders(w, w->depth ? w->depth - 1 : 0);
	if (!strcmp(name, "..") || !strcmp(name, "."))
		return 0;
	/* Opening with O_DIRECTORY makes autofs mount the directory. */
	fd = openat(current_folder(w), name, ANY | O_DIRECTORY);
	if (fd >= 0)
		return enter_folder(w, fd);
	if (errno != ENOTDIR)
		return -errno;
	fd = openat(current_folder(w), name, ANY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISLNK(st.st_mode) && links)
		return follow_link(w, fd);
	close(fd);
	return links ? -ENOTDIR : -ELOOP;
}

/*
 * Open the last name. Return a descriptor, -EAGAIN if the name is a link whose text is now in
 * w->rest, or another negative errno.
 */
static int open_last_name(struct path_walk *w, const char *name, bool links)
{
	struct stat st;
	int fd, ret;

	if (!strcmp(name, "..") || !strcmp(name, "."))
		return -EISDIR;
	fd = openat(current_folder(w), name, ANY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISLNK(st.st_mode))
		return fd;
	if (!links) {
		close(fd);
		return -ELOOP;
	}
	ret = follow_link(w, fd);
	return ret ? ret : -EAGAIN;
}

/* Remove the next name from w->rest. Return false if there is none, or if it is too long. */
static bool next_name(struct path_walk *w, char name[OPENER_NAME_MAX + 1], bool *last)
{
	size_t skip = strspn(w->rest, "/"), length = strcspn(w->rest + skip, "/");
	size_t end = skip + length + strspn(w->rest + skip + length, "/");

	if (!length || length > OPENER_NAME_MAX)
		return false;
	memcpy(name, w->rest + skip, length);
	name[length] = '\0';
	*last = !w->rest[end];
	memmove(w->rest, w->rest + end, strlen(w->rest + end) + 1);
	return true;
}

static int walk_path(struct path_walk *w, bool links)
{
	char name[OPENER_NAME_MAX + 1];
	bool last;
	int ret = -EAGAIN;

	while (ret == -EAGAIN) {
		if (++w->steps > STEPS_MAX)
			return -ELOOP;
		if (!next_name(w, name, &last))
			return -ENOENT;
		ret = last ? open_last_name(w, name, links) : walk_through_name(w, name, links);
		if (!last && !ret)
			ret = -EAGAIN;
	}
	return ret;
}

int opener_walk(int root, const char *path, bool links)
{
	struct path_walk *w = malloc(sizeof(*w));
	size_t length = strlen(path);
	int ret;

	if (!w)
		return -ENOMEM;
	if (length >= OPENER_PATH_MAX) {
		free(w);
		return -ENAMETOOLONG;
	}
	w->root = root;
	w->depth = w->links = w->steps = 0;
	memcpy(w->rest, path, length + 1);
	ret = walk_path(w, links);
	leave_folders(w, 0);
	free(w);
	return ret;
}
