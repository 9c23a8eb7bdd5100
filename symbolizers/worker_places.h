/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's part in lines and inlined functions. */
#ifndef SKEIN_SYMBOLIZERS_WORKER_PLACES_H
#define SKEIN_SYMBOLIZERS_WORKER_PLACES_H

#include "symbolizers/demangle.h"
#include "symbolizers/dwarf_places.h"
#include "symbolizers/protocol.h"

/* The longest record that worker_place_write() makes, with the NULs that it writes meanwhile. */
#define PLACE_RECORD_MAX (sizeof(struct message_place) + 4 * (ANSWER_NAME_MAX + 1))

/* One file. Zeroed memory is one that has not been looked at. */
struct place_file {
	struct dwarf_places *open; /* NULL: not now */
	struct source_facts facts;
	bool looked; /* facts are there */
	unsigned int overflows; /* how often it alone took too much memory, and was closed */
};

/*
 * Look at its debugging information; fds.file -1: it is not there any more. memory: what the
 * worker may take in all, bytes. Whether it is open is in facts.status.
 */
void worker_places_open(struct place_file *f, const struct dwarf_fds *fds,
			const struct stamp *stamp, uint64_t memory, struct beat *b);
/* Close it: facts stay, and it is opened again when it is asked for. */
void worker_places_close(struct place_file *f);

/* Is so much in use that files have to be closed? */
bool worker_places_full(uint64_t memory);

/*
 * Write a place of an address, or with p NULL that nothing is known. last: no more come of this
 * address. Returns its size.
 */
size_t worker_place_write(char to[PLACE_RECORD_MAX], uint64_t address, const struct dwarf_place *p,
			  bool last, struct demangler *d);

#endif
