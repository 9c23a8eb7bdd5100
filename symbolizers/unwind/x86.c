// SPDX-License-Identifier: Apache-2.0
/* Decode the layout of 64-bit x86 instructions. */
#include "symbolizers/unwind/x86.h"

#include <string.h>

/* What follows an opcode (flags). */
enum {
	MODRM = 1,
	IMM8 = 2,
	IMMZ = 4, /* 4 bytes; 2 with the operand-size prefix */
	REL32 = 8, /* 4 bytes, whatever the prefixes are */
	IMM16 = 16,
	INVALID = 128,
};

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static uint8_t next_byte(struct cursor *c)
{
	if (c->at == c->end) {
		c->bad = true;
		return 0;
	}
	return *c->at++;
}

/* Read a little-endian number of 1, 2, 4 or 8 bytes, and extend its sign. */
static int64_t next_number(struct cursor *c, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)next_byte(c) << 8 * i;
	return (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

static unsigned int follows_one_byte(uint8_t op)
{
	if (op < 0x40) { /* eight arithmetic operations in six forms each, then invalid ones */
		static const uint8_t forms[] = {MODRM, MODRM, MODRM,   MODRM,
						IMM8,  IMMZ,  INVALID, INVALID};

		return forms[op & 7];
	}
	if (op < 0x60)
		return 0; /* push and pop; REX prefixes are read before */
	if (op < 0x70) {
		static const uint8_t forms[] = {INVALID, INVALID,      INVALID, MODRM, INVALID,
						INVALID, INVALID,      INVALID, IMMZ,  MODRM | IMMZ,
						IMM8,	 MODRM | IMM8, 0,	0,     0,
						0};

		return forms[op & 15];
	}
	if (op < 0x80)
		return IMM8; /* short jumps */
	if (op < 0x90) {
		static const uint8_t forms[] = {MODRM | IMM8, MODRM | IMMZ, INVALID, MODRM | IMM8};

		return op < 0x84 ? forms[op & 3] : MODRM;
	}
	if (op < 0xa0)
		return op == 0x9a ? INVALID : 0;
	if (op < 0xc0)
		return op == 0xa8 || (op >= 0xb0 && op < 0xb8) ? IMM8 : op == 0xa9 ? IMMZ : 0;
	switch (op) {
	case 0xc0:
	case 0xc1:
	case 0xc6:
		return MODRM | IMM8;
	case 0xc7:
		return MODRM | IMMZ;
	case 0xc2:
	case 0xca:
		return IMM16;
	case 0xc8:
		return IMM16 | IMM8;
	case 0xcd:
	case 0xe4:
	case 0xe5:
	case 0xe6:
	case 0xe7:
	case 0xeb:
		return IMM8;
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return IMM8;
	case 0xe8:
	case 0xe9:
		return REL32;
	case 0xce:
	case 0xd4:
	case 0xd5:
	case 0xd6:
	case 0xea:
		return INVALID;
	default:
		break;
	}
	if ((op >= 0xd0 && op < 0xd4) || (op >= 0xd8 && op < 0xe0) || op == 0xf6 || op == 0xf7 ||
	    op >= 0xfe)
		return MODRM;
	return 0;
}

static bool is_between(uint8_t op, uint8_t first, uint8_t last)
{
	return op >= first && op <= last;
}

/* Return whether an opcode of the map 0f, or of the same map of VEX, has an immediate byte. */
static bool second_map_has_imm8(uint8_t op)
{
	return is_between(op, 0x70, 0x73) || op == 0xc2 || is_between(op, 0xc4, 0xc6);
}

static unsigned int follows_two_bytes(uint8_t op)
{
	if (is_between(op, 0x80, 0x8f))
		return REL32;
	if (is_between(op, 0x30, 0x37) || is_between(op, 0xc8, 0xcf) ||
	    is_between(op, 0x05, 0x09) || op == 0x0b || op == 0x0e || op == 0x77 ||
	    is_between(op, 0xa0, 0xa2) || is_between(op, 0xa8, 0xaa))
		return 0;
	if (op == 0x04 || op == 0x0a || op == 0x0c || is_between(op, 0x24, 0x27) || op == 0x36)
		return INVALID;
	return MODRM |
	       (second_map_has_imm8(op) || op == 0x0f || op == 0xa4 || op == 0xac || op == 0xba
			? IMM8
			: 0);
}

/* Return what follows an opcode of VEX, EVEX or XOP. */
static unsigned int follows_vector(uint8_t prefix, unsigned int map, uint8_t op)
{
	if (prefix == 0x8f) /* XOP: map 8 has an immediate byte, map 9 none, map 10 four bytes */
		return MODRM | (map == 8 ? IMM8 : map == 10 ? REL32 : 0);
	if (map == 1 && op == 0x77 && prefix != 0x62)
		return 0;
	return MODRM | (map == 3 || (map == 1 && second_map_has_imm8(op)) ? IMM8 : 0);
}

/* Read a prefix of VEX (c4, c5), EVEX (62) or XOP (8f), and the opcode. */
static unsigned int read_vector(struct cursor *c, uint8_t prefix, struct x86_instruction *out)
{
	uint8_t first = next_byte(c), second = first;
	unsigned int map = 1;

	/* The bits R, X and B and the number of the register are stored inverted. */
	out->rex = (uint8_t)(~first >> 5 & X86_REX_R);
	if (prefix != 0xc5) {
		map = first & (prefix == 0x62 ? 7 : 31);
		out->rex = (uint8_t)(~first >> 5 & (X86_REX_R | X86_REX_X | X86_REX_B));
		second = next_byte(c);
	}
	if (prefix == 0x62)
		(void)next_byte(c);
	out->extra = ~second >> 3 & 15;
	out->map = 4;
	out->vector_map = (uint8_t)map;
	out->opcode = next_byte(c);
	return follows_vector(prefix, map, out->opcode);
}

/* Read the opcode. Return what follows. */
static unsigned int read_opcode(struct cursor *c, struct x86_instruction *out)
{
	uint8_t op = next_byte(c);

	/* In 64-bit mode, c4, c5 and 62 are always prefixes; 8f is XOP if its map is 8 or more. */
	if (op == 0xc4 || op == 0xc5 || op == 0x62 ||
	    (op == 0x8f && c->at < c->end && (*c->at & 31) >= 8))
		return read_vector(c, op, out);
	out->opcode = op;
	if (op != 0x0f)
		return follows_one_byte(op);
	out->opcode = op = next_byte(c);
	out->map = 1;
	if (op != 0x38 && op != 0x3a)
		return follows_two_bytes(op);
	out->map = op == 0x38 ? 2 : 3;
	out->opcode = next_byte(c);
	return MODRM | (op == 0x3a ? IMM8 : 0);
}

/* Read the ModRM byte, the SIB byte and the displacement. */
static void read_modrm(struct cursor *c, struct x86_instruction *out)
{
	unsigned int mod, rm;

	out->has_modrm = true;
	out->modrm = next_byte(c);
	mod = out->modrm >> 6;
	rm = out->modrm & 7;
	if (mod == 3)
		return;
	if (rm == 4)
		out->sib = next_byte(c);
	out->has_rip = mod == 0 && rm == 5;
	if (mod == 1)
		out->displacement = (int32_t)next_number(c, 1);
	else if (mod == 2 || out->has_rip || (mod == 0 && rm == 4 && (out->sib & 7) == 5))
		out->displacement = (int32_t)next_number(c, 4);
}

/* The opcodes f6 and f7 have an immediate only as test, with 0 or 1 in the field reg. */
static unsigned int add_group_immediate(const struct x86_instruction *i, unsigned int follows)
{
	if (i->map || (i->opcode & 0xfe) != 0xf6 || (i->modrm >> 3 & 7) > 1)
		return follows;
	return follows | (i->opcode == 0xf6 ? IMM8 : IMMZ);
}

static void read_immediate(struct cursor *c, struct x86_instruction *out, unsigned int follows,
			   bool short_operand, bool short_address)
{
	bool wide = out->rex & X86_REX_W;

	if (!out->map && is_between(out->opcode, 0xa0, 0xa3))
		out->immediate = next_number(c, short_address ? 4 : 8);
	else if (!out->map && is_between(out->opcode, 0xb8, 0xbf))
		out->immediate = next_number(c, wide ? 8 : short_operand ? 2 : 4);
	else if (follows & IMMZ)
		out->immediate = next_number(c, short_operand && !wide ? 2 : 4);
	else if (follows & REL32)
		out->immediate = next_number(c, 4);
	else if (follows & IMM16)
		out->immediate = next_number(c, 2);
	if (follows & IMM8)
		out->immediate = next_number(c, 1);
}

bool x86_decode(const uint8_t *code, size_t size, struct x86_instruction *out)
{
	struct cursor c = {code, code + (size < X86_INSTRUCTION_MAX ? size : X86_INSTRUCTION_MAX),
			   false};
	bool short_operand = false, short_address = false;
	unsigned int follows;

	*out = (struct x86_instruction){0};
	for (; c.at < c.end; c.at++) {
		if (*c.at == 0x66)
			short_operand = true;
		else if (*c.at == 0x67)
			short_address = true;
		else if (!memchr("\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65", *c.at, 9))
			break;
	}
	if (c.at < c.end && (*c.at & 0xf0) == 0x40)
		out->rex = *c.at++;
	follows = read_opcode(&c, out);
	if (follows & INVALID)
		return false;
	if (follows & MODRM) {
		read_modrm(&c, out);
		follows = add_group_immediate(out, follows);
	}
	read_immediate(&c, out, follows, short_operand, short_address);
	out->size = (uint8_t)(c.at - code);
	return !c.bad;
}
