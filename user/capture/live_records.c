// SPDX-License-Identifier: Apache-2.0
/* Handles all input of a capture: records of the kernel, and replies of the helper processes. */
#include <string.h>

#include "bpf/event.h"
#include "capture/clock.h"
#include "capture/live.h"

/* Keep the first error, since the helpers' callbacks cannot return it. */
static void keep_error(struct live *l, int ret)
{
	if (ret < 0 && !l->error)
		l->error = ret;
}

static void on_opened(void *context, const struct open_reply *a)
{
	struct live *l = context;

	if (a->token & INLINES_TOKEN)
		inlines_handle_opened(l->inlines, a);
	else
		objects_handle_opened(l->objects, a, clock_boot_ns());
}

static void on_scanned_process(void *context, const struct scanned_process *p)
{
	struct live *l = context;

	keep_error(l, process_table_scanned(l->table, p));
}

static void on_scanned_thread(void *context, const struct scanned_thread *t)
{
	struct live *l = context;

	keep_error(l, process_table_scanned_thread(l->table, t, clock_boot_ns()));
}

static void on_scanned_mapping(void *context, const struct scanned_mapping *m)
{
	struct live *l = context;

	keep_error(l, process_table_scanned_mapping(l->table, m, clock_boot_ns()));
}

static void on_scan_done(void *context, uint32_t pid)
{
	struct live *l = context;

	l->retry = true;
	process_table_scan_over(l->table, pid);
	if (!pid)
		l->scanned = true;
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
	if (l->pager)
		pager_done(l->pager, object);
	l->retry = true;
}

static void on_pages_made(void *context)
{
	struct live *l = context;

	l->retry = true;
}

static void begin_pager(struct live *l)
{
	const struct pager_context c = {
		.names = l->symbolizer,
		.tables = l->tables,
		.objects = l->objects,
		.made = on_pages_made,
		.context = l,
	};

	pager_set_context(l->pager, &c);
}

static void on_python(void *context, uint64_t object, const struct python_file *f)
{
	struct live *l = context;
	bool readable = f->support == PYTHON_READABLE;
	uint32_t layout = readable ? pythons_layout(&l->pythons, &f->layout) : 0;
	struct object *o = objects_handle_inspected(l->objects, object, f, layout);

	if (o && l->table)
		process_table_remapped(l->table, o);
	if (o)
		keep_error(l, live_send_prefetched(l, o));
	l->remapped = true;
	if (o && l->intern)
		intern_object_updated(l->intern, o, true);
}

static int send_layout(void *context, uint32_t number, const struct python_layout *p)
{
	struct live *l = context;

	return program_set_layout(l->program, number, p);
}

static uint32_t sample_words(const struct wire_sample *s)
{
	return (uint32_t)s->kernel_frames + s->user_frames + s->python_words;
}

bool live_is_sample(const struct wire_sample *s, uint32_t size)
{
	const uint64_t *words = (const uint64_t *)(s + 1);
	uint64_t need = sizeof(*s);

	if (s->kind != WIRE_SAMPLE || s->kernel_frames > WIRE_MAX_KERNEL ||
	    s->user_frames > WIRE_MAX_USER || s->python_words > 2 * WIRE_MAX_PYTHON)
		return false;
	need += 8UL * sample_words(s);
	if (s->flags & WIRE_SAVED && size >= need + sizeof(struct wire_unfinished)) {
		const struct wire_unfinished *at = (const void *)(words + sample_words(s));

		need += sizeof(*at) + at->bytes + at->outer_bytes;
		if (at->bytes > WIRE_STACK_BYTES || at->bytes % 8 ||
		    at->outer_bytes > WIRE_OUTER_BYTES || at->outer_bytes % 8)
			return false;
	} else if (s->flags & WIRE_SAVED) {
		return false;
	}
	return size >= need;
}

void live_object_updated(void *context, struct object *o, bool changed)
{
	struct live *l = context;

	l->retry = true;
	if (l->intern)
		intern_object_updated(l->intern, o, changed);
}

