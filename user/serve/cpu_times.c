// SPDX-License-Identifier: Apache-2.0
/* CPU time by service and by function (cpu_times.h). */
#include "serve/cpu_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOW_MOST 6 /* choices in a row in which a function may be far from the top */

/* A service that has no place of its own is not added to the names either. */
static const char *name_of_place(const struct cpu_times *t, const char *name)
{
	if (t->services.count < CPU_TIMES_SERVICES)
		return name;
	for (size_t i = 0; i < t->services.count; i++)
		if (!strcmp(t->services.items[i].name, name))
			return name;
	return CPU_TIMES_OTHERS;
}

int cpu_times_find_service(struct cpu_times *t, const char *name, uint32_t *out)
{
	struct service_cpu fresh = {.name = NULL};
	uint32_t number;
	int ret = names_intern_text(&t->names, name_of_place(t, name), &number);

	if (ret)
		return ret;
	*out = index_get(&t->services_by_name, number);
	if (*out != INDEX_NONE)
		return 0;
	fresh.name = names_text(&t->names, number);
	ret = vector_push(&t->services, fresh);
	*out = (uint32_t)t->services.count - 1;
	return ret ? ret : index_put(&t->services_by_name, number, *out);
}

/* Find a function of a service, which is added if there is room; *out is INDEX_NONE if not. */
static int find_function_time(struct cpu_times *t, uint32_t service, const char *name,
			      uint32_t *out)
{
	struct function_time fresh = {.service = service};
	uint32_t number;
	uint64_t key;
	int ret;

	*out = INDEX_NONE;
	if (t->names.texts.count >= CPU_TIMES_NAMES)
		return 0;
	ret = names_intern_text(&t->names, name, &number);
	if (ret)
		return ret;
	key = (uint64_t)service << 32 | number;
	*out = index_get(&t->functions_by_name, key);
	if (*out != INDEX_NONE || t->functions.count >= CPU_TIMES_KNOWN)
		return 0;
	fresh.name = names_text(&t->names, number);
	ret = vector_push(&t->functions, fresh);
	*out = (uint32_t)t->functions.count - 1;
	return ret ? ret : index_put(&t->functions_by_name, key, *out);
}

int cpu_times_add(struct cpu_times *t, uint32_t service, const char *name,
		  const uint64_t ns[FUNCTION_TIME_KINDS])
{
	uint32_t at;
	int ret = find_function_time(t, service, name, &at);

	if (ret)
		return ret;
	if (at == INDEX_NONE) {
		t->dropped++;
		t->services.items[service].other += ns[FUNCTION_SELF];
		return 0;
	}
	for (int kind = 0; kind < FUNCTION_TIME_KINDS; kind++) {
		t->functions.items[at].fresh[kind] += ns[kind];
		t->functions.items[at].recent[kind] += ns[kind];
	}
	return 0;
}

void cpu_times_settle(struct cpu_times *t)
{
	for (size_t i = 0; i < t->functions.count; i++) {
		struct function_time *f = &t->functions.items[i];

		for (int kind = 0; kind < FUNCTION_TIME_KINDS; kind++) {
			if (f->listed[kind])
				f->time[kind] += f->fresh[kind];
			else if (kind == FUNCTION_SELF)
				t->services.items[f->service].other += f->fresh[kind];
			f->fresh[kind] = 0;
		}
	}
}

/* The functions below choose what is listed. */

