// SPDX-License-Identifier: Apache-2.0
/*
 * Read the list of a JVM's threads, which is hostile and changes meanwhile: a list or a thread may
 * be freed at any time, so what was read of a thread counts only if it still has its OSThread and
 * that its number afterwards.
 */
#include "symbolizers/hotspot_threads.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/hotspot_oops.h"

#define THREAD_BYTES_MAX 16384 /* of a JavaThread; JDK 25 has 2,216 */
#define LIST_ATTEMPTS 4
#define TID_MAX (1u << 22) /* PID_MAX_LIMIT of Linux */

/* Offsets in ThreadsList, JavaThread and OSThread. */
struct thread_offsets {
	uint16_t length, threads;
	uint16_t os_thread, object;
	uint16_t os_state, os_tid, thread_state;
	uint16_t thread_bytes;
	uint16_t pending, waiting, monitor_object, class_name, symbol_references;
};

#define THREAD(member) offsetof(struct thread_offsets, member)

static const struct hotspot_wanted thread_entries[] = {
	{"ThreadsList", "_length", NULL, THREAD(length), false},
	{"ThreadsList", "_threads", NULL, THREAD(threads), false},
	{"JavaThread", "_osthread", NULL, THREAD(os_thread), false},
	{"JavaThread", "_threadObj", NULL, THREAD(object), false},
	{"JavaThread", "_thread_state", NULL, THREAD(thread_state), false},
	{"JavaThread", NULL, NULL, THREAD(thread_bytes), false},
	{"OSThread", "_state", NULL, THREAD(os_state), false},
	{"OSThread", "_thread_id", NULL, THREAD(os_tid), false},
	{"JavaThread", "_current_pending_monitor", NULL, THREAD(pending), true},
	{"JavaThread", "_current_waiting_monitor", NULL, THREAD(waiting), true},
	{"ObjectMonitor", "_object", NULL, THREAD(monitor_object), true},
	{"Klass", "_name", NULL, THREAD(class_name), true},
	{"Symbol", "_hash_and_refcount", NULL, THREAD(symbol_references), true},
};

struct threads_reader {
	const struct hotspot_memory *memory;
	struct thread_offsets at;
	struct hotspot_oops oops;
	uint64_t *threads; /* addresses, from the list */
	uint32_t count;
};

static int read_at(const struct threads_reader *r, void *to, size_t bytes, uint64_t address)
{
	if (!address || address + bytes < address)
		return -EFAULT;
	return r->memory->read(r->memory->context, to, bytes, address);
}

/* Read the array of a list once. Return 0; -EAGAIN: the list was replaced meanwhile. */
static int read_list_once(struct threads_reader *r, uint64_t list_at)
{
	uint64_t list = 0, after = 0, array = 0;
	uint32_t count = 0;
	int ret = read_at(r, &list, 8, list_at);

	if (!ret && !list)
		return -EAGAIN;
	if (!ret)
		ret = read_at(r, &count, 4, list + r->at.length);
	if (!ret)
		ret = read_at(r, &array, 8, list + r->at.threads);
	if (count > HOTSPOT_THREADS_MAX)
		count = HOTSPOT_THREADS_MAX;
	if (!ret && count)
		ret = read_at(r, r->threads, count * 8ull, array);
	if (read_at(r, &after, 8, list_at) || after != list)
		return -EAGAIN;
	r->count = count;
	return ret;
}

static int read_thread_list(struct threads_reader *r, const struct hotspot_tables *t,
			    struct error *err)
{
	uint64_t list_at;
	int ret = -EAGAIN;

	if (hotspot_field(t, "ThreadsSMRSupport", "_java_thread_list", &list_at))
		return error_set(err, -ENOENT, "HotSpot's tables lack the list of threads");
	r->threads = calloc(HOTSPOT_THREADS_MAX, sizeof(*r->threads));
	if (!r->threads)
		return -ENOMEM;
	for (int i = 0; ret == -EAGAIN && i < LIST_ATTEMPTS; i++)
		ret = read_list_once(r, list_at);
	if (ret)
		error_errno(err, ret, "cannot read the JVM's list of threads");
	return ret;
}

/* Get the OSThread and the number of a thread. Return false if it has none yet, or no more. */
static bool identify_thread(const struct threads_reader *r, struct hotspot_thread *t)
{
	return !read_at(r, &t->os_thread, 8, t->address + r->at.os_thread) &&
	       !read_at(r, &t->tid, 4, t->os_thread + r->at.os_tid) && t->tid && t->tid < TID_MAX;
}

