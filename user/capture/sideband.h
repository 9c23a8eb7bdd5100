/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of records about the life of processes: a dummy perf event per CPU that reports
 * mappings, names, forks, exits and kernel symbols.
 */
#ifndef SKEIN_CAPTURE_SIDEBAND_H
#define SKEIN_CAPTURE_SIDEBAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/order.h"

struct sideband;

/*
 * Create a side-band. bytes: size of each CPU's ring, a power of two of pages. order, which gets
 * the records, must outlive the side-band. Return 0 or a negative errno.
 */
int sideband_new(struct sideband **out, struct order *order, uint64_t bytes, struct error *err);
void sideband_free(struct sideband *s);

/*
 * Open the event of a CPU. Return 0, also if the event is already open; -ENODEV if the CPU is
 * offline; or another negative errno.
 */
int sideband_open_cpu(struct sideband *s, unsigned int cpu, struct error *err);
/*
 * Return whether the CPU went offline since the last check, even if only for a while: its event has
 * then stopped for good. A call within 100 ms of the last check returns false. ticked: an event of
 * the same CPU has run since the last call, which makes the check cheaper. now: ns of
 * CLOCK_MONOTONIC.
 */
bool sideband_stopped(struct sideband *s, unsigned int cpu, bool ticked, uint64_t now);
/*
 * Move the records that are left in the ring of a CPU that went offline into the order, and close
 * its event.
 */
void sideband_close_cpu(struct sideband *s, unsigned int cpu);

/* Return the descriptor of a CPU's event for epoll, -1 if there is none. */
int sideband_fd(const struct sideband *s, unsigned int cpu);

/* Move the records of all rings into the order. now: ns of CLOCK_BOOTTIME. Return 0 or -ENOMEM. */
int sideband_drain(struct sideband *s, uint64_t now);
/* Return whether the last drain found no records. */
bool sideband_is_quiet(const struct sideband *s);

/*
 * Set a callback for records of mappings, called when such a record is drained, before it is in
 * order. The callback gets the decoded record, whose text is only valid during the call, and its
 * time in ns. The callback returns 0 or -ENOMEM.
 */
struct life_record;
typedef int (*sideband_prefetcher)(void *context, const struct life_record *mapping, uint64_t time);
void sideband_set_prefetcher(struct sideband *s, sideband_prefetcher prefetch, void *context);

/*
 * Return two numbers of records since the last call: those that the kernel could not deliver, and
 * those that were malformed or had a time in the future.
 */
void sideband_take_losses(struct sideband *s, uint64_t *out_lost, uint64_t *out_malformed);

#endif
