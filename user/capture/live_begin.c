// SPDX-License-Identifier: Apache-2.0
/*
 * Constructs a live capture. Whatever needs a privilege is loaded or tried in capture_source(), so
 * that a missing privilege is reported before the trace is begun.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/fork_server.h"
#include "capture/buffers.h"
#include "capture/clock.h"
#include "capture/describe.h"
#include "capture/host_name.h"
#include "capture/live.h"
#include "capture/pod.h"
#include "capture/runtime_gil.h"
#include "capture/select.h"

/* Default size of unwind tables in bytes (--unwind-memory). */
#define UNWIND_MEMORY (128UL << 20)
/*
 * Parked samples may take a quarter of the bytes that unwind tables may take, in the recorder's own
 * memory: by default 32 MiB, as many as one CPU's samples of a quarter of a second at 999 Hz, with
 * a copy of 128 KiB of the stack each.
 */
#define PARKED_SHARE 4

static const char *cgroup_path_of(void *context, uint64_t id)
{
	struct live *l = context;

	return cgroups_path(l->selection.cgroups, id);
}

/*
 * Name the place of a process. Host names are read only where they may differ from the machine's:
 * in containers, and if the recorder is in one itself, where a cgroup namespace may hide this.
 */
static struct process_place place_of_process(void *context, const struct process_entry *p,
					     const char *path)
{
	struct live_selection *s = &((struct live *)context)->selection;
	const char *host = "";

	services_find_container(s->services, path, &s->names);
	if ((*s->names.container || host_names_inside(s->host_names)) && !number_is_outside(p->pid))
		host = host_names_find(s->host_names, p->cgroup, p->pid, p->born.ns);
	services_find_name(s->services, path, host, &s->names);
	return (struct process_place){.container = s->names.container, .service = s->names.service};
}

static uint32_t global_number_of(void *context, uint32_t own)
{
	const struct live *l = context;

	return namespace_global(l->selection.namespace, own);
}

static const char *unrecorded_comm_of(void *context, uint32_t number)
{
	const struct live *l = context;

	return namespace_comm(l->selection.namespace, number);
}

/* Rename a thread outside of the recorder's pid namespace, as a side-band record would. */
static int on_outside_renamed(void *context, struct own_numbers of, uint64_t time, const char *comm)
{
	const struct life_record life = {
		.kind = LIFE_COMM, .pid = of.pid, .tid = of.tid, .text = comm};
	struct live *l = context;

	if (!l->processes || !process_table_of_pid(l->processes, of.pid))
		return 0;
	return process_table_life(l->processes, &life, time, NULL);
}

static void scan_unknown(void *context, uint32_t tid)
{
	struct live *l = context;

	if (opener_scan(l->helpers.opener, tid) < 0)
		process_table_scan_over(l->processes, tid);
}

static int begin_wait_stacks(struct live *l, struct error *err)
{
	const struct wait_stacks_context c = {
		.switches = l->switches.array,
		.sink = l->sink,
		.host = HOST_ID,
		.events = {WAIT_EVENT_ID, WAKER_EVENT_ID},
		.last_loss = ledger_last_loss(l->ledger),
		.period = l->options.waits.all ? 0 : l->options.waits.period,
	};

	return wait_stacks_new(&l->switches.waits, &c, err);
}

static int on_schedule_event(void *context, const struct schedule_event *event, struct error *err)
{
	struct live *l = context;
	int ret = live_monitors_event(l, event, err);

	if (!ret && l->probes.events && l->options.probes.parts & PROBE_PART_PYTHON)
		ret = runtime_gil_event(l->probes.events, event, err);
	return ret;
}

