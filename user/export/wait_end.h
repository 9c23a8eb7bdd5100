/* SPDX-License-Identifier: Apache-2.0 */
/* Name who ended a wait, for formats that show each wait. */
#ifndef SKEIN_EXPORT_WAIT_END_H
#define SKEIN_EXPORT_WAIT_END_H

#include "export/timeline.h"

#define WAIT_END_SIZE 96
/*
 * Write who ended a wait into buf, of WAIT_END_SIZE bytes: "name (tid)" or "interrupt: timer"; ""
 * if it is not known. other and flags are those of the wait's sample. text_clean() is not applied.
 * Return buf.
 */
char *wait_ended_by(const struct timeline *t, uint64_t other, uint64_t flags, char *buf);

#endif
