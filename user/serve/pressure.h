/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long some thread of the machine has waited for a resource: /proc/pressure (PSI). It is read
 * now and then instead of left to the kernel to report (poll() on the file): that needs
 * CAP_SYS_RESOURCE for times that are no multiple of 2 s, which the service does not have, and the
 * service looks several times a second anyway.
 */
#ifndef SKEIN_SERVE_PRESSURE_H
#define SKEIN_SERVE_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "serve/readings.h"

/* A resource's pressure over the last time ns. */
struct pressure {
	int file; /* descriptor; -1: none */
	struct readings readings; /* of all waiting */
};

/* Open the file of a resource: cpu, io or memory. Return 0 or a negative errno. */
int pressure_open(struct pressure *p, const char *resource, uint64_t time, struct error *err);
void pressure_close(struct pressure *p);
/*
 * Read the file at now, ns. Return whether some thread has waited in more than percent of the last
 * time, and had not at the reading before. A file that cannot be read has no pressure.
 */
bool pressure_read(struct pressure *p, uint64_t now, uint64_t percent);

#endif
