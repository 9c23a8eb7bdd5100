// SPDX-License-Identifier: Apache-2.0
/*
 * Which general registers an instruction writes. Where that depends on a prefix that the decoder
 * does not keep, the answer has more registers, never fewer.
 */
#include "symbolizers/unwind/x86.h"

enum { RAX, RCX, RDX, RBX, RSI = 6, RDI = 7 };

static uint32_t bit(unsigned int reg)
{
	return 1u << reg;
}

/* Return the operand rm, if it is a register. */
static uint32_t written_rm(const struct x86_instruction *i)
{
	return x86_mod(i) == 3 ? bit(x86_rm(i)) : 0;
}

/* The opcodes below 40: arithmetic in eight operations (the last is cmp) of eight forms. */
static uint32_t written_arithmetic(const struct x86_instruction *i)
{
	if (i->opcode >= 0x38)
		return 0;
	switch (i->opcode & 7) {
	case 0:
	case 1:
		return written_rm(i);
	case 2:
	case 3:
		return bit(x86_reg(i));
	default:
		return bit(RAX);
	}
}

/* The opcodes a4 to af: operations on strings, which may be repeated. */
static uint32_t written_string(uint8_t op)
{
	if (op == 0xa8 || op == 0xa9) /* test */
		return 0;
	return bit(RSI) | bit(RDI) | bit(RCX) | bit(RAX);
}

/* The opcodes f6, f7, fe and ff, whose operation is in the field reg of ModRM. */
static uint32_t written_group(const struct x86_instruction *i)
{
	unsigned int group = i->modrm >> 3 & 7;

	if (i->opcode >= 0xfe)
		return group < 2 ? written_rm(i) : 0;
	if (group >= 4) /* multiplications and divisions */
		return bit(RAX) | bit(RDX);
	return group >= 2 ? written_rm(i) : 0;
}

/* The opcodes 40 to 8f. */
static uint32_t written_middle(const struct x86_instruction *i)
{
	switch (i->opcode) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8b:
	case 0x8d:
		return bit(x86_reg(i));
	case 0x80:
	case 0x81:
	case 0x83:
		return (i->modrm >> 3 & 7) == 7 ? 0 : written_rm(i);
	case 0x86:
	case 0x87:
		return written_rm(i) | bit(x86_reg(i));
	case 0x88:
	case 0x89:
	case 0x8c:
	case 0x8f:
		return written_rm(i);
	default:
		return i->opcode >= 0x58 && i->opcode < 0x60 ? bit(x86_rm(i)) : 0;
	}
}

/* The opcodes 90 to ff. */
static uint32_t written_high(const struct x86_instruction *i)
{
	uint8_t op = i->opcode;

	if (op < 0x98) /* nop, if the register is rax */
		return op == 0x90 && !(i->rex & X86_REX_B) ? 0 : bit(RAX) | bit(x86_rm(i));
	if (op < 0xa0)
		return op == 0x98 || op == 0x9f ? bit(RAX) : op == 0x99 ? bit(RDX) : 0;
	if (op < 0xb0)
		return op < 0xa2 ? bit(RAX) : op < 0xa4 ? 0 : written_string(op);
	if (op < 0xc0)
		return bit(x86_rm(i));
	if (op < 0xc2 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op < 0xd4))
		return written_rm(i);
	if (op == 0xd7 || op == 0xe4 || op == 0xe5 || op == 0xec || op == 0xed || op == 0xdf)
		return bit(RAX);
	if (op >= 0xe0 && op < 0xe4)
		return bit(RCX);
	return op == 0xf6 || op == 0xf7 || op >= 0xfe ? written_group(i) : 0;
}

/* Return whether an opcode after 0f writes the register in the field reg, or the operand rm. */
static bool writes_reg(uint8_t op)
{
	return (op >= 0x02 && op <= 0x03) || op == 0x2c || op == 0x2d ||
	       (op >= 0x40 && op < 0x51) || op == 0x78 || op == 0xaf || op == 0xb2 ||
	       (op >= 0xb4 && op < 0xb9) || (op >= 0xbc && op < 0xc2) || op == 0xc5 || op == 0xd7;
}

