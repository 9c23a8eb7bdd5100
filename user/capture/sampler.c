// SPDX-License-Identifier: Apache-2.0
/* Opens, accounts and closes the perf events that run the sampling program, one per CPU. */
#include "capture/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/needs.h"
#include "capture/pulse.h"

struct clock_event {
	int fd; /* -1: not open */
	uint64_t due; /* due samples of finished intervals */
	uint64_t intervals;
	/* the account's busy periods and idle time when the current interval began */
	uint64_t busy_before, idle_before;
};

struct sampler {
	struct sampled_event event;
	struct program *program;
	unsigned int cpus;
	struct clock_event *events; /* by CPU */
};

static const struct sampled_event known_events[] = {
	{.name = "cpu-clock",
	 .unit = "ns",
	 .type = PERF_TYPE_SOFTWARE,
	 .config = PERF_COUNT_SW_CPU_CLOCK,
	 .clocked = true},
	{.name = "cycles",
	 .unit = "count",
	 .type = PERF_TYPE_HARDWARE,
	 .config = PERF_COUNT_HW_CPU_CYCLES},
};

/*
 * Nominal cycles per second. They turn a requested frequency of the cycle counter into a fixed
 * period: every sample has the same weight, and the real rate follows the CPU's clock.
 */
#define NOMINAL_CYCLES 4000000000ULL

#define EVENT_COUNT (sizeof(known_events) / sizeof(known_events[0]))

/*
 * Return the kernel's own limit for the rate of any event, Hz; if it cannot be read, its default.
 */
static uint64_t highest_rate(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned long rate = 0;
	char text[32] = "";

	/* Without memory for a buffer, fgets() may return only the beginning of the line. */
	if (f && fgets(text, sizeof(text), f) && strchr(text, '\n'))
		rate = strtoul(text, NULL, 10);
	if (f)
		fclose(f);
	if (!rate)
		rate = 100000;
	return rate;
}

static int set_rate(struct sampled_event *e, uint64_t frequency, uint64_t period, struct error *err)
{
	uint64_t highest = highest_rate();

	if (frequency > highest)
		return error_set(err, -EINVAL,
				 "%llu Hz is more than this kernel samples at: at most %llu Hz "
				 "(kernel.perf_event_max_sample_rate)",
				 (unsigned long long)frequency, (unsigned long long)highest);
	if (frequency) {
		e->frequency = frequency;
		e->period = e->clocked ? NSEC_PER_SEC / frequency : 0;
		return 0;
	}
	if (e->clocked && period < NSEC_PER_SEC / highest)
		return error_set(err, -EINVAL,
				 "a period of %llu ns is shorter than this kernel samples at: at "
				 "least %llu ns (kernel.perf_event_max_sample_rate)",
				 (unsigned long long)period,
				 (unsigned long long)(NSEC_PER_SEC / highest));
	if (!period)
		return error_set(err, -EINVAL, "the period must be at least 1");
	e->period = period;
	return 0;
}

int sampled_event_find(struct sampled_event *out, const char *name, uint64_t frequency,
		       uint64_t period, struct error *err)
{
	for (size_t i = 0; i < EVENT_COUNT; i++) {
		struct sampled_event e = known_events[i];
		int ret;

		if (strcmp(e.name, name))
			continue;
		ret = set_rate(&e, frequency, period, err);
		if (!ret && !e.period)
			e.period = NOMINAL_CYCLES / frequency;
		if (!ret)
			*out = e;
		return ret;
	}
	return error_set(err, -EINVAL, "there is no event '%s': cpu-clock or cycles", name);
}

int sampler_new(struct sampler **out, const struct sampled_event *event, struct program *program,
		struct error *err)
{
	struct sampler *s = calloc(1, sizeof(*s));

	if (!s)
		return error_errno(err, -ENOMEM, "sampling events");
	s->event = *event;
	s->program = program;
	s->cpus = program_cpus(program);
	s->events = calloc(s->cpus, sizeof(*s->events));
	if (!s->events) {
		free(s);
		return error_errno(err, -ENOMEM, "sampling events");
	}
	for (unsigned int i = 0; i < s->cpus; i++)
		s->events[i].fd = -1;
	*out = s;
	return 0;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->cpus; i++)
		if (s->events[i].fd >= 0)
			close(s->events[i].fd);
	free(s->events);
	free(s);
}

