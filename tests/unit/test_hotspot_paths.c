// SPDX-License-Identifier: Apache-2.0
/*
 * The code that HotSpot generates: short pieces of every form whose callers are known by hand, and
 * the code of JDK 17, 21 and 25 (tests/replay/hotspot-*.code.zst, saved by
 * tests/lib/hotspot_vm.py).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "suite.h"
#include "symbolizers/unwind/code_flow.h"
#include "symbolizers/unwind/hotspot_paths.h"

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})
#define RBX 3 /* DWARF numbers */
#define RAX 0
#define R13 13

/* Return the state at an offset of a compiled method; its depth is CODE_UNKNOWN if there is none.
 */
static struct code_state state_in(const uint8_t *code, size_t size, int32_t frame_words,
				  int32_t complete, uint32_t at)
{
	const struct hotspot_compiled m = {
		.code = code, .size = size, .frame_words = frame_words, .complete = complete};
	const struct code_state *found;
	struct code_state state = code_state_lost;
	struct code_flow f;

	ck_assert_int_eq(code_flow_init(&f, code, size), 0);
	ck_assert_int_eq(hotspot_compiled_follow(&f, &m), 0);
	found = code_flow_state(&f, at);
	if (found)
		state = *found;
	code_flow_free(&f);
	return state;
}

static void check_place(const struct code_state *s, int depth, int saved_rbp)
{
	ck_assert_int_eq(s->depth, depth);
	ck_assert_int_eq(s->return_slot, 1);
	ck_assert_int_eq(s->saved_rbp, saved_rbp);
}

/* Return the row of an offset, which is among the rows. */
static const struct hotspot_code_row *code_row_at(const struct hotspot_code_rows *rows, uint32_t at)
{
	uint32_t n = rows->count;

	ck_assert_uint_lt(at, rows->end);
	while (n && rows->rows[n - 1].offset > at)
		n--;
	ck_assert_uint_gt(n, 0);
	return &rows->rows[n - 1];
}

/* mov %eax,-0x14000(%rsp); push %rbp; sub $0x20,%rsp; nop; add $0x20,%rsp; pop %rbp; ret */
START_TEST(pushed_frame)
{
	static const uint8_t code[] = {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83,
				       0xec, 0x20, 0x90, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};
	static const int expected[][3] = {{0, 1, 0},  {7, 1, 0},  {8, 2, 2}, {12, 6, 2},
					  {13, 6, 2}, {17, 2, 2}, {18, 1, 0}};

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		struct code_state s = state_in(code, sizeof(code), 6, 12, expected[i][0]);

		check_place(&s, expected[i][1], expected[i][2]);
	}
}
END_TEST

/* sub $0x18,%rsp; mov %rbp,0x10(%rsp); add $0x10,%rsp; pop %rbp; ret: in between, rbp is not saved
 */
START_TEST(moved_frame)
{
	static const uint8_t code[] = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24,
				       0x10, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
	struct code_state s = state_in(code, sizeof(code), 4, 9, 4);

	check_place(&s, 4, 0);
	s = state_in(code, sizeof(code), 4, 9, 9);
	check_place(&s, 4, 2);
	s = state_in(code, sizeof(code), 4, 9, 14);
	check_place(&s, 1, 0);
}
END_TEST

/*
 * push %rbp; sub $0x10,%rsp; test %eax,%eax; jne 1f; 2: add $0x10,%rsp; pop %rbp; ret;
 * 1: sub $0x20,%rsp; call *%r10; add $0x20,%rsp; jmp 2b
 */
START_TEST(barrier_stub)
{
	static const uint8_t code[] = {0x55, 0x48, 0x83, 0xec, 0x10, 0x85, 0xc0, 0x75, 0x06, 0x48,
				       0x83, 0xc4, 0x10, 0x5d, 0xc3, 0x48, 0x83, 0xec, 0x20, 0x41,
				       0xff, 0xd2, 0x48, 0x83, 0xc4, 0x20, 0xeb, 0xed};
	struct code_state s = state_in(code, sizeof(code), 4, 5, 9);

	check_place(&s, 4, 2);
	s = state_in(code, sizeof(code), 4, 5, 19); /* the call */
	check_place(&s, 8, 2);
	s = state_in(code, sizeof(code), 4, 5, 26);
	check_place(&s, 4, 2);
}
END_TEST

