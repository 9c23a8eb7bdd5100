// SPDX-License-Identifier: Apache-2.0
/* Objects: their identity, opening them, and keeping the facts known about them. */
#include "capture/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/owners.h"
#include "symbolizers/python_file.h"

/*
 * Interval (ns) after which the size and times of a file are compared again, because a file may be
 * overwritten in place.
 */
#define CHECK_INTERVAL NSEC_PER_SEC
/* Interval (ns) between reads of kallsyms, each of which takes tens of milliseconds. */
#define KERNEL_INTERVAL (10 * NSEC_PER_SEC)
/*
 * Maximum number of unmapped files and process memories that are remembered. Each of them holds a
 * file open that may have been deleted.
 */
#define UNUSED_MAX 1024
/* Ids of info rows about interpreters; they follow the ids of describe.c and file_quotas.c. */
#define FIRST_PYTHON_INFO 1000
/* A token is an object id and, in its low bits, an enum open_what. */
#define WHAT_BITS 2

struct objects {
	struct objects_context context;
	struct object *by_file; /* newest object of each file */
	struct object *by_id;
	struct object *kernel, *vdso, *vdso32;
	/* objects made by refused_files(): one for each user with more files than its share */
	struct object *refused;
	uint64_t vdso_size;
	uint64_t last_id;
	struct file_quotas file_quotas; /* how many files the recorder may look at for each user */
};

static struct object *new_object(struct objects *o, enum mapping_kind kind, const char *path)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->path = strdup(path);
	object->kind = kind;
	object->id = ++o->last_id;
	if (object->path)
		HASH_ADD(by_id, o->by_id, id, sizeof(object->id), object);
	if (HASH_HAS(by_id, object))
		return object;
	free(object->path);
	free(object);
	return NULL;
}

static void set_mapped(struct object *object, const struct mapped_region *m)
{
	object->pid = m->pid;
	object->parent = m->parent;
	object->born = m->born;
	object->start = m->start;
	object->end = m->end;
	object->seen = m->seen;
}

/* Return the user on whose behalf the file or process memory is looked at. */
static uint32_t mapped_owner(struct objects *o, const struct mapped_region *m)
{
	return o->context.opener ? opener_owner(o->context.opener, m->pid, m->parent) : 0;
}

static void set_no_table(struct objects *o, const struct object *object)
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
		set_no_table(o, object);
}

static int request_symbols(struct objects *o, struct object *object)
{
	object->read = true;
	return symbolizer_read(o->context.symbolizer, object->id);
}

static void forget_python(struct object *object)
{
	free(object->python);
	object->python = NULL;
	object->python_layout = 0;
}

/*
 * Request from the worker whether a file has an interpreter in it. If the request fails, only
 * native frames are shown.
 */
static void request_inspection(struct objects *o, struct object *object)
{
	forget_python(object);
	if (o->context.unwind && object->kind == MAPPING_FILE)
		(void)symbolizer_inspect(o->context.symbolizer, object->id);
}

/*
 * Pass the open file of an object to the symbolizer. The symbols of a file are read once a sample
 * needs them.
 */
static int give_to_symbolizer(struct objects *o, struct object *object, enum object_kind kind,
			      int fd)
{
	struct symbolizer *s = o->context.symbolizer;
	int ret = object->suspicious ? symbolizer_add_suspicious(s, object->id, kind, fd)
				     : symbolizer_add(s, object->id, kind, fd);

	object->read = false;
	if (!ret)
		symbolizer_set_owner(s, object->id, object->owner);
	if (!ret && kind == OBJECT_ELF) {
		/*
		 * Inspect the file first: a native stack without its table is finished later, but a
		 * Python stack cannot be.
		 */
		request_inspection(o, object);
		request_table(o, object);
	}
	if (!ret && (kind != OBJECT_ELF || object->wanted))
		ret = request_symbols(o, object);
	return ret;
}

static uint32_t new_table_slot(struct objects *o)
{
	return o->context.unwind ? tables_add(o->context.tables) : UNWIND_SLOT_NONE;
}

