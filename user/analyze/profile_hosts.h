/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of completing a profile (profile.c): join the common parts of several hosts. */
#ifndef SKEIN_ANALYZE_PROFILE_HOSTS_H
#define SKEIN_ANALYZE_PROFILE_HOSTS_H

#include "analyze/names.h"
#include "analyze/profile.h"

/* Make p->host from p->hosts; new texts are stored in *texts. Return 0 or -ENOMEM. */
int profile_join_hosts(struct profile *p, struct names *texts);

/*
 * Make sums and losses refer to the first event with the same name and unit (profile_event_like()).
 * Accounts keep theirs, since the events may have different periods: see rates.h.
 */
void profile_join_events(struct profile *p);

#endif
