/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a process: the user on whose behalf it is looked at. This is its real uid, which a
 * setuid program does not change, and which a process cannot choose.
 */
#ifndef SKEIN_CAPTURE_OWNERS_H
#define SKEIN_CAPTURE_OWNERS_H

#include <stdint.h>

/* the process is gone; all such processes take turns as one user */
#define OWNER_UNKNOWN UINT32_MAX
#define OWNER_SHARED (UINT32_MAX - 1) /* several users, who take turns as one further user */
#define OWNERS_KNOWN 256

struct known_owner {
	uint32_t pid, uid;
	uint64_t until; /* ns */
};

/* The owners of recently seen processes, as a cache. Start with zeroed memory. */
struct owners {
	struct known_owner known[OWNERS_KNOWN];
};

/*
 * Return the uid that started pid, or else its parent; OWNER_UNKNOWN if both are gone. now: ns of a
 * steady clock.
 */
uint32_t owners_of(struct owners *o, uint32_t pid, uint32_t parent, uint64_t now);

#endif