static int give_kernel_to_symbolizer(struct objects *o)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	o->kernel->state = OBJECT_KNOWN;
	return give_to_symbolizer(o, o->kernel, OBJECT_KERNEL, fd);
}

/* Reopen the file read-only, so that the worker cannot change it. Closes fd. */
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
 * Pass the recorder's own vDSO image to the symbolizer: the image is the same in every 64-bit
 * process.
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
	/* The first page of the image always exists; after the last one, write() stops short. */
	for (size_t at = 0; at < size; at += page)
		if (write(fd, image + at, page) != (ssize_t)page)
			break;
	fd = reopen_read_only(fd);
	if (fd < 0)
		return fd;
	o->vdso->state = OBJECT_KNOWN;
	o->vdso_size = (uint64_t)lseek(fd, 0, SEEK_END);
	return give_to_symbolizer(o, o->vdso, OBJECT_ELF, fd);
}

int objects_new(struct objects **out, const struct objects_context *c, struct error *err)
{
	struct objects *o = calloc(1, sizeof(*o));

	if (!o)
		return error_errno(err, -ENOMEM, "objects");
	o->context = *c;
	o->kernel = new_object(o, MAPPING_KERNEL, "[kernel]");
	o->vdso = new_object(o, MAPPING_VDSO, "[vdso]");
	o->vdso32 = new_object(o, MAPPING_VDSO, "[vdso32]");
	if (!o->kernel || !o->vdso || !o->vdso32) {
		objects_free(o);
		return error_errno(err, -ENOMEM, "objects");
	}
	o->vdso->table = new_table_slot(o);
	o->vdso32->table = new_table_slot(o);
	o->vdso32->state = OBJECT_UNREADABLE;
	set_no_table(o, o->vdso32);
	/*
	 * Without kallsyms and the vDSO image, kernel and vDSO frames have no names; that is no
	 * reason to fail.
	 */
	if (give_kernel_to_symbolizer(o) < 0)
		o->kernel->state = OBJECT_UNREADABLE;
	if (give_vdso_to_symbolizer(o) < 0) {
		o->vdso->state = OBJECT_UNREADABLE;
		set_no_table(o, o->vdso);
	}
	*out = o;
	return 0;
}

static void end_debug_search(struct object *object)
{
	struct debug_search *d = &object->debug;

	while (d->next < d->count)
		close(d->files[d->next++]);
	d->awaited = d->opening = d->reading = false;
}

static void free_object(struct objects *o, struct object *object)
{
	struct object *newest = NULL;

	HASH_FIND(by_file, o->by_file, &object->key, sizeof(object->key), newest);
	if (newest == object)
		HASH_DELETE(by_file, o->by_file, object);
	if (HASH_HAS(by_id, object)) /* false if memory ran out when the object's id changed */
		HASH_DELETE(by_id, o->by_id, object);
	if (object->kind == MAPPING_FILE && !object->refused)
		file_quotas_get(&o->file_quotas, object->owner)->files--;
	end_debug_search(object);
	tables_remove(o->context.tables, object->table, clock_boot_ns());
	free(object->python);
	free(object->path);
	free(object);
}

void objects_free(struct objects *o)
{
	struct object *object, *next;

	if (!o)
		return;
	HASH_ITER (by_id, o->by_id, object, next)
		free_object(o, object);
	file_quotas_free(&o->file_quotas);
	free(o);
}

struct object *objects_kernel(struct objects *o)
{
	return o->kernel;
}

struct object *objects_vdso(struct objects *o, uint64_t start, uint64_t end)
{
	/* A 32-bit process has another vDSO image, which may have the same size. */
	if (end <= 1ULL << 32)
		return o->vdso32;
	return !o->vdso_size || end - start == o->vdso_size ? o->vdso : NULL;
}

struct object *objects_by_id(struct objects *o, uint64_t id)
{
	struct object *object = NULL;

	HASH_FIND(by_id, o->by_id, &id, sizeof(id), object);
	return object;
}

