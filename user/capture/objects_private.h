/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the objects that objects.c, objects_open.c and objects_symbols.c share. */
#ifndef SKEIN_CAPTURE_OBJECTS_PRIVATE_H
#define SKEIN_CAPTURE_OBJECTS_PRIVATE_H

#include "capture/objects.h"

struct objects {
	struct objects_context context;
	struct object *by_file; /* newest object of each file */
	struct object *by_id;
	struct object *kernel, *vdso, *vdso32;
	struct object *refused; /* one object for each user with more files than are remembered */
	uint64_t vdso_size;
	bool kernel_name_missing; /* since kallsyms was last read */
	uint64_t last_id;
	struct file_quotas file_quotas; /* how much the recorder may look at for each user */
};

/* objects.c: make an object; NULL without memory. */
struct object *object_new(struct objects *o, enum mapping_kind kind, const char *path);
/* Give a changed file a new id, so that frames seen before keep their names. */
void object_renumber(struct objects *o, struct object *object);
/* Return the quota of the object's owner. */
struct file_quota *object_quota(struct objects *o, const struct object *object);
/* Pass on that the object was opened or not, see struct objects_context. */
void object_notify(const struct objects *o, struct object *object, bool changed);

/* objects_open.c: open the object, unless it was opened or tried before. */
void object_open(struct objects *o, struct object *object);
void object_request_open(struct objects *o, struct object *object, enum open_what what);
/* The symbolizer has read the file or a debug file; wants_debug: another one would help. */
void object_advance_debug_search(struct objects *o, struct object *object, bool wants_debug);
void object_end_debug_search(struct object *object);

/* objects_symbols.c: make the kernel's object and those of the vDSO. Returns 0 or -ENOMEM. */
int objects_add_kernel(struct objects *o);
/*
 * Give the object to the symbolizer. The symbols of a file are read once a sample needs them.
 * Returns 0 or a negative errno.
 */
int object_give(struct objects *o, struct object *object, enum object_kind kind, int fd);
/* Copy the facts of an interpreter, or forget them (NULL). Returns 0 or -ENOMEM. */
int object_set_python(struct object *object, const struct python_file *f);
/* Return a slot for the object's unwind table, UNWIND_SLOT_NONE if no stacks are walked. */
uint32_t objects_new_table_slot(struct objects *o);
/* There is no table: walks through the object end there. */
void object_set_no_table(struct objects *o, const struct object *object);

#endif
