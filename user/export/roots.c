// SPDX-License-Identifier: Apache-2.0
/* Label the roots and frames of stacks, and merge the stacks to a tree of labels. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_names.h"
#include "analyze/groups.h"
#include "export/roots.h"

struct root {
	const char *name; /* belongs to the profile; uncleaned */
	char suffix[32]; /* "-PID", "-TID" or "" */
};

static const struct process no_process = {
	.comm = "", .exe = "", .cgroup = "", .container = "", .service = ""};
static const struct thread no_thread = {.comm = ""};

static struct root make_root(const char *name, bool numbered, uint64_t number)
{
	struct root r = {.name = name};

	if (numbered)
		snprintf(r.suffix, sizeof(r.suffix), "-%" PRIu64, number);
	return r;
}

static const char *root_of_place(const struct process *p)
{
	return *p->container ? p->container : *p->cgroup ? p->cgroup : "[no_cgroup]";
}

/*
 * Get the root frames of a thread of a process. Return the number of root frames, which is the same
 * for every thread.
 */
static unsigned int roots_of(struct root *out, const struct process *of, const struct thread *t,
			     const struct export_options *o)
{
	unsigned int depth = 0;

	if (o->services)
		out[depth++] = make_root(*of->service ? of->service : "[no_service]", false, 0);
	if (o->containers)
		out[depth++] = make_root(root_of_place(of), false, 0);
	out[depth++] = make_root(process_name(of), o->pids, of->pid);
	if (o->threads)
		out[depth++] = make_root(*thread_display_name(t) ? thread_display_name(t)
								 : process_name(of),
					 o->pids, t->tid);
	return depth;
}

int roots_group(void *context, const struct process *p, const struct thread *t, uint32_t *out)
{
	struct root_groups *g = context;
	struct root roots[ROOTS_MAX];
	unsigned int depth = roots_of(roots, p, t, g->options);
	char *key = strdup("");
	int ret = -ENOMEM;

	for (unsigned int i = 0; key && i < depth; i++) {
		char *longer = NULL;

		if (asprintf(&longer, "%s%s%s\n", key, roots[i].name, roots[i].suffix) < 0)
			longer = NULL;
		free(key);
		key = longer;
	}
	if (key)
		ret = names_intern_text(&g->keys, key, out);
	free(key);
	return ret;
}

enum stacks_of roots_stacks_of_event(const struct event *e)
{
	if (event_is_of_hits(e->name))
		return STACKS_OF_HITS;
	if (!event_is_of_waits(e->name))
		return STACKS_OF_SAMPLES;
	return strcmp(e->name, EVENT_OFF_CPU) ? STACKS_OF_WAKERS : STACKS_OF_WAITS;
}

enum stacks_of roots_stacks_of(const struct profile *p, const struct export_options *o)
{
	enum stacks_of first = p->count.sums ? STACKS_OF_HITS : STACKS_OF_SAMPLES;

	if (o->wall)
		return STACKS_OF_WALL;
	for (uint32_t i = 0; i < p->count.sums; i++) {
		enum stacks_of one = roots_stacks_of_event(&p->events[p->sums[i].event]);

		first = one < first ? one : first;
	}
	return first;
}

bool roots_count(const struct profile *p, enum stacks_of of, const struct profile_sum *s)
{
	enum stacks_of one = roots_stacks_of_event(&p->events[s->event]);

	if (of == STACKS_OF_WALL)
		return one == STACKS_OF_SAMPLES || one == STACKS_OF_WAITS;
	return one == of;
}

bool roots_need_events(const struct profile *p, enum stacks_of of)
{
	uint32_t first = PROFILE_NONE;

	for (uint32_t i = 0; i < p->count.sums && of != STACKS_OF_WALL; i++) {
		if (!roots_count(p, of, &p->sums[i]))
			continue;
		if (first != PROFILE_NONE && p->sums[i].event != first)
			return true;
		first = p->sums[i].event;
	}
	return false;
}

static void stack_label_frame(struct stack_labels *l, uint32_t frame)
{
	const struct profile *p = l->profile;
	char buf[512], *common = l->common ? diff_frame_name(p, frame) : NULL;
	const char *name = l->common ? common : profile_frame_name(p, frame, buf, sizeof(buf));

	if (name)
		l->of_frame[frame] = l->intern(l, &p->frames[frame], name, NULL);
	else
		l->error = -ENOMEM;
	free(common);
}