/* Mark the object as unreadable: frames in it have no names. */
static void mark_unreadable(struct objects *o, struct object *object)
{
	object->state = OBJECT_UNREADABLE;
	object->failed = true;
	set_no_table(o, object);
}

static void request_open(struct objects *o, struct object *object, enum open_what what)
{
	struct open_request r = {
		.token = object->id << WHAT_BITS | what,
		.what = what,
		.pid = object->pid,
		.born = object->born,
		.fallback_pids = {object->parent},
		.start = object->start,
		.end = object->end,
		.seen = object->seen,
		.id = {object->key.major, object->key.minor, object->key.inode, object->generation},
		.path = object->path,
		.build_id = object->build_id,
		.debuglink = object->debuglink,
	};

	if (opener_open(o->context.opener, &r) < 0 && object->state == OBJECT_OPENING) {
		file_quota_refuse(file_quotas_get(&o->file_quotas, object->owner), REFUSED_QUOTA);
		mark_unreadable(o, object);
	}
}

static enum open_what open_what_of(const struct object *object)
{
	switch (object->kind) {
	case MAPPING_JIT:
		return OPEN_PERF_MAP;
	case MAPPING_PYTHON:
		return OPEN_MEMORY;
	default:
		return OPEN_MAPPED_FILE;
	}
}

static void open_object(struct objects *o, struct object *object)
{
	if (object->state != OBJECT_UNSEEN)
		return;
	if (object->kind == MAPPING_FILE &&
	    !file_quota_take_open(file_quotas_get(&o->file_quotas, object->owner),
				  clock_boot_ns())) {
		file_quotas_refuse_file(&o->file_quotas, object->owner, &object->key,
					sizeof(object->key));
		mark_unreadable(o, object);
		return;
	}
	object->state = OBJECT_OPENING;
	request_open(o, object, open_what_of(object));
}

void objects_need(struct objects *o, struct object *object)
{
	object->wanted = true;
	open_object(o, object);
	/* Ignore errors: later requests for names report an unreadable file. */
	if (object->state == OBJECT_KNOWN && !object->read && object->kind != MAPPING_PYTHON)
		(void)request_symbols(o, object);
}

/*
 * Return whether an object can be the file with this identity. Side-band records have the
 * generation of the inode, /proc does not: generation 0 matches every generation.
 */
static bool same_generation(struct object *object, const struct file_id *id)
{
	if (object->generation && id->generation && object->generation != id->generation)
		return false;
	if (!object->generation)
		object->generation = id->generation;
	return true;
}

static struct object *find_file_object(struct objects *o, const struct file_id *id)
{
	struct file_key key = {.inode = id->inode, .major = id->major, .minor = id->minor};
	struct object *object = NULL;

	HASH_FIND(by_file, o->by_file, &key, sizeof(key), object);
	if (object && !same_generation(object, id)) {
		/* The inode number was reused. The old object stays known by its id. */
		HASH_DELETE(by_file, o->by_file, object);
		object = NULL;
	}
	return object;
}

/* Return the object that stands for all files of a user beyond its share of remembered files. */
static struct object *refused_files(struct objects *o, uint32_t owner)
{
	struct object *object;
	char path[64];

	for (object = o->refused; object; object = object->next_refused)
		if (object->owner == owner)
			return object;
	snprintf(path, sizeof(path), "[files of uid %u beyond its share]", owner);
	object = new_object(o, MAPPING_FILE, path);
	if (!object)
		return NULL;
	object->owner = owner;
	object->state = OBJECT_UNREADABLE;
	object->refused = true;
	object->table = UNWIND_SLOT_NONE;
	object->users = 1; /* in use for ever, so that it is never removed */
	object->next_refused = o->refused;
	o->refused = object;
	return object;
}

static struct object *new_file_object(struct objects *o, const struct mapped_region *m)
{
	const struct file_key key = {m->file.inode, m->file.major, m->file.minor};
	uint32_t owner = mapped_owner(o, m);
	struct object *object;

