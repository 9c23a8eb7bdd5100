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
 * Sort the inlined functions by frame and depth, and set each frame's source file and, if functions
 * is set, the position of its inlined functions. Incomplete rows of a frame are ignored.
 */
void inlined_attach(struct profile *p, bool functions);

/*
 * Give each inlined function a frame of its own, within the frame of the function around it, and
 * stacks a node for each of them. Numbers of nodes change. Return 0, -ENOMEM or -EOVERFLOW; after
 * an error nothing is changed.
 */
int inlined_expand(struct profile *p);

/*
 * Name native frames by line: "function (file.c:line)". The names are stored in *texts. Return 0 or
 * -ENOMEM.
 */
int inlined_name_lines(struct profile *p, struct names *texts);

#endif
