/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Finds the class of the object whose monitor the current thread waits to enter. The class is known
 * by the Symbol that has its name, with the random number of that Symbol, which never change: a
 * class may be unloaded, and its memory may become another one's, before its name is read.
 *
 * Who includes this defines user_read(to, bytes, address), which reads memory of the process and
 * returns whether it could.
 */
#ifndef SKEIN_BPF_MONITOR_CLASS_H
#define SKEIN_BPF_MONITOR_CLASS_H

#ifndef __bpf__
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#include "bpf/event.h"

/* Return a word of the current process; 0: it cannot be read. */
static __always_inline __u64 user_word(__u64 address)
{
	__u64 word;

	return user_read(&word, sizeof(word), address) ? word : 0;
}

/*
 * Return the class of an object whose monitor is at an address; 0: the object is not there. Only
 * the object itself has the address of its monitor in its mark word, so this is right while a
 * collector moves objects, also where the object was before, if that is still unused.
 */
static __always_inline __u64 java_class(const struct hotspot_monitor_layout *m, __u64 object,
					__u64 monitor)
{
	struct {
		__u64 mark, class;
	} head;

	if (!user_read(&head, sizeof(head), object) ||
	    head.mark != HOTSPOT_MARK_OF_MONITOR(monitor))
		return 0;
	if (m->head == HOTSPOT_HEAD_WIDE)
		return head.class;
	return m->class_base + ((head.class & ~0U) << (m->class_shift & 31));
}

/* Return the WIRE_CLASS() of the object of a monitor at an address; 0: it is not known. */
static __always_inline __u64 monitor_class(const struct hotspot_monitor_layout *m, __u64 monitor)
{
	__u64 object, class, symbol;
	__u32 references;

	if (!m->head)
		return 0;
	object = user_word(user_word(monitor + m->object));
	class = java_class(m, m->colored ? hotspot_without_color(object) : object, monitor);
	symbol = class ? user_word(class + m->class_name) : 0;
	if (!symbol || symbol >> WIRE_CLASS_BITS)
		return 0;
	if (!user_read(&references, sizeof(references), symbol + m->symbol_references))
		references = 0;
	return WIRE_CLASS(symbol, references >> 16);
}

/*
 * Return what the current thread, which is about to enter a monitor by its OSThread, waits for.
 * *class: of the monitor's object, as monitor_class(). A thread that has entered the monitor is in
 * that state until it knows that the JVM lets it run. The monitor is the object's as long as a
 * thread waits for it.
 */
static __always_inline enum wire_lock monitor_lock(const struct wire_java_thread *t, __u64 *class)
{
	const struct hotspot_monitor_layout *m = &t->monitor;
	__u64 monitor;

	if (!m->pending || !user_read(&monitor, sizeof(monitor), t->thread + m->pending))
		return WIRE_LOCK_MONITOR;
	if (!monitor && !user_read(&monitor, sizeof(monitor), t->thread + m->waiting))
		return WIRE_LOCK_MONITOR;
	if (!monitor)
		return WIRE_LOCK_SAFEPOINT;
	*class = monitor_class(m, monitor);
	return WIRE_LOCK_MONITOR;
}

#endif
