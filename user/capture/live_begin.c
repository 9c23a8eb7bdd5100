// SPDX-License-Identifier: Apache-2.0
/* Constructs a live capture. Everything that can fail for lack of a privilege fails here. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "capture/buffers.h"
#include "capture/clock.h"
#include "capture/live.h"
#include "capture/select.h"

/* Default size of unwind tables in bytes (--unwind-memory). */
#define UNWIND_MEMORY (128UL << 20)
/*
 * Parked samples may take one eighth as many bytes as unwind tables, in the recorder's own memory.
 */
#define PARKED_SHARE 8

/* Close the events of a CPU that is or was offline: they deliver nothing any more. */
static void close_cpu(struct live *l, unsigned int cpu)
{
	if (sampler_runs_on(l->sampler, cpu))
		ledger_cpu_gone(l->ledger, cpu, l->last_tick);
	sampler_close_cpu(l->sampler, cpu);
	sideband_close_cpu(l->sideband, cpu);
}

/* Notify the schedule of every CPU when it starts, and later of CPUs that go offline. */
static int follow_schedule(struct live *l, unsigned int cpu, bool online, struct error *err)
{
	if (!l->schedule || !l->started)
		return 0;
	if (!l->scheduled)
		switches_set_wanted(l->switches, cpu, true);
	if (!l->scheduled)
		return schedule_cpu_begins(l->schedule, cpu, l->started, online, err);
	if (!online)
		schedule_cpu_gone(l->schedule, cpu, clock_boot_ns());
	return 0;
}

static int open_cpu(struct live *l, unsigned int cpu, bool wanted, struct error *err)
{
	bool back = l->started && sideband_fd(l->sideband, cpu) < 0;
	int ret = sideband_open_cpu(l->sideband, cpu, err);

	if (!ret && wanted && l->started && l->options.sample)
		ret = sampler_open_cpu(l->sampler, cpu, err);
	if (!ret && back) {
		ledger_cpu_back(l->ledger, cpu, clock_boot_ns());
		/* Processes may have run on this CPU before its side-band was open. */
		opener_scan(l->opener, 0);
	}
	return ret == -ENODEV ? 0 : ret; /* the CPU went offline meanwhile */
}

int live_follow_cpus(struct live *l, struct error *err)
{
	number_list online = {0};
	int ret = cpus_online(&online, err);

	for (unsigned int cpu = 0; !ret && cpu < program_cpus(l->program); cpu++) {
		bool wanted = !l->wanted.count || number_list_has(&l->wanted, cpu);
		bool is_online = number_list_has(&online, cpu);

		if (!is_online || sideband_stopped(l->sideband, cpu, clock_boot_ns()))
			close_cpu(l, cpu);
		if (wanted)
			ret = follow_schedule(l, cpu, is_online, err);
		if (!ret && is_online)
			ret = open_cpu(l, cpu, wanted, err);
	}
	l->scheduled = l->started > 0;
	vector_free(&online);
	return ret;
}

/* Check that every CPU of the list exists, and that at least one is online. */
static int check_cpus(struct live *l, struct error *err)
{
	const char *list = l->options.cpus;
	number_list online = {0};
	bool any = false;
	uint32_t last;
	int ret = cpus_parse(&l->wanted, list, err);

	if (!ret)
		ret = cpus_online(&online, err);
	if (ret)
		return ret;
	last = l->wanted.items[l->wanted.count - 1];
	if (last >= (uint32_t)libbpf_num_possible_cpus())
		ret = error_set(err, -EINVAL, "there is no CPU %u here", last);
	for (size_t i = 0; i < l->wanted.count; i++)
		any |= number_list_has(&online, l->wanted.items[i]);
	if (!ret && !any)
		ret = error_set(err, -ENODEV, "none of the CPUs %s is online", list);
	vector_free(&online);
	return ret;
}

static void live_free(struct source *source)
{
	struct live *l = (struct live *)source;

	sampler_free(l->sampler);
	ledger_free(l->ledger);
	saver_free(l->saver);
	live_free_stacks(l);
	intern_free(l->intern);
	process_table_free(l->table);
	objects_free(l->objects);
	tables_free(l->tables);
	arena_free(l->arena);
	inlines_free(l->inlines);
	pager_free(l->pager);
	symbolizer_free(l->symbolizer);
	opener_free(l->opener);
	schedule_free(l->schedule);
	switch_order_free(l->switch_order);
	switches_free(l->switches);
	program_free(l->program);
	sideband_free(l->sideband);
	order_free(l->order);
	cgroups_free(l->cgroups);
	vector_free(&l->wanted);
	if (l->epoll >= 0)
		close(l->epoll);
	free(l);
}

static const struct source_ops live_ops = {.run = live_run, .free = live_free};

/*
 * Bytes of copied stack for which a sample ring is sized; only few programs, such as compilers,
 * have deeper stacks.
 */
#define DEEP_STACK 65536

