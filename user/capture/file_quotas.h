/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds how many files the recorder looks at for one user's programs: 1024 at once, 32 more each
 * second, and 4096 remembered at a time. Further files are refused, counted by user and reason, and
 * reported in the trace. Root has no bound, since root can stop the recorder anyway.
 */
#ifndef SKEIN_CAPTURE_FILE_QUOTAS_H
#define SKEIN_CAPTURE_FILE_QUOTAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/pipe.h"

enum refusal {
	/* the user had more files than the user's quota, or than the opener's queue has room for */
	REFUSED_QUOTA,
	/* the file's file system does not respond, or did not earlier, or not before the end */
	REFUSED_SILENT,
	REFUSAL_COUNT
};

struct file_quota {
	uint32_t uid;
	bool unbounded;
	uint64_t left; /* number of files that may be opened now */
	uint64_t since; /* the files earned up to this time (ns) have been added to left */
	uint64_t files; /* number of files that are remembered on the user's behalf */
	uint64_t refused[REFUSAL_COUNT]; /* number of files, by reason */
	bool reported; /* the trace has the current counts of refused files */
	UT_hash_handle hh; /* in the order in which the users' first files came */
};

/* All quotas. Start with zeroed memory. */
struct file_quotas {
	struct file_quota *all;
	/* quota that all users share who come after the first 400, or when memory has run out */
	struct file_quota others;
	uint8_t *counted; /* one bit for each refused file, by hash; NULL: none was refused */
};

/* Return the quota of a user, never NULL; a new one if the user has none. */
struct file_quota *file_quotas_get(struct file_quotas *s, uint32_t uid);
/* Return whether one more file of the user may be opened now, and count it. now: ns. */
bool file_quota_take_open(struct file_quota *quota, uint64_t now);
/* Return whether one more file of the user may be remembered, and count it. */
bool file_quota_take_kept(struct file_quota *quota);
/* Count a refused file of the user. */
void file_quota_refuse(struct file_quota *quota, enum refusal why);
/*
 * Count the file with this key as refused because its user's quota is used up. A file is counted
 * once, however often it is mapped. Of 50,000 files, 0.3 % share their hash with another file and
 * are not counted.
 */
void file_quotas_refuse_file(struct file_quotas *s, uint32_t uid, const void *key, size_t size);
/* Return the user's quota with the most remembered files, or NULL if no user has a quota. */
const struct file_quota *file_quotas_largest(const struct file_quotas *s);
/*
 * Store the users' quotas with the most refused files in out, most first and at most `most` of
 * them. Quotas without refused files, and the shared one (others), are left out. Return their
 * number.
 */
unsigned int file_quotas_worst(const struct file_quotas *s, const struct file_quota **out,
			       unsigned int most);
/*
 * Format the counts of a quota with refused files, such as "to uid 1001: 14,210 files (more than
 * its share)". Returns buf.
 */
char *file_quota_format(const struct file_quota *quota, char *buf, size_t size);

/*
 * Emit the quotas whose counts of refused files changed since the last call, as info rows of the
 * host. Returns 0 or a negative errno.
 */
int file_quotas_report(struct file_quotas *s, uint64_t host, struct sink *sink, struct error *err);
void file_quotas_free(struct file_quotas *s);

#endif
