// SPDX-License-Identifier: Apache-2.0
/* Fills the summary of a live capture (struct capture_summary) when it has ended. */
#include <string.h>
#include <unistd.h>

#include "base/fork_server.h"
#include "base/helper.h"
#include "capture/host_name.h"
#include "capture/live.h"

void live_add_helper_cost(struct live *l, struct helper_cost *cost)
{
	symbolizer_add_cost(l->helpers.symbolizer, cost);
	opener_add_cost(l->helpers.opener, cost);
	fork_server_add_cost(l->helpers.forks, cost);
	if (l->helpers.pager)
		pager_add_cost(l->helpers.pager, cost);
	if (l->helpers.inlines)
		inlines_add_cost(l->helpers.inlines, cost);
}

static void add_switch_counts(const struct live *l, struct capture_summary *s)
{
	s->switches = *schedule_counts(l->switches.schedule);
	s->lost[LOSS_SWITCHES_LOST] += s->switches.lost;
	s->scheduled = true;
	s->buffer_memory += switches_bytes(l->switches.array);
}

static void add_name_counts(const struct live *l, struct capture_summary *s)
{
	const char *path = l->intern ? intern_mangled(l->intern) : NULL;
	size_t length = path ? strlen(path) : 0, most = sizeof(s->unnamed.mangled_in) - 1;

	s->symbolizer = *symbolizer_stats(l->helpers.symbolizer);
	s->unnamed.unready = l->intern ? intern_unready(l->intern) : 0;
	s->unnamed.mangled = s->symbolizer.mangled;
	s->unnamed.hosts = host_names_error(l->selection.host_names);
	s->unnamed.java_waits = program_java_loader_status(l->program);
	if (path)
		strcpy(s->unnamed.mangled_in, length > most ? path + length - most : path);
}

static void add_refusals(const struct live *l, struct capture_summary *s)
{
	const struct file_quota *worst[CAPTURE_REFUSALS_MAX];
	unsigned int count =
		file_quotas_worst(objects_quotas(l->objects), worst, CAPTURE_REFUSALS_MAX);

	for (unsigned int i = 0; i < count; i++)
		file_quota_format(worst[i], s->refusals[i].what, sizeof(s->refusals[i].what));
}

void live_fill_summary(struct live *l)
{
	struct capture_summary *s = &l->summary;

	ledger_get_summary(l->ledger, s);
	s->sampled = l->options.sample;
	s->buffer_memory = program_ring_bytes(l->program);
	if (l->probes.attached) {
		s->probed.wanted = true;
		s->probed.one_by_one = probes_one_by_one(l->probes.attached);
		s->buffer_memory += probes_ring_bytes(l->probes.attached);
	}
	if (l->probes.handlers.attached)
		s->buffer_memory += handlers_ring_bytes(l->probes.handlers.attached);
	if (l->probes.hits)
		hit_stacks_get_summary(l->probes.hits, &s->probed.stacks);
	if (l->switches.schedule)
		add_switch_counts(l, s);
	if (l->switches.waits)
		wait_stacks_get_summary(l->switches.waits, &s->waits);
	memcpy(s->waits.refused, l->switches.no_waits, sizeof(s->waits.refused));
	add_name_counts(l, s);
	s->opened.restarts = opener_restarts(l->helpers.opener);
	s->opened.refused = opener_refused(l->helpers.opener);
	s->memory = process_peak_memory(getpid());
	live_add_helper_cost(l, &s->helpers);
	s->inlined = l->helpers.inlines != NULL;
	if (l->helpers.inlines) {
		inlines_get_summary(l->helpers.inlines, &s->inlines);
		s->unnamed.mangled += s->inlines.mangled;
	}
	tables_get_summary(l->walkers.tables, &s->unwind);
	if (l->stacks.saver)
		saver_get_counts(l->stacks.saver, &s->saved.bad, &s->saved.kept);
	s->comm.known = process_table_comm_known(l->processes);
	s->comm.matched = process_table_comm_matched(l->processes);
	add_refusals(l, s);
}

void capture_get_summary(const struct source *s, struct capture_summary *out)
{
	*out = ((const struct live *)s)->summary;
}
