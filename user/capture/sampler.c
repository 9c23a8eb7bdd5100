// SPDX-License-Identifier: Apache-2.0
/* Opens, accounts and closes the perf events that run the sampling program. */
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

/* The event of one rate on one CPU. It stays open from one hotplug of the CPU to the next. */
struct clock_event {
	int fd; /* -1: not open */
	uint64_t due; /* due samples of the times before */
	uint64_t intervals; /* times in which it was open and enabled at least once */
	bool begun; /* it was enabled since it was opened */
	uint64_t changes; /* how often it was enabled after another one */
	/* the account's busy periods and idle time when it was enabled first */
	uint64_t busy_before, idle_before;
	uint64_t enabled; /* ns that it was enabled when it was enabled last */
	uint64_t resumed; /* when that was, ns of CLOCK_MONOTONIC, by which clocks tick */
	uint64_t ticks_taken; /* the account's busy periods at the last sampler_take_ticks() */
};

struct sampler {
	struct sampled_event rates[WIRE_RATES];
	unsigned int rate_count, rate; /* rate: index of the one that is enabled */
	struct program *program;
	unsigned int cpus;
	struct clock_event *events; /* those of a CPU one after the other, by rate */
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

/*
 * The time, ns, for which a clock may stand still while it is enabled, of each change of the rate:
 * its timer starts a little later than its enabled time, and a tick that was pending when it was
 * disabled comes late. 2 to 22 us were measured over 1,000 changes.
 */
#define CHANGE_LATENCY 25000ULL

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

int sampler_new(struct sampler **out, const struct sampled_event *rates, unsigned int count,
		struct program *program, struct error *err)
{
	struct sampler *s = calloc(1, sizeof(*s));

	if (!s)
		return error_errno(err, -ENOMEM, "sampling events");
	memcpy(s->rates, rates, count * sizeof(*rates));
	s->rate_count = count;
	s->program = program;
	s->cpus = program_cpus(program);
	s->events = calloc((size_t)s->cpus * count, sizeof(*s->events));
	if (!s->events) {
		free(s);
		return error_errno(err, -ENOMEM, "sampling events");
	}
	for (unsigned int i = 0; i < s->cpus * count; i++)
		s->events[i].fd = -1;
	*out = s;
	return 0;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->cpus * s->rate_count; i++)
		if (s->events[i].fd >= 0)
			close(s->events[i].fd);
	free(s->events);
	free(s);
}

