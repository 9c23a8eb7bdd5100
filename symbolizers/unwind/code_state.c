// SPDX-License-Identifier: Apache-2.0
/* What x86-64 instructions that HotSpot generates do to a frame. */
#include "symbolizers/unwind/code_state.h"

#include <errno.h>
#include <string.h>

#define WORDS_MAX 8192 /* of one frame; then it is not described */
/* Numbers of registers in instructions. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R11 = 11, R13 = 13 };

/* Registers that a call may change, by the C ABI. */
#define CALL_CHANGES (1u << RAX | 1u << RCX | 1u << RDX | 1u << RSI | 1u << RDI | 0xfu << R8)

static const uint8_t dwarf_numbers[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

const struct code_state code_state_function = {
	.depth = 1,
	.return_slot = 1,
	.return_register = CODE_NO_REGISTER,
	.sender = CODE_NO_REGISTER,
};

const struct code_state code_state_method = {
	.depth = 1,
	.return_slot = 1,
	.return_register = CODE_NO_REGISTER,
	.sender = R13,
	.flags = CODE_METHOD | CODE_SENDER_APART,
};

const struct code_state code_state_adapter = {
	.depth = 1,
	.return_slot = 1,
	.return_register = CODE_NO_REGISTER,
	.sender = CODE_NO_REGISTER,
	.flags = CODE_FREE_BASE,
};

/* Methods, which alone come here, have aligned frames. */
const struct code_state code_state_exception = {
	.depth = 0,
	.return_register = RDX,
	.sender = CODE_NO_REGISTER,
	.flags = CODE_ALIGNED_BASE,
};

const struct code_state code_state_interpreter = {
	.depth = CODE_UNKNOWN,
	.frame = 2,
	.saved_rbp = 2,
	.return_slot = 1,
	.sender_slot = 3,
	.return_register = CODE_NO_REGISTER,
	.sender = CODE_NO_REGISTER,
	.flags = CODE_WHOLE | CODE_RBX_LOST | CODE_SENDER_APART,
};

const struct code_state code_state_awaiting = {
	.depth = 0,
	.return_register = CODE_NO_REGISTER,
	.sender = CODE_NO_REGISTER,
	.flags = CODE_AWAITS_RETURN,
};

const struct code_state code_state_framed = {
	.depth = CODE_UNKNOWN,
	.frame = 2,
	.saved_rbp = 2,
	.return_slot = 1,
	.return_register = CODE_NO_REGISTER,
	.sender = CODE_NO_REGISTER,
	.flags = CODE_RBX_LOST,
};

const struct code_state code_state_lost = {
	.depth = CODE_UNKNOWN,
	.return_register = CODE_NO_REGISTER,
	.sender = CODE_NO_REGISTER,
};

struct code_state code_state_body(int16_t words)
{
	struct code_state s = code_state_function;

	s.depth = words;
	s.saved_rbp = 2;
	s.flags = CODE_RBX_LOST;
	return s;
}

static bool is_known(const struct code_state *s)
{
	return s->depth != CODE_UNKNOWN;
}

/* Return whether the place of the base is known. */
static bool has_base(const struct code_state *s)
{
	return is_known(s) || s->frame || s->copy_at || s->held ||
	       (s->sender != CODE_NO_REGISTER && !(s->flags & CODE_SENDER_APART));
}

bool code_state_is_lost(const struct code_state *s)
{
	bool sender = s->sender != CODE_NO_REGISTER || (s->sender_slot && has_base(s));

	if (s->return_slot ? !has_base(s) : s->return_register == CODE_NO_REGISTER)
		return true;
	return s->flags & CODE_SENDER_APART ? !sender : !has_base(s);
}

bool code_state_is_hopeless(const struct code_state *s)
{
	return code_state_is_lost(s) && !(s->flags & CODE_AWAITS_RETURN && has_base(s));
}

bool code_state_returns(const struct code_state *s)
{
	return is_known(s) && s->return_slot && s->depth == s->return_slot && !s->saved_rbp &&
	       !(s->flags & CODE_RBP_LOST);
}

/* Forget the copies that two paths do not agree about. */
static void join_copies(struct code_state *joined, const struct code_state *other)
{
	if (joined->return_copy != other->return_copy)
		joined->return_copy = 0;
	if (joined->copy_depth != other->copy_depth)
		joined->copy_depth = joined->copy_at = joined->copy_register = 0;
	if (joined->copy_at != other->copy_at)
		joined->copy_at = 0;
	if (joined->copy_register != other->copy_register)
		joined->copy_register = 0;
	if (joined->rbp_at != other->rbp_at || joined->rbp_depth != other->rbp_depth)
		joined->rbp_at = joined->rbp_depth = 0;
	if (joined->copy_at && joined->frame != other->frame)
		joined->frame = 0; /* the base is found by the copy */
}

bool code_state_join(struct code_state *s, const struct code_state *other)
{
	const uint8_t loose = CODE_METHOD | CODE_RBX_LOST | CODE_RBP_LOST;
	struct code_state joined = *s, same = *other;
	bool changed;

	if (joined.depth != other->depth)
		joined.depth = CODE_UNKNOWN;
	if (joined.kept_rbp != other->kept_rbp)
		joined.kept_rbp = 0;
	if (joined.sender != other->sender || joined.sender_words != other->sender_words)
		joined.sender = CODE_NO_REGISTER;
	join_copies(&joined, other);
	if (joined.held != other->held || joined.sender_words != other->sender_words)
		joined.held = 0;
	if (joined.sender == CODE_NO_REGISTER && !joined.held)
		joined.sender_words = 0;
	if (!(other->flags & CODE_METHOD))
		joined.flags &= (uint8_t)~CODE_METHOD;
	joined.flags |= other->flags & (CODE_RBX_LOST | CODE_RBP_LOST);
	same.depth = joined.depth;
	same.kept_rbp = joined.kept_rbp;
	same.sender = joined.sender;
	same.sender_words = joined.sender_words;
	same.held = joined.held;
	same.return_copy = joined.return_copy;
	same.copy_depth = joined.copy_depth;
	same.copy_at = joined.copy_at;
	same.copy_register = joined.copy_register;
	same.rbp_at = joined.rbp_at;
	same.rbp_depth = joined.rbp_depth;
	if (!joined.frame)
		same.frame = 0;
	same.flags = (uint8_t)((same.flags & ~loose) | (joined.flags & loose));
	if (memcmp(&joined, &same, sizeof(same)) != 0 || code_state_is_hopeless(&joined))
		joined = code_state_lost;
	changed = memcmp(s, &joined, sizeof(joined)) != 0;
	*s = joined;
	return changed;
}

/* The stack pointer becomes what is not known. */
static void lose_stack(struct code_state *s)
{
	s->depth = CODE_UNKNOWN;
	s->held = s->copy_at = s->rbp_at = 0;
	if (s->sender == CODE_NO_REGISTER)
		s->sender_words = 0;
}

/* Set the number of words down to the stack pointer, if it makes sense. */
static void set_depth(struct code_state *s, int64_t words)
{
	s->depth = words < -WORDS_MAX || words > WORDS_MAX ? CODE_UNKNOWN : (int16_t)words;
}

/* The stack pointer, from which a place is counted, is raised by bytes. */
static void move_place(int16_t *place, int64_t bytes)
{
	int64_t at = *place - bytes / 8;

	if (*place)
		*place = at < 1 || at > WORDS_MAX ? 0 : (int16_t)at;
}

/* Add bytes to the stack pointer. */
static void add_stack(struct code_state *s, int64_t bytes)
{
	int64_t held = s->held - bytes / 8;

	if (bytes % 8) {
		lose_stack(s);
		return;
	}
	if (s->held)
		s->held = held > 0 && held <= WORDS_MAX ? (int16_t)held : 0;
	if (is_known(s))
		set_depth(s, s->depth - bytes / 8);
	move_place(&s->copy_at, bytes);
	move_place(&s->rbp_at, bytes);
}

/* The stack pointer becomes rbp plus bytes. */
static void stack_from_rbp(struct code_state *s, int64_t bytes)
{
	lose_stack(s);
	if (s->frame && bytes % 8 == 0)
		set_depth(s, s->frame - bytes / 8);
}

/* A register that is not the stack pointer is overwritten. */
static void lose_register(struct code_state *s, unsigned int reg)
{
	if (!s->return_slot && reg == s->return_register)
		s->return_register = CODE_NO_REGISTER;
	if (reg == s->sender) {
		s->sender = CODE_NO_REGISTER;
		s->sender_words = s->held ? s->sender_words : 0;
	}
	if (s->return_copy == reg + 1)
		s->return_copy = 0;
	if (s->copy_register == reg + 1)
		s->copy_register = 0;
	if (reg == RBX) {
		s->flags |= CODE_RBX_LOST;
		s->flags &= (uint8_t)~CODE_METHOD;
	}
	if (reg != RBP)
		return;
	s->frame = 0;
	s->flags &= (uint8_t)~CODE_WHOLE;
	if (!s->saved_rbp)
		s->flags |= CODE_RBP_LOST;
}

/* The base moves to the return address that was just stored at the stack pointer. */
static void rebase(struct code_state *s)
{
	s->depth = s->return_slot = 1;
	s->return_register = CODE_NO_REGISTER;
	s->frame = s->saved_rbp = s->kept_rbp = s->sender_slot = s->held = 0;
	s->flags |= CODE_SENDER_APART;
}

static bool holds_return_address(const struct code_state *s, unsigned int reg)
{
	return !s->return_slot && reg == s->return_register;
}

/* A register is stored at a slot. */
static void store_register(struct code_state *s, unsigned int reg, int64_t slot)
{
	if (slot < 1 || slot > WORDS_MAX)
		return;
	if (holds_return_address(s, reg)) {
		s->return_slot = (int16_t)slot;
		s->return_register = CODE_NO_REGISTER;
	} else if (slot == 1 && s->flags & CODE_AWAITS_RETURN && s->frame) {
		s->return_slot = 1;
		s->flags &= (uint8_t)~CODE_AWAITS_RETURN;
	} else if (reg == RBP && s->frame) {
		s->kept_rbp = (int16_t)slot;
	} else if (reg == RBP && !s->saved_rbp && !(s->flags & CODE_RBP_LOST)) {
		s->saved_rbp = (int16_t)slot;
	} else if (reg == s->sender && s->flags & CODE_SENDER_APART) {
		s->sender_slot = (int16_t)slot;
	} else if (reg == RBX && s->flags & CODE_METHOD && s->frame == 2 && slot == 5 &&
		   s->sender_slot == 3) {
		s->flags |= CODE_WHOLE;
		s->flags &= (uint8_t)~CODE_METHOD;
	}
}

static void push_from(struct code_state *s, unsigned int reg)
{
	bool apart = s->flags & CODE_SENDER_APART || !is_known(s);

	add_stack(s, -8);
	if (reg == s->sender && !(s->flags & CODE_SENDER_APART) && !s->held)
		s->held = 1;
	if (holds_return_address(s, reg) && apart && s->sender != CODE_NO_REGISTER &&
	    !s->sender_words && !s->saved_rbp)
		rebase(s);
	else if (is_known(s))
		store_register(s, reg, s->depth);
}

/* A register is loaded from a slot; 0: from anywhere else. */
static void load_register(struct code_state *s, unsigned int reg, int64_t slot)
{
	bool is_sender = slot > 0 && slot == s->sender_slot;
	bool is_return = slot > 0 && slot == s->return_slot;

	if (reg == RBP && slot > 0 && slot == s->kept_rbp && s->frame)
		return;
	if (reg == RBP && slot > 0 && slot == s->saved_rbp) {
		s->saved_rbp = s->frame = s->kept_rbp = 0;
		s->flags &= (uint8_t)~CODE_WHOLE;
		return;
	}
	lose_register(s, reg);
	if (is_sender)
		s->sender = (uint8_t)reg;
	if (is_return)
		s->return_copy = (uint8_t)(reg + 1);
}

static void pop_to(struct code_state *s, unsigned int reg)
{
	int slot = is_known(s) ? s->depth : 0;

	if (reg == RSP) {
		bool held = s->held == 1;
		int16_t words = s->sender_words;

		lose_stack(s);
		if (held)
			set_depth(s, words);
		return;
	}
	load_register(s, reg, slot);
	if (slot > 0 && slot == s->return_slot) {
		s->return_slot = s->return_copy = 0;
		s->return_register = (uint8_t)reg;
	}
	add_stack(s, 8);
}

/* The stack pointer becomes the value of a register. */
static void stack_from_register(struct code_state *s, unsigned int reg)
{
	int16_t words = s->sender_words;

	if (reg == RBP) {
		stack_from_rbp(s, 0);
		return;
	}
	lose_stack(s);
	if (reg == s->sender && !s->return_slot && !s->saved_rbp && !words) {
		/* the return address is in a register: the caller's stack pointer is the base */
		s->depth = s->frame = s->sender_slot = 0;
		s->flags &= (uint8_t)~CODE_SENDER_APART;
	} else if (reg == s->sender && !(s->flags & CODE_SENDER_APART)) {
		set_depth(s, words);
	}
}

/* A register becomes a copy of the stack pointer. The first copy is the one that is restored. */
static void keep_sender(struct code_state *s, unsigned int reg, int64_t words)
{
	if (words < 0 || words > WORDS_MAX || s->held)
		return;
	if (words && s->sender != CODE_NO_REGISTER)
		return;
	s->sender = (uint8_t)reg;
	s->sender_words = (int16_t)words;
}

/* A register becomes the stack pointer plus bytes. */
static void copy_sp(struct code_state *s, unsigned int reg, int64_t bytes)
{
	int64_t words = is_known(s) && bytes % 8 == 0 ? s->depth - bytes / 8 : CODE_UNKNOWN;

	if (reg == RSP) {
		add_stack(s, bytes);
		return;
	}
	lose_register(s, reg);
	if (reg == RBP && words > 0 && words <= WORDS_MAX)
		s->frame = (int16_t)words;
	else if (reg != RBP && !(s->flags & CODE_SENDER_APART) && is_known(s))
		keep_sender(s, reg, words);
	if (reg == RBP || words <= 0 || words > WORDS_MAX)
		return;
	s->copy_depth = (int16_t)words;
	s->copy_register = (uint8_t)(reg + 1);
	s->copy_at = s->rbp_at = 0;
}

static bool is_memory_at(const struct x86_instruction *i, unsigned int reg)
{
	if (!i->has_modrm || x86_mod(i) == 3 || i->has_rip || i->rex & (X86_REX_B | X86_REX_X))
		return false;
	return reg == RSP ? (i->modrm & 7) == RSP && i->sib == 0x24
			  : (i->modrm & 7) == reg && x86_mod(i) != 0;
}

/* Return the slot that is an instruction's memory operand; 0: it is none, or not known which. */
static int64_t slot_of(const struct code_state *s, const struct x86_instruction *i)
{
	int64_t words = -i->displacement / 8;

	if (i->displacement % 8)
		return 0;
	if (is_memory_at(i, RSP) && is_known(s))
		return s->depth + words;
	if (is_memory_at(i, RBP) && s->frame)
		return s->frame + words;
	return 0;
}

/*
 * The stack pointer is aligned to bytes, so that its distance to the base is lost, unless it was
 * aligned before. If the base may move, it moves there; the copy of the return address in a
 * register will be stored below it.
 */
static void align_stack(struct code_state *s, int64_t bytes)
{
	if (s->flags & CODE_ALIGNED_BASE && is_known(s) && bytes == 16 && s->depth % 2 == 0)
		return;
	lose_stack(s);
	if (!(s->flags & CODE_FREE_BASE) || s->saved_rbp || s->frame)
		return;
	if (s->return_slot && s->return_copy) {
		s->return_slot = 0;
		s->return_register = (uint8_t)(s->return_copy - 1);
	}
	if (s->return_slot)
		return;
	s->depth = s->return_copy = 0;
	s->sender = CODE_NO_REGISTER;
}

/* An arithmetic instruction with a number changes the stack pointer. */
static void add_to_stack(struct code_state *s, const struct x86_instruction *i)
{
	unsigned int group = i->modrm >> 3 & 7;

	if (group == 0)
		add_stack(s, i->immediate);
	else if (group == 5)
		add_stack(s, -i->immediate);
	else if (group == 4)
		align_stack(s, -i->immediate);
	else if (group != 7) /* cmp */
		lose_stack(s);
}

/* Return 1 + the words from a stack pointer of unknown depth up to a memory operand; 0: it is none.
 */
static int64_t place_above(const struct code_state *s, const struct x86_instruction *i)
{
	if (is_known(s) || !is_memory_at(i, RSP) || i->displacement % 8 || i->displacement < 0)
		return 0;
	return i->displacement / 8 < WORDS_MAX ? 1 + i->displacement / 8 : 0;
}

/* Return whether rbp is still the caller's. */
static bool has_callers_rbp(const struct code_state *s)
{
	return !s->frame && !s->saved_rbp && !(s->flags & CODE_RBP_LOST);
}

/* A register is stored in memory: it may be a copy of the stack pointer, or overwrite it. */
static void store_copy(struct code_state *s, unsigned int reg, int64_t place)
{
	if (place && s->copy_register == reg + 1)
		s->copy_at = (int16_t)place;
	else if (place && place == s->copy_at)
		s->copy_at = 0;
	if (place && reg == RBP && (s->frame || has_callers_rbp(s))) {
		s->rbp_at = (int16_t)place;
		s->rbp_depth = s->frame;
	} else if (place && place == s->rbp_at) {
		s->rbp_at = 0;
	}
}

static bool is_copy_at(const struct code_state *s, int64_t place)
{
	return place && (place == s->rbp_at || place == s->copy_at);
}

/* A register is loaded from where a copy of rbp or of an earlier stack pointer is stored. */
static void load_copy(struct code_state *s, unsigned int reg, int64_t place)
{
	if (reg == RBP && place == s->rbp_at) {
		s->frame = s->rbp_depth;
		if (!s->frame)
			s->flags &= (uint8_t)~CODE_RBP_LOST;
		return;
	}
	lose_register(s, reg);
	if (place == s->copy_at && reg != RBP && !(s->flags & CODE_SENDER_APART))
		keep_sender(s, reg, s->copy_depth);
}

/* The stack pointer is loaded from memory. */
static void load_stack(struct code_state *s, int64_t place)
{
	int16_t words = place && place == s->copy_at ? s->copy_depth : CODE_UNKNOWN;

	lose_stack(s);
	s->depth = words;
}

/* mov between registers, or between a register and memory. */
static void run_mov(struct code_state *s, const struct x86_instruction *i)
{
	bool load = i->opcode == 0x8b, memory = x86_mod(i) != 3;
	unsigned int reg = x86_reg(i), to = load ? reg : x86_rm(i), from = load ? x86_rm(i) : reg;
	int64_t slot = memory ? slot_of(s, i) : 0;

	if (!(i->rex & X86_REX_W))
		slot = 0;
	if (memory && !load)
		store_copy(s, i->rex & X86_REX_W ? reg : RSP, place_above(s, i));
	if (memory && load && reg == RSP)
		load_stack(s, i->rex & X86_REX_W ? place_above(s, i) : 0);
	else if (memory && load && reg == RBP && s->flags & CODE_WHOLE && is_memory_at(i, RSP))
		return; /* all registers are restored; only leave ends a frame of the interpreter */
	else if (memory && load && i->rex & X86_REX_W && is_copy_at(s, place_above(s, i)))
		load_copy(s, reg, place_above(s, i));
	else if (memory && load)
		load_register(s, reg, slot);
	else if (memory)
		store_register(s, reg, slot);
	else if (to == RSP)
		stack_from_register(s, from);
	else if (from == RSP)
		copy_sp(s, to, 0);
	else if (to != from)
		lose_register(s, to);
}

static void run_lea(struct code_state *s, const struct x86_instruction *i)
{
	if (is_memory_at(i, RSP))
		copy_sp(s, x86_reg(i), i->displacement);
	else if (x86_reg(i) == RSP && is_memory_at(i, RBP))
		stack_from_rbp(s, i->displacement);
	else if (x86_reg(i) == RSP)
		lose_stack(s);
	else
		lose_register(s, x86_reg(i));
}

static void lose_registers(struct code_state *s, uint32_t registers)
{
	for (unsigned int reg = 0; reg < 16; reg++) {
		if (!(registers >> reg & 1))
			continue;
		if (reg == RSP)
			lose_stack(s);
		else
			lose_register(s, reg);
	}
}

/* The instructions of the one-byte map that use the stack. Return whether it is one of them. */
static bool run_stack(struct code_state *s, const struct x86_instruction *i)
{
	unsigned int group = i->modrm >> 3 & 7;

	switch (i->opcode) {
	case 0x68:
	case 0x6a:
	case 0x9c:
		add_stack(s, -8);
		return true;
	case 0x9d:
		add_stack(s, 8);
		return true;
	case 0xc9:
		stack_from_rbp(s, 0);
		pop_to(s, RBP);
		return true;
	case 0xff:
		if (group == 6)
			add_stack(s, -8);
		return group == 6;
	case 0x81:
	case 0x83:
		if (x86_mod(i) == 3 && x86_rm(i) == RSP)
			add_to_stack(s, i);
		return x86_mod(i) == 3 && x86_rm(i) == RSP;
	default:
		return false;
	}
}

/* Return whether an instruction calls what may change registers as the C ABI allows. */
static bool is_call(const struct x86_instruction *i)
{
	return !i->map && (i->opcode == 0xe8 || (i->opcode == 0xff && (i->modrm >> 3 & 7) == 2));
}

void code_state_run(struct code_state *s, const struct x86_instruction *i)
{
	if (i->map) {
		lose_registers(s, x86_written(i));
	} else if (i->opcode >= 0x50 && i->opcode < 0x58) {
		push_from(s, x86_rm(i));
	} else if (i->opcode >= 0x58 && i->opcode < 0x60) {
		pop_to(s, x86_rm(i));
	} else if (i->opcode == 0xe8 && !i->immediate) {
		add_stack(s, -8); /* a call of the next instruction pushes its address */
	} else if (is_call(i)) {
		lose_registers(s, CALL_CHANGES);
	} else if (i->opcode == 0x89 || i->opcode == 0x8b) {
		run_mov(s, i);
	} else if (i->opcode == 0x8d) {
		run_lea(s, i);
	} else if (!run_stack(s, i)) {
		lose_registers(s, x86_written(i));
		if (i->opcode == 0x8f)
			add_stack(s, 8);
	}
}

/* Return what a rule says about the caller's rbp. */
static uint8_t rule_saved(const struct code_state *s)
{
	unsigned int ra = s->return_slot ? UNWIND_RA_AT_CFA : UNWIND_RA_IN_REGISTER;

	if (s->saved_rbp)
		return (uint8_t)UNWIND_SAVED(UNWIND_FP_AT_CFA, ra);
	return (uint8_t)UNWIND_SAVED(
		s->flags & CODE_RBP_LOST || s->frame ? UNWIND_FP_UNKNOWN : UNWIND_FP_SAME, ra);
}

struct unwind_rule code_state_rule(const struct code_state *s)
{
	struct unwind_rule rule = {
		.kind = UNWIND_CFA,
		.second = -8 * s->return_slot,
		.saved = rule_saved(s),
		.fp_offset = (int16_t)(-8 * s->saved_rbp),
	};

	if (code_state_is_lost(s) || s->flags & CODE_SENDER_APART || s->saved_rbp > 4095)
		return (struct unwind_rule){.kind = UNWIND_BAD};
	if (is_known(s)) {
		rule.reg = UNWIND_REG_SP;
		rule.cfa_offset = 8 * s->depth;
	} else if (s->frame) {
		rule.reg = UNWIND_REG_FP;
		rule.cfa_offset = 8 * s->frame;
	} else if (s->copy_at && s->return_slot == 1) {
		/* before the register, which is known in the innermost frame only */
		rule.kind = UNWIND_DEREF;
		rule.reg = UNWIND_REG_SP;
		rule.cfa_offset = 8 * (s->copy_at - 1);
		rule.second = 8 * s->copy_depth;
	} else if (s->sender != CODE_NO_REGISTER) {
		rule.reg = dwarf_numbers[s->sender];
		rule.cfa_offset = 8 * s->sender_words;
	} else {
		return (struct unwind_rule){.kind = UNWIND_BAD};
	}
	if (!s->return_slot)
		rule.index = dwarf_numbers[s->return_register];
	if (s->flags & CODE_RBX_LOST)
		rule.base_offset = UNWIND_BASE_LOST;
	return rule;
}

static uint8_t row_register(uint8_t reg)
{
	return reg == CODE_NO_REGISTER ? HOTSPOT_NO_REGISTER : dwarf_numbers[reg];
}

/* Return where a frame of the interpreter has its return address and the caller's rbp. */
static enum hotspot_state row_state(const struct code_state *s)
{
	bool sender = s->sender != CODE_NO_REGISTER, apart = s->flags & CODE_SENDER_APART;

	if (s->flags & CODE_WHOLE)
		return HOTSPOT_FRAME;
	if (code_state_is_lost(s) || s->flags & CODE_RBP_LOST)
		return HOTSPOT_UNKNOWN;
	if (s->frame == 2 && s->saved_rbp == 2 && s->return_slot == 1 &&
	    (sender || !apart || s->sender_slot == 3))
		return HOTSPOT_RETURN_AT_FP;
	if (s->frame || (apart && !sender))
		return HOTSPOT_UNKNOWN;
	if (!s->return_slot)
		return !s->saved_rbp && (apart || s->depth == 0) ? HOTSPOT_RETURN_IN_REGISTER
								 : HOTSPOT_UNKNOWN;
	if (is_known(s) && !s->saved_rbp && s->depth == s->return_slot)
		return HOTSPOT_RETURN_AT_SP;
	if (is_known(s) && s->saved_rbp == s->depth && s->return_slot == s->depth - 1)
		return HOTSPOT_RETURN_ABOVE_FP;
	return HOTSPOT_UNKNOWN;
}

struct hotspot_row code_state_row(const struct code_state *s)
{
	struct hotspot_row row = {
		.state = (uint8_t)row_state(s),
		.return_register = HOTSPOT_NO_REGISTER,
		.sender_register = HOTSPOT_NO_REGISTER,
		.method_register = HOTSPOT_NO_REGISTER,
	};

	if (row.state == HOTSPOT_FRAME || row.state == HOTSPOT_UNKNOWN)
		return row;
	if (row.state == HOTSPOT_RETURN_IN_REGISTER)
		row.return_register = row_register(s->return_register);
	if (s->flags & CODE_SENDER_APART &&
	    !(row.state == HOTSPOT_RETURN_AT_FP && s->sender_slot == 3))
		row.sender_register = row_register(s->sender);
	if (s->flags & CODE_METHOD)
		row.method_register = dwarf_numbers[RBX];
	return row;
}

struct hotspot_code_row code_state_code_row(const struct code_state *s)
{
	const struct hotspot_code_row unknown = {
		.depth = HOTSPOT_DEPTH_UNKNOWN,
		.return_register = HOTSPOT_NO_REGISTER,
		.sender_register = HOTSPOT_NO_REGISTER,
	};
	struct hotspot_code_row row = unknown;
	bool has_rbp = s->saved_rbp || !(s->flags & CODE_RBP_LOST || s->frame);
	bool has_sp = is_known(s) || s->held || s->copy_at || s->sender != CODE_NO_REGISTER;

	if (code_state_is_lost(s) || s->flags & CODE_SENDER_APART || !has_rbp || !has_sp)
		return unknown;
	row.saved_fp = s->saved_rbp;
	row.return_word = s->return_slot;
	if (!s->return_slot)
		row.return_register = dwarf_numbers[s->return_register];
	if (is_known(s)) {
		row.depth = s->depth;
		return row;
	}
	row.sender_words = s->sender_words;
	row.held = s->held;
	if (!s->held && s->copy_at) {
		row.held = s->copy_at;
		row.sender_words = s->copy_depth;
	}
	if (!row.held)
		row.sender_register = dwarf_numbers[s->sender];
	return row;
}
