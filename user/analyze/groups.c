// SPDX-License-Identifier: Apache-2.0
/* Add up samples by the group of their thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups.h"
#include "analyze/names.h"
#include "analyze/rates.h"

static const struct process no_process = {
	.comm = "",
	.exe = "",
	.cgroup = "",
	.container = "",
	.service = "",
};

struct group_builder {
	const struct profile *profile;
	enum group_by by;
	struct names keys; /* keys of groups; the number of a key is the index in list */
	struct index members; /* (group, process) -> present */
	/*
	 * group by index of thread; the last item is for samples without a thread; INDEX_NONE: not
	 * computed yet
	 */
	uint32_t *of_thread;
	struct groups groups;
};

const char *process_name(const struct process *p)
{
	const char *slash = strrchr(p->exe, '/');

	if (*p->comm)
		return p->comm;
	if (*p->exe)
		return slash && slash[1] ? slash + 1 : p->exe;
	return "[unknown]";
}

const char *thread_display_name(const struct thread *t)
{
	if (t->runtime_name && *t->runtime_name)
		return t->runtime_name;
	return t->comm ? t->comm : "";
}

const char *process_place(const struct process *p, char *buf, size_t size)
{
	const char *slash = strrchr(p->cgroup, '/');

	if (*p->service)
		snprintf(buf, size, "%s", p->service);
	else if (*p->container)
		snprintf(buf, size, "%.12s", p->container);
	else
		snprintf(buf, size, "%s", slash ? slash + 1 : p->cgroup);
	return buf;
}

const char *group_module(const struct profile *p, uint32_t stack)
{
	uint32_t frame = stack == PROFILE_NONE ? PROFILE_NONE : p->stacks[stack].frame;
	uint32_t mapping = frame == PROFILE_NONE ? PROFILE_NONE : p->frames[frame].mapping;
	const char *path = profile_module_path(p, mapping);

	if (stack == PROFILE_NONE)
		return "[no stack]";
	return *path ? path : "[unknown]";
}

/* The data that distinguish groups of one kind; their bytes are interned. */
struct group_key {
	const char *name, *more;
	uint64_t numbers[3];
};

static void group_key_of(enum group_by by, const char *module, const struct process *p,
			 const struct thread *t, struct group_key *key)
{
	*key = (struct group_key){.name = process_name(p), .more = ""};
	switch (by) {
	case GROUP_THREAD:
		key->name = t && *thread_display_name(t) ? thread_display_name(t) : process_name(p);
		key->more = process_name(p);
		key->numbers[2] = t ? t->tid : 0;
		/* fallthrough */
	case GROUP_PROCESS:
		key->numbers[0] = p->host << 32 ^ p->pid;
		key->numbers[1] = p->born;
		break;
	case GROUP_SERVICE:
		key->name = *p->service ? p->service : "(none)";
		break;
	case GROUP_CONTAINER:
		key->name = *p->container ? p->container : "(none)";
		break;
	case GROUP_CGROUP:
		key->name = *p->cgroup ? p->cgroup : "(unknown)";
		break;
	case GROUP_MODULE:
		key->name = module;
		break;
	default:
		key->more = p->container;
	}
}

static int intern_group_key(struct names *names, const struct group_key *key, uint32_t *out)
{
	size_t name = strlen(key->name) + 1, more = strlen(key->more) + 1;
	size_t size = name + more + sizeof(key->numbers);
	char *bytes = malloc(size);
	int ret;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, key->name, name);
	memcpy(bytes + name, key->more, more);
	memcpy(bytes + name + more, key->numbers, sizeof(key->numbers));
	ret = names_intern(names, bytes, size, out);
	free(bytes);
	return ret;
}

const char *group_number(struct names *keys, enum group_by by, const struct process *p,
			 const struct thread *t, uint32_t *out)
{
	struct group_key key;

	group_key_of(by, "", p, t, &key);
	return intern_group_key(keys, &key, out) < 0 ? NULL : key.name;
}

/* Find or create the group of a sum, and add the process to its members. */
static int find_or_add_group(struct group_builder *g, const struct profile_sum *s, uint32_t *out)
{
	const struct profile *p = g->profile;
	const struct profile_thread *t = s->thread == PROFILE_NONE ? NULL : &p->threads[s->thread];
	uint32_t process = t ? t->process : PROFILE_NONE, number;
	struct group fresh = {.process = process == PROFILE_NONE ? &no_process
								 : &p->processes[process].p};
	struct group_key key;
	uint64_t member;

	group_key_of(g->by, g->by == GROUP_MODULE ? group_module(p, s->stack) : "", fresh.process,
		     t ? &t->t : NULL, &key);
	fresh.name = key.name;
	fresh.thread = g->by == GROUP_THREAD && t ? &t->t : NULL;
	if (intern_group_key(&g->keys, &key, &number) < 0)
		return -ENOMEM;
	if (number == g->groups.list.count && vector_push(&g->groups.list, fresh) < 0)
		return -ENOMEM;
	*out = number;
	member = (uint64_t)number << 32 | process;
	if (index_get(&g->members, member) != INDEX_NONE)
		return 0;
	g->groups.list.items[number].processes++;
	return index_put(&g->members, member, 1);
}

