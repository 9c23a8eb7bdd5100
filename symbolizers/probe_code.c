// SPDX-License-Identifier: Apache-2.0
/*
 * Look at the code where probes are to be attached: some instructions cannot be probed, and most
 * are slow. Which are fast (emulated): arch/x86/kernel/uprobes.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/probe_finder.h"
#include "symbolizers/unwind/x86.h"

#define FUNCTION_MAX (1U << 20) /* bytes of code that are searched for returns */

/* Instructions of arm64. */
#define ARM_NOP 0xd503201fU
#define ARM_RETURN 0xd65f03c0U

bool probe_file_offset(const struct elf_image *image, uint64_t address, unsigned int flags,
		       uint64_t *out)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(image->elf, &count) < 0)
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(image->elf, (int)i, &p); i++) {
		if (p.p_type != PT_LOAD || !(p.p_flags & flags) || address < p.p_vaddr ||
		    address - p.p_vaddr >= p.p_filesz)
			continue;
		*out = address - p.p_vaddr + p.p_offset;
		return *out < image->size;
	}
	return false;
}

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

/* Return whether the kernel refuses the instruction: those of the kernel, of ports, breakpoints. */
static bool is_refused(const struct x86_instruction *i)
{
	if (i->map)
		return i->map == 1 &&
		       (i->opcode <= 0x09 || (i->opcode >= 0x20 && i->opcode <= 0x26) ||
			(i->opcode >= 0x30 && i->opcode <= 0x37));
	return i->opcode == 0xcc || i->opcode == 0xcd || i->opcode == 0xcf || i->opcode == 0xf1 ||
	       i->opcode == 0xf4 || i->opcode == 0xfa || i->opcode == 0xfb ||
	       (i->opcode >= 0x6c && i->opcode <= 0x6f) ||
	       (i->opcode >= 0xe4 && i->opcode <= 0xe7) || (i->opcode >= 0xec && i->opcode <= 0xef);
}

static enum probe_instruction instruction_of(const struct x86_instruction *i)
{
	const bool relative = !i->map && ((i->opcode >= 0x70 && i->opcode <= 0x7f) ||
					  (i->opcode >= 0xe8 && i->opcode <= 0xeb));

	if (i->map == 1 && i->opcode >= 0x80 && i->opcode <= 0x8f)
		return PROBE_INSTRUCTION_JUMP;
	if (relative)
		return PROBE_INSTRUCTION_JUMP;
	if (i->map)
		return PROBE_INSTRUCTION_OTHER;
	if (i->opcode == 0x90 && !i->rex)
		return PROBE_INSTRUCTION_NOP;
	if (i->opcode >= 0x50 && i->opcode <= 0x57)
		return PROBE_INSTRUCTION_PUSH;
	return i->opcode == 0xc3 || i->opcode == 0xc2 ? PROBE_INSTRUCTION_RETURN
						      : PROBE_INSTRUCTION_OTHER;
}

static void classify_x86(const uint8_t *code, size_t size, bool entry, struct probe_site *s)
{
	struct x86_instruction i;

	/* endbr64 is single-stepped; at the entry of a function the next instruction serves, too */
	if (entry && size > sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64))) {
		code += sizeof(endbr64);
		size -= sizeof(endbr64);
		s->offset += sizeof(endbr64);
	}
	if (!x86_decode(code, size, &i) || is_refused(&i)) {
		s->refused = PROBE_REFUSED_CODE;
		return;
	}
	s->bytes = i.size;
	if (size >= sizeof(nop5) && !memcmp(code, nop5, sizeof(nop5))) {
		s->instruction = PROBE_INSTRUCTION_NOP5;
		/* at the entry of a function, nothing uses the memory below the stack pointer */
		s->refused = entry ? PROBE_REFUSED_NONE : PROBE_REFUSED_NOP5;
		return;
	}
	s->instruction = instruction_of(&i);
}

