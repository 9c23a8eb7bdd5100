// SPDX-License-Identifier: Apache-2.0
/*
 * Read HotSpot's tables, and what the walker needs, from a memory that the input is. Its first
 * words are those of the 24 symbols; addresses below the memory's size lead into it. The memory has
 * whole pages: the last is filled up with zeros.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "symbolizers/hotspot_layout.h"
#include "symbolizers/hotspot_names.h"

#define BASE 4096 /* bytes of a page, too */

struct input {
	const uint8_t *data;
	size_t size;
};

static int input_read(void *context, void *to, size_t bytes, uint64_t address)
{
	const struct input *in = context;
	const size_t whole = (in->size + BASE - 1) / BASE * BASE;
	uint64_t offset = address - BASE;

	if (address < BASE || offset > whole || bytes > whole - offset)
		return -EFAULT;
	memset(to, 0, bytes);
	if (offset < in->size)
		memcpy(to, in->data + offset,
		       bytes < in->size - offset ? bytes : (size_t)(in->size - offset));
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