int live_begin_schedule(struct live *l, struct error *err)
{
	const bool on_demand = l->options.waits.wanted;
	const struct schedule_context c = {
		.cpus = switches_cpus(l->switches.array),
		.table = l->processes,
		.sink = l->sink,
		.host = HOST_ID,
		.last_lane = &l->switches.last_lane,
		.last_loss = ledger_last_loss(l->ledger),
		.namespace = l->selection.namespace,
		.waits = l->options.waits.stacks || on_demand,
		.wanted = live_selects_thread,
		.unknown = scan_unknown,
		.on_event = !on_demand && (live_walks_stacks(l) || live_probes_files(l))
				    ? on_schedule_event
				    : NULL,
		.context = l,
	};
	int ret = on_demand ? 0 : live_monitors_begin(l, err);

	if (ret)
		return ret;
	l->switches.order = switch_order_new(l->switches.array);
	ret = l->switches.order ? schedule_new(&l->switches.schedule, &c, err)
				: error_errno(err, -ENOMEM, "switches");
	return !ret && c.waits ? begin_wait_stacks(l, err) : ret;
}

static void on_calm(void *context, const struct object *program)
{
	const struct live *l = context;
	const struct file_id *k = &program->file.id;
	const struct wire_file file = {.inode = k->inode, .device = k->major << 20 | k->minor};

	program_set_calm(l->program, &file);
}

static int begin_runtime_events(struct live *l, struct error *err)
{
	const struct runtime_events_context c = {
		.sink = l->sink,
		.table = l->processes,
		.host = HOST_ID,
		.last_lane = &l->switches.last_lane,
		.last_name = &l->probes.last_name,
		.last_loss = ledger_last_loss(l->ledger),
	};

	return runtime_events_new(&l->probes.events, &c, err);
}

int live_begin_tables(struct live *l, struct error *err)
{
	const struct process_context c = {
		.objects = l->objects,
		.sink = l->sink,
		.host = HOST_ID,
		.arena = live_walks_stacks(l) ? l->walkers.arena : NULL,
		.opens_files = live_probes_files(l),
		.last_lane = l->switches.array ? &l->switches.last_lane : NULL,
		.comm_glob = l->options.targets.comm,
		.selected = live_selects_process,
		.calm = live_walks_stacks(l) || live_probes_files(l) ? on_calm : NULL,
		.jvm = live_walks_stacks(l) ? live_jvm_of : NULL,
		.cgroup_path = cgroup_path_of,
		.place = place_of_process,
		.global_number = global_number_of,
		.unrecorded_comm = unrecorded_comm_of,
		.context = l,
	};
	struct ledger_context account = {
		.sampler = l->sampler,
		.sink = l->sink,
		.cpus = program_cpus(l->program),
		.host = HOST_ID,
	};
	int ret = process_table_new(&l->processes, &c, err);

	live_set_ledger_rates(l, &account);
	if (!ret)
		ret = ledger_new(&l->ledger, &account, err);
	if (!ret && l->switches.array)
		ret = live_begin_schedule(l, err);
	if (!ret && l->probes.attached)
		ret = begin_runtime_events(l, err);
	if (!ret)
		ret = live_begin_hits(l, err);
	if (!ret)
		ret = intern_new(&l->intern, l->objects, l->helpers.symbolizer, l->sink, err);
	if (!ret)
		live_connect_helpers(l);
	if (!ret && live_walks_stacks(l))
		program_set_prefetcher(l->program, live_prefetch, l);
	if (!ret && (live_walks_stacks(l) || live_probes_files(l)))
		sideband_set_prefetcher(l->rings.sideband, live_prefetch_mapping, l);
	return ret;
}

int live_describe_waits(struct live *l, struct error *err)
{
	struct wait_stacks_summary used;
	struct event wait = {
		.id = WAIT_EVENT_ID, .host = HOST_ID, .name = EVENT_OFF_CPU, .unit = "ns"};
	struct event waker = {
		.id = WAKER_EVENT_ID, .host = HOST_ID, .name = EVENT_OFF_CPU_WAKERS, .unit = "ns"};
	int ret;

	wait_stacks_get_summary(l->switches.waits, &used);
	wait.period = waker.period = used.period_most;
	ret = put_event(l->sink, &wait, err);
	return ret ? ret : put_event(l->sink, &waker, err);
}

