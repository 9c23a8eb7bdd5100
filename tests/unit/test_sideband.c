// SPDX-License-Identifier: Apache-2.0
/* life.c: decoding of complete side-band records, and of ones truncated at every place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/life.h"
#include "suite.h"

#define TRAILER 24 /* pid, tid, time, cpu */

struct record {
	struct perf_event_header header;
	char body[512];
};

static struct record record_of(uint32_t type, uint16_t misc, const void *fixed, size_t size,
			       const char *text)
{
	struct record r = {.header = {.type = type, .misc = misc}};
	size_t length = text ? (strlen(text) + 8) / 8 * 8 : 0;

	memcpy(r.body, fixed, size);
	if (text)
		strcpy(r.body + size, text);
	r.header.size = (uint16_t)(sizeof(r.header) + size + length + TRAILER);
	return r;
}

static struct record mmap_record(const char *path)
{
	struct {
		uint32_t pid, tid;
		uint64_t address, length, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t protection, flags;
	} m = {11, 12, 0x1000, 0x2000, 0x3000, 8, 1, 77, 5, 4, 2};

	return record_of(PERF_RECORD_MMAP2, 0, &m, sizeof(m), path);
}

START_TEST(mappings)
{
	struct record r = mmap_record("/usr/bin/x");
	struct life_record l;

	ck_assert_int_eq(life_decode(&l, &r, r.header.size), 0);
	ck_assert_int_eq(l.kind, LIFE_MMAP);
	ck_assert_uint_eq(l.pid, 11);
	ck_assert_uint_eq(l.start, 0x1000);
	ck_assert_uint_eq(l.end, 0x3000);
	ck_assert_uint_eq(l.offset, 0x3000);
	ck_assert_uint_eq(l.file.major, 8);
	ck_assert_uint_eq(l.file.inode, 77);
	ck_assert_uint_eq(l.file.generation, 5);
	ck_assert_str_eq(l.text, "/usr/bin/x");
}
END_TEST

START_TEST(names_tasks_and_symbols)
{
	uint32_t ids[2] = {5, 6}, task[4] = {1, 2, 3, 4};
	struct {
		uint64_t address;
		uint32_t length;
		uint16_t type, flags;
	} k = {0xffffffff81000000, 64, 1, 1};
	struct record r =
		record_of(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, ids, sizeof(ids), "new");
	struct life_record l;

	ck_assert_int_eq(life_decode(&l, &r, r.header.size), 0);
	ck_assert(l.kind == LIFE_COMM && l.exec && l.pid == 5 && l.tid == 6);
	ck_assert_str_eq(l.text, "new");
	r = record_of(PERF_RECORD_FORK, 0, task, sizeof(task), NULL);
	ck_assert_int_eq(life_decode(&l, &r, r.header.size), 0);
	ck_assert(l.kind == LIFE_FORK && l.pid == 1 && l.parent_pid == 2);
	ck_assert(l.tid == 3 && l.parent_tid == 4);
	r = record_of(PERF_RECORD_KSYMBOL, 0, &k, sizeof(k), "bpf_prog_x");
	ck_assert_int_eq(life_decode(&l, &r, r.header.size), 0);
	ck_assert(l.kind == LIFE_KSYMBOL && l.unregistered && l.end == k.address + 64);
}
END_TEST

/*
 * A truncated record is refused at every length; the sanitizer checks that no read goes beyond the
 * record.
 */
START_TEST(cut_records_are_refused)
{
	struct record whole = mmap_record("/a/longer/path/of/a/file");

	for (uint16_t size = 0; size < whole.header.size; size++) {
		char *copy = malloc(size ? size : 1);
		struct life_record l;

		memcpy(copy, &whole, size);
		if (size >= sizeof(struct perf_event_header))
			((struct perf_event_header *)copy)->size = size;
		if (life_decode(&l, copy, size) == 0)
			ck_assert(memchr(copy, 0, size));
		free(copy);
	}
}
END_TEST

START_TEST(lies_are_refused)
{
	struct record r = mmap_record("x");
	uint64_t length = UINT64_MAX;
	struct life_record l;

	memcpy(r.body + 16, &length, sizeof(length)); /* the end wraps around */
	ck_assert_int_eq(life_decode(&l, &r, r.header.size), -EBADMSG);
	r = mmap_record("x");
	memset(r.body + 64, 'a', 8); /* a path without a terminating zero */
	ck_assert_int_eq(life_decode(&l, &r, r.header.size), -EBADMSG);
	r = mmap_record("x");
	ck_assert_int_eq(life_decode(&l, &r, r.header.size + 8U), -EBADMSG);
}
END_TEST

/*
 * For symbols, the kernel adds the trailer's size once more for every event that got the record
 * before.
 */
START_TEST(times_are_where_the_kernel_puts_them)
{
	static const char fixed[16];
	const uint64_t reported = 77;
	uint64_t time = 0;

	for (size_t length = 1; length < 24; length++) {
		struct record r = record_of(PERF_RECORD_KSYMBOL, 0, fixed, sizeof(fixed),
					    &"bpf_prog_0123456789abcde"[24 - length]);

		memcpy((char *)&r + r.header.size - TRAILER + 8, &reported, sizeof(reported));
		for (int events = 1; events < 4; events++) {
			ck_assert_int_eq(life_time(&time, &r.header), 0);
			ck_assert_uint_eq(time, reported);
			memset((char *)&r + r.header.size, 'x', TRAILER);
			r.header.size += TRAILER;
			time = 0;
		}
	}
}
END_TEST

START_TEST(a_time_is_within_its_record)
{
	struct record r = mmap_record("x");
	uint64_t time;

	memset(r.body, 'x', sizeof(r.body)); /* also a name without a terminating zero */
	for (int type = PERF_RECORD_MMAP; type <= PERF_RECORD_KSYMBOL; type++)
		for (uint16_t size = sizeof(r.header); size < sizeof(r); size++) {
			struct perf_event_header *cut = malloc(size);

			memcpy(cut, &r, size);
			cut->type = (uint32_t)type;
			cut->size = size;
			ck_assert_int_eq(life_time(&time, cut),
					 size < sizeof(r.header) + TRAILER ? -EBADMSG : 0);
			free(cut);
		}
}
END_TEST

SUITE("sideband", mappings, names_tasks_and_symbols, cut_records_are_refused, lies_are_refused,
      times_are_where_the_kernel_puts_them, a_time_is_within_its_record)
