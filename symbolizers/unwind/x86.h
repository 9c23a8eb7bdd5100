/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decode the layout of 64-bit x86 instructions: their length, opcode and operands, as far as the
 * flow of control and the stack pointer depend on them. Source: Intel's manual, volume 2, chapter 2
 * and appendix A; AMD's manual, volume 3, for XOP.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_X86_H
#define SKEIN_SYMBOLIZERS_UNWIND_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_INSTRUCTION_MAX 15 /* bytes */

/* Bits of the REX prefix. */
enum { X86_REX_B = 1, X86_REX_X = 2, X86_REX_R = 4, X86_REX_W = 8 };

struct x86_instruction {
	uint8_t size; /* bytes */
	uint8_t map; /* 0: one-byte opcodes; 1: after 0f; 2: 0f 38; 3: 0f 3a; 4: VEX, EVEX, XOP */
	uint8_t opcode;
	uint8_t rex; /* 0: no prefix; VEX, EVEX and XOP have the same bits */
	uint8_t vector_map; /* of VEX, EVEX and XOP: as map, or 8 to 10 */
	uint8_t extra; /* number of the register that VEX names beside the operands of ModRM */
	bool has_modrm;
	uint8_t modrm, sib; /* sib: 0 if there is none */
	bool has_rip; /* the memory operand is relative to the end of the instruction */
	int32_t displacement; /* of the memory operand */
	int64_t immediate; /* sign-extended; for a relative jump or call the distance */
};

/* Decode the instruction at code. Return false if it is invalid or longer than size bytes. */
bool x86_decode(const uint8_t *code, size_t size, struct x86_instruction *out);

/*
 * Return which general registers an instruction may write, as bits by number; without the stack
 * pointer of push, pop, call, ret and leave, and without what a called function writes.
 */
uint32_t x86_written(const struct x86_instruction *i);

static inline unsigned int x86_mod(const struct x86_instruction *i)
{
	return i->modrm >> 6;
}

/* Return the number of the register in the field reg of the ModRM byte. */
static inline unsigned int x86_reg(const struct x86_instruction *i)
{
	return (i->modrm >> 3 & 7) | (i->rex & X86_REX_R ? 8 : 0);
}

/* Return the number of the register in the field rm, or of an operand in the opcode's low bits. */
static inline unsigned int x86_rm(const struct x86_instruction *i)
{
	return ((i->has_modrm ? i->modrm : i->opcode) & 7) | (i->rex & X86_REX_B ? 8 : 0);
}

#endif