/*
 * push %rbp; sub $0x10,%rsp; jmp 2f; call (does not return); 1: jmp *%rax; nop; 2: add $0x10,%rsp;
 * pop %rbp; cmp 8(%r15),%rsp; ja 1b; ret. What follows the call has the frame of the jump to it.
 */
START_TEST(call_that_does_not_return)
{
	static const uint8_t code[] = {0x55, 0x48, 0x83, 0xec, 0x10, 0xeb, 0x08, 0xe8, 0x00,
				       0x10, 0x00, 0x00, 0xff, 0xe0, 0x90, 0x48, 0x83, 0xc4,
				       0x10, 0x5d, 0x49, 0x3b, 0x67, 0x08, 0x77, 0xf2, 0xc3};
	struct code_state s = state_in(code, sizeof(code), 4, 5, 12);

	check_place(&s, 1, 0);
	s = state_in(code, sizeof(code), 4, 5, 7);
	check_place(&s, 4, 2);
}
END_TEST

/*
 * push %rbp; sub $0x10,%rsp; mov %rsp,%rcx; jae 1f; sub $0x10,%rsp; mov %rsp,%rdi; 1: push %rcx;
 * nop; pop %rsp; add $0x10,%rsp; pop %rbp; ret: as String.indexOf() of C2 does, which copies short
 * texts to the stack.
 */
