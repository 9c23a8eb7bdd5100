// SPDX-License-Identifier: Apache-2.0
/* What skein view answers of a wait: who held it up, from its waker backwards. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/wake_chain.h"
#include "base/units.h"
#include "cmd/view.h"

#define CLOSE 4096 /* ns between the begin of a wait, as cells have it, and the slice before it */
#define RECORDS_MAX (1u << 18) /* that are held at once: 12 MiB */
#define FIRST_PART 4000000 /* ns: how much of the wait is read first */
#define LONGER 4 /* times as long is the next part, if it had few records */
#define SAID_PARTS 4 /* of the wait that are named in the sentence */
#define TEXT_SIZE 512

/* A chain while it is read, and the wait that it explains. */
struct chain_reading {
	struct view_server *view;
	const struct http_request *asked;
	struct view_wait wait;
	struct wake_chain chain;
	wake_records_t records;
	bool found; /* there is a wait */
	bool followed; /* a thread ended it, so that there is a chain */
	bool given_up; /* reading took too long */
};

static int add_slice_on_way(struct chain_reading *c, const struct slice *s)
{
	const struct lanes *l = &c->view->input.lanes;
	const struct lane_thread *t = view_thread_of_id(l, s->value);
	struct wake_record r = {.time = s->time,
				.end = s->end,
				.kind = WAKE_RAN,
				.left = (uint8_t)s->left,
				.wait = (uint8_t)s->wait};

	if (lane_owners_find(&l->entities.owners, s->lane).kind != LANE_CPU)
		return 0;
	if (s->state == STATE_UNKNOWN)
		r.kind = WAKE_LOST;
	else if (s->state != STATE_RUNNING || !t || !t->lane)
		return 0;
	r.lane = r.kind == WAKE_RAN ? t->lane : 0;
	return vector_push(&c->records, r);
}

static int add_edge_on_way(struct chain_reading *c, const struct edge *e)
{
	const struct lanes *l = &c->view->input.lanes;
	const struct wake_record r = {.time = e->time,
				      .end = e->time,
				      .lane = e->to,
				      .from = e->from,
				      .kind = WAKE_EDGE,
				      .thread = view_thread_of_lane(l, e->from)};

	return e->kind == EDGE_WAKEUP || e->kind == EDGE_FORK ? vector_push(&c->records, r) : 0;
}

static int take_on_way(void *chain, enum record_kind kind, const void *record)
{
	struct chain_reading *c = chain;
	int ret = kind == KIND_SLICE ? add_slice_on_way(c, record) : add_edge_on_way(c, record);

	return ret < 0 ? ret : c->records.count > RECORDS_MAX;
}

/* Read the records of a range, or more than RECORDS_MAX of them if there are more. */
static int read_way(struct chain_reading *c, uint64_t from, uint64_t to, struct error *err)
{
	const struct view_records r = {c->view,
				       c->asked,
				       {.from = from, .to = to, .kinds = WANT(SLICE) | WANT(EDGE)},
				       take_on_way,
				       c};
	int ret;

	c->records.count = 0;
	ret = c->given_up ? 1 : view_read_records(&r, err);
	c->given_up = ret > 0;
	return ret < 0 ? ret : 0;
}

/* Move the begin of the wait from the begin of a cell to the end of the slice before it. */
static int find_begin_of_wait(struct chain_reading *c, struct error *err)
{
	uint64_t time = c->wait.time, latest = 0;
	int ret = read_way(c, time > CLOSE ? time - CLOSE : 0, time + CLOSE, err);

	for (size_t i = 0; i < c->records.count && !ret; i++) {
		const struct wake_record *r = &c->records.items[i];

		if (r->kind == WAKE_RAN && r->lane == c->wait.lane && r->end <= time + CLOSE &&
		    r->end < c->wait.end && r->end + CLOSE >= time && r->end > latest)
			latest = r->end;
	}
	if (latest)
		c->wait.time = latest;
	return ret;
}

