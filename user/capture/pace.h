/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the recorder looks at its rings. Its own run must not follow the sampling clock: one that
 * began at a tick and was shorter than a period would never be sampled, and what it displaced would
 * be sampled too often. So the intervals are drawn at random, and a wake-up by a sample is followed
 * by a pause of a random part of a period.
 */
#ifndef SKEIN_CAPTURE_PACE_H
#define SKEIN_CAPTURE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"

/* What the last look at the rings has found. */
enum pace_finding {
	PACE_QUIET, /* no process began, mapped or ended */
	PACE_LIFE,  /* some did, all from files that are known */
	PACE_LACKING, /* something is missing that may be gone soon: files, names of Python code */
};

struct pace {
	uint64_t period; /* of the sampling clock, ns; 0: no clock samples */
	bool filling; /* buffers fill up that wake nobody: those of switches */
	uint64_t next; /* when to look, ns */
	uint64_t attentive; /* until then, ns, the rings are looked at often */
	uint64_t lively; /* until then, ns, processes begin whose mappings the walkers must know */
	uint64_t random; /* state of the generator */
};

/* now: ns, the clock of all times here. seed: anything that differs between runs. */
void pace_start(struct pace *p, uint64_t period, bool filling, uint64_t now, uint64_t seed);

/* The rings have been looked at. */
void pace_looked(struct pace *p, uint64_t now, enum pace_finding found);

/* How far off the next look is for somebody who lacks something. */
enum wire_sleep pace_sleeps(const struct pace *p, uint64_t now);

/* How long to pause after a wake-up by a sample, ns: any part of a period is as likely. */
uint64_t pace_pause(struct pace *p);

#endif
