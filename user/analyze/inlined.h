/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add lines of native code and inlined functions to a profile. These are steps of profile.c; other
 * code sees the result.
 */
#ifndef SKEIN_ANALYZE_INLINED_H
#define SKEIN_ANALYZE_INLINED_H

#include "analyze/names.h"
#include "analyze/profile.h"

/*
 * Sort the inlined functions by frame and depth. For each native frame with rows, set its source
 * file, the position of its rows and, if functions is set, their number. If a depth is missing, all
 * rows of the frame are ignored.
 */
void inlined_attach(struct profile *p, bool functions);

/*
 * Give each inlined function a frame of its own, and each stack a node for each of these frames.
 * Indexes of stacks change; moved_stacks maps the old indexes to the new ones. Return 0, -ENOMEM or
 * -EOVERFLOW; after an error nothing is changed.
 */
int inlined_expand(struct profile *p);

/*
 * Name native frames whose function, file and line are known by line: "function (file.c:line)". The
 * names are stored in *texts. Return 0 or -ENOMEM.
 */
int inlined_name_lines(struct profile *p, struct names *texts);

#endif
