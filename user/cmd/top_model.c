// SPDX-License-Identifier: Apache-2.0
/* Compute the rows of `skein top`: the window, narrowed to the foci that the user has chosen. */
#include "cmd/top_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyze/off_cpu.h"

static const struct top_view_info {
	const char *word;
	enum group_by group;
} views[TOP_VIEW_COUNT] = {
#define VIEW(NAME, word, title, group) [TOP_##NAME] = {word, group},
	TOP_VIEWS(VIEW)
#undef VIEW
};

const char *top_view_word(enum top_view view)
{
	return views[view].word;
}

enum group_by top_view_group(enum top_view view)
{
	return views[view].group;
}

bool top_view_is_groups(enum top_view view)
{
	return views[view].group != GROUP_KIND_COUNT;
}

bool top_view_is_available(enum top_view view, bool off_cpu)
{
	if (view == TOP_CLASSES || view == TOP_WAKERS)
		return off_cpu;
	/* Every wait ends in the kernel's module. */
	return view != TOP_MODULES || !off_cpu;
}

const char *top_sort_word(enum top_sort sort)
{
	static const char *const words[] = {
#define SORT_WORD(NAME, word) [TOP_BY_##NAME] = word,
		TOP_SORTS(SORT_WORD)
#undef SORT_WORD
	};

	return words[sort];
}

enum top_sort top_view_sort(enum top_view view, enum top_sort requested)
{
	bool tree = view == TOP_TREE || view == TOP_CALLERS;

	if (requested == TOP_BY_MEMORY && view != TOP_PROCESSES)
		requested = TOP_BY_SELF;
	/* the weight of a branch is mostly below it */
	return tree && requested == TOP_BY_SELF ? TOP_BY_TOTAL : requested;
}

void top_focus_free(struct top_focus *f)
{
	free(f->name);
	free(f->more);
	*f = (struct top_focus){.name = NULL};
}

