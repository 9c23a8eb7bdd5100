// SPDX-License-Identifier: Apache-2.0
/*
 * Live capture as a source: sets everything up, then goes round and round:
 * drain the rings, release what is in order, look for names, tell the sink.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bpf/event.h"
#include "capture/capture.h"
#include "capture/cgroup.h"
#include "capture/clock.h"
#include "capture/cpus.h"
#include "capture/describe.h"
#include "capture/intern.h"
#include "capture/ledger.h"
#include "capture/opener.h"
#include "capture/order.h"
#include "capture/process.h"
#include "capture/program.h"
#include "capture/sampler.h"
#include "capture/select.h"
#include "capture/sideband.h"
#include "symbolizers/client.h"

/* A side-band ring of this size needs no CAP_IPC_LOCK (kernel.perf_event_mlock_kb). */
#define SIDEBAND_BYTES (512UL << 10)
#define TICK (NSEC_PER_SEC)
/* The scan of /proc at the start, and the last names at the end, may take this long. */
#define SCAN_LIMIT (30 * NSEC_PER_SEC)
#define NAMES_LIMIT (20 * NSEC_PER_SEC)

enum { HOST_ID = 1, EVENT_ID = 1 };

struct live {
	struct source source;
	struct capture_options options;
	struct sampled_event event;
	struct cpu_set wanted; /* CPUs asked for; empty: all */
	struct cgroups *cgroups;
	struct order *order;
	struct program *program;
	struct sampler *sampler;
	struct sideband *sideband;
	struct opener *opener;
	struct symbolizer *symbolizer;
	struct objects *objects;
	struct process_table *table;
	struct intern *intern;
	struct ledger *ledger;
	struct sink *sink;
	int epoll;
	uint64_t started; /* sampling */
	uint64_t last_drain, last_tick;
	bool scanned; /* the first scan of /proc is over */
	int error; /* of a callback that cannot return it */
	struct error why;
	struct capture_progress progress;
	struct capture_summary summary;
	char container[CGROUP_CONTAINER_MAX];
};

/* ---- what the opener and the symbolizer tell ---- */

static void keep_error(struct live *l, int ret)
{
	if (ret < 0 && !l->error)
		l->error = error_errno(&l->why, ret, "process table");
}

static void on_opened(void *context, const struct open_answer *a)
{
	struct live *l = context;

	objects_opened(l->objects, a, boot_now());
}

static void on_scanned_process(void *context, const struct scanned_process *p)
{
	struct live *l = context;

	keep_error(l, process_table_scanned(l->table, p));
}

static void on_scanned_thread(void *context, const struct scanned_thread *t)
{
	struct live *l = context;

	keep_error(l, process_table_scanned_thread(l->table, t, boot_now()));
}

static void on_scanned_mapping(void *context, const struct scanned_mapping *m)
{
	struct live *l = context;

	keep_error(l, process_table_scanned_mapping(l->table, m, boot_now()));
}

static void on_scan_done(void *context, uint32_t pid)
{
	struct live *l = context;

	if (!pid)
		l->scanned = true;
}

static void on_symbol(void *context, uint64_t object, uint64_t address, const struct symbol *s)
{
	struct live *l = context;

	intern_named(l->intern, object, address, s);
}

static void on_facts(void *context, uint64_t object, const struct object_facts *facts)
{
	struct live *l = context;

	objects_facts(l->objects, object, facts);
}

static void on_renewed(void *context, struct object *o, bool changed)
{
	struct live *l = context;

	intern_renewed(l->intern, o, changed);
}

static const char *cgroup_path_of(void *context, uint64_t id)
{
	struct live *l = context;

	return cgroups_path(l->cgroups, id);
}

static const char *container_of_cgroup(void *context, const char *path)
{
	struct live *l = context;

	return cgroup_container(path, l->container, sizeof(l->container));
}

/* ---- records ---- */

static enum stack_end stack_end_of(const struct wire_sample *s)
{
	if (s->flags & (WIRE_KTHREAD | WIRE_NO_USER))
		return END_WALKED;
	if (s->flags & WIRE_NO_MM)
		return END_NO_MEMORY_MAP;
	return s->user_frames ? (enum stack_end)s->user_end : END_UNREADABLE;
}

static uint64_t flags_of(const struct wire_sample *s, bool late)
{
	return (s->flags & WIRE_KERNEL_MODE ? SAMPLE_FLAG_KERNEL : 0) |
	       (s->pid ? 0 : SAMPLE_FLAG_IDLE) | (late ? SAMPLE_FLAG_LATE : 0);
}

