/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Include uthash so that adding an element fails without memory; by default uthash would end the
 * process.
 */
#ifndef SKEIN_BASE_HASH_H
#define SKEIN_BASE_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * Return whether an element, which was zeroed before, could be added to a table: without memory, it
 * is not added. Removing the element does not change the result.
 */
#define HASH_HAS(hh, element) ((element)->hh.tbl != NULL)

/* Move an element of a table to the end of the table's order. This needs no memory. */
#define HASH_TO_END(hh, head, element) \
	do { \
		UT_hash_table *table_ = (element)->hh.tbl; \
		if (!(element)->hh.next) \
			break; \
		if ((element)->hh.prev) \
			HH_FROM_ELMT(table_, (element)->hh.prev)->next = (element)->hh.next; \
		else \
			DECLTYPE_ASSIGN(head, (element)->hh.next); \
		HH_FROM_ELMT(table_, (element)->hh.next)->prev = (element)->hh.prev; \
		HASH_APPEND_LIST(hh, head, element); \
	} while (0)

#endif