/* Read one thread. Return false if it is not one, or ends meanwhile. */
static bool read_thread(struct threads_reader *r, uint64_t address, struct hotspot_thread *out)
{
	struct hotspot_thread t, after;

	/* clear padding as well, since the struct is sent as it is */
	memset(&t, 0, sizeof(t));
	t.address = after.address = address;
	if (!identify_thread(r, &t))
		return false;
	hotspot_thread_name(&r->oops, address + r->at.object, t.name);
	if (!identify_thread(r, &after) || after.os_thread != t.os_thread || after.tid != t.tid)
		return false;
	*out = t;
	return true;
}

static void describe_layout(struct hotspot_thread_layout *out, const struct thread_offsets *at)
{
	memset(out, 0, sizeof(*out));
	out->os_state = at->os_state;
	out->os_tid = at->os_tid;
	out->thread_state = at->thread_state;
	out->thread_bytes = at->thread_bytes;
	if (at->pending != HOTSPOT_ABSENT && at->waiting != HOTSPOT_ABSENT) {
		out->monitor.pending = at->pending;
		out->monitor.waiting = at->waiting;
	}
	out->monitor.object = at->monitor_object;
	out->monitor.class_name = at->class_name;
	out->monitor.symbol_references = at->symbol_references;
}

/*
 * Set how the objects of this JVM have their class, as one of them shows, which was of a class that
 * is known. In a compact header nothing shows whose monitor an ObjectMonitor is.
 */
static void describe_objects(struct hotspot_monitor_layout *m, const struct hotspot_oops *o)
{
	if (m->object == HOTSPOT_ABSENT || m->class_name == HOTSPOT_ABSENT ||
	    m->symbol_references == HOTSPOT_ABSENT ||
	    (o->head != HOTSPOT_HEAD_NARROW && o->head != HOTSPOT_HEAD_WIDE))
		return;
	m->head = (uint8_t)o->head;
	m->colored = o->colored;
	m->class_base = o->class_base;
	m->class_shift = (uint8_t)o->class_shift;
}

int hotspot_threads_read(struct hotspot_threads *out, const struct hotspot_tables *t,
			 const struct hotspot_memory *memory, struct error *err)
{
	struct threads_reader r = {.memory = memory};
	int ret = hotspot_fill(&r.at, t, thread_entries,
			       sizeof(thread_entries) / sizeof(*thread_entries), err);

	if (ret)
		return ret;
	describe_layout(&out->layout, &r.at);
	if (!hotspot_thread_layout_check(&out->layout))
		return error_set(err, -EINVAL, "HotSpot's threads have members out of bounds");
	ret = read_thread_list(&r, t, err);
	if (!ret)
		hotspot_oops_begin(&r.oops, t, memory);
	for (uint32_t i = 0; !ret && i < r.count; i++) {
		struct hotspot_thread one;

		if (!read_thread(&r, r.threads[i], &one))
			continue;
		describe_objects(&out->layout.monitor, &r.oops);
		ret = out->each(out->context, &one);
	}
	free(r.threads);
	return ret;
}

/* The memory of the process that is read by this layout can only lie about itself. */
static bool is_monitor_valid(const struct hotspot_monitor_layout *m, uint32_t thread_bytes)
{
	return m->pending + 8u <= thread_bytes && m->waiting + 8u <= thread_bytes &&
	       (m->head == HOTSPOT_HEAD_UNKNOWN || m->head == HOTSPOT_HEAD_NARROW ||
		m->head == HOTSPOT_HEAD_WIDE) &&
	       m->class_shift < 32 && m->colored <= 1;
}

bool hotspot_thread_layout_check(const struct hotspot_thread_layout *l)
{
	return l->os_state < 4096 && l->os_tid < 4096 && l->thread_bytes &&
	       l->thread_bytes <= THREAD_BYTES_MAX && l->thread_state + 4u <= l->thread_bytes &&
	       is_monitor_valid(&l->monitor, l->thread_bytes);
}

bool hotspot_thread_check(const struct hotspot_thread *t)
{
	return t->tid && t->tid < TID_MAX && strnlen(t->name, sizeof(t->name)) < sizeof(t->name);
}