static int put_wire_sample(struct live *l, const struct wire_sample *s, bool late)
{
	const struct sampled_task task = {
		.pid = s->pid,
		.tid = s->tid,
		.born = s->born,
		.cgroup = s->cgroup,
		.time = s->time,
		.kernel = s->flags & WIRE_KTHREAD,
	};
	const struct raw_stack raw = {
		.words = (const uint64_t *)(s + 1),
		.kernel = s->kernel_frames,
		.user = s->user_frames,
		.end = stack_end_of(s),
	};
	struct sample r = {
		.time = s->time,
		.event = EVENT_ID,
		.cpu = s->cpu,
		.weight = l->event.period,
		.flags = flags_of(s, late),
	};
	struct process_entry *p;
	struct thread_entry *t;
	bool unknown;
	int ret;

	ret = process_table_meet(l->table, &task, &p, &t, &unknown, &l->why);
	if (ret)
		return ret;
	if (!p->comm_selected && !t->comm_selected) {
		ledger_filtered(l->ledger, s->cpu);
		return 0;
	}
	if (unknown)
		opener_scan(l->opener, s->pid);
	ret = intern_stack(l->intern, p, &raw, &r.stack, &l->why);
	if (ret)
		return ret;
	r.thread = t->id;
	ledger_written(l->ledger, s->cpu, late);
	l->progress.samples++;
	return put_sample(l->sink, &r, &l->why);
}

static int on_sample(struct live *l, const void *data, uint32_t size, bool late)
{
	const struct wire_sample *s = data;

	if (s->kind != WIRE_SAMPLE || s->kernel_frames > WIRE_MAX_FRAMES ||
	    s->user_frames > WIRE_MAX_FRAMES ||
	    size < sizeof(*s) + 8UL * (s->kernel_frames + s->user_frames)) {
		ledger_lost(l->ledger, LOSS_BAD_RECORD, 1);
		return 0;
	}
	return put_wire_sample(l, s, late);
}

static int on_life(struct live *l, uint64_t time, const void *data, uint32_t size)
{
	struct object *kernel = objects_kernel(l->objects);
	struct life life;

	if (life_decode(&life, data, size) < 0) {
		ledger_lost(l->ledger, LOSS_BAD_RECORD, 1);
		return 0;
	}
	if (life.kind != LIFE_KSYMBOL)
		return process_table_life(l->table, &life, time, &l->why);
	if (!life.unregistered)
		symbolizer_add_kernel_symbol(l->symbolizer, kernel->id, life.start,
					     life.end - life.start, life.text);
	return 0;
}

static int on_record(void *context, int ring, uint64_t time, const void *data, uint32_t size,
		     bool late)
{
	struct live *l = context;

	if (sideband_owns(l->sideband, ring))
		return on_life(l, time, data, size);
	return on_sample(l, data, size, late);
}

/* ---- the rounds ---- */

static int poll_helpers(struct live *l, struct error *err)
{
	uint64_t now = boot_now();
	int ret = opener_poll(l->opener, now, err);

	if (!ret)
		ret = symbolizer_flush(l->symbolizer);
	if (!ret)
		ret = symbolizer_poll(l->symbolizer, now, err);
	if (!ret && l->error)
		ret = error_set(err, l->error, "%s", l->why.text);
	return ret;
}

static int drain(struct live *l, struct error *err)
{
	uint64_t now = boot_now();
	int ret = sideband_drain(l->sideband, now);

	if (!ret)
		ret = program_drain(l->program, now);
	if (ret)
		return error_errno(err, ret, "draining the rings");
	l->last_drain = now;
	ret = order_release(l->order, UINT64_MAX, on_record, l);
	return ret ? error_set(err, ret, "%s", l->why.text) : 0;
}

/* The side-band has lost records: what /proc says now is all that can be known. */
static void note_side_band_losses(struct live *l)
{
	uint64_t lost = sideband_take_lost(l->sideband);

	ledger_lost(l->ledger, LOSS_BAD_RECORD, sideband_take_malformed(l->sideband));
	ledger_lost(l->ledger, LOSS_LIFE_LOST, lost);
	if (lost)
		opener_scan(l->opener, 0);
}

