// SPDX-License-Identifier: Apache-2.0
/* Read debugging information from an ELF file, which is also its own debug file and common part. */
#include <string.h>

#include "fuzz.h"
#include "symbolizers/dwarf_places.h"

#define BUDGET (16u << 20)
#define OFFSETS 64 /* offsets looked up per file */

static void ask(struct dwarf_places *places, uint64_t offset)
{
	struct dwarf_place found[SOURCE_PLACES_MAX];
	unsigned int count = dwarf_places_find(places, offset, found);
	size_t bytes = 0;

	if (count > SOURCE_PLACES_MAX)
		abort();
	for (unsigned int i = 0; i < count; i++)
		bytes += strlen(found[i].name) + strlen(found[i].declared) + strlen(found[i].file) +
			 strlen(found[i].folder);
	if (bytes == SIZE_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = fuzz_file(data, size);
	struct elf_files files = {{.fd = fd}, fd, fd};
	struct source_facts facts = {.status = 0};
	struct dwarf_places places;

	(void)stamp_of(fd, &files.file.stamp);
	if (dwarf_places_open(&places, &files, BUDGET, &facts) == 0)
		for (uint64_t offset = 0; offset < size; offset += size / OFFSETS + 1)
			ask(&places, offset);
	dwarf_places_close(&places);
	close(fd);
	return 0;
}
