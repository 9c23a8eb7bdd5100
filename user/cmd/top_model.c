// SPDX-License-Identifier: Apache-2.0
/* Compute the rows of `skein top`: the window, narrowed to the foci that the user has chosen. */
#include "cmd/top_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

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

const char *top_sort_word(enum top_sort sort)
{
	static const char *const words[] = {
#define SORT_WORD(NAME, word) [TOP_BY_##NAME] = word,
		TOP_SORTS(SORT_WORD)
#undef SORT_WORD
	};

	return words[sort];
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
		.function = !p,
		.by = top_view_group(view),
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
		       !strcmp(*t->t.comm ? t->t.comm : process_name(of), f->name);
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
		bool in = holds ? s.stack != PROFILE_NONE && holds[s.stack]
				: is_in_focus_group(&m->part, f, &s);

		f->of += s.weight;
		if (!in)
			continue;
		f->weight += s.weight;
		m->sums.items[kept++] = s;
	}
	m->sums.count = kept;
	free(holds);
	return 0;
}

/* Take all sums of the event, then apply each focus. */
static int apply_foci(struct top_model *m, const struct top_request *request)
{
	const struct profile *p = m->window.profile;
	int ret = 0;

	m->sums.count = 0;
	m->part = *p;
	for (uint32_t i = 0; i < p->count.sums && !ret; i++)
		if (p->sums[i].event == m->event)
			ret = vector_push(&m->sums, p->sums[i]);
	for (size_t i = 0; i < request->focus_count && !ret; i++)
		ret = apply_focus(m, &request->foci[i]);
	m->part.sums = m->sums.items;
	m->part.count.sums = (uint32_t)m->sums.count;
	m->weight = 0;
	for (size_t i = 0; i < m->sums.count; i++)
		m->weight += m->sums.items[i].weight;
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
	profile_free(m->window.profile);
	m->window.profile = NULL;
}

int top_model_take(struct top_model *m, const struct recent_window *w)
{
	int ret;

	free_top_window(m);
	ret = symbols_of(&m->symbols, w->profile);
	if (ret)
		return ret;
	m->window = *w;
	m->event = profile_main_event(w->profile);
	ret = collect_top_kinds(m);
	if (ret)
		m->window.profile = NULL; /* the caller keeps the profile */
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
	vector_free(&m->kinds);
	vector_free(&m->sums);
	vector_free(&m->rows);
}