static int compare_recent(const struct function_time *a, const struct function_time *b, int kind)
{
	if (a->service != b->service)
		return a->service < b->service ? -1 : 1;
	if (a->recent[kind] != b->recent[kind])
		return a->recent[kind] > b->recent[kind] ? -1 : 1;
	if (a->listed[kind] != b->listed[kind])
		return a->listed[kind] ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_recent_self(const void *a, const void *b)
{
	return compare_recent(*(struct function_time *const *)a, *(struct function_time *const *)b,
			      FUNCTION_SELF);
}

static int compare_recent_inclusive(const void *a, const void *b)
{
	return compare_recent(*(struct function_time *const *)a, *(struct function_time *const *)b,
			      FUNCTION_INCLUSIVE);
}

static void set_listed(struct cpu_times *t, struct function_time *f, int kind, bool listed)
{
	uint64_t *retired = &t->services.items[f->service].retired;

	f->listed[kind] = listed;
	f->low[kind] = 0;
	if (kind == FUNCTION_SELF)
		*retired = listed ? *retired - f->time[kind] : *retired + f->time[kind];
}

/* A choice of functions by one kind of time. */
struct time_choice {
	struct cpu_times *times;
	int kind;
	unsigned int top; /* most functions of a service */
	size_t room; /* how many more may be listed of all services */
};

/* Choose among the functions of one service, which are in order. */
static void choose_of_service(struct time_choice *c, struct function_time **of, size_t count)
{
	const int kind = c->kind;
	size_t listed = 0;

	for (size_t i = 0; i < count; i++) {
		struct function_time *f = of[i];
		bool far = i >= 2 * (size_t)c->top || !f->recent[kind];

		f->low[kind] = f->listed[kind] && far ? f->low[kind] + 1 : 0;
		if (f->low[kind] >= LOW_MOST) {
			set_listed(c->times, f, kind, false);
			c->room++;
		}
		listed += f->listed[kind];
	}
	for (size_t i = 0; i < count && i < c->top && listed < c->top && c->room; i++) {
		if (of[i]->listed[kind] || !of[i]->recent[kind])
			continue;
		set_listed(c->times, of[i], kind, true);
		listed++;
		c->room--;
	}
}

static void choose_kind(struct time_choice *c, struct function_time **all)
{
	const size_t count = c->times->functions.count;

	for (size_t i = 0; i < count; i++) {
		all[i] = &c->times->functions.items[i];
		c->room -= all[i]->listed[c->kind];
	}
	qsort(all, count, sizeof(*all),
	      c->kind == FUNCTION_SELF ? compare_recent_self : compare_recent_inclusive);
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && all[to]->service == all[from]->service; to++)
			;
		choose_of_service(c, all + from, to - from);
	}
}

/* Return the mean of the recent times of all functions, ns. */
static uint64_t mean_recent_time(const struct cpu_times *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->functions.count; i++)
		sum += t->functions.items[i].recent[FUNCTION_INCLUSIVE];
	return t->functions.count ? sum / t->functions.count : 0;
}

/*
 * Copy what is to be kept: all services, and the functions that are listed or had more time of late
 * than the mean.
 */
static int copy_functions_in_use(struct cpu_times *to, const struct cpu_times *t)
{
	uint64_t mean = mean_recent_time(t);
	uint32_t at;
	int ret = 0;

	for (size_t i = 0; i < t->services.count && !ret; i++) {
		struct service_cpu s = t->services.items[i];

		ret = cpu_times_find_service(to, s.name, &at);
		if (!ret) {
			s.name = to->services.items[at].name;
			to->services.items[at] = s;
		}
	}
	for (size_t i = 0; i < t->functions.count && !ret; i++) {
		struct function_time f = t->functions.items[i];

		if (!f.listed[FUNCTION_SELF] && !f.listed[FUNCTION_INCLUSIVE] &&
		    f.recent[FUNCTION_INCLUSIVE] <= mean)
			continue;
		ret = find_function_time(to, f.service, f.name, &at);
		if (!ret) {
			f.name = to->functions.items[at].name;
			to->functions.items[at] = f;
		}
	}
	to->dropped = t->dropped;
	return ret;
}

/* When half of the room is used, forget the functions that are not in use, and all their names. */
static int forget_functions(struct cpu_times *t)
{
	struct cpu_times kept = {.dropped = 0};
	int ret;

	if (t->functions.count < CPU_TIMES_KNOWN / 2 && t->names.texts.count < CPU_TIMES_NAMES / 2)
		return 0;
	ret = copy_functions_in_use(&kept, t);
	cpu_times_free(ret ? &kept : t);
	if (!ret)
		*t = kept;
	return ret;
}

int cpu_times_choose(struct cpu_times *t, unsigned int top)
{
	struct function_time **all = calloc(t->functions.count + 1, sizeof(struct function_time *));
	int ret;

	if (!all)
		return -ENOMEM;
	for (int kind = 0; kind < FUNCTION_TIME_KINDS; kind++) {
		struct time_choice c = {
			.times = t,
			.kind = kind,
			.top = kind == FUNCTION_INCLUSIVE ? CPU_TIMES_MORE * top : top,
			.room = CPU_TIMES_LISTED,
		};

		choose_kind(&c, all);
	}
	free(all);
	cpu_times_settle(t); /* what is forgotten must have been counted */
	ret = forget_functions(t);
	for (size_t i = 0; i < t->functions.count && !ret; i++)
		memset(t->functions.items[i].recent, 0, sizeof(t->functions.items[i].recent));
	return ret;
}

void cpu_times_free(struct cpu_times *t)
{
	names_free(&t->names);
	index_free(&t->services_by_name);
	index_free(&t->functions_by_name);
	vector_free(&t->services);
	vector_free(&t->functions);
}
