/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches separate debug files, and programs, from debuginfod servers by their build-ids. A helper
 * process of its own (debuginfod_child.c) runs elfutils' debuginfod-find, which speaks to the
 * servers: with a user of its own, no capabilities and a folder of its own, and with a deadline and
 * a largest size for every file. What a server sends is copied into the cache under a temporary
 * name. Whoever requested the file has its build-id checked by the symbolizer's worker; only then
 * does the file get its name in the cache. Nothing here blocks on a server.
 */
#ifndef SKEIN_CAPTURE_DEBUGINFOD_H
#define SKEIN_CAPTURE_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define DEBUGINFOD_PROGRAM "debuginfod-find"
#define DEBUGINFOD_PACKAGES \
	"on Debian: apt install debuginfod; on Fedora: dnf install elfutils-debuginfod-client"
/* The environment variables with which debuginfod-find is configured; see its manual page. */
#define DEBUGINFOD_URLS "DEBUGINFOD_URLS"

/* What became of a request, with words for people about the servers. */
#define DEBUGINFOD_OUTCOMES(X) \
	X(FOUND, "the servers have it") \
	X(NONE, "the servers do not have it") \
	X(SILENT, "the servers did not send it in time") \
	X(LARGE, "the servers' file is too large") \
	X(OTHER, "the servers sent a file that is of another build, or has no symbols") \
	X(FAILED, "the servers could not be asked") \
	X(NO_PROGRAM, "debuginfod-find is not installed")

#define ENUM_DEBUGINFOD(N, text) DEBUGINFOD_##N,
enum debuginfod_outcome { DEBUGINFOD_OUTCOMES(ENUM_DEBUGINFOD) DEBUGINFOD_OUTCOME_COUNT };

const char *debuginfod_outcome_text(enum debuginfod_outcome outcome);

enum debuginfod_what { DEBUGINFOD_DEBUG, DEBUGINFOD_EXECUTABLE, DEBUGINFOD_WHAT_COUNT };

struct debuginfod_options {
	const char *urls; /* of servers, separated by spaces */
	const char *folder; /* the cache, made if only the last folder is missing; copied */
	/*
	 * The reply to debuginfod_fetch(). The receiver owns fd, a regular file that is open for
	 * reading; it is -1 unless the outcome is FOUND. why: what else is known of the failure, ""
	 * for nothing.
	 */
	void (*fetched)(void *context, uint64_t token, int fd, enum debuginfod_outcome outcome,
			const char *why);
	void *context;
};

struct debuginfod_counts {
	uint64_t requested, outcomes[DEBUGINFOD_OUTCOME_COUNT];
	uint64_t cached; /* of those found: without a server */
	uint64_t bytes; /* received from servers */
};

struct debuginfod;

/*
 * Choose the servers: those of --debuginfod=URLS, else those of the environment variable
 * DEBUGINFOD_URLS. Return 0, or -EINVAL if there are none or one is no http, https or file URL.
 */
int debuginfod_choose_urls(const char **out, const char *given, struct error *err);

/* Start the helper. Return 0 or a negative errno; -ENOENT: debuginfod-find is not installed. */
int debuginfod_new(struct debuginfod **out, const struct debuginfod_options *o, struct error *err);
void debuginfod_free(struct debuginfod *d);

/*
 * Request a file; the reply comes by fetched() during a later debuginfod_poll(). Return 0, -EINVAL
 * if build_id is no build-id, or -ENOMEM.
 */
int debuginfod_fetch(struct debuginfod *d, uint64_t token, const char *build_id,
		     enum debuginfod_what what);
/*
 * Report whether the file that fetched() delivered last for this token is the right one: then it
 * gets its name in the cache, else it is removed, and its outcome becomes OTHER.
 */
void debuginfod_settle(struct debuginfod *d, uint64_t token, bool right);

/* Return a descriptor that polls readable when debuginfod_poll() has something to do. */
int debuginfod_fd(const struct debuginfod *d);
/*
 * Send requests, receive files, enforce deadlines. Call this when the descriptor is readable, and
 * once a second while requests are pending. now: ns of a steady clock.
 */
void debuginfod_poll(struct debuginfod *d, uint64_t now);
const struct debuginfod_counts *debuginfod_counts(const struct debuginfod *d);

/* Find debuginfod-find in $PATH. Return whether it is installed. */
bool debuginfod_is_installed(void);

#endif
