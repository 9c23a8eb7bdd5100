// SPDX-License-Identifier: Apache-2.0
/*
 * Write a marker for each wait whose stack was taken: its class, length, futex, who ended it, and
 * the stack. The categories of the markers are the classes.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "export/firefox.h"
#include "export/wait_end.h"

void firefox_wait_schema(struct firefox *f)
{
	static const struct marker_schema schema = {
		.name = "Wait",
		.tooltip = "Waits: {marker.data.class}",
		.table = "{marker.data.class}, ended by {marker.data.by}",
		.chart = "{marker.data.class}",
	};
	struct json *j = &f->json;

	firefox_begin_schema(f, &schema);
	firefox_write_field(j, "class", "waited for", "string");
	firefox_write_field(j, "length", "length", "duration");
	firefox_write_field(j, "weight", "stands for", "duration");
	firefox_write_field(j, "futex", "futex", "string");
	firefox_write_field(j, "by", "ended by", "string");
	firefox_end_schema(f);
}

int firefox_keep_wait(struct firefox *f, const struct sample *s)
{
	uint32_t event = index_get(&f->timeline.event_of, s->event);
	struct firefox_wait kept = {.length = s->length,
				    .address = s->address,
				    .other = s->other,
				    .flags = s->flags,
				    .wait = s->wait < WAIT_COUNT ? (enum wait_class)s->wait
								 : WAIT_OTHER};

	if (!s->wait || event == INDEX_NONE ||
	    strcmp(f->timeline.profile->events[event].name, EVENT_OFF_CPU))
		return 0;
	if (vector_push(&f->waits, kept) < 0)
		return -ENOMEM;
	return index_put(&f->wait_of, f->gather.samples.count, (uint32_t)f->waits.count - 1);
}

/* Return the wait of a gathered sample; NULL if the sample is of no wait. */
static const struct firefox_wait *firefox_wait_of(const struct firefox *f, size_t i)
{
	uint32_t at = index_get(&f->wait_of, f->gather.samples.items[i].order);

	return at == INDEX_NONE ? NULL : &f->waits.items[at];
}

/*
 * Return when a marker begins. It ends when the stack was taken, at the begin of the thread's next
 * run, so it is too late by the time for which the thread waited for a CPU.
 */
static uint64_t firefox_wait_start(const struct firefox *f, size_t i, const struct firefox_wait *w)
{
	uint64_t taken = f->gather.samples.items[i].time, first = f->timeline.profile->host.start;

	return taken > first + w->length ? taken - w->length : first;
}

static void firefox_write_wait_data(struct firefox *f, size_t i, const struct firefox_wait *w)
{
	const struct gathered *g = &f->gather.samples.items[i];
	char by[WAIT_END_SIZE], clean[3 * WAIT_END_SIZE], futex[24];
	struct json *j = &f->json;

	wait_ended_by(&f->timeline, w->other, w->flags, by);
	json_object(j);
	json_key_text(j, "type", "Wait");
	json_key_text(j, "class", wait_class_word(w->wait));
	json_key(j, "length");
	json_decimal(j, (int64_t)w->length, 6);
	json_key(j, "weight");
	json_decimal(j, (int64_t)g->weight, 6);
	if (w->address) {
		snprintf(futex, sizeof(futex), "0x%" PRIx64, w->address);
		json_key_text(j, "futex", futex);
	}
	json_key_text(j, "by", *by ? text_clean(by, clean, sizeof(clean)) : "unknown");
	json_key(j, "cause");
	json_object(j);
	json_key_uint(j, "stack", g->node);
	json_key(j, "time");
	firefox_write_time(f, g->time);
	json_object_end(j);
	json_object_end(j);
}

/* Write the cells of a column for the waits of samples. Return 0 or a negative errno. */
static int firefox_wait_column(struct firefox *f, enum marker_column column, size_t from, size_t to)
{
	struct json *j = &f->json;
	uint32_t name;
	int ret = 0;

	for (size_t i = from; i < to && !ret; i++) {
		const struct firefox_wait *w = firefox_wait_of(f, i);

		if (!w)
			continue;
		if (column == MARKER_DATA)
			firefox_write_wait_data(f, i, w);
		else if (column == MARKER_START)
			firefox_write_time(f, firefox_wait_start(f, i, w));
		else if (column == MARKER_END)
			firefox_write_time(f, f->gather.samples.items[i].time);
		else if (column == MARKER_CATEGORY)
			json_uint(j, CATEGORY_WAITS + w->wait - 1);
		else if (!(ret = stacks_string(&f->gather.stacks, wait_class_word(w->wait), &name)))
			json_uint(j, name);
	}
	return ret;
}

int firefox_markers(struct firefox *f, size_t from, size_t to, const struct firefox_spans *s)
{
	static const char *const names[] = {"data", "name", "startTime", "endTime", "category"};
	size_t count = s->end - s->first;
	int ret = 0;

	for (size_t i = from; i < to; i++)
		count += firefox_wait_of(f, i) != NULL;
	firefox_table(f, "markers", count);
	for (int column = MARKER_DATA; column <= MARKER_CATEGORY && !ret; column++) {
		firefox_column(f, names[column]);
		ret = firefox_wait_column(f, column, from, to);
		if (!ret)
			ret = firefox_span_column(f, column, s);
		json_array_end(&f->json);
	}
	firefox_numbers(f, "phase", 1, count); /* phase 1: an interval */
	json_object_end(&f->json);
	return ret;
}
