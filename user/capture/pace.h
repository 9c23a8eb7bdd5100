/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when the recorder reads its rings. The runs of the recorder must not follow the sampling
 * clock: a run that started at a tick and was shorter than a period would never be sampled, and the
 * threads that it displaced would be sampled too often. So the intervals are random, and a wake-up
 * by a sample is followed by a pause of a random part of a period.
 */
#ifndef SKEIN_CAPTURE_PACE_H
#define SKEIN_CAPTURE_PACE_H

#include <stdint.h>

#include "bpf/event.h"

/* Result of the last read of the rings. */
enum pace_finding {
	PACE_QUIET, /* no process began, mapped a file or ended */
	/* processes began, mapped files or ended; nothing that may soon be gone is missing */
	PACE_LIFE,
	/* something that may soon be gone is missing: files, tables, names of Python code */
	PACE_LACKING,
};

/* What is read, and who else reads it. */
enum pace_source {
	PACE_RINGS, /* rings, which wake the recorder when they fill */
	PACE_TICKED_RINGS, /* the same, and every tick of the recorder reads them */
	PACE_ARRAYS, /* the arrays of switches, too, which fill without waking the recorder */
};

struct pace {
	uint64_t period; /* period of the sampling clock, ns; 0: there are no clock samples */
	enum pace_source source;
	uint64_t next; /* time of the next read, ns */
	/*
	 * until this time, ns, the rings are read at the shortest intervals, because something that
	 * may soon be gone is missing
	 */
	uint64_t attentive;
	/*
	 * until this time, ns, the rings are read at short intervals, because processes have begun
	 * or mapped files and the walkers need the new mappings
	 */
	uint64_t lively;
	uint64_t random; /* state of the random generator */
};

/*
 * Initialize a pace; the first read is due at once. now: ns of the clock that all times of a pace
 * use. seed: any number that differs between runs.
 */
void pace_start(struct pace *p, uint64_t period, enum pace_source source, uint64_t now,
		uint64_t seed);

/* Choose the time of the next read (next), after the rings have been read at the time now. */
void pace_rings_read(struct pace *p, uint64_t now, enum pace_finding found);

/*
 * Return how long the recorder is going to sleep, for program_set_sleep(): on this depend the
 * samples for which the BPF programs wake the recorder.
 */
enum wire_sleep pace_sleep_kind(const struct pace *p, uint64_t now);

/*
 * Return how long to pause after a wake-up by a sample, ns: uniform below one period of the
 * sampling clock, and below 100 ms.
 */
uint64_t pace_pause(struct pace *p);

#endif
