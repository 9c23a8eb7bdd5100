/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what objects.c, objects_open.c and objects_symbols.c share. */
#ifndef SKEIN_CAPTURE_OBJECTS_PRIVATE_H
#define SKEIN_CAPTURE_OBJECTS_PRIVATE_H

#include "capture/objects.h"

struct objects {
	struct objects_context context;
	struct object *by_file; /* newest object of each file */
	struct object *by_id;
	struct object *kernel, *vdso, *vdso32;
	struct object *refused; /* list: one object for each user with more files than remembered */
	uint64_t vdso_size; /* bytes; 0: not known */
	bool kernel_name_missing; /* a name was missing in kallsyms since it was last read */
	uint64_t last_id;
	struct file_quotas file_quotas; /* how many files the recorder may look at for each user */
};

/* objects.c: make an object; NULL without memory. */
struct object *object_new(struct objects *o, enum mapping_kind kind, const char *path);
/* Give the object of a changed file a new id, so that frames seen before keep their names. */
void object_renumber(struct objects *o, struct object *object);
/* Return the quota of the object's owner. */
struct file_quota *object_quota(struct objects *o, const struct object *object);
/* Call objects_context.object_updated(). */
void object_notify(const struct objects *o, struct object *object, bool changed);

/*
 * objects_open.c: request the opening of an object in the state OBJECT_UNSEEN. If the quota of its
 * user is used up, the object becomes OBJECT_UNREADABLE instead.
 */
void object_open(struct objects *o, struct object *object);
/* Request a file of the object from the opener, in any state; see objects_handle_opened(). */
void object_request_open(struct objects *o, struct object *object, enum open_what what);
/*
 * Continue the search for a debug file, after the symbolizer has read the object's file or a debug
 * file. wants_debug: a (further) debug file would help.
 */
void object_advance_debug_search(struct objects *o, struct object *object, bool wants_debug);
/* End the search for a debug file, and close the remaining candidates. */
void object_end_debug_search(struct object *object);

/* objects_symbols.c: make the kernel's object and those of the vDSO. Returns 0 or -ENOMEM. */
int objects_add_kernel(struct objects *o);
/*
 * Add the object to the symbolizer, which owns fd from now on, also on failure, and request its
 * unwind table. The symbols of an ELF file are read once a sample needs them, all others at once.
 * Returns 0 or a negative errno.
 */
int object_give(struct objects *o, struct object *object, enum object_kind kind, int fd);
/* Set the object's interpreter to a copy of f, or to none (NULL). Returns 0 or -ENOMEM. */
int object_set_python(struct object *object, const struct python_file *f);
/* Set the object's libjvm to a copy of f, or to none (NULL). Returns 0 or -ENOMEM. */
int object_set_java(struct object *object, const struct hotspot_file *f);
/* Return a slot for an unwind table; UNWIND_SLOT_NONE if no stacks are walked or none is free. */
uint32_t objects_new_table_slot(struct objects *o);
/* Record that the object has no unwind table: walks through the object end there. */
void object_set_no_table(struct objects *o, const struct object *object);

#endif
