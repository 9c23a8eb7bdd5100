/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF file from which an unwind table is made, shared by the parts that make the table. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_SOURCE_H
#define SKEIN_SYMBOLIZERS_UNWIND_SOURCE_H

#include <xxhash.h>

#include "base/vector.h"
#include "symbolizers/elf_image.h"

/* An executable PT_LOAD segment. Segments are in order of address and do not overlap. */
struct unwind_segment {
	uint64_t address, offset, size; /* size in the file */
};

/* A range of file offsets. */
struct unwind_span {
	uint64_t start, end;
};

struct unwind_source {
	struct elf_image *image;
	VECTOR(struct unwind_segment) segments;
	/* ranges in which undescribed code is searched, in order; empty: all code is searched */
	VECTOR(struct unwind_span) parts;
	/*
	 * Set only while a key is made: the hash of all bytes that are read. Call frame
	 * instructions are then run only up to the first row of each function, since searches for
	 * undescribed code use only that row.
	 */
	XXH3_state_t *hash;
};

/*
 * DWARF numbers of the registers that rules treat specially. They depend on the machine of the
 * file, not on the machine that skein was built for, so that every build can test both.
 */
struct unwind_machine {
	uint16_t elf; /* e_machine */
	uint8_t fp, sp, base;
	uint8_t ra; /* the column of the return address */
	uint8_t registers; /* number of registers that a rule may name */
	int32_t signal_offset; /* from sp to struct sigcontext in a signal frame */
};

/*
 * Read the program headers of image, which must outlive s. Return 0; -ENOENT: a file of another
 * machine or class, or without code; -EBADMSG: the program headers are invalid; -ENOMEM. Call
 * unwind_source_free() also after failure.
 */
int unwind_source_open(struct unwind_source *s, struct elf_image *image);
void unwind_source_free(struct unwind_source *s);

/* Add facts on which the table depends to the hash, if s has one. */
void unwind_source_hash(const struct unwind_source *s, const uint64_t *facts, size_t count);

/*
 * Read exactly size bytes on which the table depends, and add them to the hash, if s has one.
 * Return values as of elf_image_read().
 */
int unwind_source_read(const struct unwind_source *s, uint64_t offset, void *buf, size_t size);

/* Return the machine of the file; NULL if it is not supported. */
const struct unwind_machine *unwind_source_machine(const struct unwind_source *s);

/*
 * Find the file offset of the code at address, and how many bytes of the segment follow from there
 * (out_size may be NULL). Return false if the address is not in code that the file holds.
 */
bool unwind_source_offset(const struct unwind_source *s, uint64_t address, uint64_t *out,
			  uint64_t *out_size);

#endif
