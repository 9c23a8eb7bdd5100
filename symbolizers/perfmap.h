/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf map of a JIT: lines "START SIZE NAME", hexadecimal with or without
 * 0x, the name up to the end of the line. The file only grows; where ranges
 * overlap the later line has the addresses.
 */
#ifndef SKEIN_SYMBOLIZERS_PERFMAP_H
#define SKEIN_SYMBOLIZERS_PERFMAP_H

#include <sys/types.h>

#include "symbolizers/beat.h"
#include "symbolizers/client.h"
#include "symbolizers/symtab.h"

/* Bytes of a map that are read; what is behind them is counted as one bad line. */
#define PERFMAP_BYTES_MAX (256u << 20)

struct perfmap {
	struct symtab symbols;
	dev_t device; /* of the file that offset belongs to */
	ino_t inode;
	uint64_t offset; /* read so far, up to the last complete line */
	uint64_t lines, bad_lines;
	bool full;  /* a bound was reached */
	bool dirty; /* ranges were added since the pieces were built */
};

/*
 * Read what was appended since the last time, or all of it if the file is
 * another one or has shrunk. 0; -EBADMSG: no regular file; or a negative
 * errno, with the lines read up to there in place.
 */
int perfmap_read(struct perfmap *m, int fd, struct object_facts *facts, struct beat *b);
void perfmap_free(struct perfmap *m);
bool perfmap_find(struct perfmap *m, uint64_t address, struct found *ret);
size_t perfmap_bytes(const struct perfmap *m);

#endif
