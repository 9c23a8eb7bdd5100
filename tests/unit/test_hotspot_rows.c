// SPDX-License-Identifier: Apache-2.0
/* Rows of code in the memory of a process that is right, changes meanwhile, or lies. */
#include <errno.h>
#include <string.h>

#include "suite.h"
#include "symbolizers/hotspot_rows.h"

#define BASE 0x7f0000000000ull
#define BLOB (BASE + 64)
#define CODE 256 /* offset of the code from the blob */
#define NAME (BASE + 8192)
#define ID 4711

/* push %rbp; sub $0x20,%rsp; nop; add $0x20,%rsp; pop %rbp; ret */
static const uint8_t code[] = {0x55, 0x48, 0x83, 0xec, 0x20, 0x90,
			       0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};
static const struct hotspot_code_place nop = {BLOB, ID, 5};

static struct hotspot_layout layout;
static struct hotspot_code_rows rows;
static uint8_t memory[16384];
static uint64_t changes_at; /* address of a read after which the compile id is another one */

static void put(uint64_t address, const void *from, size_t bytes)
{
	memcpy(memory + (address - BASE), from, bytes);
}

static void put_number(uint64_t address, uint64_t value, size_t bytes)
{
	put(address, &value, bytes);
}

static int read_memory(void *context, void *to, size_t bytes, uint64_t address)
{
	(void)context;
	if (address < BASE || address - BASE > sizeof(memory) ||
	    bytes > sizeof(memory) - (address - BASE))
		return -EFAULT;
	memcpy(to, memory + (address - BASE), bytes);
	if (address == changes_at)
		put_number(BLOB + 48, ID + 1, 4);
	return 0;
}

/* Make the blob, with places and the prologue's end in the form of JDK 17, or that of 25. */
static void make_blob(bool old)
{
	layout = (struct hotspot_layout){
		.block_bytes = 16,
		.block_used = 8,
		.header_bytes = 128,
		.blob_name = 0,
		.blob_frame_size = 12,
		.blob_frame_complete = 16,
		.blob_code = 24,
		.blob_data = 32,
		.nmethod_compile_id = 48,
		.place = old ? HOTSPOT_PLACE_POINTER : HOTSPOT_PLACE_OFFSET,
		.frame_complete_bytes = old ? 4 : 2,
	};
	memset(memory, 0, sizeof(memory));
	memset(&rows, 0, sizeof(rows));
	changes_at = 0;
	put_number(BLOB - 8, 1, 1);
	put_number(BLOB, NAME, 8);
	put(NAME, "nmethod", 8);
	put_number(BLOB + 12, 6, 4);
	put_number(BLOB + 16, 5, old ? 4 : 2);
	put_number(BLOB + 24, old ? BLOB + CODE : CODE, old ? 8 : 4);
	put_number(BLOB + 32, (old ? BLOB : 0) + CODE + sizeof(code), old ? 8 : 4);
	put_number(BLOB + 48, ID, 4);
	put(BLOB + CODE, code, sizeof(code));
}

static int read_rows(const struct hotspot_code_place *p)
{
	const struct hotspot_memory m = {.read = read_memory};

	return hotspot_rows_read(&rows, &layout, &m, p);
}

static void check_row(uint32_t number, uint32_t offset, int depth, int saved_fp)
{
	const struct hotspot_code_row *r = &rows.rows[number];

	ck_assert_uint_lt(number, rows.count);
	ck_assert_uint_eq(r->offset, offset);
	ck_assert_int_eq(r->depth, depth);
	ck_assert_int_eq(r->saved_fp, saved_fp);
	ck_assert_int_eq(r->return_word, 1);
}

START_TEST(method)
{
	make_blob(_i);
	ck_assert_int_eq(read_rows(&nop), 0);
	ck_assert_uint_eq(rows.count, 5);
	check_row(0, 0, 1, 0);
	check_row(1, 1, 2, 2);
	check_row(2, 5, 6, 2);
	check_row(3, 10, 2, 2);
	check_row(4, 11, 1, 0);
	ck_assert_uint_eq(rows.end, sizeof(code));
}
END_TEST

/* The place in an adapter counts from the blob on, and an adapter has no compile id. */
START_TEST(adapter)
{
	make_blob(true);
	put(NAME, "I2C/C2I adapters", 17);
	put_number(BLOB + 48, 1, 4);
	ck_assert_int_eq(read_rows(&(struct hotspot_code_place){BLOB, 0, CODE + 5}), 0);
	ck_assert_uint_eq(rows.rows[0].offset, 0);
	ck_assert_int_eq(read_rows(&(struct hotspot_code_place){BLOB, 0, 5}), -ESTALE);
}
END_TEST

static void check_fails(const struct hotspot_code_place *p, int status)
{
	ck_assert_int_eq(read_rows(p), status);
	ck_assert_uint_eq(rows.count, 0);
}

START_TEST(other_code_has_no_rows)
{
	make_blob(_i);
	check_fails(&(struct hotspot_code_place){BLOB, ID + 1, 5}, -ESTALE);
	check_fails(&(struct hotspot_code_place){BLOB, ID, sizeof(code)}, -ESTALE);
	put_number(BLOB - 8, 0, 1);
	check_fails(&nop, -ESTALE);
	make_blob(_i);
	put(NAME, "StubRoutines (1)", 17);
	check_fails(&nop, -ENOENT);
}
END_TEST

START_TEST(code_that_changes_meanwhile_has_no_rows)
{
	make_blob(_i);
	changes_at = BLOB + CODE;
	check_fails(&nop, -ESTALE);
}
END_TEST

START_TEST(hostile_headers)
{
	make_blob(true);
	put_number(BLOB + 32, BLOB + CODE + (1 << 30), 8);
	check_fails(&nop, -E2BIG);
	put_number(BLOB + 32, BLOB + CODE - 1, 8);
	check_fails(&nop, -ESTALE);
	put_number(BLOB + 32, BLOB + CODE + 65536, 8);
	check_fails(&nop, -EFAULT);
	put_number(BLOB, 8, 8);
	check_fails(&nop, -EFAULT);
	check_fails(&(struct hotspot_code_place){8, ID, 5}, -EFAULT);
	make_blob(true);
	put_number(BLOB + 12, (uint64_t)-1, 4);
	put_number(BLOB + 16, (uint64_t)-1, 4);
	ck_assert_int_eq(read_rows(&nop), 0); /* the code alone says it */
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("hotspot_rows");
	const TTest *const tests[] = {
		method,
		adapter,
		other_code_has_no_rows,
		code_that_changes_meanwhile_has_no_rows,
		hostile_headers,
	};

	/* each with the arrangement of JDK 25 (0) and of JDK 17 (1) */
	tcase_set_timeout(tcase, SUITE_TIMEOUT);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tcase_add_loop_test(tcase, tests[i], 0, 2);
	return suite_run_case("hotspot_rows", tcase);
}
