/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the processes and threads that the user requested by pid or tid. */
#ifndef SKEIN_CAPTURE_SELECT_H
#define SKEIN_CAPTURE_SELECT_H

#include "capture/capture.h"
#include "capture/namespace.h"
#include "capture/program.h"

/*
 * Check the requested ids. Return 0, or -ESRCH: err names the first pid that is no process, or tid
 * that is no thread.
 */
int select_check(const struct capture_targets *o, struct error *err);

/*
 * Select the requested processes and threads, and the descendants that the processes already have.
 * Call this after the fork hook is attached, which selects children that are born meanwhile. Return
 * 0 or a negative errno.
 */
int select_targets(struct program *p, struct namespace *n, const struct capture_targets *o,
		   struct error *err);

#endif
