// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the loop of live capture: drains the rings, releases the records that are in order, resolves
 * names, and passes everything to the sink.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/helper.h"
#include "capture/clock.h"
#include "capture/describe.h"
#include "capture/live.h"
#include "capture/select.h"

#define TICK (NSEC_PER_SEC)
/* The mark that releases all records; UINT64_MAX is the time of no record. */
#define ALL_RECORDS (UINT64_MAX - 1)
/*
 * Names of files are requested when this many are waiting, or after this many ns: waking the worker
 * costs more than a name, and the worker may have to read a large file again each time. The
 * interval is half a tick because names requested at a tick come too late for that tick's commit,
 * and a killed recorder should leave names with its samples.
 */
#define REQUEST_BATCH 256
#define REQUEST_INTERVAL (TICK / 2)
/*
 * Time (ns) that the recorder waits for further replies after one, since each reply would wake it.
 */
#define GATHER_NAMES (2 * NSEC_PER_MSEC)
/* Limit (ns) for looking up the tables of running programs in the cache before sampling starts. */
#define TABLES_LIMIT (3 * NSEC_PER_SEC)
/*
 * Limit (ns), after that lookup, for making tables; of tables that are not made by then, pages are
 * made on request.
 */
#define MAKING_LIMIT (50 * NSEC_PER_MSEC)
/*
 * Interval (ns) between returns of free memory to the system, each of which takes about a
 * millisecond.
 */
#define TIDY_INTERVAL (30 * NSEC_PER_SEC)
/* Limit (ns) for the scan of /proc at the start. */
#define SCAN_LIMIT (30 * NSEC_PER_SEC)

/*
 * Events that end a wait: a ring fills up, names arrive, another helper process replies, or a
 * signal arrives, which keep_going looks at. Sample rings are separate because they are written at
 * ticks of the sampling clock.
 */
enum wake {
	WAKE_RING = 1,
	WAKE_SAMPLE_RING = 2,
	WAKE_NAMES = 4,
	WAKE_HELPER = 8,
	WAKE_SIGNAL = 16,
};

static bool may_request_names(const struct live *l, uint64_t now)
{
	uint64_t gathered = symbolizer_gathered(l->symbolizer);

	return gathered >= REQUEST_BATCH || (gathered && now >= l->last_request + REQUEST_INTERVAL);
}

/*
 * Exchange data with the helper processes. all: also request names of files, which otherwise wait
 * until there are many of them, or for half a tick.
 */
static int poll_helpers(struct live *l, bool all, struct error *err)
{
	uint64_t now = clock_boot_ns();
	int ret = opener_poll(l->opener, now, err);

	all = all || may_request_names(l, now);
	if (all)
		l->last_request = now;
	if (!ret)
		ret = all ? symbolizer_flush(l->symbolizer)
			  : symbolizer_flush_transient(l->symbolizer);
	if (!ret)
		ret = symbolizer_poll(l->symbolizer, now, err);
	if (!ret && l->pager)
		ret = pager_poll(l->pager, now, err);
	if (!ret && l->inlines)
		ret = inlines_poll(l->inlines, now, err);
	if (!ret && l->error)
		ret = error_errno(err, l->error, "process table");
	return ret;
}

static int update_walkers_process(void *context, uint32_t pid, const struct unwind_process *p)
{
	struct live *l = context;

	if (p)
		return program_set_process(l->program, pid, p, order_mark(l->order));
	program_forget_process(l->program, pid);
	return 0;
}

/*
 * Pass changed mappings to the BPF walkers, and retry parked stacks if l->retry is set. If mappings
 * cannot be passed, stacks are finished in user space, at a higher cost.
 */
static int update_walkers(struct live *l, uint64_t now, struct error *err)
{
	(void)process_table_send(l->table, update_walkers_process, l, now);
	l->remapped = false;
	if (!l->retry)
		return 0;
	l->retry = false;
	return live_retry_stacks(l, false, err);
}

static int push_found_task(void *context, const struct wire_task *t)
{
	struct live *l = context;

	return order_push(l->order, l->task_ring, t->time, t, sizeof(*t));
}

/* Push a record with the state of every thread into the order. */
static int snapshot_threads(struct live *l, struct error *err)
{
	int ret = switches_snapshot(l->switches, push_found_task, l);

	return ret ? error_errno(err, ret, "the threads of this machine") : 0;
}