static int add_sum_to_group(struct group_builder *g, const struct profile_sum *s)
{
	uint32_t thread = s->thread == PROFILE_NONE ? g->profile->count.threads : s->thread;
	uint32_t number = g->of_thread[thread];
	int ret = number == INDEX_NONE ? find_or_add_group(g, s, &number) : 0;

	if (ret < 0)
		return ret;
	if (g->by != GROUP_MODULE)
		g->of_thread[thread] = number;
	g->groups.list.items[number].count += s->count;
	g->groups.list.items[number].weight += s->weight;
	return 0;
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int order;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	order = strcmp(x->name, y->name);
	if (order)
		return order;
	if (x->process->pid != y->process->pid)
		return x->process->pid < y->process->pid ? -1 : 1;
	return (x->process->id > y->process->id) - (x->process->id < y->process->id);
}

int groups_of(struct groups *out, const struct profile *p, uint32_t event, enum group_by by)
{
	struct group_builder g = {.profile = p, .by = by};
	size_t threads = (size_t)p->count.threads + 1;
	int ret = 0;

	g.of_thread = malloc(threads * sizeof(*g.of_thread));
	if (!g.of_thread)
		return -ENOMEM;
	memset(g.of_thread, 0xff, threads * sizeof(*g.of_thread));
	for (uint32_t i = 0; i < p->count.sums && !ret; i++)
		if (p->sums[i].event == event)
			ret = add_sum_to_group(&g, &p->sums[i]);
	free(g.of_thread);
	names_free(&g.keys);
	index_free(&g.members);
	if (ret < 0) {
		groups_free(&g.groups);
		return ret;
	}
	if (g.groups.list.count)
		qsort(g.groups.list.items, g.groups.list.count, sizeof(struct group),
		      compare_groups);
	*out = g.groups;
	return 0;
}

void groups_free(struct groups *g)
{
	vector_free(&g->list);
}

/* Add up the accounts of an event and of all like it, which are those of the first of them. */
static void add_event_accounts(struct account *total, const struct profile *p, uint32_t event,
			       int64_t *tolerance)
{
	struct event_accounts found = {.profile = p, .event = event};
	const struct account *a;

	if (profile_event_like(p, event) != event)
		return;
	while ((a = event_accounts_next(&found))) {
		total->due += a->due;
		total->written += a->written;
		total->filtered += a->filtered;
		total->idle += a->idle;
		total->late += a->late;
		total->cut_off += a->cut_off;
		++*tolerance;
	}
}

void lost_waits(uint64_t out[LOSS_COUNT], const struct profile *p)
{
	memset(out, 0, LOSS_COUNT * sizeof(*out));
	for (uint32_t i = 0; i < p->count.losses; i++) {
		const struct loss *l = &p->losses[i];

		for (uint32_t e = 0; e < p->count.events && l->reason < LOSS_COUNT; e++)
			if (p->events[e].id == l->event && event_is_of_waits(p->events[e].name))
				out[l->reason] += l->count;
	}
}

void losses_of_event(struct losses *out, const struct profile *p, uint32_t event)
{
	uint64_t id = event < p->count.events ? p->events[event].id : 0;
	const struct account *total = &out->total;
	int64_t rest, tolerance = 0;

	*out = (struct losses){0};
	add_event_accounts(&out->total, p, event, &tolerance);
	for (uint32_t i = 0; i < p->count.losses; i++) {
		const struct loss *l = &p->losses[i];

		if (l->event && l->event != id)
			continue;
		if (l->reason == LOSS_SUSPENDED)
			out->suspended += l->end - l->time;
		if (l->reason && l->reason < LOSS_COUNT)
			out->by_reason[l->reason] += l->count;
		else
			out->unknown_reason += l->count;
	}
	for (uint64_t reason = 1; reason < LOSS_COUNT; reason++)
		if (loss_reason_is_due(reason) && reason != LOSS_STOLEN)
			out->due += out->by_reason[reason];
	rest = (int64_t)(total->due - total->written - total->filtered - total->idle - out->due -
			 out->by_reason[LOSS_STOLEN]);
	out->cut_off = total->cut_off;
	rest -= (int64_t)total->cut_off;
	/*
	 * Accounts of older traces lack cut_off. A rest of at most one sample per account is taken
	 * for it.
	 */
	if (!out->cut_off && rest >= 0 && rest <= tolerance)
		out->cut_off = (uint64_t)rest;
	else if (rest > tolerance || rest < -tolerance)
		out->unexplained = rest;
}
