/* SPDX-License-Identifier: Apache-2.0 */
/* Write folded stacks of one profile or of two. */
#ifndef SKEIN_EXPORT_FOLDED_H
#define SKEIN_EXPORT_FOLDED_H

#include "export/export.h"

/*
 * Write the lines of a profile. common: functions have the names that two recordings have in
 * common (analyze/diff_names.h). Return 0, or a negative errno with the cause in *err; write
 * errors are only kept in out (ferror()).
 */
int folded_write_one(FILE *out, const struct profile *p, bool common,
		     const struct export_options *o, struct error *err);

/*
 * Write two numbers per line, "stack BEFORE AFTER", the format that difffolded.pl writes and
 * flamegraph.pl reads: those of the profile before, and those of p. Errors as for
 * folded_write_one().
 */
int folded_write_two(FILE *out, const struct profile *p, const struct profile *before,
		     const struct export_options *o, struct error *err);

#endif
