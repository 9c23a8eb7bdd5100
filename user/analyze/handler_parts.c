// SPDX-License-Identifier: Apache-2.0
/* Add up parts of the sums of what served interrupts (handler_parts.h). */
#include "analyze/handler_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of handlers are below this (WIRE_HANDLERS of bpf/event.h). */
#define HANDLER_NUMBERS 1024

static int append_handler_part(struct handler_parts *p, uint64_t key, const struct handler *r)
{
	struct handler_part fresh = {
		.sum = {.lane = r->lane, .number = r->number, .kind = r->kind},
		.name = strdup(r->name ? r->name : ""),
	};

	fresh.sum.name = fresh.name;
	if (!fresh.name || vector_push(&p->list, fresh) < 0) {
		free(fresh.name);
		return -ENOMEM;
	}
	/* Without a place in the index the sum has nothing, and is never found. */
	return index_put(&p->of, key, (uint32_t)p->list.count - 1);
}

int handler_parts_find(struct handler_parts *p, const struct handler *r, uint32_t *out)
{
	const uint64_t key = r->lane * HANDLER_NUMBERS + r->number % HANDLER_NUMBERS;
	uint32_t at = index_get(&p->of, key);
	int ret = at == INDEX_NONE ? append_handler_part(p, key, r) : 0;

	if (!ret)
		*out = at == INDEX_NONE ? (uint32_t)p->list.count - 1 : at;
	return ret;
}

void handler_parts_add(struct handler_parts *p, uint32_t i, const struct handler *r)
{
	struct handler_part *part = &p->list.items[i];
	struct handler *sum = &part->sum;

	sum->count += r->count;
	sum->time += r->time;
	sum->without += r->without;
	if (r->longest > sum->longest)
		sum->longest = r->longest;
	part->changed = true;
}

int handler_parts_take(struct handler_parts *p, const struct handler *r)
{
	uint32_t at;
	int ret = handler_parts_find(p, r, &at);

	if (!ret)
		handler_parts_add(p, at, r);
	return ret;
}

const struct handler *handler_parts_changed(struct handler_parts *p, size_t i)
{
	struct handler_part *part = &p->list.items[i];

	if (!part->changed)
		return NULL;
	part->changed = false;
	return &part->sum;
}

int handler_parts_put(const struct handler_parts *p, struct sink *to, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < p->list.count && !ret; i++)
		ret = put_handler(to, &p->list.items[i].sum, err);
	return ret;
}

void handler_parts_next(struct handler_parts *p)
{
	for (size_t i = 0; i < p->list.count; i++) {
		struct handler *sum = &p->list.items[i].sum;

		sum->count = sum->time = sum->longest = sum->without = 0;
		p->list.items[i].changed = false;
	}
}

void handler_parts_again(struct handler_parts *p)
{
	for (size_t i = 0; i < p->list.count; i++)
		p->list.items[i].changed = p->list.items[i].sum.count > 0;
}

void handler_parts_free(struct handler_parts *p)
{
	for (size_t i = 0; i < p->list.count; i++)
		free(p->list.items[i].name);
	vector_free(&p->list);
	index_free(&p->of);
}
