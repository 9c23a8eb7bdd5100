// SPDX-License-Identifier: Apache-2.0
/* Gather the contents of a report from a profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/python_imports.h"
#include "analyze/subject.h"
#include "analyze/unready.h"
#include "base/jobs.h"
#include "cmd/report_handlers.h"
#include "cmd/report_off_cpu.h"
#include "cmd/report_runtime.h"
#include "cmd/report_sched.h"
#include "cmd/report_services.h"

/* Python can have a table of its own if at least one in this number of samples is of Python. */
#define PYTHON_LEAST 50

/*
 * Symbols for the nodes above the stacks in the tree: the program of each thread and, for stacks
 * that are not whole, how the stack ended.
 */
struct program_roots {
	uint32_t *of_thread; /* indexed by thread; the last entry is for samples without a thread */
	uint32_t thread_count;
	uint32_t ends[END_COUNT], no_stack;
	const struct profile *profile;
};

static unsigned int program_prefix(const void *context, const struct profile_sum *s,
				   uint32_t *labels)
{
	const struct program_roots *p = context;
	enum stack_end end = profile_stack_end(p->profile, s->stack);

	labels[0] = p->of_thread[s->thread == PROFILE_NONE ? p->thread_count : s->thread];
	labels[1] = s->stack == PROFILE_NONE ? p->no_stack : p->ends[end];
	return s->stack == PROFILE_NONE || end != END_WALKED ? 2 : 1;
}

static int add_program_roots(struct program_roots *names, struct symbols *s,
			     const struct profile *p)
{
	int ret = symbols_add(s, "[no stack]", &names->no_stack);

	names->profile = p;
	names->thread_count = p->count.threads;
	names->of_thread = calloc(p->count.threads + 1, sizeof(uint32_t));
	if (!names->of_thread)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.threads && !ret; i++) {
		uint32_t process = p->threads[i].process;

		ret = symbols_add(s,
				  process == PROFILE_NONE ? "[unknown]"
							  : process_name(&p->processes[process].p),
				  &names->of_thread[i]);
	}
	for (int end = 0; end < END_COUNT && !ret; end++) {
		char text[PROFILE_END_SIZE];

		ret = symbols_add(s, profile_end_name(end, text), &names->ends[end]);
	}
	return ret ? ret : symbols_add(s, "[unknown]", &names->of_thread[p->count.threads]);
}

static int make_report_tree(struct report *r)
{
	struct program_roots names = {0};
	struct tree_view view = {.prefix = program_prefix, .context = &names};
	uint32_t *labels = symbols_with_inlined(&r->symbols, r->profile);
	int ret = labels ? add_program_roots(&names, &r->symbols, r->profile) : -ENOMEM;

	view.frame_labels = labels;
	view.unknown_label = r->symbols.unknown;
	if (!ret)
		ret = tree_build(&r->tree, r->profile, r->event_index, &view);
	if (!ret && !r->options->full_names && !r->options->json)
		ret = python_fold_imports(&r->tree, &r->symbols);
	free(names.of_thread);
	free(labels);
	return ret;
}

/*
 * Make the table of Python functions, in which the C functions that they call count as part of
 * them. The table stays empty if it is not shown, or if too few samples are of Python.
 */
static int make_python_functions(struct report *r)
{
	const struct report_options *o = r->options;

	if (r->python.samples * PYTHON_LEAST < r->count || !r->python.frames || o->view.python ||
	    o->tree || o->sched || (o->by != BY_NOTHING && o->by != BY_FUNCTION && !o->json))
		return 0;
	return functions_of_python(&r->python_functions, &r->functions, r->profile, r->event_index,
				   &r->symbols);
}

static bool has_filter(const struct filter *f)
{
	return f->from || f->to || f->pids || f->tids || f->comm || f->cgroup || f->container ||
	       f->service || f->python || f->no_collections;
}

/* Return whether the report needs groups of a kind. The number of processes is always shown. */
static bool is_group_shown(const struct report_options *o, enum group_by by)
{
	if (o->json || by == GROUP_PROCESS || (int)by == o->by)
		return true;
	return o->by == BY_NOTHING && !o->tree &&
	       (by == GROUP_PROGRAM || by == GROUP_SERVICE || by == GROUP_CONTAINER);
}

/*
 * Compute the costs of functions, for which all stacks are walked. With millions of stacks this
 * takes as long as make_report_rest(), which can run at the same time.
 */
