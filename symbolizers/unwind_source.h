/* SPDX-License-Identifier: Apache-2.0 */
/* The file that an unwind table is made of: what its parts share. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_SOURCE_H
#define SKEIN_SYMBOLIZERS_UNWIND_SOURCE_H

#include <xxhash.h>

#include "base/vector.h"
#include "symbolizers/elf_image.h"

/* A PT_LOAD segment that can run. In order of address, and none reaches into the next. */
struct unwind_segment {
	uint64_t address, offset, size; /* size in the file */
};

/* File offsets. */
struct unwind_span {
	uint64_t start, end;
};

struct unwind_source {
	struct elf_image *image;
	VECTOR(struct unwind_segment) segments;
	/* Where code is looked for that nothing describes; none: everywhere. In order. */
	VECTOR(struct unwind_span) parts;
	/*
	 * Set while a key is made, which is of all that is read. Functions are then
	 * read up to their first row only: no code is looked for by the others.
	 */
	XXH3_state_t *hash;
};

/*
 * The machine's own numbers (DWARF) for the registers that rules treat apart. The file's machine
 * and not the one that skein was built for, so that both are tested everywhere.
 */
struct unwind_machine {
	uint16_t elf; /* e_machine */
	uint8_t fp, sp, base;
	uint8_t ra;	       /* the column of the return address */
	uint8_t registers;     /* how many a rule may name */
	int32_t signal_offset; /* from sp to struct sigcontext in a signal frame */
};

/*
 * Read the program headers of image, which must outlive s. 0; -ENOENT: a file of another machine
 * or class, or without code; -EBADMSG. Free also after failure.
 */
int unwind_source_open(struct unwind_source *s, struct elf_image *image);
void unwind_source_free(struct unwind_source *s);

/* Tell a key what else the table depends on. */
void unwind_source_note(const struct unwind_source *s, const uint64_t *facts, size_t count);

/* Read exactly size bytes of what the table depends on, as elf_image_read(). */
int unwind_source_read(const struct unwind_source *s, uint64_t offset, void *buf, size_t size);

const struct unwind_machine *unwind_machine_of(const struct unwind_source *s);

/*
 * The file offset of code at address, and how many bytes of the segment follow from there
 * (*ret_size may be NULL). false outside of code that is in the file.
 */
bool unwind_source_offset(const struct unwind_source *s, uint64_t address, uint64_t *ret,
			  uint64_t *ret_size);

#endif
