// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the loop of live capture: drains the rings, releases the records that are in order, resolves
 * names, and passes everything to the sink.
 */
#include <errno.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/live.h"
#include "capture/select.h"

/* The mark that releases all records; UINT64_MAX is the time of no record. */
#define ALL_RECORDS (UINT64_MAX - 1)
/* Time (ns) for which the recorder lets replies gather, since each reply would wake it. */
#define GATHER_NAMES (2 * NSEC_PER_MSEC)
/* Limit (ns) for looking up the tables of running programs in the cache before sampling starts. */
#define TABLES_LIMIT (3 * NSEC_PER_SEC)
/*
 * Limit (ns), after that lookup, for making tables that the cache lacks. The remaining tables are
 * made during sampling; until then, another worker makes the pages that walks need (pager.h).
 */
#define MAKING_LIMIT (50 * NSEC_PER_MSEC)
/*
 * Limit (ns) for loading the walker of Java frames and reading the layouts of running JVMs before
 * sampling starts.
 */
#define JVMS_LIMIT (500 * NSEC_PER_MSEC)
/* Limit (ns) for finding and attaching probes before a recording starts. */
#define PROBES_LIMIT (3 * NSEC_PER_SEC)
/*
 * Interval (ns) between returns of free memory to the system, each of which takes about a
 * millisecond.
 */
#define TIDY_INTERVAL (30 * NSEC_PER_SEC)
/* Limit (ns) for the scan of /proc at the start. */
#define SCAN_LIMIT (30 * NSEC_PER_SEC)

/*
 * Events that end a wait: a ring fills up or the BPF programs wake the recorder, the symbolizer of
 * names has replies, another helper process has replies, or fds.wake is readable (a signal, which
 * keep_going looks at). Sample rings are separate because they are written at ticks of the sampling
 * clock.
 */
enum wake {
	WAKE_RING = 1,
	WAKE_SAMPLE_RING = 2,
	WAKE_NAMES = 4,
	WAKE_HELPER = 8,
	WAKE_SIGNAL = 16,
};

static int update_walkers_process(void *context, uint32_t pid, const struct unwind_process *p)
{
	struct live *l = context;
	uint32_t global = namespace_global(l->selection.namespace, pid);

	if (p && global)
		live_runtime_sent(l, global, p);
	if (p)
		return global ? program_set_process(l->program, global, p,
						    order_mark(l->rings.order))
			      : -EAGAIN; /* the record of its birth is still to come */
	if (global)
		program_forget_process(l->program, global);
	return 0;
}

/*
 * Pass changed mappings to the BPF walkers, and retry parked stacks if l->stacks.retry is set.
 * Errors of passing mappings are ignored: stacks are then finished in user space, at a higher cost.
 */
static int update_walkers(struct live *l, uint64_t now, struct error *err)
{
	(void)process_table_send(l->processes, update_walkers_process, l, now);
	l->walkers.remapped = false;
	if (!l->stacks.retry)
		return 0;
	l->stacks.retry = false;
	return live_retry_stacks(l, false, err);
}

static int push_found_task(void *context, const struct wire_task *t)
{
	struct live *l = context;

	return order_push(l->rings.order, l->rings.tasks, t->time, t, sizeof(*t));
}

int live_snapshot_threads(struct live *l, struct error *err)
{
	int ret = switches_snapshot(l->switches.array, push_found_task, l);

	return ret ? error_errno(err, ret, "the threads of this machine") : 0;
}

/* Return the time, ns, up to which all records of the rings and all switches have arrived. */
static uint64_t release_mark(struct live *l)
{
	uint64_t rings = order_mark(l->rings.order);
	uint64_t switches =
		l->switches.schedule ? switch_order_mark(l->switches.order) : ALL_RECORDS;

	return rings < switches ? rings : switches;
}

/*
 * Handle all records of the rings and all switches up to mark, ns, in the order of their times. Of
 * equal times, records of the rings come before switches.
 */
