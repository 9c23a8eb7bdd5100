/* SPDX-License-Identifier: Apache-2.0 */
/* Find lines and inlined functions in the worker. */
#ifndef SKEIN_SYMBOLIZERS_WORKER_PLACES_H
#define SKEIN_SYMBOLIZERS_WORKER_PLACES_H

#include "symbolizers/demangle.h"
#include "symbolizers/dwarf_places.h"
#include "symbolizers/protocol.h"

/*
 * The longest record that worker_place_write() writes, including NULs that it writes temporarily.
 */
#define PLACE_RECORD_MAX (sizeof(struct message_place) + 4 * (REPLY_NAME_MAX + 1))

/* One file. Zeroed memory is a file that has not been examined. */
struct place_file {
	struct dwarf_places *open; /* NULL: the file is not open now */
	struct source_facts facts;
	bool examined; /* the file has been examined, and facts are set */
	/* number of times that the file was closed because it alone took too much memory */
	unsigned int overflows;
};

/*
 * Examine a file's debugging information; the file may not be open any more. memory: bytes that the
 * worker may use in total. facts.status is 0 if the file is open, else a negative errno.
 */
void worker_places_open(struct place_file *f, const struct elf_files *files, uint64_t memory);
/* Close the file. The facts stay, and the next request opens the file again. */
void worker_places_close(struct place_file *f);

/* Return whether so much memory is in use that files have to be closed. */
bool worker_places_full(uint64_t memory);

/*
 * Write a record for one place of an address, or an empty record if p is NULL. last: this is the
 * last place of the address. Return the size of the record.
 */
size_t worker_place_write(char to[PLACE_RECORD_MAX], uint64_t address, const struct dwarf_place *p,
			  bool last, struct demangler *d);

#endif
