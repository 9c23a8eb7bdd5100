/* SPDX-License-Identifier: Apache-2.0 */
/* Names that two recordings have in common, whatever was built anew or edited between them. */
#ifndef SKEIN_ANALYZE_DIFF_NAMES_H
#define SKEIN_ANALYZE_DIFF_NAMES_H

#include "analyze/profile.h"

/*
 * The name of a frame without what changes from build to build: a compiler's suffixes (.isra.0,
 * .cold), the version of a symbol (@GLIBC_2.17), the line where a function of Python begins; code
 * without a name goes by its module. The caller frees it; NULL without memory.
 */
char *diff_frame_name(const struct profile *p, uint32_t frame);

#endif
