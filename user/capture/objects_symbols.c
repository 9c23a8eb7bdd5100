// SPDX-License-Identifier: Apache-2.0
/* Adds objects to the symbolizer, and processes its replies: facts, tables, interpreters. */
#include "capture/objects_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/clock.h"
#include "symbolizers/hotspot_tables.h"
#include "symbolizers/python_file.h"

/* Minimum time (ns) between two reads of kallsyms, which take tens of milliseconds each. */
#define KERNEL_INTERVAL (10 * NSEC_PER_SEC)

void object_set_no_table(struct objects *o, const struct object *object)
{
	tables_set_state(o->context.tables, object->table, UNWIND_TABLE_NONE, clock_boot_ns());
}

/* Request the table of an object. Walks through the object wait for the table from now on. */
static void request_table(struct objects *o, struct object *object)
{
	if (object->table == UNWIND_SLOT_NONE)
		return;
	tables_set_state(o->context.tables, object->table, UNWIND_TABLE_PENDING, clock_boot_ns());
	if (symbolizer_request_table(o->context.symbolizer, object->id) < 0)
		object_set_no_table(o, object);
}

void objects_request_made_table(struct objects *o, struct object *object)
{
	/* until it arrives, walkers use the table that they have, if any */
	if (object->table != UNWIND_SLOT_NONE)
		(void)symbolizer_request_table(o->context.symbolizer, object->id);
}

static int request_symbols(struct objects *o, struct object *object)
{
	object->read = true;
	return symbolizer_read(o->context.symbolizer, object->id);
}

int object_set_python(struct object *object, const struct python_file *f)
{
	free(object->python.file);
	object->python.file = f ? malloc(sizeof(*f)) : NULL;
	object->python.layout = 0;
	if (f && !object->python.file)
		return -ENOMEM;
	if (f)
		*object->python.file = *f;
	return 0;
}

int object_set_java(struct object *object, const struct hotspot_file *f)
{
	free(object->java.file);
	object->java.file = f ? malloc(sizeof(*f)) : NULL;
	if (f && !object->java.file)
		return -ENOMEM;
	if (f)
		*object->java.file = *f;
	return 0;
}

struct object *objects_handle_hotspot(struct objects *o, uint64_t id, const struct hotspot_file *f)
{
	struct object *object = objects_by_id(o, id);

	if (!object || object->kind != MAPPING_FILE || object_set_java(object, f) < 0)
		return NULL;
	return object;
}

/*
 * Have the worker check whether a file has a Python interpreter or HotSpot in it. If the request
 * fails, Python frames of its processes are not shown.
 */
static void request_inspection(struct objects *o, struct object *object)
{
	(void)object_set_python(object, NULL);
	(void)object_set_java(object, NULL);
	if (o->context.inspect && object->kind == MAPPING_FILE)
		(void)symbolizer_inspect(o->context.symbolizer, object->id);
}

int object_give(struct objects *o, struct object *object, enum object_kind kind, int fd)
{
	struct symbolizer *s = o->context.symbolizer;
	int ret = object->suspicious ? symbolizer_add_suspicious(s, object->id, kind, fd)
				     : symbolizer_add(s, object->id, kind, fd);

	object->read = false;
	if (!ret)
		symbolizer_set_owner(s, object->id, object->owner);
	if (!ret && kind == OBJECT_ELF) {
		/*
		 * Inspect first: a native stack without its table is finished later, a Python stack
		 * is not.
		 */
		request_inspection(o, object);
		request_table(o, object);
	}
	if (!ret && (kind != OBJECT_ELF || object->wanted))
		ret = request_symbols(o, object);
	return ret;
}

uint32_t objects_new_table_slot(struct objects *o)
{
	return o->context.unwind ? tables_add(o->context.tables) : UNWIND_SLOT_NONE;
}

static int give_kernel_to_symbolizer(struct objects *o)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	o->kernel->state = OBJECT_KNOWN;
	return object_give(o, o->kernel, OBJECT_KERNEL, fd);
}

/*
 * Reopen the file of fd read-only, so that the worker cannot change the file. Closes fd. Returns a
 * descriptor or a negative errno.
 */
static int reopen_read_only(int fd)
{
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	if (again < 0)
		again = -errno;
	close(fd);
	return again;
}

/*
 * The image of the vDSO is the same in every 64-bit process, so add a copy of the recorder's own
 * image. Returns 0 or a negative errno.
 */
static int give_vdso_to_symbolizer(struct objects *o)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 2 * page;
	int fd;

	if (!image)
		return -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The image has one or two pages; write() fails at a page that is not mapped. */
	for (size_t at = 0; at < size; at += page)
		if (write(fd, image + at, page) != (ssize_t)page)
			break;
	fd = reopen_read_only(fd);
	if (fd < 0)
		return fd;
	o->vdso->state = OBJECT_KNOWN;
	o->vdso_size = (uint64_t)lseek(fd, 0, SEEK_END);
	return object_give(o, o->vdso, OBJECT_ELF, fd);
}

