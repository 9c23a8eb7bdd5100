/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the probes of files, for `skein doctor --probes`. Attaches nothing. */
#ifndef SKEIN_CAPTURE_CHECKUP_PROBES_H
#define SKEIN_CAPTURE_CHECKUP_PROBES_H

#include <stdint.h>

#include "base/error.h"
#include "symbolizers/probe_sites.h"

/* The probes of a file. Texts and sites are valid during the callback. */
struct probes_found {
	const char *path;
	uint64_t processes; /* that map the file now; 0: not counted */
	enum probe_runtime runtime;
	int status; /* 0, or a negative errno: why the file could not be searched */
	/* those of the table, and all other notes: from probe_row_count on */
	const struct probe_sites *sites;
};

/*
 * Report the probes of a file; path NULL: of the files of all language runtimes that run, each
 * once, as far as they are visible here. Return 0 or a negative errno.
 */
int checkup_probes(const char *path, void (*each)(void *context, const struct probes_found *f),
		   void *context, struct error *err);

#endif
