// SPDX-License-Identifier: Apache-2.0
/*
 * skein.so makes the streams of a trace available as tables to any program that uses SQLite, such
 * as its shell (.load) and Python's sqlite3 (load_extension). See docs/queries.md.
 */
#include "extension.h"

#include <stdlib.h>

#include "trace/vtab.h"

SQLITE_EXTENSION_INIT1

#define OLDEST_SQLITE 3039000 /* the first version with sqlite3_db_name() */

/*
 * SQL function skein_skip_damage(on): from now on leave out damaged records (1), or end the query
 * at the first one (0). Return the number of records left out so far.
 */
static void sql_skip_damage(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct stream_damage *damage = sqlite3_user_data(context);

	(void)argc;
	damage->refuse = !sqlite3_value_int(argv[0]);
	damage->query++;
	sqlite3_result_int64(context, (sqlite3_int64)damage->records);
}

/* SQLite requires this name: sqlite3_NAME_init() for NAME.so. */
__attribute__((visibility("default"))) int sqlite3_skein_init(sqlite3 *db, char **message,
							      const sqlite3_api_routines *api);

int sqlite3_skein_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
	struct stream_damage *damage;
	int ret;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < OLDEST_SQLITE) {
		*message = sqlite3_mprintf("skein needs SQLite 3.39 or newer");
		return SQLITE_ERROR;
	}
	damage = calloc(1, sizeof(*damage));
	if (!damage)
		return SQLITE_NOMEM;
	damage->refuse = true;
	damage->query = 1;
	/*
	 * The function owns damage; the tables are freed before the function when the connection
	 * ends.
	 */
	ret = sqlite3_create_function_v2(db, "skein_skip_damage", 1,
					 SQLITE_UTF8 | SQLITE_DIRECTONLY, damage, sql_skip_damage,
					 NULL, NULL, free);
	return ret == SQLITE_OK ? stream_tables_register(db, damage) : ret;
}
