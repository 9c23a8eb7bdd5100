/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a profile does with lines of native code and inlined functions. Parts of profile.c;
 * everybody else finds it done.
 */
#ifndef SKEIN_ANALYZE_INLINED_H
#define SKEIN_ANALYZE_INLINED_H

#include "analyze/names.h"
#include "analyze/profile.h"

/*
 * Order what is inlined by frame and depth, and tell frames the file of their line and, if
 * functions is set, where their inlined functions are. What is not whole is left out.
 */
void inlined_attach(struct profile *p, bool functions);

/*
 * Give each inlined function a frame of its own, within the frame of the function around it, and
 * stacks a node for each of them. Node numbers change. 0, -ENOMEM, or -EOVERFLOW; then nothing is
 * changed.
 */
int inlined_expand(struct profile *p);

/* Name native frames by line: "function (file.c:line)". Texts are kept. 0 or -ENOMEM. */
int inlined_name_lines(struct profile *p, struct names *texts);

#endif
