/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Go program in two kilobytes, without section headers: code, its function table, and its module
 * data. Tests damage it.
 */
#ifndef SKEIN_TESTS_GOTABLE_H
#define SKEIN_TESTS_GOTABLE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define GOTABLE_BASE 0x400000UL
#define GOTABLE_TEXT 0x200U /* offset of the code */
#define GOTABLE_AT 0x300U /* offset of the table */
#define GOTABLE_MODULE 0x600U
#define GOTABLE_SIZE 0x6c0U

enum gotable_version { GOTABLE_1_16, GOTABLE_1_18, GOTABLE_1_20, GOTABLE_1_26 };

struct gotable_function {
	uint32_t start, name, deltas; /* offsets in the text, the names, the deltas */
	uint8_t flags;
};

struct gotable {
	uint8_t bytes[GOTABLE_SIZE];
	uint32_t names, deltas, index; /* offsets in the file */
};

static const char gotable_names[] = "\0runtime.goexit\0main.main\0runtime.mcall\0main.leaf";

/*
 * Stack deltas by pc: 0 until 1, 8 until 8, 32 until 24, 8 until 25, 0 until 26 (like a frame since
 * Go 1.21); 0 until 16; 0 until 1, 8 until 32.
 */
static const uint8_t gotable_deltas[] = {0, 2, 1, 16, 7, 48, 16, 47, 1,	 15,
					 1, 0, 2, 16, 0, 2,  1,	 16, 31, 0};

static const struct gotable_function gotable_functions[] = {
	{0x00, 1, 12, 1}, /* runtime.goexit */
	{0x20, 16, 1, 0}, /* main.main */
	{0x40, 26, 15, 2}, /* runtime.mcall */
	{0x80, 40, 12, 0}, /* main.leaf */
};

#define GOTABLE_FUNCTIONS (sizeof(gotable_functions) / sizeof(*gotable_functions))
#define GOTABLE_END 0xa0U

/* Write the code: push %rbp; mov %rsp,%rbp; ...; and at offset 8 of mcall: mov 0x38(%r14),%rsp. */
static inline void gotable_code(uint8_t *text)
{
	memset(text, 0x90, 0x100);
	memcpy(text + 0x20, "\x55\x48\x89\xe5\x48\x83\xec\x18", 8);
	memcpy(text + 0x40, "\x55\x48\x89\xe5\x90\x90\x90\x90\x49\x8b\x66\x38", 12);
}

static inline void gotable_put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void gotable_put64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void gotable_header(struct gotable *g, enum gotable_version v)
{
	static const uint32_t magics[] = {0xfffffffa, 0xfffffff0, 0xfffffff1, 0xfffffff1};
	uint8_t *at = g->bytes + GOTABLE_AT;
	uint32_t names = 72, deltas = names + sizeof(gotable_names);
	uint32_t index = (deltas + sizeof(gotable_deltas) + 7) & ~7U;

	gotable_put32(at, magics[v]);
	at[6] = 1;
	at[7] = 8;
	gotable_put64(at + 8, GOTABLE_FUNCTIONS);
	if (v == GOTABLE_1_18 || v == GOTABLE_1_20)
		gotable_put64(at + 24, GOTABLE_BASE + GOTABLE_TEXT);
	at += v == GOTABLE_1_16 ? 24 : 32;
	gotable_put64(at, names);
	gotable_put64(at + 8, deltas); /* end of the names */
	gotable_put64(at + 24, deltas);
	gotable_put64(at + 32, index);
	g->names = GOTABLE_AT + names;
	g->deltas = GOTABLE_AT + deltas;
	g->index = GOTABLE_AT + index;
	memcpy(g->bytes + g->names, gotable_names, sizeof(gotable_names));
	memcpy(g->bytes + g->deltas, gotable_deltas, sizeof(gotable_deltas));
}

/* Write the index of addresses and descriptions, then the descriptions, 56 bytes each. */
static inline void gotable_index(struct gotable *g, enum gotable_version v)
{
	uint32_t wide = v == GOTABLE_1_16 ? 8 : 4, words = v >= GOTABLE_1_20 ? 9 : 8;
	uint64_t text = v == GOTABLE_1_16 ? GOTABLE_BASE + GOTABLE_TEXT : 0;
	uint32_t first = (GOTABLE_FUNCTIONS * 2 + 1) * wide;

	for (uint32_t i = 0; i <= GOTABLE_FUNCTIONS; i++) {
		const struct gotable_function *f = &gotable_functions[i];
		uint8_t *entry = g->bytes + g->index + (uint64_t)i * 2 * wide;
		uint64_t start = text + (i < GOTABLE_FUNCTIONS ? f->start : GOTABLE_END);
		uint8_t *at = g->bytes + g->index + first + (uint64_t)i * 56;

		memcpy(entry, &start, wide);
		if (i == GOTABLE_FUNCTIONS)
			break;
		gotable_put32(entry + wide, first + i * 56);
		memcpy(at, &start, wide);
		gotable_put32(at + wide, f->name);
		gotable_put32(at + wide + 12, f->deltas);
		at[wide + 4 * words + 1] = f->flags;
	}
}

static inline void gotable_make(struct gotable *g, enum gotable_version v)
{
	Elf64_Ehdr *e = (Elf64_Ehdr *)g->bytes;
	Elf64_Phdr *p = (Elf64_Phdr *)(g->bytes + sizeof(*e));

	*g = (struct gotable){.names = 0};
	*e = (Elf64_Ehdr){
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(*e),
		.e_ehsize = sizeof(*e),
		.e_phentsize = sizeof(*p),
		.e_phnum = 2,
	};
	memcpy(e->e_ident, "\177ELF\2\1\1", 7);
	p[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = GOTABLE_BASE};
	p[0].p_filesz = p[0].p_memsz = GOTABLE_MODULE;
	p[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = GOTABLE_MODULE};
	p[1].p_vaddr = GOTABLE_BASE + 0x100000;
	p[1].p_filesz = p[1].p_memsz = GOTABLE_SIZE - GOTABLE_MODULE;
	gotable_code(g->bytes + GOTABLE_TEXT);
	gotable_header(g, v);
	gotable_index(g, v);
	gotable_put64(g->bytes + GOTABLE_MODULE, GOTABLE_BASE + GOTABLE_AT);
	gotable_put64(g->bytes + GOTABLE_MODULE + 8, GOTABLE_BASE + g->names);
	gotable_put64(g->bytes + GOTABLE_MODULE + 160, GOTABLE_BASE + GOTABLE_TEXT);
	gotable_put64(g->bytes + GOTABLE_MODULE + 176, GOTABLE_BASE + GOTABLE_TEXT);
}

#endif
