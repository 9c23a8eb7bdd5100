/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suspects are the file systems and users whose files the second opener opens (opener.c), so that a
 * hang delays no other requests: file systems that may wait for a program or another machine, and
 * users whose requests have made an opener hang. A file system that also hangs the second opener is
 * avoided for a while, and for twice as long after each further hang.
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
	/* requests fail without being sent until this time, ns; 0: never avoided */
	uint64_t avoided;
	unsigned int strikes;
	UT_hash_handle hh; /* in the order of their first suspicion */
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
/* Suspect a device or user for 10 minutes from now (ns). Does nothing if memory runs out. */
void suspects_add(struct suspects *s, uint64_t key, uint64_t now);
/*
 * Avoid a suspect that has made the second opener hang: for 4 s, and for twice as long after each
 * further hang, up to 17 minutes. The suspicion lasts 10 minutes longer. now: ns.
 */
void suspects_strike(struct suspects *s, uint64_t key, uint64_t now);
/*
 * Store the uids of the users that are suspects now, without root, in out, at most `most` of them.
 * Return their number.
 */
unsigned int suspects_users(const struct suspects *s, uint64_t now, uint32_t *out,
			    unsigned int most);
void suspects_free(struct suspects *s);

#endif