static bool writes_rm(uint8_t op)
{
	return op == 0x00 || op == 0x01 || op == 0x20 || op == 0x21 || op == 0x7e ||
	       (op >= 0x90 && op < 0xa0) || op == 0xa4 || op == 0xa5 || op == 0xab || op == 0xac ||
	       op == 0xad || op == 0xae || op == 0xb0 || op == 0xb1 || op == 0xb3 || op == 0xba ||
	       op == 0xbb || op == 0xc0 || op == 0xc1 || op == 0xc7;
}

/* The opcodes after 0f. */
static uint32_t written_second(const struct x86_instruction *i)
{
	uint8_t op = i->opcode;
	uint32_t out = 0;

	if (op >= 0xc8 && op < 0xd0) /* bswap */
		return bit(x86_rm(i));
	if (op == 0xa2) /* cpuid */
		return bit(RAX) | bit(RBX) | bit(RCX) | bit(RDX);
	if (op == 0x05 || (op >= 0x30 && op < 0x38)) /* system calls, rdmsr, rdtsc, rdpmc */
		return bit(RAX) | bit(RCX) | bit(RDX) | bit(11);
	if (op == 0x01 || op == 0xc7) /* xgetbv, rdtscp; cmpxchg16b */
		out = bit(RAX) | bit(RCX) | bit(RDX);
	if (op == 0xb0 || op == 0xb1) /* cmpxchg */
		out = bit(RAX);
	if (!i->has_modrm || (op == 0xba && (i->modrm >> 3 & 7) == 4)) /* bt */
		return out;
	if (writes_reg(op))
		out |= bit(x86_reg(i));
	return writes_rm(op) ? out | written_rm(i) : out;
}

/*
 * The opcodes of VEX, EVEX and XOP: moves to general registers, and arithmetic on them, which also
 * writes a third register (mulx).
 */
static uint32_t written_vector(const struct x86_instruction *i)
{
	uint8_t op = i->opcode;

	if (i->vector_map == 1) {
		if (op == 0x7e)
			return written_rm(i);
		return op == 0x2c || op == 0x2d || op == 0x50 || op == 0x93 || op == 0xc5 ||
				       op == 0xd7 || op == 0x78 || op == 0x79
			       ? bit(x86_reg(i))
			       : 0;
	}
	if (i->vector_map == 2)
		return op >= 0xf2 && op <= 0xf7 ? bit(x86_reg(i)) | bit(i->extra) : 0;
	if (i->vector_map == 3)
		return op == 0xf0 ? bit(x86_reg(i)) : op >= 0x14 && op <= 0x17 ? written_rm(i) : 0;
	return i->vector_map >= 8 ? bit(x86_reg(i)) | bit(i->extra) | written_rm(i) : 0;
}

/* Return whether the operands are bytes: without REX, the numbers 4 to 7 are ah, ch, dh and bh. */
static bool has_bytes(const struct x86_instruction *i)
{
	uint8_t op = i->opcode;

	if (i->rex || i->map > 1)
		return false;
	if (i->map)
		return (op & 0xf0) == 0x90 || op == 0xb0 || op == 0xc0;
	return (op < 0x40 && !(op & 1)) || op == 0x80 || op == 0x86 || op == 0x88 || op == 0x8a ||
	       (op & 0xf8) == 0xb0 || op == 0xc0 || op == 0xc6 || op == 0xd0 || op == 0xd2 ||
	       op == 0xf6 || op == 0xfe;
}

static uint32_t written_whole(const struct x86_instruction *i)
{
	switch (i->map) {
	case 0:
		if (i->opcode < 0x40)
			return written_arithmetic(i);
		return i->opcode < 0x90 ? written_middle(i) : written_high(i);
	case 1:
		return written_second(i);
	case 2: /* 0f 38 */
		return i->opcode >= 0xf0 && i->opcode < 0xf8 ? bit(x86_reg(i)) : 0;
	case 3: /* 0f 3a: pextrb and its relatives; pcmpestri and pcmpistri */
		if (i->opcode >= 0x60 && i->opcode < 0x64)
			return bit(RCX);
		return i->opcode >= 0x14 && i->opcode < 0x18 ? written_rm(i) : 0;
	default:
		return written_vector(i) |
		       (i->vector_map == 3 && i->opcode >= 0x60 && i->opcode < 0x64 ? bit(RCX) : 0);
	}
}

uint32_t x86_written(const struct x86_instruction *i)
{
	uint32_t out = written_whole(i);

	return has_bytes(i) ? (out & ~0xf0u) | (out >> 4 & 15) : out;
}