static void classify_arm(const uint8_t *code, struct probe_site *s)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	s->bytes = sizeof(word);
	s->instruction = word == ARM_NOP      ? PROBE_INSTRUCTION_NOP
			 : word == ARM_RETURN ? PROBE_INSTRUCTION_RETURN
					      : PROBE_INSTRUCTION_OTHER;
}

void probe_code_classify(const struct probe_finder *f, uint64_t address, bool entry,
			 struct probe_site *s)
{
	uint8_t code[X86_INSTRUCTION_MAX + sizeof(endbr64)] = {0};
	size_t size = sizeof(code);

	if (!probe_file_offset(f->image, address, PF_X, &s->offset)) {
		s->refused = PROBE_REFUSED_OUTSIDE;
		return;
	}
	while (size && elf_image_read(f->image, s->offset, code, size) < 0)
		size--;
	if (f->machine == EM_X86_64)
		classify_x86(code, size, entry, s);
	else if (size >= 4 && !(s->offset & 3))
		classify_arm(code, s);
	else
		s->refused = PROBE_REFUSED_CODE;
}

/* The search for the places at which a function is left. */
struct return_search {
	const struct probe_code_part *parts;
	unsigned int part_count;
	uint64_t *out;
	unsigned int count, most;
};

static bool is_in_code_parts(const struct return_search *s, uint64_t address)
{
	for (unsigned int i = 0; i < s->part_count; i++)
		if (address - s->parts[i].address < s->parts[i].size)
			return true;
	return false;
}

/* Return whether an instruction leaves the function: a return, or a jump to other code. */
static bool leaves_function(const struct return_search *s, const struct x86_instruction *i,
			    uint64_t next)
{
	if (i->map)
		return false;
	if (i->opcode == 0xe9 || i->opcode == 0xeb)
		return !is_in_code_parts(s, next + (uint64_t)i->immediate);
	return i->opcode == 0xc3 || i->opcode == 0xc2;
}

static int add_return(struct return_search *s, uint64_t address)
{
	if (s->count == s->most)
		return -E2BIG;
	s->out[s->count++] = address;
	return 0;
}

static int find_x86_returns(struct return_search *s, const uint8_t *code, uint64_t size,
			    uint64_t address)
{
	struct x86_instruction i;
	int ret = 0;

	for (uint64_t at = 0; !ret && at < size; at += i.size) {
		if (!x86_decode(code + at, size - at, &i))
			return -EBADMSG;
		if (leaves_function(s, &i, address + at + i.size))
			ret = add_return(s, address + at);
	}
	return ret;
}

static int find_arm_returns(struct return_search *s, const uint8_t *code, uint64_t size,
			    uint64_t address)
{
	uint32_t word;
	int ret = 0;

	for (uint64_t at = 0; !ret && at + sizeof(word) <= size; at += sizeof(word)) {
		memcpy(&word, code + at, sizeof(word));
		if (word == ARM_RETURN)
			ret = add_return(s, address + at);
	}
	return ret;
}

static int find_returns_of_part(const struct probe_finder *f, struct return_search *s,
				const struct probe_code_part *part)
{
	uint64_t offset;
	uint8_t *code;
	int ret;

	if (!part->size || part->size > FUNCTION_MAX ||
	    !probe_file_offset(f->image, part->address, PF_X, &offset))
		return -EBADMSG;
	code = malloc(part->size);
	if (!code)
		return -ENOMEM;
	ret = elf_image_read(f->image, offset, code, part->size);
	if (!ret)
		ret = f->machine == EM_X86_64
			      ? find_x86_returns(s, code, part->size, part->address)
			      : find_arm_returns(s, code, part->size, part->address);
	free(code);
	return ret;
}

int probe_code_returns(const struct probe_finder *f, const struct probe_code_part *parts,
		       unsigned int count, uint64_t *out, unsigned int most)
{
	struct return_search s = {.parts = parts, .part_count = count, .out = out, .most = most};
	int ret = 0;

	for (unsigned int i = 0; !ret && i < count; i++)
		ret = find_returns_of_part(f, &s, &parts[i]);
	return ret ? ret : (int)s.count;
}
