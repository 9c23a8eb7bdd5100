/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a JVM that is the input of a fuzz target. Its first words are those of the 24
 * symbols; addresses below the memory's size lead into it. The memory has whole pages: the last is
 * filled up with zeros.
 */
#ifndef SKEIN_TESTS_FUZZ_JVM_H
#define SKEIN_TESTS_FUZZ_JVM_H

#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "symbolizers/hotspot_tables.h"

#define JVM_BASE 4096 /* address of the first byte; bytes of a page, too */

struct jvm_input {
	const uint8_t *data;
	size_t size;
};

static inline int jvm_input_read(void *context, void *to, size_t bytes, uint64_t address)
{
	const struct jvm_input *in = context;
	const size_t whole = (in->size + JVM_BASE - 1) / JVM_BASE * JVM_BASE;
	uint64_t offset = address - JVM_BASE;

	if (address < JVM_BASE || offset > whole || bytes > whole - offset)
		return -EFAULT;
	memset(to, 0, bytes);
	if (offset < in->size)
		memcpy(to, in->data + offset,
		       bytes < in->size - offset ? bytes : (size_t)(in->size - offset));
	return 0;
}

static inline void jvm_input_objects(struct hotspot_objects *out)
{
	for (unsigned int i = 0; i < HOTSPOT_OBJECTS; i++)
		out->address[i] = JVM_BASE + i * 8u;
}

#endif
