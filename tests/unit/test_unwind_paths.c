// SPDX-License-Identifier: Apache-2.0
/*
 * Code that nothing describes, described by its paths: programs and libraries of this machine whose
 * call frame information is removed get the rules that it states, and musl, which has none, is
 * described. The decoder of instructions agrees with objdump.
 */
#include "files.h"
#include "suite.h"
#include "symbolizers/unwind/paths.h"
#include "symbolizers/unwind/x86.h"
#include "table_find.h"
#include "table_of_file.h"

#define MUSL "/lib/ld-musl-x86_64.so.1"

static bool describes(const struct unwind_rule *r)
{
	return r && r->kind != UNWIND_GAP && r->kind != UNWIND_BAD;
}

/*
 * Compare a file's rules with those of a copy without call frame information. Where both have one,
 * the frame begins at the same place. rbp need not be the same: where it is restored, call frame
 * information may still say where it was saved.
 */
static void check_without_descriptions(const char *path)
{
	struct unwind_table with, without;
	unsigned long both = 0, differ = 0, lacks = 0;
	void *a, *b;
	uint64_t at, end;

	shell("objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr %s bare", path);
	with = table_of(path, &a);
	without = table_of("bare", &b);
	at = with.header->first_page << UNWIND_PAGE_SHIFT;
	end = at + ((uint64_t)with.header->pages << UNWIND_PAGE_SHIFT);
	for (; at < end; at++) {
		const struct unwind_rule *x = unwind_table_find(&with, at);
		const struct unwind_rule *y = unwind_table_find(&without, at);

		if (!describes(x) || x->kind != UNWIND_CFA)
			continue;
		lacks += !describes(y);
		both += describes(y);
		differ += describes(y) && x->reg == y->reg && x->cfa_offset != y->cfa_offset;
	}
	printf("%s: %lu bytes of code, %lu not described, %lu different\n", path, both + lacks,
	       lacks, differ);
	ck_assert_uint_ge(both, 50000);
	ck_assert_msg(differ <= both / 1000, "%s: %lu of %lu differ", path, differ, both);
	ck_assert_msg(lacks <= (both + lacks) / 2, "%s: %lu of %lu lack", path, lacks, both);
	free(a);
	free(b);
}

START_TEST(paths_agree_with_descriptions)
{
	static const char *const paths[] = {
		"/lib/x86_64-linux-gnu/libm.so.6",
		"/usr/bin/bash",
		"/lib/x86_64-linux-gnu/libsqlite3.so.0",
	};
	unsigned int found = 0;

	files_begin();
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (access(paths[i], R_OK))
			continue;
		found++;
		check_without_descriptions(paths[i]);
	}
	ck_assert_uint_ge(found, 2);
}
END_TEST

/* All of musl is described but what only data refer to; its threads begin where they do. */
START_TEST(musl_is_described)
{
	static const char main_returns[] = "\xff\xd3\x89\xc7\xe8"; /* call *%rbx; exit(result) */
	unsigned long described = 0, size;
	struct unwind_table table;
	struct stat st;
	char *code;
	void *bytes;
	int fd;

	if (access(MUSL, R_OK))
		return;
	table = table_of(MUSL, &bytes);
	for (uint64_t at = 0; at < (uint64_t)table.header->pages << UNWIND_PAGE_SHIFT; at++)
		described += describes(unwind_table_find(
			&table, at + (table.header->first_page << UNWIND_PAGE_SHIFT)));
	fd = file_open(MUSL);
	ck_assert_int_eq(fstat(fd, &st), 0);
	size = (unsigned long)st.st_size;
	code = malloc(size);
	ck_assert_int_eq(pread(fd, code, size, 0), (ssize_t)size);
	ck_assert_uint_ge(described, size / 2);
	for (char *p = code; (p = memmem(p, size - (size_t)(p - code), main_returns, 5)); p++) {
		const struct unwind_rule *r = unwind_table_find(&table, (uint64_t)(p - code) + 1);

		ck_assert(r && r->kind == UNWIND_END);
	}
	close(fd);
	free(code);
	free(bytes);
}
END_TEST

