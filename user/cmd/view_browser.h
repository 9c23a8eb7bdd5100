/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lead a browser to an address that holds a secret, which must not be in any process's arguments:
 * by a page that only its user can read. What needs privileges is done before they are dropped: the
 * page is created, and a child process waits to start the browser.
 */
#ifndef SKEIN_CMD_VIEW_BROWSER_H
#define SKEIN_CMD_VIEW_BROWSER_H

#include <stdio.h>
#include <sys/types.h>

#include "cmd/open.h"

struct view_browser {
	struct open_user user;
	struct open_folder folder;
	char *name; /* of the page in the folder; NULL: there is none */
	FILE *page;
	pid_t child;
	int start; /* the child starts the browser when it has read the page's address from it */
};

/*
 * Prepare, while the process has one thread. Return 0, or a negative errno with the cause in *err;
 * view_browser_end() must be called in any case.
 */
int view_browser_prepare(struct view_browser *b, struct error *err);

/*
 * Write the page and start the browser. Return 0 when it runs, -ENOENT if there is none or no
 * display for it, or another negative errno.
 */
int view_browser_show(struct view_browser *b, const char *address);

/* Remove the page, and end the child if it still waits. */
void view_browser_end(struct view_browser *b);

#endif
