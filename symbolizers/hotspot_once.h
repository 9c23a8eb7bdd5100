/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to leave the code that a JVM makes once, when it starts: the interpreter, StubRoutines and
 * stubs of the runtime, read from the process and followed path by path.
 */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_ONCE_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_ONCE_H

#include "symbolizers/hotspot_layout.h"

struct hotspot_once {
	/* rows of the interpreter: sorted by offset from facts.interpreter_low */
	struct hotspot_row rows[HOTSPOT_ROWS_MAX];
	uint32_t row_count;
	uint32_t blobs, codelets; /* that were followed */
	/*
	 * unwind table (bpf/unwind/rule.h) of all other code, in one block that
	 * hotspot_once_free() frees; NULL: there is no such code. Its file offsets are addresses
	 * minus base, the begin of the code heap that holds the interpreter.
	 */
	void *table;
	size_t table_bytes;
	uint64_t base;
};

/*
 * Read and follow the code of a JVM of which hotspot_facts_read() has read the facts. Code that
 * cannot be read or makes no sense is left out. Return 0; -EAGAIN: it has no interpreter yet;
 * -ENOENT: the tables lack an entry, which the message names; -EINVAL: it makes no sense; -ENOMEM.
 * On failure *out is untouched.
 */
int hotspot_once_read(struct hotspot_once *out, const struct hotspot_tables *t,
		      const struct hotspot_facts *facts, const struct hotspot_memory *memory,
		      struct error *err);
void hotspot_once_free(struct hotspot_once *o);

#endif
