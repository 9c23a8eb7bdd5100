/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose files are opened by the helper aside: file systems that a program or another machine
 * answers for, and users whose requests have made a helper hang. Each of them is left alone for a
 * while after a hang, and for twice as long after the next.
 */
#ifndef SKEIN_CAPTURE_SUSPECTS_H
#define SKEIN_CAPTURE_SUSPECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "capture/opener.h"

struct suspect {
	uint64_t key;	/* suspect_device() or suspect_user() */
	uint64_t until; /* ns: it is suspected */
	uint64_t avoided; /* ns: until then it is not asked at all */
	unsigned int strikes;
	UT_hash_handle hh; /* the oldest first */
};

/* Zeroed: nobody is suspected. */
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
/* It is suspicious by its nature, or has made a helper hang. Without memory nothing is kept. */
void suspects_note(struct suspects *s, uint64_t key, uint64_t now);
/* It has made the helper aside hang, too. */
void suspects_strike(struct suspects *s, uint64_t key, uint64_t now);
/* The users suspected now, up to most, root not among them: how many. */
unsigned int suspects_users(const struct suspects *s, uint64_t now, uint32_t *ret,
			    unsigned int most);
void suspects_free(struct suspects *s);

#endif
