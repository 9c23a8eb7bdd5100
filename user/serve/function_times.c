// SPDX-License-Identifier: Apache-2.0
/* Count samples as CPU time by service and function (function_times.h). */
#include "serve/function_times.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/entity_marks.h"
#include "analyze/functions.h"
#include "analyze/profile.h"

/* Puts the samples that are counted, for profile_read(). */
struct waiting_source {
	struct source source;
	const struct function_times *of;
	struct entity_store *stores;
	uint64_t until; /* ns */
};

void function_times_mark(const struct function_times *f, struct entity_store *stores)
{
	entity_marks_begin(stores);
	for (size_t i = 0; i < f->waiting.count; i++) {
		entity_mark_thread(stores, f->waiting.items[i].thread);
		entity_mark_stack(stores, f->waiting.items[i].stack);
	}
}

static int waiting_run(struct source *source, struct sink *to, struct error *err)
{
	struct waiting_source *w = (struct waiting_source *)source;
	int ret;

	function_times_mark(w->of, w->stores);
	ret = entity_marks_put(w->stores, to, err);
	for (size_t i = 0; i < w->of->waiting.count && !ret; i++) {
		const struct sample *s = &w->of->waiting.items[i];
		const struct sum one = sum_of_sample(s);

		if (s->time < w->until)
			ret = put_sum(to, &one, err);
	}
	return ret;
}

static const char *service_of_sum(const struct profile *p, const struct profile_sum *s)
{
	uint32_t process = s->thread == PROFILE_NONE ? PROFILE_NONE : p->threads[s->thread].process;

	if (process == PROFILE_NONE || !*p->processes[process].p.service)
		return CPU_TIMES_NO_SERVICE;
	return p->processes[process].p.service;
}

static int compare_service_of_sums(const void *a, const void *b, void *profile)
{
	return strcmp(service_of_sum(profile, a), service_of_sum(profile, b));
}

/* Keep the sums of CPU time only, as if all were of the first such event. Return its index. */
static uint32_t keep_cpu_time(struct profile *p)
{
	uint32_t event = PROFILE_NONE, kept = 0;

	for (uint32_t i = 0; i < p->count.sums; i++) {
		struct profile_sum s = p->sums[i];
		const struct event *e = &p->events[s.event];

		if (strcmp(e->unit, "ns") || event_is_of_waits(e->name) ||
		    event_is_of_hits(e->name))
			continue;
		event = event == PROFILE_NONE ? s.event : event;
		s.event = event;
		p->sums[kept++] = s;
	}
	p->count.sums = kept;
	return event;
}

/* Count the sums of the profile, which are of one service. */
static int count_service(struct cpu_times *t, const struct profile *p, uint32_t event,
			 const struct symbols *symbols)
{
	struct functions list = {0};
	uint64_t time = 0, rest;
	uint32_t service;
	int ret = cpu_times_find_service(t, service_of_sum(p, &p->sums[0]), &service);

	for (uint32_t i = 0; i < p->count.sums; i++)
		time += p->sums[i].weight;
	rest = time;
	if (!ret)
		ret = functions_of_stacks(&list, p, event, symbols);
	for (size_t i = 0; i < list.list.count && !ret; i++) {
		const struct function_cost *cost = &list.list.items[i];
		const uint64_t ns[] = {cost->self_weight, cost->total_weight};

		rest -= cost->self_weight;
		ret = cpu_times_add(t, service, symbol_name(symbols, cost->symbol), ns);
	}
	if (!ret) {
		t->services.items[service].time += time;
		t->services.items[service].other += rest; /* of samples without a stack */
	}
	functions_free(&list);
	return ret;
}

/* Count all sums of the profile, service by service. */
static int count_services(struct cpu_times *t, struct profile *p)
{
	struct profile_sum *const sums = p->sums;
	struct symbols symbols = {0};
	uint32_t event = keep_cpu_time(p), count = p->count.sums;
	int ret = count ? symbols_of(&symbols, p) : 0;

	if (count)
		qsort_r(sums, count, sizeof(*sums), compare_service_of_sums, p);
	for (uint32_t from = 0, to; from < count && !ret; from = to) {
		for (to = from + 1; to < count; to++)
			if (compare_service_of_sums(&sums[from], &sums[to], p))
				break;
		p->sums = &sums[from];
		p->count.sums = to - from;
		ret = count_service(t, p, event, &symbols);
	}
	p->sums = sums;
	p->count.sums = count;
	symbols_free(&symbols);
	return ret;
}

static void drop_counted(struct function_times *f, uint64_t until)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->waiting.count; i++)
		if (f->waiting.items[i].time >= until)
			f->waiting.items[kept++] = f->waiting.items[i];
	f->waiting.count = kept;
}

int function_times_count(struct function_times *f, struct entity_store *stores, uint64_t until,
			 struct error *err)
{
	static const struct source_ops ops = {.run = waiting_run};
	struct waiting_source w = {{&ops}, f, stores, until};
	struct profile *p = NULL;
	int ret = profile_read(&p, &w.source, NULL, err);

	if (ret)
		return ret;
	ret = count_services(&f->table, p);
	profile_free(p);
	drop_counted(f, until);
	return ret ? error_errno(err, ret, "cannot count CPU time by function") : 0;
}

void function_times_free(struct function_times *f)
{
	cpu_times_free(&f->table);
	vector_free(&f->waiting);
}
