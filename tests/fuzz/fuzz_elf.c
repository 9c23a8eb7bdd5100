// SPDX-License-Identifier: Apache-2.0
/* Read an ELF file, which is also its own debug file, and look for a Python interpreter in it. */
#include "fuzz.h"
#include "symbolizers/elf.h"
#include "symbolizers/python_file.h"

static void look_for_python(int fd)
{
	struct python_file f;

	if (python_file_read(&f, fd, NULL) || !f.layout.version)
		return;
	if (!python_layout_check(&f.layout) || !f.loops || f.loops > PYTHON_LOOPS_MAX)
		abort();
}

/* Packed names are the same, as far as texts can be compared without their copies: by a hash. */
static uint64_t hash_of_names(const struct elf *e, size_t size)
{
	uint64_t hash = 0;
	struct found_symbol f;

	for (uint64_t offset = 0; offset < size; offset += size / 32 + 1)
		if (elf_find(e, offset, &f))
			for (const char *c = f.name; *c; c++)
				hash = hash * 31 + (unsigned char)*c;
	return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = fuzz_file(data, size);
	struct object_facts facts = {0};
	struct stamp stamp = {0};
	struct found_symbol f;
	struct elf e;
	uint64_t names;

	(void)stamp_of(fd, &stamp);
	(void)elf_read(&e, &(struct elf_files){{.fd = fd, .stamp = stamp}, fd, -1}, &facts);
	names = hash_of_names(&e, size);
	(void)elf_find(&e, UINT64_MAX, &f);
	symtab_pack(&e.symbols);
	if (hash_of_names(&e, size) != names)
		abort();
	elf_free(&e);
	look_for_python(fd);
	close(fd);
	return 0;
}
