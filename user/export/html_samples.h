/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of a recording with their times, so that a page without a server can make the flame
 * graph of a part of the time.
 */
#ifndef SKEIN_EXPORT_HTML_SAMPLES_H
#define SKEIN_EXPORT_HTML_SAMPLES_H

#include "base/pipe.h"
#include "base/vector.h"

/* A sample, or all samples of a slot of time that differ in nothing else. */
struct html_sample {
	uint64_t time; /* ns after the begin of what is shown; or the number of the slot */
	uint64_t event, thread, stack; /* ids */
	uint64_t count, weight;
	uint16_t flags, wait; /* SAMPLE_FLAG_COLLECTING or none, enum wait_class */
};

struct html_samples {
	uint64_t begin, end; /* time stamps of what is shown, ns */
	size_t most; /* samples, beyond which they are added up by slots */
	uint64_t slot; /* length of a slot, ns; 0: each sample has its own time */
	VECTOR(struct html_sample) list; /* in the order of their times when they are read */
};

/*
 * Read the samples of a source. out->begin, end and most are set, the rest is zeroed; the caller
 * frees the list also after an error. Return 0, or a negative errno with the cause in *err: -E2BIG
 * if there are too many even for the longest slots.
 */
int html_samples_read(struct html_samples *out, struct source *from, struct error *err);

#endif