static int follow_cpus(struct live *l, struct error *err)
{
	struct cpu_set online;
	int ret = cpu_set_online(&online, err);

	for (unsigned int cpu = 0; !ret && cpu < program_cpus(l->program); cpu++) {
		bool wanted = !l->wanted.count || cpu_set_has(&l->wanted, cpu);

		if (!cpu_set_has(&online, cpu)) {
			sampler_close_cpu(l->sampler, cpu);
			sideband_close_cpu(l->sideband, cpu);
			continue;
		}
		ret = sideband_open_cpu(l->sideband, cpu, err);
		if (!ret && wanted && l->started)
			ret = sampler_open_cpu(l->sampler, cpu, err);
		if (ret == -ENODEV) /* it went while we looked */
			ret = 0;
	}
	if (!ret)
		cpu_set_free(&online);
	return ret;
}

static int tick(struct live *l, bool last, struct error *err)
{
	uint64_t now = boot_now();
	int ret;

	l->last_tick = now;
	note_side_band_losses(l);
	ret = intern_tick(l->intern, last, err);
	if (!ret)
		ret = process_table_tick(l->table, now, err);
	if (!ret)
		ret = objects_emit(l->objects, HOST_ID, l->sink, err);
	if (!ret)
		ret = ledger_tell(l->ledger, l->sink, now, last, err);
	if (!ret)
		ret = sink_tick(l->sink, now, err);
	objects_refresh(l->objects, now);
	objects_trim(l->objects);
	return ret;
}

static bool keep_going(struct live *l)
{
	struct capture_progress *p = &l->progress;
	struct capture_summary s = {0};

	ledger_summary(l->ledger, &s);
	p->elapsed = boot_now() - l->started;
	p->filtered = s.filtered;
	p->lost = s.lost[LOSS_RING_FULL] + s.lost[LOSS_LIFE_LOST];
	p->pending_names = symbolizer_pending(l->symbolizer);
	if (!l->options.keep_going(l->options.context, p))
		return false;
	return !l->options.duration || p->elapsed < l->options.duration || p->finishing;
}

