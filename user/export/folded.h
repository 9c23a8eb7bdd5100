/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks of one profile and of two. */
#ifndef SKEIN_EXPORT_FOLDED_H
#define SKEIN_EXPORT_FOLDED_H

#include "export/export.h"

/*
 * The lines of a profile. common: functions go by the names that two recordings have in common
 * (analyze/diff_names.h). 0, or a negative errno with the cause; errors of out stay with it.
 */
int folded_write_one(FILE *out, const struct profile *p, bool common,
		     const struct export_options *o, struct error *err);

/*
 * Two numbers a line, "stack BEFORE AFTER", as difffolded.pl makes them and flamegraph.pl draws
 * them. normalize: BEFORE is scaled, so that both columns have about the same total.
 */
int folded_write_two(FILE *out, const struct profile *p, const struct profile *before,
		     bool normalize, const struct export_options *o, struct error *err);

#endif
