/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of a total of time that only grows, and by how much it grew over the last time. */
#ifndef SKEIN_SERVE_READINGS_H
#define SKEIN_SERVE_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#define READINGS_MAX 64

struct readings {
	uint64_t time; /* ns */
	/* the oldest is overwritten by the next; at least time / 32 apart */
	struct {
		uint64_t at, total; /* ns: the time of the reading, and the total then */
	} list[READINGS_MAX];
	uint64_t count; /* number of readings so far */
	bool above; /* the limit was exceeded at the last reading */
};

/*
 * Add a reading at now, ns. Return whether the total grew by more than percent of the last time,
 * and had not at the reading before.
 */
bool readings_add(struct readings *r, uint64_t now, uint64_t total, uint64_t percent);

#endif
