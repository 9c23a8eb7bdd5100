// SPDX-License-Identifier: Apache-2.0
/* How long programs stood still for their runtimes (pauses.h). */
#include "serve/pauses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "serve/cpu_times.h"
#include "serve/label.h"

#define NSEC_PER_SEC ((uint64_t)1000000000)
#define METRIC "skein_pause_seconds"

static const struct pause_bucket {
	uint64_t ns;
	const char *text;
} pause_buckets[] = {
#define PAUSE_BUCKET(ns, text) {ns, text},
	PAUSE_BUCKETS(PAUSE_BUCKET)
#undef PAUSE_BUCKET
};

int pauses_tick(struct pauses *p, const struct entity_store *stores)
{
	int ret = 0;

	for (size_t i = 0; i < p->fresh.count && !ret; i++) {
		const struct lane *l = &p->fresh.items[i];
		struct entity_store_item *of = entity_store_find(&stores[KIND_THREAD], l->number);
		const struct thread *t = of ? entity_store_record(of) : NULL;

		ret = pause_lanes_note(&p->lanes, l, t ? t->process : 0);
	}
	p->fresh.count = 0;
	return ret;
}

/* A thread comes after its lane, which it has under all its names. */
static int note_lane_of_pauses(struct pauses *p, const struct lane *l)
{
	const struct lane kept = {.id = l->id, .kind = l->kind, .number = l->number};

	if (l->kind == LANE_THREAD)
		return vector_push(&p->fresh, kept);
	if (l->kind == LANE_PROCESS)
		return pause_lanes_note(&p->lanes, l, l->number);
	return l->kind == LANE_RUNTIME
		       ? pause_lanes_note(&p->lanes, l, pause_lanes_process(&p->lanes, l->parent))
		       : 0;
}

static struct pause_row *find_pause_row(const struct pauses *p, uint64_t kind, const char *service)
{
	for (size_t i = 0; i < p->rows.count; i++)
		if (p->rows.items[i].kind == kind && !strcmp(p->rows.items[i].service, service))
			return &p->rows.items[i];
	return NULL;
}

static struct pause_row *get_pause_row(struct pauses *p, uint64_t kind, const char *service)
{
	struct pause_row fresh = {.kind = kind}, *found = find_pause_row(p, kind, service);

	if (!found && p->rows.count >= PAUSE_ROWS) {
		service = CPU_TIMES_OTHERS;
		found = find_pause_row(p, kind, service);
	}
	if (found)
		return found;
	fresh.service = strdup(service);
	if (!fresh.service)
		return NULL;
	if (vector_push(&p->rows, fresh) < 0) {
		free(fresh.service);
		return NULL;
	}
	return &p->rows.items[p->rows.count - 1];
}

static const char *service_of_pause(const struct pauses *p, const struct span *s,
				    const struct entity_store *stores)
{
	struct entity_store_item *of =
		entity_store_find(&stores[KIND_PROCESS], pause_lanes_process(&p->lanes, s->lane));
	const struct process *process = of ? entity_store_record(of) : NULL;

	return process && process->service && *process->service ? process->service
								: CPU_TIMES_NO_SERVICE;
}

static int count_pause(struct pauses *p, const struct span *s, const struct entity_store *stores)
{
	struct pause_row *row = get_pause_row(p, s->kind, service_of_pause(p, s, stores));
	uint64_t ns = s->end - s->time;

	if (!row)
		return -ENOMEM;
	row->count++;
	row->ns += ns;
	for (int i = 0; i < PAUSE_BUCKET_COUNT; i++)
		row->within[i] += ns <= pause_buckets[i].ns;
	return 0;
}

int pauses_put(struct pauses *p, enum record_kind kind, const void *record,
	       const struct entity_store *stores)
{
	int ret = 0;

	if (kind == KIND_LANE)
		return note_lane_of_pauses(p, record);
	if (kind != KIND_SPAN)
		return 0;
	if (((const struct span *)record)->kind == SPAN_COLLECTION)
		ret = pauses_tick(p, stores);
	return ret || !pause_lanes_stop(&p->lanes, record) ? ret : count_pause(p, record, stores);
}

static void begin_pause_line(const struct metrics_page *m, const struct pause_row *r,
			     const char *suffix)
{
	fputs(METRIC, m->out);
	fprintf(m->out, "%s{service=", suffix);
	label_write(m->out, r->service);
	fputs(",kind=", m->out);
	label_write(m->out, span_kind_word(r->kind));
}

static void write_pause_row(const struct metrics_page *m, const struct pause_row *r)
{
	for (int i = 0; i < PAUSE_BUCKET_COUNT; i++) {
		begin_pause_line(m, r, "_bucket");
		fprintf(m->out, ",le=\"%s\"} %" PRIu64 "\n", pause_buckets[i].text, r->within[i]);
	}
	begin_pause_line(m, r, "_bucket");
	fprintf(m->out, ",le=\"+Inf\"} %" PRIu64 "\n", r->count);
	begin_pause_line(m, r, "_sum");
	fprintf(m->out, "} %" PRIu64 ".%09" PRIu64 "\n", r->ns / NSEC_PER_SEC,
		r->ns % NSEC_PER_SEC);
	begin_pause_line(m, r, "_count");
	fprintf(m->out, "} %" PRIu64 "\n", r->count);
}

void pauses_write(const struct metrics_page *m, const struct pauses *p)
{
	if (!p->rows.count)
		return;
	metric_begin(m, METRIC, "histogram",
		     "Time in which a program of a service stood still for its runtime, by kind "
		     "of span. Those of a JVM lie in each other: do not add kinds up.");
	for (size_t i = 0; i < p->rows.count; i++)
		write_pause_row(m, &p->rows.items[i]);
}

void pauses_free(struct pauses *p)
{
	for (size_t i = 0; i < p->rows.count; i++)
		free(p->rows.items[i].service);
	vector_free(&p->rows);
	vector_free(&p->fresh);
	pause_lanes_free(&p->lanes);
}
