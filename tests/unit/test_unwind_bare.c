// SPDX-License-Identifier: Apache-2.0
/*
 * Functions of assembly language without a size and without a description, in a library that
 * describes its other code, as libjvm has them.
 */
#include <glob.h>

#include "files.h"
#include "suite.h"
#include "symbolizers/elf_image.h"
#include "table_find.h"
#include "table_of_file.h"

/* Return the file offset of a function, by its symbol. The first segment has offset 0. */
static uint64_t offset_of(const char *path, const char *symbol)
{
	char command[256], line[256] = "";
	unsigned long long address = 0, offset = 0, start = 0;
	FILE *f;

	snprintf(command, sizeof(command), "nm %s | awk '$3 == \"%s\" {print $1}'", path, symbol);
	f = popen(command, "r");
	ck_assert(f && fgets(line, sizeof(line), f) && sscanf(line, "%llx", &address) == 1);
	pclose(f);
	snprintf(command, sizeof(command),
		 "readelf -lW %s | awk '$1 == \"LOAD\" && / R E /{print $2, $3}'", path);
	f = popen(command, "r");
	ck_assert(f && fgets(line, sizeof(line), f) &&
		  sscanf(line, "%llx %llx", &offset, &start) == 2);
	pclose(f);
	return address - start + offset;
}

static void check_depth(const struct unwind_table *t, uint64_t offset, int cfa_offset)
{
	const struct unwind_rule *r = unwind_table_find(t, offset);

	ck_assert(r && r->kind == UNWIND_CFA);
	ck_assert_int_eq(r->reg, UNWIND_REG_SP);
	ck_assert_int_eq(r->cfa_offset, cfa_offset);
}

static bool has_rule(const struct unwind_table *t, uint64_t offset)
{
	const struct unwind_rule *r = unwind_table_find(t, offset);

	return r && r->kind != UNWIND_GAP && r->kind != UNWIND_BAD;
}

/* A leaf, one that pushes a register, one whose ret finds no return address, and data. */
START_TEST(functions_without_descriptions)
{
	static const char text[] =
		".text\n"
		"described: .cfi_startproc\n .fill 4000, 1, 0x90\n"
		" push %rbx\n .cfi_adjust_cfa_offset 8\n pop %rbx\n"
		" .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n .type described, @function\n"
		" .size described, . - described\n .p2align 6\n"
		".type leaf, @function\nleaf: pause\n xor %eax, %eax\n ret\n .p2align 6\n"
		".type pushes, @function\npushes: push %rbx\n nop\n pop %rbx\n ret\n .p2align 6\n"
		".type wrong, @function\nwrong: push %rbx\n nop\n ret\n .p2align 6\n"
		".type data, @function\ndata: .byte 6, 6, 6, 6\n .p2align 6\n";
	struct unwind_table t;
	uint64_t at;
	void *bytes;

	files_begin();
	file_write("t.s", text, sizeof(text) - 1);
	shell("gcc -nostdlib -shared -o t.so t.s");
	t = table_of("t.so", &bytes);
	check_depth(&t, offset_of("t.so", "described") + 4001, 16);
	check_depth(&t, offset_of("t.so", "leaf"), 8);
	at = offset_of("t.so", "pushes");
	check_depth(&t, at, 8);
	check_depth(&t, at + 1, 16);
	check_depth(&t, at + 3, 8);
	ck_assert(!has_rule(&t, offset_of("t.so", "wrong")));
	ck_assert(!has_rule(&t, offset_of("t.so", "data")));
	free(bytes);
}
END_TEST

/* libjvm's own functions of assembly language, if this machine has a JDK. */
START_TEST(libjvm)
{
	static const char *const leaves[] = {"SpinPause", "acl_CopyLeft", "SafeFetchN_impl"};
	glob_t found = {0};

	if (glob("/usr/lib/jvm/*/lib/server/libjvm.so", 0, NULL, &found)) {
		fprintf(stderr, "skipped: no JDK below /usr/lib/jvm\n");
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		void *bytes;
		struct unwind_table t = table_of(found.gl_pathv[i], &bytes);

		for (size_t n = 0; n < sizeof(leaves) / sizeof(*leaves); n++)
			check_depth(&t, offset_of(found.gl_pathv[i], leaves[n]), 8);
		free(bytes);
	}
	globfree(&found);
}
END_TEST

SUITE("unwind_bare", functions_without_descriptions, libjvm)
