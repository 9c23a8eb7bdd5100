/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds how many files the recorder looks at for one user's programs: about a thousand at once and
 * a few dozen each second. Further files are refused, counted by user and reason, and reported in
 * the trace. Root has no bound, since it can stop the recorder anyway.
 */
#ifndef SKEIN_CAPTURE_FILE_QUOTAS_H
#define SKEIN_CAPTURE_FILE_QUOTAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/pipe.h"

enum refusal {
	REFUSED_QUOTA, /* the user had more files than the user's quota */
	REFUSED_SILENT, /* the file's file system does not respond, or did not earlier */
	REFUSAL_COUNT
};

struct file_quota {
	uint32_t uid;
	bool unbounded;
	uint64_t left; /* files that may be opened now */
	uint64_t since; /* time at which left was last increased, ns */
	uint64_t files; /* number of files that are remembered on the user's behalf */
	uint64_t refused[REFUSAL_COUNT];
	bool reported; /* the trace has the current counts of refused files */
	UT_hash_handle hh; /* in order of appearance */
};

/* All quotas. Start with zeroed memory. */
struct file_quotas {
	struct file_quota *all;
	/* quota of the users beyond those that are remembered, or if memory runs out */
	struct file_quota others;
	uint8_t *counted; /* one bit for each refused file, by hash; NULL: none was refused */
};

/* Return the quota of a user. Never NULL. */
struct file_quota *file_quotas_get(struct file_quotas *s, uint32_t uid);
/* Return whether one more file of the user may be opened now, and count it. now: ns. */
bool file_quota_take_open(struct file_quota *quota, uint64_t now);
/* Return whether one more file of the user may be remembered, and count it. */
bool file_quota_take_kept(struct file_quota *quota);
void file_quota_refuse(struct file_quota *quota, enum refusal why);
/*
 * Count the file with this key as refused because its user's quota is used up: once, however often
 * it is mapped. Of 50,000 files, 0.3 % have the hash of another one and are not counted.
 */
void file_quotas_refuse_file(struct file_quotas *s, uint32_t uid, const void *key, size_t size);
/* Return the quota with the most files, or NULL if there are no quotas. */
const struct file_quota *file_quotas_largest(const struct file_quotas *s);
/* Store the quotas with the most refused files, up to most of them, in out; return how many. */
unsigned int file_quotas_worst(const struct file_quotas *s, const struct file_quota **out,
			       unsigned int most);
/* Format "to uid 1001: 14,210 files (more than its share)" for a user with refused files. */
char *file_quota_format(const struct file_quota *quota, char *buf, size_t size);

/* Emit the quotas whose counts changed since the last call, as info rows of the host. */
int file_quotas_report(struct file_quotas *s, uint64_t host, struct sink *sink, struct error *err);
void file_quotas_free(struct file_quotas *s);

#endif
