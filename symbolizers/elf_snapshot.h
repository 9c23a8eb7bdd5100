/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file whose owner may change it at any time, read so that it seems not to
 * change: what has been read is kept, and given again to whoever reads it
 * again. Two results of one snapshot are of the same bytes.
 */
#ifndef SKEIN_SYMBOLIZERS_ELF_SNAPSHOT_H
#define SKEIN_SYMBOLIZERS_ELF_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizers/beat.h"

struct elf_snapshot;

/* Of size bytes behind fd, which stays the caller's. NULL without memory, or if it is too large. */
struct elf_snapshot *elf_snapshot_new(int fd, uint64_t size, struct beat *b);
void elf_snapshot_free(struct elf_snapshot *s);

/* Read within the size: 0, -EBADMSG if the file has become shorter, or a negative errno. */
int elf_snapshot_read(struct elf_snapshot *s, uint64_t offset, void *buf, size_t size);

/* false: there was more to keep than the budget allows, and it was read anew. */
bool elf_snapshot_whole(const struct elf_snapshot *s);

/* Read exactly size bytes of a file: 0, -EBADMSG beyond the end, or a negative errno. */
int file_read_at(int fd, uint64_t offset, void *buf, size_t size, struct beat *b);

#endif
