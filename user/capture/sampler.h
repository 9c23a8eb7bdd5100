/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling events, clocks or counters: on each CPU one perf event for each rate, which runs the
 * sampling program. Also computes how many samples were due: for a clock its enabled time divided
 * by its period, for a counter its count divided by its period.
 *
 * One event of a CPU is enabled at a time. A disabled one keeps its place within its period and its
 * count of enabled time. So a change of the rate cuts no period off, and there is nothing to be
 * made good afterwards: the account of each event holds as if it were the only one. (With one
 * event, of which PERF_EVENT_IOC_PERIOD changes the period, each change begins a new period, and
 * what has passed of the old one counts for nobody.)
 */
#ifndef SKEIN_CAPTURE_SAMPLER_H
#define SKEIN_CAPTURE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/program.h"

struct sampled_event {
	const char *name; /* static string */
	const char *unit; /* static string: ns or count */
	uint32_t type, config; /* members of struct perf_event_attr */
	bool clocked; /* a clock: the weight of a sample is time, and idle time is due too */
	uint64_t period; /* sampling period, in unit */
	uint64_t frequency; /* requested rate in Hz; 0 if a period was requested */
};

/*
 * Fill *out for an event by name, at frequency (Hz) or period (in the event's unit), one of them 0.
 * Return 0, or -EINVAL with a line in *err if there is no such event or the rate is impossible.
 */
int sampled_event_find(struct sampled_event *out, const char *name, uint64_t frequency,
		       uint64_t period, struct error *err);

struct sampler;

/*
 * Check whether an event can be opened, on the first CPU below cpus that is online. Return 0 or the
 * negative errno of the failure.
 */
int sampled_event_try(const struct sampled_event *e, unsigned int cpus, struct error *err);

/* Make a sampler for count rates of an event, 1 to WIRE_RATES; it begins with the first. */
int sampler_new(struct sampler **out, const struct sampled_event *rates, unsigned int count,
		struct program *program, struct error *err);
void sampler_free(struct sampler *s);

/*
 * Open the events of a CPU and start that of the rate; does nothing if they are open. Return 0;
 * -ENODEV: the CPU is offline or does not exist; or another negative errno.
 */
int sampler_open_cpu(struct sampler *s, unsigned int cpu, struct error *err);
/* Stop a CPU's events, and keep their counts of due samples. */
void sampler_close_cpu(struct sampler *s, unsigned int cpu);
/* Stop all events, at the end of the recording. */
void sampler_stop(struct sampler *s);

/* Sample at the rate of that index from now on, on all CPUs. */
void sampler_set_rate(struct sampler *s, unsigned int rate);

bool sampler_runs_on(const struct sampler *s, unsigned int cpu);

/* The outcomes of the samples due on a CPU at one rate. */
struct cpu_account {
	bool used; /* the event ran on this CPU at least once */
	uint64_t due, written, filtered, idle, ring_full;
	uint64_t stolen, delayed, skipped; /* see struct wire_account */
	/*
	 * samples that may be cut off: one by rounding each time that the event was open, and what
	 * changes of the rate cost the clock
	 */
	uint64_t cut_most;
};

/*
 * Fill *out with the account of a CPU at a rate, which is exact after sampler_stop() and an
 * estimate before. If the event is a counter that runs, this interrupts its CPU to read it, so do
 * not call it in every round of the recorder's loop.
 */
void sampler_account(const struct sampler *s, unsigned int cpu, unsigned int rate,
		     struct cpu_account *out);

/* Return whether the event of a CPU has run since the last call; false also if it is not open. */
bool sampler_take_ticks(struct sampler *s, unsigned int cpu);

/* Like sampler_account(), but leaves due at 0 and interrupts no CPU. */
void sampler_get_counts(const struct sampler *s, unsigned int cpu, unsigned int rate,
			struct cpu_account *out);

#endif
