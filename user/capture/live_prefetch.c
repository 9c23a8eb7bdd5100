// SPDX-License-Identifier: Apache-2.0
/*
 * Begins some work as soon as a record is drained, before the record is in order ("prefetch"). By
 * the time when the record is in order, its process may have exited, and names in the memory of the
 * process would be lost; also, samples until then would lack their Python frames.
 */
#include <string.h>

#include "bpf/event.h"
#include "capture/live.h"

/*
 * Request the pages of tables for a walk that waits for a table. The process's present mappings are
 * used, although records from before the sample may still be pending.
 */
static void prefetch_pages(struct live *l, const struct process_entry *p,
			   const struct wire_sample *s)
{
	const struct unfinished_stack u = live_unfinished_stack(s);

	live_request_pages(l, p->space, u.at.pc - !u.at.exact, &u);
}

/*
 * Prefetch the names of Python code and the pages of unwind tables that a sample needs. If the
 * process is not known yet, they are requested when the sample is in order.
 */
int live_prefetch(void *context, const struct wire_sample *s, uint32_t size)
{
	struct live *l = context;
	const uint64_t *user = live_sample_frames(s) + s->kernel_frames;
	struct own_numbers own;
	struct process_entry *p;

	if (!live_is_sample(s, size))
		return 0;
	own = namespace_own(l->selection.namespace, s->pid, s->tid);
	if (number_is_outside(own.pid))
		return 0;
	p = process_table_of_pid(l->processes, own.pid);
	if (p && !p->ended && p->space && s->flags & WIRE_UNFINISHED)
		prefetch_pages(l, p, s);
	if (p && p->ended)
		p = NULL;
	if (p && s->java & WIRE_JAVA_FRAMES)
		live_java_request_rows(l, p, s);
	if (p && s->java & WIRE_JAVA_FRAMES &&
	    intern_prefetch_java(l->intern, p, user, s->user_frames))
		return -ENOMEM;
	return intern_prefetch(l->intern, own.pid, p, user + s->user_frames, s->python_words);
}

/*
 * Pass an interpreter to the BPF walkers, so that Python frames are walked from the next sample on,
 * and have the memory of its process opened. Return 0 or -ENOMEM.
 */
static int send_interpreter(struct live *l, const struct object *o,
			    const struct prefetched_mapping *f)
{
	struct python_process python = pythons_at(o, f->start, f->offset);
	const struct mapped_place at = {.pid = f->pid, .seen = f->time};

	/* After an error, the walkers get the interpreter with the process's other mappings. */
	if (program_set_python(l->program, namespace_global(l->selection.namespace, f->pid),
			       &python, f->time))
		return 0;
	return intern_prefetch_memory(l->intern, &at, o->python.file, python.code_type);
}

/*
 * Return whether a mapping makes a drain urgent, because data may soon be gone: the file, if its
 * unwind table has not arrived yet; the names of Python code, if the file has an interpreter; the
 * code, if it is generated (o is NULL; the vDSO's mapping is not urgent).
 */
static bool needs_attention(const struct object *o, const struct mapped_region *m)
{
	if (!o)
		return strcmp(m->path, "[vdso]") != 0;
	return !o->file.settled || o->python.layout;
}

int live_prefetch_mapping(void *context, const struct life_record *mapping, uint64_t time)
{
	struct live *l = context;
	const struct mapped_region m = {
		.at = {.seen = time,
		       .pid = mapping->pid,
		       .start = mapping->start,
		       .end = mapping->end},
		.file = mapping->file,
		.path = mapping->text,
	};
	struct prefetched_mapping f = {
		.pid = m.at.pid, .start = m.at.start, .offset = mapping->offset, .time = time};
	const struct object *o;

	if (!life_has_process(mapping) || !live_selects_process(l, m.at.pid))
		return 0;
	o = objects_prefetch(l->objects, &m);
	l->rings.unknown |= needs_attention(o, &m);
	if (!o)
		return 0;
	f.object = o->id;
	if (o->python.layout)
		return send_interpreter(l, o, &f);
	l->walkers.prefetched[l->walkers.prefetched_count++ % LIVE_PREFETCHED_MAX] = f;
	return 0;
}

/*
 * Return whether the record of the mapping is in order; then the walkers get the mapping together
 * with the process's other mappings.
 */
static bool is_in_order(const struct live *l, const struct prefetched_mapping *f)
{
	const struct process_entry *p = process_table_of_pid(l->processes, f->pid);
	const struct space_mapping *m = p && p->space ? space_find(p->space, f->start) : NULL;

	return m && m->object && m->object->id == f->object;
}

int live_send_prefetched(struct live *l, const struct object *o)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < LIVE_PREFETCHED_MAX; i++) {
		struct prefetched_mapping *f = &l->walkers.prefetched[i];

		if (f->object != o->id)
			continue;
		if (o->python.layout && !is_in_order(l, f))
			ret = send_interpreter(l, o, f);
		f->object = 0;
	}
	return ret;
}
