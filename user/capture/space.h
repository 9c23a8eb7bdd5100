/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces hold the executable mappings of processes. A process and the children it forks
 * share a space until one of them changes it. A version is never used for two different states of
 * spaces, so that results found for a stack stay valid wherever the version is the same.
 */
#ifndef SKEIN_CAPTURE_SPACE_H
#define SKEIN_CAPTURE_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "capture/arena.h"
#include "capture/objects.h"

struct space_mapping {
	uint64_t start, end;
	uint64_t offset; /* file offset of start, bytes */
	struct object *object; /* NULL: generated code, or unknown */
};

/* Data shared by all spaces of a process table. */
struct spaces {
	uint64_t versions; /* last version given */
	struct arena *arena; /* for the walkers' views; NULL: no views */
	uint64_t shown; /* bytes of all views in the arena */
};

struct space {
	struct spaces *all;
	uint64_t version;
	unsigned int users;
	struct {
		struct space_mapping *items;
		size_t count, capacity;
	} mappings; /* sorted by start, without overlaps */
	/*
	 * The walkers' view of the space: place in the arena and number of its struct
	 * unwind_mapping.
	 */
	uint32_t view, view_count;
	uint64_t view_version; /* version of the space that the view shows; 0: there is no view */
};

/*
 * Return an empty space with one user, or NULL without memory. space_share() adds a user, and
 * returns s.
 */
struct space *space_new(struct spaces *all);
struct space *space_share(struct space *s);
/* Remove one user; s may be NULL. */
void space_drop(struct space *s);

/*
 * Map [m->start, m->end), replacing earlier mappings there. *s is replaced by a copy first if it
 * has other users. Return 0; 1 if there were too many mappings, so that all earlier ones have been
 * forgotten; or -ENOMEM.
 */
int space_map(struct space **s, const struct space_mapping *m);
/*
 * As space_map(), but earlier mappings stay: only the gaps between them are mapped. For what /proc
 * shows: a mapping that a record has reported can only be replaced by one with a record of its own,
 * whose time says from when on it was there. /proc may show that mapping before its record's turn.
 */
int space_fill(struct space **s, const struct space_mapping *m);

/*
 * Write the walkers' view of the current version into the arena, unless it is there, and set view
 * and view_count. Return 0, or -ENOSPC if the arena has no room, or views would take more than half
 * of it. now: ns.
 */
int space_publish(struct space *s, uint64_t now);

/* Return the mapping that holds address; NULL if none does. */
const struct space_mapping *space_find(const struct space *s, uint64_t address);

#endif