/* Return the time, ns, up to which no older records are expected, of rings or of switches. */
static uint64_t release_mark(struct live *l)
{
	uint64_t rings = order_mark(l->order);
	uint64_t switches = l->schedule ? switch_order_mark(l->switch_order) : ALL_RECORDS;

	return rings < switches ? rings : switches;
}

/*
 * Handle all records up to mark, ns, in the order of their times: those of the rings and the
 * switches. The life of a process comes before a switch of the same time.
 */
static int release_records(struct live *l, uint64_t mark, struct error *err)
{
	uint64_t ring = order_next_time(l->order), switched = UINT64_MAX;
	struct ordered_record record;
	struct switch_record s;
	int ret = 0;

	if (l->schedule)
		switched = switch_order_next_time(l->switch_order);
	while (!ret && (ring <= mark || switched <= mark)) {
		if (ring <= switched) {
			order_release(l->order, &record);
			ret = live_handle_record(l, &record, err);
			ring = order_next_time(l->order);
		} else {
			switch_order_release(l->switch_order, &s);
			ret = schedule_record(l->schedule, &s, err);
			switched = switch_order_next_time(l->switch_order);
		}
	}
	l->mark = mark;
	return ret;
}

static bool has_more(const struct live *l)
{
	return program_has_more(l->program) ||
	       (l->schedule && switch_order_has_more(l->switch_order));
}

static enum pace_finding drain_finding(const struct live *l)
{
	if (l->unknown || program_saw_urgent(l->program))
		return PACE_LACKING;
	return sideband_is_quiet(l->sideband) ? PACE_QUIET : PACE_LIFE;
}

static int drain_rings(struct live *l, struct error *err)
{
	uint64_t now = clock_boot_ns();
	int ret;

	l->unknown = false;
	ret = sideband_drain(l->sideband, now);

	if (!ret)
		ret = program_drain(l->program, now);
	if (!ret && l->schedule)
		ret = switch_order_copy(l->switch_order);
	if (ret)
		return error_errno(err, ret, "draining the rings");
	pace_rings_read(&l->pace, now, drain_finding(l));
	ret = release_records(l, release_mark(l), err);
	if (!ret && l->schedule && schedule_take_snapshot_due(l->schedule))
		ret = snapshot_threads(l, err);
	return ret ? ret : update_walkers(l, now, err);
}

/* Report lost side-band records. After a loss, scan /proc, which alone gives the present state. */
static void note_side_band_losses(struct live *l)
{
	uint64_t lost = sideband_take_lost(l->sideband);
	uint64_t unselected = program_unselected(l->program);

	ledger_count_lost(l->ledger, LOSS_BAD_RECORD, sideband_take_malformed(l->sideband));
	ledger_count_lost(l->ledger, LOSS_LIFE_LOST, lost + unselected - l->unselected);
	l->unselected = unselected;
	if (lost)
		opener_scan(l->opener, 0);
}

static void note_switch_losses(struct live *l)
{
	struct schedule_counts now;

	if (!l->schedule)
		return;
	schedule_get_counts(l->schedule, &now);
	ledger_count_lost(l->ledger, LOSS_OUT_OF_ORDER, now.disorder - l->counted.disorder);
	ledger_count_lost(l->ledger, LOSS_UNREPORTED, now.unreported - l->counted.unreported);
	l->counted = now;
}

/*
 * Forget twice in the time options.keep, so that stacks are kept for at most one and a half times
 * that time.
 */
static int forget_old_records(struct live *l, uint64_t now, struct error *err)
{
	if (!l->options.keep || now < l->last_forget + l->options.keep / 2)
		return 0;
	l->last_forget = now;
	intern_forget(l->intern);
	objects_forget(l->objects);
	return sink_forget(l->sink, err);
}

/*
 * Return free memory to the system: freed stacks and cells of the pyramid leave holes between
 * blocks that stay in use.
 */
static void free_unused_memory(struct live *l, uint64_t now)
{
	order_tidy(l->order);
	if (now < l->last_tidy + TIDY_INTERVAL)
		return;
	l->last_tidy = now;
	malloc_trim(0);
}

