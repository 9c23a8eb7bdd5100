// SPDX-License-Identifier: Apache-2.0
/* Recognize machine code by its bytes: system calls and the instructions around them. */
#include <string.h>

#include "symbolizers/unwind/code.h"

#define BEFORE_MAX 40 /* bytes; musl's __clone has 35 from its start to its system call */
#define CHILD_MAX 20 /* bytes of a clone() that only the child runs; musl's __clone has 15 */

static const uint8_t x86_syscall[] = {0x0f, 0x05};

struct code_bytes {
	const uint8_t *begin, *end;
};

/* Return whether these bytes are at p, which may lie outside of the code. */
static bool code_has_at(const struct code_bytes *c, const uint8_t *p, const void *bytes,
			size_t size)
{
	return p >= c->begin && p <= c->end && size <= (size_t)(c->end - p) &&
	       memcmp(p, bytes, size) == 0;
}

#define IS_AT(c, p, ...) \
	code_has_at(c, p, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* Find code to which signal handlers return, by the pattern mov $15,%rax or %eax; syscall. */
static bool x86_restorer(const struct code_bytes *c, const uint8_t *call, struct unwind_found *out)
{
	size_t size = 0;

	if (IS_AT(c, call - 7, 0x48, 0xc7, 0xc0, 15, 0, 0, 0))
		size = 7;
	else if (IS_AT(c, call - 5, 0xb8, 15, 0, 0, 0))
		size = 5;
	*out = (struct unwind_found){
		.at = (uint64_t)(call - size - c->begin),
		.kind = UNWIND_FOUND_RESTORER,
		.child = (uint32_t)(size + sizeof(x86_syscall)),
	};
	return size > 0;
}

/*
 * Find musl's __clone by the pattern xor %eax,%eax; mov $56,%al ... syscall; test; jnz 1f; xor
 * %ebp,%ebp ... 1: ret. If the first two instructions are not found, the function is taken to start
 * at the system call.
 */
static bool x86_clone(const struct code_bytes *c, const uint8_t *call, struct unwind_found *out)
{
	const uint8_t *after = call + sizeof(x86_syscall), *p = after, *start, *child, *parent;

	p += IS_AT(c, p, 0x48);
	if (!IS_AT(c, p, 0x85, 0xc0, 0x75) || c->end - p < 4)
		return false;
	child = p + 4;
	parent = child + p[3];
	p = child + IS_AT(c, child, 0x48);
	if (!IS_AT(c, p, 0x31, 0xed) || child[-1] > 0x7f || parent - child > CHILD_MAX ||
	    !IS_AT(c, parent, 0xc3))
		return false;
	for (start = call - 1; call - start <= BEFORE_MAX; start--) {
		if (IS_AT(c, start, 0x31, 0xc0, 0xb0, 0x38))
			break;
	}
	if (call - start > BEFORE_MAX)
		start = call;
	*out = (struct unwind_found){
		.at = (uint64_t)(start - c->begin),
		.kind = UNWIND_FOUND_CLONE,
		.call_end = (uint32_t)(after - start),
		.child = (uint32_t)(child - start),
		.end = (uint32_t)(parent - start),
		.tail = 1,
	};
	return true;
}

/*
 * Return the bytes of a ModRM byte at p and what belongs to it: a SIB byte and a displacement.
 * (Intel's manual, volume 2, table 2-2)
 */
static size_t x86_modrm_size(const uint8_t *p)
{
	unsigned int mod = p[0] >> 6, rm = p[0] & 7;

	if (mod == 3)
		return 1;
	if (mod == 0 && rm == 5)
		return 5;
	if (mod == 0 && rm == 4 && (p[1] & 7) == 5)
		return 6;
	return 1 + (rm == 4) + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Return the size of the indirect call (opcode ff /2) that ends at end; 0 if there is none. */
static size_t x86_indirect_call(const struct code_bytes *c, const uint8_t *end)
{
	for (size_t size = 2; size <= 7 && size <= (size_t)(end - c->begin); size++) {
		const uint8_t *p = end - size;

		if (p[0] == 0xff && (p[1] >> 3 & 7) == 2 && 1 + x86_modrm_size(p + 1) == size)
			return size + (p > c->begin && (p[-1] & 0xf8) == 0x40); /* REX prefix */
	}
	return 0;
}

/*
 * Find where musl calls a thread's function and, with its result, one that does not return: call
 * *function; mov %eax,%edi or mov %rax,%rdi; call exit.
 */
static size_t x86_search_outermost(const struct code_bytes *c, struct unwind_found *out, size_t max)
{
	static const uint8_t mov_call[] = {0x89, 0xc7, 0xe8};
	const uint8_t *p = c->begin;
	size_t found = 0;

	while (found < max) {
		const uint8_t *mov;
		size_t call;

		p = memmem(p, (size_t)(c->end - p), mov_call, sizeof(mov_call));
		if (!p || c->end - p < 7)
			break;
		mov = p - (p > c->begin && p[-1] == 0x48);
		call = x86_indirect_call(c, mov);
		p += 7; /* the mov instruction and the call of 5 bytes */
		if (call)
			out[found++] = (struct unwind_found){
				.at = (uint64_t)(mov - call - c->begin),
				.kind = UNWIND_FOUND_OUTERMOST,
				.end = (uint32_t)(p - (mov - call)),
			};
	}
	return found;
}

static size_t x86_search(const struct code_bytes *c, struct unwind_found *out, size_t max)
{
	const uint8_t *p = c->begin;
	size_t found = x86_search_outermost(c, out, max);

	while (found < max) {
		p = memmem(p, (size_t)(c->end - p), x86_syscall, sizeof(x86_syscall));
		if (!p)
			break;
		found += x86_restorer(c, p, &out[found]) || x86_clone(c, p, &out[found]);
		p += sizeof(x86_syscall);
	}
	return found;
}

#define ARM64_SVC 0xd4000001
#define ARM64_NOP 0xd503201f
#define ARM64_RET 0xd65f03c0
#define ARM64_MOV_FP_0 0xd280001d
#define ARM64_MOV_RT_SIGRETURN 0xd2801168 /* mov x8, #139 */

static uint32_t arm64_instruction(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * Search for both patterns on arm64: mov x8, #139; svc #0, or, in musl's __clone, svc #0; cbz x0,
 * 1f; ret; 1:.
 */
static size_t arm64_search(const struct code_bytes *c, struct unwind_found *out, size_t max)
{
	size_t found = 0;

	for (const uint8_t *p = c->begin; c->end - p >= 12 && found < max; p += 4) {
		uint64_t at = (uint64_t)(p - c->begin);

		if (arm64_instruction(p) == ARM64_MOV_RT_SIGRETURN &&
		    arm64_instruction(p + 4) == ARM64_SVC)
			out[found++] = (struct unwind_found){
				.at = at,
				.kind = UNWIND_FOUND_RESTORER,
				.child = 8,
			};
		/* 0xb4000040 is cbz x0 with the target two instructions later. */
		if (arm64_instruction(p) == ARM64_SVC && arm64_instruction(p + 4) == 0xb4000040 &&
		    arm64_instruction(p + 8) == ARM64_RET && found < max)
			out[found++] = (struct unwind_found){
				.at = at,
				.kind = UNWIND_FOUND_CLONE,
				.call_end = 4,
				.child = 12,
				.end = 12 + CHILD_MAX,
			};
	}
	return found;
}

size_t unwind_code_search(const struct unwind_machine *m, const uint8_t *code, size_t size,
			  struct unwind_found *out, size_t max)
{
	struct code_bytes c = {code, code + size};

	return m->elf == EM_X86_64 ? x86_search(&c, out, max) : arm64_search(&c, out, max);
}

bool unwind_code_has_syscall(const struct unwind_machine *m, const uint8_t *code, size_t size)
{
	if (m->elf == EM_X86_64)
		return memmem(code, size, x86_syscall, sizeof(x86_syscall));
	for (size_t i = 0; i + 4 <= size; i += 4) {
		if (arm64_instruction(code + i) == ARM64_SVC)
			return true;
	}
	return false;
}

bool unwind_code_is_restorer(const struct unwind_machine *m, const uint8_t *code)
{
	struct code_bytes c = {code, code + 4};

	if (m->elf == EM_X86_64)
		return IS_AT(&c, code, 0x48, 0xc7, 0xc0, 15) || IS_AT(&c, code, 0xb8, 15, 0, 0);
	return arm64_instruction(code) == ARM64_MOV_RT_SIGRETURN;
}

bool unwind_code_begins_stack(const struct unwind_machine *m, const uint8_t *code)
{
	struct code_bytes c = {code, code + 4};

	if (m->elf == EM_X86_64)
		return IS_AT(&c, code, 0x31, 0xed) || IS_AT(&c, code, 0x48, 0x31, 0xed);
	return arm64_instruction(code) == ARM64_MOV_FP_0;
}

/*
 * Return whether padding on x86-64 begins at p: nopw, nopl, xchg %ax,%ax, or at least two of nop or
 * of int3.
 */
static bool x86_pads(const struct code_bytes *c, const uint8_t *p)
{
	return IS_AT(c, p, 0x66, 0x2e, 0x0f, 0x1f) || IS_AT(c, p, 0x66, 0x0f, 0x1f) ||
	       IS_AT(c, p, 0x0f, 0x1f) || IS_AT(c, p, 0x66, 0x90) || IS_AT(c, p, 0xcc, 0xcc) ||
	       IS_AT(c, p, 0x90, 0x90);
}

size_t unwind_code_until_padding(const struct unwind_machine *m, const uint8_t *code, size_t size)
{
	struct code_bytes c = {code, code + size};

	if (m->elf == EM_X86_64) {
		for (size_t i = 1; i < size; i++) {
			if (x86_pads(&c, code + i))
				return i;
		}
		return size;
	}
	for (size_t i = 4; i + 4 <= size; i += 4) {
		if (arm64_instruction(code + i) == ARM64_NOP || !arm64_instruction(code + i))
			return i;
	}
	return size;
}