static void stack_label_thread(struct stack_labels *l, uint32_t thread, uint32_t *labels)
{
	const struct profile *p = l->profile;
	bool known = thread != PROFILE_NONE;
	uint32_t process = known ? p->threads[thread].process : PROFILE_NONE;
	struct root roots[ROOTS_MAX];

	l->thread_depth =
		roots_of(roots, process == PROFILE_NONE ? &no_process : &p->processes[process].p,
			 known ? &p->threads[thread].t : &no_thread, l->options);
	for (unsigned int i = 0; i < l->thread_depth; i++)
		labels[i] = l->intern(l, NULL, roots[i].name, roots[i].suffix);
}

static void stack_label_rest(struct stack_labels *l)
{
	const struct profile *p = l->profile;

	l->no_stack = l->intern(l, NULL, "[no stack]", NULL);
	l->unknown = l->intern(l, NULL, "[unknown]", NULL);
	l->waiting = l->intern(l, NULL, "[waiting]", "");
	for (int end = 0; end < END_COUNT; end++) {
		char text[PROFILE_END_SIZE];

		l->ends[end] = l->intern(l, NULL, profile_end_name(end, text), NULL);
	}
	for (uint32_t i = 0; i < p->count.events; i++)
		l->of_event[i] = l->intern(l, NULL, p->events[i].name, "");
}

static int stack_label_all(struct stack_labels *l)
{
	const struct profile *p = l->profile;

	l->of_frame = calloc(p->count.frames + 1, sizeof(*l->of_frame));
	l->of_thread = calloc(p->count.threads + 1, sizeof(*l->of_thread));
	l->of_event = calloc(p->count.events + 1, sizeof(*l->of_event));
	if (!l->of_frame || !l->of_thread || !l->of_event)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.frames && !l->error; i++)
		stack_label_frame(l, i);
	for (uint32_t i = 0; i < p->count.threads && !l->error; i++)
		stack_label_thread(l, i, l->of_thread[i]);
	stack_label_thread(l, PROFILE_NONE, l->of_thread[p->count.threads]);
	stack_label_rest(l);
	return l->error;
}

/* Store the labels above the frames of a stack, outermost first, and return their number. */
static unsigned int stack_prefix(const void *context, const struct profile_sum *s, uint32_t *labels)
{
	const struct stack_labels *l = context;
	const struct profile *p = l->profile;
	uint32_t thread = s->thread == PROFILE_NONE ? p->count.threads : s->thread;
	enum stack_end end = profile_stack_end(p, s->stack);
	unsigned int depth = 0;

	if (l->several_events)
		labels[depth++] = l->of_event[s->event];
	for (unsigned int i = 0; i < l->thread_depth; i++)
		labels[depth++] = l->of_thread[thread][i];
	if (l->of == STACKS_OF_WALL && event_is_of_waits(p->events[s->event].name))
		labels[depth++] = l->waiting;
	if (s->stack == PROFILE_NONE)
		labels[depth++] = l->no_stack;
	else if (end != END_WALKED)
		labels[depth++] = l->ends[end];
	return depth;
}

static bool is_counted(const void *context, const struct profile_sum *s)
{
	const struct stack_labels *l = context;

	return roots_count(l->profile, l->of, s);
}

/*
 * Count weights instead of samples, in units of so much: us of waits, hits. Of weights above 0, at
 * least 1 is counted.
 */
static void count_weights(struct tree *t, uint64_t unit)
{
	struct tree_node *nodes = t->nodes.items;

	for (size_t i = 0; i < t->nodes.count; i++) {
		uint64_t count = (nodes[i].self_weight + unit / 2) / unit;

		nodes[i].self_count = count ? count : nodes[i].self_weight > 0;
		nodes[i].count = nodes[i].self_count;
	}
	for (size_t i = t->nodes.count; i-- > 1;)
		nodes[nodes[i].parent].count += nodes[i].count;
}

int stack_labels_tree(struct tree *out, struct stack_labels *l)
{
	struct tree_view view = {.prefix = stack_prefix, .counts = is_counted, .context = l};
	int ret = stack_label_all(l);

	view.frame_labels = l->of_frame;
	view.unknown_label = l->unknown;
	if (!ret)
		ret = tree_build(out, l->profile, TREE_ALL_EVENTS, &view);
	if (!ret && l->of != STACKS_OF_SAMPLES)
		count_weights(out, l->of == STACKS_OF_HITS ? 1 : 1000);
	free(l->of_frame);
	free(l->of_thread);
	free(l->of_event);
	return ret;
}