static int open_sampling_event(const struct sampled_event *e, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = e->type,
		.config = e->config,
		.read_format = PULSE_FORMAT,
		.sample_period = e->period,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int explain_sampling_event(const struct sampled_event *e, unsigned int cpu, int ret,
				  struct error *err)
{
	if (ret == -EPERM || ret == -EACCES)
		return need_failed(err, ret, NEED_COUNT, "the kernel refused the sampling event");
	if (ret == -ENOENT || ret == -EOPNOTSUPP)
		return need_failed(err, ret, NEED_COUNTER, "-e cycles");
	return error_errno(err, ret, "sampling event %s on CPU %u", e->name, cpu);
}

int sampled_event_try(const struct sampled_event *e, unsigned int cpus, struct error *err)
{
	unsigned int cpu = 0;
	int fd, ret;

	do {
		fd = open_sampling_event(e, cpu);
		ret = fd < 0 ? -errno : 0;
		if (fd >= 0)
			close(fd);
	} while (ret == -ENODEV && ++cpu < cpus);
	return ret ? explain_sampling_event(e, cpu, ret, err) : 0;
}

/* Return how many periods ended while the CPU was not idle, whatever became of their samples. */
static uint64_t busy_periods(const struct wire_account *a)
{
	return a->runs + a->stolen + a->delayed + a->skipped;
}

/*
 * Prepare the account of an interval in which the event runs. The periods of the clock are counted
 * from the time when the event is enabled; the first samples correct this origin (bpf/account.h).
 */
static void begin_account(const struct sampler *s, struct clock_event *e, unsigned int cpu)
{
	struct wire_account *a = program_account(s->program, cpu);

	e->busy_before = busy_periods(a);
	e->idle_before = a->idle;
	if (!s->event.clocked)
		return;
	a->origin = clock_boot_ns();
	a->last = a->idle_since = a->steal = a->lag_samples = 0;
	a->debt = 0;
	a->period = s->event.period;
}

int sampler_open_cpu(struct sampler *s, unsigned int cpu, struct error *err)
{
	struct clock_event *e;
	int fd, ret = 0;

	if (cpu >= s->cpus)
		return error_set(err, -ENODEV, "there is no CPU %u", cpu);
	e = &s->events[cpu];
	if (e->fd >= 0)
		return 0;
	fd = open_sampling_event(&s->event, cpu);
	if (fd < 0)
		return explain_sampling_event(&s->event, cpu, -errno, err);
	begin_account(s, e, cpu);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd(s->program)) < 0 ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		ret = error_errno(err, -errno, "attaching the sampling program to CPU %u", cpu);
		close(fd);
		return ret;
	}
	e->fd = fd;
	e->intervals++;
	return 0;
}

/*
 * Return how many samples were due since the event was opened: for a clock from its enabled time,
 * for a counter from its count. The kernel stops a clock that fired for long without a scheduler
 * tick, as on an idle CPU, until the next tick, since it takes the clock for one that fires too
 * often. The clock's count stands still meanwhile, but its enabled time does not.
 */
static uint64_t due_samples(const struct sampler *s, int fd)
{
	struct pulse_reading r = pulse_read_event(fd);

	return (s->event.clocked ? r.enabled : r.count) / s->event.period;
}

/* Add idle time that has not ended yet to the account. */
static void end_idle(struct wire_account *a)
{
	uint64_t now = clock_boot_ns(), since = a->idle_since;
	uint64_t from, to;

	if (!a->period || !since || since < a->origin)
		return;
	from = (since - a->origin) / a->period;
	to = (now - a->origin) / a->period;
	if (from < a->last)
		from = a->last;
	if (to > from) {
		a->idle += to - from;
		a->last = to;
	}
}

/*
 * Close the account of an interval. The idle hooks cannot see that the clock of an offline CPU
 * stood still, so the idle periods are limited to the due samples. Return how many samples were
 * due: at least as many as came, since the kernel measures the enabled time by a slightly different
 * clock.
 */
static uint64_t end_account(const struct sampler *s, const struct clock_event *e, unsigned int cpu,
			    uint64_t due)
{
	struct wire_account *a = program_account(s->program, cpu);
	uint64_t busy = busy_periods(a) - e->busy_before;
	uint64_t most = e->idle_before + (due > busy ? due - busy : 0);

	end_idle(a);
	a->period = 0; /* stops the hooks */
	a->idle_since = 0;
	if (a->idle > most)
		a->idle = most;
	return due > busy ? due : busy;
}

void sampler_close_cpu(struct sampler *s, unsigned int cpu)
{
	struct clock_event *e = &s->events[cpu];
	uint64_t due;

	if (e->fd < 0)
		return;
	ioctl(e->fd, PERF_EVENT_IOC_DISABLE, 0);
	due = due_samples(s, e->fd);
	due = end_account(s, e, cpu, due);
	e->due += due;
	close(e->fd);
	e->fd = -1;
}

void sampler_stop(struct sampler *s)
{
	for (unsigned int cpu = 0; cpu < s->cpus; cpu++)
		sampler_close_cpu(s, cpu);
}

bool sampler_runs_on(const struct sampler *s, unsigned int cpu)
{
	return cpu < s->cpus && s->events[cpu].fd >= 0;
}

void sampler_get_counts(const struct sampler *s, unsigned int cpu, struct cpu_account *out)
{
	const struct clock_event *e = &s->events[cpu];
	const struct wire_account *a = program_account(s->program, cpu);

	*out = (struct cpu_account){
		.used = e->intervals > 0,
		.written = a->written,
		.filtered = a->filtered,
		.idle = a->idle,
		.ring_full = a->ring_full,
		.stolen = a->stolen,
		.delayed = a->delayed,
		.skipped = a->skipped,
		.intervals = e->intervals,
	};
}

void sampler_account(const struct sampler *s, unsigned int cpu, struct cpu_account *out)
{
	const struct clock_event *e = &s->events[cpu];

	sampler_get_counts(s, cpu, out);
	out->due = e->due + (e->fd >= 0 ? due_samples(s, e->fd) : 0);
}
