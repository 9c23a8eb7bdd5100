// SPDX-License-Identifier: Apache-2.0
/* Decodes the records of a live capture's rings, and handles them. */
#include "bpf/event.h"
#include "capture/live.h"

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
	if (p->pid && p->pid == l->options.targets.command && !p->executed)
		return false;
	return p->name.selected || t->name.selected;
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
	const struct wire_unfinished *at =
		(const void *)(raw.words + raw.kernel + raw.user + raw.python);
	struct resolved_task of;
	struct process_entry *p;
	int ret = process_table_resolve(l->table, &task, &of, &l->why);

	if (ret)
		return ret;
	p = of.process;
	/* The scan also gives the name by which the process may be selected. */
	if (of.unknown && opener_scan(l->opener, s->pid) < 0)
		process_table_scan_over(l->table, s->pid);
	if (!is_thread_selected(l, p, of.thread)) {
		ledger_count_filtered(l->ledger, s->cpu);
		return 0;
	}
	r.thread = of.thread->id;
	if (s->flags & WIRE_UNFINISHED)
		return live_put_unfinished(l, p, s, &r, err);
	raw.space = p->space;
	raw.process = p;
	if (l->stacks.saver && s->flags & WIRE_INITIAL_STATE) {
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
		ret = process_table_life(l->processes, &life, r->time, err);
		if (ret > 0)
			opener_scan(l->helpers.opener, life.pid);
		if (ret >= 0 && l->switches.schedule && life.kind == LIFE_COMM)
			ret = schedule_renamed(l->switches.schedule, life.tid, r->time, err);
		return ret < 0 ? ret : 0;
	}
	if (!life.unregistered)
		symbolizer_add_kernel_symbol(l->helpers.symbolizer, kernel->id, life.start,
					     life.end - life.start, life.text);
	return 0;
}

int live_handle_record(struct live *l, const struct ordered_record *r, struct error *err)
{
	struct live *l = context;

	if (program_owns_ring(l->program, ring))
		return on_sample(l, data, size, late);
	if (ring == l->task_ring)
		return schedule_task_found(l->schedule, data, &l->why);
	return on_life(l, time, data, size);
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
	if (!ret && l->options.memory.inlines)
		ret = inlines_new(&l->inlines, l->options.memory.inlines, err);
	return ret ? ret : opener_new(&l->opener, &files, err);
}

static int before_switch(void *context, uint64_t time, struct error *err)
{
	struct live *l = context;

	return order_release(l->order, time, live_handle_record, l)
		       ? error_set(err, -EIO, "%s", l->why.text)
		       : 0;
}

static uint64_t next_ordered_time(void *context)
{
	return order_next_time(((struct live *)context)->order);
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
		.switches = l->switches,
		.table = l->table,
		.sink = l->sink,
		.host = HOST_ID,
		.last_lane = &l->last_lane,
		.last_loss = ledger_last_loss(l->ledger),
		.before = before_switch,
		.next = next_ordered_time,
		.wanted = selects_thread,
		.unknown = scan_unknown,
		.context = l,
	};

	return schedule_new(&l->schedule, &c, err);
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
		.comm_glob = l->options.targets.comm,
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