int live_describe_recording(struct live *l, uint64_t end, struct error *err)
{
	int ret = describe_host(l->sink, HOST_ID, l->times.started, end, err);

	if (!ret && l->options.sample)
		ret = live_describe_rates(l, err);
	if (!ret && l->switches.waits)
		ret = live_describe_waits(l, err);
	if (!ret)
		ret = live_describe_hits(l, err);
	if (!ret && !end)
		ret = describe_options(l->sink, HOST_ID, &l->options, err);
	if (!ret && end)
		ret = describe_pauses(l->sink, HOST_ID, l->times.pause.total, err);
	return ret;
}

static void live_free(struct source *source)
{
	struct live *l = (struct live *)source;

	program_join_java(l->program); /* it may still use the maps of the probes */
	live_probes_free(l);
	live_handlers_free(l);
	group_sums_free(l->probes.groups);
	sampler_free(l->sampler);
	ledger_free(l->ledger);
	saver_free(l->stacks.saver);
	live_free_stacks(l);
	live_free_open_waits(l);
	intern_free(l->intern);
	process_table_free(l->processes);
	objects_free(l->objects);
	tables_free(l->walkers.tables);
	arena_free(l->walkers.arena);
	inlines_free(l->helpers.inlines);
	debuginfod_free(l->helpers.debuginfod);
	pager_free(l->helpers.pager);
	symbolizer_free(l->helpers.symbolizer);
	opener_free(l->helpers.opener);
	fork_server_close(l->helpers.forks);
	wait_stacks_free(l->switches.waits);
	schedule_free(l->switches.schedule);
	monitor_classes_free(l->switches.classes);
	switch_order_free(l->switches.order);
	switches_free(l->switches.array);
	program_free(l->program);
	sideband_free(l->rings.sideband);
	order_free(l->rings.order);
	cgroups_free(l->selection.cgroups);
	services_free(l->selection.services);
	host_names_free(l->selection.host_names);
	namespace_free(l->selection.namespace);
	vector_free(&l->selection.cpus);
	vector_free(&l->walkers.jvms_followed);
	vector_free(&l->walkers.jvms_starting);
	if (l->selection.online >= 0)
		close(l->selection.online);
	if (l->rings.epoll >= 0)
		close(l->rings.epoll);
	free(l);
}

static const struct source_ops live_ops = {.run = live_run, .free = live_free};

/*
 * Bytes of copied stack for which a sample ring is sized; only few programs, such as compilers,
 * have deeper stacks.
 */
#define DEEP_STACK 65536

/* Stacks of waits and of wakers a second and CPU for which a sample ring is sized. */
#define WAIT_STACKS_RATE 900
#define WAIT_STACKS_RATE_ALL 16000 /* with --all-stacks */
/* Stacks of hits of probes, of both events: twice their budget, for storms that have just begun. */
#define HIT_STACKS_RATE 2048

/*
 * Return the bytes of a sample ring if --buffer is not given. An event that is not a clock counts
 * as 1000 samples a second if it has a period. with_memory: every sample has a copy of its stack.
 */
static uint64_t default_buffer(const struct live *l, bool with_memory)
{
	const struct sampled_event *e = &l->clock.rates[0];
	const struct capture_waits *w = &l->options.waits;
	uint64_t rate = e->frequency ? e->frequency : e->clocked ? NSEC_PER_SEC / e->period : 1000;
	int cpus;

	program_quiet_library();
	cpus = libbpf_num_possible_cpus();
	rate += w->all ? WAIT_STACKS_RATE_ALL : w->stacks || w->wanted ? WAIT_STACKS_RATE : 0;
	rate += l->probes.stacks ? HIT_STACKS_RATE : 0;
	return buffers_samples_bytes(cpus < 0 ? 1 : (unsigned int)cpus, rate,
				     with_memory ? DEEP_STACK + 2048 : 2048);
}

/* Return whether SKEIN_DEBUG_WALK, a list of words for debugging the walkers, contains a word. */
static bool debug_word(const char *word)
{
	const char *words = getenv("SKEIN_DEBUG_WALK");

	return words && strstr(words, word);
}

