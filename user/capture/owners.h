/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For whose sake a process is looked at: the user who started it. That is its real uid, which a
 * setuid program does not change, and which a process cannot choose.
 */
#ifndef SKEIN_CAPTURE_OWNERS_H
#define SKEIN_CAPTURE_OWNERS_H

#include <stdint.h>

#define OWNER_UNKNOWN UINT32_MAX /* the process is gone; all of those take turns as one user */
#define OWNER_SHARED (UINT32_MAX - 1) /* several users, who take turns as one more */
#define OWNERS_KNOWN 256

struct known_owner {
	uint32_t pid, uid;
	uint64_t until; /* ns */
};

/* Zeroed: nobody is known. */
struct owners {
	struct known_owner known[OWNERS_KNOWN];
};

/* Who started pid, or else its parent. now: ns of a steady clock. */
uint32_t owners_of(struct owners *o, uint32_t pid, uint32_t parent, uint64_t now);

#endif
