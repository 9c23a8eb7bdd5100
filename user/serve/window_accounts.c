// SPDX-License-Identifier: Apache-2.0
/* Divide accounts among windows (window_accounts.h). */
#include "serve/window_accounts.h"

#include <errno.h>
#include <string.h>

/* Samples of so many ns may be under way when the accounts are read, as in analyze/recent.c. */
#define UNDER_WAY 300000000ULL

static struct window_account *find_window_account(struct window_accounts *w, uint64_t event,
						  uint64_t cpu)
{
	for (size_t i = 0; i < w->list.count; i++)
		if (w->list.items[i].now.event == event && w->list.items[i].now.cpu == cpu)
			return &w->list.items[i];
	return NULL;
}

/* The account of an event on a CPU, which is made if there is none; NULL: no memory. */
static struct window_account *get_window_account(struct window_accounts *w, uint64_t event,
						 uint64_t cpu)
{
	struct window_account *a = find_window_account(w, event, cpu);
	struct window_account fresh = {.now = {.event = event, .cpu = cpu}};

	if (a)
		return a;
	if (vector_push(&w->list, fresh) < 0)
		return NULL;
	return &w->list.items[w->list.count - 1];
}

int window_accounts_take(struct window_accounts *w, const struct account *a)
{
	struct window_account *of = get_window_account(w, a->event, a->cpu);

	if (!of)
		return -ENOMEM;
	of->now = *a;
	return 0;
}

bool window_accounts_take_loss(struct window_accounts *w, struct loss *l)
{
	struct window_account *of;
	uint64_t known;

	if (!loss_reason_is_due(l->reason) || !l->cpu || !l->event)
		return true;
	of = get_window_account(w, l->event, l->cpu - 1);
	if (!of)
		return true;
	known = l->reason == LOSS_NOT_DELIVERED ? of->missing : 0;
	known = known < l->count ? known : l->count;
	/* What an earlier window counted as missing is a loss of that window, not of this one. */
	of->missing -= known;
	of->missing_begun -= known;
	of->lost += l->count;
	of->lost_begun += known;
	l->weight -= l->count ? l->weight / l->count * known : 0;
	l->count -= known;
	return l->count;
}

static uint64_t known_samples(const struct account *a)
{
	return a->written + a->filtered + a->idle + a->cut_off;
}

uint64_t window_accounts_find_missing(struct window_accounts *w, size_t i, uint64_t span)
{
	struct window_account *a = &w->list.items[i];
	uint64_t known = known_samples(&a->now) + a->lost + a->missing, rest, tolerated = 1;

	if (a->now.due <= known)
		return 0;
	rest = a->now.due - known;
	if (span)
		tolerated +=
			(uint64_t)((double)(a->now.due - a->begun.due) * UNDER_WAY / (double)span);
	rest = rest > tolerated ? rest - tolerated : 0;
	a->missing += rest;
	return rest;
}

/* Return the growth of a counter; 0 if it was corrected downwards. */
static uint64_t counted_since(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

bool window_accounts_get(struct window_accounts *w, size_t i, struct account *out)
{
	struct window_account *a = &w->list.items[i];
	struct account now = {
		.event = a->now.event,
		.cpu = a->now.cpu,
		.written = counted_since(a->begun.written, a->now.written),
		.filtered = counted_since(a->begun.filtered, a->now.filtered),
		.idle = counted_since(a->begun.idle, a->now.idle),
		.late = counted_since(a->begun.late, a->now.late),
		.cut_off = counted_since(a->begun.cut_off, a->now.cut_off),
	};

	now.due = known_samples(&now) + a->lost - a->lost_begun + a->missing - a->missing_begun;
	*out = now;
	if (!memcmp(&a->put, &now, sizeof(now)))
		return false;
	a->put = now;
	return true;
}

void window_accounts_next(struct window_accounts *w)
{
	for (size_t i = 0; i < w->list.count; i++) {
		struct window_account *a = &w->list.items[i];

		a->begun = a->now;
		a->lost_begun = a->lost;
		a->missing_begun = a->missing;
	}
}

void window_accounts_again(struct window_accounts *w)
{
	for (size_t i = 0; i < w->list.count; i++)
		w->list.items[i].put = (struct account){0};
}

void window_accounts_free(struct window_accounts *w)
{
	vector_free(&w->list);
}