/* Read a line of objdump: bytes in hexadecimal between two tabs. Return their number. */
static size_t bytes_of_line(const char *line, uint8_t *out, size_t max)
{
	const char *p = strchr(line, '\t');
	size_t count = 0;
	int used;

	if (!p || strstr(line, "(bad)"))
		return 0;
	for (p++; count < max && sscanf(p, "%2hhx%n", &out[count], &used) == 1 && used == 2;
	     p += 2) {
		count++;
		p += p[2] == ' ';
	}
	return *p == '\t' || *p == ' ' ? count : 0;
}

START_TEST(lengths_agree_with_objdump)
{
	static const char command[] = "objdump -d -w --insn-width=16 %s/libc.so.6 %s/libm.so.6";
	char line[512], text[256];
	unsigned long count = 0, differ = 0;
	FILE *f;

	snprintf(text, sizeof(text), command, "/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu");
	if (access("/lib/x86_64-linux-gnu/libc.so.6", R_OK))
		return;
	f = popen(text, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		uint8_t code[32] = {0};
		struct x86_instruction i;
		size_t size = bytes_of_line(line, code, 16);

		/* objdump shows wait together with the instruction that follows */
		if (!size || code[0] == 0x9b)
			continue;
		count++;
		if (x86_decode(code, sizeof(code), &i) && i.size == size)
			continue;
		if (differ++ < 10)
			fputs(line, stdout);
	}
	ck_assert_int_eq(pclose(f), 0);
	ck_assert_uint_ge(count, 100000);
	ck_assert_uint_eq(differ, 0);
}
END_TEST

/* Truncated instructions are refused, and no instruction is longer than what is there. */
START_TEST(truncated_instructions_are_refused)
{
	uint64_t random = 88172645463325252ULL;

	for (unsigned int n = 0; n < 2000000; n++) {
		uint8_t code[16];
		struct x86_instruction whole, part;

		for (size_t i = 0; i < sizeof(code); i += 8) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			memcpy(code + i, &random, 8);
		}
		if (!x86_decode(code, sizeof(code), &whole))
			continue;
		if (whole.size > X86_INSTRUCTION_MAX || x86_decode(code, whole.size - 1U, &part) ||
		    !x86_decode(code, whole.size, &part) || part.size != whole.size)
			ck_abort_msg("%02x %02x %02x", code[0], code[1], code[2]);
	}
}
END_TEST

/* Random bytes as code, where jumps lead anywhere: it ends soon. */
START_TEST(random_code_ends)
{
	enum { SIZE = 900000 };
	uint64_t random = 88172645463325252ULL;
	struct unwind_table table;
	char *text = malloc(SIZE);
	void *bytes;
	FILE *f;

	for (size_t i = 0; i < SIZE; i += 8) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		memcpy(text + i, &random, 8);
	}
	files_begin();
	file_write("code", text, SIZE);
	f = fopen("t.s", "we");
	ck_assert_ptr_nonnull(f);
	fputs(".globl _start\n_start: .incbin \"code\"\n", f);
	for (unsigned int i = 0; i < 20000; i++)
		fprintf(f, ".globl f%u\n.type f%u, @function\n.set f%u, _start + %u\n", i, i, i,
			i * 45);
	ck_assert_int_eq(fclose(f), 0);
	shell("gcc -nostdlib -shared -o random.so t.s");
	table = table_of("random.so", &bytes);
	ck_assert_uint_gt(table.header->rows, 0);
	free(bytes);
	free(text);
}
END_TEST

SUITE("unwind_paths", paths_agree_with_descriptions, musl_is_described, lengths_agree_with_objdump,
      truncated_instructions_are_refused, random_code_ends)
