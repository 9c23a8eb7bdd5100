/* SPDX-License-Identifier: Apache-2.0 */
/* skein doctor --probes: the table of probes, and which of them files have. */
#ifndef SKEIN_CMD_DOCTOR_PROBES_H
#define SKEIN_CMD_DOCTOR_PROBES_H

#include <stdbool.h>

#include "cmd/table.h"

/*
 * Print the probes of a file; path NULL: the table, and the probes of the runtimes that run. Return
 * an exit status: 1 if the file could not be searched.
 */
int doctor_probes(const char *path, bool json, const struct screen *s);

#endif
