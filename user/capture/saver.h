/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the stacks to keep (saved.h): a few for every way in which stacks end badly. Each is kept
 * in a file that only its owner can read.
 */
#ifndef SKEIN_CAPTURE_SAVER_H
#define SKEIN_CAPTURE_SAVER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/saved.h"

struct saver;

/*
 * Create a saver; makes the directory if necessary, which then only its owner can read. good: also
 * keep some complete stacks, for tests. Return 0 or a negative errno.
 */
int saver_new(struct saver **out, const char *directory, bool good, struct error *err);
void saver_free(struct saver *s);

/*
 * Keep a stack if it ended badly, unless enough similar ones are kept. A stack ended badly if it
 * broke off, or ended where no thread begins. Return 0, or a negative errno if the stack could not
 * be written.
 */
int saver_offer(struct saver *s, const struct finish_world *world, const struct ended_stack *e,
		struct error *err);

/*
 * Return how many stacks were candidates, and how many of these were kept. Candidates are the
 * stacks that ended badly and can be walked again; with good, also complete stacks.
 */
void saver_get_counts(const struct saver *s, uint64_t *out_seen, uint64_t *out_kept);

#endif
