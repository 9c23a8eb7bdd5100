/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between the owner of a debuginfod helper and the helper, over a SOCK_SEQPACKET pair.
 * Both ends are the same program, so structs are sent as they are in memory.
 */
#ifndef SKEIN_CAPTURE_DEBUGINFOD_WIRE_H
#define SKEIN_CAPTURE_DEBUGINFOD_WIRE_H

#include <sys/types.h>

#include "capture/debuginfod.h"

#define BUILD_ID_MAX (2 * 64) /* hexadecimal digits */
/* Largest file that is taken from a server, in bytes; DEBUGINFOD_MAXSIZE may lower it. */
#define FETCH_BYTES_MAX (4ull << 30)
/*
 * Deadlines in seconds, for a file as a whole and for 100 KiB of it, unless DEBUGINFOD_MAXTIME and
 * DEBUGINFOD_TIMEOUT, the variables of debuginfod-find, say otherwise.
 */
#define FETCH_SECONDS 600
#define STALL_SECONDS 20
/* Folders of helpers in the cache folder, and files without a name yet. */
#define FETCH_FOLDER_PREFIX ".fetch-"
#define FETCH_NEW_PREFIX ".new-"
/* Levels of folders that are removed; debuginfod-find makes one, named by the build-id. */
#define FETCH_DEPTH 4

struct debuginfod_request {
	uint64_t sequence;
	uint32_t what; /* enum debuginfod_what */
	char build_id[BUILD_ID_MAX + 1];
};

struct debuginfod_reply {
	uint64_t sequence; /* of the request */
	uint32_t done; /* 0: the helper is alive, and still working on it */
	uint32_t outcome; /* enum debuginfod_outcome; FOUND: a descriptor comes with the message */
	char why[256];
};

/* What the child needs. */
struct debuginfod_child {
	int folder; /* of the cache; the child makes its own folder in it */
	const char *urls;
	char program[4096]; /* path of debuginfod-find */
};

/* Run the helper in the forked child; never returns. parent: pid of the owner. */
_Noreturn void debuginfod_child_main(const struct debuginfod_child *c, int socket, pid_t parent);

/* Read a limit from the environment: a positive number; else, or above most, return most. */
uint64_t debuginfod_limit(const char *variable, uint64_t most);

/*
 * debuginfod_cache.c: open the folder of the cache (0700, of this user), made if it is missing, and
 * remove what processes that died have left in it. Return a descriptor or a negative errno.
 */
int debuginfod_cache_open(const char *path, struct error *err);
/* Open the cached file of a build-id. Return a descriptor or a negative errno. */
int debuginfod_cache_get(int folder, const char *build_id, enum debuginfod_what what);
/* Make a file without a name in the cache yet; *name gets its temporary name. */
int debuginfod_cache_create(int folder, char name[64]);
/* Give a file of debuginfod_cache_create() its name, or remove it. */
void debuginfod_cache_settle(int folder, const char *name, const char *build_id,
			     enum debuginfod_what what, bool right);
/* Remove a cached file that is not what its name says. */
void debuginfod_cache_drop(int folder, const char *build_id, enum debuginfod_what what);
/* Remove what is in a folder, so many levels deep: its owner may be hostile. */
void debuginfod_remove_below(int at, const char *name, unsigned int depth);
/* Remove the folder of a helper, which has ended, with the files in it. */
void debuginfod_cache_remove_folder(int folder, const char *name);

#endif