/* Choose how stacks of waits are taken; without a way, do without them if they are optional. */
static int choose_wait_hook(struct live *l, enum wait_hook *out, struct error *err)
{
	int ret = debug_word("no-waits")
			  ? error_set(err, -ENOTSUP, "stacks of waits are switched off")
			  : program_choose_wait_hook(out, debug_word("irq-work"), err);

	if (ret != -ENOTSUP || !(l->options.waits.optional || l->options.waits.wanted))
		return ret;
	snprintf(l->switches.no_waits, sizeof(l->switches.no_waits), "%.191s", err->text);
	l->options.waits.stacks = false;
	return 0;
}

int live_load_open_waits(struct live *l, struct program_waits waits, struct error *err)
{
	const struct open_waits_parts parts = {!l->options.user_only, !l->options.kernel_only,
					       debug_word("hurry"), debug_word("open-refused")};
	int taking[] = {program_wait_fd(l->program), -1};
	int ret = open_waits_load(&l->switches.open.reader, l->program, &parts, err);

	if (ret)
		return ret;
	if (!waits.on_demand)
		taking[1] = program_waker_fd(l->program);
	own_frames_find(&l->switches.own, taking, waits.on_demand ? 1 : 2,
			waits.hook == WAIT_HOOK_INTERRUPT);
	program_set_java_loader(l->program, open_waits_load_java, l->switches.open.reader);
	return 0;
}

static int load_program(struct live *l, struct error *err)
{
	const struct capture_options *o = &l->options;
	bool save_all = o->files.save_stacks || debug_word("save-all");
	struct program_options p = {
		.sample = o->sample,
		.kernel_stack = !o->user_only,
		.user_stack = !o->kernel_only,
		.idle = o->idle,
		.clocked = l->clock.rates[0].clocked,
		.select_pids = o->targets.pid_count > 0,
		.select_tids = o->targets.tid_count > 0,
		.namespace = namespace_wire(l->selection.namespace),
		.cgroup_subsys = cgroups_subsystem(l->selection.cgroups),
		.ring_bytes = o->memory.buffer ? o->memory.buffer : default_buffer(l, save_all),
		.debug.tail_calls = debug_word("tail-calls"),
		.debug.no_python = debug_word("no-python"),
		.save_all = save_all,
		.debug.stop_sampled = debug_word("stop"),
		.waits.on_demand = o->waits.wanted,
		.hits = l->probes.stacks,
		.starts = live_probes_files(l),
	};
	struct cgroup_place place;
	int ret = 0;

	/* a ring that has no samples still wakes the recorder */
	if (!o->sample && !o->waits.stacks && !l->probes.stacks &&
	    (live_probes(l) || o->probes.interrupts.wanted))
		p.ring_bytes = 4096;
	if (o->waits.stacks || o->waits.wanted)
		ret = choose_wait_hook(l, &p.waits.hook, err);
	if (ret)
		return ret;
	l->switches.demand.waits = p.waits;
	p.select_namespace = p.namespace.level && !o->targets.whole_host;
	if (o->targets.cgroup || o->targets.pod) {
		ret = o->targets.pod
			      ? pod_find(l->selection.cgroups, &place, err)
			      : cgroups_find(l->selection.cgroups, o->targets.cgroup, &place, err);
		if (ret)
			return ret;
		p.select_cgroup = true;
		p.selected_subsys = place.subsystem;
		p.selected_cgroup = place.id;
		p.selected_level = place.level;
	}
	l->options.memory.buffer = p.ring_bytes;
	ret = program_load(&l->program, &p, l->rings.order, err);
	if (!ret && o->sched)
		ret = switches_load(&l->switches.array, l->program, o->memory.switch_buffer,
				    p.waits, err);
	if (!ret && p.waits.hook && !p.waits.on_demand)
		ret = live_load_open_waits(l, p.waits, err);
	if (!ret)
		ret = live_probes_load(l, err);
	if (!ret)
		ret = live_handlers_load(l, err);
	if (!ret)
		ret = live_groups_load(l, err);
	if (!ret && debug_word("java"))
		ret = program_wait_for_java(l->program, err);
	return ret;
}

static void on_object_updated(void *context, struct object *o, bool changed)
{
	struct live *l = context;

	l->stacks.retry = true;
	live_java_updated(l, o);
	if (l->intern)
		intern_object_updated(l->intern, o, changed);
}

