/* SPDX-License-Identifier: Apache-2.0 */
/* Make the unwind table of a file, as the worker does it. */
#ifndef SKEIN_TESTS_TABLE_OF_FILE_H
#define SKEIN_TESTS_TABLE_OF_FILE_H

#include "files.h"
#include "suite.h"
#include "symbolizers/unwind/table.h"

/* Make the table of a file; the caller frees *bytes. */
static inline struct unwind_table table_of(const char *path, void **bytes)
{
	struct unwind_table table;
	struct stamp stamp;
	size_t size;
	int fd = file_open(path), rc;

	ck_assert_int_eq(stamp_of(fd, &stamp), 0);
	rc = unwind_table_make(bytes, &size, NULL,
			       &(struct stamped_file){.fd = fd, .stamp = stamp});
	ck_assert_msg(!rc, "%s: %d", path, rc);
	ck_assert_int_eq(unwind_table_check(&table, *bytes, size), 0);
	close(fd);
	return table;
}

#endif
