// SPDX-License-Identifier: Apache-2.0
/* Lead a browser to an address that holds a secret (view_browser.h). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/view_browser.h"

#define NO_BROWSER 2 /* exit status of the child */
#define ADDRESS_MAX 4096

/* Wait for the page's address, and start the browser. Nothing comes if it is not wanted. */
static void wait_to_start(const struct open_user *user, int from)
{
	char address[ADDRESS_MAX];
	size_t size = 0;
	sigset_t none;
	ssize_t count;
	int ret;

	/* the browser would inherit what skein view has blocked */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	while (size < sizeof(address) - 1 &&
	       (count = read(from, address + size, sizeof(address) - 1 - size)) > 0)
		size += (size_t)count;
	address[size] = '\0';
	if (!size)
		_exit(1);
	ret = open_browser(user, address);
	_exit(!ret ? 0 : ret == -ENOENT ? NO_BROWSER : 1);
}

static int fork_starter(struct view_browser *b)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	b->child = fork();
	if (b->child == 0) {
		close(ends[1]);
		wait_to_start(&b->user, ends[0]);
	}
	close(ends[0]);
	b->start = ends[1];
	return b->child < 0 ? -errno : 0;
}

static int create_page(struct view_browser *b)
{
	int fd;

	if (asprintf(&b->name, "skein-view-%d.html", (int)getpid()) < 0) {
		b->name = NULL;
		return -ENOMEM;
	}
	unlinkat(b->folder.fd, b->name, 0); /* of an earlier process that was killed */
	fd = openat(b->folder.fd, b->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	if (fd < 0)
		return -errno;
	b->page = fdopen(fd, "w");
	if (!b->page) {
		close(fd);
		return -ENOMEM;
	}
	return b->user.by_sudo && fchown(fd, b->user.uid, b->user.gid) < 0 ? -errno : 0;
}

int view_browser_prepare(struct view_browser *b, struct error *err)
{
	int ret;

	*b = (struct view_browser){.folder = {.fd = -1}, .child = -1, .start = -1};
	b->user = open_user_find();
	ret = open_folder_find(&b->folder, &b->user, err);
	if (ret < 0)
		return ret;
	ret = create_page(b);
	if (!ret)
		ret = fork_starter(b);
	return ret < 0 ? error_errno(err, ret, "cannot prepare a page in %s", b->folder.path) : 0;
}

static int write_door(struct view_browser *b, const char *address)
{
	fprintf(b->page,
		"<!DOCTYPE html><meta charset=\"utf-8\"><title>skein view</title>"
		"<meta http-equiv=\"refresh\" content=\"0;url=%s\">"
		"<p>The page of skein view: <a href=\"%s\">open it</a>.\n",
		address, address);
	return fflush(b->page) ? -errno : 0;
}

int view_browser_show(struct view_browser *b, const char *address)
{
	int status, ret = write_door(b, address);

	if (ret < 0)
		return ret;
	if (dprintf(b->start, "file://%s/%s", b->folder.path, b->name) < 0)
		return -errno;
	close(b->start);
	b->start = -1;
	while (waitpid(b->child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	b->child = -1;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
		return -EIO;
	return WEXITSTATUS(status) == NO_BROWSER ? -ENOENT : 0;
}

void view_browser_end(struct view_browser *b)
{
	if (b->start >= 0)
		close(b->start);
	if (b->child > 0)
		waitpid(b->child, NULL, 0);
	/* the folder may be closed to this process by now; then the page stays, without the secret
	 */
	if (b->page) {
		if (ftruncate(fileno(b->page), 0) < 0)
			log_warn("the address stays in %s/%s", b->folder.path, b->name);
		fclose(b->page);
		unlinkat(b->folder.fd, b->name, 0);
	}
	if (b->folder.fd >= 0)
		open_folder_close(&b->folder);
	free(b->name);
}
