// SPDX-License-Identifier: Apache-2.0
/* Read the samples of a recording with their times (html_samples.h). */
#include "export/html_samples.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS 1024 /* of the recording, before they are made longer */

struct samples_reader {
	struct sink sink;
	struct html_samples *to;
};

static int by_html_sample_key(const struct html_sample *x, const struct html_sample *y)
{
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->wait != y->wait)
		return x->wait < y->wait ? -1 : 1;
	return (x->flags > y->flags) - (x->flags < y->flags);
}

static int by_html_sample_time(const void *a, const void *b)
{
	const struct html_sample *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return by_html_sample_key(x, y);
}

static void sort_html_samples(struct html_samples *s)
{
	if (s->list.count)
		qsort(s->list.items, s->list.count, sizeof(*s->list.items), by_html_sample_time);
}

/* Add up samples of one slot that differ in nothing else. */
static void merge_html_samples(struct html_samples *s)
{
	struct html_sample *to = s->list.items;

	sort_html_samples(s);
	for (size_t i = 1; i < s->list.count; i++) {
		const struct html_sample *from = &s->list.items[i];

		if (by_html_sample_time(to, from)) {
			*++to = *from;
			continue;
		}
		to->count += from->count;
		to->weight += from->weight;
	}
	if (s->list.count)
		s->list.count = (size_t)(to - s->list.items) + 1;
}

/* Make room by slots of time, which are made as long as it takes. */
static int shorten_html_samples(struct html_samples *s)
{
	uint64_t length = s->end - s->begin;

	for (bool first = true; s->list.count > s->most / 2; first = false) {
		if (s->slot >= length)
			return -E2BIG;
		if (!s->slot || !first) {
			uint64_t factor = s->slot ? 2 : length / SLOTS + 1;

			for (size_t i = 0; i < s->list.count; i++)
				s->list.items[i].time /= factor;
			s->slot = s->slot ? 2 * s->slot : factor;
		}
		merge_html_samples(s);
	}
	return 0;
}

static int read_html_sample(struct sink *sink, enum record_kind kind, const void *record,
			    struct error *err)
{
	struct html_samples *to = ((struct samples_reader *)sink)->to;
	const struct sample *s = record;
	uint64_t time = s->time > to->begin ? s->time - to->begin : 0;
	const struct html_sample one = {
		.time = to->slot ? time / to->slot : time,
		.event = s->event,
		.thread = s->thread,
		.stack = s->stack,
		.count = 1,
		.weight = s->weight,
		.flags = s->flags & SAMPLE_FLAG_COLLECTING,
		.wait = s->wait < WAIT_COUNT ? (uint16_t)s->wait : WAIT_OTHER,
	};
	int ret = 0;

	if (kind != KIND_SAMPLE)
		return 0;
	if (to->list.count >= to->most)
		ret = shorten_html_samples(to);
	if (!ret)
		ret = vector_push(&to->list, one);
	return ret < 0 ? error_errno(err, ret, "cannot keep the times of samples") : 0;
}

int html_samples_read(struct html_samples *out, struct source *from, struct error *err)
{
	static const struct sink_ops ops = {.put = read_html_sample};
	struct samples_reader r = {.sink = {.ops = &ops, .wants = WANT(SAMPLE)}, .to = out};
	int ret = from->ops->run(from, &r.sink, err);

	if (ret < 0)
		return ret;
	if (out->slot)
		merge_html_samples(out);
	else
		sort_html_samples(out);
	return 0;
}
