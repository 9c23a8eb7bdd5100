/* SPDX-License-Identifier: Apache-2.0 */
/* Load saved stacks from files. */
#ifndef SKEIN_TESTS_SAVED_H
#define SKEIN_TESTS_SAVED_H

#include <errno.h>
#include <stdio.h>

#include "capture/saved.h"

#define SAVED_FILE_MAX (256 << 10)

/* Load a saved stack. 0, or a negative errno with the cause in *err. */
static inline int saved_load(struct saved_stack **ret, const char *path, struct error *err)
{
	static char text[SAVED_FILE_MAX];
	FILE *in = fopen(path, "re");
	size_t size;
	int failed;

	if (!in)
		return error_errno(err, -errno, "opening %s", path);
	size = fread(text, 1, sizeof(text), in);
	failed = ferror(in);
	fclose(in);
	if (failed || size == sizeof(text))
		return error_set(err, -EIO, "%s cannot be read, or is too large", path);
	return saved_read(ret, text, size, err);
}

#endif
