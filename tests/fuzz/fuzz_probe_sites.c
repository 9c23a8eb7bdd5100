// SPDX-License-Identifier: Apache-2.0
/* Find the sites of probes in an ELF file: all notes, all functions, all rows of the table. */
#include "fuzz.h"
#include "symbolizers/probe_sites.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct probe_pattern patterns[] = {
		{.origin = PROBE_NOTE, .provider = "*", .name = "*"},
		{.origin = PROBE_FUNCTION, .name = "*"},
		{.origin = PROBE_RETURN, .name = "*"},
		{.origin = PROBE_FUNCTION, .name = "Class::method"},
	};
	static struct probe_sites found;
	struct probe_wanted w = {.parts = UINT32_MAX, .patterns = patterns, .count = 4, .mask = 15};
	int fd = fuzz_file(data, size);

	for (w.runtime = PROBE_RUNTIME_NONE; w.runtime <= PROBE_RUNTIME_PYTHON; w.runtime++)
		/* what is found passes the check of the privileged process */
		if (probe_sites_find(&found, &w, fd, NULL) == 0 &&
		    !probe_sites_check(&found, size, w.count))
			abort();
	close(fd);
	return 0;
}
