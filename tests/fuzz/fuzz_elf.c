// SPDX-License-Identifier: Apache-2.0
/* An ELF file, which is also offered as its own debug file. */
#include "fuzz.h"
#include "symbolizers/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = fuzz_file(data, size);
	struct object_facts facts = {0};
	struct stamp stamp = {0};
	struct found f;
	struct elf e;

	(void)stamp_of(fd, &stamp);
	(void)elf_read(&e, fd, fd, &stamp, &facts, NULL);
	for (uint64_t offset = 0; offset < size; offset += size / 32 + 1)
		(void)elf_find(&e, offset, &f);
	(void)elf_find(&e, UINT64_MAX, &f);
	elf_free(&e);
	close(fd);
	return 0;
}
