/* SPDX-License-Identifier: Apache-2.0 */
/* Which of its programs a profile is about most, for formats that have a place for one. */
#ifndef SKEIN_EXPORT_MAIN_PROGRAM_H
#define SKEIN_EXPORT_MAIN_PROGRAM_H

#include "analyze/profile.h"

/*
 * The mapping of the program file whose processes have the most weight of an event, among those
 * that have a mapping: an index, in *ret, PROFILE_NONE if there is none. Of several mappings of one
 * path, the first whose entry in preferred (by index of mapping) is not PROFILE_NONE goes first.
 * 0 or -ENOMEM.
 */
int main_program(uint32_t *ret, const struct profile *p, uint32_t event, const uint32_t *preferred);

#endif