START_TEST(kept_stack_pointer)
{
	static const uint8_t code[] = {0x55, 0x48, 0x83, 0xec, 0x10, 0x48, 0x8b, 0xcc, 0x73,
				       0x07, 0x48, 0x83, 0xec, 0x10, 0x48, 0x8b, 0xfc, 0x51,
				       0x90, 0x5c, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
	const struct hotspot_compiled m = {
		.code = code, .size = sizeof(code), .frame_words = 4, .complete = 5};
	const struct hotspot_code_row *r;
	struct hotspot_code_rows rows;

	ck_assert_int_eq(hotspot_compiled_rows(&rows, &m, 18), 0);
	ck_assert_uint_eq(rows.end, sizeof(code));
	r = code_row_at(&rows, 14); /* copied: 2 words lower */
	ck_assert_int_eq(r->depth, 6);
	r = code_row_at(&rows, 17);
	ck_assert_int_eq(r->depth, HOTSPOT_DEPTH_UNKNOWN);
	ck_assert_int_eq(r->held, 0);
	ck_assert_uint_eq(r->sender_register, 2);
	ck_assert_int_eq(r->sender_words, 4);
	r = code_row_at(&rows, 18);
	ck_assert_int_eq(r->depth, HOTSPOT_DEPTH_UNKNOWN);
	ck_assert_int_eq(r->held, 1);
	ck_assert_int_eq(r->sender_words, 4);
	ck_assert_int_eq(r->saved_fp, 2);
	ck_assert_int_eq(r->return_word, 1);
	r = code_row_at(&rows, 20);
	ck_assert_int_eq(r->depth, 4);
	ck_assert_int_eq(code_row_at(&rows, 25)->depth, 1);
}
END_TEST

/* Of a method with more rows than are sent, those around the place are; at its ends, too. */
START_TEST(rows_around_a_place)
{
	static const uint8_t begin[] = {0x55, 0x48, 0x83, 0xec, 0x10};
	static const uint8_t end[] = {0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
	uint8_t code[sizeof(begin) + 200 + sizeof(end)];
	const struct hotspot_compiled m = {
		.code = code, .size = sizeof(code), .frame_words = 4, .complete = 5};
	struct hotspot_code_rows rows;

	memcpy(code, begin, sizeof(begin));
	memset(code + 5, 0x50, 100); /* push %rax */
	memset(code + 105, 0x58, 100); /* pop %rax */
	memcpy(code + 205, end, sizeof(end));
	for (uint32_t at = 5; at < 205; at++) {
		ck_assert_int_eq(hotspot_compiled_rows(&rows, &m, at), 0);
		ck_assert_uint_eq(rows.count, HOTSPOT_CODE_ROWS_MAX);
		ck_assert_uint_le(rows.end, sizeof(code));
		ck_assert_int_eq(code_row_at(&rows, at)->depth,
				 at < 105 ? 4 + (int)at - 5 : 4 + 205 - (int)at);
	}
	ck_assert_int_eq(hotspot_compiled_rows(&rows, &m, sizeof(code)), -ENOENT);
}
END_TEST

/* A method that must not be entered any more: jmp over the prologue, the body from complete on. */
START_TEST(patched_method)
{
	static const uint8_t code[] = {0xe9, 0x00, 0x10, 0x00, 0x00, 0xfe, 0xff, 0x55, 0x48, 0x83,
				       0xec, 0x20, 0x90, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};
	struct code_state s = state_in(code, sizeof(code), 6, 12, 12);

	check_place(&s, 6, 2);
	s = state_in(code, sizeof(code), 6, 12, 17);
	check_place(&s, 2, 2);
	s = state_in(code, sizeof(code), 6, 12, 8);
	ck_assert_int_eq(s.depth, CODE_UNKNOWN);
}
END_TEST

static const struct hotspot_row *row_at(const struct hotspot_paths_rows *rows, uint32_t offset)
{
	const struct hotspot_row *found = NULL;

	for (size_t i = 0; i < rows->items.count && rows->items.items[i].offset <= offset; i++)
		found = &rows->items.items[i];
	ck_assert_ptr_nonnull(found);
	return found;
}

static void check_row(const struct hotspot_paths_rows *rows, uint32_t offset, int state, int ra,
		      int sender, int method)
{
	const struct hotspot_row *r = row_at(rows, offset);

	ck_assert_msg(r->state == state && r->return_register == ra &&
			      r->sender_register == sender && r->method_register == method,
		      "%#x: %u %u %u %u", offset, r->state, r->return_register, r->sender_register,
		      r->method_register);
}

/*
 * pop %rax; 1: push $0; dec %edx; jg 1b; push %rax; push %rbp; mov %rsp,%rbp; push %r13; push $0;
 * mov 8(%rbx),%r13; push %rbx; nop; jmp *%rcx
 */
START_TEST(method_entry)
{
	static const uint8_t code[] = {0x58, 0x6a, 0x00, 0xff, 0xca, 0x7f, 0xfa, 0x50,
				       0x55, 0x48, 0x8b, 0xec, 0x41, 0x55, 0x6a, 0x00,
				       0x4c, 0x8b, 0x6b, 0x08, 0x53, 0x90, 0xff, 0xe1};
	struct hotspot_paths_rows rows = {0};
	const int none = HOTSPOT_NO_REGISTER;

	ck_assert_int_eq(hotspot_paths_append(
				 &rows, &(struct hotspot_once_code){.bytes = code,
								    .size = sizeof(code),
								    .offset = 0x100,
								    .kind = HOTSPOT_ONCE_ENTRY}),
			 0);
	check_row(&rows, 0x100, HOTSPOT_RETURN_AT_SP, none, R13, RBX);
	check_row(&rows, 0x101, HOTSPOT_RETURN_IN_REGISTER, RAX, R13, RBX);
	check_row(&rows, 0x107, HOTSPOT_RETURN_IN_REGISTER, RAX, R13, RBX);
	check_row(&rows, 0x108, HOTSPOT_RETURN_AT_SP, none, R13, RBX);
	check_row(&rows, 0x109, HOTSPOT_RETURN_ABOVE_FP, none, R13, RBX);
	check_row(&rows, 0x10c, HOTSPOT_RETURN_AT_FP, none, R13, RBX);
	check_row(&rows, 0x10e, HOTSPOT_RETURN_AT_FP, none, none, RBX);
	check_row(&rows, 0x114, HOTSPOT_RETURN_AT_FP, none, none, RBX);
	check_row(&rows, 0x115, HOTSPOT_FRAME, none, none, none);
	vector_free(&rows.items);
}
END_TEST

/* mov -8(%rbp),%rbx; leave; pop %rdx; mov %rbx,%rsp; jmp *%rdx */
START_TEST(interpreter_return)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0x5a,
				       0x48, 0x8b, 0xe3, 0xff, 0xe2};
	struct hotspot_paths_rows rows = {0};
	const int none = HOTSPOT_NO_REGISTER, rdx = 1;

	ck_assert_int_eq(hotspot_paths_append(
				 &rows, &(struct hotspot_once_code){.bytes = code,
								    .size = sizeof(code),
								    .kind = HOTSPOT_ONCE_CODELET}),
			 0);
	check_row(&rows, 4, HOTSPOT_FRAME, none, none, none);
	check_row(&rows, 5, HOTSPOT_RETURN_AT_SP, none, RBX, none);
	check_row(&rows, 6, HOTSPOT_RETURN_IN_REGISTER, rdx, RBX, none);
	check_row(&rows, 9, HOTSPOT_RETURN_IN_REGISTER, rdx, none, none);
	vector_free(&rows.items);
}
END_TEST