static int release_records(struct live *l, uint64_t mark, struct error *err)
{
	uint64_t ring = order_next_time(l->rings.order), switched = UINT64_MAX;
	struct ordered_record record;
	struct switch_record s;
	int ret = 0;

	if (l->switches.schedule)
		switched = switch_order_next_time(l->switches.order);
	while (!ret && (ring <= mark || switched <= mark)) {
		if (ring <= switched) {
			order_release(l->rings.order, &record);
			ret = live_handle_record(l, &record, err);
			ring = order_next_time(l->rings.order);
		} else {
			switch_order_release(l->switches.order, &s);
			ret = schedule_record(l->switches.schedule, &s, err);
			switched = switch_order_next_time(l->switches.order);
		}
	}
	l->rings.mark = mark;
	return ret;
}

static bool has_more(const struct live *l)
{
	return program_has_more(l->program) ||
	       (l->probes.attached && probes_has_more(l->probes.attached)) ||
	       (l->probes.handlers.attached && handlers_has_more(l->probes.handlers.attached)) ||
	       (l->switches.schedule && switch_order_has_more(l->switches.order));
}

static enum pace_finding drain_finding(const struct live *l)
{
	if (l->rings.unknown || program_saw_urgent(l->program))
		return PACE_LACKING;
	return sideband_is_quiet(l->rings.sideband) ? PACE_QUIET : PACE_LIFE;
}

int live_drain(struct live *l, struct error *err)
{
	uint64_t now = clock_boot_ns();
	int ret;

	l->rings.unknown = false;
	/* Records are translated when they are prefetched, which is soon, and in their order. */
	ret = namespace_drain(l->selection.namespace, now);
	if (!ret)
		ret = sideband_drain(l->rings.sideband, now);
	if (!ret)
		ret = program_drain(l->program, now);
	if (!ret && l->probes.attached)
		ret = live_probes_drain(l, now);
	if (!ret)
		ret = live_handlers_drain(l, now);
	if (!ret && l->switches.schedule)
		ret = switch_order_copy(l->switches.order);
	if (!ret)
		ret = namespace_drain(l->selection.namespace, now);
	if (ret)
		return error_errno(err, ret, "draining the rings");
	if (l->switches.waits)
		wait_stacks_adapt(l->switches.waits, now);
	pace_rings_read(&l->times.pace, now, drain_finding(l));
	ret = release_records(l, release_mark(l), err);
	if (!ret && l->switches.schedule && schedule_take_snapshot_due(l->switches.schedule))
		ret = live_snapshot_threads(l, err);
	return ret ? ret : update_walkers(l, now, err);
}

/*
 * Count lost side-band records. After a loss, scan /proc, which is the only other source for the
 * present processes and mappings.
 */
static void note_side_band_losses(struct live *l)
{
	uint64_t lost, malformed, unselected = program_unselected(l->program);

	sideband_take_losses(l->rings.sideband, &lost, &malformed);
	ledger_count_lost(l->ledger, LOSS_BAD_RECORD, malformed);
	ledger_count_lost(l->ledger, LOSS_LIFE_LOST, lost + unselected - l->selection.unselected);
	l->selection.unselected = unselected;
	if (lost)
		opener_scan(l->helpers.opener, 0);
}

static void note_switch_losses(struct live *l)
{
	struct schedule_counts now;

	if (!l->switches.schedule)
		return;
	now = *schedule_counts(l->switches.schedule);
	ledger_count_lost(l->ledger, LOSS_OUT_OF_ORDER,
			  now.disorder - l->switches.reported.disorder);
	ledger_count_lost(l->ledger, LOSS_UNREPORTED,
			  now.unreported - l->switches.reported.unreported);
	l->switches.reported = now;
}

int live_forget(struct live *l, uint64_t now, struct error *err)
{
	l->times.last_forget = now;
	intern_forget(l->intern);
	objects_forget(l->objects);
	if (l->probes.events)
		live_probes_forget(l);
	live_handlers_forget(l);
	if (l->switches.classes)
		monitor_classes_forget(l->switches.classes);
	return sink_forget(l->sink, err);
}

/*
 * Do that twice in the time options.keep: stacks are then kept for at most one and a half times
 * that time.
 */
static int forget_old_records(struct live *l, uint64_t now, struct error *err)
{
	if (!l->options.keep || now < l->times.last_forget + l->options.keep / 2)
		return 0;
	return live_forget(l, now, err);
}

