// SPDX-License-Identifier: Apache-2.0
/* Test elf_snapshot.c: data that were read once stay the same, even if the file changes. */
#include <errno.h>

#include "files.h"
#include "suite.h"
#include "symbolizers/elf_snapshot.h"

#define SIZE 200000

static char *pattern(char seed)
{
	char *bytes = malloc(SIZE);

	ck_assert_ptr_nonnull(bytes);
	for (int i = 0; i < SIZE; i++)
		bytes[i] = (char)(i * 7 + i / 251 + seed);
	return bytes;
}

static void expect(struct elf_snapshot *s, const char *bytes, size_t offset, size_t size)
{
	char *got = malloc(size + 1);

	ck_assert_ptr_nonnull(got);
	ck_assert_int_eq(elf_snapshot_read(s, offset, got, size), 0);
	ck_assert_mem_eq(got, bytes + offset, size);
	free(got);
}

START_TEST(what_was_read_stays)
{
	char *before = pattern(0), *after = pattern(1), byte;
	int fd = file_of(before, SIZE);
	struct elf_snapshot *s = elf_snapshot_new(fd, SIZE, NULL);

	ck_assert_ptr_nonnull(s);
	expect(s, before, 0, 1);
	expect(s, before, 65530, 70000); /* blocks 0 to 2 */
	ck_assert_int_eq(pwrite(fd, after, SIZE, 0), SIZE);
	expect(s, before, 0, 3 * 65536);
	expect(s, after, 3 * 65536, SIZE - 3 * 65536);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	expect(s, before, 1, 65536);
	expect(s, after, SIZE - 1, 1);
	ck_assert(elf_snapshot_is_whole(s));
	elf_snapshot_free(s);
	/* The file is shorter than its given size. */
	s = elf_snapshot_new(fd, SIZE, NULL);
	ck_assert_int_eq(elf_snapshot_read(s, 0, &byte, 1), -EBADMSG);
	elf_snapshot_free(s);
	close(fd);
	free(before);
	free(after);
}
END_TEST

/* Beyond the memory bound, reads are still right, but the snapshot is not reported as whole. */
START_TEST(memory_is_bounded)
{
	const uint64_t size = 130ull << 20;
	int fd = file_of("first", 5);
	char buf[1 << 16], end[5];
	struct elf_snapshot *s;

	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	ck_assert_int_eq(pwrite(fd, "final", 5, (off_t)size - 5), 5);
	s = elf_snapshot_new(fd, size, NULL);
	ck_assert_ptr_nonnull(s);
	for (uint64_t at = 0; at < size; at += sizeof(buf)) {
		ck_assert_int_eq(elf_snapshot_read(s, at, buf, sizeof(buf)), 0);
		ck_assert(elf_snapshot_is_whole(s) == (at < 128 << 20));
	}
	ck_assert_int_eq(elf_snapshot_read(s, size - 5, end, 5), 0);
	ck_assert_mem_eq(end, "final", 5);
	elf_snapshot_free(s);
	close(fd);
	ck_assert_ptr_null(elf_snapshot_new(fd, 1ull << 40, NULL));
	ck_assert_ptr_null(elf_snapshot_new(fd, 0, NULL));
}
END_TEST

SUITE("elf_snapshot", what_was_read_stays, memory_is_bounded)
