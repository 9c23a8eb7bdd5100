// SPDX-License-Identifier: Apache-2.0
/* Read HotSpot's tables, and what the walker needs, from the input's memory (fuzz_jvm.h). */
#include "fuzz_jvm.h"
#include "symbolizers/hotspot_layout.h"
#include "symbolizers/hotspot_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jvm_input in = {data, size};
	const struct hotspot_memory memory = {jvm_input_read, &in};
	struct hotspot_objects objects;
	struct hotspot_facts facts;
	struct hotspot_names *names;
	struct hotspot_tables *t;
	struct error err;

	jvm_input_objects(&objects);
	if (hotspot_tables_read(&t, &objects, jvm_input_read, &in, &err))
		return 0;
	if (hotspot_facts_read(&facts, t, &memory, &err) == 0 && !hotspot_facts_check(&facts))
		abort();
	if (hotspot_names_new(&names, t, &err) == 0)
		hotspot_names_free(names);
	hotspot_tables_free(t);
	return 0;
}
