// SPDX-License-Identifier: Apache-2.0
/* Opens the files, perf maps and memories of objects through the opener, and finds debug files. */
#include "capture/objects_private.h"

#include <errno.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/debuginfod.h"
#include "symbolizers/hotspot_tables.h"
#include "symbolizers/python_file.h"

/* A token is an object id and, in its low bits, an enum open_what. */
#define WHAT_BITS 2

void object_end_debug_search(struct object *object)
{
	struct debug_search *d = &object->file.debug;

	while (d->next < d->count)
		close(d->files[d->next++]);
	d->awaited = d->opening = d->reading = false;
}

/* Mark the object as unreadable: frames in it have no names, and walks end in it. */
static void mark_unreadable(struct objects *o, struct object *object)
{
	object->state = OBJECT_UNREADABLE;
	object->file.failed = true;
	object_set_no_table(o, object);
}

void object_request_open(struct objects *o, struct object *object, enum open_what what)
{
	struct open_request r = {
		.token = object->id << WHAT_BITS | what,
		.what = what,
		.pid = object->mapped.pid,
		.born = object->mapped.born,
		.fallback_pids = {object->mapped.parent},
		.start = object->mapped.start,
		.end = object->mapped.end,
		.seen = object->mapped.seen,
		.id = object->file.id,
		.path = object->path,
		.build_id = object->file.build_id,
		.debuglink = object->file.debuglink,
	};

	if (opener_open(o->context.opener, &r) < 0 && object->state == OBJECT_OPENING) {
		file_quota_refuse(object_quota(o, object), REFUSED_QUOTA);
		mark_unreadable(o, object);
	}
}

/* The file to open for objects of each kind; OPEN_MAPPED_FILE (0) for all other kinds. */
static const enum open_what opened_for[MAPPING_KIND_COUNT] = {
	[MAPPING_JIT] = OPEN_PERF_MAP,
	[MAPPING_PYTHON] = OPEN_MEMORY,
	[MAPPING_JAVA] = OPEN_MEMORY,
};

void object_open(struct objects *o, struct object *object)
{
	if (object->state != OBJECT_UNSEEN)
		return;
	if (object->kind == MAPPING_FILE &&
	    !file_quota_take_open(object_quota(o, object), clock_boot_ns())) {
		file_quotas_refuse_file(&o->file_quotas, object->owner, &object->file.id,
					FILE_KEY_SIZE);
		mark_unreadable(o, object);
		return;
	}
	object->state = OBJECT_OPENING;
	object_request_open(o, object, opened_for[object->kind]);
}

/* Return whether the file's size or modification time differs from when it was last opened. */
static bool has_changed(const struct object *object, const struct open_reply *a)
{
	return a->size != object->opened.size || a->mtime_ns != object->opened.mtime_ns;
}

static void set_opened(struct object *object, const struct open_reply *a)
{
	object->suspicious = a->suspicious;
	object->opened = (struct file_version){a->size, a->mtime_ns};
	object->state = OBJECT_KNOWN;
}

static void file_opened(struct objects *o, struct object *object, const struct open_reply *a)
{
	bool again = object->state == OBJECT_KNOWN;

	if (again && !has_changed(object, a)) {
		close(a->fd);
		return;
	}
	if (again)
		object_renumber(o, object);
	set_opened(object, a);
	object->emitted = false;
	object->pass += object->file.failed;
	if (object_give(o, object, OBJECT_ELF, a->fd) < 0)
		object->state = OBJECT_UNREADABLE;
	object_notify(o, object, again || object->file.failed);
	object->file.failed = false;
}

static void perf_map_opened(struct objects *o, struct object *object, const struct open_reply *a)
{
	bool first = !object->read;
	int ret;

	if (!first && object->state == OBJECT_KNOWN &&
	    (!has_changed(object, a) || a->suspicious != object->suspicious)) {
		close(a->fd);
		return;
	}
	set_opened(object, a);
	ret = first ? object_give(o, object, OBJECT_PERFMAP, a->fd)
		    : symbolizer_refresh(o->context.symbolizer, object->id, a->fd);
	if (ret < 0)
		object->state = OBJECT_UNREADABLE;
	object->pass++;
	object_notify(o, object, true);
}

