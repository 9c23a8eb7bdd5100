// SPDX-License-Identifier: Apache-2.0
/* Implements the identity of objects, their references, and their entities in the trace. */
#include "capture/objects_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/clock.h"
#include "capture/owners.h"
#include "symbolizers/python_file.h"

/*
 * When a file is mapped that was not checked for this time (ns), its size and times are compared
 * again, because a file may be overwritten in place.
 */
#define CHECK_INTERVAL NSEC_PER_SEC
/*
 * Maximum number of unused objects that are remembered: files, process memories, generated code.
 * The descriptors of their files stay open, even if the files were deleted.
 */
#define UNUSED_MAX 1024
/* Ids of info rows about runtimes; they follow the ids of describe.c and file_quotas.c. */
#define FIRST_RUNTIME_INFO 1000

struct object *object_new(struct objects *o, enum mapping_kind kind, const char *path)
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

struct file_quota *object_quota(struct objects *o, const struct object *object)
{
	return file_quotas_get(&o->file_quotas, object->owner);
}

void object_notify(const struct objects *o, struct object *object, bool changed)
{
	o->context.object_updated(o->context.context, object, changed);
}

/* Return the user on whose behalf the file or memory is looked at; 0 (root) without an opener. */
static uint32_t mapped_owner(struct objects *o, const struct mapped_place *at)
{
	return o->context.opener ? opener_owner(o->context.opener, at->pid, at->parent) : 0;
}

int objects_new(struct objects **out, const struct objects_context *c, struct error *err)
{
	struct objects *o = calloc(1, sizeof(*o));

	if (!o)
		return error_errno(err, -ENOMEM, "objects");
	o->context = *c;
	if (objects_add_kernel(o) < 0) {
		objects_free(o);
		return error_errno(err, -ENOMEM, "objects");
	}
	*out = o;
	return 0;
}

