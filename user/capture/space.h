/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces: the executable mappings of a process. A space is shared by
 * a process and the children it forks until one of them changes it. Its
 * version is a number that no other state of any space has, so that what was
 * found out for a stack holds wherever the version is the same.
 */
#ifndef SKEIN_CAPTURE_SPACE_H
#define SKEIN_CAPTURE_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "capture/arena.h"
#include "capture/objects.h"

struct space_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file, of start */
	struct object *object; /* NULL: generated code, or nothing known */
};

/* What all spaces share. */
struct spaces {
	uint64_t versions; /* the last that was given */
	struct arena *arena; /* for the walkers' view; NULL: there is none */
	uint64_t shown; /* bytes of all views there */
};

struct space {
	struct spaces *all;
	uint64_t version;
	unsigned int users;
	struct {
		struct space_mapping *items;
		size_t count, capacity;
	} mappings; /* by start, without overlaps */
	/* the walkers' view of it, in the arena: struct unwind_mapping */
	uint32_t view, view_count;
	uint64_t view_version; /* of which version it is; 0: there is none */
};

/* An empty space with one user. NULL without memory. */
struct space *space_new(struct spaces *all);
struct space *space_share(struct space *s);
/* One user less; also NULL. */
void space_drop(struct space *s);

/*
 * Map [start, end), over whatever was there. *s is replaced by a copy first
 * when others use it too. 0, 1 if there were too many and all others have been
 * forgotten, or -ENOMEM.
 */
int space_map(struct space **s, const struct space_mapping *m);

/*
 * Write what the walkers are to see of its present version: view, view_count.
 * 0, or -ENOSPC if the arena is full, or half of it is views. now: ns.
 */
int space_show(struct space *s, uint64_t now);

/* The mapping that holds address; NULL if none does. */
const struct space_mapping *space_find(const struct space *s, uint64_t address);

#endif
