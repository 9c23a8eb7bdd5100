/* SPDX-License-Identifier: Apache-2.0 */
/* Names of hostile processes as values of labels in metrics. */
#ifndef SKEIN_SERVE_LABEL_H
#define SKEIN_SERVE_LABEL_H

#include <stdio.h>

#define LABEL_MAX 120 /* bytes of a name that is shown whole */

/*
 * Write a name between quotes, as both text formats of Prometheus want it. Different names stay
 * different: one that is cut, or has bytes that are replaced, ends with a hash of all its bytes.
 */
void label_write(FILE *out, const char *name);

#endif
