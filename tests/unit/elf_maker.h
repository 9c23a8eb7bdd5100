/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Make small ELF files in memory, for tests of readers of call frame information: a header, one
 * segment with code, then .eh_frame and its section header.
 */
#ifndef SKEIN_TESTS_ELF_MAKER_H
#define SKEIN_TESTS_ELF_MAKER_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Addresses are file offsets. */
#define MADE_CODE 0x1000

static const char made_names[] = "\0.eh_frame\0.shstrtab";

struct made {
	uint8_t *bytes; /* the caller frees it */
	size_t size;
	uint64_t frames; /* file offset of .eh_frame */
};

static inline void made_headers(struct made *m, uint16_t machine, size_t code_size,
				size_t frames_size)
{
	const uint64_t names = m->frames + frames_size;
	const uint64_t headers = names + sizeof(made_names);
	const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, 1},
		.e_type = ET_DYN,
		.e_machine = machine,
		.e_version = 1,
		.e_phoff = sizeof(header),
		.e_shoff = headers,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	const Elf64_Phdr code = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = MADE_CODE,
		.p_vaddr = MADE_CODE,
		.p_filesz = code_size,
		.p_memsz = code_size,
	};
	const Elf64_Shdr sections[] = {
		{.sh_type = SHT_NULL},
		{
			.sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC,
			.sh_addr = m->frames,
			.sh_offset = m->frames,
			.sh_size = frames_size,
		},
		{
			.sh_name = 11,
			.sh_type = SHT_STRTAB,
			.sh_offset = names,
			.sh_size = sizeof(made_names),
		},
	};

	memcpy(m->bytes, &header, sizeof(header));
	memcpy(m->bytes + sizeof(header), &code, sizeof(code));
	memcpy(m->bytes + names, made_names, sizeof(made_names));
	memcpy(m->bytes + headers, sections, sizeof(sections));
}

/* Make a file. If code is NULL, the code is nops of x86-64. */
static inline struct made made_elf(uint16_t machine, const void *code, size_t code_size,
				   const void *frames, size_t frames_size)
{
	struct made m = {.frames = MADE_CODE + code_size};

	m.size = m.frames + frames_size + sizeof(made_names) + 3 * sizeof(Elf64_Shdr);
	m.bytes = calloc(1, m.size);
	if (!m.bytes)
		abort();
	made_headers(&m, machine, code_size, frames_size);
	if (code)
		memcpy(m.bytes + MADE_CODE, code, code_size);
	else
		memset(m.bytes + MADE_CODE, 0x90, code_size);
	if (frames_size)
		memcpy(m.bytes + m.frames, frames, frames_size);
	return m;
}

#endif
