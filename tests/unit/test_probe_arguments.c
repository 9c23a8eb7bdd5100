// SPDX-License-Identifier: Apache-2.0
/* Parse the arguments of USDT notes: those that were met, and what the grammar allows besides. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "symbolizers/probe_arguments.h"

/* Numbers of registers as words of struct pt_regs. */
enum {
	R15,
	R14,
	R13,
	R12,
	RBP,
	RBX,
	R11,
	R10,
	R9,
	R8,
	RAX,
	RCX,
	RDX,
	RSI,
	RDI,
	RIP = 16,
	RSP = 19
};
#define NO PROBE_NO_REGISTER

static bool find_symbol(void *context, const char *name, uint64_t *address)
{
	(void)context;
	*address = 0x5000;
	return !strcmp(name, "known");
}

static const struct probe_arguments_context x86 = {
	.machine = EM_X86_64, .address = 0x1000, .symbol = find_symbol};
static const struct probe_arguments_context arm = {.machine = EM_AARCH64, .address = 0x1000};

struct parsed {
	const char *text;
	struct probe_operand operand;
};

static void check_one(const struct parsed *p, const struct probe_arguments_context *c)
{
	struct probe_operand found[PROBE_OPERANDS_MAX];
	const struct probe_operand *o = &found[0], *w = &p->operand;

	ck_assert_msg(probe_arguments_parse(found, p->text, c) == 1, "%s: one argument", p->text);
	ck_assert_msg(o->kind == w->kind, "%s: kind %d", p->text, o->kind);
	if (o->kind == PROBE_OPERAND_NONE)
		return;
	ck_assert_msg(o->bytes == w->bytes && o->is_signed == w->is_signed, "%s: %d bytes", p->text,
		      o->bytes);
	ck_assert_msg(o->value == w->value, "%s: value %lld", p->text, (long long)o->value);
	if (o->kind == PROBE_OPERAND_CONSTANT)
		return;
	ck_assert_msg(o->base == w->base, "%s: base %d", p->text, o->base);
	ck_assert_msg(o->shift == w->shift, "%s: shift %d", p->text, o->shift);
	if (o->kind == PROBE_OPERAND_MEMORY)
		ck_assert_msg(o->index == w->index, "%s: index %d", p->text, o->index);
}

#define CONSTANT(n, sign, v) {.kind = PROBE_OPERAND_CONSTANT, .bytes = n, .is_signed = sign, \
			      .value = v}
#define REGISTER(n, sign, r, s) {.kind = PROBE_OPERAND_REGISTER, .bytes = n, .is_signed = sign, \
				 .base = r, .shift = s}
#define MEMORY(n, sign, b, i, s, v) {.kind = PROBE_OPERAND_MEMORY, .bytes = n, .is_signed = sign, \
				     .base = b, .index = i, .shift = s, .value = v}
#define NONE \
	{ \
		.kind = PROBE_OPERAND_NONE \
	}

