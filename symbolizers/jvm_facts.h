/* SPDX-License-Identifier: Apache-2.0 */
/* All that the BPF walkers need of one JVM, as the worker sends it. */
#ifndef SKEIN_SYMBOLIZERS_JVM_FACTS_H
#define SKEIN_SYMBOLIZERS_JVM_FACTS_H

#include "symbolizers/hotspot_layout.h"

struct jvm_facts {
	struct hotspot_facts facts;
	/* rows of the interpreter's code, and their number; 0: it was not understood */
	uint32_t row_count;
	/*
	 * the JVM also has an unwind table of other code that is made once
	 * (symbolizer_request_table()): 1 or 0
	 */
	uint32_t has_table;
	uint64_t base; /* address that the table's file offset 0 stands for */
	struct hotspot_row rows[HOTSPOT_ROWS_MAX];
};

#endif
