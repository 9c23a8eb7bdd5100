/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of language runtimes whose own frames skein does not read (base/runtimes.h): in a stack,
 * their functions are generated code without names, or hidden in the frames of an interpreter.
 */
#ifndef SKEIN_ANALYZE_RUNTIMES_H
#define SKEIN_ANALYZE_RUNTIMES_H

#include "analyze/profile.h"
#include "base/runtimes.h"

/*
 * Mark stacks that were walked to their root, but may lack frames of a runtime, as END_NO_WALKER.
 * p->ends is complete. Return 0 or -ENOMEM.
 */
int runtimes_mark_ends(struct profile *p);

/* For each runtime, the samples of an event that lack names, see runtime.names. */
struct runtime_shares {
	uint64_t samples[RUNTIME_COUNT];
};

/*
 * Count the samples of one event. Samples of a process that has written a perf map, or whose frames
 * of this runtime are read, do not count. Return 0 or -ENOMEM.
 */
int runtime_shares_of(struct runtime_shares *out, const struct profile *p, uint32_t event);

/* Return whether so many of all samples are worth a line in a text: one in a hundred. */
bool runtime_share_matters(uint64_t samples, uint64_t all);

#endif
