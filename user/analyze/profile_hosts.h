/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of completing a profile, see profile.c: what several hosts have in common becomes one. */
#ifndef SKEIN_ANALYZE_PROFILE_HOSTS_H
#define SKEIN_ANALYZE_PROFILE_HOSTS_H

#include "analyze/names.h"
#include "analyze/profile.h"

/* Make p->host of p->hosts; new texts go to texts. 0 or -ENOMEM. */
int profile_join_hosts(struct profile *p, struct names *texts);

/* Sums, accounts and losses are of the first event that theirs is like. */
void profile_join_events(struct profile *p);

#endif
