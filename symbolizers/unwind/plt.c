// SPDX-License-Identifier: Apache-2.0
/*
 * Add rules for procedure linkage tables (PLT). GNU ld describes the PLT of dynamic x86-64
 * programs. The following PLTs have no description:
 *
 *  - The PLT of lld (Rust, Chromium, Android), which has the same code: a head that pushes
 *    and jumps, then stubs of 16 bytes: jmp; push $number; jmp to the head.
 *  - The PLT of static programs, through which glibc calls functions that it chooses by CPU
 *    (memcpy): stubs of 8 or 16 bytes that jump and push nothing.
 *  - The PLT of arm64: a head that stores x16 and x30, and stubs that touch nothing.
 *
 * All rules go into the lowest layer, where any description hides them.
 */
#include <errno.h>

#include "symbolizers/unwind/plt.h"

#define X86_HEAD 16
#define X86_PUSHED 11 /* offset in a stub, in bytes, after the jmp and the push */
#define ARM64_HEAD 32
#define ARM64_STP_X16_X30 0xa9bf7bf0 /* stp x16, x30, [sp, #-16]! */

static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};

/* Return the rule for code where the stack has grown by this many bytes since the call. */
static struct unwind_rule grown_stack_rule(const struct unwind_machine *m, int32_t by)
{
	struct unwind_rule rule = {.kind = UNWIND_CFA, .reg = m->sp, .cfa_offset = by};

	if (m->elf == EM_AARCH64 && !by) {
		rule.index = m->ra;
		rule.saved = UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_IN_REGISTER);
	} else {
		rule.cfa_offset += m->elf == EM_AARCH64 ? 0 : 8;
		rule.second = -8;
	}
	return rule;
}

static bool has_x86_head(const uint8_t *code)
{
	/* The head is push; jmp. The first stub begins with jmp; push. */
	return code[0] == 0xff && code[1] == 0x35 && code[6] == 0xff && code[7] == 0x25 &&
	       code[16] == 0xff && code[17] == 0x25 && code[22] == 0x68;
}

static bool has_arm64_head(const uint8_t *code)
{
	uint32_t first;

	memcpy(&first, code, sizeof(first));
	return first == ARM64_STP_X16_X30;
}

static int add_x86_head(struct unwind_rows *rows, const struct unwind_machine *m, uint64_t start)
{
	const struct unwind_rule numbered = grown_stack_rule(m, 8), both = grown_stack_rule(m, 16);
	const struct unwind_rule stubs = {
		.kind = UNWIND_PLT,
		.reg = m->sp,
		.cfa_offset = 8,
		.second = X86_PUSHED,
	};
	int ret = unwind_rows_put(rows, start, &numbered);

	if (!ret)
		ret = unwind_rows_put(rows, start + 6, &both);
	return ret ? ret : unwind_rows_put(rows, start + X86_HEAD, &stubs);
}

static int add_arm64_head(struct unwind_rows *rows, const struct unwind_machine *m, uint64_t start)
{
	const struct unwind_rule stored = grown_stack_rule(m, 16), stubs = grown_stack_rule(m, 0);
	int ret = unwind_rows_put(rows, start + 4, &stored);

	return ret ? ret : unwind_rows_put(rows, start + ARM64_HEAD, &stubs);
}

static int add_plt_rows(struct unwind_rows *rows, const struct unwind_source *s, uint64_t start,
			uint64_t size)
{
	const struct unwind_machine *m = unwind_source_machine(s);
	const struct unwind_rule stub = grown_stack_rule(m, 0);
	uint8_t code[ARM64_HEAD] = {0};
	size_t known = size < sizeof(code) ? size : sizeof(code);
	int ret = unwind_source_read(s, start, code, known);

	unwind_source_hash(s, &size, 1);
	if (!ret)
		ret = unwind_rows_begin(rows, UNWIND_LAYER_LINES, start, start + size);
	if (!ret)
		ret = unwind_rows_put(rows, start, &stub);
	if (!ret && m->elf == EM_X86_64 && has_x86_head(code))
		ret = add_x86_head(rows, m, start);
	else if (!ret && m->elf == EM_AARCH64 && has_arm64_head(code))
		ret = add_arm64_head(rows, m, start);
	return ret == -EINVAL ? 0 : ret;
}

int unwind_plt_add(struct unwind_rows *rows, const struct unwind_source *s)
{
	uint64_t start, room;
	GElf_Shdr section;
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(names) / sizeof(*names); i++) {
		if (!elf_section_named(s->image, names[i], &section) ||
		    section.sh_type != SHT_PROGBITS ||
		    !unwind_source_offset(s, section.sh_addr, &start, &room))
			continue;
		ret = add_plt_rows(rows, s, start, section.sh_size < room ? section.sh_size : room);
	}
	return ret;
}
