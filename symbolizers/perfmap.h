/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf map of a JIT, /tmp/perf-PID.map: lines "START SIZE NAME", with hexadecimal numbers with
 * or without 0x; the name extends to the end of the line. The JIT appends lines to the file while
 * it runs. Where ranges overlap, the later line wins.
 */
#ifndef SKEIN_SYMBOLIZERS_PERFMAP_H
#define SKEIN_SYMBOLIZERS_PERFMAP_H

#include <sys/types.h>

#include "symbolizers/client.h"
#include "symbolizers/heartbeat.h"
#include "symbolizers/symtab.h"

/* Maximum bytes of a map that are read; the rest of a larger map counts as one bad line. */
#define PERFMAP_BYTES_MAX (256u << 20)

struct perfmap {
	struct symtab symbols;
	dev_t device; /* device and inode of the file that was read up to offset */
	ino_t inode;
	uint64_t offset; /* end of the last complete line that was read */
	uint64_t lines, bad_lines;
	bool full; /* a maximum (of bytes, symbols or bytes of names) was reached: read no more */
	bool dirty; /* ranges were added since the table for lookups was built */
};

/*
 * Read the lines appended since the last call, or the whole file if it is another file or has
 * shrunk. Return 0; -EBADMSG: not a regular file; or another negative errno, with the lines before
 * the error kept. b may be NULL.
 */
int perfmap_read(struct perfmap *m, int fd, struct object_facts *facts, struct heartbeat *b);
void perfmap_free(struct perfmap *m);
/*
 * Find the function at an address; false if there is none. m owns the name, which is valid until
 * the next perfmap_read().
 */
bool perfmap_find(struct perfmap *m, uint64_t address, struct found_symbol *out);
/* Return the bytes of memory in use. */
size_t perfmap_bytes(const struct perfmap *m);

#endif
