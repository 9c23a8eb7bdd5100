// SPDX-License-Identifier: Apache-2.0
/* Keep the sums of what served interrupts of late (handler_recent.h). */
#include "serve/handler_recent.h"

#include <string.h>

static uint32_t saturated(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

int handler_recent_take(struct handler_recent *h, const struct handler *r, uint64_t time)
{
	struct handler_addition add = {
		.time = time,
		.ns = r->time,
		.count = saturated(r->count),
		.longest = saturated(r->longest),
		.without = saturated(r->without),
	};
	int ret = handler_parts_find(&h->parts, r, &add.of);

	return ret ? ret : vector_push(&h->list, add);
}

void handler_recent_trim(struct handler_recent *h, uint64_t time)
{
	size_t old = 0;

	while (old < h->list.count && h->list.items[old].time < time)
		old++;
	/* In large steps, since what stays is moved each time. */
	if (old <= h->list.count / 2)
		return;
	memmove(h->list.items, h->list.items + old, (h->list.count - old) * sizeof(*h->list.items));
	h->list.count -= old;
}

int handler_recent_put(struct handler_recent *h, uint64_t since, struct sink *to, struct error *err)
{
	handler_parts_next(&h->parts);
	for (size_t i = 0; i < h->list.count; i++) {
		const struct handler_addition *add = &h->list.items[i];
		const struct handler r = {.count = add->count,
					  .time = add->ns,
					  .longest = add->longest,
					  .without = add->without};

		if (add->time >= since)
			handler_parts_add(&h->parts, add->of, &r);
	}
	return handler_parts_put(&h->parts, to, err);
}

void handler_recent_free(struct handler_recent *h)
{
	handler_parts_free(&h->parts);
	vector_free(&h->list);
}
