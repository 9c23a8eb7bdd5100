// SPDX-License-Identifier: Apache-2.0
/* Follows the CPUs of a live capture, which may go offline and come back. */
#include <bpf/libbpf.h>
#include <errno.h>

#include "capture/clock.h"
#include "capture/live.h"

/*
 * Close the events of a CPU that is offline, or was offline since the last check: they deliver
 * nothing any more. Does nothing if they are closed.
 */
static void close_cpu(struct live *l, unsigned int cpu)
{
	if (sampler_runs_on(l->sampler, cpu))
		ledger_cpu_gone(l->ledger, cpu, l->times.last_tick);
	sampler_close_cpu(l->sampler, cpu);
	sideband_close_cpu(l->rings.sideband, cpu);
}

/* Pass every CPU to the schedule when sampling begins, and later every CPU that is offline. */
static int follow_schedule(struct live *l, unsigned int cpu, bool online, struct error *err)
{
	if (!l->switches.schedule || !l->times.started || l->times.pause.since ||
	    (l->options.waits.wanted && !l->switches.demand.on))
		return 0;
	switches_set_wanted(l->switches.array, cpu, true);
	if (!l->switches.begun)
		return schedule_cpu_begins(l->switches.schedule, cpu, l->times.resumed, online,
					   err);
	if (!online)
		schedule_cpu_gone(l->switches.schedule, cpu, clock_boot_ns());
	return 0;
}

static int open_cpu(struct live *l, unsigned int cpu, bool wanted, struct error *err)
{
	bool back = l->times.started && sideband_fd(l->rings.sideband, cpu) < 0;
	int ret = sideband_open_cpu(l->rings.sideband, cpu, err);

	if (!ret && wanted && l->times.started && !l->times.pause.since && l->options.sample)
		ret = sampler_open_cpu(l->sampler, cpu, err);
	if (!ret && back) {
		/* Without this, the ring is read in time as long as it does not fill up. */
		(void)live_watch_sideband(l, cpu);
		ledger_cpu_back(l->ledger, cpu, clock_boot_ns());
		/* Processes may have run on this CPU before its side-band was open. */
		opener_scan(l->helpers.opener, 0);
	}
	return ret == -ENODEV ? 0 : ret; /* the CPU went offline meanwhile */
}

int live_follow_cpus(struct live *l, struct error *err)
{
	number_list online = {0};
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int ret = live_follow_suspend(l, err);

	if (!ret)
		ret = cpus_read_online(&online, l->selection.online, err);
	for (unsigned int cpu = 0; !ret && cpu < program_cpus(l->program); cpu++) {
		bool wanted = !l->selection.cpus.count || number_list_has(&l->selection.cpus, cpu);
		bool is_online = number_list_has(&online, cpu);
		bool ticked = sampler_take_ticks(l->sampler, cpu);

		if (!is_online || sideband_stopped(l->rings.sideband, cpu, ticked, now))
			close_cpu(l, cpu);
		if (wanted)
			ret = follow_schedule(l, cpu, is_online, err);
		if (wanted && l->times.started && !l->times.pause.since)
			live_handlers_follow(l, cpu, true);
		if (!ret && is_online)
			ret = open_cpu(l, cpu, wanted, err);
	}
	l->switches.begun = l->times.started > 0;
	vector_free(&online);
	return ret;
}

int live_check_cpus(struct live *l, struct error *err)
{
	const char *text = l->options.targets.cpus;
	const number_list *list = &l->selection.cpus;
	number_list online = {0};
	bool any = false;
	uint32_t last;
	int ret = cpus_parse(&l->selection.cpus, text, err);

	if (!ret)
		ret = cpus_online(&online, err);
	if (ret)
		goto out;
	last = list->items[list->count - 1];
	if (last >= (uint32_t)libbpf_num_possible_cpus())
		ret = error_set(err, -EINVAL, "there is no CPU %u here", last);
	for (size_t i = 0; i < list->count; i++)
		any |= number_list_has(&online, list->items[i]);
	if (!ret && !any)
		ret = error_set(err, -ENODEV, "none of the CPUs %s is online", text);
out:
	vector_free(&online);
	return ret;
}

void live_stop_cpus(struct live *l)
{
	sampler_stop(l->sampler);
	for (unsigned int cpu = 0; cpu < program_cpus(l->program); cpu++) {
		live_handlers_follow(l, cpu, false);
		if (l->switches.array)
			switches_set_wanted(l->switches.array, cpu, false);
	}
}
