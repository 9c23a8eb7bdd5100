/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stacks are kept (saved.h), and where: a few of every way to end badly,
 * in a directory that nobody else can look into.
 */
#ifndef SKEIN_CAPTURE_SAVER_H
#define SKEIN_CAPTURE_SAVER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/saved.h"

struct saver;

/*
 * The directory is made if it is not there. good: keep some of those that are whole, too, as
 * tests need them. 0 or a negative errno.
 */
int saver_new(struct saver **ret, const char *directory, bool good, struct error *err);
void saver_free(struct saver *s);

/*
 * Keep it if it ended badly, unless there are enough like it. A stack is bad if it broke off, or
 * ended where no thread begins. 0, or a negative errno if it could not be written.
 */
int saver_see(struct saver *s, const struct finish_world *world, const struct ended_stack *e,
	      struct error *err);

/* Stacks that would have been kept, and those that were. */
void saver_counts(const struct saver *s, uint64_t *ret_seen, uint64_t *ret_kept);

#endif
