/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds how many files the recorder looks at for one user's programs: about a thousand at once and
 * a few dozen each second. Further files are refused, counted by user and reason, and reported in
 * the trace. Root has no bound, since it can stop the recorder anyway.
 */
#ifndef SKEIN_CAPTURE_SHARES_H
#define SKEIN_CAPTURE_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/pipe.h"

enum refusal {
	REFUSED_SHARE,	/* the user had more files than the user's share */
	REFUSED_SILENT, /* the file's file system does not respond, or did not earlier */
	REFUSAL_COUNT
};

struct share {
	uint32_t uid;
	bool unbounded;
	uint64_t left;	/* files that may be opened now */
	uint64_t since; /* time at which left was last increased, ns */
	uint64_t files; /* number of files that are remembered on the user's behalf */
	uint64_t refused[REFUSAL_COUNT];
	bool told; /* the trace has the current counts of refused files */
	UT_hash_handle hh; /* in order of appearance */
};

/* All shares. Start with zeroed memory. */
struct shares {
	struct share *all;
	/* share of the users beyond those that are remembered, or if memory runs out */
	struct share others;
	uint8_t *counted; /* one bit for each refused file, by hash; NULL: none was refused */
};

/* Return the share of a user. Never NULL. */
struct share *shares_of(struct shares *s, uint32_t uid);
/* Return whether one more file of the user may be opened now, and count it. now: ns. */
bool share_take(struct share *share, uint64_t now);
/* Return whether one more file of the user may be remembered, and count it. */
bool share_keep(struct share *share);
void share_refuse(struct share *share, enum refusal why);
/*
 * Count the file with this key as refused because its user's share is used up: once, however often
 * it is mapped. Of 50,000 files, 0.3 % have the hash of another one and are not counted.
 */
void shares_refuse_file(struct shares *s, uint32_t uid, const void *key, size_t size);
/* Return the share with the most files, or NULL if there are no shares. */
const struct share *shares_largest(const struct shares *s);
/* Return how many files were refused to all users. */
uint64_t shares_refused(const struct shares *s);
/*
 * Store the shares with the most refused files in ret, no more than `most` of them; return how
 * many.
 */
unsigned int shares_worst(const struct shares *s, const struct share **ret, unsigned int most);
/* Format "to uid 1001: 14,210 files (more than its share)" for a user with refused files. */
char *share_show(const struct share *share, char *buf, size_t size);

/* Emit the shares whose counts changed since the last call, as info rows of the host. */
int shares_tell(struct shares *s, uint64_t host, struct sink *sink, struct error *err);
void shares_free(struct shares *s);

#endif
