/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attaches probes to files, and drains the ring buffers of their hits. All processes that map a
 * file hit its probes, also those that start later.
 */
#ifndef SKEIN_CAPTURE_PROBES_H
#define SKEIN_CAPTURE_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/probes.h"
#include "capture/objects.h"
#include "capture/order.h"
#include "capture/program.h"
#include "symbolizers/probe_sites.h"

struct probes;

struct probes_options {
	struct program *program; /* whose selection holds for probes, too */
	struct order *order; /* gets the hits; must outlive the probes */
	/* rows of the user's probes, in the order of the patterns of the symbolizer */
	const struct probe_row *rows;
	unsigned int row_count;
	/* attach one by one as perf events, as before Linux 6.6 */
	bool one_by_one;
	/*
	 * called when a hit that wakes the consumer is drained, before it is in order: one of
	 * PROBE_START or PROBE_STOP, at a time, ns
	 */
	void (*cue)(void *context, enum probe_meaning meaning, uint64_t time);
	void *context;
	bool stacks; /* the program takes the stacks of hits */
};

/* What became of the sites of a file. */
struct probes_attached {
	unsigned int attached, refused;
	unsigned int slow; /* of those attached: hits are single-stepped */
	/* of the first site that the kernel refused: a negative errno; 0: none */
	int error;
};

/* A site to which a probe is attached. */
struct probes_place {
	const struct probe_row *row;
	const char *label; /* of a probe of the user; NULL: of the table */
	uint64_t offset; /* in its file */
	/* time (ns) at which all sites of the file were attached: earlier hits do not pair */
	uint64_t since;
	uint8_t count; /* of arguments */
	bool texts;
};

/* Load the program, and make the rings. Return 0 or a negative errno. */
int probes_load(struct probes **out, const struct probes_options *o, struct error *err);
void probes_free(struct probes *p);

/*
 * Attach the sites that are not refused; those that the kernel refuses are marked so in *sites.
 * fd: the file, which the caller keeps. file: identifies it; sites that were attached to it before
 * are detached. Return 0; -ENOSPC: too many sites; or another negative errno if nothing could be
 * attached.
 */
int probes_attach(struct probes *p, int fd, const struct file_id *file, struct probe_sites *sites,
		  struct probes_attached *out);
/* Return whether sites are attached one by one, which is slow to undo. */
bool probes_one_by_one(const struct probes *p);

/*
 * Move the hits into the order, a bounded batch per ring. now: ns. Return 0 or -ENOMEM.
 */
int probes_drain(struct probes *p, uint64_t now);
/* Return whether a probe of the user, by the number of its row, is attached anywhere. */
bool probes_has_pattern(const struct probes *p, unsigned int row);
/* Return the descriptor that becomes readable when a hit wakes the consumer; -1: no such ring. */
int probes_ring_fd(const struct probes *p, size_t ring);
/* Return whether the last probes_drain() left hits because it took a full batch from a ring. */
bool probes_has_more(const struct probes *p);
bool probes_owns_ring(const struct probes *p, int ring);
/* Return the place of a hit (struct wire_probe.site); NULL: there is none of this number. */
const struct probes_place *probes_place(const struct probes *p, uint32_t site);
/* Return how many hits were lost since the last call, because a ring was full. */
uint64_t probes_take_lost(struct probes *p);
/* Return how many were lost so far, modulo 2^32 (wire_probe.lost). */
uint32_t probes_lost(const struct probes *p);
/* With stacks of hits: take them from now on, or not. */
void probes_take_stacks(const struct probes *p, bool wanted);
/* Return the state of a CPU, in memory shared with the kernel; cpu: a possible one. */
const struct wire_probe_cpu *probes_cpu(const struct probes *p, unsigned int cpu);
/* Return the CPU time of the programs of all hits so far, without that of stacks, ns. */
uint64_t probes_time_spent(const struct probes *p);
/* Return the bytes of all rings as mapped. */
uint64_t probes_ring_bytes(const struct probes *p);

/* Take no more hits, and begin to detach all sites; probes_free() waits until that is done. */
void probes_stop(struct probes *p);

#endif
