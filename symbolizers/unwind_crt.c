// SPDX-License-Identifier: Apache-2.0
/*
 * Every program and library begins in _init() and ends in _fini(): the sections
 * .init and .fini, of which call frame information says nothing. On x86-64
 * they align the stack, call what they call, and undo it:
 *
 *   glibc 2.36  [endbr64] sub $8,%rsp ... add $8,%rsp; ret
 *   musl 1.2.3  push %rax ... pop %rax; ret
 */
#include <errno.h>
#include <string.h>

#include "symbolizers/unwind_crt.h"

#define SECTION_MAX 4096

struct shape {
	const uint8_t *begin, *end; /* end: with its ret */
	uint64_t begin_size, end_size;
};

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
static const uint8_t sub_rsp[] = {0x48, 0x83, 0xec, 0x08};
static const uint8_t add_rsp_ret[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
static const uint8_t push_rax[] = {0x50};
static const uint8_t pop_rax_ret[] = {0x58, 0xc3};

static const struct shape shapes[] = {
	{sub_rsp, add_rsp_ret, sizeof(sub_rsp), sizeof(add_rsp_ret)},
	{push_rax, pop_rax_ret, sizeof(push_rax), sizeof(pop_rax_ret)},
};

static struct unwind_rule rule_of(const struct unwind_machine *m, int32_t cfa_offset)
{
	return (struct unwind_rule){
		.cfa_offset = cfa_offset,
		.second = -8,
		.kind = UNWIND_CFA,
		.reg = m->sp,
		.saved = UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_AT_CFA),
	};
}

/* Before the stack is moved, while it is, and at the return. */
static int add_function(struct unwind_rows *rows, const struct unwind_machine *m, uint64_t start,
			uint64_t moved, uint64_t end)
{
	const struct unwind_rule outside = rule_of(m, 8), inside = rule_of(m, 16);
	int rc = unwind_rows_begin(rows, UNWIND_LAYER_STARTS, start, end);

	if (!rc)
		rc = unwind_rows_put(rows, start, &outside);
	if (!rc)
		rc = unwind_rows_put(rows, moved, &inside);
	if (!rc)
		rc = unwind_rows_put(rows, end - 1, &outside);
	return rc == -EINVAL ? 0 : rc;
}

static int add_section(struct unwind_rows *rows, const struct unwind_source *s, const char *name)
{
	uint8_t code[SECTION_MAX];
	GElf_Shdr section;
	uint64_t size, at = 0;

	if (!elf_section_named(s->image, name, &section) || section.sh_size > sizeof(code) ||
	    unwind_source_read(s, section.sh_offset, code, section.sh_size))
		return 0;
	size = section.sh_size;
	if (size > sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		at = sizeof(endbr64);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const struct shape *h = &shapes[i];

		if (size - at < h->begin_size + h->end_size ||
		    memcmp(code + at, h->begin, h->begin_size) != 0 ||
		    memcmp(code + size - h->end_size, h->end, h->end_size) != 0)
			continue;
		return add_function(rows, unwind_machine_of(s), section.sh_offset,
				    section.sh_offset + at + h->begin_size,
				    section.sh_offset + size);
	}
	return 0;
}

int unwind_crt_add(struct unwind_rows *rows, const struct unwind_source *s)
{
	int rc;

	if (unwind_machine_of(s)->elf != EM_X86_64)
		return 0;
	rc = add_section(rows, s, ".init");
	return rc ? rc : add_section(rows, s, ".fini");
}