/* How long to sleep, ms: until the next drain, or the end of the recording. */
static int pause_of(const struct live *l)
{
	uint64_t now = boot_now(), until = l->last_drain + DRAIN_INTERVAL;
	uint64_t end = l->started + l->options.duration;

	if (program_has_more(l->program))
		return 0;
	if (l->options.duration && end < until)
		until = end;
	return until > now ? (int)((until - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC) : 0;
}

/* Wait; true if a ring is filling up or it is time to look at all of them. */
static bool wait_for_work(struct live *l)
{
	struct epoll_event events[64];
	int n = epoll_wait(l->epoll, events, 64, pause_of(l));
	bool rings = false;

	for (int i = 0; i < n; i++)
		rings |= events[i].data.u32;
	return rings || program_has_more(l->program) ||
	       boot_now() >= l->last_drain + DRAIN_INTERVAL;
}

static int rounds(struct live *l, struct error *err)
{
	int ret = 0;

	while (!ret && keep_going(l)) {
		bool due = wait_for_work(l);

		if (due)
			ret = drain(l, err);
		if (!ret)
			ret = poll_helpers(l, err);
		if (!ret && boot_now() - l->last_tick >= TICK) {
			ret = follow_cpus(l, err);
			if (!ret)
				ret = tick(l, false, err);
		}
	}
	return ret;
}

/* ---- beginning and end ---- */

/* level: poll for what is not always read at once; else only for changes. data: it is a ring */
static int watch(struct live *l, int fd, uint32_t events, bool ring)
{
	struct epoll_event e = {.events = EPOLLIN | events, .data.u32 = ring};

	if (fd < 0)
		return 0;
	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/* Rings are watched for changes only: they are hardly ever empty. */
static int watch_all(struct live *l, struct error *err)
{
	int ret = watch(l, symbolizer_fd(l->symbolizer), 0, false);

	if (!ret)
		ret = watch(l, opener_fd(l->opener), 0, false);
	if (!ret)
		ret = watch(l, l->options.wake_fd, 0, false);
	for (size_t i = 0; !ret && i < program_ring_count(l->program); i++)
		ret = watch(l, program_ring_fd(l->program, i), EPOLLET, true);
	for (unsigned int cpu = 0; !ret && cpu < program_cpus(l->program); cpu++)
		ret = watch(l, sideband_fd(l->sideband, cpu), EPOLLET, true);
	return ret ? error_errno(err, ret, "epoll") : 0;
}

/* Who is alive and what they have mapped, before the first sample. */
static int scan_machine(struct live *l, struct error *err)
{
	uint64_t until = boot_now() + SCAN_LIMIT;
	int ret = opener_scan(l->opener, 0);

	if (ret)
		return error_errno(err, ret, "reading /proc");
	while (!ret && !l->scanned && boot_now() < until) {
		struct epoll_event e;

		epoll_wait(l->epoll, &e, 1, 10);
		ret = poll_helpers(l, err);
		if (!ret)
			ret = sideband_drain(l->sideband, boot_now());
	}
	return ret;
}

static int describe(struct live *l, uint64_t end, struct error *err)
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

	if (!ret)
		ret = put_event(l->sink, &e, err);
	if (!ret && !end)
		ret = describe_options(l->sink, HOST_ID, &l->options, err);
	return ret;
}

static int begin_tables(struct live *l, struct error *err)
{
	const struct process_context c = {
		.objects = l->objects,
		.sink = l->sink,
		.host = HOST_ID,
		.comm_glob = l->options.comm,
		.cgroup_path = cgroup_path_of,
		.container = container_of_cgroup,
		.context = l,
	};
	int ret = process_table_new(&l->table, &c, err);

	if (!ret)
		ret = intern_new(&l->intern, l->objects, l->symbolizer, l->sink, err);
	if (!ret)
		ret = ledger_new(&l->ledger, l->sampler, program_cpus(l->program), HOST_ID,
				 EVENT_ID, l->event.period, err);
	return ret;
}

static int release_command(struct live *l, struct error *err)
{
	if (l->options.release_fd >= 0 && write(l->options.release_fd, "", 1) != 1)
		return error_errno(err, -errno, "starting the command");
	return 0;
}

static int begin(struct live *l, struct error *err)
{
	int ret = begin_tables(l, err);

	if (!ret)
		ret = watch_all(l, err);
	if (!ret)
		ret = scan_machine(l, err);
	if (!ret)
		ret = program_attach(l->program, err);
	if (!ret)
		ret = select_targets(l->program, &l->options, err);
	if (ret)
		return ret;
	l->started = l->last_drain = l->last_tick = boot_now();
	ret = describe(l, 0, err);
	if (!ret)
		ret = follow_cpus(l, err);
	if (!ret)
		ret = sink_tick(l->sink, l->started, err);
	return ret ? ret : release_command(l, err);
}

/* Ask for what is still nameless, for as long as answers may be hoped for. */
static int last_names(struct live *l, struct error *err)
{
	uint64_t until = boot_now() + NAMES_LIMIT;
	int ret = 0;

	l->progress.finishing = true;
	objects_refresh(l->objects, boot_now());
	do {
		struct epoll_event e;

		ret = poll_helpers(l, err);
		if (ret || (!symbolizer_pending(l->symbolizer) && !opener_pending(l->opener)))
			break;
		epoll_wait(l->epoll, &e, 1, 20);
	} while (boot_now() < until && keep_going(l));
	l->summary.names_pending = symbolizer_pending(l->symbolizer);
	return ret;
}

static int end(struct live *l, struct error *err)
{
	uint64_t ended = boot_now();
	int ret;

	l->progress.elapsed = ended - l->started;
	sampler_stop(l->sampler);
	do {
		ret = drain(l, err);
	} while (!ret && program_has_more(l->program));
	order_close(l->order);
	if (!ret)
		ret = order_release(l->order, UINT64_MAX, on_record, l) ?
			      error_set(err, -EIO, "%s", l->why.text) :
			      0;
	if (!ret)
		ret = last_names(l, err);
	if (!ret)
		ret = describe(l, ended, err);
	return ret ? ret : tick(l, true, err);
}

static void fill_summary(struct live *l)
{
	struct capture_summary *s = &l->summary;

	ledger_summary(l->ledger, s);
	s->elapsed = l->progress.elapsed;
	s->names_asked = symbolizer_stats(l->symbolizer)->asked;
	s->worker_restarts = symbolizer_stats(l->symbolizer)->restarts;
	s->opener_restarts = opener_restarts(l->opener);
	s->comm_matched = process_table_comm_matched(l->table);
}

static int live_run(struct source *source, struct sink *sink, struct error *err)
{
	struct live *l = (struct live *)source;
	int ret, ended;

	l->sink = sink;
	ret = begin(l, err);
	if (!ret)
		ret = rounds(l, err);
	if (l->started) { /* what was recorded is told, whatever ended it */
		ended = end(l, ret ? NULL : err);
		ret = ret ? ret : ended;
	}
	if (l->ledger)
		fill_summary(l);
	return ret;
}

static void live_free(struct source *source)
{
	struct live *l = (struct live *)source;

	sampler_free(l->sampler);
	ledger_free(l->ledger);
	intern_free(l->intern);
	process_table_free(l->table);
	objects_free(l->objects);
	symbolizer_free(l->symbolizer);
	opener_free(l->opener);
	program_free(l->program);
	sideband_free(l->sideband);
	order_free(l->order);
	cgroups_free(l->cgroups);
	cpu_set_free(&l->wanted);
	if (l->epoll >= 0)
		close(l->epoll);
	free(l);
}

static const struct source_ops live_ops = {.run = live_run, .free = live_free};

/* ---- construction ---- */

/* Half a second of samples with deep stacks, for each CPU that shares a ring. */
static uint64_t default_buffer(const struct sampled_event *e)
{
	uint64_t rate = e->frequency ? e->frequency : e->clocked ? NSEC_PER_SEC / e->period : 1000;
	uint64_t bytes = rate * 1024 / 2;

	return bytes < (256UL << 10) ? 256UL << 10 : bytes;
}

/* The helper processes are forked first, while there is little to inherit. */
static int start_helpers(struct live *l, struct error *err)
{
	const struct symbolizer_events symbols = {
		.symbol = on_symbol,
		.facts = on_facts,
		.context = l,
	};
	const struct opener_events files = {
		.opened = on_opened,
		.process = on_scanned_process,
		.thread = on_scanned_thread,
		.mapping = on_scanned_mapping,
		.scanned = on_scan_done,
		.context = l,
	};
	struct objects_context objects = {.renewed = on_renewed, .context = l};
	int ret = symbolizer_new(&l->symbolizer, &symbols, err);

	if (!ret)
		ret = opener_new(&l->opener, &files, err);
	if (ret)
		return ret;
	objects.opener = l->opener;
	objects.symbolizer = l->symbolizer;
	return objects_new(&l->objects, &objects, err);
}

static int load_program(struct live *l, struct error *err)
{
	const struct capture_options *o = &l->options;
	struct program_options p = {
		.kernel_stack = !o->user_only,
		.user_stack = !o->kernel_only,
		.idle = o->idle,
		.clocked = l->event.clocked,
		.select_pids = o->pid_count > 0,
		.select_tids = o->tid_count > 0,
		.cgroup_subsys = cgroups_subsystem(l->cgroups),
		.ring_bytes = o->buffer ? o->buffer : default_buffer(&l->event),
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
	return program_load(&l->program, &p, l->order, err);
}

/* Everything that can fail for want of a right fails here, before any file is written. */
static int prepare(struct live *l, struct error *err)
{
	const struct capture_options *o = &l->options;
	int ret = sampled_event_find(&l->event, o->event ? o->event : "cpu-clock", o->frequency,
				     o->period, err);

	if (!ret && o->cpus)
		ret = cpu_set_parse(&l->wanted, o->cpus, err);
	if (!ret)
		ret = select_check(o, err);
	if (!ret)
		ret = cgroups_new(&l->cgroups, "/proc/self/mountinfo", err);
	if (!ret)
		ret = start_helpers(l, err);
	l->order = order_new();
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!ret && (!l->order || l->epoll < 0))
		ret = error_errno(err, -ENOMEM, "capture");
	if (!ret)
		ret = load_program(l, err);
	if (!ret)
		ret = sampler_new(&l->sampler, &l->event, l->program, err);
	if (!ret)
		ret = sampler_try(l->sampler, err);
	if (!ret)
		ret = sideband_new(&l->sideband, l->order, SIDEBAND_BYTES, err);
	return ret ? ret : follow_cpus(l, err);
}

int capture_source(struct source **ret, const struct capture_options *o, struct error *err)
{
	struct live *l = calloc(1, sizeof(*l));
	int result;

	if (!l)
		return error_errno(err, -ENOMEM, "capture");
	l->source.ops = &live_ops;
	l->options = *o;
	l->epoll = -1;
	result = prepare(l, err);
	if (result)
		live_free(&l->source);
	else
		*ret = &l->source;
	return result;
}

void capture_get_summary(const struct source *s, struct capture_summary *ret)
{
	*ret = ((const struct live *)s)->summary;
}
