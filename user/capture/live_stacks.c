// SPDX-License-Identifier: Apache-2.0
/*
 * Handles samples with unfinished stacks. They are finished at once if all tables and mappings are
 * available; otherwise they are parked, with all data that they need, until the pending tables are
 * made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/clock.h"
#include "capture/live.h"

/*
 * Value of parked.slot for a sample that waits for a scan of its process, because the process is
 * not fully known.
 */
#define SLOT_SCAN UINT32_MAX

/*
 * A sample with an unfinished stack. The pointers in words and walk point into the record, or to
 * copies in data once the sample is parked.
 */
struct parked {
	struct sample sample;
	struct unfinished_stack walk;
	const uint64_t *words; /* frames of all parts */
	struct space *space; /* a reference, see space_share() */
	size_t bytes; /* bytes of memory that the sample takes, including its space */
	uint64_t process; /* process.id */
	uint32_t pid;
	/*
	 * slot of the table, or of its page for address waits_at, that the walk waits for;
	 * SLOT_SCAN: the walk waits for a scan
	 */
	uint32_t slot;
	uint64_t waits_at;
	uint32_t kernel, user, python; /* words of frames of each part */
	uint8_t python_end; /* enum stack_end */
	bool java; /* the user part has Java frames */
	bool begun; /* walk.at is the initial state, so the walk begins again without frames */
	uint64_t data[];
};

static size_t parked_words(const struct parked *p)
{
	return (size_t)p->kernel + p->user + p->python;
}

static size_t parked_size(const struct parked *p)
{
	return sizeof(*p) + parked_words(p) * sizeof(uint64_t) + p->walk.at.bytes +
	       p->walk.at.outer_bytes;
}

/*
 * Update the bytes of a parked sample. They include the mappings of its space, since each stack of
 * a process that maps all the time may have a space of its own.
 */
static void update_parked_bytes(struct live *l, struct parked *p)
{
	l->stacks.bytes -= p->bytes;
	p->bytes = parked_size(p) + p->space->mappings.count * sizeof(struct space_mapping);
	l->stacks.bytes += p->bytes;
}

static const struct arena_chunk *arena_chunk_at(const void *context, uint32_t number)
{
	const struct arena *a = context;

	return number < arena_size(a) / sizeof(struct arena_chunk)
		       ? (const void *)arena_at(a, number << ARENA_CHUNK_SHIFT)
		       : NULL;
}

int live_put_sample(struct live *l, const struct raw_stack *raw, struct sample *r,
		    struct error *err)
{
	const int rate = live_rate_of_event(r->event);
	bool loops;
	int ret = intern_stack(l->intern, raw, &r->stack, &loops, err);

	if (ret)
		return ret;
	if (loops && !(r->flags & SAMPLE_FLAG_PYTHON))
		r->flags |= SAMPLE_FLAG_UNREAD;
	if (r->flags & SAMPLE_FLAG_NOT_ENDED)
		return live_keep_open_wait(l, r, err);
	if (rate >= 0)
		ledger_count_written(l->ledger, (unsigned int)r->cpu, (unsigned int)rate,
				     r->flags & SAMPLE_FLAG_LATE);
	else if (r->event >= EXCEPTIONS_EVENT_ID)
		live_count_written_hit(l, r);
	else
		wait_stacks_count_written(l->switches.waits,
					  r->event == WAIT_EVENT_ID ? WAIT_EVENT_WAIT
								    : WAIT_EVENT_WAKER,
					  (unsigned int)r->cpu);
	l->progress.samples++;
	return put_sample(l->sink, r, err);
}

static struct finish_world make_finish_world(const struct live *l, struct space *space)
{
	const struct tables_memory *m = tables_get_memory(l->walkers.tables);
	struct finish_world world = {
		.slots = m->slots,
		.rules = m->rules,
		.chunk = arena_chunk_at,
		.context = m->arena,
	};

	if (space_publish(space, clock_boot_ns()) == 0) {
		world.mappings = space->view;
		world.mapping_count = space->view_count;
	}
	return world;
}

/*
 * Continue a walk in user space. Returns 0, -EAGAIN with out->slot and out->waits_at, or another
 * negative errno.
 */
static int try_to_finish_stack(struct live *l, const struct unfinished_stack *u,
			       struct space *space, struct finished_stack *out)
{
	const struct finish_world world = make_finish_world(l, space);
	int ret = finish_stack(out, &world, u);

	if (!ret && space->view_version != space->version)
		out->end = END_EVICTED; /* the arena had no room for the mappings */
	return ret;
}

