// SPDX-License-Identifier: Apache-2.0
/* Distributes the events of probes to those who know their meaning; see runtime_events.h. */
#include "capture/runtime_meanings.h"

#include <errno.h>

#include "base/outfile.h"

/* Names that are kept to be used again. */
#define NAMES_KEPT 8192

int runtime_events_new(struct runtime_events **out, const struct runtime_events_context *c,
		       struct error *err)
{
	struct runtime_events *r = calloc(1, sizeof(*r));

	if (!r)
		return error_errno(err, -ENOMEM, "runtime events");
	r->c = *c;
	r->epoch = 1;
	r->names = cache_new(NAMES_KEPT);
	r->args.out = open_memstream(&r->args.text, &r->args.size);
	if (!r->names || !r->args.out) {
		runtime_events_free(r);
		return error_errno(err, -ENOMEM, "runtime events");
	}
	*out = r;
	return 0;
}

void runtime_events_free(struct runtime_events *r)
{
	struct runtime_lanes *p, *next_process;
	struct runtime_thread *t, *next_thread;

	if (!r)
		return;
	HASH_ITER (hh, r->processes, p, next_process)
		runtime_lanes_free(p);
	HASH_ITER (hh, r->threads, t, next_thread)
		runtime_thread_free(r, t);
	cache_free(r->names);
	if (r->args.out)
		fclose(r->args.out);
	free(r->args.text);
	free(r);
}

/* Return whether losses, by their number modulo 2^32, came after others. */
static bool lost_more(uint32_t lost, uint32_t before)
{
	return (int32_t)(lost - before) > 0;
}

/* Let nothing that began before a loss pair with an event after it. */
static void separate_from_lost(struct runtime_events *r, uint32_t lost)
{
	if (!lost_more(lost, r->lost))
		return;
	r->lost = lost;
	r->epoch++;
}

int runtime_events_probe(struct runtime_events *r, const struct probe_event *e, struct error *err)
{
	struct runtime_lanes *p = runtime_lanes_of(r, e->process, e->time);
	enum probe_meaning meaning = e->row->meaning;

	if (!p)
		return error_errno(err, -ENOMEM, "runtime events");
	separate_from_lost(r, e->lost);
	if ((meaning >= PROBE_STOP_BEGIN && meaning <= PROBE_OPERATION_END) ||
	    meaning == PROBE_CAUSE)
		return runtime_hotspot_probe(p, e, err);
	if (meaning == PROBE_PYTHON_COLLECTION_BEGIN || meaning == PROBE_PYTHON_COLLECTION_END)
		return runtime_python_probe(p, e, err);
	return runtime_is_of_thread(meaning) ? runtime_thread_probe(p, e, err)
					     : runtime_pair_probe(p, e, err);
}

int runtime_events_count(struct runtime_events *r, struct process_entry *p, uint64_t time,
			 const struct runtime_quantity *q, struct error *err)
{
	struct runtime_lanes *of = runtime_lanes_of(r, p, time);
	struct counter c = {.time = time, .value = q->value};
	int ret;

	if (!of)
		return error_errno(err, -ENOMEM, "runtime events");
	ret = runtime_vm_lane(of, p, err);
	if (!ret)
		ret = runtime_name(r, q->name, &c.name, err);
	c.lane = of->vm.lane;
	return ret ? ret : put_counter(r->c.sink, &c, err);
}

static bool is_jvm_counted(const struct counted_span *s, const struct runtime_counted *which,
			   uint64_t manager)
{
	return which->kinds >> s->kind & 1 && (!which->manager || s->manager == manager) &&
	       s->time <= which->until && s->end >= which->from;
}

uint64_t runtime_events_counted(const struct runtime_events *r, const struct process_entry *p,
				const struct runtime_counted *which)
{
	uint64_t manager = which->manager ? runtime_key(which->manager) : 0, found = 0;
	struct runtime_lanes *of = NULL;

	if (r->processes && p->id)
		HASH_FIND(hh, r->processes, &p->id, sizeof(p->id), of);
	if (of && of->counted.count == RUNTIME_COUNTED)
		return UINT64_MAX;
	for (size_t i = 0; of && i < of->counted.count; i++)
		found += is_jvm_counted(&of->counted.items[i], which, manager);
	return found;
}

