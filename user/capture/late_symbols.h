/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds names for addresses in files after a recording, when only the files' paths and build-ids
 * are known: from a file that still has the path, from separate debug files of this machine, and
 * from debuginfod servers. No file is used unless it has the build-id. As while recording, files
 * are opened by the opener and read by the symbolizer's worker, which have no privileges.
 */
#ifndef SKEIN_CAPTURE_LATE_SYMBOLS_H
#define SKEIN_CAPTURE_LATE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/record.h"
#include "capture/debuginfod.h"

/* Why addresses of a file have no name in the end, with words for people. */
#define LATE_OUTCOMES(X) \
	X(WAITING, "not tried: the search was ended") \
	X(NAMED, "has symbols, but none at some addresses") \
	X(NO_BUILD_ID, "the file has no build-id, so no other file can be known to fit") \
	X(ABSENT, "there is no such file here") \
	X(CHANGED, "the file of this path is of another build") \
	X(BARE, "its symbols were removed, and there is no debug file of it here") \
	X(SERVERS, "") /* late_module.servers says why */ \
	X(UNREADABLE, "the file cannot be read")

#define ENUM_LATE(N, text) LATE_##N,
enum late_outcome { LATE_OUTCOMES(ENUM_LATE) LATE_OUTCOME_COUNT };

/* One file, with the addresses in it that need names. */
struct late_module {
	const char *path, *build_id;
	const uint64_t *addresses; /* file offsets */
	size_t count; /* of addresses */
	/* The members below are results. */
	enum late_outcome outcome;
	enum debuginfod_outcome servers; /* what the servers did, if they were asked */
	bool asked; /* servers were asked */
	bool fetched; /* a file of theirs is used */
	uint64_t named; /* number of addresses that got a name */
	char why[128]; /* more about a failure of the servers; "" nothing */
};

/* Return what a module without names lacks, in words. */
const char *late_module_reason(const struct late_module *m);

struct late_progress {
	size_t done, modules;
	const char *fetching; /* path of a file that a server is asked for; NULL: none */
};

struct late_options {
	const char *urls; /* debuginfod servers; NULL: none are asked */
	const char *cache; /* the folder of files from servers */
	/*
	 * The name of an address: index, the position in late_module.addresses; f: mapping and id
	 * are 0; flags: enum frame_flag to be set. Return 0 or a negative errno, which ends the
	 * search.
	 */
	int (*named)(void *context, size_t module, size_t index, const struct function *f,
		     uint64_t flags);
	/* Called several times a second. Return false to end the search. */
	bool (*keep_going)(void *context, const struct late_progress *p);
	void *context;
	struct debuginfod_counts counts; /* a result */
};

/*
 * Find names for all modules. Return 0, also if nothing was found or keep_going() ended the search;
 * or a negative errno. Call this before any thread is created.
 */
int late_symbols_find(struct late_module *modules, size_t count, struct late_options *o,
		      struct error *err);

#endif
