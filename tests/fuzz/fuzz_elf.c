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

/*
 * Packed names are the same, whether they were in memory or in the file before. Texts can be
 * compared without their copies by a hash.
 */
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

/* Strings that take more than twice their table are not read from the file: that is an error. */
static void check_names_outside(int fd, struct stamp stamp, size_t size, uint64_t names)
{
	const struct elf_files files = {{.fd = fd, .stamp = stamp}, fd, -1, 1};
	struct object_facts facts = {0};
	struct elf e;
	int ret = elf_read(&e, &files, &facts);

	if (!ret && hash_of_names(&e, size) != names)
		abort();
	elf_free(&e);
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
	(void)elf_read(&e, &(struct elf_files){{.fd = fd, .stamp = stamp}, fd, -1, 0}, &facts);
	names = hash_of_names(&e, size);
	(void)elf_find(&e, UINT64_MAX, &f);
	(void)symtab_pack(&e.symbols);
	if (hash_of_names(&e, size) != names)
		abort();
	elf_free(&e);
	check_names_outside(fd, stamp, size, names);
	look_for_python(fd);
	close(fd);
	return 0;
}