/* Return the bytes of a sample ring, unless --buffer is given. */
static uint64_t default_buffer(const struct sampled_event *e, bool with_memory)
{
	uint64_t rate = e->frequency ? e->frequency : e->clocked ? NSEC_PER_SEC / e->period : 1000;
	int cpus;

	program_quiet_library();
	cpus = libbpf_num_possible_cpus();
	return buffers_samples_bytes(cpus < 0 ? 1 : (unsigned int)cpus, rate,
				     with_memory ? DEEP_STACK + 2048 : 2048);
}

/* Return whether SKEIN_DEBUG_WALK, a list of words for debugging the walkers, contains a word. */
static bool debug_word(const char *word)
{
	const char *words = getenv("SKEIN_DEBUG_WALK");

	return words && strstr(words, word);
}

static int load_program(struct live *l, struct error *err)
{
	const struct capture_options *o = &l->options;
	bool save_all = o->save_stacks || debug_word("save-all");
	struct program_options p = {
		.sample = o->sample,
		.kernel_stack = !o->user_only,
		.user_stack = !o->kernel_only,
		.idle = o->idle,
		.clocked = l->event.clocked,
		.select_pids = o->pid_count > 0,
		.select_tids = o->tid_count > 0,
		.cgroup_subsys = cgroups_subsystem(l->cgroups),
		.ring_bytes = o->buffer ? o->buffer : default_buffer(&l->event, save_all),
		.tail_calls = debug_word("tail-calls"),
		.no_python = debug_word("no-python"),
		.save_all = save_all,
		.stop_sampled = debug_word("stop"),
	};
	struct cgroup_place place;
	int ret = 0;

	if (o->cgroup) {
		ret = cgroups_find(l->cgroups, o->cgroup, &place, err);
		if (ret)
			return ret;
		p.select_cgroup = true;
		p.selected_subsys = place.subsystem;
		p.selected_cgroup = place.id;
		p.selected_level = place.level;
	}
	l->options.buffer = p.ring_bytes;
	ret = program_load(&l->program, &p, l->order, err);
	if (!ret && o->sched)
		ret = switches_load(&l->switches, l->program, o->switch_buffer, err);
	return ret;
}

/* Create the tables that the walkers look up, and the objects whose unwind tables they hold. */
static int begin_unwinding(struct live *l, struct error *err)
{
	uint64_t most = l->options.unwind_memory ? l->options.unwind_memory : UNWIND_MEMORY;
	struct tables_memory memory = {
		.slots = program_slots(l->program),
		.rules = program_rules(l->program),
	};
	struct objects_context objects = {
		.object_updated = live_object_updated,
		.context = l,
		.opener = l->opener,
		.symbolizer = l->symbolizer,
		.unwind = live_walks_stacks(l),
	};
	int ret;

	l->parked_max = most / PARKED_SHARE;
	l->arena = memory.arena = arena_new(most, program_add_chunk, l->program);
	if (!l->arena)
		return error_errno(err, -ENOMEM, "unwind tables");
	ret = tables_new(&l->tables, &memory, err);
	if (ret)
		return ret;
	/* Ignore errors: without the cache, tables are only slower to get. */
	if (l->options.unwind_cache)
		(void)symbolizer_use_cache(l->symbolizer, l->options.unwind_cache);
	objects.tables = l->tables;
	return objects_new(&l->objects, &objects, err);
}

/* Make everything that can fail for lack of a privilege, before any file is written. */
static int prepare_recording(struct live *l, struct error *err)
{
	const struct capture_options *o = &l->options;
	int ret = sampled_event_find(&l->event, o->event ? o->event : "cpu-clock", o->frequency,
				     o->period, err);

	if (!ret && o->cpus)
		ret = check_cpus(l, err);
	if (!ret)
		ret = select_check(o, err);
	if (!ret && o->save_stacks)
		ret = saver_new(&l->saver, o->save_stacks, debug_word("save-good"), err);
	if (!ret)
		ret = cgroups_new(&l->cgroups, "/proc/self/mountinfo", err);
	if (!ret)
		ret = live_start_helpers(l, err);
	l->order = order_new();
	l->task_ring = l->order ? order_add_ring(l->order) : -1;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!ret && (!l->order || l->task_ring < 0 || l->epoll < 0))
		ret = error_errno(err, -ENOMEM, "capture");
	if (!ret)
		ret = load_program(l, err);
	if (!ret)
		ret = begin_unwinding(l, err);
	if (!ret)
		ret = sampler_new(&l->sampler, &l->event, l->program, err);
	if (!ret && o->sample)
		ret = sampled_event_try(&l->event, program_cpus(l->program), err);
	if (!ret)
		ret = sideband_new(&l->sideband, l->order,
				   buffers_sideband_bytes(program_cpus(l->program)), err);
	return ret ? ret : live_follow_cpus(l, err);
}

int capture_source(struct source **out, const struct capture_options *o, struct error *err)
{
	struct live *l = calloc(1, sizeof(*l));
	int ret;

	if (!l)
		return error_errno(err, -ENOMEM, "capture");
	l->source.ops = &live_ops;
	l->options = *o;
	l->epoll = -1;
	ret = prepare_recording(l, err);
	if (ret)
		live_free(&l->source);
	else
		*out = &l->source;
	return ret;
}