/* Return the event of a CPU with the rate of that index. */
static struct clock_event *clock_event_of(const struct sampler *s, unsigned int cpu,
					  unsigned int rate)
{
	return &s->events[cpu * s->rate_count + rate];
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
 * Prepare the account of an event that is going to be enabled. Its clock goes on where it stopped,
 * and so does its grid: the time until now counts as enabled since it was opened. The next samples
 * correct this origin (bpf/account.h).
 */
static void resume_account(const struct sampler *s, unsigned int cpu, unsigned int rate)
{
	struct clock_event *e = clock_event_of(s, cpu, rate);
	struct wire_account *a = &program_clock(s->program, cpu)->accounts[rate];

	if (!e->begun) {
		e->begun = true;
		e->intervals++;
		e->busy_before = busy_periods(a);
		e->idle_before = a->idle;
		a->last = 0;
		a->debt = 0;
	}
	if (!s->rates[rate].clocked)
		return;
	e->enabled = pulse_read_event(e->fd).enabled;
	e->resumed = clock_ns(CLOCK_MONOTONIC);
	a->origin = e->resumed - e->enabled;
	a->steal = a->lag_samples = 0;
	a->period = s->rates[rate].period;
}

/*
 * Return how many samples were due since the event was opened: for a clock from its enabled time,
 * for a counter from its count. The enabled time may go on while the machine is suspended, the
 * clock does not: it cannot have been enabled for longer than CLOCK_MONOTONIC has run. The kernel
 * stops a clock that fired for long without a scheduler tick, as on an idle CPU, until the next
 * tick, since it takes the clock for one that fires too often. The clock's count stands still
 * meanwhile, but its enabled time does not.
 */
static uint64_t due_samples(const struct sampler *s, unsigned int cpu, unsigned int rate)
{
	const struct sampled_event *of = &s->rates[rate];
	const struct clock_event *e = clock_event_of(s, cpu, rate);
	struct pulse_reading r = pulse_read_event(e->fd);
	uint64_t most = e->enabled + clock_ns(CLOCK_MONOTONIC) - e->resumed;

	if (!of->clocked)
		return r.count / of->period;
	return (r.enabled < most ? r.enabled : most) / of->period;
}

/* Add idle time to an account that has not ended at now. since: its begin, ns; 0: there is none. */
static void end_idle(struct wire_account *a, uint64_t since, uint64_t now)
{
	uint64_t from, to;

	if (!a->period || !since || since < a->origin || now < since)
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
 * Close the account of an event that was disabled at a time, ns of CLOCK_MONOTONIC; idle_since is
 * of that time. The idle hooks cannot see that the clock of an offline CPU stood still, and may
 * count a point that comes after that time, so the idle periods are limited to the due samples.
 * Return how many samples were due: at least as many as came, since the kernel measures the enabled
 * time by a slightly different clock.
 */
static uint64_t close_account(const struct sampler *s, unsigned int cpu, unsigned int rate,
			      uint64_t idle_since, uint64_t time)
{
	const struct clock_event *e = clock_event_of(s, cpu, rate);
	struct wire_account *a = &program_clock(s->program, cpu)->accounts[rate];
	uint64_t due = due_samples(s, cpu, rate), busy = busy_periods(a) - e->busy_before;
	uint64_t most = e->idle_before + (due > busy ? due - busy : 0);

	end_idle(a, idle_since, time);
	a->period = 0; /* stops the hooks */
	if (a->idle > most)
		a->idle = most;
	if (a->last > due)
		a->last = due;
	return due > busy ? due : busy;
}

/* Close the events of a CPU, the first count ones. */
static void close_events(const struct sampler *s, unsigned int cpu, unsigned int count)
{
	for (unsigned int rate = 0; rate < count; rate++) {
		struct clock_event *e = clock_event_of(s, cpu, rate);

		close(e->fd);
		e->fd = -1;
		e->begun = false;
	}
}

/* Open the events of a CPU, all disabled, and attach the sampling program to them. */
static int open_events(const struct sampler *s, unsigned int cpu, struct error *err)
{
	int ret = 0;

	for (unsigned int rate = 0; !ret && rate < s->rate_count; rate++) {
		int fd = open_sampling_event(&s->rates[rate], cpu);

		if (fd < 0) {
			ret = explain_sampling_event(&s->rates[rate], cpu, -errno, err);
			close_events(s, cpu, rate);
			return ret;
		}
		clock_event_of(s, cpu, rate)->fd = fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd(s->program)) < 0) {
			ret = error_errno(err, -errno, "attaching the sampling program to CPU %u",
					  cpu);
			close_events(s, cpu, rate + 1);
		}
	}
	return ret;
}

