// SPDX-License-Identifier: Apache-2.0
/*
 * source_places FILE [DEBUG [COMMON]]: read file offsets in hexadecimal from stdin, one per line,
 * and print for each "0xOFFSET", then the linkage name and file:line of every function there,
 * innermost first. "-" for DEBUG or COMMON means none. --memory BYTES must come first.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizers/dwarf_places.h"

static int open_file(int argc, char **argv, int at)
{
	return at < argc && strcmp(argv[at], "-") ? open(argv[at], O_RDONLY | O_CLOEXEC) : -1;
}

static void print_place(const struct dwarf_place *p)
{
	printf("%s\n", *p->name ? p->name : "??");
	if (*p->file && *p->file != '/' && *p->folder == '/')
		printf("%s/", p->folder);
	printf("%s:%u\n", *p->file ? p->file : "??", p->line);
}

static void answer(struct dwarf_places *places)
{
	struct dwarf_place found[SOURCE_PLACES_MAX];
	uint64_t offset;

	while (scanf("%" SCNx64, &offset) == 1) {
		unsigned int count = dwarf_places_find(places, offset, found);

		printf("0x%" PRIx64 "\n", offset);
		for (unsigned int i = 0; i < count; i++)
			print_place(&found[i]);
	}
}

int main(int argc, char **argv)
{
	uint64_t budget = 1ull << 30;
	struct dwarf_places places;
	struct source_facts facts = {.status = 0};
	struct elf_files files;
	int rc;

	if (argc > 2 && !strcmp(argv[1], "--memory")) {
		budget = strtoull(argv[2], NULL, 10);
		argv += 2;
		argc -= 2;
	}
	files = (struct elf_files){{.fd = open_file(argc, argv, 1)},
				   open_file(argc, argv, 2),
				   open_file(argc, argv, 3),
				   0};
	if (files.file.fd < 0 || stamp_of(files.file.fd, &files.file.stamp) < 0)
		return 2;
	rc = dwarf_places_open(&places, &files, budget, &facts);
	if (rc == 0)
		answer(&places);
	else
		fprintf(stderr, "%s; needed %" PRIu64 "\n", strerror(-rc), facts.needed);
	if (facts.split || facts.wants_debug || facts.wants_common)
		fprintf(stderr, "split %u, wants debug %d, wants common %d\n", facts.split,
			facts.wants_debug, facts.wants_common);
	dwarf_places_close(&places);
	return rc ? 1 : 0;
}
