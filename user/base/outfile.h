/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output files: written beside their final name and renamed when complete,
 * never through a symlink, mode 0600 unless published, and given to the user who called
 * sudo. "-" is stdout, which is refused for binary data when it is a terminal.
 */
#ifndef SKEIN_BASE_OUTFILE_H
#define SKEIN_BASE_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct outfile {
	FILE *stream;
	char *path; /* final name; NULL for stdout */
	char *temporary;
};

/* 0, or a negative errno with the cause in *err. */
int outfile_open(struct outfile *f, const char *path, bool binary, struct error *err);
/* Flush, check for errors (a full disk, a closed pipe), give to the invoking user, rename. */
int outfile_commit(struct outfile *f, struct error *err);
/* Close and remove what is unfinished. Does nothing after a commit or on zeroed memory. */
void outfile_abort(struct outfile *f);

/*
 * Everything written to a stream so far has left the process: 0, or why not, also if that was long
 * ago; what it is goes into *err, which may be NULL. After a failure one byte more may be there.
 */
int outfile_flush(FILE *stream, const char *what, struct error *err);

/* Give an open file to SUDO_UID/SUDO_GID when run by sudo as root; failure is ignored. */
void give_to_invoking_user(int fd);

#endif
