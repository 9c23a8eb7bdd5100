/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the stacks to keep (saved.h): a few of every way to end badly, in a directory that only
 * its owner can read.
 */
#ifndef SKEIN_CAPTURE_SAVER_H
#define SKEIN_CAPTURE_SAVER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/saved.h"

struct saver;

/*
 * Create a saver; makes the directory if necessary. good: also keep some complete stacks, for
 * tests. Return 0 or a negative errno.
 */
int saver_new(struct saver **ret, const char *directory, bool good, struct error *err);
void saver_free(struct saver *s);

/*
 * Keep a stack if it ended badly, unless enough like it are kept. A stack is bad if it broke off,
 * or ended where no thread begins. Return 0, or a negative errno if it could not be written.
 */
int saver_see(struct saver *s, const struct finish_world *world, const struct ended_stack *e,
	      struct error *err);

/* Return how many stacks qualified, and how many were kept. */
void saver_counts(const struct saver *s, uint64_t *ret_seen, uint64_t *ret_kept);

#endif
