/* SPDX-License-Identifier: Apache-2.0 */
/* Samples with functions whose names were still being read when the recording ended. */
#ifndef SKEIN_ANALYZE_UNREADY_H
#define SKEIN_ANALYZE_UNREADY_H

#include "analyze/profile.h"

/* How many samples of one event have such a frame on their stack. 0 or -ENOMEM. */
int unready_of(uint64_t *ret, const struct profile *p, uint32_t event);

#endif