/*
 * Return free memory to the system: the freed memory of stacks, and of the cells that the sink
 * writes, leaves holes between blocks that stay in use.
 */
static void free_unused_memory(struct live *l, uint64_t now)
{
	order_tidy(l->rings.order);
	if (now < l->times.last_tidy + TIDY_INTERVAL)
		return;
	l->times.last_tidy = now;
	malloc_trim(0);
}

/* Ticks must not follow the sampling clock, as reading the rings must not (pace.h). */
static uint64_t next_tick(struct live *l, uint64_t now)
{
	const uint64_t longest = l->options.when.tick;

	return longest ? now + longest - pace_pause(&l->times.pace) : now + LIVE_TICK;
}

static int live_tick(struct live *l, bool last, struct error *err)
{
	uint64_t now = clock_boot_ns();
	uint32_t wanted;
	int ret;

	l->times.last_tick = now;
	l->times.next_tick = next_tick(l, now);
	note_side_band_losses(l);
	note_switch_losses(l);
	ret = live_handlers_tick(l, err);
	if (!ret)
		ret = live_groups_tick(l, err);
	if (!ret)
		ret = intern_tick(l->intern, last, err);
	if (!ret && l->probes.events)
		ret = runtime_events_tick(l->probes.events, now, err);
	if (!ret)
		ret = process_table_tick(l->processes, now, err);
	if (!ret)
		ret = objects_emit(l->objects, HOST_ID, l->sink, err);
	if (!ret)
		ret = live_probes_report(l, err);
	if (!ret)
		ret = ledger_report(l->ledger, now, last, err);
	if (!ret && l->switches.waits)
		ret = wait_stacks_report(l->switches.waits, now, last || l->switches.open.copied,
					 err);
	if (!ret)
		ret = live_report_hits(l, now, last, err);
	if (!ret && l->switches.schedule)
		ret = schedule_tick(l->switches.schedule, l->rings.mark, err);
	if (!ret)
		ret = sink_tick(l->sink, now, err);
	if (!ret)
		ret = forget_old_records(l, now, err);
	l->progress.ticks++;
	l->selection.over = l->options.targets.pid_count && program_selection_over(l->program);
	objects_refresh(l->objects, now);
	live_java_tidy(l);
	if (!last)
		live_jvms_tick(l);
	objects_trim(l->objects);
	if (l->helpers.pager)
		pager_tidy(l->helpers.pager);
	free_unused_memory(l, now);
	wanted = tables_take_wanted(l->walkers.tables, now);
	if (wanted)
		objects_request_table(l->objects, wanted);
	return ret;
}

static bool live_keep_going(struct live *l)
{
	struct capture_progress *p = &l->progress;

	ledger_progress(l->ledger, &p->filtered, &p->lost);
	p->elapsed = clock_boot_ns() - l->times.started;
	if (l->switches.schedule) {
		p->switches = schedule_counts(l->switches.schedule)->switches;
		p->lost += schedule_counts(l->switches.schedule)->lost;
	}
	p->hits = l->summary.probed.hits;
	p->pending.names = symbolizer_pending(l->helpers.symbolizer);
	if (l->helpers.inlines)
		p->pending.inlines = inlines_pending(l->helpers.inlines);
	if (!l->options.keep_going(l->options.context, p) || (l->selection.over && !p->finishing))
		return false;
	return !l->options.when.duration || p->elapsed < l->options.when.duration || p->finishing;
}

/* Return how long to sleep, ns: until the next drain, or the end of the recording. */
static uint64_t sleep_time(const struct live *l, uint64_t now)
{
	uint64_t until = l->times.pace.next, end = l->times.started + l->options.when.duration;
	uint64_t java = live_java_next(l);

	if (has_more(l))
		return 0;
	if (l->options.when.duration && end < until)
		until = end;
	if (java < until)
		until = java;
	if (l->options.when.tick && l->times.next_tick < until)
		until = l->times.next_tick;
	return until > now ? until - now : 0;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC)};
}

static void sleep_for(uint64_t ns)
{
	const struct timespec t = timespec_of(ns);

	(void)nanosleep(&t, NULL);
}

/*
 * Wait until there is something to do. Returns a mask of enum wake: WAKE_RING if the rings are to
 * be drained, never WAKE_SAMPLE_RING.
 */
