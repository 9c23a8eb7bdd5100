// SPDX-License-Identifier: Apache-2.0
/* Make rows of tables from the scheduler's sums (sched_rows.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sched_rows.h"

static const struct process no_process = {
	.comm = "",
	.exe = "",
	.cgroup = "",
	.container = "",
	.service = "",
};

int sched_names_of(struct sched_names *out, const struct profile *p)
{
	struct sched_names n = {.profile = p};
	int ret = 0;

	for (uint32_t i = 0; i < p->count.processes && !ret; i++)
		ret = index_put(&n.processes, p->processes[i].p.id, i);
	for (uint32_t i = 0; i < p->count.threads && !ret; i++)
		ret = index_put(&n.threads, p->threads[i].t.id, i);
	if (ret < 0)
		sched_names_free(&n);
	else
		*out = n;
	return ret;
}

void sched_names_free(struct sched_names *n)
{
	index_free(&n->processes);
	index_free(&n->threads);
}

const struct thread *sched_names_thread(const struct sched_names *n, uint64_t id)
{
	uint32_t at = index_get(&n->threads, id);

	return at == INDEX_NONE ? NULL : &n->profile->threads[at].t;
}

const struct process *sched_names_process(const struct sched_names *n, uint64_t id)
{
	uint32_t at = index_get(&n->processes, id);

	return at == INDEX_NONE ? &no_process : &n->profile->processes[at].p;
}

const char *sched_interrupt_name(uint32_t waker)
{
	static const char *const names[] = {[INTERRUPT_NONE] = "[unknown]",
#define INTERRUPT_NAME(NAME, text) [INTERRUPT_##NAME] = "[" text "]",
					    INTERRUPTS(INTERRUPT_NAME)
#undef INTERRUPT_NAME
	};

	return waker >= SCHED_INTERRUPT && waker - SCHED_INTERRUPT < INTERRUPT_COUNT
		       ? names[waker - SCHED_INTERRUPT]
		       : names[INTERRUPT_NONE];
}

struct sched_rows_builder {
	const struct sched *sched;
	const struct sched_names *names;
	struct sched_rows rows;
	struct names keys; /* keys of groups; the number of a key is the row */
	struct index members; /* (row, process) -> the process is in the row */
	uint32_t *of_thread; /* row by index of the thread */
};

/*
 * Add the data that are kept by process to a row, once for each process; called for every selected
 * thread of the row.
 */
static int join_process(struct sched_rows_builder *m, struct sched_row *row, uint32_t number,
			uint32_t process)
{
	const struct sched_process *p = &m->sched->processes.items[process];
	uint64_t member = (uint64_t)number << 32 | process;
	int ret = 0;

	if (index_get(&m->members, member) != INDEX_NONE)
		return 0;
	row->processes++;
	for (int how = 0; how < QUEUED_COUNT && m->rows.by != GROUP_THREAD && !ret; how++)
		ret = histogram_merge(&row->waits[how], &p->waits[how]);
	for (size_t k = 0; k < p->at_once.done.count && m->rows.by == GROUP_PROCESS && !ret; k++) {
		if (k >= row->at_once.count)
			ret = vector_push(&row->at_once, 0);
		if (!ret)
			row->at_once.items[k] += p->at_once.done.items[k];
	}
	return ret ? ret : index_put(&m->members, member, 1);
}

static int join_thread(struct sched_rows_builder *m, uint32_t index)
{
	const struct sched_thread *t = &m->sched->threads.items[index];
	const struct thread *thread = sched_names_thread(m->names, t->id);
	struct sched_row fresh = {.waker = SCHED_INTERRUPT}, *row;
	uint32_t number;

	fresh.process = sched_names_process(m->names, m->sched->processes.items[t->process].id);
	fresh.thread = m->rows.by == GROUP_THREAD ? thread : NULL;
	fresh.name = group_number(&m->keys, m->rows.by, fresh.process, thread, &number);
	if (!fresh.name)
		return -ENOMEM;
	if (number == m->rows.list.count && vector_push(&m->rows.list, fresh) < 0)
		return -ENOMEM;
	m->of_thread[index] = number;
	if (!t->selected)
		return 0;
	row = &m->rows.list.items[number];
	row->threads++;
	sched_times_add(&row->times, &t->times);
	sched_counts_add(&row->counts, &t->counts);
	return join_process(m, row, number, t->process);
}

static uint64_t cpu_time_wanted(const struct sched_row *r)
{
	return r->times.running + sched_queued(&r->times);
}

