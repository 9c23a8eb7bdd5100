/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output files are written next to their final name and renamed when complete. They have mode 0600
 * and are given to the user who called sudo. A final name that is a symbolic link is refused;
 * devices and pipes are written to directly. "-" is stdout, which is refused for binary data when
 * it is a terminal.
 */
#ifndef SKEIN_BASE_OUTFILE_H
#define SKEIN_BASE_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

struct outfile {
	FILE *stream;
	char *path; /* final name; NULL for stdout */
	char *temporary; /* name while the file is written; NULL for stdout, devices and pipes */
};

/*
 * Open path for writing; binary: refuse a terminal as stdout. Return 0, or a negative errno with
 * the cause in *err.
 */
int outfile_open(struct outfile *f, const char *path, bool binary, struct error *err);
/*
 * Flush, check for errors (a full disk, a closed pipe), give the file to the invoking user and
 * rename it. Return 0 or a negative errno; the temporary file is removed after an error.
 */
int outfile_commit(struct outfile *f, struct error *err);
/*
 * Close and remove an unfinished file; of a device or pipe, only close it. Does nothing after a
 * commit or on zeroed memory.
 */
void outfile_abort(struct outfile *f);

/*
 * Flush the stream. Return 0 if everything written so far has left the process, else the negative
 * errno of the failure, also if it was an earlier write that failed (-EIO if the errno is not
 * known). what names the output in *err, which may be NULL. After a failure one more byte may have
 * been written.
 */
int outfile_flush(FILE *stream, const char *what, struct error *err);

/*
 * Close a stream of open_memstream(). Without memory for the text, fclose() may report no error,
 * but *text is NULL then. Return 0 or -ENOMEM.
 */
int outfile_close_memory(FILE *stream, char *const *text);

/*
 * Return whether sudo runs this process as root, and the ids of the user who called it: SUDO_UID
 * and SUDO_GID.
 */
bool outfile_invoker(uid_t *uid, gid_t *gid);

/* Give an open file to the user of outfile_invoker(), if there is one; failure is ignored. */
void outfile_give_to_invoker(int fd);

#endif
