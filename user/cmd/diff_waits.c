// SPDX-License-Identifier: Apache-2.0
/* Read the waits of the traces that skein diff compares. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions.h"
#include "analyze/off_cpu.h"
#include "analyze/sched_rows.h"
#include "cmd/diff.h"

/* The waits of a trace, and of each of its stretches. */
struct diff_trace_waits {
	const struct filtered_input *input;
	struct symbols symbols;
	struct sched_names names;
	struct off_cpu *all;
	struct off_cpu *stretches[DIFF_STRETCHES];
};

bool diff_is_of_waits(const struct comparison *c)
{
	return c->traces[0].event && event_is_of_waits(c->traces[0].event->name);
}

static bool is_compared_waiter(const void *context, const struct thread *t)
{
	const struct diff_trace_waits *w = context;

	return filter_selects(w->input->source, sched_names_process(&w->names, t->process), t);
}

/* What to read of a trace; from, to: in the range of time of the options. */
static struct off_cpu_query waits_query(const struct diff_trace *t, const struct comparison *c)
{
	const struct diff_trace_waits *w = t->waits;

	return (struct off_cpu_query){
		.profile = t->profile,
		.symbols = &w->symbols,
		.names = &w->names,
		.by = c->criteria.by < GROUP_MODULE ? (enum group_by)c->criteria.by : GROUP_PROGRAM,
		.from = c->options->filter.from,
		.to = c->options->filter.to,
		.selected = is_compared_waiter,
		.context = w,
		.no_chains = true,
	};
}

static int read_waits(struct off_cpu **out, const struct diff_trace *t,
		      const struct off_cpu_query *q, struct error *err)
{
	struct source *samples = NULL;
	int ret = trace_source(&samples, t->input.trace, err);

	if (!ret)
		ret = off_cpu_read(out, samples, q, err);
	source_free(samples);
	return ret;
}

static int read_waits_in_stretches(struct diff_trace *t, const struct comparison *c,
				   struct error *err)
{
	const struct filter *f = &c->options->filter;
	struct off_cpu_query q = waits_query(t, c);
	uint64_t step = t->time / DIFF_STRETCHES;
	int ret = 0;

	if (!step)
		return 0;
	for (uint64_t i = 0; i < DIFF_STRETCHES && !ret; i++) {
		q.from = f->from + step * i;
		q.to = i == DIFF_STRETCHES - 1 ? f->to : q.from + step - 1;
		ret = read_waits(&t->waits->stretches[i], t, &q, err);
		if (!ret)
			t->stretches[t->stretch_count++] = (struct diff_run){
				.profile = t->profile,
				.event = t->event_index,
				.time = step,
				.waits = t->waits->stretches[i],
				.symbols = &t->waits->symbols,
			};
	}
	return ret;
}

static int read_waits_of_trace(struct diff_trace *t, const struct comparison *c, struct error *err)
{
	struct off_cpu_query q;
	int ret;

	if (!t->event || strcmp(t->event->name, EVENT_OFF_CPU))
		return error_set(err, -ENODATA,
				 "%s: the trace has no stacks of waits: record with 'skein record "
				 "-e off-cpu'",
				 t->path);
	t->waits = calloc(1, sizeof(*t->waits));
	ret = t->waits ? symbols_in_common(&t->waits->symbols, t->profile) : -ENOMEM;
	if (!ret)
		ret = sched_names_of(&t->waits->names, t->profile);
	if (ret < 0)
		return error_errno(err, ret, "cannot compare");
	t->waits->input = &t->input;
	q = waits_query(t, c);
	ret = read_waits(&t->waits->all, t, &q, err);
	return ret || !diff_is_weak(c) ? ret : read_waits_in_stretches(t, c, err);
}

int diff_read_waits(struct comparison *c, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < c->count[BEFORE] + c->count[AFTER] && !ret; i++)
		ret = read_waits_of_trace(&c->traces[i], c, err);
	return ret;
}

struct diff_run diff_run_of_trace(const struct diff_trace *t)
{
	return (struct diff_run){
		.profile = t->profile,
		.event = t->event_index,
		.time = t->time,
		.stretches = t->stretches,
		.stretch_count = t->stretch_count,
		.waits = t->waits ? t->waits->all : NULL,
		.symbols = t->waits ? &t->waits->symbols : NULL,
	};
}

void diff_free_waits(struct diff_trace *t)
{
	if (!t->waits)
		return;
	off_cpu_free(t->waits->all);
	for (size_t i = 0; i < DIFF_STRETCHES; i++)
		off_cpu_free(t->waits->stretches[i]);
	symbols_free(&t->waits->symbols);
	sched_names_free(&t->waits->names);
	free(t->waits);
}
