/* SPDX-License-Identifier: Apache-2.0 */
/* Look up a rule in an unwind table, as the BPF walker does it. */
#ifndef SKEIN_TESTS_TABLE_FIND_H
#define SKEIN_TESTS_TABLE_FIND_H

#include "symbolizers/unwind/table.h"

/* The rule at a file offset; NULL where the table has none. */
static inline const struct unwind_rule *unwind_table_find(const struct unwind_table *t,
							  uint64_t offset)
{
	uint64_t number = offset >> UNWIND_PAGE_SHIFT;
	uint32_t key = UNWIND_ROW(offset & (UNWIND_PAGE_SIZE - 1), UINT16_MAX), low = 0, high;
	const struct unwind_page *page;
	const uint32_t *rows;

	if (number < t->header->first_page || number - t->header->first_page >= t->header->pages)
		return NULL;
	page = &t->pages[number - t->header->first_page];
	rows = t->rows + page->first;
	for (high = page->count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (rows[middle] <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &t->rules[UNWIND_ROW_RULE(rows[low - 1])] : NULL;
}

#endif
