/* SPDX-License-Identifier: Apache-2.0 */
/* For skein open: the folder of a user that lasts as long as a session, and the user's browser. */
#ifndef SKEIN_CMD_OPEN_H
#define SKEIN_CMD_OPEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* The owner of page and browser: the user who ran sudo, else the user of this process. */
struct open_user {
	uid_t uid;
	gid_t gid;
	bool by_sudo; /* this process is root's, and the user is another one */
};

/* A folder that only the user can read or change. */
struct open_folder {
	int fd;
	char *path;
};

struct open_user open_user_find(void);

/*
 * Open the runtime folder of the user: $XDG_RUNTIME_DIR, with sudo /run/user/UID, if it is the
 * user's own and closed to others; else skein-UID in $TMPDIR (with sudo not: in /tmp), which is
 * created with mode 0700. Return 0 and a folder to close, or a negative errno with the cause in
 * *err, as when another user has made a folder or a link of that name.
 */
int open_folder_find(struct open_folder *out, const struct open_user *user, struct error *err);
void open_folder_close(struct open_folder *f);

/*
 * Start $BROWSER or xdg-open, as the user, with the address as its argument. Return 0 when it runs
 * or has ended well, -ENOENT if there is none or no display for it, else another negative errno.
 */
int open_browser(const struct open_user *user, const char *address);

#endif