/* End the chain by the state in which its last thread was when the wait began. */
static int end_chain(struct chain_reading *c, struct error *err)
{
	const struct lanes_windows *w = c->view->input.lanes.windows;
	const struct window_query q = {c->chain.begin, c->chain.begin + 1, 1, &c->chain.lane, 1};
	struct window *window;
	int ret = w->window(w->context, &q, &window, err);

	if (ret < 0)
		return ret;
	if (!window->cells[0].state || window->cells[0].state == STATE_UNKNOWN)
		c->chain.end = WAKE_END_LOST;
	else
		wake_chain_end(&c->chain, window->cells[0].state, window->cells[0].wait);
	w->free(window);
	return 0;
}

/* Read the time of the wait backwards, in parts of bounded size, until the chain ends. */
static int follow_wakers(struct chain_reading *c, struct error *err)
{
	struct wake_chain *chain = &c->chain;
	uint64_t to = chain->at, length = FIRST_PART;

	while (!chain->end && to > chain->begin) {
		uint64_t from = to - chain->begin > length ? to - length : chain->begin;
		int ret = read_way(c, from, to, err);

		if (ret < 0 || c->given_up)
			return ret;
		if (c->records.count > RECORDS_MAX && length > 1) {
			length = (to - from) / 2;
			continue;
		}
		if (c->records.count < RECORDS_MAX / (2 * LONGER))
			length *= LONGER;
		wake_chain_follow(chain, &c->records);
		to = chain->at < from ? chain->at : from;
	}
	return chain->end ? 0 : end_chain(c, err);
}

static int read_chain(struct chain_reading *c, struct error *err)
{
	int ret = view_find_wait(c->view, c->asked, &c->wait, err);

	if (ret <= 0)
		return ret;
	c->found = true;
	if (c->wait.wakeup.time)
		c->wait.end = c->wait.wakeup.time;
	ret = find_begin_of_wait(c, err);
	if (ret < 0 || c->given_up || c->wait.time >= c->wait.end)
		return ret;
	if (!c->wait.wakeup.time ||
	    !view_thread_of_lane(&c->view->input.lanes, c->wait.wakeup.from))
		return 0;
	c->followed = true;
	wake_chain_begin(&c->chain, c->wait.time, c->wait.end, c->wait.wakeup.from);
	return follow_wakers(c, err);
}

/* What a thread did for a part of the wait. */
struct said_part {
	uint64_t lane; /* lane.id of the thread */
	uint64_t time; /* ns */
	enum { SAID_RAN, SAID_RUNNABLE, SAID_WAITED } what;
	unsigned int wait; /* enum wait_class of SAID_WAITED */
};

struct said_parts {
	struct said_part items[WAKE_CHAIN_LINKS * (2 + WAIT_COUNT)];
	unsigned int count;
};

/* Add time to what the same thread did before. */
static void say_part(struct said_parts *p, struct said_part part)
{
	unsigned int i = 0;

	while (i < p->count && (p->items[i].lane != part.lane || p->items[i].what != part.what ||
				p->items[i].wait != part.wait))
		i++;
	if (!part.time)
		return;
	if (i == p->count)
		p->items[p->count++] = part;
	else
		p->items[i].time += part.time;
}

static void say_link(struct said_parts *p, const struct wake_link *l)
{
	say_part(p, (struct said_part){l->lane, l->ran, SAID_RAN, 0});
	say_part(p, (struct said_part){l->lane, l->runnable, SAID_RUNNABLE, 0});
	for (unsigned int i = 0; i < WAIT_COUNT; i++)
		say_part(p, (struct said_part){l->lane, l->waited_for[i], SAID_WAITED, i});
}

