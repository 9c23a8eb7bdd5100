/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every file of the loadable extension includes this file first, so that SQLite's functions are
 * those of the program that loads the extension.
 */
#ifndef SKEIN_EXTENSION_H
#define SKEIN_EXTENSION_H

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

#endif
