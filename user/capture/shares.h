/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many files one user's programs may have the recorder look at: a thousand at once and some
 * dozens each second. What is beyond that is refused, counted by user and reason, and told in the
 * trace. Root has no bound: it can stop the recorder anyway.
 */
#ifndef SKEIN_CAPTURE_SHARES_H
#define SKEIN_CAPTURE_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/pipe.h"

enum refusal {
	REFUSED_SHARE,	/* the user had more files than its share */
	REFUSED_SILENT, /* its file system did not answer, or had not before */
	REFUSAL_COUNT
};

struct share {
	uint32_t uid;
	bool unbounded;
	uint64_t left;	/* files that may be opened now */
	uint64_t since; /* ns: they have been counted up to then */
	uint64_t files; /* that are known, for its sake */
	uint64_t refused[REFUSAL_COUNT];
	bool told; /* what was refused is in the trace */
	UT_hash_handle hh; /* in order of appearance */
};

/* Zeroed: nobody has asked for anything. */
struct shares {
	struct share *all;
	struct share others; /* of users beyond those that are remembered, and for want of memory */
	uint8_t *counted; /* a bit for each file that was refused, by hash; NULL: none was */
};

/* Whose share it is. Never NULL. */
struct share *shares_of(struct shares *s, uint32_t uid);
/* May one more file be opened? now: ns. */
bool share_take(struct share *share, uint64_t now);
/* May one more file be remembered? */
bool share_keep(struct share *share);
void share_refuse(struct share *share, enum refusal why);
/*
 * The same for want of a share, of the file with that key: however often it is mapped it counts
 * once. Of 50,000 files 0.3 % are taken for others, and not counted.
 */
void shares_refuse_file(struct shares *s, uint32_t uid, const void *key, size_t size);
/* Who has the most files; NULL: nobody has any. */
const struct share *shares_largest(const struct shares *s);
/* All that was refused to anybody. */
uint64_t shares_refused(const struct shares *s);
/* Who has had the most refused: up to most users, how many. */
unsigned int shares_worst(const struct shares *s, const struct share **ret, unsigned int most);
/* "to uid 1001: 14,210 files (more than its share)", for one that has been refused something. */
char *share_show(const struct share *share, char *buf, size_t size);

/* Put what was refused since the last call, as info under that host. */
int shares_tell(struct shares *s, uint64_t host, struct sink *sink, struct error *err);
void shares_free(struct shares *s);

#endif
