/* SPDX-License-Identifier: Apache-2.0 */
/* The frames that formats put above a thread's stacks: [container;] process [;thread]. */
#ifndef SKEIN_EXPORT_ROOTS_H
#define SKEIN_EXPORT_ROOTS_H

#include "export/export.h"

#define ROOTS_MAX 3

struct root {
	const char *name; /* the profile's, as raw as it came */
	char suffix[32]; /* "-PID", or nothing */
};

/* Those of a thread by its index, PROFILE_NONE: no thread. As many for every thread. */
unsigned int roots_of(struct root *ret, const struct profile *p, uint32_t thread,
		      const struct export_options *o);

/* Whether samples of more than one event are there, so that a root must tell them apart. */
bool profile_has_several_events(const struct profile *p);

#endif
