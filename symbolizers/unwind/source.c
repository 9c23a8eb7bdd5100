// SPDX-License-Identifier: Apache-2.0
/* Find the code of an ELF file, map virtual addresses to file offsets, and hash the bytes read. */
#include <errno.h>
#include <string.h>

#include "symbolizers/unwind/source.h"

#define PROGRAM_HEADERS_MAX 4096

/*
 * Where signal frames hold registers, from the kernel's struct rt_sigframe: on x86-64 the handler's
 * ret has popped the first member, so that sp points to the ucontext, with the sigcontext at offset
 * 40. On arm64 a siginfo of 128 bytes comes first, and the sigcontext, aligned to 16, is 176 bytes
 * after the siginfo.
 */
static const struct unwind_machine machines[] = {
	{
		.elf = EM_X86_64,
		.fp = 6,
		.base = 3,
		.sp = 7,
		.ra = 16,
		.registers = 16,
		.signal_offset = 40,
	},
	{
		.elf = EM_AARCH64,
		.fp = 29,
		.base = 19,
		.sp = 31,
		.ra = 30,
		.registers = 32,
		.signal_offset = 128 + 176,
	},
};

const struct unwind_machine *unwind_source_machine(const struct unwind_source *s)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (machines[i].elf == s->image->header.e_machine)
			return &machines[i];
	}
	return NULL;
}

/*
 * Add the part of an executable segment that is in the file; ignore other segments. -EBADMSG: the
 * part is not within the file, or begins below the end of the segment before.
 */
static int add_code_segment(struct unwind_source *s, const GElf_Phdr *p)
{
	uint64_t least = 0, end;

	if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !p->p_filesz)
		return 0;
	if (p->p_offset > s->image->size || p->p_filesz > s->image->size - p->p_offset ||
	    __builtin_add_overflow(p->p_vaddr, p->p_filesz, &end))
		return -EBADMSG;
	if (s->segments.count) {
		const struct unwind_segment *last = &s->segments.items[s->segments.count - 1];

		least = last->address + last->size;
	}
	if (p->p_vaddr < least)
		return -EBADMSG;
	return vector_push(&s->segments, ((struct unwind_segment){
						 .address = p->p_vaddr,
						 .offset = p->p_offset,
						 .size = p->p_filesz,
					 }));
}

int unwind_source_open(struct unwind_source *s, struct elf_image *image)
{
	const unsigned char *ident = image->header.e_ident;
	size_t count;
	GElf_Phdr p;
	int ret = 0;

	*s = (struct unwind_source){.image = image};
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB ||
	    !unwind_source_machine(s))
		return -ENOENT;
	if (elf_getphdrnum(image->elf, &count) < 0 || count > PROGRAM_HEADERS_MAX)
		return -EBADMSG;
	for (size_t i = 0; !ret && i < count && gelf_getphdr(image->elf, (int)i, &p); i++)
		ret = add_code_segment(s, &p);
	if (!ret && !s->segments.count)
		ret = -ENOENT;
	return ret;
}

void unwind_source_hash(const struct unwind_source *s, const uint64_t *facts, size_t count)
{
	if (s->hash)
		XXH3_128bits_update(s->hash, facts, count * sizeof(*facts));
}

int unwind_source_read(const struct unwind_source *s, uint64_t offset, void *buf, size_t size)
{
	int ret = elf_image_read(s->image, offset, buf, size);

	if (!ret && s->hash) {
		unwind_source_hash(s, (const uint64_t[]){offset, size}, 2);
		XXH3_128bits_update(s->hash, buf, size);
	}
	return ret;
}

void unwind_source_free(struct unwind_source *s)
{
	vector_free(&s->segments);
	vector_free(&s->parts);
}

bool unwind_source_offset(const struct unwind_source *s, uint64_t address, uint64_t *out,
			  uint64_t *out_size)
{
	for (size_t i = 0; i < s->segments.count; i++) {
		const struct unwind_segment *in = &s->segments.items[i];

		if (address < in->address || address - in->address >= in->size)
			continue;
		*out = address - in->address + in->offset;
		if (out_size)
			*out_size = in->size - (address - in->address);
		return true;
	}
	return false;
}
