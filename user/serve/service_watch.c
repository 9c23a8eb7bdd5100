// SPDX-License-Identifier: Apache-2.0
/* Watch the CPU time of services (service_watch.h). */
#include "serve/service_watch.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* A service that has not run for so long (ns) is forgotten: longer than a trigger looks back. */
#define SERVICE_QUIET (2 * TRIGGER_SHARE_TIME_MAX)
/* Readings that a service gets for the time before it ran, over the time of a trigger. */
#define READINGS_BEFORE 32

int service_watch_take(struct service_watch *w, const struct group_time *r)
{
	return r->state == STATE_RUNNING ? window_groups_take(&w->groups, r) : 0;
}

/* The name under which a control group counts; NULL: it has none. */
static const char *name_of_group(const struct group_time *r)
{
	if (r->service && *r->service)
		return r->service;
	return r->cgroup && *r->cgroup == '/' ? r->cgroup : NULL;
}

static bool is_watched_by(const struct trigger *t, const char *name)
{
	return t->kind == TRIGGER_SERVICE_CPU && (!*t->service || !fnmatch(t->service, name, 0));
}

static bool is_watched(const trigger_list *triggers, const char *name)
{
	for (size_t i = 0; i < triggers->count; i++)
		if (is_watched_by(&triggers->items[i], name))
			return true;
	return false;
}

static int compare_service_use(const void *a, const void *b)
{
	return strcmp(((const struct service_use *)a)->name, ((const struct service_use *)b)->name);
}

static void free_service_use(struct service_use *s)
{
	free(s->name);
	free(s->readings);
}

/* A service that was not seen before has used nothing until the last tick, which is known, too. */
static void add_readings_before(const struct service_watch *w, const trigger_list *triggers,
				struct service_use *s)
{
	for (size_t i = 0; i < triggers->count; i++) {
		const uint64_t time = triggers->items[i].time;
		struct readings *r = &s->readings[i];
		uint64_t at = w->last > w->begun + time ? w->last - time : w->begun;

		if (triggers->items[i].kind != TRIGGER_SERVICE_CPU)
			continue;
		r->time = time;
		for (; w->last && at <= w->last; at += time / READINGS_BEFORE)
			readings_add(r, at, 0, triggers->items[i].limit);
	}
}

/* Add a service to the end of the list. */
static int add_service_use(struct service_watch *w, const trigger_list *triggers, const char *name,
			   uint64_t ns)
{
	struct service_use fresh = {
		.name = strdup(name),
		.readings = calloc(triggers->count, sizeof(struct readings)),
		.total = ns,
	};
	int ret = fresh.name && fresh.readings ? 0 : -ENOMEM;

	if (!ret) {
		add_readings_before(w, triggers, &fresh);
		ret = vector_push(&w->services, fresh);
	}
	if (ret)
		free_service_use(&fresh);
	return ret;
}

/* Find a service among those in order, which are the first known ones, and those after them. */
static struct service_use *find_service_use(const struct service_watch *w, size_t known,
					    const char *name)
{
	const struct service_use key = {.name = (char *)name};
	struct service_use *found =
		known ? bsearch(&key, w->services.items, known, sizeof(key), compare_service_use)
		      : NULL;

	for (size_t i = known; i < w->services.count && !found; i++)
		if (!strcmp(w->services.items[i].name, name))
			found = &w->services.items[i];
	return found;
}

/* Add what control groups ran since the last tick to their services. */
static int add_up_services(struct service_watch *w, const trigger_list *triggers, uint64_t time)
{
	const size_t known = w->services.count;
	int ret = 0;

	for (size_t i = 0; i < w->groups.window.rows.count && !ret; i++) {
		const struct group_time *row = &w->groups.window.rows.items[i];
		const char *name = row->ns ? name_of_group(row) : NULL;
		struct service_use *s;

		if (!name || !is_watched(triggers, name))
			continue;
		s = find_service_use(w, known, name);
		if (s)
			s->total += row->ns;
		else
			ret = add_service_use(w, triggers, name, row->ns);
		if (s)
			s->grown = time;
	}
	for (size_t i = known; i < w->services.count; i++)
		w->services.items[i].grown = time;
	if (w->services.count > known)
		qsort(w->services.items, w->services.count, sizeof(*w->services.items),
		      compare_service_use);
	return ret;
}

static void forget_quiet_services(struct service_watch *w, uint64_t time)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->services.count; i++)
		if (w->services.items[i].grown + SERVICE_QUIET < time)
			free_service_use(&w->services.items[i]);
		else
			w->services.items[kept++] = w->services.items[i];
	w->services.count = kept;
}

int service_watch_tick(struct service_watch *w, const trigger_list *triggers,
		       const struct trigger_events *events, uint64_t time)
{
	int ret = add_up_services(w, triggers, time);

	window_groups_next(&w->groups);
	for (size_t i = 0; i < w->services.count * triggers->count; i++) {
		const struct service_use *s = &w->services.items[i / triggers->count];
		const struct trigger *t = &triggers->items[i % triggers->count];

		if (is_watched_by(t, s->name) &&
		    readings_add(&s->readings[i % triggers->count], time, s->total, t->limit))
			events->met(events->context, t, s->name, time);
	}
	forget_quiet_services(w, time);
	w->begun = w->begun ? w->begun : time;
	w->last = time;
	return ret;
}

void service_watch_free(struct service_watch *w)
{
	for (size_t i = 0; i < w->services.count; i++)
		free_service_use(&w->services.items[i]);
	vector_free(&w->services);
	window_groups_free(&w->groups);
}
