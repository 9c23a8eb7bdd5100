/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks: one perf event per CPU that runs the sampling program. Says what
 * was due: the event's own count over its period.
 */
#ifndef SKEIN_CAPTURE_SAMPLER_H
#define SKEIN_CAPTURE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/program.h"

struct sampled_event {
	const char *name; /* static */
	const char *unit; /* static: ns or count */
	uint32_t type, config; /* of struct perf_event_attr */
	bool clocked; /* a clock: the weight is time, and idle time is due too */
	uint64_t period; /* in the unit */
	uint64_t frequency; /* Hz as asked for, 0 if the period was */
};

/*
 * Fill *ret for an event by name, at frequency (Hz) or period (one of them 0).
 * -EINVAL with a line in *err if there is no such event or the rate is impossible.
 */
int sampled_event_find(struct sampled_event *ret, const char *name, uint64_t frequency,
		       uint64_t period, struct error *err);

struct sampler;

/* Whether an event can be opened on any of so many CPUs: 0, or why not. */
int sampled_event_try(const struct sampled_event *e, unsigned int cpus, struct error *err);

int sampler_new(struct sampler **ret, const struct sampled_event *event, struct program *program,
		struct error *err);
void sampler_free(struct sampler *s);

/* Open and start the event of a CPU; nothing if it runs. -ENODEV: the CPU is offline. */
int sampler_open_cpu(struct sampler *s, unsigned int cpu, struct error *err);
/* Stop a CPU's event, keep what was due on it. */
void sampler_close_cpu(struct sampler *s, unsigned int cpu);
/* Stop all, at the end of the recording. */
void sampler_stop(struct sampler *s);

bool sampler_runs_on(const struct sampler *s, unsigned int cpu);

/* What became of the samples due on a CPU, over all intervals in which its event ran. */
struct cpu_account {
	bool used; /* the event ran on this CPU at some time */
	uint64_t due, written, filtered, idle, ring_full;
	uint64_t stolen, delayed, skipped; /* see struct wire_account */
	uint64_t intervals; /* in which the event ran; each may round one sample away */
};

/*
 * Exact after sampler_stop(), a moment old before. While an event runs its
 * CPU is interrupted to tell what is due: not for every round of the loop.
 */
void sampler_account(const struct sampler *s, unsigned int cpu, struct cpu_account *ret);

/* The same but for due, which is left 0; disturbs nobody. */
void sampler_counts(const struct sampler *s, unsigned int cpu, struct cpu_account *ret);

#endif