static struct code_flow flow_of(const uint8_t *code, size_t size, enum hotspot_once_kind kind)
{
	struct code_flow f;

	ck_assert_int_eq(code_flow_init(&f, code, size), 0);
	ck_assert_int_eq(hotspot_paths_follow(&f, kind), 0);
	return f;
}

/*
 * A table of numbers lies before a function: 01 02 03; push %rbp; mov %rsp,%rbp; push %rbx; and
 * $-64,%rsp; lea -8(%rbp),%rsp; pop %rbx; leave; ret
 */
START_TEST(function_behind_data)
{
	static const uint8_t code[] = {0x01, 0x02, 0x03, 0x55, 0x48, 0x8b, 0xec, 0x53, 0x48, 0x83,
				       0xe4, 0xc0, 0x48, 0x8d, 0x65, 0xf8, 0x5b, 0xc9, 0xc3};
	struct code_flow f = flow_of(code, sizeof(code), HOTSPOT_ONCE_FUNCTIONS);
	struct unwind_rule r;

	ck_assert_ptr_nonnull(code_flow_state(&f, 12));
	r = code_state_rule(code_flow_state(&f, 12)); /* the stack pointer is aligned */
	ck_assert_int_eq(r.reg, UNWIND_REG_FP);
	ck_assert_int_eq(r.cfa_offset, 16);
	r = code_state_rule(code_flow_state(&f, 16));
	ck_assert_int_eq(r.reg, UNWIND_REG_SP);
	ck_assert_int_eq(r.cfa_offset, 24);
	ck_assert_int_eq(r.fp_offset, -16);
	r = code_state_rule(code_flow_state(&f, 18));
	ck_assert_int_eq(r.cfa_offset, 8);
	ck_assert_int_eq(r.saved, UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_AT_CFA));
	code_flow_free(&f);
}
END_TEST

/* What begins with a frame that somebody else has made is no function. */
START_TEST(guesses_that_make_no_sense)
{
	const struct {
		const uint8_t *code;
		size_t size;
	} cases[] = {
		{BYTES(0x5b, 0xc3)}, /* pop %rbx; ret */
		{BYTES(0xc9, 0xc3)}, /* leave; ret */
		{BYTES(0x53, 0xc3)}, /* push %rbx; ret */
		{BYTES(0x55, 0x31, 0xed, 0x58, 0xc3)}, /* push %rbp; xor %ebp,%ebp; pop %rax; ret */
		{BYTES(0x31, 0xed, 0xc3)}, /* xor %ebp,%ebp; ret */
		{BYTES(0x48, 0x89, 0xc4, 0xc3)}, /* mov %rax,%rsp; ret */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct code_flow f = flow_of(cases[i].code, cases[i].size, HOTSPOT_ONCE_FUNCTIONS);

		for (size_t at = 0; at < f.size; at++)
			ck_assert_msg(!code_flow_state(&f, at), "case %zu, offset %zu", i, at);
		code_flow_free(&f);
	}
}
END_TEST