START_TEST(every_form_of_x86_is_understood)
{
	static const struct parsed forms[] = {
		/* of libjvm, Python, PostgreSQL and Ruby */
		{"8@%rdx", REGISTER(8, 0, RDX, 0)},
		{"1@%dil", REGISTER(1, 0, RDI, 0)},
		{"-4@%eax", REGISTER(4, 1, RAX, 0)},
		{"-4@%r14d", REGISTER(4, 1, R14, 0)},
		{"2@%r9w", REGISTER(2, 0, R9, 0)},
		{"-2@%bx", REGISTER(2, 1, RBX, 0)},
		{"1@%r10b", REGISTER(1, 0, R10, 0)},
		{"1@$1", CONSTANT(1, 0, 1)},
		{"-4@$-1", CONSTANT(4, 1, -1)},
		{"8@$18446744073709551615", CONSTANT(8, 0, -1)},
		{"8@152(%rdi)", MEMORY(8, 0, RDI, NO, 0, 152)},
		{"-8@-120(%rbp)", MEMORY(8, 1, RBP, NO, 0, -120)},
		{"-4@(%rax)", MEMORY(4, 1, RAX, NO, 0, 0)},
		{"1@37(%r14)", MEMORY(1, 0, R14, NO, 0, 37)},
		{"4@known(%rip)", MEMORY(4, 0, RIP, NO, 0, 0x4000)},
		{"4@known+8(%rip)", MEMORY(4, 0, RIP, NO, 0, 0x4008)},
		{"-4@12+known(%rip)", MEMORY(4, 1, RIP, NO, 0, 0x400c)},
		{"8@known-16(%rip)", MEMORY(8, 0, RIP, NO, 0, 0x3ff0)},
		/* of the grammar */
		{"%rsp", REGISTER(8, 0, RSP, 0)},
		{"%ecx", REGISTER(4, 0, RCX, 0)},
		{"1@%ah", REGISTER(1, 0, RAX, 8)},
		{"$0x10", CONSTANT(8, 0, 16)},
		{"8@8(%rax,%rdx,8)", MEMORY(8, 0, RAX, RDX, 3, 8)},
		{"8@(%rax,%rdx)", MEMORY(8, 0, RAX, RDX, 0, 0)},
		{"8@-8(,%r15,4)", MEMORY(8, 0, NO, R15, 2, -8)},
		{"8@(%rsp)", MEMORY(8, 0, RSP, NO, 0, 0)},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		check_one(&forms[i], &x86);
}
END_TEST

START_TEST(every_form_of_arm_is_understood)
{
	static const struct parsed forms[] = {
		{"8@x0", REGISTER(8, 0, 0, 0)},
		{"-4@w30", REGISTER(4, 1, 30, 0)},
		{"sp", REGISTER(8, 0, 31, 0)},
		{"4@5", CONSTANT(4, 0, 5)},
		{"-4@-5", CONSTANT(4, 1, -5)},
		{"8@[x19]", MEMORY(8, 0, 19, NO, 0, 0)},
		{"-4@[sp, 12]", MEMORY(4, 1, 31, NO, 0, 12)},
		{"8@[x19, -8]", MEMORY(8, 0, 19, NO, 0, -8)},
		{"8@[x19, x20]", MEMORY(8, 0, 19, 20, 0, 0)},
		{"8@[x19, x20, lsl 3]", MEMORY(8, 0, 19, 20, 3, 0)},
		{"8@x31", NONE},
		{"8@[w1]", NONE},
		{"8@[x1", NONE},
		{"8@%rax", NONE},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		check_one(&forms[i], &arm);
}
END_TEST

START_TEST(what_is_not_understood_has_no_value)
{
	static const char *const bad[] = {
		"8f@%xmm0",
		"8@%xmm0",
		"3@%eax",
		"0@%eax",
		"16@%rax",
		"-9223372036854775808@%rax",
		"8@",
		"@%rax",
		"8@%",
		"8@%rax1",
		"8@$",
		"8@$x",
		"8@(%eax)",
		"8@(",
		"8@()",
		"8@(%rax",
		"8@(%rax,%rdx,3)",
		"8@(%rax,%rdx,16)",
		"8@(%rax,%rsp,1)",
		"8@8(%rip)",
		"8@unknown(%rip)",
		"8@known(%rax)",
		"8@known+known(%rip)",
		"8@known",
		"8@1234",
		"8@%fs:16",
		"8@$99999999999999999999999",
		"8@--1(%rax)",
		"8@(%rax)(%rax)",
		"\xff@\xff",
		"8@\"",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		check_one(&(struct parsed){bad[i], NONE}, &x86);
}
END_TEST

START_TEST(arguments_are_separated_by_spaces_outside_of_brackets)
{
	struct probe_operand o[PROBE_OPERANDS_MAX];
	char many[1000] = "", longest[600];

	ck_assert_uint_eq(probe_arguments_parse(o, "", &x86), 0);
	ck_assert_uint_eq(probe_arguments_parse(o, "  ", &x86), 0);
	ck_assert_uint_eq(probe_arguments_parse(o, "8@%rax  -4@%esi ", &x86), 2);
	ck_assert_int_eq(o[1].base, RSI);
	ck_assert_uint_eq(probe_arguments_parse(o, "8@[sp, 8] 4@w1 8@[x1, x2, lsl 3]", &arm), 3);
	ck_assert_int_eq(o[2].shift, 3);
	/* one that is not understood does not hide the next */
	ck_assert_uint_eq(probe_arguments_parse(o, "8f@%xmm0 8@%rax", &x86), 2);
	ck_assert_int_eq(o[0].kind, PROBE_OPERAND_NONE);
	ck_assert_int_eq(o[1].base, RAX);
	for (int i = 0; i < 20; i++)
		strcat(many, "8@%rax ");
	ck_assert_uint_eq(probe_arguments_parse(o, many, &x86), PROBE_OPERANDS_MAX);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ck_assert_uint_eq(probe_arguments_parse(o, longest, &x86), 1);
	ck_assert_int_eq(o[0].kind, PROBE_OPERAND_NONE);
}
END_TEST

START_TEST(functions_get_their_arguments_in_registers)
{
	struct probe_operand o[PROBE_OPERANDS_MAX];

	ck_assert_uint_eq(probe_arguments_of_entry(o, EM_X86_64), 6);
	ck_assert_int_eq(o[0].base, RDI);
	ck_assert_int_eq(o[5].base, R9);
	ck_assert_uint_eq(probe_arguments_of_entry(o, EM_AARCH64), 8);
	ck_assert_int_eq(o[7].base, 7);
	ck_assert_uint_eq(probe_arguments_of_return(o, EM_X86_64), 1);
	ck_assert_int_eq(o[0].base, RAX);
}
END_TEST

SUITE("arguments of probes", every_form_of_x86_is_understood, every_form_of_arm_is_understood,
      what_is_not_understood_has_no_value, arguments_are_separated_by_spaces_outside_of_brackets,
      functions_get_their_arguments_in_registers)
