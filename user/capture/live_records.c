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
	const uint64_t *words = live_sample_frames(s);
	uint64_t need = (uint64_t)((const char *)words - (const char *)s);

	if (s->kind < WIRE_SAMPLE || s->kind > WIRE_HIT || s->kernel_frames > WIRE_MAX_KERNEL ||
	    s->user_frames > WIRE_MAX_USER || s->python_words > 2 * WIRE_MAX_PYTHON ||
	    (s->kind == WIRE_HIT && !live_is_hit(s, size)))
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
	if (s->flags & WIRE_OUTSIDE)
		return END_OUTSIDE;
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
	const uint64_t *words = live_sample_frames(s);
	const struct wire_unfinished *at = (const void *)(words + sample_words(s));

	return (struct unfinished_stack){
		.at = *at,
		.stack = at + 1,
		.frames = words + s->kernel_frames,
		.count = s->flags & WIRE_INITIAL_STATE ? 0 : s->user_frames,
	};
}

bool live_selects_process(void *context, uint32_t pid)
{
	const struct live *l = context;

	return !l->options.targets.pid_count ||
	       program_selects_pid(l->program, namespace_global(l->selection.namespace, pid));
}

/*
 * Names are selected here, not by the BPF programs. The command to record is left out until its
 * exec, because until then it is a copy of skein.
 */
bool live_selects_thread(void *context, const struct process_entry *p, const struct thread_entry *t)
{
	const struct live *l = context;

	if (p->pid && p->pid == l->options.targets.command && !p->executed)
		return false;
	return p->name.selected || t->name.selected;
}

static void count_filtered(struct live *l, const struct wire_sample *s)
{
	if (s->kind == WIRE_SAMPLE)
		ledger_count_filtered(l->ledger, s->cpu, s->event);
	else if (s->kind == WIRE_HIT)
		live_count_hit(l, s, HIT_FILTERED);
	else
		live_count_wait(l, s, LIVE_FILTERED);
}

/*
 * Set what a sample has that is none of the clock. known: whether it is put; if not, it is counted.
 */
static int describe_special(struct live *l, const struct wire_sample *s, struct sample *r,
			    bool *known, struct error *err)
{
	int ret;

	if (s->kind == WIRE_HIT) {
		*known = live_describe_hit(l, s, r);
		return 0;
	}
	ret = live_describe_wait(l, s, r, known, err);
	if (!*known)
		live_count_wait(l, s, LIVE_UNKNOWN_WAIT);
	return ret;
}

static int put_wire_sample(struct live *l, const struct wire_sample *s, bool late,
			   struct error *err)
{
	const struct own_numbers numbers = namespace_own(l->selection.namespace, s->pid, s->tid);
	const unsigned int own = live_own_frames(l, s);
	const struct sampled_task task = {
		.pid = numbers.pid,
		.tid = numbers.tid,
		.ns_pid = s->ns_pid,
		.born = s->born,
		.cgroup = s->cgroup,
		.time = s->time,
		.kernel = s->flags & WIRE_KTHREAD,
	};
	struct raw_stack raw = {
		.words = live_sample_frames(s) + own,
		.kernel = s->kernel_frames - own,
		.user = s->user_frames,
		.python = s->python_words,
		.java = s->java & WIRE_JAVA_FRAMES,
		.end = stack_end_of(s),
		.python_end = (enum stack_end)s->python_end,
	};
	struct sample r = {
		.time = s->time,
		.event = live_event_of_rate(s->event),
		.cpu = s->cpu,
		.weight = l->clock.rates[s->event].period,
		.flags = sample_flags_of(s, late),
	};
	struct resolved_task of;
	struct process_entry *p;
	bool known = true;
	int ret;

	/* the BPF programs could not see any more that the thread is outside */
	if (numbers.tid == NUMBER_OUTSIDE) {
		count_filtered(l, s);
		return 0;
	}
	ret = process_table_resolve(l->processes, &task, &of, err);
	if (ret)
		return ret;
	p = of.process;
	/* Scan before selecting: the scan gives the name by which later samples are selected. */
	if (of.unknown && opener_scan(l->helpers.opener, numbers.pid) < 0)
		process_table_scan_over(l->processes, numbers.pid);
	if (!live_selects_thread(l, p, of.thread)) {
		count_filtered(l, s);
		return 0;
	}
	r.thread = of.thread->id;
	if (s->kind == WIRE_SAMPLE && l->probes.events &&
	    runtime_events_is_collecting(l->probes.events, p))
		r.flags |= SAMPLE_FLAG_COLLECTING;
	if (s->kind != WIRE_SAMPLE)
		ret = describe_special(l, s, &r, &known, err);
	if (ret || !known)
		return ret;
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

	if (!live_is_sample(s, r->size) || s->event >= l->clock.count) {
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
		if (!life_has_process(&life))
			return 0;
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
	if (program_owns_ring(l->program, r->ring) || r->ring == l->switches.open.ring)
		return on_sample(l, r, err);
	if (l->probes.attached && probes_owns_ring(l->probes.attached, r->ring))
		return live_probes_hit(l, r, err);
	if (l->probes.handlers.attached && handlers_owns_ring(l->probes.handlers.attached, r->ring))
		return live_handlers_record(l, r, err);
	if (r->ring == l->rings.tasks)
		return schedule_task_found(l->switches.schedule, r->data, err);
	return on_life(l, r, err);
}
