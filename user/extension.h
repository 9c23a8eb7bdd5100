/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included first into every file of the loadable extension: SQLite's functions
 * are those of the program that loads it.
 */
#ifndef SKEIN_EXTENSION_H
#define SKEIN_EXTENSION_H

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

#endif
