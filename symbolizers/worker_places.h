/* SPDX-License-Identifier: Apache-2.0 */
/* Find lines and inlined functions in a worker of sources (WORKER_SOURCES). */
#ifndef SKEIN_SYMBOLIZERS_WORKER_PLACES_H
#define SKEIN_SYMBOLIZERS_WORKER_PLACES_H

#include "symbolizers/demangle.h"
#include "symbolizers/dwarf_places.h"
#include "symbolizers/protocol.h"

/*
 * Bytes of the longest record that worker_place_write() writes, including NULs that it writes
 * temporarily.
 */
#define PLACE_RECORD_MAX (sizeof(struct message_place) + 4 * (REPLY_NAME_MAX + 1))

/* One file. Zeroed memory is a file that has not been examined. */
struct place_file {
	struct dwarf_places *open; /* NULL: the file is not open now */
	struct source_facts facts;
	bool examined; /* an attempt was made to examine the file, and facts are set */
	/* number of times that the file was closed because it alone took too much memory */
	unsigned int overflows;
};

/*
 * Open a file's debugging information, and set f->facts. memory: bytes that the worker may use in
 * total. facts.status becomes 0 if f is open for lookups, else a negative errno, such as -EBADF if
 * files->file.fd is -1.
 */
void worker_places_open(struct place_file *f, const struct elf_files *files, uint64_t memory);
/* Free the debugging information. f->facts stay, and worker_places_open() can open it again. */
void worker_places_close(struct place_file *f);

/* Return whether so much of these bytes of memory is in use that files have to be closed. */
bool worker_places_full(uint64_t memory);

/*
 * Write a record (struct message_place and its texts) for one place of an address, or an empty
 * record if p is NULL. last: this is the last place of the address. d demangles the name. Return
 * the size of the record in bytes.
 */
size_t worker_place_write(char to[PLACE_RECORD_MAX], uint64_t address, const struct dwarf_place *p,
			  bool last, struct demangler *d);

#endif
