/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of the threads of the recorder's pid namespace: their numbers there (own numbers, which
 * users, /proc and side-band records know) and in the initial namespace (global numbers, which BPF
 * programs send).
 */
#ifndef SKEIN_CAPTURE_NUMBERS_H
#define SKEIN_CAPTURE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

struct numbers;

/*
 * Threads outside of the recorder's pid namespace have no number there. User space gives them this
 * more than their global number, which is below 2^22.
 */
#define NUMBER_OUTSIDE (1U << 30)

static inline bool number_is_outside(uint32_t number)
{
	return number & NUMBER_OUTSIDE;
}

/* Return an empty table, or NULL without memory. */
struct numbers *numbers_new(void);
void numbers_free(struct numbers *n);

/*
 * Apply a record of bpf/namespace.bpf.c. Return 1 if it gives a new name to a known thread outside
 * of the namespace, 0, or -ENOMEM.
 */
int numbers_apply(struct numbers *n, const struct wire_number *record);
/*
 * Forget threads that were freed some time before now, ns: records about them that are still
 * waiting for their turn have passed.
 */
void numbers_tidy(struct numbers *n, uint64_t now);
/* Mark all threads that no record has confirmed since time, ns, as freed then. */
void numbers_sweep(struct numbers *n, uint64_t time);

/* Numbers of a thread, with NUMBER_OUTSIDE if it is outside of the namespace. */
struct own_numbers {
	uint32_t pid, tid; /* 0: unknown */
};

/* Find the own numbers of a global tid. */
struct own_numbers numbers_own(const struct numbers *n, uint32_t tid);
/* Return the global number of an own tid (or pid: the tid of its main thread); 0: unknown. */
uint32_t numbers_global(const struct numbers *n, uint32_t own_tid);
/*
 * Return the name of a thread by its global tid, "" if unknown. The name of a thread in the
 * namespace is the one that it had when it was listed or born.
 */
const char *numbers_comm(const struct numbers *n, uint32_t tid);
/* Return a number that changes whenever a global tid may belong to another thread than before. */
uint64_t numbers_generation(const struct numbers *n);

#endif
