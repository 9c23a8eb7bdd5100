/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording records: the words of -e. */
#ifndef SKEIN_CMD_RECORD_EVENTS_H
#define SKEIN_CMD_RECORD_EVENTS_H

#include "base/vector.h"
#include "capture/capture.h"

#define RECORD_UNSET UINT64_MAX

struct record_events {
	bool given; /* the user has chosen what is recorded */
	const char *event; /* the sampled event; NULL: the default */
	bool sample, sched; /* record samples, record the scheduler; nothing means samples */
	bool waits, all_stacks; /* take stacks of waits; of all of them */
	bool waits_needed; /* not only where the kernel can take them, as with the word all */
	uint64_t wait_period; /* ns; 0: the default */
	bool interrupts;
	uint64_t interrupt_min; /* ns; RECORD_UNSET: the default */
	unsigned int parts; /* enum probe_part */
	struct {
		struct capture_probe list[PROBE_PATTERNS_MAX];
		unsigned int count;
		VECTOR(char *) texts; /* to which list points */
	} user_probes;
};

/* A row of a table of options. in is the type of the options, member their interrupt_min. */
#define INTERRUPT_MIN_OPTION(in, member) \
	{.name = "interrupt-min", .type = OPTION_DURATION, .arg = "TIME", \
	 .help = "With interrupts: show those one by one that took at least this long; all of " \
		 "them are added up. Default: 10us.", \
	 .offset = offsetof(in, member)}

/* Return a word of -e by number; NULL after the last one. */
const char *record_events_word(unsigned int index);
/* Add the words of a list such as cpu,sched. Return 0 or -EINVAL. */
int record_events_parse(struct record_events *o, const char *value, struct error *err);
/*
 * Add a probe, such as usdt:PATH:PROVIDER:NAME, that means something for the recording: PROBE_MARK,
 * PROBE_START or PROBE_STOP. Return 0 or -EINVAL.
 */
int record_events_add_cue(struct record_events *o, const char *value, enum probe_meaning meaning,
			  struct error *err);
/* Return whether a probe of that meaning was added. */
bool record_events_has_cue(const struct record_events *o, enum probe_meaning meaning);
/* Check what belongs together. Return 0 or an exit status, after an error message. */
int record_events_check(const struct record_events *o);
struct capture_waits record_events_waits(const struct record_events *o);
/* The result points into o. */
struct capture_probes record_events_probes(const struct record_events *o);
/* Return whether stacks are sampled. */
bool record_events_sample(const struct record_events *o);
/* Write the words of -e with any of these enum probe_part, such as "gc, jvm". Return buf. */
const char *record_events_show_parts(unsigned int parts, char *buf, size_t size);
void record_events_free(struct record_events *o);

/*
 * Set *out to what a or b names. It points to what they do, so it must not be freed. Return false
 * if there are too many probes; *out then has the first of them.
 */
bool record_events_join(struct record_events *out, const struct record_events *a,
			const struct record_events *b);
/* Return whether a and b name the same. Those with probes of the user count as different. */
bool record_events_equal(const struct record_events *a, const struct record_events *b);

#endif
