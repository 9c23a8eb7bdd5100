// SPDX-License-Identifier: Apache-2.0
/*
 * Test kernel.c with kallsyms as the kernel writes it, with hidden addresses, and with symbols
 * added later.
 */
#include <errno.h>

#include "files.h"
#include "suite.h"
#include "symbolizers/kernel.h"

static struct object_facts facts;

static int read_text(struct kernel *k, const char *text)
{
	int fd = file_of(text, strlen(text)), rc;

	facts = (struct object_facts){0};
	rc = kernel_read(k, fd, &facts, NULL);
	close(fd);
	return rc;
}

static const char *at(struct kernel *k, uint64_t address)
{
	struct found_symbol f;

	return kernel_find(k, address, &f) ? f.name : "-";
}

static const char text[] = "0000000000001000 A fixed_percpu_data\n"
			   "ffffffff81000000 T first\n"
			   "ffffffff81000000 T alias\n"
			   "ffffffff81000100 t second.constprop.0\n"
			   "ffffffff81000200 D data\n"
			   "ffffffff81000300 W weak\n"
			   "ffffffff81000380 B bss\n"
			   "garbage\n"
			   "ffffffffc0000000 t in_module\t[ext4]\n"
			   "ffffffffc0000100 d its_data\t[ext4]\n"
			   "ffffffffc0200000 t bpf_prog_0123456789abcdef_count\t[bpf]\n";

START_TEST(functions_end_where_the_next_symbol_begins)
{
	struct kernel k = {0};
	struct found_symbol f;

	ck_assert_int_eq(read_text(&k, text), 0);
	ck_assert_str_eq(at(&k, 0xffffffff81000000), "first");
	ck_assert_str_eq(at(&k, 0xffffffff810000ff), "first");
	ck_assert_str_eq(at(&k, 0xffffffff81000100), "second.constprop.0");
	ck_assert_str_eq(at(&k, 0xffffffff81000200), "-");
	ck_assert_str_eq(at(&k, 0xffffffff81000300), "weak");
	ck_assert_str_eq(at(&k, 0xffffffff81000380), "-");
	ck_assert_str_eq(at(&k, 0xffffffffc0000050), "in_module [ext4]");
	ck_assert_str_eq(at(&k, 0xffffffffc0000100), "-");
	ck_assert_str_eq(at(&k, 0xffffffffc0200010), "bpf_prog_0123456789abcdef_count [bpf]");
	ck_assert_str_eq(at(&k, 0xffffffffc0200000 + (2 << 20)), "-");
	ck_assert_str_eq(at(&k, 0x1000), "-");
	ck_assert_str_eq(at(&k, 0), "-");
	ck_assert(kernel_find(&k, 0xffffffff81000180, &f));
	ck_assert_uint_eq(f.start, 0xffffffff81000100);
	ck_assert_uint_eq(f.size, 0x100);
	ck_assert_uint_eq(f.flags, SYMBOL_FOUND);
	ck_assert_uint_eq(facts.symbols, 10);
	ck_assert_uint_eq(facts.bad_lines, 1);
	kernel_free(&k);
}
END_TEST

START_TEST(hidden_addresses_are_told)
{
	struct kernel k = {0};

	ck_assert_int_eq(read_text(&k, "0000000000000000 T first\n0000000000000000 t second\n"),
			 -EACCES);
	ck_assert(facts.hidden);
	ck_assert_int_eq(read_text(&k, ""), -EBADMSG);
	ck_assert(!facts.hidden);
	ck_assert_str_eq(at(&k, 0), "-");
	kernel_free(&k);
}
END_TEST

START_TEST(added_symbols_win_and_survive)
{
	struct kernel k = {0};

	ck_assert_int_eq(kernel_add(&k, 0xffffffffc0200000, 0x40, "bpf_prog_1 [bpf]", 16), 0);
	ck_assert_str_eq(at(&k, 0xffffffffc0200000), "bpf_prog_1 [bpf]");
	ck_assert_int_eq(read_text(&k, text), 0);
	ck_assert_int_eq(kernel_add(&k, 0xffffffff81000080, 0x100, "trampoline", 10), 0);
	ck_assert_int_eq(kernel_add(&k, 0xffffffff81000100, 0x10, "newest", 6), 0);
	ck_assert_str_eq(at(&k, 0xffffffffc0200000), "bpf_prog_1 [bpf]");
	ck_assert_str_eq(at(&k, 0xffffffff8100007f), "first");
	ck_assert_str_eq(at(&k, 0xffffffff81000080), "trampoline");
	ck_assert_str_eq(at(&k, 0xffffffff81000100), "newest");
	ck_assert_str_eq(at(&k, 0xffffffff81000110), "trampoline");
	ck_assert_int_eq(read_text(&k, text), 0);
	ck_assert_str_eq(at(&k, 0xffffffff81000100), "newest");
	ck_assert_int_eq(kernel_add(&k, UINT64_MAX, 2, "wraps", 5), -E2BIG);
	/* A read that fails keeps the earlier symbols. */
	ck_assert_int_eq(read_text(&k, ""), -EBADMSG);
	ck_assert_str_eq(at(&k, 0xffffffff81000000), "first");
	kernel_free(&k);
}
END_TEST

START_TEST(this_kernel_is_understood)
{
	struct kernel k = {0};
	int fd = file_open("/proc/kallsyms"), rc;

	facts = (struct object_facts){0};
	rc = kernel_read(&k, fd, &facts, NULL);
	close(fd);
	if (rc == -EACCES)
		return; /* hidden from this user, which another test covers */
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(facts.bad_lines, 0);
	ck_assert_uint_gt(facts.symbols, 10000);
	kernel_free(&k);
}
END_TEST

SUITE("kernel", functions_end_where_the_next_symbol_begins, hidden_addresses_are_told,
      added_symbols_win_and_survive, this_kernel_is_understood)
