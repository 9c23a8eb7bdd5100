// SPDX-License-Identifier: Apache-2.0
/* Tests of the search for debug files that are installed: user/cmd/package.c. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "cmd/package.h"
#include "suite.h"

START_TEST(no_build_id_is_no_path)
{
	ck_assert(!package_has_debug_file(""));
	ck_assert(!package_has_debug_file("abc"));
	ck_assert(!package_has_debug_file("../../../../etc/passwd"));
	ck_assert(!package_has_debug_file("00000000000000000000000000000000000000000000"));
}
END_TEST

/* Any debug file of this machine is found by its build-id; without one there is nothing to find. */
START_TEST(what_is_installed_is_found)
{
	static const char folder[] = "/usr/lib/debug/.build-id";
	DIR *all = opendir(folder), *one = NULL;
	struct dirent *begin, *rest;
	char path[512], id[512];
	unsigned int found = 0;

	while (all && !one && (begin = readdir(all))) {
		snprintf(path, sizeof(path), "%s/%s", folder, begin->d_name);
		one = strlen(begin->d_name) == 2 && *begin->d_name != '.' ? opendir(path) : NULL;
	}
	while (one && (rest = readdir(one))) {
		size_t length = strcspn(rest->d_name, ".");

		if (strcmp(rest->d_name + length, ".debug"))
			continue;
		snprintf(id, sizeof(id), "%.2s%.*s", begin->d_name, (int)length, rest->d_name);
		ck_assert_msg(package_has_debug_file(id), "%s", id);
		found++;
	}
	if (one) {
		ck_assert_uint_gt(found, 0);
		closedir(one);
	}
	if (all)
		closedir(all);
}
END_TEST

SUITE("package", no_build_id_is_no_path, what_is_installed_is_found)
