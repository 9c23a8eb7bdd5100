/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot of a file whose owner may change it at any time: bytes that have been read are kept,
 * and later reads return the same bytes. Two results from one snapshot are made from the same
 * bytes.
 */
#ifndef SKEIN_SYMBOLIZERS_ELF_SNAPSHOT_H
#define SKEIN_SYMBOLIZERS_ELF_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizers/heartbeat.h"

struct elf_snapshot;

/*
 * Begin a snapshot of size bytes of the file open as fd; the caller keeps fd. NULL if memory runs
 * out or the file is empty or too large.
 */
struct elf_snapshot *elf_snapshot_new(int fd, uint64_t size, struct heartbeat *b);
void elf_snapshot_free(struct elf_snapshot *s);

/*
 * Read bytes within the size. Return 0, -EBADMSG if the file has become shorter, or a negative
 * errno.
 */
int elf_snapshot_read(struct elf_snapshot *s, uint64_t offset, void *buf, size_t size);

/*
 * Return whether all bytes read were kept. If not, the limit on kept bytes was exceeded and some
 * bytes may have been read twice.
 */
bool elf_snapshot_is_whole(const struct elf_snapshot *s);

/* Read exactly size bytes of a file. Return 0, -EBADMSG beyond the end, or a negative errno. */
int elf_snapshot_read_fd(int fd, uint64_t offset, void *buf, size_t size, struct heartbeat *b);

#endif