int objects_add_kernel(struct objects *o)
{
	o->kernel = object_new(o, MAPPING_KERNEL, "[kernel]");
	o->vdso = object_new(o, MAPPING_VDSO, "[vdso]");
	o->vdso32 = object_new(o, MAPPING_VDSO, "[vdso32]");
	if (!o->kernel || !o->vdso || !o->vdso32)
		return -ENOMEM;
	o->vdso->table = objects_new_table_slot(o);
	o->vdso32->table = objects_new_table_slot(o);
	o->vdso32->state = OBJECT_UNREADABLE;
	object_set_no_table(o, o->vdso32);
	/* Without these, kernel and vDSO frames have no names; that is no reason to fail. */
	if (give_kernel_to_symbolizer(o) < 0)
		o->kernel->state = OBJECT_UNREADABLE;
	if (give_vdso_to_symbolizer(o) < 0) {
		o->vdso->state = OBJECT_UNREADABLE;
		object_set_no_table(o, o->vdso);
	}
	return 0;
}

struct object *objects_kernel(struct objects *o)
{
	return o->kernel;
}

struct object *objects_vdso(struct objects *o, uint64_t start, uint64_t end)
{
	/* A 32-bit process has another image, which may have the same size. */
	if (end <= 1ULL << 32)
		return o->vdso32;
	return !o->vdso_size || end - start == o->vdso_size ? o->vdso : NULL;
}

void objects_need(struct objects *o, struct object *object)
{
	object->wanted = true;
	object_open(o, object);
	/* Ignore errors: later requests for names report an unreadable file. */
	if (object->state == OBJECT_KNOWN && !object->read && object->kind != MAPPING_PYTHON &&
	    object->kind != MAPPING_JAVA)
		(void)request_symbols(o, object);
}

static bool is_in_memory(const struct object *object)
{
	return !strncmp(object->path, "/memfd:", 7);
}

void objects_handle_facts(struct objects *o, uint64_t id, const struct object_facts *f)
{
	struct object *object = objects_by_id(o, id);

	if (!object || object->kind == MAPPING_KERNEL)
		return;
	if (strcmp(object->file.build_id, f->build_id)) {
		snprintf(object->file.build_id, sizeof(object->file.build_id), "%s", f->build_id);
		object->emitted = false;
	}
	if (f->bad && !object->file.generated && is_in_memory(object)) {
		object->file.generated = true;
		object_notify(o, object, true);
	}
	snprintf(object->file.debuglink, sizeof(object->file.debuglink), "%s", f->debuglink);
	object_advance_debug_search(o, object, f->wants_debug);
}

void objects_handle_table(struct objects *o, uint64_t id, int status, const struct unwind_table *t)
{
	struct object *object = objects_by_id(o, id);
	struct tables *tables = o->context.tables;

	if (object && !object->file.settled)
		object->file.settled = clock_boot_ns();
	if (!object || object->table < UNWIND_SLOTS_FIXED)
		return;
	if (!status) /* a table that does not fit counts as evicted */
		(void)tables_put(tables, object->table, t, clock_boot_ns());
	else if (status == -EBADMSG && is_in_memory(object))
		tables_set_state(tables, object->table, UNWIND_TABLE_GENERATED, clock_boot_ns());
	else
		object_set_no_table(o, object);
}

struct object *objects_handle_inspected(struct objects *o, uint64_t id, const struct python_file *f,
					uint32_t layout)
{
	struct object *object = objects_by_id(o, id);

	/* without an unwind table, this is all that the recorder wants to know of the file */
	if (object && !o->context.unwind && !object->file.settled)
		object->file.settled = clock_boot_ns();
	if (!object || object->kind != MAPPING_FILE || f->support == PYTHON_NONE)
		return NULL;
	if (object_set_python(object, f) < 0)
		return NULL;
	object->python.layout = layout;
	object->emitted = false;
	object->pass++; /* frames of the evaluation loop differ from now on */
	return object;
}

void objects_request_table(struct objects *o, uint32_t slot)
{
	struct object *object, *next;

	HASH_ITER (by_id, o->by_id, object, next) {
		if (object->table != slot || object->state != OBJECT_KNOWN)
			continue;
		request_table(o, object);
		return;
	}
	tables_set_state(o->context.tables, slot, UNWIND_TABLE_NONE, clock_boot_ns());
}

void objects_miss_kernel_name(struct objects *o)
{
	o->kernel_name_missing = true;
}

/* Names may be missing because a module was loaded after kallsyms was read. */
bool objects_reread_kernel(struct objects *o, uint64_t now)
{
	struct object *kernel = o->kernel;
	int fd;

	if (!o->kernel_name_missing)
		return false;
	o->kernel_name_missing = false;
	kernel->checked = now;
	fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || symbolizer_refresh(o->context.symbolizer, kernel->id, fd) < 0)
		return false;
	object_notify(o, kernel, false);
	return true;
}

void objects_refresh(struct objects *o, uint64_t now)
{
	struct object *object, *next;

	if (now - o->kernel->checked >= KERNEL_INTERVAL)
		objects_reread_kernel(o, now);
	HASH_ITER (by_id, o->by_id, object, next) {
		if (object->kind != MAPPING_JIT || !object->wanted ||
		    object->state == OBJECT_UNSEEN || object->state == OBJECT_OPENING)
			continue;
		object->wanted = false;
		object->checked = now;
		/* A program may write its perf map long after its first generated code. */
		if (object->state == OBJECT_UNREADABLE)
			object->state = OBJECT_OPENING;
		object_request_open(o, object, OPEN_PERF_MAP);
	}
}