static bool selects_process(void *context, uint32_t pid)
{
	return live_selects(context, pid);
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

static enum stack_end stack_end_of(const struct wire_sample *s)
{
	if (s->flags & (WIRE_KTHREAD | WIRE_NO_USER))
		return END_WALKED;
	if (s->flags & WIRE_NO_MM)
		return END_NO_MEMORY_MAP;
	return s->user_frames ? (enum stack_end)s->user_end : END_UNREADABLE;
}

/*
 * Return the Python flags of a sample. The flags of the GIL and the garbage collector are set only
 * for threads of an interpreter.
 */
static uint64_t python_flags_of(const struct wire_sample *s)
{
	if (!(s->python & WIRE_PYTHON_THREAD))
		return 0;
	return SAMPLE_FLAG_PYTHON | (s->python & WIRE_PYTHON_GIL ? SAMPLE_FLAG_GIL : 0) |
	       (s->python & WIRE_PYTHON_COLLECTING ? SAMPLE_FLAG_COLLECTING : 0);
}

static uint64_t sample_flags_of(const struct wire_sample *s, bool late)
{
	return (s->flags & WIRE_KERNEL_MODE ? SAMPLE_FLAG_KERNEL : 0) |
	       (s->pid ? 0 : SAMPLE_FLAG_IDLE) | (late ? SAMPLE_FLAG_LATE : 0) | python_flags_of(s);
}

struct unfinished_stack live_unfinished_stack(const struct wire_sample *s)
{
	const uint64_t *words = (const uint64_t *)(s + 1);
	const struct wire_unfinished *at = (const void *)(words + sample_words(s));

	return (struct unfinished_stack){
		.at = *at,
		.stack = at + 1,
		.frames = words + s->kernel_frames,
		.count = s->flags & WIRE_INITIAL_STATE ? 0 : s->user_frames,
	};
}

/* Select by name here, not in the kernel. Until it executes, the command is still skein. */
static bool is_thread_selected(const struct live *l, const struct process_entry *p,
			       const struct thread_entry *t)
{
	if (p->pid && p->pid == l->options.command && !p->executed)
		return false;
	return p->comm_selected || t->comm_selected;
}

static int put_wire_sample(struct live *l, const struct wire_sample *s, bool late,
			   struct error *err)
{
	const struct sampled_task task = {
		.pid = s->pid,
		.tid = s->tid,
		.ns_pid = s->ns_pid,
		.born = s->born,
		.cgroup = s->cgroup,
		.time = s->time,
		.kernel = s->flags & WIRE_KTHREAD,
	};
	struct raw_stack raw = {
		.words = (const uint64_t *)(s + 1),
		.kernel = s->kernel_frames,
		.user = s->user_frames,
		.python = s->python_words,
		.end = stack_end_of(s),
		.python_end = (enum stack_end)s->python_end,
	};
	struct sample r = {
		.time = s->time,
		.event = EVENT_ID,
		.cpu = s->cpu,
		.weight = l->event.period,
		.flags = sample_flags_of(s, late),
	};
	struct process_entry *p;
	struct thread_entry *t;
	bool unknown;
	int ret;

	ret = process_table_resolve(l->table, &task, &p, &t, &unknown, err);
	if (ret)
		return ret;
	/* The requested scan also gives the name by which the process may be selected. */
	if (unknown && opener_scan(l->opener, s->pid) < 0)
		process_table_scan_over(l->table, s->pid);
	if (!is_thread_selected(l, p, t)) {
		ledger_count_filtered(l->ledger, s->cpu);
		return 0;
	}
	r.thread = t->id;
	if (s->flags & WIRE_UNFINISHED)
		return live_put_unfinished(l, p, s, &r, err);
	raw.space = p->space;
	raw.process = p;
	if (l->saver && s->flags & WIRE_INITIAL_STATE) {
		const struct unfinished_stack begin = live_unfinished_stack(s);

		ret = live_save_bad_stack(l, p->space, &raw, &begin, err);
	}
	return ret ? ret : live_put_sample(l, &raw, &r, err);
}

static int on_sample(struct live *l, const struct ordered_record *r, struct error *err)
{
	const struct wire_sample *s = r->data;

	if (!live_is_sample(s, r->size)) {
		ledger_count_lost(l->ledger, LOSS_BAD_RECORD, 1);
		return 0;
	}
	return put_wire_sample(l, s, r->late, err);
}

static int on_life(struct live *l, const struct ordered_record *r, struct error *err)
{
	struct object *kernel = objects_kernel(l->objects);
	struct life_record life;
	int ret;

	if (life_decode(&life, r->data, r->size) < 0) {
		ledger_count_lost(l->ledger, LOSS_BAD_RECORD, 1);
		return 0;
	}
	if (life.kind != LIFE_KSYMBOL) {
		ret = process_table_life(l->table, &life, r->time, err);
		if (ret > 0)
			opener_scan(l->opener, life.pid);
		if (ret >= 0 && l->schedule && life.kind == LIFE_COMM)
			ret = schedule_renamed(l->schedule, life.tid, r->time, err);
		return ret < 0 ? ret : 0;
	}
	if (!life.unregistered)
		symbolizer_add_kernel_symbol(l->symbolizer, kernel->id, life.start,
					     life.end - life.start, life.text);
	return 0;
}

int live_handle_record(struct live *l, const struct ordered_record *r, struct error *err)
{
	if (program_owns_ring(l->program, r->ring))
		return on_sample(l, r, err);
	if (r->ring == l->task_ring)
		return schedule_task_found(l->schedule, r->data, err);
	return on_life(l, r, err);
}

/* Helper processes are forked first, while they inherit little. */
int live_start_helpers(struct live *l, struct error *err)
{
	const struct symbolizer_events symbols = {
		.symbol = on_symbol,
		.facts = on_facts,
		.table = on_table,
		.python = on_python,
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
	int ret;

	l->pythons.send = send_layout;
	l->pythons.context = l;
	ret = symbolizer_new(&l->symbolizer, &symbols, err);
	if (!ret && live_walks_stacks(l))
		ret = pager_new(&l->pager, err);
	if (!ret && l->options.inline_memory)
		ret = inlines_new(&l->inlines, l->options.inline_memory, err);
	return ret ? ret : opener_new(&l->opener, &files, err);
}

static bool selects_thread(void *context, const struct process_entry *p,
			   const struct thread_entry *t)
{
	return is_thread_selected(context, p, t);
}

static void scan_unknown(void *context, uint32_t tid)
{
	struct live *l = context;

	if (opener_scan(l->opener, tid) < 0)
		process_table_scan_over(l->table, tid);
}

static int begin_schedule(struct live *l, struct error *err)
{
	const struct schedule_context c = {
		.cpus = switches_cpus(l->switches),
		.table = l->table,
		.sink = l->sink,
		.host = HOST_ID,
		.last_lane = &l->last_lane,
		.last_loss = ledger_last_loss(l->ledger),
		.wanted = selects_thread,
		.unknown = scan_unknown,
		.context = l,
	};

	l->switch_order = switch_order_new(l->switches);
	return l->switch_order ? schedule_new(&l->schedule, &c, err)
			       : error_errno(err, -ENOMEM, "switches");
}

static void begin_inlines(struct live *l)
{
	const struct inlines_context c = {
		.opener = l->opener,
		.names = l->symbolizer,
		.placed = on_inlined_places,
		.context = l,
	};

	inlines_set_context(l->inlines, &c, l->objects);
	intern_use_inlines(l->intern, l->inlines);
}

static void on_calm(void *context, const struct object *program)
{
	const struct live *l = context;
	const struct file_id *k = &program->file.id;
	const struct wire_file file = {.inode = k->inode, .device = k->major << 20 | k->minor};

	program_set_calm(l->program, &file);
}

int live_begin_tables(struct live *l, struct error *err)
{
	const struct process_context c = {
		.objects = l->objects,
		.sink = l->sink,
		.host = HOST_ID,
		.arena = live_walks_stacks(l) ? l->arena : NULL,
		.last_lane = l->switches ? &l->last_lane : NULL,
		.comm_glob = l->options.comm,
		.selected = selects_process,
		.calm = live_walks_stacks(l) ? on_calm : NULL,
		.cgroup_path = cgroup_path_of,
		.container = container_of_cgroup,
		.context = l,
	};
	int ret = process_table_new(&l->table, &c, err);

	if (!ret)
		ret = ledger_new(&l->ledger, l->sampler, program_cpus(l->program), HOST_ID,
				 EVENT_ID, l->event.period, err);
	if (!ret && l->switches)
		ret = begin_schedule(l, err);
	if (!ret)
		ret = intern_new(&l->intern, l->objects, l->symbolizer, l->sink, err);
	if (!ret && l->inlines)
		begin_inlines(l);
	if (!ret && l->pager)
		begin_pager(l);
	if (!ret && live_walks_stacks(l)) {
		program_set_prefetcher(l->program, live_prefetch, l);
		sideband_set_prefetcher(l->sideband, live_prefetch_mapping, l);
	}
	return ret;
}