static int compare_said_parts(const void *a, const void *b)
{
	const struct said_part *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static const char *said_wait(unsigned int wait)
{
	return wait ? wait_class_word(wait) : "not known";
}

static void write_what(FILE *out, const struct said_part *p)
{
	if (p->what == SAID_RAN)
		fputs("ran", out);
	else if (p->what == SAID_RUNNABLE)
		fputs("waited for a CPU", out);
	else
		fprintf(out, "waited (%s)", said_wait(p->wait));
}

/* Write the largest parts: "100 ms of it NAME ran, 23 ms it waited for a CPU". */
static void write_parts(FILE *out, const struct lanes *l, const struct said_parts *parts)
{
	char name[VIEW_NAME_SIZE], length[48];
	uint64_t rest = 0;

	for (unsigned int i = 0; i < parts->count; i++) {
		const struct said_part *p = &parts->items[i];

		if (i >= SAID_PARTS) {
			rest += p->time;
			continue;
		}
		fprintf(out, "%s%s%s ", i ? ", " : ": ",
			show_duration(p->time, length, sizeof(length)), i ? "" : " of it");
		fprintf(out, "%s ",
			i && p[-1].lane == p->lane
				? "it"
				: view_write_thread_name(l, view_thread_of_lane(l, p->lane), name));
		write_what(out, p);
	}
	if (rest)
		fprintf(out, ", %s others", show_duration(rest, length, sizeof(length)));
}

/* Return the number of an interrupt's lane; 0 if it is none. */
static uint64_t interrupt_of_lane(const struct lanes *l, uint64_t lane)
{
	const struct lane_owners *o = &l->entities.owners;
	uint32_t at = lane ? index_get(&o->lanes, lane) : INDEX_NONE;

	return at != INDEX_NONE && o->list.items[at].kind == LANE_INTERRUPT
		       ? o->list.items[at].number
		       : 0;
}

/* Say why there is no thread that held the wait up. */
static void write_no_chain(FILE *out, const struct chain_reading *c)
{
	uint64_t interrupt = interrupt_of_lane(&c->view->input.lanes, c->wait.wakeup.from);

	if (interrupt)
		fprintf(out, ": an interrupt ended it (%s), no thread", interrupt_word(interrupt));
	else if (c->wait.wakeup.time)
		fputs(": who ended it is not known", out);
	else
		fputs(": nobody is known to have ended it", out);
}

static void write_sentence(FILE *out, const struct chain_reading *c)
{
	struct said_parts parts = {.count = 0};
	const struct wake_chain *chain = &c->chain;
	char length[48];

	if (!c->found) {
		fputs("no wait was found before this", out);
		return;
	}
	fputs(show_duration(c->wait.end - c->wait.time, length, sizeof(length)), out);
	if (!c->followed) {
		write_no_chain(out, c);
		return;
	}
	for (unsigned int i = 0; i < chain->count; i++)
		say_link(&parts, &chain->links[i]);
	qsort(parts.items, parts.count, sizeof(*parts.items), compare_said_parts);
	write_parts(out, &c->view->input.lanes, &parts);
	if (chain->at > chain->begin)
		fprintf(out, ", %s are not explained",
			show_duration(chain->at - chain->begin, length, sizeof(length)));
}

/* Return why the chain ends where it does. */
static const char *end_text(const struct chain_reading *c)
{
	if (c->given_up)
		return "Reading more takes too long.";
	if (!c->followed)
		return "";
	switch (c->chain.end) {
	case WAKE_END_LINKS:
		return "The chain is longer than what is shown.";
	case WAKE_END_LOST:
		return "What was before that is not known: it was not recorded, or lost.";
	default:
		if (c->chain.begin <= c->view->input.lanes.time)
			return "The recording begins there.";
		return "That is all of the time since the wait began.";
	}
}

static void write_link_text(FILE *out, const struct lanes *l, const struct wake_link *link)
{
	struct said_parts parts = {.count = 0};
	uint64_t interrupt = interrupt_of_lane(l, link->interrupt);
	char length[48];

	say_link(&parts, link);
	for (unsigned int i = 0; i < parts.count; i++) {
		fprintf(out, "%s", i ? ", " : "");
		write_what(out, &parts.items[i]);
		fprintf(out, " %s", show_duration(parts.items[i].time, length, sizeof(length)));
	}
	if (interrupt)
		fprintf(out, "; an interrupt ended its wait (%s)", interrupt_word(interrupt));
	if (link->unknown_waker)
		fputs("; who ended its wait is not known", out);
}

static void write_chain_link(struct json *j, const struct chain_reading *c,
			     const struct wake_link *link)
{
	const struct lanes *l = &c->view->input.lanes;
	char text[TEXT_SIZE] = "", name[VIEW_NAME_SIZE];
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (out) {
		write_link_text(out, l, link);
		fclose(out);
		text[sizeof(text) - 1] = '\0';
	}
	json_object(j);
	json_key_text(j, "name",
		      view_write_thread_name(l, view_thread_of_lane(l, link->lane), name));
	json_key_text(j, "text", text);
	snprintf(text, sizeof(text), "%" PRIu64, link->lane);
	json_key_text(j, "lane", text);
	json_key_uint(j, "from", link->time - l->time);
	json_key_uint(j, "to", link->end - l->time);
	json_key_uint(j, "ran", link->ran);
	json_key_uint(j, "runnable", link->runnable);
	json_key_uint(j, "waited", link->waited);
	json_object_end(j);
}

static int write_chain(const struct chain_reading *c, FILE *out)
{
	const struct lanes *l = &c->view->input.lanes;
	char *sentence = NULL, lane[24];
	size_t size;
	FILE *text = open_memstream(&sentence, &size);
	struct json j;
	int ret;

	if (!text)
		return -ENOMEM;
	write_sentence(text, c);
	if (fclose(text)) {
		free(sentence);
		return -ENOMEM;
	}
	snprintf(lane, sizeof(lane), "%" PRIu64, c->wait.lane);
	json_begin(&j, out, false);
	json_object(&j);
	json_key_text(&j, "sentence", sentence);
	json_key_text(&j, "end", end_text(c));
	json_key_text(&j, "lane", lane);
	json_key_uint(&j, "from", c->found ? c->wait.time - l->time : 0);
	json_key_uint(&j, "to", c->found ? c->wait.end - l->time : 0);
	json_key_text(&j, "wait", c->wait.wait ? wait_class_word(c->wait.wait) : "");
	json_key(&j, "links");
	json_array(&j);
	for (unsigned int i = 0; i < c->chain.count; i++)
		write_chain_link(&j, c, &c->chain.links[i]);
	json_array_end(&j);
	json_object_end(&j);
	ret = json_end(&j);
	free(sentence);
	return ret;
}

static int read_chain_request(struct chain_reading *c, const struct http_request *q)
{
	const struct lanes *l = &c->view->input.lanes;
	int ret = http_request_number(q, "lane", &c->wait.lane);

	if (!ret)
		ret = http_request_number(q, "time", &c->wait.time);
	if (ret < 0 || !view_thread_of_lane(l, c->wait.lane) || c->wait.time >= l->end - l->time)
		return -EINVAL;
	c->wait.time += l->time;
	return 0;
}

int view_answer_chain(void *context, const struct http_request *q, struct http_answer *a)
{
	struct chain_reading c = {.view = context, .asked = q};
	struct error err = {""};
	FILE *out;
	int ret;

	if (read_chain_request(&c, q) < 0)
		return http_answer_text(a, 400, "lane, time: of a thread and in the recording");
	ret = view_begin_reading(c.view, q);
	if (ret < 0)
		return ret;
	ret = read_chain(&c, &err);
	pthread_mutex_unlock(c.view->reading);
	vector_free(&c.records);
	if (ret < 0)
		return view_answer_error(a, ret, &err);
	out = open_memstream(&a->body, &a->size);
	if (!out)
		return -ENOMEM;
	a->type = "application/json";
	ret = write_chain(&c, out);
	return fclose(out) && !ret ? -ENOMEM : ret;
}