static int compare_numbers_down(uint64_t x, uint64_t y)
{
	return (x < y) - (x > y);
}

static int compare_sched_rows(const void *a, const void *b, void *context)
{
	const struct sched_rows *rows = context;
	const struct sched_row *x = &rows->list.items[*(const uint32_t *)a];
	const struct sched_row *y = &rows->list.items[*(const uint32_t *)b];
	int by = compare_numbers_down(cpu_time_wanted(x), cpu_time_wanted(y));

	by = by ? by : compare_numbers_down(sched_life(&x->times), sched_life(&y->times));
	by = by ? by : strcmp(x->name, y->name);
	by = by ? by : compare_numbers_down(y->process->pid, x->process->pid);
	return by ? by : compare_numbers_down(*(const uint32_t *)b, *(const uint32_t *)a);
}

/* Make the list of rows with selected threads that lived or were woken in the range; sort it. */
static int order_sched_rows(struct sched_rows *rows)
{
	for (uint32_t i = 0; i < rows->list.count; i++) {
		const struct sched_row *r = &rows->list.items[i];

		if ((sched_life(&r->times) || r->counts.wakeups) &&
		    vector_push(&rows->order, i) < 0)
			return -ENOMEM;
	}
	if (rows->order.count)
		qsort_r(rows->order.items, rows->order.count, sizeof(*rows->order.items),
			compare_sched_rows, rows);
	return 0;
}

static int compare_wakes(const void *a, const void *b)
{
	const struct sched_wakes *x = a, *y = b;
	int by = compare_numbers_down(x->count, y->count);

	by = by ? by : compare_numbers_down(y->to, x->to);
	return by ? by : compare_numbers_down(y->from, x->from);
}

static void find_wakers(struct sched_rows *rows)
{
	for (size_t i = rows->wakes.count; i-- > 0;) {
		const struct sched_wakes *w = &rows->wakes.items[i];

		rows->list.items[w->to].waker = w->from;
		rows->list.items[w->to].by_waker = w->count;
	}
}

/* Turn pairs of threads into pairs of rows. */
static int join_wakes(struct sched_rows_builder *m)
{
	struct sched_rows *rows = &m->rows;
	struct index by_pair = {0};
	int ret = 0;

	for (size_t i = 0; i < m->sched->wakes.count && !ret; i++) {
		struct sched_wakes w = m->sched->wakes.items[i];
		uint32_t at;

		w.from = w.from < SCHED_INTERRUPT ? m->of_thread[w.from] : w.from;
		w.to = m->of_thread[w.to];
		at = index_get(&by_pair, (uint64_t)w.from << 32 | w.to);
		if (at != INDEX_NONE) {
			rows->wakes.items[at].count += w.count;
			continue;
		}
		at = (uint32_t)rows->wakes.count;
		ret = vector_push(&rows->wakes, w);
		if (!ret)
			ret = index_put(&by_pair, (uint64_t)w.from << 32 | w.to, at);
	}
	index_free(&by_pair);
	if (rows->wakes.count)
		qsort(rows->wakes.items, rows->wakes.count, sizeof(*rows->wakes.items),
		      compare_wakes);
	find_wakers(rows);
	return ret;
}

int sched_rows_of(struct sched_rows *out, const struct sched *s, const struct sched_names *n,
		  enum group_by by)
{
	struct sched_rows_builder m = {.sched = s, .names = n, .rows.by = by};
	int ret;

	m.of_thread = calloc(s->threads.count + 1, sizeof(*m.of_thread));
	ret = m.of_thread ? 0 : -ENOMEM;
	for (size_t i = 0; i < s->threads.count && !ret; i++)
		ret = join_thread(&m, (uint32_t)i);
	if (!ret)
		ret = join_wakes(&m);
	if (!ret)
		ret = order_sched_rows(&m.rows);
	names_free(&m.keys);
	index_free(&m.members);
	free(m.of_thread);
	if (ret < 0)
		sched_rows_free(&m.rows);
	else
		*out = m.rows;
	return ret;
}

void sched_rows_free(struct sched_rows *r)
{
	for (size_t i = 0; i < r->list.count; i++) {
		for (int how = 0; how < QUEUED_COUNT; how++)
			histogram_free(&r->list.items[i].waits[how]);
		vector_free(&r->list.items[i].at_once);
	}
	vector_free(&r->list);
	vector_free(&r->order);
	vector_free(&r->wakes);
}