static void free_object(struct objects *o, struct object *object)
{
	struct object *newest = NULL;

	HASH_FIND(file.by_file, o->by_file, &object->file.id, FILE_KEY_SIZE, newest);
	if (newest == object)
		HASH_DELETE(file.by_file, o->by_file, object);
	if (HASH_HAS(by_id, object)) /* false if object_renumber() had no memory */
		HASH_DELETE(by_id, o->by_id, object);
	if (object->kind == MAPPING_FILE && !object->file.refused)
		object_quota(o, object)->files--;
	object_end_debug_search(object);
	tables_remove(o->context.tables, object->table, clock_boot_ns());
	free(object->python.file);
	free(object->java.file);
	free(object->java.described);
	free(object->java.counters);
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

struct object *objects_by_id(struct objects *o, uint64_t id)
{
	struct object *object = NULL;

	HASH_FIND(by_id, o->by_id, &id, sizeof(id), object);
	return object;
}

/*
 * Return whether two files with the same device and inode number have the same generation. Only
 * side-band records have the generation, /proc does not: 0 matches every generation. If known has
 * no generation, set it to that of id.
 */
static bool same_generation(struct file_id *known, const struct file_id *id)
{
	if (!known->generation)
		known->generation = id->generation;
	return !id->generation || known->generation == id->generation;
}

static struct object *find_file_object(struct objects *o, const struct file_id *id)
{
	struct object *object = NULL;

	HASH_FIND(file.by_file, o->by_file, id, FILE_KEY_SIZE, object);
	if (object && !same_generation(&object->file.id, id)) {
		/* The inode number was reused. The old object stays known by its id. */
		HASH_DELETE(file.by_file, o->by_file, object);
		object = NULL;
	}
	return object;
}

/* Return the object that stands for all files of a user beyond the quota; NULL: no memory. */
static struct object *refused_files(struct objects *o, uint32_t owner)
{
	struct object *object;
	char path[64];

	for (object = o->refused; object; object = object->file.next_refused)
		if (object->owner == owner)
			return object;
	snprintf(path, sizeof(path), "[files of uid %u beyond its share]", owner);
	object = object_new(o, MAPPING_FILE, path);
	if (!object)
		return NULL;
	object->owner = owner;
	object->state = OBJECT_UNREADABLE;
	object->file.refused = true;
	object->table = UNWIND_SLOT_NONE;
	object->users = 1; /* never removed */
	object->file.next_refused = o->refused;
	o->refused = object;
	return object;
}

static struct object *new_file_object(struct objects *o, const struct mapped_region *m)
{
	uint32_t owner = mapped_owner(o, &m->at);
	struct object *object;

	if (!file_quota_take_kept(file_quotas_get(&o->file_quotas, owner))) {
		file_quotas_refuse_file(&o->file_quotas, owner, &m->file, FILE_KEY_SIZE);
		return refused_files(o, owner);
	}
	object = object_new(o, MAPPING_FILE, m->path);
	if (!object) {
		file_quotas_get(&o->file_quotas, owner)->files--;
		return NULL;
	}
	object->owner = owner;
	object->file.id = m->file;
	object->table = objects_new_table_slot(o);
	if (object->table >= UNWIND_SLOTS_FIXED)
		tables_set_owner(o->context.tables, object->table, owner);
	HASH_ADD(file.by_file, o->by_file, file.id, FILE_KEY_SIZE, object);
	return object;
}

bool mapped_is_file(const struct mapped_region *m)
{
	const char *path = m->path;

	return path[0] == '/' && path[1] != '/' && m->file.inode && strncmp(path, "/dev/zero", 9) &&
	       strncmp(path, "/anon_hugepage", 14) && strncmp(path, "/SYSV", 5);
}

static void set_mapped(struct object *object, const struct mapped_place *at)
{
	object->mapped = *at;
	object->checked = at->seen;
}

const struct object *objects_prefetch(struct objects *o, const struct mapped_region *m)
{
	struct object *object = mapped_is_file(m) ? find_file_object(o, &m->file) : NULL;

	if (object || !mapped_is_file(m))
		return object;
	object = new_file_object(o, m);
	if (!object || object->file.refused)
		return object;
	set_mapped(object, &m->at);
	object_open(o, object);
	return object;
}

/*
 * When a second user waits for an object that another user (not root) mapped first, make
 * OWNER_SHARED its owner, and request the object again if its opening is pending or has failed: the
 * object's turn must not depend on the user who mapped it first.
 */
static void note_second_owner(struct objects *o, struct object *object,
			      const struct mapped_place *at)
{
	if (!object->owner || object->owner == OWNER_SHARED || object->file.settled ||
	    mapped_owner(o, at) == object->owner)
		return;
	object_quota(o, object)->files--;
	object->owner = OWNER_SHARED;
	object_quota(o, object)->files++;
	if (object->table >= UNWIND_SLOTS_FIXED)
		tables_set_owner(o->context.tables, object->table, object->owner);
	if (object->state == OBJECT_KNOWN)
		symbolizer_set_owner(o->context.symbolizer, object->id, object->owner);
	else if (object->file.failed)
		object->state = OBJECT_UNSEEN;
	else if (object->state == OBJECT_OPENING) {
		object->mapped = *at;
		object_request_open(o, object, OPEN_MAPPED_FILE);
	}
}

/*
 * Open the file again if it was overwritten in place. To detect this, the descriptor that the
 * symbolizer holds is sufficient, since it refers to the inode that the process maps. A suspicious
 * file is always opened again, since only the opener may touch a file system that may hang.
 */
static void recheck_file(struct objects *o, struct object *object)
{
	if (object->suspicious || !symbolizer_is_unchanged(o->context.symbolizer, object->id))
		object_request_open(o, object, OPEN_MAPPED_FILE);
}

struct object *objects_get_file(struct objects *o, const struct mapped_region *m, bool open_now)
{
	struct object *object = find_file_object(o, &m->file);
	bool stale;

	if (!object)
		object = new_file_object(o, m);
	if (!object || object->file.refused)
		return object;
	note_second_owner(o, object, &m->at);
	if (HASH_HAS(by_id, object))
		HASH_TO_END(by_id, o->by_id, object);
	stale = m->at.seen >= object->checked + CHECK_INTERVAL;
	if (object->state == OBJECT_UNREADABLE &&
	    (stale || (m->at.parent && !object->mapped.parent)))
		object->state = OBJECT_UNSEEN; /* the file may be readable through this process */
	if (object->state == OBJECT_UNSEEN) {
		set_mapped(object, &m->at);
		if (open_now)
			object_open(o, object);
	} else if (object->state == OBJECT_KNOWN && stale) {
		set_mapped(object, &m->at);
		recheck_file(o, object);
	}
	return object;
}

/* Return a new object that belongs to one process, or NULL without memory. */
static struct object *new_private_object(struct objects *o, enum mapping_kind kind,
					 const char *path, const struct mapped_place *at)
{
	struct object *object = object_new(o, kind, path);

	if (!object)
		return NULL;
	object->owner = mapped_owner(o, at);
	object->mapped = *at;
	return object;
}

struct object *objects_new_jit(struct objects *o, const struct mapped_place *at)
{
	return new_private_object(o, MAPPING_JIT, "[jit]", at);
}

struct object *objects_new_python(struct objects *o, const struct mapped_place *at,
				  const struct python_file *f, uint64_t code_type)
{
	struct object *object = new_private_object(o, MAPPING_PYTHON, "[python]", at);

	if (!object)
		return NULL;
	object->table = UNWIND_SLOT_NONE;
	object->python.code_type = code_type;
	(void)object_set_python(object, f); /* on failure, the names cannot be read */
	return object;
}

struct object *objects_new_java(struct objects *o, const struct mapped_place *at,
				const struct hotspot_file *f)
{
	struct object *object = new_private_object(o, MAPPING_JAVA, "[java]", at);

	if (!object)
		return NULL;
	object->table = objects_new_table_slot(o);
	(void)object_set_java(object, f); /* on failure, the names cannot be read */
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

void object_renumber(struct objects *o, struct object *object)
{
	HASH_DELETE(by_id, o->by_id, object);
	object->id = ++o->last_id;
	HASH_ADD(by_id, o->by_id, id, sizeof(object->id), object);
	object->emitted = false;
	object_end_debug_search(object);
	object->file.debug = (struct debug_search){0};
	object->file.build_id[0] = '\0';
}

/*
 * Return whether the object may be forgotten: it has no references, neither its file nor a debug
 * file is being opened, and it is neither the kernel nor a vDSO.
 */
static bool is_unused(const struct object *object)
{
	return !object->users && object->state != OBJECT_OPENING && !object->file.debug.awaited &&
	       object->kind != MAPPING_KERNEL && object->kind != MAPPING_VDSO;
}

/*
 * Forget unused objects until only UNUSED_MAX / 2 are left (*unused: their number), the least
 * recently mapped ones first (the hash keeps them in that order). owner: forget only objects of the
 * user of this quota; NULL: of all users.
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

/* What an info record says about a runtime. */
struct runtime_text {
	const char *word; /* of the key */
	const char *value;
};

static int put_runtime_info(const struct object *object, uint64_t host, struct runtime_text t,
			    struct sink *sink, struct error *err)
{
	char key[32];
	const struct info i = {
		.id = FIRST_RUNTIME_INFO + object->id,
		.host = host,
		.key = key,
		.value = t.value,
	};

	snprintf(key, sizeof(key), "%s.%llu", t.word, (unsigned long long)object->id);
	return put_info(sink, &i, err);
}

/* Emit an info record with the interpreter that a file has, and whether its frames can be read. */
static int put_python_info(const struct object *object, uint64_t host, struct sink *sink,
			   struct error *err)
{
	const struct python_file *f = object->python.file;
	char value[OPENER_PATH_MAX + 256];

	if (f->major)
		snprintf(value, sizeof(value), "Python %u.%u.%u, %s: %s", f->major, f->minor,
			 f->micro, object->path, python_support_text(f->support));
	else
		snprintf(value, sizeof(value), "Python, %s: %s", object->path,
			 python_support_text(f->support));
	return put_runtime_info(object, host, (struct runtime_text){"python", value}, sink, err);
}

/* Emit an info record about a JVM: its release, and whether its frames can be read. */
static int put_java_info(const struct object *object, uint64_t host, struct sink *sink,
			 struct error *err)
{
	char value[448];

	snprintf(value, sizeof(value), "pid %u: %s", object->mapped.pid, object->java.described);
	return put_runtime_info(object, host, (struct runtime_text){"java", value}, sink, err);
}

const struct file_quotas *objects_quotas(const struct objects *o)
{
	return &o->file_quotas;
}

/* Files whose opening is still pending were not looked at, so they count as refused. */
void objects_end(struct objects *o)
{
	struct object *object;

	for (object = o->by_id; object; object = object->by_id.next)
		if (object->kind == MAPPING_FILE && object->state == OBJECT_OPENING)
			file_quota_refuse(object_quota(o, object), REFUSED_SILENT);
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
			.process = object->mapped.process,
			.size = object->kind == MAPPING_FILE ? object->opened.size : 0,
			.path = object->path,
			.build_id = object->file.build_id,
		};

		/* also without samples that need it: it may say why frames have no names */
		if (!ret && object->java.described && !object->java.reported) {
			ret = put_java_info(object, host, sink, err);
			object->java.reported = !ret;
		}
		if (ret)
			break;
		if (object->emitted || !object->sampled)
			continue;
		ret = put_mapping(sink, &m, err);
		if (!ret && object->python.file && object->kind == MAPPING_FILE)
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
		object->sampled = object->emitted = object->java.reported = false;
}
