// SPDX-License-Identifier: Apache-2.0
/*
 * Look up lines in line tables: a byte that chooses the kind, one for the first line, then the
 * table.
 */
#include "fuzz.h"
#include "symbolizers/python_code.h"

#define UNITS 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t first_line, line, units = 0;
	uint8_t kind, *table;

	if (size < 2)
		return 0;
	kind = data[0] % (PYTHON_LINES_COUNT + 1);
	first_line = data[1] < 128 ? data[1] : INT32_MAX - (data[1] & 127);
	size -= 2;
	/* A separate allocation, so that the sanitizer sees reads beyond its end. */
	table = malloc(size + !size);
	if (!table)
		abort();
	for (size_t i = 0; i < size; i++)
		table[i] = data[2 + i];
	for (uint32_t unit = 0; unit < UNITS; unit += 1 + unit / 16) {
		line = python_line_of(kind, table, size, first_line, unit);
		if (line > INT32_MAX)
			abort();
		if (line)
			units = unit + 1;
	}
	/* An entry covers at most 127 units (pairs of bytes) or 8 units. */
	if (kind != PYTHON_LINES_LNOTAB && units > 128 * size)
		abort();
	(void)python_line_of(kind, table, size, first_line, UINT32_MAX - 1);
	if (python_line_of(kind, table, size, first_line, UINT32_MAX) != first_line)
		abort();
	free(table);
	return 0;
}