static int make_report_functions(void *context, struct error *err)
{
	struct report *r = context;
	int ret = functions_of_stacks(&r->functions, r->profile, r->event_index, &r->symbols);

	return ret < 0 ? error_errno(err, ret, "cannot make the report") : 0;
}

static int make_report_rest(void *context, struct error *err)
{
	struct report *r = context;
	const struct profile *p = r->profile;
	int ret;

	completeness_of(&r->stacks.completeness, p, r->event_index);
	losses_of_event(&r->losses, p, r->event_index);
	ret = breakages_of(&r->stacks.breakages, p, r->event_index);
	if (!ret)
		ret = python_share_of(&r->python, p, r->event_index);
	if (!ret)
		ret = unready_of(&r->names.unready, p, r->event_index);
	if (!ret)
		ret = runtime_shares_of(&r->names.runtimes, p, r->event_index);
	if (!ret)
		ret = named_share_of(&r->names.share, p, r->event_index);
	for (int by = 0; by < GROUP_KIND_COUNT && !ret; by++)
		if (is_group_shown(r->options, by))
			ret = groups_of(&r->groups[by], p, r->event_index, by);
	return ret < 0 ? error_errno(err, ret, "cannot make the report") : 0;
}

int report_make(struct report *r, const char *path, const struct profile *p,
		const struct report_options *o, struct error *err)
{
	const struct job parts[] = {{make_report_functions, r}, {make_report_rest, r}};
	int ret;

	*r = (struct report){.path = path, .options = o, .profile = p};
	r->event_index = profile_event_named(p, o->off_cpu ? EVENT_OFF_CPU : o->filter.event);
	r->event = r->event_index < p->count.events ? &p->events[r->event_index] : NULL;
	r->filtered = has_filter(&o->filter);
	profile_event_total(p, r->event_index, &r->count, &r->weight);
	ret = symbols_of(&r->symbols, p);
	if (ret < 0)
		return error_errno(err, ret, "cannot make the report");
	ret = jobs_run(parts, 2, err);
	if (ret < 0)
		goto out;
	ret = make_python_functions(r);
	if (!ret && o->tree)
		ret = make_report_tree(r);
	if (ret < 0)
		error_errno(err, ret, "cannot make the report");
out:
	if (ret < 0)
		report_free(r);
	return ret;
}

void report_free(struct report *r)
{
	symbols_free(&r->symbols);
	functions_free(&r->functions);
	functions_free(&r->python_functions);
	breakages_free(&r->stacks.breakages);
	named_share_free(&r->names.share);
	for (int by = 0; by < GROUP_KIND_COUNT; by++)
		groups_free(&r->groups[by]);
	tree_free(&r->tree);
	report_sched_free(r->sched);
	report_off_cpu_free(r->off_cpu);
	report_runtime_free(r->events.runtime);
	handler_sums_free(r->events.handlers);
	service_times_free(r->events.services);
}

static int by_node_weight(const void *a, const void *b, void *context)
{
	const struct report *r = context;
	const struct tree_node *x = &r->tree.nodes.items[*(const uint32_t *)a];
	const struct tree_node *y = &r->tree.nodes.items[*(const uint32_t *)b];

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return strcmp(symbol_name(&r->symbols, x->label), symbol_name(&r->symbols, y->label));
}

uint64_t report_paused(const struct report *r)
{
	const struct filter *f = &r->options->filter;

	return f->from || f->to ? 0 : profile_paused(r->profile);
}

bool report_shows_node(const struct report *r, uint32_t node)
{
	return (double)r->tree.nodes.items[node].weight >=
	       r->options->least / 100 * (double)r->weight;
}

int report_children(const struct report *r, uint32_t node, nodes_t *list)
{
	const struct tree_node *nodes = r->tree.nodes.items;
	size_t first = list->count;

	for (uint32_t at = nodes[node].first_child; at != TREE_NONE; at = nodes[at].next_sibling)
		if (report_shows_node(r, at) && vector_push(list, at) < 0)
			return -ENOMEM;
	if (list->count > first)
		qsort_r(list->items + first, list->count - first, sizeof(*list->items),
			by_node_weight, (void *)r);
	return 0;
}

size_t report_row_limit(const struct report *r, size_t count, size_t usual)
{
	uint64_t limit = r->options->limit == LIMIT_UNSET ? usual : r->options->limit;

	return limit && limit < count ? limit : count;
}
