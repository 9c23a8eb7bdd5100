// SPDX-License-Identifier: Apache-2.0
/* Find the attached databases that are traces: those that have the table chunk. */
#include "trace/attached.h"

#include <stdbool.h>
#include <stddef.h>

#define FIRST_ATTACHED 2 /* index after main and temp */

static bool is_trace(sqlite3 *db, const char *name)
{
	return sqlite3_table_column_metadata(db, name, "chunk", "data", NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

static int find_named(sqlite3 *db, const char *name, const char **out, char **message)
{
	const char *each;

	for (int i = 0; (each = sqlite3_db_name(db, i)); i++) {
		if (sqlite3_stricmp(each, name))
			continue;
		if (!is_trace(db, each))
			break;
		*out = each;
		return SQLITE_OK;
	}
	*message = sqlite3_mprintf("no trace is attached as '%s'", name);
	return SQLITE_ERROR;
}

int attached_trace(sqlite3 *db, const char *name, const char **out, char **message)
{
	const char *each, *found = NULL;

	if (name)
		return find_named(db, name, out, message);
	if (!sqlite3_db_name(db, FIRST_ATTACHED)) {
		*out = "main";
		return SQLITE_OK;
	}
	for (int i = 0; (each = sqlite3_db_name(db, i)); i++) {
		if (!is_trace(db, each))
			continue;
		if (found) {
			*message = sqlite3_mprintf("several traces are attached: say which, as in "
						   "sample('%s') or stack('%s')",
						   found, each);
			return SQLITE_ERROR;
		}
		found = each;
	}
	*out = found ? found : "main";
	return SQLITE_OK;
}