	if (!file_quota_take_kept(file_quotas_get(&o->file_quotas, owner))) {
		file_quotas_refuse_file(&o->file_quotas, owner, &key, sizeof(key));
		return refused_files(o, owner);
	}
	object = new_object(o, MAPPING_FILE, m->path);
	if (!object) {
		file_quotas_get(&o->file_quotas, owner)->files--;
		return NULL;
	}
	object->owner = owner;
	object->key = key;
	object->generation = m->file.generation;
	object->table = new_table_slot(o);
	if (object->table >= UNWIND_SLOTS_FIXED)
		tables_set_owner(o->context.tables, object->table, owner);
	HASH_ADD(by_file, o->by_file, key, sizeof(object->key), object);
	return object;
}

bool mapped_is_file(const struct mapped_region *m)
{
	const char *path = m->path;

	return path[0] == '/' && path[1] != '/' && m->file.inode && strncmp(path, "/dev/zero", 9) &&
	       strncmp(path, "/anon_hugepage", 14) && strncmp(path, "/SYSV", 5);
}

const struct object *objects_prefetch(struct objects *o, const struct mapped_region *m)
{
	struct object *object = mapped_is_file(m) ? find_file_object(o, &m->file) : NULL;

	if (object || !mapped_is_file(m))
		return object;
	object = new_file_object(o, m);
	if (!object || object->refused)
		return object;
	set_mapped(object, m);
	object->checked = m->seen;
	open_object(o, object);
	return object;
}

/*
 * When a second user waits for an object that another user mapped first, request the object again
 * on behalf of both users: the object's turn must not depend on who mapped it first.
 */
static void note_second_owner(struct objects *o, struct object *object,
			      const struct mapped_region *m)
{
	if (!object->owner || object->owner == OWNER_SHARED || object->settled ||
	    mapped_owner(o, m) == object->owner)
		return;
	file_quotas_get(&o->file_quotas, object->owner)->files--;
	object->owner = OWNER_SHARED;
	file_quotas_get(&o->file_quotas, object->owner)->files++;
	if (object->table >= UNWIND_SLOTS_FIXED)
		tables_set_owner(o->context.tables, object->table, object->owner);
	if (object->state == OBJECT_KNOWN)
		symbolizer_set_owner(o->context.symbolizer, object->id, object->owner);
	else if (object->failed)
		object->state = OBJECT_UNSEEN;
	else if (object->state == OBJECT_OPENING) {
		set_mapped(object, m);
		request_open(o, object, OPEN_MAPPED_FILE);
	}
}

/*
 * Open the file again if it was overwritten in place. Checking the descriptor that is held open is
 * sufficient, since it refers to the inode that the process maps; this needs no request to the
 * opener.
 */
static void recheck_file(struct objects *o, struct object *object)
{
	if (object->suspicious || !symbolizer_is_unchanged(o->context.symbolizer, object->id))
		request_open(o, object, OPEN_MAPPED_FILE);
}

struct object *objects_get_file(struct objects *o, const struct mapped_region *m, bool open_now)
{
	struct object *object = find_file_object(o, &m->file);
	bool stale;

	if (!object)
		object = new_file_object(o, m);
	if (!object || object->refused)
		return object;
	note_second_owner(o, object, m);
	if (HASH_HAS(by_id, object))
		HASH_TO_END(by_id, o->by_id, object);
	stale = m->seen >= object->checked + CHECK_INTERVAL;
	if (object->state == OBJECT_UNREADABLE && (stale || (m->parent && !object->parent)))
		object->state = OBJECT_UNSEEN; /* the file may be readable through this process */
	if (object->state == OBJECT_UNSEEN) {
		set_mapped(object, m);
		object->checked = m->seen;
		if (open_now)
			open_object(o, object);
	} else if (object->state == OBJECT_KNOWN && stale) {
		set_mapped(object, m);
		object->checked = m->seen;
		recheck_file(o, object);
	}
	return object;
}

struct object *objects_new_jit(struct objects *o, const struct mapped_region *m, uint64_t process)
{
	struct object *object = new_object(o, MAPPING_JIT, "[jit]");

