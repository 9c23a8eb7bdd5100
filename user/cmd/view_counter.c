// SPDX-License-Identifier: Apache-2.0
/* What skein view answers of a moment of a counter: its value, since and until when. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd/view.h"

/* A time in which a counter did not change; ns. */
struct held_value {
	const struct lane_counter *counter;
	double value;
	uint64_t from, to;
};

static struct held_value find_held_value(const struct lanes *l, size_t counter, uint64_t time)
{
	const struct lanes_counters *c = &l->entities.counters;
	const struct lane_counter *of = &c->list.items[counter];
	size_t at = lanes_counter_point(c, counter, time);
	size_t next = at == SIZE_MAX ? of->first : at + 1;
	struct held_value v = {of, COUNTER_ABSENT, l->time, l->end};

	if (at != SIZE_MAX) {
		v.value = c->points.items[at].value;
		v.from = c->points.items[at].time > v.from ? c->points.items[at].time : v.from;
	}
	if (next < of->first + of->count && c->points.items[next].time < v.to)
		v.to = c->points.items[next].time;
	return v;
}

/* Write the value; of bytes the exact number, too. */
static void write_value_facts(struct json *j, const struct held_value *v)
{
	const struct quantity *q = v->counter->quantity;
	char text[QUANTITY_SIZE], bytes[QUANTITY_SIZE + 8];

	if (!isfinite(v->value)) {
		view_write_fact(j, "value",
				isinf(v->value) ? "not known: one may be lost" : "none");
		return;
	}
	view_write_fact(j, "value", quantity_show(q->drawn, v->value, text));
	if (!strcmp(q->drawn, "bytes")) {
		snprintf(bytes, sizeof(bytes), "%s bytes", quantity_show("", v->value, text));
		view_write_fact(j, "exactly", bytes);
	}
	if (q->total)
		view_write_fact(j, "it is", "the mean rate of a total until its next value");
}

static int write_held_value(const struct lanes *l, const struct held_value *v, FILE *out)
{
	char length[48];
	struct json j;

	json_begin(&j, out, false);
	json_object(&j);
	json_key_text(&j, "title", v->counter->name);
	json_key(&j, "facts");
	json_array(&j);
	write_value_facts(&j, v);
	view_write_fact_time(&j, "from", v->from - l->time);
	view_write_fact_time(&j, "to", v->to - l->time);
	view_write_fact(&j, "length", show_duration(v->to - v->from, length, sizeof(length)));
	json_array_end(&j);
	json_key_uint(&j, "from", v->from - l->time);
	json_key_uint(&j, "to", v->to - l->time);
	json_object_end(&j);
	return json_end(&j);
}

/* Return the index of the counter that a text names, or SIZE_MAX. */
static size_t counter_of_text(const struct lanes *l, const char *text)
{
	unsigned long long number;
	char *end;

	if (!text || *text != 'c' || text[1] < '0' || text[1] > '9')
		return SIZE_MAX;
	number = strtoull(text + 1, &end, 10);
	return !*end && number < l->entities.counters.list.count ? (size_t)number : SIZE_MAX;
}

bool view_is_of_counter(const struct view_server *v, const struct http_request *q)
{
	return counter_of_text(&v->input.lanes, http_request_text(q, "lane")) != SIZE_MAX;
}

int view_answer_counter(const struct view_server *v, const struct http_request *q,
			struct http_answer *a)
{
	const struct lanes *l = &v->input.lanes;
	size_t counter = counter_of_text(l, http_request_text(q, "lane"));
	struct held_value held;
	uint64_t time;
	FILE *out;
	int ret;

	if (http_request_number(q, "time", &time) < 0 || time >= l->end - l->time)
		return http_answer_text(a, 400, "time: one in the recording");
	held = find_held_value(l, counter, l->time + time);
	out = open_memstream(&a->body, &a->size);
	if (!out)
		return -ENOMEM;
	a->type = "application/json";
	ret = write_held_value(l, &held, out);
	return fclose(out) && !ret ? -ENOMEM : ret;
}
