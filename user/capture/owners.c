// SPDX-License-Identifier: Apache-2.0
/* Looks up the owners of processes in /proc, and caches them. */
#include "capture/owners.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/procfs.h"

/*
 * Time (ns) for which an owner is cached: reading /proc/PID/status takes 20 µs, and a process maps
 * many files at once.
 */
#define OWNER_CACHE_TIME 1000000000ULL

/*
 * Return the real uid of a process; OWNER_UNKNOWN if it is gone. This may run in the recorder,
 * since the kernel writes /proc/PID/status without waiting for the process or for a file system.
 */
static uint32_t read_owner(uint32_t pid)
{
	struct procfs_status status;
	uint32_t uid = OWNER_UNKNOWN;
	char path[32];
	int dir;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return OWNER_UNKNOWN;
	if (procfs_read_status(dir, &status) == 0)
		uid = status.uid;
	close(dir);
	return uid;
}

static uint32_t cached_owner(struct owners *o, uint32_t pid, uint64_t now)
{
	struct known_owner *known = &o->known[pid % OWNERS_KNOWN];

	if (!pid)
		return OWNER_UNKNOWN;
	if (known->pid != pid || now >= known->until)
		*known = (struct known_owner){pid, read_owner(pid), now + OWNER_CACHE_TIME};
	return known->uid;
}

uint32_t owners_of(struct owners *o, uint32_t pid, uint32_t parent, uint64_t now)
{
	uint32_t uid = cached_owner(o, pid, now);

	return uid == OWNER_UNKNOWN ? cached_owner(o, parent, now) : uid;
}
