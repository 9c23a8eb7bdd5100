/* SPDX-License-Identifier: Apache-2.0 */
/* The root frames that formats put above a thread's stacks: [container;] process [;thread]. */
#ifndef SKEIN_EXPORT_ROOTS_H
#define SKEIN_EXPORT_ROOTS_H

#include "export/export.h"

#define ROOTS_MAX 3

struct root {
	const char *name; /* belongs to the profile; uncleaned */
	char suffix[32]; /* "-PID" or "" */
};

/*
 * Get the root frames of a thread by its index, PROFILE_NONE for no thread. Return their number,
 * which is the same for every thread.
 */
unsigned int roots_of(struct root *out, const struct profile *p, uint32_t thread,
		      const struct export_options *o);

/*
 * Return whether there are samples of more than one event, which then need a root frame per
 * event.
 */
bool roots_need_events(const struct profile *p);

#endif