/* Random bytes, and jumps that lead to each other: it ends soon. */
START_TEST(hostile_code_ends)
{
	enum { SIZE = 1 << 20 };
	uint64_t random = 88172645463325252ULL;
	uint8_t *code = malloc(SIZE);

	for (int kind = HOTSPOT_ONCE_FUNCTIONS; kind <= HOTSPOT_ONCE_UNPACKING; kind++) {
		struct code_flow f;
		int ret;

		for (size_t i = 0; i < SIZE; i += 8) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			memcpy(code + i, &random, 8);
			if (kind % 2) /* push %rcx; jne to anywhere */
				memcpy(code + i, (const uint8_t[]){0x51, 0x0f, 0x85}, 3);
			if (kind % 2)
				code[i + 6] = code[i + 7] = (uint8_t)(random & 1 ? 0 : 0xff);
		}
		ck_assert_int_eq(code_flow_init(&f, code, SIZE), 0);
		ret = hotspot_paths_follow(&f, (enum hotspot_once_kind)kind);
		ck_assert(ret == 0 || ret == -7 /* E2BIG */);
		code_flow_free(&f);
	}
	free(code);
}
END_TEST

static void check_rule(const struct code_flow *f, size_t at, int reg, int cfa, int ra)
{
	const struct code_state *s = code_flow_state(f, at);
	struct unwind_rule r;

	ck_assert_ptr_nonnull(s);
	r = code_state_rule(s);
	ck_assert_msg(r.kind != UNWIND_BAD && r.reg == reg && r.cfa_offset == cfa &&
			      UNWIND_SAVED_RA(r.saved) == ra,
		      "%#zx: kind %u, register %u + %d, %u", at, r.kind, r.reg, r.cfa_offset,
		      r.saved);
}

static void check_lost(const struct code_flow *f, size_t at)
{
	const struct code_state *s = code_flow_state(f, at);

	ck_assert_msg(!s || code_state_rule(s).kind == UNWIND_BAD, "%#zx", at);
}

/*
 * To compiled code, as JDK 17 does it: mov (%rsp),%rax; mov %rsp,%r11; sub $16,%rsp; and $-16,%rsp;
 * push %rax; mov %r11,%rax; mov %rbx,%rax; jmp *%r11. Back, with a part that aligns the stack:
 * test %eax,%eax; je 1f; mov %rsp,%r13; and $-16,%rsp; pushf; popf; mov %r13,%rsp; 1: pop %rax; mov
 * %rsp,%r13; sub $0x30,%rsp; mov %rax,(%rsp); jmp *%rcx
 */
START_TEST(adapters)
{
	static const uint8_t code[] = {
		0x48, 0x8b, 0x04, 0x24, 0x4c, 0x8b, 0xdc, 0x48, 0x83, 0xec, 0x10, 0x48, 0x83, 0xe4,
		0xf0, 0x50, 0x49, 0x8b, 0xc3, 0x48, 0x8b, 0xc3, 0x41, 0xff, 0xe3, 0x85, 0xc0, 0x74,
		0x0c, 0x4c, 0x8b, 0xec, 0x48, 0x83, 0xe4, 0xf0, 0x9c, 0x9d, 0x49, 0x8b, 0xe5, 0x58,
		0x4c, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x30, 0x48, 0x89, 0x04, 0x24, 0xff, 0xe1};
	struct code_flow f = flow_of(code, sizeof(code), HOTSPOT_ONCE_ADAPTER);

	check_rule(&f, 0, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 11, UNWIND_REG_SP, 24, UNWIND_RA_AT_CFA);
	check_rule(&f, 15, UNWIND_REG_SP, 0, UNWIND_RA_IN_REGISTER);
	check_rule(&f, 16, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 22, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 25, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 32, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 36, 13, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 38, 13, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 41, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 42, UNWIND_REG_SP, 0, UNWIND_RA_IN_REGISTER);
	check_rule(&f, 49, UNWIND_REG_SP, 48, UNWIND_RA_IN_REGISTER);
	check_rule(&f, 53, UNWIND_REG_SP, 48, UNWIND_RA_AT_CFA);
	code_flow_free(&f);
}
END_TEST

