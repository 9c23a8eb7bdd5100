/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording records: the words of -e. */
#ifndef SKEIN_CMD_RECORD_EVENTS_H
#define SKEIN_CMD_RECORD_EVENTS_H

#include "capture/capture.h"

struct record_events {
	const char *event; /* the sampled event; NULL: the default */
	bool sample, sched; /* record samples, record the scheduler; neither means samples */
	bool waits, all_stacks; /* take stacks of waits; of all of them */
	bool waits_needed; /* not only where the kernel can take them, as with the word all */
	uint64_t wait_period; /* ns; 0: the default */
};

/* Return a word of -e by number; NULL after the last one. */
const char *record_events_word(unsigned int index);
/* Add the words of a list such as cpu,sched. Return 0 or -EINVAL. */
int record_events_parse(struct record_events *o, const char *value, struct error *err);
/* Check what belongs together. Return 0 or an exit status, after an error message. */
int record_events_check(const struct record_events *o);
struct capture_waits record_events_waits(const struct record_events *o);

#endif
