/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Name frames so that a function has the same name in two recordings, even if files were rebuilt or
 * edited between the recordings.
 */
#ifndef SKEIN_ANALYZE_DIFF_NAMES_H
#define SKEIN_ANALYZE_DIFF_NAMES_H

#include "analyze/profile.h"

/*
 * Return the name of a frame without the parts that change from build to build: a compiler's
 * suffixes (.isra.0, .cold), the version of a symbol (@GLIBC_2.17), the line where a Python
 * function begins. A function without a name is named by its start address, or by its module if the
 * file was rebuilt (see diff_mark_builds()). The caller frees the name; NULL without memory.
 */
char *diff_frame_name(const struct profile *p, uint32_t frame);

/*
 * Mark the mappings of files of which the profiles have different builds; call this before profiles
 * are compared. Builds are compared by build-id, or by size if neither has a build-id. Files are
 * the same if their names without folders are the same. Return 0 or -ENOMEM.
 */
int diff_mark_builds(struct profile *const *profiles, size_t count);

#endif
