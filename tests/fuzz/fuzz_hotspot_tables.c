// SPDX-License-Identifier: Apache-2.0
/*
 * Read HotSpot's tables, and what the walker needs, from a memory that the input is. Its first
 * words are those of the 24 symbols; addresses below the memory's size lead into it.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "symbolizers/hotspot_layout.h"
#include "symbolizers/hotspot_names.h"

#define BASE 4096

struct input {
	const uint8_t *data;
	size_t size;
};

static int input_read(void *context, void *to, size_t bytes, uint64_t address)
{
	const struct input *in = context;

	if (address < BASE || address - BASE > in->size || bytes > in->size - (address - BASE))
		return -EFAULT;
	memcpy(to, in->data + (address - BASE), bytes);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	const struct hotspot_memory memory = {input_read, &in};
	struct hotspot_objects objects;
	struct hotspot_facts facts;
	struct hotspot_names *names;
	struct hotspot_tables *t;
	struct error err;

	for (unsigned int i = 0; i < HOTSPOT_OBJECTS; i++)
		objects.address[i] = BASE + i * 8u;
	if (hotspot_tables_read(&t, &objects, input_read, &in, &err))
		return 0;
	if (hotspot_facts_read(&facts, t, &memory, &err) == 0 && !hotspot_facts_check(&facts))
		abort();
	if (hotspot_names_new(&names, t, &err) == 0)
		hotspot_names_free(names);
	hotspot_tables_free(t);
	return 0;
}
