/* SPDX-License-Identifier: Apache-2.0 */
/* The CPythons that are installed, of versions whose layouts are known. */
#ifndef SKEIN_TESTS_PYTHONS_H
#define SKEIN_TESTS_PYTHONS_H

#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/python_file.h"

static const char *const python_places[] = {
	"/usr/bin/python3.[0-9]",
	"/usr/bin/python3.[0-9][0-9]",
	"/usr/local/bin/python3.[0-9][0-9]",
	"/root/.pyenv/versions/3.*/bin/python3",
};

/* Paths of all, of any version. Free with globfree(). */
static inline void pythons_find(glob_t *ret)
{
	*ret = (glob_t){0};
	for (size_t i = 0; i < sizeof(python_places) / sizeof(*python_places); i++)
		(void)glob(python_places[i], i ? GLOB_APPEND : 0, NULL, ret);
}

/* Run a script: what it prints, from "MAJOR MINOR" on, which is read here. NULL: not 3.8 to 3.x. */
static inline FILE *python_run(const char *python, const char *script, int *ret_minor)
{
	char command[512];
	int major;
	FILE *f;

	ck_assert_int_lt(snprintf(command, sizeof(command), "%s -I %s", python, script),
			 (int)sizeof(command));
	f = popen(command, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_msg(fscanf(f, "%d %d\n", &major, ret_minor) == 2, "%s", python);
	if (major == 3 && *ret_minor >= 8)
		return f;
	pclose(f);
	return NULL;
}

#endif
