// SPDX-License-Identifier: Apache-2.0
/* Read the first bytes of _PyRuntime, which come from a file or another process. */
#include "fuzz.h"
#include "symbolizers/python_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct python_layout l;

	if (!python_layout_from_offsets(&l, data, size) && !python_layout_check(&l))
		abort();
	return 0;
}
