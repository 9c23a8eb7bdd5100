// SPDX-License-Identifier: Apache-2.0
/*
 * Starts the helper processes of a live capture, sends their requests, and handles their replies.
 */
#include "capture/clock.h"
#include "capture/live.h"
#include "capture/needs.h"

/*
 * Requests for names of code in files are sent when REQUEST_BATCH of them are gathered, or after
 * REQUEST_INTERVAL (ns): waking the worker costs more than a name, and the worker may have to read
 * a large file again each time. The interval is half a tick because names requested at a tick come
 * too late for that tick's commit, and a killed recorder should leave names with its samples.
 */
#define REQUEST_BATCH 256
#define REQUEST_INTERVAL (LIVE_TICK / 2)

/* Keep the first error, since the helpers' callbacks cannot return it. */
static void keep_error(struct live *l, int ret)
{
	if (ret < 0 && !l->helpers.failed)
		l->helpers.failed = ret;
}

static void on_opened(void *context, const struct open_reply *a)
{
	struct live *l = context;

	if (a->token & INLINES_TOKEN)
		inlines_handle_opened(l->helpers.inlines, a);
	else
		objects_handle_opened(l->objects, a, clock_boot_ns());
}

static void on_scanned_process(void *context, const struct scanned_process *p)
{
	struct live *l = context;

	keep_error(l, process_table_scanned(l->processes, p));
}

static void on_scanned_thread(void *context, const struct scanned_thread *t)
{
	struct live *l = context;

	keep_error(l, process_table_scanned_thread(l->processes, t, clock_boot_ns()));
}

static void on_scanned_mapping(void *context, const struct scanned_mapping *m)
{
	struct live *l = context;

	keep_error(l, process_table_scanned_mapping(l->processes, m, clock_boot_ns()));
}

static void on_scan_done(void *context, uint32_t pid)
{
	struct live *l = context;

	l->stacks.retry = true;
	process_table_scan_over(l->processes, pid);
	if (!pid)
		l->helpers.scanned = true;
}

static void on_symbol(void *context, uint64_t object, uint64_t address, const struct symbol *s)
{
	struct live *l = context;

	intern_handle_symbol(l->intern, object, address, s);
}

static void on_inlined_places(void *context, uint64_t object, uint64_t address,
			      const struct source_place *p, unsigned int count)
{
	struct live *l = context;

	intern_handle_places(l->intern, object, address, p, count);
}

static void on_facts(void *context, uint64_t object, const struct object_facts *facts)
{
	struct live *l = context;

	objects_handle_facts(l->objects, object, facts);
}

static void on_table(void *context, uint64_t object, int status, const struct unwind_table *t)
{
	struct live *l = context;

	objects_handle_table(l->objects, object, status, t);
	if (l->helpers.pager)
		pager_done(l->helpers.pager, object);
	l->stacks.retry = true;
}

static void on_pages_made(void *context)
{
	struct live *l = context;

	l->stacks.retry = true;
}

static void on_python(void *context, uint64_t object, const struct python_file *f)
{
	struct live *l = context;
	bool readable = f->support == PYTHON_READABLE;
	uint32_t layout = readable ? pythons_layout(&l->walkers.pythons, &f->layout) : 0;
	struct object *o = objects_handle_inspected(l->objects, object, f, layout);

	if (o && l->processes)
		process_table_remapped(l->processes, o);
	if (o)
		keep_error(l, live_send_prefetched(l, o));
	l->walkers.remapped = true;
	if (o && l->intern)
		intern_object_updated(l->intern, o, true);
	if (o)
		live_probes_request(l, o, PROBE_RUNTIME_PYTHON);
	else
		live_probes_request_others(l, object);
}

static void on_probes(void *context, uint64_t object, int status, const struct probe_sites *s)
{
	live_probes_found(context, object, status, s);
}

static void on_hotspot(void *context, uint64_t object, const struct hotspot_file *f)
{
	struct live *l = context;
	struct object *o = objects_handle_hotspot(l->objects, object, f);

	if (o && l->processes)
		process_table_remapped(l->processes, o);
	l->walkers.remapped = true;
	if (o)
		live_probes_request(l, o, PROBE_RUNTIME_HOTSPOT);
}

static void on_jvm(void *context, uint64_t object, int status, const struct jvm_facts *f,
		   const char *reason)
{
	live_java_facts(context, object, status, f, reason);
}

static void on_java(void *context, uint64_t object, const struct java_places *p)
{
	struct live *l = context;

	if (p->address >> WIRE_TAG_SHIFT == WIRE_TAG_JAVA_CLASS)
		keep_error(l, live_monitors_class(l, object, p));
	else
		intern_handle_java(l->intern, object, p);
}

static void on_java_code(void *context, uint64_t object, const struct hotspot_code_key *key,
			 const struct hotspot_code_rows *rows)
{
	live_java_rows(context, object, key, rows);
}

static void on_jvm_counters(void *context, uint64_t object, int status,
			    const struct hotspot_perf *p, const char *reason)
{
	keep_error(context, live_jvm_counters(context, object, status, p, reason));
}

