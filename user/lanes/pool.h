/* SPDX-License-Identifier: Apache-2.0 */
/* Put threads on as few lanes as they need. */
#ifndef SKEIN_LANES_POOL_H
#define SKEIN_LANES_POOL_H

#include "lanes/lanes.h"

/*
 * Set numbers[i] to that of the lane, from 1 on, of the thread parts[i]: the smallest that none of
 * the others has when it starts; an end of 0 is none. Return 0, or -ENOMEM with numbers untouched.
 */
int pool_number_threads(const struct lane_part *parts, size_t count, uint32_t *numbers);

#endif
