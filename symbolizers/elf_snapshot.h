/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot of a file whose owner may change it at any time: blocks that have been read are kept
 * in memory, so later reads of them return the same bytes. If elf_snapshot_is_whole(), all results
 * computed from one snapshot are made from the same bytes.
 */
#ifndef SKEIN_SYMBOLIZERS_ELF_SNAPSHOT_H
#define SKEIN_SYMBOLIZERS_ELF_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizers/heartbeat.h"

struct elf_snapshot;

/*
 * Begin a snapshot of the first size bytes of the file open as fd. The caller owns fd and keeps it
 * open as long as the snapshot exists. b may be NULL. Return NULL if memory runs out, or if size is
 * 0 or more than 64 GiB.
 */
struct elf_snapshot *elf_snapshot_new(int fd, uint64_t size, struct heartbeat *b);
void elf_snapshot_free(struct elf_snapshot *s);

/*
 * Read size bytes at offset; the range must lie within the size of the snapshot. Return 0, -EBADMSG
 * if the file has become shorter, or another negative errno.
 */
int elf_snapshot_read(struct elf_snapshot *s, uint64_t offset, void *buf, size_t size);

/*
 * Return whether all bytes read were kept. If not, the limit on kept bytes was reached or memory
 * ran out, and some bytes may have been read from the file twice.
 */
bool elf_snapshot_is_whole(const struct elf_snapshot *s);

/*
 * Read exactly size bytes of a file without a snapshot. b may be NULL. Return 0, -EBADMSG if the
 * file ends before the last byte, or another negative errno.
 */
int elf_snapshot_read_fd(int fd, uint64_t offset, void *buf, size_t size, struct heartbeat *b);

#endif
