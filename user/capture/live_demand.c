// SPDX-License-Identifier: Apache-2.0
/*
 * Records waits on demand (capture_waits.wanted): the hooks are loaded the first time that they are
 * wanted, and attached only as long as they are. Between two such times nothing is known of threads
 * (schedule_resume()); samples and their accounts go on as without.
 */
#include <errno.h>

#include "capture/buffers.h"
#include "capture/live.h"

/*
 * Bytes of a CPU's array of switches, if --buffer does not say otherwise: for a tenth of a second,
 * the interval between two reads, at a million records (16 bytes each) per second.
 */
#define DEMAND_SWITCHES (2UL << 20)

bool live_records_waits(const struct live *l)
{
	return l->switches.open.reader && (!l->options.waits.wanted || l->switches.demand.on);
}

/* Free what load_demand() has made, so that it can be tried again. */
static void unload_demand(struct live *l)
{
	struct live_switches *s = &l->switches;

	program_set_java_loader(l->program, NULL, NULL);
	wait_stacks_free(s->waits);
	schedule_free(s->schedule);
	switch_order_free(s->order);
	live_free_open_waits(l);
	switches_free(s->array);
	s->waits = NULL;
	s->schedule = NULL;
	s->order = NULL;
	s->array = NULL;
}

static int load_demand(struct live *l, struct error *err)
{
	const struct program_waits waits = l->switches.demand.waits;
	uint64_t bytes = buffers_switches_bytes(program_cpus(l->program));
	int ret;

	if (waits.hook == WAIT_HOOK_NONE)
		return error_set(err, -ENOTSUP, "%s", l->switches.no_waits);
	if (l->options.memory.switch_buffer)
		bytes = l->options.memory.switch_buffer;
	else if (bytes > DEMAND_SWITCHES)
		bytes = DEMAND_SWITCHES;
	ret = switches_load(&l->switches.array, l->program, bytes, waits, err);
	if (!ret)
		ret = live_load_open_waits(l, waits, err);
	if (!ret)
		ret = live_begin_schedule(l, err);
	if (!ret)
		ret = live_describe_waits(l, err);
	if (ret)
		unload_demand(l);
	return ret;
}

static void stop_switches(struct live *l)
{
	for (unsigned int cpu = 0; cpu < program_cpus(l->program); cpu++)
		switches_set_wanted(l->switches.array, cpu, false);
	program_detach_waits(l->program);
	switches_detach(l->switches.array);
	l->times.pace.source = live_pace_source(l, false);
}

static int start_switches(struct live *l, uint64_t now, struct error *err)
{
	number_list online = {0};
	int ret = cpus_online(&online, err);

	for (unsigned int cpu = 0; !ret && cpu < program_cpus(l->program); cpu++) {
		if (l->selection.cpus.count && !number_list_has(&l->selection.cpus, cpu))
			continue;
		switches_set_wanted(l->switches.array, cpu, true);
		ret = schedule_cpu_begins(l->switches.schedule, cpu, now,
					  number_list_has(&online, cpu), err);
	}
	vector_free(&online);
	return ret;
}

static int begin_demand(struct live *l, struct error *err)
{
	int ret = l->switches.schedule ? 0 : load_demand(l, err);
	uint64_t now;

	if (!ret)
		ret = switches_forget_waits(l->switches.array, err);
	if (ret)
		return ret;
	ret = switches_attach(l->switches.array, err);
	if (!ret)
		ret = program_attach_waits(l->program, err);
	now = clock_boot_ns();
	if (!ret)
		ret = schedule_resume(l->switches.schedule, now, err);
	if (!ret)
		ret = start_switches(l, now, err);
	/* A thread that sleeps already counts as waiting from here on. */
	if (!ret)
		ret = live_snapshot_threads(l, err);
	if (ret) {
		stop_switches(l);
		l->switches.demand.ended = clock_boot_ns();
		return ret;
	}
	l->times.pace.source = live_pace_source(l, true);
	l->times.pace.next = now;
	l->switches.demand.on = true;
	return 0;
}

static void end_demand(struct live *l)
{
	stop_switches(l);
	live_drop_open_waits(l);
	l->switches.demand.on = false;
	l->switches.demand.ended = clock_boot_ns();
}

int live_follow_demand(struct live *l, struct error *err)
{
	const struct capture_waits *o = &l->options.waits;
	struct live_demand *d = &l->switches.demand;
	const bool wanted = o->wanted(l->options.context);
	struct error reason = {""};
	int ret = 0;

	d->failed &= wanted;
	if (d->on && !wanted)
		end_demand(l);
	if (d->ended && l->rings.mark >= d->ended) {
		ret = schedule_end(l->switches.schedule, d->ended, err);
		d->ended = 0;
	}
	if (ret || d->on || d->ended || d->failed || !wanted)
		return ret;
	ret = begin_demand(l, &reason);
	d->failed = ret < 0;
	o->recorded(l->options.context, ret, reason.text);
	return 0;
}