	if (!object)
		return NULL;
	object->table = UNWIND_SLOT_GENERATED;
	object->owner = mapped_owner(o, m);
	set_mapped(object, m);
	object->process = process;
	return object;
}

struct object *objects_new_python(struct objects *o, const struct mapped_region *m,
				  uint64_t process, const struct python_file *f, uint64_t code_type)
{
	struct object *object = new_object(o, MAPPING_PYTHON, "[python]");

	if (!object)
		return NULL;
	object->table = UNWIND_SLOT_NONE;
	object->python = malloc(sizeof(*f));
	if (object->python)
		*object->python = *f;
	object->owner = mapped_owner(o, m);
	set_mapped(object, m);
	object->process = process;
	object->code_type = code_type;
	return object;
}

void objects_use(struct object *object)
{
	object->users++;
}

void objects_unuse(struct object *object)
{
	object->users--;
}

static bool file_has_changed(const struct object *object, const struct open_reply *a)
{
	return a->size != object->size_then || a->mtime_ns != object->mtime_then;
}

/* Give a changed file a new id, so that frames seen before keep their names. */
static void renumber(struct objects *o, struct object *object)
{
	HASH_DELETE(by_id, o->by_id, object);
	object->id = ++o->last_id;
	HASH_ADD(by_id, o->by_id, id, sizeof(object->id), object);
	object->emitted = false;
	end_debug_search(object);
	object->debug = (struct debug_search){0};
	object->build_id[0] = '\0';
}

static void file_opened(struct objects *o, struct object *object, const struct open_reply *a)
{
	bool again = object->state == OBJECT_KNOWN;

	if (again && !file_has_changed(object, a)) {
		close(a->fd);
		return;
	}
	if (again)
		renumber(o, object);
	object->suspicious = a->suspicious;
	object->size = object->size_then = a->size;
	object->mtime_then = a->mtime_ns;
	object->state = OBJECT_KNOWN;
	object->emitted = false;
	object->pass += object->failed;
	if (give_to_symbolizer(o, object, OBJECT_ELF, a->fd) < 0)
		object->state = OBJECT_UNREADABLE;
	o->context.object_updated(o->context.context, object, again || object->failed);
	object->failed = false;
}

static void perf_map_opened(struct objects *o, struct object *object, const struct open_reply *a)
{
	bool first = !object->size_then;
	int ret;

	if (!first && object->state == OBJECT_KNOWN &&
	    (!file_has_changed(object, a) || a->suspicious != object->suspicious)) {
		close(a->fd);
		return;
	}
	object->suspicious = a->suspicious;
	object->size_then = a->size ? a->size : 1;
	object->mtime_then = a->mtime_ns;
	object->state = OBJECT_KNOWN;
	ret = first ? give_to_symbolizer(o, object, OBJECT_PERFMAP, a->fd)
		    : symbolizer_refresh(o->context.symbolizer, object->id, a->fd);
	if (ret < 0)
		object->state = OBJECT_UNREADABLE;
	object->pass++;
	o->context.object_updated(o->context.context, object, true);
}

/* Process the reply of the opener for the memory of a process with an interpreter. */
static void memory_opened(struct objects *o, struct object *object, const struct open_reply *a)
{
	int ret = -ENOMEM;

	if (object->python)
		ret = symbolizer_add_python(o->context.symbolizer, object->id, a->fd,
					    &object->python->layout, object->code_type);
	else
		close(a->fd);
	if (!ret)
		symbolizer_set_owner(o->context.symbolizer, object->id, object->owner);
	object->state = ret < 0 ? OBJECT_UNREADABLE : OBJECT_KNOWN;
	o->context.object_updated(o->context.context, object, false);
}

static void not_opened(struct objects *o, struct object *object, int cause, uint64_t now)
{
	if (object->state != OBJECT_OPENING)
		return;
	if (cause == -ETIMEDOUT || cause == -EBUSY || cause == -ENOBUFS)
		file_quota_refuse(file_quotas_get(&o->file_quotas, object->owner),
				  cause == -ENOBUFS ? REFUSED_QUOTA : REFUSED_SILENT);
	mark_unreadable(o, object);
	object->checked = now;
	o->context.object_updated(o->context.context, object, false);
}

