/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the BPF walker needs of a JVM, from HotSpot's tables and the process's memory: offsets of
 * one libjvm, and the heaps of the code cache of one process.
 */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_LAYOUT_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_LAYOUT_H

#include "bpf/unwind/hotspot_layout.h"
#include "symbolizers/hotspot_tables.h"

/* The process's memory. */
struct hotspot_memory {
	hotspot_read_fn *read;
	void *context;
};

/*
 * Facts about one JVM. Every one of them is the process's own word: addresses may be wrong, but
 * hotspot_facts_check() has checked sizes and offsets.
 */
struct hotspot_facts {
	struct hotspot_layout layout;
	struct hotspot_range ranges[HOTSPOT_RANGES_MAX];
	uint32_t range_count;
	uint8_t debug_non_safepoints; /* -XX:+DebugNonSafepoints: 1 or 0 */
	uint8_t unused[3]; /* 0 */
	uint64_t interpreter_low, interpreter_high; /* the interpreter's code, high exclusive */
	uint64_t unloads; /* as in struct hotspot_process */
	char version[64]; /* as java -version prints it, "17.0.15+6-Debian-1"; "" unknown */
};

/*
 * Read the facts, with the layout of these tables. Return 0; -EAGAIN: the JVM has not made its code
 * cache and its interpreter yet, so read the tables and the facts again later; -ENOENT: the tables
 * lack an entry, which the message names; -EINVAL: the layout or the code cache is invalid, or it
 * has too many heaps; or the error of memory->read. On failure *out is untouched.
 */
int hotspot_facts_read(struct hotspot_facts *out, const struct hotspot_tables *t,
		       const struct hotspot_memory *memory, struct error *err);

/*
 * Return whether facts from a worker are valid: offsets are within the bytes that the walker reads,
 * ranges are sorted and do not overlap, the version is a text.
 */
bool hotspot_facts_check(const struct hotspot_facts *f);

/*
 * Return the address of a place in a blob's code, which the blob's header has at an offset, by the
 * layout's way to store places. The header's bytes up to layout.header_bytes were read.
 */
uint64_t hotspot_place_in(const struct hotspot_layout *l, const uint8_t *header, uint16_t offset,
			  uint64_t blob);

/*
 * hotspot_entries.c: get the offset of a field of a class or of the nearest superclass that has it.
 * Return 0, or -ENOENT. bytes, which may be NULL: as hotspot_field_bytes().
 */
int hotspot_class_field(const struct hotspot_tables *t, const char *type, const char *field,
			uint64_t *offset, unsigned int *bytes);

/* A table of entries that a struct of u16 offsets is filled from. */
struct hotspot_wanted {
	const char *type; /* the field's class; of a size, the type */
	const char *field; /* NULL: the type's size */
	const char *other_field; /* the name in other releases; NULL: none */
	uint16_t to; /* offset of the u16 in the struct */
	bool optional; /* HOTSPOT_ABSENT if there is none */
};

/*
 * Fill the struct at to. Return 0; -ENOENT, with the entry's name in the message; -EINVAL: a value
 * is not less than HOTSPOT_ABSENT.
 */
int hotspot_fill(void *to, const struct hotspot_tables *t, const struct hotspot_wanted *wanted,
		 size_t count, struct error *err);

#endif
