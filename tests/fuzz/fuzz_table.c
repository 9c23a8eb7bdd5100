// SPDX-License-Identifier: Apache-2.0
/* Check unwind tables from a hostile worker, or from a cache that was tampered with. */
#include <string.h>

#include "fuzz.h"
#include "tests/unit/table_find.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *bytes = malloc(size + !size); /* aligned, and reads beyond its end are seen */
	struct unwind_table t;

	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	if (unwind_table_check(&t, bytes, size) == 0) {
		if (t.size != size)
			abort();
		for (uint64_t offset = 0; offset < 1 << 22; offset += 509)
			if (unwind_table_find(&t, offset) && !t.header)
				abort();
		(void)unwind_table_find(&t, UINT64_MAX);
	}
	free(bytes);
	return 0;
}
