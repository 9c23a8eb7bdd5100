/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the JVMs and their layouts, as the BPF walkers know them. */
#ifndef SKEIN_CAPTURE_JVMS_H
#define SKEIN_CAPTURE_JVMS_H

#include <stdint.h>

#include "bpf/unwind/hotspot_layout.h"
#include "capture/objects.h"
#include "capture/space.h"
#include "symbolizers/jvm_facts.h"

/* Start with zeroed memory. */
struct jvms {
	struct hotspot_layout layouts[HOTSPOT_LAYOUTS_MAX];
	uint32_t layout_count;
	uint64_t objects[HOTSPOT_PROCESSES_MAX]; /* object.id of each JVM's memory; 0: free */
	uint32_t generation; /* counts the JVMs that were added */
	/* these send a layout or a JVM to the walkers under an index; 0 or a negative errno */
	int (*send_layout)(void *context, uint32_t index, const struct hotspot_layout *l);
	int (*send_process)(void *context, uint32_t index, const struct hotspot_process *p);
	void *context;
};

/*
 * Send a JVM to the walkers, or send it again. o: memory of the process, whose slot has the table
 * of the code that the JVM makes once. *number: HOTSPOT_NUMBER() of the JVM, 0: it is new. Return 0
 * and the number; -ENOSPC: there are too many JVMs or layouts; or the error of sending.
 */
int jvms_send(struct jvms *j, const struct object *o, const struct jvm_facts *facts,
	      uint32_t *number);

/*
 * Get the symbols of the libjvm that a space maps, at their addresses in it; false: it maps none.
 */
bool jvms_find(struct hotspot_file *out, const struct space *s);

/* Move the symbols of a libjvm whose code a process maps there to their addresses in it. */
void jvms_locate(struct hotspot_file *f, uint64_t start, uint64_t offset);

/*
 * Describe the reply to symbolizer_request_jvm(): the release, whether frames are read, and whether
 * methods that are inlined are exact (DebugNonSafepoints).
 */
void jvms_describe(char *buf, size_t size, int status, const struct jvm_facts *f,
		   const char *reason);

#endif
