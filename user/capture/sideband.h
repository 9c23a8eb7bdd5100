/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of processes, from one source: a dummy perf event per CPU that
 * reports mappings, names, forks, exits and kernel symbols.
 */
#ifndef SKEIN_CAPTURE_SIDEBAND_H
#define SKEIN_CAPTURE_SIDEBAND_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/opener.h"
#include "capture/order.h"

struct sideband;

/* bytes: of each CPU's ring, a power of two of pages. */
int sideband_new(struct sideband **ret, struct order *order, uint64_t bytes, struct error *err);
void sideband_free(struct sideband *s);

/* Open the event of a CPU. 0 if it is open already; -ENODEV if the CPU is offline. */
int sideband_open_cpu(struct sideband *s, unsigned int cpu, struct error *err);
/* The CPU went offline since the last call, perhaps only for a while: its event is dead. */
bool sideband_stopped(struct sideband *s, unsigned int cpu, uint64_t now);
/* The CPU went offline: read what is left and close. */
void sideband_close_cpu(struct sideband *s, unsigned int cpu);

/* Descriptor of a CPU's event for epoll, -1 if it has none. */
int sideband_fd(const struct sideband *s, unsigned int cpu);

/* Move what is in the rings into the order. now: CLOCK_BOOTTIME. 0 or -ENOMEM. */
int sideband_drain(struct sideband *s, uint64_t now);
/* Whether the last drain found nothing. */
bool sideband_is_quiet(const struct sideband *s);

/*
 * Have foresee called for mappings as soon as they are drained, before they are in order: the
 * decoded record, whose text is not to be kept, and its time.
 */
struct life;
typedef void (*sideband_foresight)(void *context, const struct life *mapping, uint64_t time);
void sideband_foresee(struct sideband *s, sideband_foresight foresee, void *context);

/*
 * Records that the kernel could not deliver since the last call, and that
 * were malformed.
 */
uint64_t sideband_take_lost(struct sideband *s);
uint64_t sideband_take_malformed(struct sideband *s);

/* A record decoded. Texts point into the record. */
enum life_kind { LIFE_MMAP, LIFE_COMM, LIFE_FORK, LIFE_EXIT, LIFE_KSYMBOL, LIFE_OTHER };

struct life {
	enum life_kind kind;
	uint32_t pid, tid;
	uint32_t parent_pid, parent_tid; /* fork, exit */
	uint64_t start, end, offset; /* mmap; ksymbol: start and end */
	struct file_id file;
	int exec; /* comm: the name of a new program */
	int unregistered; /* ksymbol: it is gone */
	const char *text; /* path, name or symbol */
};

/*
 * When a record was written, ns of the event's clock. 0 or -EBADMSG. It is at the record's end, but
 * in those of kernel symbols: of these, Linux counts what follows every record once more for each
 * event that it tells, and what the ring held before stands behind it.
 */
int life_time(uint64_t *ret, const struct perf_event_header *h);

/* 0, or -EBADMSG if the record makes no sense. */
int life_decode(struct life *ret, const void *data, uint32_t size);

#endif
