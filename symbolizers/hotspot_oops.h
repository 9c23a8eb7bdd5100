/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of Java threads, read from the Java heap while collectors may move its objects. Every
 * object is recognized by its class, so what cannot be read has no name instead of a wrong one.
 */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_OOPS_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_OOPS_H

#include "symbolizers/hotspot_threads.h"

/* What leads from a JavaThread to the name of its java.lang.Thread. */
struct hotspot_oops {
	const struct hotspot_memory *memory;
	uint64_t thread_class, string_class; /* their Klass; 0: names cannot be read */
	/* bases and shifts of references and of classes that take 32 bits */
	uint64_t heap_base, class_base;
	uint32_t heap_shift, class_shift;
	uint16_t super; /* offset in Klass */
	/* of the last thread whose name was looked for */
	enum hotspot_head head;
	bool colored; /* as in struct hotspot_monitor_layout */
	bool aligned_arrays; /* elements of arrays begin at multiples of 8 */
	uint32_t thread_name, string_value, string_coder; /* offsets in the objects */
};

/* Prepare for one JVM. If names cannot be read, hotspot_thread_name() returns "". */
void hotspot_oops_begin(struct hotspot_oops *out, const struct hotspot_tables *t,
			const struct hotspot_memory *memory);

/*
 * Read the name of the thread whose object the OopHandle at handle leads to, as UTF-8; "" if it
 * cannot be read.
 */
void hotspot_thread_name(struct hotspot_oops *o, uint64_t handle,
			 char name[HOTSPOT_THREAD_NAME_MAX]);

#endif
