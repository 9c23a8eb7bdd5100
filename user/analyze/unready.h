/* SPDX-License-Identifier: Apache-2.0 */
/* Count samples with functions whose names were still being read when the recording ended. */
#ifndef SKEIN_ANALYZE_UNREADY_H
#define SKEIN_ANALYZE_UNREADY_H

#include "analyze/profile.h"

/*
 * Set *out to the number of samples of one event whose stack has a frame of such a function. Return
 * 0 or -ENOMEM.
 */
int unready_of(uint64_t *out, const struct profile *p, uint32_t event);

#endif
