/* SPDX-License-Identifier: Apache-2.0 */
/* Find the main program of a profile, for formats that have a place for one. */
#ifndef SKEIN_EXPORT_MAIN_PROGRAM_H
#define SKEIN_EXPORT_MAIN_PROGRAM_H

#include "analyze/profile.h"

/*
 * Find the program file whose processes have the most weight of an event, among the files that have
 * a mapping, and set *out to the index of that mapping; PROFILE_NONE if no such file has weight. If
 * a file has several mappings, prefer the first whose entry in preferred (by mapping index) is not
 * PROFILE_NONE. Return 0 or -ENOMEM.
 */
int main_program_find(uint32_t *out, const struct profile *p, uint32_t event,
		      const uint32_t *preferred);

#endif