static void on_jvm_threads(void *context, uint64_t object, const struct jvm_thread_list *list)
{
	keep_error(context, live_jvm_threads(context, object, list));
}

static int send_jvm_layout(void *context, uint32_t index, const struct hotspot_layout *l)
{
	const struct live *live = context;

	return program_set_jvm_layout(live->program, index, l);
}

static int send_jvm(void *context, uint32_t index, const struct hotspot_process *p)
{
	const struct live *l = context;

	return program_set_jvm(l->program, index, p);
}

static int send_layout(void *context, uint32_t number, const struct python_layout *p)
{
	struct live *l = context;

	return program_set_layout(l->program, number, p);
}

static void on_fetched(void *context, uint64_t token, int fd, enum debuginfod_outcome outcome,
		       const char *why)
{
	struct live *l = context;

	(void)outcome;
	(void)why;
	objects_handle_fetched(l->objects, token, fd);
}

static int start_debuginfod(struct live *l, struct error *err)
{
	const struct debuginfod_options o = {
		.urls = l->options.files.debuginfod_urls,
		.folder = l->options.files.debuginfod_cache,
		.fetched = on_fetched,
		.context = l,
	};

	return o.urls ? debuginfod_new(&l->helpers.debuginfod, &o, err) : 0;
}

/* Helper processes are forked first, while they inherit little. */
int live_start_helpers(struct live *l, struct error *err)
{
	const struct symbolizer_events symbols = {
		.symbol = on_symbol,
		.facts = on_facts,
		.table = on_table,
		.python = on_python,
		.hotspot = on_hotspot,
		.jvm = on_jvm,
		.java = on_java,
		.java_code = on_java_code,
		.jvm_counters = on_jvm_counters,
		.jvm_threads = on_jvm_threads,
		.probes = on_probes,
		.context = l,
		.patterns = l->probes.patterns,
		.pattern_count = l->options.probes.count,
		.memory = l->options.memory.symbols,
		.forks = l->helpers.forks,
	};
	const struct opener_events files = {
		.opened = on_opened,
		.process = on_scanned_process,
		.thread = on_scanned_thread,
		.mapping = on_scanned_mapping,
		.scanned = on_scan_done,
		.context = l,
		.forks = l->helpers.forks,
	};
	int ret;

	l->walkers.pythons.send = send_layout;
	l->walkers.pythons.context = l;
	l->walkers.jvms.send_layout = send_jvm_layout;
	l->walkers.jvms.send_process = send_jvm;
	l->walkers.jvms.context = l;
	ret = symbolizer_new(&l->helpers.symbolizer, &symbols, err);
	if (!ret && live_walks_stacks(l))
		ret = pager_new(&l->helpers.pager, l->helpers.forks, err);
	if (!ret && l->options.memory.inlines)
		ret = inlines_new(&l->helpers.inlines, l->options.memory.inlines, err);
	if (!ret)
		ret = start_debuginfod(l, err);
	return ret ? ret : opener_new(&l->helpers.opener, &files, err);
}

void live_connect_helpers(struct live *l)
{
	const struct pager_context pages = {
		.names = l->helpers.symbolizer,
		.tables = l->walkers.tables,
		.objects = l->objects,
		.made = on_pages_made,
		.context = l,
	};
	const struct inlines_context places = {
		.opener = l->helpers.opener,
		.names = l->helpers.symbolizer,
		.placed = on_inlined_places,
		.context = l,
	};

	if (l->helpers.pager)
		pager_set_context(l->helpers.pager, &pages);
	if (!l->helpers.inlines)
		return;
	inlines_set_context(l->helpers.inlines, &places, l->objects);
	intern_use_inlines(l->intern, l->helpers.inlines);
}

bool live_may_request_names(const struct live *l, uint64_t now)
{
	uint64_t gathered = symbolizer_gathered(l->helpers.symbolizer);

	return gathered >= REQUEST_BATCH ||
	       (gathered && now >= l->helpers.last_request + REQUEST_INTERVAL);
}

int live_poll_helpers(struct live *l, bool all, struct error *err)
{
	uint64_t now = clock_boot_ns();
	int ret = opener_poll(l->helpers.opener, now, err);

	live_java_poll(l, now);
	all = all || live_may_request_names(l, now);
	if (all)
		l->helpers.last_request = now;
	if (!ret)
		ret = all ? symbolizer_flush(l->helpers.symbolizer)
			  : symbolizer_flush_transient(l->helpers.symbolizer);
	if (!ret)
		ret = symbolizer_poll(l->helpers.symbolizer, now, err);
	if (!ret && l->helpers.pager)
		ret = pager_poll(l->helpers.pager, now, err);
	if (!ret && l->helpers.inlines)
		ret = inlines_poll(l->helpers.inlines, now, err);
	if (!ret && l->helpers.debuginfod)
		debuginfod_poll(l->helpers.debuginfod, now);
	/* -EPERM: a helper could not confine itself; see helper_restart(). */
	if (ret == -EPERM && here_filtered())
		ret = need_failed(err, ret, NEED_SECCOMP,
				  "a helper process could not give up its privileges");
	if (!ret && l->helpers.failed)
		ret = error_errno(err, l->helpers.failed, "process table");
	return ret;
}
