// SPDX-License-Identifier: Apache-2.0
/* Read a perf map while it grows, and look up every address in it. */
#include "fuzz.h"
#include "symbolizers/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object_facts facts = {0};
	int fd = fuzz_file(data, size / 2);
	struct perfmap m = {0}, whole = {0};
	struct found_symbol f, g;

	if (perfmap_read(&m, fd, &facts, NULL) < 0)
		abort();
	(void)perfmap_find(&m, 0, &f);
	if (pwrite(fd, data, size, 0) != (ssize_t)size || perfmap_read(&m, fd, &facts, NULL) < 0 ||
	    perfmap_read(&whole, fd, &facts, NULL) < 0)
		abort();
	/* Reading in two parts or at once gives the same. */
	if (m.symbols.ranges.count != whole.symbols.ranges.count || m.bad_lines != whole.bad_lines)
		abort();
	for (size_t i = 0; i < m.symbols.ranges.count; i++) {
		uint64_t address = m.symbols.ranges.items[i].start;

		if (!perfmap_find(&m, address, &f) || !perfmap_find(&whole, address, &g) ||
		    f.start != g.start || address - f.start >= f.size)
			abort();
	}
	perfmap_free(&m);
	perfmap_free(&whole);
	close(fd);
	return 0;
}
