/* SPDX-License-Identifier: Apache-2.0 */
/* Name what a recording is of, for titles. */
#ifndef SKEIN_ANALYZE_SUBJECT_H
#define SKEIN_ANALYZE_SUBJECT_H

#include "analyze/profile.h"

#define SUBJECT_SIZE 256

/*
 * Write what was selected for the recording: "make (3 arguments)", "nginx (pid 4711)", "threads
 * 'java*'", a control group; "" if everything was, or for several hosts. The text has names of
 * programs as they are, which must be cleaned or escaped. Return buf.
 */
char *profile_subject(const struct profile *p, char buf[static SUBJECT_SIZE]);

/* Return the value of the first info with a key (base/record.h); NULL: there is none. */
const char *profile_info(const struct profile *p, const char *key);

/* Return for how long the recording was paused, ns. */
uint64_t profile_paused(const struct profile *p);
/*
 * Return why the flight recorder has written the trace, as it is in the trace, and set *at to when
 * that happened, ns; NULL if it has not.
 */
const char *profile_trigger(const struct profile *p, uint64_t *at);

#endif