bool runtime_events_is_collecting(const struct runtime_events *r, const struct process_entry *p)
{
	struct runtime_lanes *of = NULL;

	if (!r->processes || !p->id)
		return false;
	HASH_FIND(hh, r->processes, &p->id, sizeof(p->id), of);
	if (!of || of->vm.epoch != r->epoch || lost_more(r->lost_in_all, r->lost))
		return false;
	for (size_t i = 0; i < of->vm.open.count; i++)
		if (of->vm.open.items[i].kind == SPAN_GC_STOP)
			return true;
	return false;
}

void runtime_events_lost(struct runtime_events *r, uint32_t lost)
{
	r->lost_in_all = lost;
}

void runtime_events_forget(struct runtime_events *r)
{
	cache_clear(r->names);
}

static int put_unpaired(struct runtime_events *r, struct error *err)
{
	struct loss loss = {
		.id = *r->c.last_loss + 1,
		.host = r->c.host,
		.reason = LOSS_UNPAIRED,
		.time = r->unpaired.time,
		.end = r->unpaired.end,
		.count = r->unpaired.count,
	};
	int ret;

	if (!loss.count)
		return 0;
	ret = put_loss(r->c.sink, &loss, err);
	if (ret)
		return ret;
	*r->c.last_loss = loss.id;
	r->unpaired.count = r->unpaired.end = 0;
	return 0;
}

static int end_process(struct runtime_events *r, struct runtime_lanes *p, uint64_t time,
		       struct error *err)
{
	int ret = track_put_open(r, &p->vm, time, err);

	for (int i = 0; p->concurrent && i < RUNTIME_CONCURRENT && !ret; i++)
		ret = track_put_open(r, &p->concurrent[i].track, time, err);
	runtime_lanes_free(p);
	return ret;
}

static int end_runtime_thread(struct runtime_events *r, struct runtime_thread *t, uint64_t time,
			      struct error *err)
{
	int ret = track_put_open(r, &t->track, time, err);

	runtime_thread_free(r, t);
	return ret;
}

int runtime_events_end(struct runtime_events *r, const struct process_entry *p, uint64_t time,
		       struct error *err)
{
	struct runtime_lanes *of, *next_process;
	struct runtime_thread *t, *next_thread;
	int ret = 0;

	/* the ends of what is open may be among those lost since the last event */
	if (lost_more(r->lost_in_all, r->lost))
		r->epoch++;
	HASH_ITER (hh, r->threads, t, next_thread)
		if (!ret && (!p || t->process == p->id))
			ret = end_runtime_thread(r, t, time, err);
	HASH_ITER (hh, r->processes, of, next_process)
		if (!ret && (!p || of->id == p->id))
			ret = end_process(r, of, time, err);
	return ret ? ret : put_unpaired(r, err);
}

/* Return whether a thread that has open spans has ended. */
static bool has_thread_ended(const struct runtime_events *r, const struct runtime_thread *t)
{
	const struct thread_entry *of = process_table_thread_of_tid(r->c.table, t->tid);

	return !of || of->lane != t->lane || of->ended || of->process != t->process;
}

int runtime_events_tick(struct runtime_events *r, uint64_t now, struct error *err)
{
	struct runtime_lanes *p, *next_process;
	struct runtime_thread *t, *next_thread;
	int ret = 0;

	HASH_ITER (hh, r->threads, t, next_thread) {
		if (!ret && (!t->track.open.count || has_thread_ended(r, t)))
			ret = end_runtime_thread(r, t, now, err);
	}
	HASH_ITER (hh, r->processes, p, next_process) {
		const struct process_entry *of = process_table_find(r->c.table, p->pid, p->id);

		if (!ret && (!of || of->ended))
			ret = end_process(r, p, now, err);
	}
	return ret ? ret : put_unpaired(r, err);
}