int live_save_bad_stack(struct live *l, struct space *space, const struct raw_stack *raw,
			const struct unfinished_stack *begin, struct error *err)
{
	const struct finish_world world = make_finish_world(l, space);
	const struct ended_stack e = {
		.program = raw->process ? raw->process->name.comm : "unknown",
		.space = space,
		.begin = {.at = begin->at, .stack = begin->stack},
		.frames = raw->words + raw->kernel,
		.count = raw->user,
		.end = raw->end,
	};

	return saver_offer(l->stacks.saver, &world, &e, err);
}

/*
 * Put a sample with the user part of its frames replaced by the frames of f. If bad stacks are
 * saved, save the stack first if it ended badly.
 */
static int put_finished(struct live *l, struct parked *p, const struct finished_stack *f,
			struct error *err)
{
	uint64_t all[WIRE_MAX_KERNEL + WIRE_MAX_USER + 2 * WIRE_MAX_PYTHON];
	const struct raw_stack raw = {
		.space = p->space,
		.process = process_table_find(l->processes, p->pid, p->process),
		.words = all,
		.kernel = p->kernel,
		.user = f->count,
		.python = p->python,
		.java = p->java,
		.end = f->end,
		.python_end = p->python_end,
	};
	int ret = 0;

	memcpy(all, p->words, p->kernel * sizeof(*all));
	memcpy(all + p->kernel, f->frames, f->count * sizeof(*all));
	memcpy(all + p->kernel + f->count, p->words + p->kernel + p->user,
	       p->python * sizeof(*all));
	if (l->stacks.saver && p->begun)
		ret = live_save_bad_stack(l, p->space, &raw, &p->walk, err);
	return ret ? ret : live_put_sample(l, &raw, &p->sample, err);
}

static uint64_t parked_pc_tag(const struct parked *p)
{
	return p->walk.at.exact && p->user ? (uint64_t)WIRE_TAG_EXACT << WIRE_TAG_SHIFT : 0;
}

/* Put a sample with the frames found so far; the stack ends in END_NOT_READY. f: work area. */
static int put_incomplete(struct live *l, struct parked *p, struct finished_stack *f,
			  struct error *err)
{
	f->count = p->user;
	f->end = END_NOT_READY;
	memcpy(f->frames, p->words + p->kernel, p->user * sizeof(uint64_t));
	/*
	 * The walk's pc is a frame too: the point where the thread was interrupted, or a caller
	 * whose table is not ready.
	 */
	if (!f->count || (!p->begun && !p->walk.at.unmapped))
		f->frames[f->count++] = p->walk.at.pc | parked_pc_tag(p);
	return put_finished(l, p, f, err);
}

static void free_parked(struct live *l, struct parked *p)
{
	l->stacks.bytes -= p->bytes;
	space_drop(p->space);
	free(p);
}

/*
 * Continue the walk of a sample that waited for a scan. If mappings are missing in its own space,
 * the space that the process has after the scan is used instead: only then, since that space has
 * what was mapped after the sample, too.
 */
static int finish_scanned_stack(struct live *l, struct parked *p)
{
	const struct process_entry *now = process_table_find(l->processes, p->pid, p->process);
	struct finished_stack *f = &l->stacks.finished;
	int ret = try_to_finish_stack(l, &p->walk, p->space, f);

	if (ret || f->end != END_UNMAPPED || !now || p->space == now->space)
		return ret;
	space_drop(p->space);
	p->space = space_share(now->space);
	update_parked_bytes(l, p);
	return try_to_finish_stack(l, &p->walk, p->space, f);
}

/* Return whether the table, page or scan that a parked sample waits for has yet to come. */
static bool is_still_waiting(const struct live *l, const struct parked *p)
{
	const struct space_mapping *m = space_find(p->space, p->waits_at);
	const struct process_entry *now;

	if (p->slot != SLOT_SCAN)
		return m && tables_page_is_pending(l->walkers.tables, p->slot,
						   (p->waits_at - m->start + m->offset) >>
							   UNWIND_PAGE_SHIFT);
	now = process_table_find(l->processes, p->pid, p->process);
	return now && now->scan == SCAN_RUNNING;
}

void live_request_pages(struct live *l, const struct space *space, uint64_t pc,
			const struct unfinished_stack *u)
{
	const struct pager_walk walk = {
		.space = space,
		.pc = pc,
		.stack = u->stack,
		.words = (u->at.bytes + u->at.outer_bytes) / sizeof(uint64_t),
	};

	if (l->helpers.pager && space->mappings.count)
		pager_request(l->helpers.pager, &walk);
}

/*
 * Retry a parked sample. last: put the sample in any case. Returns 0 if the sample was put, 1 if it
 * still has to wait, or a negative errno.
 */