static int live_tick(struct live *l, bool last, struct error *err)
{
	uint64_t now = clock_boot_ns();
	uint32_t wanted;
	int ret;

	l->last_tick = now;
	note_side_band_losses(l);
	note_switch_losses(l);
	ret = intern_tick(l->intern, last, err);
	if (!ret)
		ret = process_table_tick(l->table, now, err);
	if (!ret)
		ret = objects_emit(l->objects, HOST_ID, l->sink, err);
	if (!ret)
		ret = ledger_report(l->ledger, l->sink, now, last, err);
	if (!ret && l->schedule)
		ret = schedule_tick(l->schedule, l->mark, err);
	if (!ret)
		ret = sink_tick(l->sink, now, err);
	if (!ret)
		ret = forget_old_records(l, now, err);
	l->progress.ticks++;
	l->over = l->options.pid_count && program_selection_over(l->program);
	objects_refresh(l->objects, now);
	objects_trim(l->objects);
	if (l->pager)
		pager_tidy(l->pager);
	free_unused_memory(l, now);
	wanted = tables_take_wanted(l->tables, now);
	if (wanted)
		objects_request_table(l->objects, wanted);
	return ret;
}

static bool live_keep_going(struct live *l)
{
	struct capture_progress *p = &l->progress;

	ledger_progress(l->ledger, &p->filtered, &p->lost);
	p->elapsed = clock_boot_ns() - l->started;
	if (l->schedule) {
		struct schedule_counts counts;

		schedule_get_counts(l->schedule, &counts);
		p->switches = counts.switches;
		p->lost += counts.lost;
	}
	p->pending_names = symbolizer_pending(l->symbolizer);
	if (l->inlines)
		p->pending_inlines = inlines_pending(l->inlines);
	if (!l->options.keep_going(l->options.context, p) || (l->over && !p->finishing))
		return false;
	return !l->options.duration || p->elapsed < l->options.duration || p->finishing;
}

/* Return how long to sleep, ns: until the next drain, or the end of the recording. */
static uint64_t sleep_time(const struct live *l, uint64_t now)
{
	uint64_t until = l->pace.next, end = l->started + l->options.duration;

	if (has_more(l))
		return 0;
	if (l->options.duration && end < until)
		until = end;
	return until > now ? until - now : 0;
}

static void sleep_for(uint64_t ns)
{
	const struct timespec t = {
		.tv_sec = (time_t)(ns / NSEC_PER_SEC),
		.tv_nsec = (long)(ns % NSEC_PER_SEC),
	};

	(void)nanosleep(&t, NULL);
}

/* Wait until there is something to do. Returns a mask of enum wake. */
static unsigned int wait_for_work(struct live *l)
{
	struct epoll_event events[64];
	uint64_t now = clock_boot_ns(), pause = sleep_time(l, now);
	const struct timespec limit = {
		.tv_sec = (time_t)(pause / NSEC_PER_SEC),
		.tv_nsec = (long)(pause % NSEC_PER_SEC),
	};
	unsigned int woken = 0;
	int n;

	program_set_sleep(l->program, pace_sleep_kind(&l->pace, now));
	n = epoll_pwait2(l->epoll, events, 64, &limit, NULL);
	program_set_sleep(l->program, WIRE_AWAKE);
	for (int i = 0; i < n; i++)
		woken |= events[i].data.u32;
	if (woken & WAKE_SAMPLE_RING)
		sleep_for(pace_pause(&l->pace));
	if (woken & WAKE_SAMPLE_RING || has_more(l) || clock_boot_ns() >= l->pace.next)
		woken |= WAKE_RING;
	return woken & ~(unsigned int)WAKE_SAMPLE_RING;
}

/*
 * Wait until more replies with names have gathered. Do not wait if tables are pending, which stacks
 * and walkers wait for, or if the last drain was urgent, so that the next reply may be one that
 * cannot wait.
 */
static void gather_names(struct live *l)
{
	if (!symbolizer_tables_pending(l->symbolizer) && !program_saw_urgent(l->program))
		sleep_for(GATHER_NAMES);
}