/*
 * Pass the next candidate for a debug file to the worker. If there is none, end the search: frames
 * without a name may then get one.
 */
static void search_debug(struct objects *o, struct object *object)
{
	struct debug_search *d = &object->debug;

	while (!d->reading && d->next < d->count)
		d->reading = symbolizer_add_debug(o->context.symbolizer, object->id,
						  d->files[d->next++]) == 0;
	if (d->reading || d->opening)
		return;
	d->awaited = false;
	o->context.object_updated(o->context.context, object, false);
}

static void debug_opened(struct objects *o, struct object *object, const struct open_reply *a)
{
	struct debug_search *d = &object->debug;

	/*
	 * The first worker must not hang: do not give it a debug file of a file system that may not
	 * respond.
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

/* Process the worker's reply for its current candidate. */
static void debug_read(struct objects *o, struct object *object, bool refused)
{
	object->debug.reading = false;
	if (!refused)
		end_debug_search(object);
	search_debug(o, object);
}

void objects_handle_opened(struct objects *o, const struct open_reply *a, uint64_t now)
{
	struct object *object = objects_by_id(o, a->token >> WHAT_BITS);
	enum open_what what = a->token & ((1 << WHAT_BITS) - 1);

	if (a->fd < 0) {
		if (object && what == OPEN_DEBUG)
			debug_opened(o, object, a);
		else if (object)
			not_opened(o, object, a->fd, now);
	} else if (!object) {
		close(a->fd);
	} else if (what == OPEN_DEBUG) {
		debug_opened(o, object, a);
	} else if (what == OPEN_MEMORY) {
		memory_opened(o, object, a);
	} else if (object->kind == MAPPING_JIT) {
		perf_map_opened(o, object, a);
	} else {
		file_opened(o, object, a);
	}
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
	if (strcmp(object->build_id, f->build_id)) {
		snprintf(object->build_id, sizeof(object->build_id), "%s", f->build_id);
		object->emitted = false;
	}
	if (f->bad && !object->generated && is_in_memory(object)) {
		object->generated = true;
		o->context.object_updated(o->context.context, object, true);
	}
	snprintf(object->debuglink, sizeof(object->debuglink), "%s", f->debuglink);
	if (object->debug.reading) {
		debug_read(o, object, f->wants_debug);
	} else if (f->wants_debug && !object->debug.begun && object->kind == MAPPING_FILE) {
		object->debug.begun = object->debug.awaited = object->debug.opening = true;
		request_open(o, object, OPEN_DEBUG);
	}
}

void objects_handle_table(struct objects *o, uint64_t id, int status, const struct unwind_table *t)
{
	struct object *object = objects_by_id(o, id);
	struct tables *tables = o->context.tables;

	if (object && !object->settled)
		object->settled = clock_boot_ns();
	if (!object || object->table < UNWIND_SLOTS_FIXED)
		return;
	if (!status) /* a table that does not fit counts as evicted */
		(void)tables_put(tables, object->table, t, clock_boot_ns());
	else if (status == -EBADMSG && is_in_memory(object))
		tables_set_state(tables, object->table, UNWIND_TABLE_GENERATED, clock_boot_ns());
	else
		set_no_table(o, object);
}

struct object *objects_handle_inspected(struct objects *o, uint64_t id, const struct python_file *f,
					uint32_t layout)
{
	struct object *object = objects_by_id(o, id);

	if (!object || object->kind != MAPPING_FILE || f->support == PYTHON_NONE)
		return NULL;
	forget_python(object);
	object->python = malloc(sizeof(*f));
	if (!object->python)
		return NULL;
	*object->python = *f;
	object->python_layout = layout;
	object->emitted = false;
	object->pass++; /* New frames of the evaluation loop must differ from those seen before. */
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

/* Read kallsyms again: names may be missing because a module was loaded after it was read. */
bool objects_reread_kernel(struct objects *o, uint64_t now)
{
	struct object *kernel = o->kernel;
	int fd;

	if (!kernel->missed)
		return false;
	kernel->missed = false;
	kernel->checked = now;
	fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || symbolizer_refresh(o->context.symbolizer, kernel->id, fd) < 0)
		return false;
	o->context.object_updated(o->context.context, kernel, false);
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
		request_open(o, object, OPEN_PERF_MAP);
	}
}