/* Create the tables that the walkers look up, and the objects to which unwind tables belong. */
static int begin_unwinding(struct live *l, struct error *err)
{
	uint64_t most = l->options.memory.unwind ? l->options.memory.unwind : UNWIND_MEMORY;
	struct tables_memory memory = {
		.slots = program_slots(l->program),
		.rules = program_rules(l->program),
	};
	struct objects_context objects = {
		.object_updated = on_object_updated,
		.context = l,
		.opener = l->helpers.opener,
		.debuginfod = l->helpers.debuginfod,
		.symbolizer = l->helpers.symbolizer,
		.unwind = live_walks_stacks(l),
		.inspect = live_walks_stacks(l) || live_probes_files(l),
	};
	int ret;

	l->stacks.most = most / PARKED_SHARE;
	l->walkers.arena = memory.arena = arena_new(most, program_add_chunk, l->program);
	if (!l->walkers.arena)
		return error_errno(err, -ENOMEM, "unwind tables");
	ret = tables_new(&l->walkers.tables, &memory, err);
	if (ret)
		return ret;
	/* Ignore errors: without the cache, tables are only slower to get. */
	if (l->options.files.unwind_cache)
		(void)symbolizer_use_cache(l->helpers.symbolizer, l->options.files.unwind_cache);
	objects.tables = l->walkers.tables;
	return objects_new(&l->objects, &objects, err);
}

/* Make the parts of the capture that need no sink, among them all that may lack a privilege. */
static int prepare_recording(struct live *l, struct error *err)
{
	const struct capture_options *o = &l->options;
	int ret = live_find_rates(l, err);

	if (!ret && o->targets.cpus)
		ret = live_check_cpus(l, err);
	if (!ret)
		ret = namespace_new(&l->selection.namespace, err);
	if (!ret && o->targets.whole_host)
		namespace_include_outside(l->selection.namespace, on_outside_renamed, l);
	if (!ret)
		ret = namespace_load(l->selection.namespace, err);
	if (!ret)
		ret = select_check(&o->targets, err);
	if (!ret && o->files.save_stacks)
		ret = saver_new(&l->stacks.saver, o->files.save_stacks, debug_word("save-good"),
				err);
	if (!ret)
		ret = cgroups_new(&l->selection.cgroups, "/proc/self/mountinfo", err);
	if (!ret)
		ret = services_new(&l->selection.services, o->files.service_rules, err);
	l->selection.host_names = host_names_new();
	if (!ret && !l->selection.host_names)
		ret = error_errno(err, -ENOMEM, "host names");
	if (!ret)
		ret = live_probes_prepare(l, err);
	l->probes.stacks = live_wants_hits(l) && program_has_loops() && !debug_word("tail-calls");
	if (!ret)
		l->selection.online = cpus_open_online(err);
	if (!ret && l->selection.online < 0)
		ret = l->selection.online;
	if (!ret)
		ret = fork_server_open(&l->helpers.forks, err);
	if (!ret)
		ret = live_start_helpers(l, err);
	l->rings.order = order_new();
	l->rings.tasks = l->rings.order ? order_add_ring(l->rings.order) : -1;
	l->switches.open.ring = l->rings.order ? order_add_ring(l->rings.order) : -1;
	l->rings.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!ret && (!l->rings.order || l->rings.tasks < 0 || l->switches.open.ring < 0 ||
		     l->rings.epoll < 0))
		ret = error_errno(err, -ENOMEM, "capture");
	if (!ret)
		ret = load_program(l, err);
	if (!ret)
		ret = begin_unwinding(l, err);
	if (!ret)
		ret = sampler_new(&l->sampler, l->clock.rates, l->clock.count, l->program, err);
	if (!ret && o->sample)
		ret = sampled_event_try(&l->clock.rates[0], program_cpus(l->program), err);
	if (!ret)
		ret = sideband_new(&l->rings.sideband, l->rings.order,
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
	l->rings.epoll = l->selection.online = -1;
	ret = prepare_recording(l, err);
	if (ret)
		live_free(&l->source);
	else
		*out = &l->source;
	return ret;
}