static int retry_parked(struct live *l, struct parked *p, bool last, struct error *err)
{
	struct finished_stack *f = &l->stacks.finished;
	int ret = -EAGAIN;

	if (!is_still_waiting(l, p)) {
		ret = p->slot == SLOT_SCAN ? finish_scanned_stack(l, p)
					   : try_to_finish_stack(l, &p->walk, p->space, f);
		if (ret == -EAGAIN) {
			p->slot = f->slot;
			p->waits_at = f->waits_at;
		}
	}
	if (ret == -EAGAIN && !last) {
		if (p->slot != SLOT_SCAN)
			live_request_pages(l, p->space, p->waits_at, &p->walk);
		return 1;
	}
	return ret ? put_incomplete(l, p, f, err) : put_finished(l, p, f, err);
}

int live_retry_stacks(struct live *l, bool last, struct error *err)
{
	/* Free an eighth at once, so that not every new stack causes a retry of all others. */
	size_t most = l->stacks.bytes > l->stacks.most ? l->stacks.most / 8 * 7 : SIZE_MAX;
	size_t left = 0, i = 0;
	int ret = 0;

	for (; i < l->stacks.parked.count; i++) {
		struct parked *p = l->stacks.parked.items[i];

		bool open = l->stacks.put_open && p->sample.flags & SAMPLE_FLAG_NOT_ENDED;

		ret = retry_parked(l, p, last || open || l->stacks.bytes > most, err);
		if (ret > 0) {
			l->stacks.parked.items[left++] = p;
			ret = 0;
		} else {
			free_parked(l, p);
		}
		if (ret)
			break;
	}
	for (i++; i < l->stacks.parked.count; i++)
		l->stacks.parked.items[left++] = l->stacks.parked.items[i];
	l->stacks.parked.count = left;
	return ret;
}

static int park_sample(struct live *l, const struct parked *head, struct error *err)
{
	size_t bytes = parked_size(head), words = parked_words(head);
	struct parked *p = malloc(bytes);

	if (!p || vector_reserve(&l->stacks.parked, 1) < 0) {
		free(p);
		return error_errno(err, -ENOMEM, "stacks that wait");
	}
	*p = *head;
	p->words = p->data;
	p->walk.frames = p->data + p->kernel;
	p->walk.stack = p->data + words;
	memcpy(p->data, head->words, words * sizeof(*p->data));
	memcpy(p->data + words, head->walk.stack, p->walk.at.bytes + p->walk.at.outer_bytes);
	space_share(p->space);
	update_parked_bytes(l, p);
	l->stacks.parked.items[l->stacks.parked.count++] = p;
	return l->stacks.bytes > l->stacks.most ? live_retry_stacks(l, false, err) : 0;
}

/*
 * Record that the BPF walkers have an old version of the process's mappings, so that the present
 * ones are sent again; or, if the walk ended at a pc outside of all mappings, that the walkers have
 * all mappings. f: result of the walk in user space, NULL if it could not be finished.
 */
static void note_missing_mappings(struct live *l, struct process_entry *p,
				  const struct wire_unfinished *at, const struct finished_stack *f)
{
	if (at->version != p->space->version)
		process_table_mark_unsent(l->processes, p);
	else if (at->unmapped && f && f->end == END_UNMAPPED)
		process_table_mark_settled(l->processes, p);
}

int live_put_unfinished(struct live *l, struct process_entry *p, const struct wire_sample *s,
			const struct sample *r, struct error *err)
{
	const unsigned int own = live_own_frames(l, s);
	struct parked head = {
		.sample = *r,
		.walk = live_unfinished_stack(s),
		.words = live_sample_frames(s) + own,
		.space = p->space,
		.process = p->id,
		.pid = p->pid,
		.kernel = s->kernel_frames - own,
		.user = s->user_frames,
		.python = s->python_words,
		.python_end = s->python_end,
		.java = s->java & WIRE_JAVA_FRAMES,
		.begun = s->flags & WIRE_INITIAL_STATE,
	};
	struct finished_stack *f = &l->stacks.finished;
	int ret =
		p->scan == SCAN_RUNNING ? -EAGAIN : try_to_finish_stack(l, &head.walk, p->space, f);

	note_missing_mappings(l, p, &head.walk.at, ret ? NULL : f);
	if (!ret)
		return put_finished(l, &head, f, err);
	if (ret != -EAGAIN)
		return error_errno(err, ret, "unfinished stack");
	head.slot = p->scan == SCAN_RUNNING ? SLOT_SCAN : f->slot;
	head.waits_at = f->waits_at;
	if (p->scan != SCAN_RUNNING)
		live_request_pages(l, p->space, f->waits_at, &head.walk);
	return park_sample(l, &head, err);
}

void live_free_stacks(struct live *l)
{
	for (size_t i = 0; i < l->stacks.parked.count; i++)
		free_parked(l, l->stacks.parked.items[i]);
	vector_free(&l->stacks.parked);
}