int top_focus_make(struct top_focus *out, enum top_view view, const struct top_row *row)
{
	const struct process *p = row->group ? row->group->process : NULL;
	const struct thread *t = row->group ? row->group->thread : NULL;
	struct top_focus f = {
		.function = !p && view != TOP_CLASSES && view != TOP_WAKERS,
		.by = top_view_group(view),
		.view = view,
		.name = strdup(row->name),
		.more = strdup(p ? p->container : row->module),
		.host = p ? p->host : 0,
		.pid = p ? p->pid : 0,
		.born = p ? p->born : 0,
		.tid = t ? t->tid : 0,
	};

	if (!f.name || !f.more) {
		top_focus_free(&f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

/* Narrowing */

static bool is_focus_process(const struct top_focus *f, const struct process *p)
{
	return p->host == f->host && p->pid == f->pid && p->born == f->born;
}

/*
 * Return whether a sum belongs to the group in focus; groups are distinguished as in groups_of().
 */
static bool is_in_focus_group(const struct profile *p, const struct top_focus *f,
			      const struct profile_sum *s)
{
	const struct profile_thread *t = s->thread == PROFILE_NONE ? NULL : &p->threads[s->thread];
	const struct process *of =
		!t || t->process == PROFILE_NONE ? NULL : &p->processes[t->process].p;

	if (f->by == GROUP_MODULE)
		return !strcmp(group_module(p, s->stack), f->name);
	if (!of)
		return false;
	switch (f->by) {
	case GROUP_PROGRAM:
		return !strcmp(process_name(of), f->name) && !strcmp(of->container, f->more);
	case GROUP_PROCESS:
		return is_focus_process(f, of);
	case GROUP_THREAD:
		return is_focus_process(f, of) && t->t.tid == f->tid &&
		       !strcmp(*thread_display_name(&t->t) ? thread_display_name(&t->t)
							   : process_name(of),
			       f->name);
	case GROUP_SERVICE:
		return !strcmp(*of->service ? of->service : "(none)", f->name);
	case GROUP_CONTAINER:
		return !strcmp(of->container, f->more);
	default:
		return false;
	}
}

uint32_t top_model_find_symbol(const struct top_model *m, const struct top_focus *f)
{
	const struct symbols *s = &m->symbols;
	uint32_t alike = TREE_NONE;

	for (uint32_t i = 0; i < s->names.texts.count; i++) {
		if (strcmp(symbol_name(s, i), f->name) != 0)
			continue;
		if (!strcmp(symbol_module(s, i), f->more))
			return i;
		alike = i;
	}
	return alike;
}

/* Compute for each stack whether the function in focus is on it. */
static void find_focus_stacks(const struct top_model *m, const struct top_focus *f, bool *holds)
{
	const struct profile *p = &m->part;
	uint32_t symbol = top_model_find_symbol(m, f);

	for (uint32_t i = 0; i < p->count.stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		holds[i] = (s->parent != PROFILE_NONE && holds[s->parent]) ||
			   (s->frame != PROFILE_NONE && m->symbols.of_frame[s->frame] == symbol &&
			    p->frames[s->frame].f.kind != FRAME_END);
	}
}

const char *top_wait_name(const struct top_model *m, enum top_view view, uint32_t wait)
{
	const struct recent_wait *w = &m->window.waits[wait];
	const struct thread *t;

	if (view == TOP_CLASSES)
		return wait_class_word(w->wait);
	if (!w->other)
		return sched_interrupt_name(off_cpu_interrupt(w->flags));
	t = sched_names_thread(&m->names, w->other);
	return process_name(sched_names_process(&m->names, t ? t->process : 0));
}

static bool is_in_focus(const struct top_model *m, const struct top_focus *f, size_t sum,
			const bool *holds)
{
	const struct profile_sum *s = &m->sums.items[sum];

	if (holds)
		return s->stack != PROFILE_NONE && holds[s->stack];
	if (m->off_cpu && (f->view == TOP_CLASSES || f->view == TOP_WAKERS))
		return !strcmp(top_wait_name(m, f->view, m->waits.items[sum]), f->name);
	return is_in_focus_group(&m->part, f, s);
}

/* Keep only the sums that satisfy a focus, and set the weights of the focus. */
static int apply_focus(struct top_model *m, struct top_focus *f)
{
	bool *holds = f->function ? calloc(m->part.count.stacks + 1, sizeof(*holds)) : NULL;
	size_t kept = 0;

	if (f->function && !holds)
		return -ENOMEM;
	if (holds)
		find_focus_stacks(m, f, holds);
	f->of = f->weight = 0;
	for (size_t i = 0; i < m->sums.count; i++) {
		const struct profile_sum s = m->sums.items[i];

		f->of += s.weight;
		if (!is_in_focus(m, f, i, holds))
			continue;
		f->weight += s.weight;
		if (m->off_cpu)
			m->waits.items[kept] = m->waits.items[i];
		m->sums.items[kept++] = s;
	}
	m->sums.count = kept;
	if (m->off_cpu)
		m->waits.count = kept;
	free(holds);
	return 0;
}

/* Make a sum of each wait. */
static int take_waits(struct top_model *m)
{
	const struct profile *p = m->window.profile;
	int ret = 0;

	m->waits.count = 0;
	for (uint32_t i = 0; i < m->window.wait_count && !ret; i++) {
		const struct recent_wait *w = &m->window.waits[i];
		uint32_t thread = index_get(&m->names.threads, w->thread);
		const struct profile_sum s = {
			.event = m->event,
			.thread = thread == INDEX_NONE ? PROFILE_NONE : thread,
			.stack = profile_stack_by_id(p, w->stack),
			.count = w->count,
			.weight = w->weight,
		};

		ret = vector_push(&m->sums, s);
		if (!ret)
			ret = vector_push(&m->waits, i);
	}
	return ret;
}

static int take_sums(struct top_model *m)
{
	const struct profile *p = m->window.profile;
	int ret = 0;

	for (uint32_t i = 0; i < p->count.sums && !ret; i++)
		if (p->sums[i].event == m->event)
			ret = vector_push(&m->sums, p->sums[i]);
	return ret;
}

/*
 * Where a program waits is its innermost function outside of the kernel and libraries: take what
 * they called off the stacks. Stacks without such a function stay.
 */
static void trim_to_programs(struct top_model *m)
{
	const struct profile *p = m->window.profile;

	for (size_t i = 0; i < m->sums.count; i++) {
		uint32_t at = m->sums.items[i].stack;

		while (at != PROFILE_NONE && off_cpu_is_of_system(p, p->stacks[at].frame))
			at = p->stacks[at].parent;
		if (at != PROFILE_NONE)
			m->sums.items[i].stack = at;
	}
}

/* Take all sums of the event, then apply each focus. */
static int apply_foci(struct top_model *m, const struct top_request *request)
{
	int ret;

	m->sums.count = 0;
	m->part = *m->window.profile;
	ret = m->off_cpu ? take_waits(m) : take_sums(m);
	for (size_t i = 0; i < request->focus_count && !ret; i++)
		ret = apply_focus(m, &request->foci[i]);
	m->part.sums = m->sums.items;
	m->part.count.sums = (uint32_t)m->sums.count;
	m->weight = 0;
	for (size_t i = 0; i < m->sums.count; i++)
		m->weight += m->sums.items[i].weight;
	if (m->off_cpu && request->view == TOP_FUNCTIONS)
		trim_to_programs(m);
	return ret;
}

/* Life of a model */

uint64_t top_model_symbol_key(const struct symbols *s, uint32_t symbol)
{
	return XXH3_64bits(s->names.texts.items[symbol], s->names.sizes.items[symbol]);
}

bool top_model_matches(const struct top_request *request, const char *name, const char *module)
{
	return !request->filter || !regexec(request->filter, name, 0, NULL, 0) ||
	       !regexec(request->filter, module, 0, NULL, 0);
}

static enum top_kind top_kind_of_frame(uint64_t frame_kind)
{
	switch (frame_kind) {
	case FRAME_KERNEL:
		return TOP_KERNEL;
	case FRAME_JIT:
	case FRAME_JAVA:
		return TOP_JIT;
	case FRAME_PYTHON:
		return TOP_PYTHON;
	default:
		return TOP_NATIVE;
	}
}

static int collect_top_kinds(struct top_model *m)
{
	const struct profile *p = m->window.profile;

	m->kinds.count = 0;
	for (size_t i = 0; i < m->symbols.names.texts.count; i++)
		if (vector_push(&m->kinds, TOP_NATIVE) < 0)
			return -ENOMEM;
	for (uint32_t i = 0; i < p->count.frames; i++)
		m->kinds.items[m->symbols.of_frame[i]] = top_kind_of_frame(p->frames[i].f.kind);
	return 0;
}

static void free_top_rows(struct top_model *m)
{
	m->rows.count = 0;
	tree_free(&m->tree);
	functions_free(&m->functions);
	groups_free(&m->groups);
}

static void free_top_window(struct top_model *m)
{
	free_top_rows(m);
	symbols_free(&m->symbols);
	m->symbols = (struct symbols){.of_frame = NULL};
	sched_names_free(&m->names);
	m->names = (struct sched_names){.profile = NULL};
	profile_free(m->window.profile);
	free(m->window.waits);
	m->window = (struct recent_window){.profile = NULL};
}

int top_model_take(struct top_model *m, const struct recent_window *w)
{
	int ret;

	free_top_window(m);
	ret = symbols_of(&m->symbols, w->profile);
	if (!ret)
		ret = top_processes_begin(&m->processes, w->profile);
	if (!ret && m->off_cpu)
		ret = sched_names_of(&m->names, w->profile);
	if (ret)
		return ret;
	m->window = *w;
	m->event = profile_event_named(w->profile, m->off_cpu ? EVENT_OFF_CPU : NULL);
	ret = collect_top_kinds(m);
	if (ret) /* the caller keeps the window */
		m->window = (struct recent_window){.profile = NULL};
	return ret;
}

int top_model_show(struct top_model *m, const struct top_request *request)
{
	const struct tree_view view = {
		.frame_labels = m->symbols.of_frame,
		.unknown_label = m->symbols.unknown,
	};
	int ret;

	free_top_rows(m);
	m->matched = m->weight = 0;
	if (!m->window.profile)
		return 0;
	ret = apply_foci(m, request);
	if (!ret && !top_view_is_groups(request->view))
		ret = tree_build(&m->tree, &m->part, m->event, &view);
	if (ret)
		return ret;
	return request->view == TOP_TREE || request->view == TOP_CALLERS
		       ? top_rows_branches(m, request)
		       : top_rows_flat(m, request);
}

void top_model_free(struct top_model *m)
{
	free_top_window(m);
	top_processes_free(&m->processes);
	vector_free(&m->kinds);
	vector_free(&m->sums);
	vector_free(&m->waits);
	vector_free(&m->rows);
}