/*
 * jmp *%rcx. To the interpreter, with a part that has the caller patched: mov %rsp,%r13; and
 * $-16,%rsp; pushf; sub $0x18,%rsp; mov %rbp,8(%rsp); mov %r13,0x10(%rsp); sub $0x20,%rsp; call;
 * add $0x20,%rsp; mov 0x10(%rsp),%r13; mov 8(%rsp),%rbp; add $0x18,%rsp; popf; mov %r13,%rsp; pop
 * %rax; jmp *%rcx
 */
START_TEST(patching_adapter)
{
	static const uint8_t code[] = {0xff, 0xe1, 0x4c, 0x8b, 0xec, 0x48, 0x83, 0xe4, 0xf0, 0x9c,
				       0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x08, 0x4c,
				       0x89, 0x6c, 0x24, 0x10, 0x48, 0x83, 0xec, 0x20, 0xe8, 0x00,
				       0x10, 0x00, 0x00, 0x48, 0x83, 0xc4, 0x20, 0x4c, 0x8b, 0x6c,
				       0x24, 0x10, 0x48, 0x8b, 0x6c, 0x24, 0x08, 0x48, 0x83, 0xc4,
				       0x18, 0x9d, 0x49, 0x8b, 0xe5, 0x58, 0xff, 0xe1};
	const struct hotspot_compiled m = {
		.code = code, .size = sizeof(code), .kind = HOTSPOT_COMPILED_ADAPTER};
	struct code_flow f = flow_of(code, sizeof(code), HOTSPOT_ONCE_ADAPTER);
	struct hotspot_code_rows rows;
	struct unwind_rule r;

	check_rule(&f, 9, R13, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 19, R13, 8, UNWIND_RA_AT_CFA);
	/* in the callees of the call, r13 is not known */
	check_rule(&f, 28, UNWIND_REG_SP, 0x30, UNWIND_RA_AT_CFA);
	r = code_state_rule(code_flow_state(&f, 28));
	ck_assert_int_eq(r.kind, UNWIND_DEREF);
	ck_assert_int_eq(r.second, 8);
	ck_assert_int_eq(UNWIND_SAVED_FP(r.saved), UNWIND_FP_SAME);
	check_rule(&f, 42, UNWIND_REG_SP, 0x10, UNWIND_RA_AT_CFA);
	check_rule(&f, 51, R13, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 55, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	r = code_state_rule(code_flow_state(&f, 55));
	ck_assert_int_eq(UNWIND_SAVED_FP(r.saved), UNWIND_FP_SAME);
	code_flow_free(&f);
	ck_assert_int_eq(hotspot_compiled_rows(&rows, &m, 33), 0);
	ck_assert_int_eq(code_row_at(&rows, 33)->depth, HOTSPOT_DEPTH_UNKNOWN);
	ck_assert_int_eq(code_row_at(&rows, 33)->held, 1 + 0x30 / 8);
	ck_assert_int_eq(code_row_at(&rows, 33)->sender_words, 1);
}
END_TEST

/*
 * push %rdx; sub $8,%rsp; mov %rbp,(%rsp); and $-16,%rsp; nop; mov (%rsp),%rbp; add $8,%rsp; pop
 * %rdx; jmp *%r8: the stack is aligned already
 */
START_TEST(exception_stub)
{
	static const uint8_t code[] = {0x52, 0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24,
				       0x48, 0x83, 0xe4, 0xf0, 0x90, 0x48, 0x8b, 0x2c, 0x24,
				       0x48, 0x83, 0xc4, 0x08, 0x5a, 0x41, 0xff, 0xe0};
	struct code_flow f = flow_of(code, sizeof(code), HOTSPOT_ONCE_EXCEPTION);

	check_rule(&f, 0, UNWIND_REG_SP, 0, UNWIND_RA_IN_REGISTER);
	check_rule(&f, 1, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 9, UNWIND_REG_SP, 16, UNWIND_RA_AT_CFA);
	check_rule(&f, 13, UNWIND_REG_SP, 16, UNWIND_RA_AT_CFA);
	check_rule(&f, 22, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 23, UNWIND_REG_SP, 0, UNWIND_RA_IN_REGISTER);
	code_flow_free(&f);
}
END_TEST

/* An odd number of words, or another alignment: the stack may have moved. */
START_TEST(exception_stub_that_moves_the_stack)
{
	/* push %rdx; and $-16,%rsp; nop */
	static const uint8_t odd[] = {0x52, 0x48, 0x83, 0xe4, 0xf0, 0x90, 0xc3};
	/* push %rdx; push %rbp; and $-32,%rsp; nop */
	static const uint8_t more[] = {0x52, 0x55, 0x48, 0x83, 0xe4, 0xe0, 0x90, 0xc3};
	struct code_flow f = flow_of(odd, sizeof(odd), HOTSPOT_ONCE_EXCEPTION);

	check_lost(&f, 5);
	code_flow_free(&f);
	f = flow_of(more, sizeof(more), HOTSPOT_ONCE_EXCEPTION);
	check_lost(&f, 6);
	code_flow_free(&f);
}
END_TEST

/* add %rcx,%rsp; push (%rcx); push %rbp; mov %rsp,%rbp; sub %rbx,%rsp; nop; leave; ret */
START_TEST(frames_of_others)
{
	static const uint8_t code[] = {0x48, 0x01, 0xcc, 0x90, 0xff, 0x31, 0x55, 0x48,
				       0x8b, 0xec, 0x48, 0x2b, 0xe3, 0x90, 0xc9, 0xc3};
	struct code_flow f = flow_of(code, sizeof(code), HOTSPOT_ONCE_UNPACKING);

	check_lost(&f, 3);
	check_lost(&f, 4);
	check_rule(&f, 6, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	check_rule(&f, 13, UNWIND_REG_FP, 16, UNWIND_RA_AT_CFA);
	check_rule(&f, 15, UNWIND_REG_SP, 8, UNWIND_RA_AT_CFA);
	code_flow_free(&f);
}
END_TEST

/*
 * push %rbp; mov %rsp,%rbp; mov %rsp,%rax; sub $0x70,%rsp; and $-32,%rsp; mov %rax,0x38(%rsp); mov
 * %rbp,0x40(%rsp); xor %ebp,%ebp; xor %eax,%eax; mov 0x40(%rsp),%rbp; mov 0x38(%rsp),%rsp; leave;
 * ret: as SHA-512 with AVX2 does
 */
START_TEST(stack_pointer_in_memory)
{
	static const uint8_t code[] = {
		0x55, 0x48, 0x8b, 0xec, 0x48, 0x8b, 0xc4, 0x48, 0x83, 0xec, 0x70, 0x48, 0x83, 0xe4,
		0xe0, 0x48, 0x89, 0x44, 0x24, 0x38, 0x48, 0x89, 0x6c, 0x24, 0x40, 0x31, 0xed, 0x31,
		0xc0, 0x48, 0x8b, 0x6c, 0x24, 0x40, 0x48, 0x8b, 0x64, 0x24, 0x38, 0xc9, 0xc3};
	struct code_flow f = flow_of(code, sizeof(code), HOTSPOT_ONCE_FUNCTIONS);
	struct unwind_rule r;

	check_rule(&f, 20, UNWIND_REG_FP, 16, UNWIND_RA_AT_CFA);
	check_rule(&f, 29, UNWIND_REG_SP, 0x38, UNWIND_RA_AT_CFA);
	r = code_state_rule(code_flow_state(&f, 29));
	ck_assert_int_eq(r.kind, UNWIND_DEREF);
	ck_assert_int_eq(r.second, 16);
	ck_assert_int_eq(r.fp_offset, -16);
	check_rule(&f, 39, UNWIND_REG_SP, 16, UNWIND_RA_AT_CFA);
	code_flow_free(&f);
}
END_TEST

struct piece {
	char kind;
	int frame, complete;
	unsigned int entry;
	size_t size;
	char name[128];
	const uint8_t *code;
};

/* Load a file of code; the caller frees it. */
static uint8_t *load_code(int release, size_t *size)
{
	enum { PACKED_MAX = 1 << 20, SIZE_MAX_ = 16 << 20 };
	char path[64];
	uint8_t *packed = malloc(PACKED_MAX), *out = malloc(SIZE_MAX_);
	FILE *f;

	snprintf(path, sizeof(path), "tests/replay/hotspot-%d.code.zst", release);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	*size = ZSTD_decompress(out, SIZE_MAX_, packed, fread(packed, 1, PACKED_MAX, f));
	ck_assert(!ZSTD_isError(*size));
	fclose(f);
	free(packed);
	return out;
}

/* Take the next piece at *at. */
static bool next_piece(struct piece *p, const uint8_t *bytes, size_t size, size_t *at)
{
	const uint8_t *line = bytes + *at, *end = memchr(line, '\n', size - *at);
	char text[256];

	if (*at >= size)
		return false;
	ck_assert(end && (size_t)(end - line) < sizeof(text));
	memcpy(text, line, (size_t)(end - line));
	text[end - line] = '\0';
	ck_assert_int_eq(sscanf(text, "%c %d %d %u %zu %127[^\n]", &p->kind, &p->frame,
				&p->complete, &p->entry, &p->size, p->name),
			 6);
	p->code = end + 1;
	*at = (size_t)(p->code - bytes) + p->size;
	return true;
}

struct totals {
	unsigned int pieces, instructions, known;
};

static void follow_piece(struct code_flow *f, const struct piece *p)
{
	static const char once[] = "FfLie";
	const char *kind = strchr(once, p->kind);
	const struct hotspot_compiled m = {
		.code = p->code,
		.size = p->size,
		.kind = p->kind == 'C'	 ? HOTSPOT_COMPILED_METHOD
			: p->kind == 'A' ? HOTSPOT_COMPILED_ADAPTER
					 : HOTSPOT_COMPILED_NATIVE,
		.frame_words = p->frame,
		.complete = p->complete,
		.entry = p->entry,
	};

	ck_assert_int_eq(code_flow_init(f, p->code, p->size), 0);
	ck_assert_int_eq(kind ? hotspot_paths_follow(f, (enum hotspot_once_kind)(kind - once))
			      : hotspot_compiled_follow(f, &m),
			 0);
}

/* Check what must hold for all code, and count. */
static void check_piece(const struct piece *p, struct totals *t)
{
	struct code_flow f;

	follow_piece(&f, p);
	for (size_t at = 0; at < p->size; at++) {
		const struct code_state *s = &f.states[at];

		if (f.marks[at] != CODE_SEEN)
			continue;
		t->instructions++;
		t->known += !code_state_is_lost(s);
		if (p->code[at] == 0xc3 && !(s->flags & CODE_WHOLE) && !code_state_is_lost(s))
			ck_assert_msg(code_state_returns(s), "%s+%#zx", p->name, at);
		if (p->kind == 'C' && at == (size_t)p->complete)
			ck_assert_msg(s->depth == p->frame, "%s+%#zx: %d words, not %d", p->name,
				      at, s->depth, p->frame);
	}
	t->pieces++;
	code_flow_free(&f);
}

/*
 * The code of real JVMs: every ret finds its return address, every method's frame has the size that
 * the JVM says, and almost all code is described.
 */
START_TEST(code_of_jdks)
{
	static const int releases[] = {17, 21, 25};

	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++) {
		struct totals t = {0};
		struct piece p;
		size_t size, at = 0;
		uint8_t *bytes = load_code(releases[i], &size);

		while (next_piece(&p, bytes, size, &at))
			check_piece(&p, &t);
		ck_assert_uint_gt(t.pieces, 200);
		ck_assert_uint_gt(t.instructions, 30000);
		ck_assert_msg(t.known > t.instructions / 100 * 97, "JDK %d: %u of %u", releases[i],
			      t.known, t.instructions);
		free(bytes);
	}
}
END_TEST

SUITE("hotspot_paths", pushed_frame, moved_frame, barrier_stub, call_that_does_not_return,
      kept_stack_pointer, rows_around_a_place, patched_method, method_entry, interpreter_return,
      adapters, patching_adapter, exception_stub, exception_stub_that_moves_the_stack,
      frames_of_others, stack_pointer_in_memory, function_behind_data, guesses_that_make_no_sense,
      hostile_code_ends, code_of_jdks)