static unsigned int wait_for_work(struct live *l)
{
	struct epoll_event events[64];
	uint64_t now = clock_boot_ns();
	const struct timespec limit = timespec_of(sleep_time(l, now));
	unsigned int woken = 0;
	int n;

	program_set_sleep(l->program, pace_sleep_kind(&l->times.pace, now));
	n = epoll_pwait2(l->rings.epoll, events, 64, &limit, NULL);
	program_set_sleep(l->program, WIRE_AWAKE);
	for (int i = 0; i < n; i++)
		woken |= events[i].data.u32;
	if (woken & WAKE_SAMPLE_RING)
		sleep_for(pace_pause(&l->times.pace));
	if (woken & WAKE_SAMPLE_RING || has_more(l) || clock_boot_ns() >= l->times.pace.next)
		woken |= WAKE_RING;
	return woken & ~(unsigned int)WAKE_SAMPLE_RING;
}

/*
 * Wait until more replies with names have gathered. Do not wait if tables are pending, since stacks
 * and walkers wait for these, or if the last drain was urgent, since the next reply may be needed
 * at once.
 */
static void gather_names(struct live *l)
{
	if (!symbolizer_tables_pending(l->helpers.symbolizer) && !program_saw_urgent(l->program))
		sleep_for(GATHER_NAMES);
}

/* Do what is due once a second. */
static int do_tick(struct live *l, struct error *err)
{
	const struct capture_options *o = &l->options;
	int ret = o->when.tick ? live_drain(l, err) : 0;

	if (!ret)
		ret = live_poll_helpers(l, true, err);
	if (!ret)
		ret = live_follow_cpus(l, err);
	live_drop_open_waits(l);
	if (!ret && o->waits.wants_open && o->waits.wants_open(o->context, &l->progress) &&
	    live_records_waits(l))
		ret = live_copy_open_waits(l, err);
	live_measure_cost(l);
	if (!ret)
		ret = live_follow_rate(l, err);
	if (!ret)
		ret = live_tick(l, false, err);
	return ret ? ret : live_relieve_memory(l, err);
}

static int run_rounds(struct live *l, struct error *err)
{
	int ret = 0;

	while (!ret && live_keep_going(l)) {
		unsigned int woken = wait_for_work(l);

		if (woken == WAKE_NAMES)
			gather_names(l);
		if (woken & WAKE_RING)
			ret = live_drain(l, err);
		if (!ret &&
		    (woken & (WAKE_NAMES | WAKE_HELPER) || opener_pending(l->helpers.opener) ||
		     intern_take_urgent(l->intern) || live_java_next(l) <= clock_boot_ns() ||
		     live_may_request_names(l, clock_boot_ns())))
			ret = live_poll_helpers(l, false, err);
		if (!ret && (l->walkers.remapped || l->stacks.retry))
			ret = update_walkers(l, clock_boot_ns(), err);
		if (!ret)
			ret = live_follow_pause(l, err);
		if (!ret && l->options.waits.wanted)
			ret = live_follow_demand(l, err);
		if (!ret && woken & WAKE_SIGNAL)
			ret = live_follow_rate(l, err);
		if (!ret && clock_boot_ns() >= l->times.next_tick)
			ret = do_tick(l, err);
	}
	return ret;
}

