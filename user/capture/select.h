/* SPDX-License-Identifier: Apache-2.0 */
/* The processes and threads that were asked for by number. */
#ifndef SKEIN_CAPTURE_SELECT_H
#define SKEIN_CAPTURE_SELECT_H

#include "capture/capture.h"
#include "capture/program.h"

/* -ESRCH with a line that names the first pid that is no process, or tid that is no thread. */
int select_check(const struct capture_options *o, struct error *err);

/*
 * Select what was asked for, and the children that selected processes have
 * already. Call it when the fork hook is attached: children born meanwhile
 * come by themselves.
 */
int select_targets(struct program *p, const struct capture_options *o, struct error *err);

#endif
