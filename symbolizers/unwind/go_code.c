// SPDX-License-Identifier: Apache-2.0
/* Recognize Go's prologues and stack switches by the bytes of their instructions. */
#include <elf.h>
#include <string.h>

#include "symbolizers/unwind/go_code.h"

#define NEVER UINT32_MAX

/* Instructions of arm64. */
#define SAVE_FP 0xf81f83fdU /* stur x29, [sp, #-8] */
#define SET_FP 0xd10023fdU /* sub x29, sp, #8 */
#define IS_SET_SP(op) (((op)&0xfffffc1f) == 0x9100001f) /* mov sp, xN */
#define IS_SET_FP_FROM_G(op) (((op)&0xffc003ff) == 0xf940039d) /* ldr x29, [x28, #n] */
#define SVC 0xd4000001U
#define RET 0xd65f03c0U

/*
 * Return the length of an x86-64 instruction with this opcode, %rbp and disp(%rsp), as mov (0x89,
 * 0x8b) and lea (0x8d) have them; 0 if it is another instruction.
 */
static uint32_t rbp_slot(const uint8_t *code, uint8_t opcode, int32_t disp)
{
	int32_t wide;

	if (code[0] != 0x48 || code[1] != opcode || code[3] != 0x24)
		return 0;
	if (code[2] == 0x2c)
		return disp ? 0 : 4;
	if (code[2] == 0x6c)
		return (int8_t)code[4] == disp ? 5 : 0;
	memcpy(&wide, code + 4, sizeof(wide));
	return code[2] == 0xac && wide == disp ? 8 : 0;
}

/*
 * Find the instructions that save and set the frame pointer on x86-64. Before Go 1.21: sub $delta;
 * mov %rbp, delta-8(%rsp); lea. Since then: push %rbp; mov %rsp, %rbp.
 */
static bool frame_x86(const uint8_t *code, int32_t delta, struct go_frame *out)
{
	uint32_t saved;

	if (delta == 8 && code[-1] == 0x55) {
		*out = (struct go_frame){0, memcmp(code, "\x48\x89\xe5", 3) == 0 ? 3 : NEVER};
		return true;
	}
	saved = rbp_slot(code, 0x89, delta - 8);
	if (!saved)
		return false;
	*out = (struct go_frame){saved, NEVER};
	if (rbp_slot(code + saved, 0x8d, delta - 8))
		out->set = 2 * saved;
	return true;
}

/*
 * Find the instructions that save and set the frame pointer on arm64. Frames too large for one
 * instruction save both registers before the stack pointer moves.
 */
static bool frame_arm64(const uint8_t *code, struct go_frame *out)
{
	uint32_t op[2];

	memcpy(op, code, sizeof(op));
	if (op[0] == SAVE_FP)
		*out = (struct go_frame){4, op[1] == SET_FP ? 8 : NEVER};
	else if (op[0] == SET_FP)
		*out = (struct go_frame){0, 4};
	else
		return false;
	return true;
}

bool go_code_frame(uint16_t machine, const uint8_t *code, int32_t delta, struct go_frame *out)
{
	return machine == EM_X86_64 ? frame_x86(code, delta, out) : frame_arm64(code, out);
}

size_t go_code_close(uint16_t machine, const uint8_t *end, size_t size)
{
	if (machine != EM_X86_64)
		return 0;
	if (size >= 7 && memcmp(end - 7, "\x48\x81\xc4", 3) == 0)
		return 7; /* add $imm32, %rsp */
	return size >= 4 && memcmp(end - 4, "\x48\x83\xc4", 3) == 0 ? 4 : 0;
}

int go_code_popped(uint16_t machine, const uint8_t *code)
{
	if (machine == EM_X86_64 && code[-2] == 0x41 && (code[-1] & 0xf8) == 0x58)
		return 8 + (code[-1] & 7);
	return -1;
}

/*
 * Return the length of an instruction that aligns the stack pointer: of and $n, %rsp, or of sub $n,
 * %rsp followed by such an and; else 0.
 */
static size_t align_rsp(const uint8_t *code, size_t size)
{
	if (size >= 4 && memcmp(code, "\x48\x83\xe4", 3) == 0)
		return 4;
	return size >= 8 && memcmp(code, "\x48\x83\xec", 3) == 0 &&
			       memcmp(code + 4, "\x48\x83\xe4", 3) == 0
		       ? 4
		       : 0;
}

/* Return the length of a mov to %rsp, from a register or memory; else 0. */
static size_t set_rsp(const uint8_t *code, size_t size)
{
	uint8_t mode, base;

	if (size < 4 || (code[0] & 0xf8) != 0x48)
		return 0;
	mode = code[2] >> 6;
	base = code[2] & 7;
	if (code[1] == 0x89 && mode == 3 && base == 4 && !(code[0] & 1))
		return 3;
	if (code[1] != 0x8b || (code[2] >> 3 & 7) != 4 || (code[0] & 4))
		return 0;
	return 3 + (mode != 3 && base == 4) + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

static uint32_t op_at(const uint8_t *code)
{
	uint32_t op;

	memcpy(&op, code, sizeof(op));
	return op;
}

/* Return the offset after the first arm64 instruction op; or GO_CODE_NONE. */
static size_t offset_after(const uint8_t *code, size_t size, uint32_t op)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		if (op_at(code + i) == op)
			return i + 4;
	}
	return GO_CODE_NONE;
}

static struct go_switch switch_x86(const uint8_t *code, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		size_t set = set_rsp(code + i, size - i);
		size_t align = align_rsp(code + i, size - i);

		if (set || align)
			return (struct go_switch){i + set + align, align != 0, true};
	}
	return (struct go_switch){.at = GO_CODE_NONE};
}

/*
 * Find the first stack switch on arm64. Before Go 1.21, systemstack loads the frame pointer of the
 * new stack; asmcgocall still does.
 */
static struct go_switch switch_arm64(const uint8_t *code, size_t size)
{
	for (size_t i = 0; i + 4 <= size; i += 4) {
		bool last = i + 8 > size;

		if (IS_SET_SP(op_at(code + i)))
			return (struct go_switch){
				.at = i + 4,
				.keeps_frame = last || !IS_SET_FP_FROM_G(op_at(code + i + 4)),
			};
	}
	return (struct go_switch){.at = GO_CODE_NONE};
}

struct go_switch go_code_switch(uint16_t machine, const uint8_t *code, size_t size)
{
	return machine == EM_X86_64 ? switch_x86(code, size) : switch_arm64(code, size);
}

/*
 * On x86-64, the code of the child starts with the instruction that sets the stack pointer; *child
 * is the offset after this instruction. On arm64, the code of the child follows the parent's ret.
 */
bool go_code_clone(uint16_t machine, const uint8_t *code, size_t size, size_t *both, size_t *child)
{
	const uint8_t *call = machine == EM_X86_64 ? memmem(code, size, "\x0f\x05", 2) : NULL;
	size_t left;

	*both = call			? (size_t)(call - code) + 2
		: machine == EM_AARCH64 ? offset_after(code, size, SVC)
					: GO_CODE_NONE;
	if (*both == GO_CODE_NONE)
		return false;
	left = size - *both;
	*child = machine == EM_X86_64 ? switch_x86(code + *both, left).at
				      : offset_after(code + *both, left, RET);
	if (*child == GO_CODE_NONE)
		return false;
	*child += *both;
	return true;
}