static int watch_fd(struct live *l, int fd, uint32_t events, enum wake what)
{
	struct epoll_event e = {.events = EPOLLIN | events, .data.u32 = what};

	if (fd < 0)
		return 0;
	return epoll_ctl(l->rings.epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

int live_watch_sideband(struct live *l, unsigned int cpu)
{
	return watch_fd(l, sideband_fd(l->rings.sideband, cpu), EPOLLET, WAKE_RING);
}

/*
 * Add the descriptors of the helpers, of all rings and of fds.wake to epoll. Rings are watched
 * edge-triggered, because they are hardly ever empty.
 */
static int watch_all_fds(struct live *l, struct error *err)
{
	int ret = watch_fd(l, symbolizer_fd(l->helpers.symbolizer), 0, WAKE_NAMES);

	if (!ret)
		ret = watch_fd(l, opener_fd(l->helpers.opener), 0, WAKE_HELPER);
	if (!ret)
		ret = watch_fd(l, l->helpers.pager ? pager_fd(l->helpers.pager) : -1, 0,
			       WAKE_HELPER);
	if (!ret)
		ret = watch_fd(l, l->helpers.inlines ? inlines_fd(l->helpers.inlines) : -1, 0,
			       WAKE_HELPER);
	if (!ret)
		ret = watch_fd(l, l->helpers.debuginfod ? debuginfod_fd(l->helpers.debuginfod) : -1,
			       0, WAKE_HELPER);
	if (!ret)
		ret = watch_fd(l, l->options.fds.wake, 0, WAKE_SIGNAL);
	for (size_t i = 0; !ret && i < program_ring_count(l->program); i++)
		ret = watch_fd(l, program_ring_fd(l->program, i), EPOLLET, WAKE_SAMPLE_RING);
	for (size_t i = 0; !ret && l->probes.attached && probes_ring_fd(l->probes.attached, i) >= 0;
	     i++)
		ret = watch_fd(l, probes_ring_fd(l->probes.attached, i), EPOLLET, WAKE_RING);
	for (unsigned int cpu = 0; !ret && cpu < program_cpus(l->program); cpu++)
		ret = live_watch_sideband(l, cpu);
	return ret ? error_errno(err, ret, "epoll") : 0;
}

int live_await_helpers(struct live *l, struct error *err)
{
	struct epoll_event e;
	int ret;

	epoll_wait(l->rings.epoll, &e, 1, 10);
	live_java_poll(l, clock_boot_ns());
	ret = live_poll_helpers(l, true, err);
	return ret ? ret : sideband_drain(l->rings.sideband, clock_boot_ns());
}

/* Find all processes and their mappings before the first sample, for at most SCAN_LIMIT. */
static int scan_machine(struct live *l, struct error *err)
{
	uint64_t until = clock_boot_ns() + SCAN_LIMIT;
	int ret = opener_scan(l->helpers.opener, 0);

	if (ret)
		return error_errno(err, ret, "reading /proc");
	while (!ret && !l->helpers.scanned && clock_boot_ns() < until)
		ret = live_await_helpers(l, err);
	return ret;
}

/*
 * Get the tables of running programs, most of them from the cache, for at most TABLES_LIMIT. A
 * sample that lacks a table comes with a copy of up to 192 KiB of its stack, and a stack may be
 * longer than that.
 */
static int prepare_tables(struct live *l, struct error *err)
{
	struct capture_progress *p = &l->progress;
	uint64_t until = clock_boot_ns() + TABLES_LIMIT;
	bool looked = false;
	int ret = live_poll_helpers(l, true, err);

	p->preparing = true;
	while (!ret && clock_boot_ns() < until && l->options.keep_going(l->options.context, p)) {
		p->pending.tables = symbolizer_tables_pending(l->helpers.symbolizer);
		if (!p->pending.tables && !opener_pending(l->helpers.opener))
			break;
		if (!looked && l->options.files.unwind_cache &&
		    !opener_pending(l->helpers.opener) &&
		    !symbolizer_keys_pending(l->helpers.symbolizer)) {
			looked = true;
			if (until > clock_boot_ns() + MAKING_LIMIT)
				until = clock_boot_ns() + MAKING_LIMIT;
		}
		ret = live_await_helpers(l, err);
	}
	p->preparing = false;
	return ret;
}

/*
 * Pass the mappings of running programs to the walkers and get the layouts of JVMs, for at most
 * JVMS_LIMIT: samples that are taken before lack their Java frames.
 */
static int prepare_walkers(struct live *l, struct error *err)
{
	uint64_t until = clock_boot_ns() + JVMS_LIMIT;
	int ret = update_walkers(l, clock_boot_ns(), err);

	/* the lists of threads, too: their waits have no classes before */
	while (!ret && clock_boot_ns() < until &&
	       (live_java_pending(l) || symbolizer_jvm_pending(l->helpers.symbolizer) ||
		(l->probes.stacks && program_is_loading_java(l->program)))) {
		ret = live_await_helpers(l, err);
		if (!ret && l->walkers.remapped)
			ret = update_walkers(l, clock_boot_ns(), err);
	}
	return ret;
}

static int release_command(struct live *l, struct error *err)
{
	if (l->options.fds.release >= 0 && write(l->options.fds.release, "", 1) != 1)
		return error_errno(err, -errno, "starting the command");
	return 0;
}

/*
 * Set the timer slack to its minimum. With the usual slack of 50 µs, a timer fires together with
 * any interrupt in that time, and so coincides with the sampling clock more often than by chance.
 */
static void wake_in_time(void)
{
	(void)prctl(PR_SET_TIMERSLACK, 1UL); /* ns */
}

/*
 * Start the command, and wait until the recording is to begin. Processes are followed meanwhile, as
 * before.
 */
static int await_begin(struct live *l, struct error *err)
{
	uint64_t until = clock_boot_ns() + l->options.when.delay;
	int ret = release_command(l, err);

	l->progress.waiting = true;
	while (!ret && l->options.keep_going(l->options.context, &l->progress) &&
	       (clock_boot_ns() < until || live_wants_pause(l))) {
		ret = live_await_helpers(l, err);
		if (!ret)
			ret = live_drain(l, err);
		live_pass_cue(l);
	}
	l->progress.waiting = false;
	return ret;
}

/* Attach the user's probes, and those of running programs, for at most PROBES_LIMIT. */
static int prepare_probes(struct live *l, struct error *err)
{
	uint64_t until = clock_boot_ns() + PROBES_LIMIT;
	int ret = 0;

	while (!ret && clock_boot_ns() < until &&
	       (l->probes.awaited || opener_pending(l->helpers.opener) ||
		symbolizer_inspecting(l->helpers.symbolizer)))
		ret = live_await_helpers(l, err);
	return ret ? ret : live_probes_check(l, err);
}

static int begin_recording(struct live *l, struct error *err)
{
	bool later = l->options.when.delay || live_wants_pause(l);
	int ret = live_begin_tables(l, err);

	wake_in_time();
	if (!ret)
		ret = watch_all_fds(l, err);
	/* Attach the hooks first: children of selected processes are selected from here on. */
	if (!ret)
		ret = program_attach(l->program, err);
	if (!ret && l->switches.array)
		ret = switches_attach(l->switches.array, err);
	if (!ret)
		ret = live_handlers_attach(l, err);
	if (!ret)
		ret = live_groups_attach(l, err);
	if (!ret)
		ret = namespace_attach(l->selection.namespace, err);
	/* Select before the scan: mappings of processes that are not selected are not kept. */
	if (!ret)
		ret = select_targets(l->program, l->selection.namespace, &l->options.targets, err);
	if (!ret)
		ret = live_probes_begin(l, err);
	if (!ret)
		ret = scan_machine(l, err);
	/* hits of a JVM that starts later would be missed until they are loaded */
	if (!ret && l->probes.stacks)
		program_expect_java(l->program);
	if (!ret)
		ret = prepare_tables(l, err);
	if (!ret)
		ret = prepare_walkers(l, err);
	if (!ret && l->probes.attached)
		ret = prepare_probes(l, err);
	if (!ret && later)
		ret = await_begin(l, err);
	if (ret)
		return ret;
	l->times.started = l->times.resumed = l->times.last_tick = l->times.last_forget =
		l->times.last_tidy = clock_boot_ns();
	live_follow_hits(l, true);
	live_start_pace(l);
	l->times.next_tick = next_tick(l, l->times.started);
	/* The sums of before would be more than the first window's time. */
	ret = live_groups_begin(l, err);
	if (!ret)
		ret = live_describe_recording(l, 0, err);
	if (!ret)
		ret = live_follow_cpus(l, err);
	if (!ret && l->switches.array)
		ret = live_snapshot_threads(l, err);
	live_jvms_tick(l);
	if (!ret)
		ret = sink_tick(l->sink, l->times.started, err);
	return ret || later ? ret : release_command(l, err);
}

/* Return whether there is time left for the last tables and names, which share it. */
static bool may_wait(const struct live *l)
{
	return clock_boot_ns() < l->times.ended + l->options.wait_names;
}

static bool wants_names(struct live *l)
{
	return symbolizer_pending(l->helpers.symbolizer) || opener_pending(l->helpers.opener) ||
	       objects_reread_kernel(l->objects, clock_boot_ns());
}

static bool wants_inlines(const struct live *l)
{
	return l->helpers.inlines && inlines_pending(l->helpers.inlines) &&
	       clock_boot_ns() < l->times.ended + l->options.wait_inlines;
}

/*
 * Request the names and places that are still missing, and wait for the replies within the limits
 * wait_names and wait_inlines. Pending tables are dropped, since they are no longer needed.
 */
static int finish_names(struct live *l, struct error *err)
{
	int ret = 0;

	l->progress.finishing = true;
	symbolizer_drop_tables(l->helpers.symbolizer);
	objects_refresh(l->objects, clock_boot_ns());
	do {
		struct epoll_event e;

		ret = live_poll_helpers(l, true, err);
		if (ret || !((may_wait(l) && wants_names(l)) || wants_inlines(l)))
			break;
		epoll_wait(l->rings.epoll, &e, 1, 20);
	} while (live_keep_going(l));
	return ret;
}

/* Finish the parked stacks whose tables arrive in time, and put all others as they are. */
static int finish_tables(struct live *l, struct error *err)
{
	int ret = 0;

	l->progress.finishing = true;
	while (!ret && l->stacks.parked.count && may_wait(l) && live_keep_going(l) &&
	       (symbolizer_tables_pending(l->helpers.symbolizer) ||
		opener_pending(l->helpers.opener))) {
		struct epoll_event e;

		epoll_wait(l->rings.epoll, &e, 1, 20);
		ret = live_poll_helpers(l, true, err);
		if (!ret)
			ret = update_walkers(l, clock_boot_ns(), err);
	}
	return ret ? ret : live_retry_stacks(l, true, err);
}

static int end_recording(struct live *l, struct error *err)
{
	int ret = 0;

	ret = live_jvms_last(l, err);
	live_drop_open_waits(l);
	if (!ret && live_records_waits(l))
		ret = live_read_open_waits(l, err);
	live_stop_cpus(l);
	l->times.ended = clock_boot_ns();
	if (l->probes.attached)
		probes_stop(l->probes.attached);
	l->summary.elapsed = l->times.ended - l->times.started;
	do {
		ret = ret ? ret : live_drain(l, err);
	} while (!ret && has_more(l));
	order_close(l->rings.order);
	if (!ret)
		ret = release_records(l, ALL_RECORDS, err);
	live_jvms_compare(l);
	if (!ret && l->switches.schedule)
		ret = schedule_end(l->switches.schedule, l->times.ended, err);
	if (!ret && l->switches.classes)
		ret = live_monitors_end(l);
	if (!ret && l->probes.events)
		ret = runtime_events_end(l->probes.events, NULL, l->times.ended, err);
	if (!ret)
		ret = live_end_pause(l, l->times.ended, err);
	if (!ret)
		ret = finish_tables(l, err);
	if (!ret && live_records_waits(l))
		ret = live_put_open_waits(l, schedule_round_time(l->times.ended), err);
	if (!ret)
		ret = finish_names(l, err);
	if (!ret && l->switches.classes)
		ret = monitor_classes_end(l->switches.classes, err);
	objects_end(l->objects);
	if (!ret)
		ret = live_describe_recording(l, l->times.ended, err);
	if (!ret)
		ret = live_tick(l, true, err);
	/* Report again, since the sink may have run out of room in live_tick(). */
	if (!ret && l->switches.waits)
		ret = wait_stacks_report(l->switches.waits, clock_boot_ns(), true, err);
	if (!ret)
		ret = live_report_hits(l, clock_boot_ns(), true, err);
	return ret ? ret : ledger_report(l->ledger, clock_boot_ns(), true, err);
}

int live_run(struct source *source, struct sink *sink, struct error *err)
{
	struct live *l = (struct live *)source;
	int ret, ended;

	l->sink = sink;
	ret = begin_recording(l, err);
	if (!ret)
		ret = run_rounds(l, err);
	/* Report what was recorded, whatever ended the recording. */
	if (l->times.started) {
		ended = end_recording(l, ret ? NULL : err);
		ret = ret ? ret : ended;
	}
	if (l->ledger)
		live_fill_summary(l);
	return ret;
}