/* Process the opened memory of a process with an interpreter or a JVM. */
static void memory_opened(struct objects *o, struct object *object, const struct open_reply *a)
{
	int ret = -ENOMEM;

	if (object->python.file)
		ret = symbolizer_add_python(o->context.symbolizer, object->id, a->fd,
					    &object->python.file->layout, object->python.code_type);
	else if (object->java.file)
		ret = symbolizer_add_java(o->context.symbolizer, object->id, a->fd,
					  &object->java.file->objects);
	else
		close(a->fd);
	if (!ret)
		symbolizer_set_owner(o->context.symbolizer, object->id, object->owner);
	object->state = ret < 0 ? OBJECT_UNREADABLE : OBJECT_KNOWN;
	object_notify(o, object, false);
}

static void not_opened(struct objects *o, struct object *object, int cause, uint64_t now)
{
	if (object->state != OBJECT_OPENING)
		return;
	if (cause == -ETIMEDOUT || cause == -EBUSY || cause == -ENOBUFS)
		file_quota_refuse(object_quota(o, object),
				  cause == -ENOBUFS ? REFUSED_QUOTA : REFUSED_SILENT);
	mark_unreadable(o, object);
	object->checked = now;
	object_notify(o, object, false);
}

/* Ask servers for the debug file, once. Return whether their reply is awaited. */
static bool ask_servers(struct objects *o, struct object *object)
{
	struct debug_search *d = &object->file.debug;

	if (d->asked || !o->context.debuginfod)
		return false;
	d->asked = true;
	return debuginfod_fetch(o->context.debuginfod, object->id, object->file.build_id,
				DEBUGINFOD_DEBUG) == 0;
}

/*
 * Pass the next candidate to the worker. If the search has ended, notify, since the debug file may
 * have names for frames without a name.
 */
static void search_debug(struct objects *o, struct object *object)
{
	struct debug_search *d = &object->file.debug;

	while (!d->reading && d->next < d->count)
		d->reading = symbolizer_add_debug(o->context.symbolizer, object->id,
						  d->files[d->next++]) == 0;
	if (d->reading || d->opening || ask_servers(o, object))
		return;
	d->awaited = false;
	object_notify(o, object, false);
}

void objects_handle_fetched(struct objects *o, uint64_t id, int fd)
{
	struct object *object = objects_by_id(o, id);
	struct debug_search *d = object ? &object->file.debug : NULL;

	if (fd >= 0 && (!d || !d->awaited)) {
		close(fd);
		debuginfod_settle(o->context.debuginfod, id, false);
	} else if (fd >= 0) {
		d->theirs = d->reading = symbolizer_add_debug(o->context.symbolizer, id, fd) == 0;
	}
	if (d && d->awaited)
		search_debug(o, object);
}

static void debug_opened(struct objects *o, struct object *object, const struct open_reply *a)
{
	struct debug_search *d = &object->file.debug;

	/*
	 * Leave out debug files on a file system that may not respond if the first worker reads the
	 * object, since that worker must not hang.
	 */
	if (a->fd >= 0 &&
	    (!d->opening || d->count == OPENER_DEBUG_MAX || (a->suspicious && !object->suspicious)))
		close(a->fd);
	else if (a->fd >= 0)
		d->files[d->count++] = a->fd;
	if (!d->opening)
		return;
	d->opening = a->more;
	search_debug(o, object);
}

void object_advance_debug_search(struct objects *o, struct object *object, bool wants_debug)
{
	struct debug_search *d = &object->file.debug;

	if (d->reading) { /* the worker has read the current candidate */
		d->reading = false;
		if (d->theirs)
			debuginfod_settle(o->context.debuginfod, object->id, !wants_debug);
		d->theirs = false;
		d->asked |= !wants_debug;
		if (!wants_debug)
			object_end_debug_search(object);
		search_debug(o, object);
	} else if (wants_debug && !d->begun && object->kind == MAPPING_FILE) {
		d->begun = d->awaited = d->opening = true;
		object_request_open(o, object, OPEN_DEBUG);
	}
}

static void (*const opened[])(struct objects *o, struct object *object,
			      const struct open_reply *a) = {
	[OPEN_MAPPED_FILE] = file_opened,
	[OPEN_PERF_MAP] = perf_map_opened,
	[OPEN_DEBUG] = debug_opened,
	[OPEN_MEMORY] = memory_opened,
};

void objects_handle_opened(struct objects *o, const struct open_reply *a, uint64_t now)
{
	struct object *object = objects_by_id(o, a->token >> WHAT_BITS);
	enum open_what what = a->token & ((1 << WHAT_BITS) - 1);

	if (object && (a->fd >= 0 || what == OPEN_DEBUG))
		opened[what](o, object, a);
	else if (object)
		not_opened(o, object, a->fd, now);
	else if (a->fd >= 0)
		close(a->fd);
}