/*
 * Return whether no address space maps the object, and nothing that is still needed from the object
 * is pending.
 */
static bool is_unused(const struct object *object)
{
	return !object->users && object->state != OBJECT_OPENING && !object->debug.awaited &&
	       object->kind != MAPPING_KERNEL && object->kind != MAPPING_VDSO;
}

/*
 * Forget unused objects while there are too many, the least recently mapped ones first (the hash
 * keeps them in that order). owner: only objects of this share; NULL: of any.
 */
static void trim_unused_objects(struct objects *o, size_t *unused, const struct file_quota *owner)
{
	struct object *object, *next;

	HASH_ITER (by_id, o->by_id, object, next) {
		if (*unused <= UNUSED_MAX / 2)
			break;
		if (!is_unused(object) || (owner && object->owner != owner->uid))
			continue;
		symbolizer_forget(o->context.symbolizer, object->id);
		free_object(o, object);
		--*unused;
	}
}

void objects_trim(struct objects *o)
{
	struct object *object;
	size_t unused = 0;

	for (object = o->by_id; object; object = object->by_id.next)
		unused += is_unused(object);
	if (unused <= UNUSED_MAX)
		return;
	trim_unused_objects(o, &unused, file_quotas_largest(&o->file_quotas));
	trim_unused_objects(o, &unused, NULL);
}

/* Emit an info record with the interpreter that a file has, and whether its frames can be read. */
static int put_python_info(const struct object *object, uint64_t host, struct sink *sink,
			   struct error *err)
{
	const struct python_file *f = object->python;
	char key[32], value[OPENER_PATH_MAX + 256];
	const struct info i = {
		.id = FIRST_PYTHON_INFO + object->id,
		.host = host,
		.key = key,
		.value = value,
	};

	snprintf(key, sizeof(key), "python.%llu", (unsigned long long)object->id);
	if (f->major)
		snprintf(value, sizeof(value), "Python %u.%u.%u, %s: %s", f->major, f->minor,
			 f->micro, object->path, python_support_text(f->support));
	else
		snprintf(value, sizeof(value), "Python, %s: %s", object->path,
			 python_support_text(f->support));
	return put_info(sink, &i, err);
}

const struct file_quotas *objects_quotas(const struct objects *o)
{
	return &o->file_quotas;
}

/* Count the files without a reply by now as refused, since they were not looked at. */
void objects_end(struct objects *o)
{
	struct object *object;

	for (object = o->by_id; object; object = object->by_id.next)
		if (object->kind == MAPPING_FILE && object->state == OBJECT_OPENING)
			file_quota_refuse(file_quotas_get(&o->file_quotas, object->owner),
					  REFUSED_SILENT);
}

int objects_emit(struct objects *o, uint64_t host, struct sink *sink, struct error *err)
{
	struct object *object, *next;
	int ret = file_quotas_report(&o->file_quotas, host, sink, err);

	HASH_ITER (by_id, o->by_id, object, next) {
		struct mapping m = {
			.id = object->id,
			.host = host,
			.kind = object->kind,
			.process = object->process,
			.size = object->size,
			.path = object->path,
			.build_id = object->build_id,
		};

		if (ret)
			break;
		if (object->emitted || !object->sampled)
			continue;
		ret = put_mapping(sink, &m, err);
		if (!ret && object->python && object->kind == MAPPING_FILE)
			ret = put_python_info(object, host, sink, err);
		if (ret)
			break;
		object->emitted = true;
	}
	return ret;
}

void objects_forget(struct objects *o)
{
	struct object *object, *next;

	HASH_ITER (by_id, o->by_id, object, next)
		object->sampled = object->emitted = false;
}