static int run_rounds(struct live *l, struct error *err)
{
	int ret = 0;

	while (!ret && live_keep_going(l)) {
		unsigned int woken = wait_for_work(l);

		if (woken == WAKE_NAMES)
			gather_names(l);
		if (woken & WAKE_RING)
			ret = drain_rings(l, err);
		if (!ret &&
		    (woken & (WAKE_NAMES | WAKE_HELPER) || opener_pending(l->opener) ||
		     intern_take_urgent(l->intern) || may_request_names(l, clock_boot_ns())))
			ret = poll_helpers(l, false, err);
		if (!ret && (l->remapped || l->retry))
			ret = update_walkers(l, clock_boot_ns(), err);
		if (!ret && clock_boot_ns() - l->last_tick >= TICK) {
			ret = poll_helpers(l, true, err);
			if (!ret)
				ret = live_follow_cpus(l, err);
			if (!ret)
				ret = live_tick(l, false, err);
		}
	}
	return ret;
}

static int watch_fd(struct live *l, int fd, uint32_t events, enum wake what)
{
	struct epoll_event e = {.events = EPOLLIN | events, .data.u32 = what};

	if (fd < 0)
		return 0;
	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/*
 * Add all descriptors to epoll. Rings are watched edge-triggered, because they are hardly ever
 * empty.
 */
static int watch_all_fds(struct live *l, struct error *err)
{
	int ret = watch_fd(l, symbolizer_fd(l->symbolizer), 0, WAKE_NAMES);

	if (!ret)
		ret = watch_fd(l, opener_fd(l->opener), 0, WAKE_HELPER);
	if (!ret)
		ret = watch_fd(l, l->pager ? pager_fd(l->pager) : -1, 0, WAKE_HELPER);
	if (!ret)
		ret = watch_fd(l, l->inlines ? inlines_fd(l->inlines) : -1, 0, WAKE_HELPER);
	if (!ret)
		ret = watch_fd(l, l->options.wake_fd, 0, WAKE_SIGNAL);
	for (size_t i = 0; !ret && i < program_ring_count(l->program); i++)
		ret = watch_fd(l, program_ring_fd(l->program, i), EPOLLET, WAKE_SAMPLE_RING);
	for (unsigned int cpu = 0; !ret && cpu < program_cpus(l->program); cpu++)
		ret = watch_fd(l, sideband_fd(l->sideband, cpu), EPOLLET, WAKE_RING);
	return ret ? error_errno(err, ret, "epoll") : 0;
}

/* Find all processes and their mappings before the first sample. */
static int scan_machine(struct live *l, struct error *err)
{
	uint64_t until = clock_boot_ns() + SCAN_LIMIT;
	int ret = opener_scan(l->opener, 0);

	if (ret)
		return error_errno(err, ret, "reading /proc");
	while (!ret && !l->scanned && clock_boot_ns() < until) {
		struct epoll_event e;

		epoll_wait(l->epoll, &e, 1, 10);
		ret = poll_helpers(l, true, err);
		if (!ret)
			ret = sideband_drain(l->sideband, clock_boot_ns());
	}
	return ret;
}

/*
 * Get the tables of running programs, most of them from the cache: without its table, a stack would
 * come with 64 KiB and more of memory, and may be longer than the copied part.
 */
static int prepare_tables(struct live *l, struct error *err)
{
	struct capture_progress *p = &l->progress;
	uint64_t until = clock_boot_ns() + TABLES_LIMIT;
	bool looked = false;
	int ret = poll_helpers(l, true, err);

	p->preparing = true;
	while (!ret && clock_boot_ns() < until && l->options.keep_going(l->options.context, p)) {
		struct epoll_event e;

		p->pending_tables = symbolizer_tables_pending(l->symbolizer);
		if (!p->pending_tables && !opener_pending(l->opener))
			break;
		if (!looked && l->options.unwind_cache && !opener_pending(l->opener) &&
		    !symbolizer_keys_pending(l->symbolizer)) {
			looked = true;
			if (until > clock_boot_ns() + MAKING_LIMIT)
				until = clock_boot_ns() + MAKING_LIMIT;
		}
		epoll_wait(l->epoll, &e, 1, 10);
		ret = poll_helpers(l, true, err);
		if (!ret)
			ret = sideband_drain(l->sideband, clock_boot_ns());
	}
	p->preparing = false;
	return ret;
}

static int describe_recording(struct live *l, uint64_t end, struct error *err)
{
	const struct event e = {
		.id = EVENT_ID,
		.host = HOST_ID,
		.name = l->event.name,
		.unit = l->event.unit,
		.period = l->event.period,
		.frequency = l->event.frequency,
	};
	int ret = describe_host(l->sink, HOST_ID, l->started, end, err);

	if (!ret && l->options.sample)
		ret = put_event(l->sink, &e, err);
	if (!ret && !end)
		ret = describe_options(l->sink, HOST_ID, &l->options, err);
	return ret;
}

static int release_command(struct live *l, struct error *err)
{
	if (l->options.release_fd >= 0 && write(l->options.release_fd, "", 1) != 1)
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

static int begin_recording(struct live *l, struct error *err)
{
	int ret = live_begin_tables(l, err);

	wake_in_time();
	if (!ret)
		ret = watch_all_fds(l, err);
	/* Attach the hooks first: processes that fork from here on are followed. */
	if (!ret)
		ret = program_attach(l->program, err);
	if (!ret && l->switches)
		ret = switches_attach(l->switches, err);
	/* Selected processes are followed from the first record on. */
	if (!ret)
		ret = select_targets(l->program, &l->options, err);
	if (!ret)
		ret = scan_machine(l, err);
	if (!ret)
		ret = prepare_tables(l, err);
	if (!ret)
		ret = update_walkers(l, clock_boot_ns(), err);
	if (ret)
		return ret;
	l->started = l->last_tick = l->last_forget = l->last_tidy = clock_boot_ns();
	pace_start(&l->pace, l->event.clocked ? l->event.period : 0, l->schedule != NULL,
		   l->started, l->started);
	ret = describe_recording(l, 0, err);
	if (!ret)
		ret = live_follow_cpus(l, err);
	if (!ret && l->switches)
		ret = snapshot_threads(l, err);
	if (!ret)
		ret = sink_tick(l->sink, l->started, err);
	return ret ? ret : release_command(l, err);
}

/*
 * Return whether the recorder may wait longer for the last tables and names, which share one time
 * limit.
 */
static bool may_wait(const struct live *l)
{
	return clock_boot_ns() < l->ended + l->options.wait_names;
}

static bool wants_names(struct live *l)
{
	return symbolizer_pending(l->symbolizer) || opener_pending(l->opener) ||
	       objects_reread_kernel(l->objects, clock_boot_ns());
}

static bool wants_inlines(const struct live *l)
{
	return l->inlines && inlines_pending(l->inlines) &&
	       clock_boot_ns() < l->ended + l->options.wait_inlines;
}

/* Request and await the names that are still missing, as long as replies may come. */
static int finish_names(struct live *l, struct error *err)
{
	int ret = 0;

	l->progress.finishing = true;
	symbolizer_drop_tables(l->symbolizer);
	objects_refresh(l->objects, clock_boot_ns());
	do {
		struct epoll_event e;

		ret = poll_helpers(l, true, err);
		if (ret || !((may_wait(l) && wants_names(l)) || wants_inlines(l)))
			break;
		epoll_wait(l->epoll, &e, 1, 20);
	} while (live_keep_going(l));
	return ret;
}

/* Finish the parked stacks as far as tables arrive in time. */
static int finish_tables(struct live *l, struct error *err)
{
	int ret = 0;

	l->progress.finishing = true;
	while (!ret && l->parked.count && may_wait(l) && live_keep_going(l) &&
	       (symbolizer_tables_pending(l->symbolizer) || opener_pending(l->opener))) {
		struct epoll_event e;

		epoll_wait(l->epoll, &e, 1, 20);
		ret = poll_helpers(l, true, err);
		if (!ret)
			ret = update_walkers(l, clock_boot_ns(), err);
	}
	return ret ? ret : live_retry_stacks(l, true, err);
}

static int end_recording(struct live *l, struct error *err)
{
	int ret;

	sampler_stop(l->sampler);
	for (unsigned int cpu = 0; l->schedule && cpu < switches_cpus(l->switches); cpu++)
		switches_set_wanted(l->switches, cpu, false);
	l->ended = clock_boot_ns();
	l->summary.elapsed = l->ended - l->started;
	do {
		ret = drain_rings(l, err);
	} while (!ret && has_more(l));
	order_close(l->order);
	if (!ret)
		ret = release_records(l, ALL_RECORDS, err);
	if (!ret && l->schedule)
		ret = schedule_end(l->schedule, l->ended, err);
	if (!ret)
		ret = finish_tables(l, err);
	if (!ret)
		ret = finish_names(l, err);
	objects_end(l->objects);
	if (!ret)
		ret = describe_recording(l, l->ended, err);
	if (!ret)
		ret = live_tick(l, true, err);
	/* Report again, since the sink may have run out of room in this tick. */
	return ret ? ret : ledger_report(l->ledger, l->sink, clock_boot_ns(), true, err);
}

/* Count the cost of the helper processes, killed ones included, as the recorder's own. */
static void add_helper_cost(struct live *l, struct capture_summary *s)
{
	struct helper_cost cost = {0};

	symbolizer_add_cost(l->symbolizer, &cost);
	opener_add_cost(l->opener, &cost);
	if (l->pager)
		pager_add_cost(l->pager, &cost);
	if (l->inlines)
		inlines_add_cost(l->inlines, &cost);
	s->helper_cpu = cost.cpu;
	s->helper_memory = cost.memory;
}

static void add_switch_counts(const struct live *l, struct capture_summary *s)
{
	struct schedule_counts counts;

	schedule_get_counts(l->schedule, &counts);
	s->switches = counts.switches;
	s->wakeups = counts.wakeups;
	s->migrations = counts.migrations;
	s->lost[LOSS_SWITCHES_LOST] += counts.lost;
	s->scheduled = true;
	s->buffer_memory += switches_bytes(l->switches);
}

static void add_name_counts(const struct live *l, struct capture_summary *s)
{
	const struct symbolizer_stats *stats = symbolizer_stats(l->symbolizer);
	const char *path = l->intern ? intern_mangled(l->intern) : NULL;
	size_t length = path ? strlen(path) : 0, most = sizeof(s->names_mangled_in) - 1;

	s->names_requested = stats->requested;
	s->names_unready = l->intern ? intern_unready(l->intern) : 0;
	s->worker_restarts = stats->restarts;
	s->names_mangled = stats->mangled;
	if (path)
		strcpy(s->names_mangled_in, length > most ? path + length - most : path);
	s->tables_made = stats->tables_made;
	s->tables_cached = stats->tables_cached;
}

static void add_refusals(const struct live *l, struct capture_summary *s)
{
	const struct file_quota *worst[CAPTURE_REFUSALS_MAX];
	unsigned int count =
		file_quotas_worst(objects_quotas(l->objects), worst, CAPTURE_REFUSALS_MAX);

	for (unsigned int i = 0; i < count; i++)
		file_quota_format(worst[i], s->refusals[i].what, sizeof(s->refusals[i].what));
	s->refused = file_quotas_refused(objects_quotas(l->objects));
}

static void fill_summary(struct live *l)
{
	struct capture_summary *s = &l->summary;

	ledger_get_summary(l->ledger, s);
	s->sampled = l->options.sample;
	s->buffer_memory = program_ring_bytes(l->program);
	if (l->schedule)
		add_switch_counts(l, s);
	add_name_counts(l, s);
	s->opener_restarts = opener_restarts(l->opener);
	s->files_refused = opener_refused(l->opener);
	s->memory = process_peak_memory(getpid());
	add_helper_cost(l, s);
	s->inlined = l->inlines != NULL;
	if (l->inlines) {
		inlines_get_summary(l->inlines, &s->inlines);
		s->names_mangled += s->inlines.mangled;
	}
	tables_get_summary(l->tables, &s->unwind);
	if (l->saver)
		saver_get_counts(l->saver, &s->bad_stacks, &s->saved_stacks);
	s->comm_matched = process_table_comm_matched(l->table);
	add_refusals(l, s);
}

int live_run(struct source *source, struct sink *sink, struct error *err)
{
	struct live *l = (struct live *)source;
	int ret, ended;

	l->sink = sink;
	ret = begin_recording(l, err);
	if (!ret)
		ret = run_rounds(l, err);
	/* Report what was recorded, however the recording ended. */
	if (l->started) {
		ended = end_recording(l, ret ? NULL : err);
		ret = ret ? ret : ended;
	}
	if (l->ledger)
		fill_summary(l);
	return ret;
}

void capture_get_summary(const struct source *s, struct capture_summary *out)
{
	*out = ((const struct live *)s)->summary;
}
