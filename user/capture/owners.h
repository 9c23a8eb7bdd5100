/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a process is the user on whose behalf the process is looked at: its real uid, which
 * a setuid program does not change, and which a process cannot choose.
 */
#ifndef SKEIN_CAPTURE_OWNERS_H
#define SKEIN_CAPTURE_OWNERS_H

#include <stdint.h>

/* owner of processes that are gone, which all take turns as one user */
#define OWNER_UNKNOWN UINT32_MAX
/* owner of objects of several users, which take turns as one further user */
#define OWNER_SHARED (UINT32_MAX - 1)
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
 * Return the real uid of a process, else that of its parent; OWNER_UNKNOWN if both are gone. now:
 * ns of a steady clock.
 */
uint32_t owners_of(struct owners *o, uint32_t pid, uint32_t parent, uint64_t now);

#endif
