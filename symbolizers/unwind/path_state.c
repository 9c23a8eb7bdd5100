// SPDX-License-Identifier: Apache-2.0
/* What x86-64 instructions do to the stack. */
#include "symbolizers/unwind/path_state.h"

#include <string.h>

#define STACK_WORDS_MAX 4096 /* of one frame; then it is not described */
/* Numbers of registers in instructions, and of two of them in DWARF. */
enum { RBX = 3, RSP = 4, RBP = 5, DWARF_RBP = 6, DWARF_RSP = 7 };

bool path_state_is_entry(const struct path_state *s)
{
	return !memcmp(s, &path_state_entry, sizeof(*s));
}

bool path_state_join(struct path_state *s, const struct path_state *other, bool *changed)
{
	struct path_state joined = *s;

	*changed = false;
	if (!memcmp(s, other, sizeof(*s)))
		return true;
	joined.depth = other->depth;
	if (!s->frame || memcmp(&joined, other, sizeof(joined)) != 0)
		return false;
	*changed = s->depth != 0;
	s->depth = 0;
	return true;
}

static void push_words(struct path_state *s, unsigned int words)
{
	if (s->depth)
		s->depth = s->depth + words > STACK_WORDS_MAX ? 0 : (uint16_t)(s->depth + words);
}

/* Add bytes to the stack pointer. */
static void move_stack(struct path_state *s, int64_t bytes)
{
	int64_t depth = s->depth - bytes / 8;

	if (s->depth)
		s->depth = bytes % 8 || depth < 1 || depth > STACK_WORDS_MAX ? 0 : (uint16_t)depth;
}

/* Set the stack pointer to the frame pointer plus bytes. */
static void stack_from_frame(struct path_state *s, int64_t bytes)
{
	s->depth = s->frame;
	move_stack(s, bytes);
}

static void push_register(struct path_state *s, unsigned int reg)
{
	push_words(s, 1);
	if (reg == RBP && !s->saved_rbp && !s->frame)
		s->saved_rbp = s->depth;
	if (reg == RBX && !s->saved_rbx)
		s->saved_rbx = s->depth;
}

static void pop_register(struct path_state *s, unsigned int reg)
{
	if (reg == RSP)
		s->depth = 0;
	if (reg == RBP && s->depth == s->saved_rbp)
		s->saved_rbp = s->frame = 0;
	if (reg == RBX && s->depth == s->saved_rbx)
		s->saved_rbx = 0;
	move_stack(s, 8);
}

/* An instruction of the one-byte opcodes whose operand rm is the stack pointer itself. */
static void change_stack_pointer(struct path_state *s, const struct x86_instruction *i)
{
	unsigned int group = i->modrm >> 3 & 7;

	if (i->opcode == 0x81 || i->opcode == 0x83) {
		if (group == 0)
			move_stack(s, i->immediate);
		else if (group == 5)
			move_stack(s, -i->immediate);
		else if (group != 7) /* cmp changes nothing; and aligns the stack */
			s->depth = 0;
	} else if (i->opcode == 0x89 && x86_reg(i) == RBP) {
		stack_from_frame(s, 0);
	} else if (i->opcode == 0x89 || i->opcode == 0x87 || i->opcode == 0x29 ||
		   i->opcode == 0x01 || i->opcode == 0x21 || i->opcode == 0x31 ||
		   i->opcode == 0x09 || i->opcode == 0xc7 || i->opcode == 0xff) {
		s->depth = 0;
	}
}

/* An instruction that writes the register in the field reg of the ModRM byte. */
static void write_register(struct path_state *s, const struct x86_instruction *i)
{
	bool memory = x86_mod(i) != 3,
	     of_rsp = memory && (i->modrm & 7) == 4 && !(i->rex & X86_REX_B) && i->sib == 0x24;
	bool of_rbp = memory && (i->modrm & 7) == 5 && !i->has_rip && !(i->rex & X86_REX_B);

	if (x86_reg(i) != RSP)
		return;
	if (i->opcode == 0x8d && of_rsp)
		move_stack(s, i->displacement);
	else if (i->opcode == 0x8d && of_rbp)
		stack_from_frame(s, i->displacement);
	else if (i->opcode == 0x8b && !memory && x86_rm(i) == RBP)
		stack_from_frame(s, 0);
	else
		s->depth = 0;
}

/* Return whether an instruction copies the stack pointer to rbp: the beginning of a frame. */
static bool begins_frame(const struct path_state *s, const struct x86_instruction *i)
{
	if (!i->has_modrm || x86_mod(i) != 3 || !s->saved_rbp || s->depth != s->saved_rbp)
		return false;
	return (i->opcode == 0x89 && x86_reg(i) == RSP && x86_rm(i) == RBP) ||
	       (i->opcode == 0x8b && x86_reg(i) == RBP && x86_rm(i) == RSP);
}

void path_state_run(struct path_state *s, const struct x86_instruction *i)
{
	uint8_t op = i->opcode;

	if (i->map)
		return;
	if (op >= 0x50 && op < 0x58)
		push_register(s, x86_rm(i));
	else if (op >= 0x58 && op < 0x60)
		pop_register(s, x86_rm(i));
	else if (op == 0x68 || op == 0x6a || op == 0x9c || (op == 0xff && (i->modrm >> 3 & 7) == 6))
		push_words(s, 1);
	else if (op == 0x9d || op == 0x8f)
		move_stack(s, 8);
	else if (op == 0xc8)
		s->depth = 0;
	else if (begins_frame(s, i))
		s->frame = s->depth;
	else if (op == 0xc9) {
		stack_from_frame(s, 0);
		pop_register(s, RBP);
	} else if (i->has_modrm && x86_mod(i) == 3 && x86_rm(i) == RSP && op != 0x8b && op != 0x8d)
		change_stack_pointer(s, i);
	else if (op == 0x8b || op == 0x8d || op == 0x03 || op == 0x2b || op == 0x23 || op == 0x63)
		write_register(s, i);
}

struct unwind_rule path_state_rule(const struct path_state *s)
{
	struct unwind_rule rule = {
		.kind = UNWIND_CFA,
		.reg = s->depth ? DWARF_RSP : DWARF_RBP,
		.cfa_offset = 8 * (s->depth ? s->depth : s->frame),
		.second = -8,
		.saved = UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_AT_CFA),
	};

	if (s->saved_rbp) {
		rule.saved = UNWIND_SAVED(UNWIND_FP_AT_CFA, UNWIND_RA_AT_CFA);
		rule.fp_offset = (int16_t)(-8 * s->saved_rbp);
	}
	if (s->saved_rbx)
		rule.base_offset = (int16_t)(-8 * s->saved_rbx);
	return rule;
}
