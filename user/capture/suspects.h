/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suspects are the file systems and users whose files the second opener opens: file systems that a
 * program or another machine serves, and users whose requests have made an opener hang. A suspect
 * that also hangs the second opener is avoided for a while, and for twice as long after the next
 * hang.
 */
#ifndef SKEIN_CAPTURE_SUSPECTS_H
#define SKEIN_CAPTURE_SUSPECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "capture/opener.h"

struct suspect {
	uint64_t key; /* suspect_device() or suspect_user() */
	uint64_t until; /* suspected until this time, ns */
	uint64_t avoided; /* no requests are sent until this time, ns */
	unsigned int strikes;
	UT_hash_handle hh; /* oldest first */
};

/* All suspects. Start with zeroed memory. */
struct suspects {
	struct suspect *all;
};

static inline uint64_t suspect_device(const struct file_id *id)
{
	return 1ULL << 63 | (uint64_t)id->major << 32 | id->minor;
}

static inline uint64_t suspect_user(uint32_t uid)
{
	return uid;
}

bool suspects_has(const struct suspects *s, uint64_t key, uint64_t now);
bool suspects_avoids(const struct suspects *s, uint64_t key, uint64_t now);
/*
 * Remember a suspect for 10 minutes, because it is suspicious by its nature or has made an opener
 * hang. Does nothing without memory.
 */
void suspects_add(struct suspects *s, uint64_t key, uint64_t now);
/* Avoid a suspect that has made the second opener hang, each time for twice as long. */
void suspects_strike(struct suspects *s, uint64_t key, uint64_t now);
/*
 * Store the uids of the current suspects, without root, in out: no more than most of them. Return
 * how many.
 */
unsigned int suspects_users(const struct suspects *s, uint64_t now, uint32_t *out,
			    unsigned int most);
void suspects_free(struct suspects *s);

#endif