int sampler_open_cpu(struct sampler *s, unsigned int cpu, struct error *err)
{
	int ret;

	if (cpu >= s->cpus)
		return error_set(err, -ENODEV, "there is no CPU %u", cpu);
	if (sampler_runs_on(s, cpu))
		return 0;
	ret = open_events(s, cpu, err);
	if (ret)
		return ret;
	resume_account(s, cpu, s->rate);
	program_clock(s->program, cpu)->rate = s->rate;
	if (ioctl(clock_event_of(s, cpu, s->rate)->fd, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		ret = error_errno(err, -errno, "starting the sampling event of CPU %u", cpu);
		close_events(s, cpu, s->rate_count);
	}
	return ret;
}

void sampler_close_cpu(struct sampler *s, unsigned int cpu)
{
	struct wire_clock *c = program_clock(s->program, cpu);
	uint64_t now;

	if (!sampler_runs_on(s, cpu))
		return;
	ioctl(clock_event_of(s, cpu, s->rate)->fd, PERF_EVENT_IOC_DISABLE, 0);
	now = clock_ns(CLOCK_MONOTONIC);
	for (unsigned int rate = 0; rate < s->rate_count; rate++) {
		struct clock_event *e = clock_event_of(s, cpu, rate);

		/* the accounts of all others were closed before, so they have no period */
		if (e->begun)
			e->due += close_account(s, cpu, rate, c->idle_since, now);
	}
	close_events(s, cpu, s->rate_count);
}

/*
 * Change the rate of a CPU. The system calls that disable and enable events return when the CPU has
 * done so, in an interrupt: so no sampling program runs while the rate changes, and no idle hook
 * still uses the old account when that is closed.
 */
static void change_rate(struct sampler *s, unsigned int cpu, unsigned int rate)
{
	struct wire_clock *c = program_clock(s->program, cpu);
	uint64_t time, idle_since;

	ioctl(clock_event_of(s, cpu, s->rate)->fd, PERF_EVENT_IOC_DISABLE, 0);
	time = clock_ns(CLOCK_MONOTONIC);
	idle_since = __atomic_load_n(&c->idle_since, __ATOMIC_ACQUIRE);
	resume_account(s, cpu, rate);
	clock_event_of(s, cpu, rate)->changes++;
	__atomic_store_n(&c->rate, rate, __ATOMIC_RELEASE);
	ioctl(clock_event_of(s, cpu, rate)->fd, PERF_EVENT_IOC_ENABLE, 0);
	(void)close_account(s, cpu, s->rate, idle_since, time);
}

void sampler_set_rate(struct sampler *s, unsigned int rate)
{
	if (rate >= s->rate_count || rate == s->rate)
		return;
	for (unsigned int cpu = 0; cpu < s->cpus; cpu++)
		if (sampler_runs_on(s, cpu))
			change_rate(s, cpu, rate);
	s->rate = rate;
}

void sampler_stop(struct sampler *s)
{
	for (unsigned int cpu = 0; cpu < s->cpus; cpu++)
		sampler_close_cpu(s, cpu);
}

bool sampler_runs_on(const struct sampler *s, unsigned int cpu)
{
	return cpu < s->cpus && clock_event_of(s, cpu, 0)->fd >= 0;
}

void sampler_get_counts(const struct sampler *s, unsigned int cpu, unsigned int rate,
			struct cpu_account *out)
{
	const struct clock_event *e = clock_event_of(s, cpu, rate);
	const struct wire_account *a = &program_clock(s->program, cpu)->accounts[rate];

	*out = (struct cpu_account){
		.used = e->intervals > 0,
		.written = a->written,
		.filtered = a->filtered,
		.idle = a->idle,
		.ring_full = a->ring_full,
		.stolen = a->stolen,
		.delayed = a->delayed,
		.skipped = a->skipped,
		.cut_most = e->intervals + e->changes * CHANGE_LATENCY / s->rates[rate].period,
	};
}

void sampler_account(const struct sampler *s, unsigned int cpu, unsigned int rate,
		     struct cpu_account *out)
{
	const struct clock_event *e = clock_event_of(s, cpu, rate);

	sampler_get_counts(s, cpu, rate, out);
	out->due = e->due;
	/* Reading an event that runs would interrupt its CPU, and wait until that has answered. */
	if (e->fd >= 0 && s->rates[rate].clocked && rate == s->rate)
		out->due += (e->enabled + clock_ns(CLOCK_MONOTONIC) - e->resumed) /
			    s->rates[rate].period;
	else if (e->fd >= 0 && e->begun)
		out->due += due_samples(s, cpu, rate);
}

bool sampler_take_ticks(struct sampler *s, unsigned int cpu)
{
	struct clock_event *e;
	uint64_t ticks, before;

	if (!sampler_runs_on(s, cpu))
		return false;
	e = clock_event_of(s, cpu, s->rate);
	ticks = busy_periods(&program_clock(s->program, cpu)->accounts[s->rate]);
	before = e->ticks_taken;
	e->ticks_taken = ticks;
	return ticks != before;
}
