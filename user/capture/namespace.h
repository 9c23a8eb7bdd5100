/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates between the numbers that threads have in the recorder's pid namespace (own numbers)
 * and those in the initial namespace (global numbers), with the help of bpf/namespace.bpf.c. In the
 * initial namespace both are the same, and no BPF program is loaded.
 */
#ifndef SKEIN_CAPTURE_NAMESPACE_H
#define SKEIN_CAPTURE_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/numbers.h"

struct namespace;

/*
 * Find the recorder's pid namespace. -EXDEV: /proc shows the processes of another namespace.
 */
int namespace_new(struct namespace **out, struct error *err);
void namespace_free(struct namespace *n);

/* In the functions below, n may be NULL where nothing is translated, except to attach and drain. */

/* Return the namespace for other BPF programs; its level is 0 in the initial one. */
struct wire_namespace namespace_wire(const struct namespace *n);

/* Called when a thread outside of the namespace gets another name, at time, ns. */
typedef int (*namespace_renamed)(void *context, struct own_numbers of, uint64_t time,
				 const char *comm);
/* Also follow threads outside of the namespace. Call this before namespace_load(). */
void namespace_include_outside(struct namespace *n, namespace_renamed renamed, void *context);
/* Load the programs, if the namespace is not the initial one. */
int namespace_load(struct namespace *n, struct error *err);

/*
 * Attach the hooks, and list the threads that are alive. Threads that are born from here on are
 * known before any other record about them is read.
 */
int namespace_attach(struct namespace *n, struct error *err);

/*
 * Take what the hooks have sent; after a loss, list all threads again. Call this after the records
 * that are to be translated have been read, or before. now: ns. Return 0 or a negative errno.
 */
int namespace_drain(struct namespace *n, uint64_t now);

/*
 * Translate global numbers; pid 0: not known. Threads outside of the namespace have numbers with
 * NUMBER_OUTSIDE: unless they are included, all the same one, NUMBER_OUTSIDE. In the initial
 * namespace the pid stays 0 if it is not known.
 */
struct own_numbers namespace_own(const struct namespace *n, uint32_t pid, uint32_t tid);
/*
 * Return the name of a thread by its own tid: for NUMBER_OUTSIDE, the present one; for a thread of
 * the namespace, the one that it was born with; "" if it is unknown.
 */
const char *namespace_comm(const struct namespace *n, uint32_t own);
/* Return the global number of an own pid or tid; 0 if it is unknown. */
uint32_t namespace_global(const struct namespace *n, uint32_t own);
/* Return a number that changes whenever a global tid may belong to another thread than before. */
uint64_t namespace_generation(const struct namespace *n);

#endif
