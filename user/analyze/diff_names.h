/* SPDX-License-Identifier: Apache-2.0 */
/* Names that two recordings have in common, whatever was built anew or edited between them. */
#ifndef SKEIN_ANALYZE_DIFF_NAMES_H
#define SKEIN_ANALYZE_DIFF_NAMES_H

#include "analyze/profile.h"

/*
 * The name of a frame without what changes from build to build: a compiler's suffixes (.isra.0,
 * .cold), the version of a symbol (@GLIBC_2.17), the line where a function of Python begins. A
 * function without a name goes by where it begins, in a file that was built anew (see
 * diff_mark_builds()) by its module. The caller frees it; NULL without memory.
 */
char *diff_frame_name(const struct profile *p, uint32_t frame);

/*
 * Before profiles are compared: mark the mappings of files of which not all profiles have the same
 * build, by build-id, or by size where there is none. A file is one by its name without folders.
 * 0 or -ENOMEM.
 */
int diff_mark_builds(struct profile *const *profiles, size_t count);

#endif
