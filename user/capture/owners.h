/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a process is the user on whose behalf the process is looked at: its real uid.
 * Running a setuid program does not change the real uid, and a process without privileges cannot
 * choose it freely.
 */
#ifndef SKEIN_CAPTURE_OWNERS_H
#define SKEIN_CAPTURE_OWNERS_H

#include <stdint.h>

/* owner of all processes that are gone; their requests take turns as those of one user */
#define OWNER_UNKNOWN UINT32_MAX
/*
 * owner of objects that several users share; their requests take turns as those of one further user
 */
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
 * Return the real uid of a process, or that of its parent if the process is gone; OWNER_UNKNOWN if
 * both are gone. The result may be a second old. now: ns of a steady clock.
 */
uint32_t owners_of(struct owners *o, uint32_t pid, uint32_t parent, uint64_t now);

#endif
