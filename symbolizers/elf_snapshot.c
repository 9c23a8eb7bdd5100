// SPDX-License-Identifier: Apache-2.0
/* Read a file in blocks, each when bytes of it are first requested, and keep the blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizers/elf_snapshot.h"

#define BLOCK_SIZE (64u << 10)
/* Largest file, in bytes: 2^20 blocks; the pointers to them take 8 MiB. */
#define FILE_MAX ((uint64_t)BLOCK_SIZE << 20)
/* Maximum number of bytes kept; a file of 500 MB has about 50 MB of call frame information. */
#define KEPT_MAX (128u << 20)

struct elf_snapshot {
	int fd;
	uint64_t size;
	struct heartbeat *heartbeat;
	size_t kept; /* bytes */
	bool lost; /* some bytes were read but not kept */
	char **blocks;
};

int elf_snapshot_read_fd(int fd, uint64_t offset, void *buf, size_t size, struct heartbeat *b)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, (char *)buf + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EBADMSG;
		done += (size_t)got;
		heartbeat_send(b);
	}
	return 0;
}

struct elf_snapshot *elf_snapshot_new(int fd, uint64_t size, struct heartbeat *b)
{
	struct elf_snapshot *s = size && size <= FILE_MAX ? malloc(sizeof(*s)) : NULL;

	if (!s)
		return NULL;
	*s = (struct elf_snapshot){.fd = fd, .size = size, .heartbeat = b};
	s->blocks = calloc((size - 1) / BLOCK_SIZE + 1, sizeof(*s->blocks));
	if (!s->blocks) {
		free(s);
		return NULL;
	}
	return s;
}

void elf_snapshot_free(struct elf_snapshot *s)
{
	if (!s)
		return;
	for (uint64_t i = 0; i <= (s->size - 1) / BLOCK_SIZE; i++)
		free(s->blocks[i]);
	free(s->blocks);
	free(s);
}

/*
 * Read and keep a block. If that would exceed KEPT_MAX or there is no memory, only set lost. Return
 * 0 or a negative errno.
 */
static int keep_snapshot_block(struct elf_snapshot *s, size_t number)
{
	uint64_t at = (uint64_t)number * BLOCK_SIZE;
	size_t size = s->size - at < BLOCK_SIZE ? s->size - at : BLOCK_SIZE;
	char *block = s->kept + size <= KEPT_MAX ? malloc(size) : NULL;
	int ret;

	if (!block) {
		s->lost = true;
		return 0;
	}
	ret = elf_snapshot_read_fd(s->fd, at, block, size, s->heartbeat);
	if (ret < 0) {
		free(block);
		return ret;
	}
	s->blocks[number] = block;
	s->kept += size;
	return 0;
}

int elf_snapshot_read(struct elf_snapshot *s, uint64_t offset, void *buf, size_t size)
{
	char *to = buf;
	int ret = 0;

	while (!ret && size) {
		size_t number = offset / BLOCK_SIZE, at = offset % BLOCK_SIZE;
		size_t part = size < BLOCK_SIZE - at ? size : BLOCK_SIZE - at;

		if (!s->blocks[number])
			ret = keep_snapshot_block(s, number);
		if (ret < 0)
			return ret;
		if (s->blocks[number])
			memcpy(to, s->blocks[number] + at, part);
		else
			ret = elf_snapshot_read_fd(s->fd, offset, to, part, s->heartbeat);
		to += part;
		offset += part;
		size -= part;
	}
	return ret;
}

bool elf_snapshot_is_whole(const struct elf_snapshot *s)
{
	return !s->lost;
}
