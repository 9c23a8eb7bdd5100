// SPDX-License-Identifier: Apache-2.0
/* What skein view answers of a moment of a lane: its state, since and until when, and its waker. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups.h"
#include "base/units.h"
#include "cmd/view.h"

#define FINEST 1024 /* ns: length of the shortest cells, see trace_window() */
#define CELLS 4096 /* of a query that looks for a change of state */
#define WIDER 16 /* times as long is the next range to look at if nothing changed */
#define NEAR (4 * FINEST) /* ns between a wake-up and the change of state by it, at most */
#define SAMPLE_LATE 20000 /* ns */
#define BEFORE_MAX 64 /* states that are looked at for the wait before them */
#define WOKEN_MAX 8 /* threads woken by the one that ran that are shown */

/* A moment of a lane; times in ns. */
struct moment {
	struct view_server *view;
	const struct http_request *asked;
	const struct lane_row *row; /* if several threads share the lane; else NULL */
	uint64_t lane, time;
	struct cell cell; /* the state at that time */
	uint64_t from, to; /* since when, and until when, nothing else is known of the lane */
	uint64_t ran; /* ns; when the thread ran after the wait; 0: no wait, or not known */
	uint64_t cpu; /* number + 1 of the CPU on which the thread ran; 0: none */
	struct edge wakeup; /* that ended the wait, or made the thread runnable; time 0: none */
	struct edge woke[WOKEN_MAX]; /* the first wake-ups by the thread while it ran */
	uint64_t woke_count; /* of all of these wake-ups */
	bool given_up; /* reading took too long, so that there may be more wake-ups */
};

static int read_lane_cells(const struct moment *m, const struct window_query *q,
			   struct window **out, struct error *err)
{
	return trace_window(m->view->input.input.trace, q, out, err);
}

/* Return whether a lane was in the state of the moment, and in no other, in a whole cell. */
static bool is_same_state(const struct moment *m, const struct cell *c)
{
	if (m->cell.state == STATE_RUNNING)
		return c->activity == CELL_FULL && c->thread == m->cell.thread;
	return !c->activity && c->state == m->cell.state && c->wait == m->cell.wait;
}

/*
 * Return the number of the first cell, or backward the last one, that touches a range and is in
 * another state; w->width if there is none.
 */
static unsigned int find_other_cell(const struct moment *m, const struct window *w,
				    const struct window_query *range, bool backward)
{
	for (unsigned int i = 0; i < w->width; i++) {
		unsigned int at = backward ? w->width - 1 - i : i;
		uint64_t begin = w->time + at * w->cell;

		if (begin + w->cell > range->time && begin < range->end &&
		    !is_same_state(m, &w->cells[at]))
			return at;
	}
	return w->width;
}

/*
 * Move *near, up to which the state of the moment is known to last, away from the moment: to the
 * next change within the length, or by the length. Set *length to that of the range to look at
 * next; 0 if *near is where the state changes, within the length of a cell.
 */
static int move_near(const struct moment *m, bool backward, uint64_t *near, uint64_t *length,
		     struct error *err)
{
	const struct lanes *l = &m->view->input.lanes;
	uint64_t room = backward ? *near - l->time : l->end - *near;
	uint64_t step = *length < room ? *length : room;
	struct window_query q = {*near - (backward ? step : 0), *near + (backward ? 0 : step),
				 CELLS, &m->lane, 1};
	struct window *w;
	unsigned int at;
	int ret = step ? read_lane_cells(m, &q, &w, err) : 0;

	if (ret < 0 || !step) {
		*length = 0;
		return ret;
	}
	at = find_other_cell(m, w, &q, backward);
	if (at == w->width) {
		*near = backward ? q.time : q.end;
		*length *= WIDER;
	} else {
		uint64_t begin = w->time + at * w->cell, end = begin + w->cell;

		if (backward ? end < *near : begin > *near)
			*near = backward ? end : begin;
		*length = w->cell > FINEST ? w->cell : 0;
	}
	window_free(w);
	return 0;
}

static int find_change(const struct moment *m, bool backward, uint64_t *out, struct error *err)
{
	uint64_t near = m->time, length = CELLS * FINEST;
	int ret = 0;

	while (length && !ret)
		ret = move_near(m, backward, &near, &length, err);
	*out = near;
	return ret;
}

/* Read the state at the moment, and since when and until when it lasts. */
static int find_state(struct moment *m, struct error *err)
{
	const struct window_query q = {m->time, m->time + 1, 1, &m->lane, 1};
	struct window *w;
	bool mixed;
	int ret = read_lane_cells(m, &q, &w, err);

	if (ret < 0)
		return ret;
	m->cell = w->cells[0];
	mixed = m->cell.activity && m->cell.activity < CELL_FULL;
	m->from = w->time;
	m->to = w->time + w->cell;
	window_free(w);
	if (mixed)
		return 0; /* several states in a microsecond: no cell is shorter */
	ret = find_change(m, true, &m->from, err);
	return ret ? ret : find_change(m, false, &m->to, err);
}

const struct lane_thread *view_thread_of_id(const struct lanes *l, uint64_t id)
{
	uint32_t at = id ? index_get(&l->entities.thread_by_id, id) : INDEX_NONE;

	return at == INDEX_NONE ? NULL : &l->entities.threads.items[at];
}

static bool is_cpu(const struct lanes *l, uint64_t lane)
{
	return lane_owners_find(&l->entities.owners, lane).kind == LANE_CPU;
}

/* Find the CPU on which the lane's thread ran at the moment. */
static int find_cpu(struct moment *m, struct error *err)
{
	const struct lanes *l = &m->view->input.lanes;
	size_t count = l->cpus.count;
	uint64_t *ids = calloc(count + 1, sizeof(*ids));
	const struct window_query q = {m->time, m->time + 1, 1, ids, count};
	struct window *w;
	int ret;

	if (!ids)
		return error_errno(err, -ENOMEM, "cannot look for the CPU");
	for (size_t i = 0; i < count; i++)
		ids[i] = l->cpus.items[i].lane;
	ret = count ? read_lane_cells(m, &q, &w, err) : 0;
	free(ids);
	if (ret < 0 || !count)
		return ret;
	for (size_t i = 0; i < count && !m->cpu; i++) {
		const struct lane_thread *t = view_thread_of_id(l, w->cells[i * w->width].thread);

		if (t && t->lane == m->lane)
			m->cpu = l->cpus.items[i].cpu + 1;
	}
	window_free(w);
	return 0;
}

/* Note a wake-up of the thread, or by it. */
static void note_wakeup(struct moment *m, const struct edge *e)
{
	if (e->kind != EDGE_WAKEUP && e->kind != EDGE_FORK)
		return;
	if (e->to == m->lane)
		m->wakeup = *e;
	if (e->from != m->lane)
		return;
	if (m->woke_count < WOKEN_MAX)
		m->woke[m->woke_count] = *e;
	m->woke_count++;
}

static int take_wakeup_of_moment(void *moment, enum record_kind kind, const void *record)
{
	(void)kind;
	note_wakeup(moment, record);
	return 0;
}

/* Note the wake-ups in a range, both ends inclusive, or the first of them if that takes long. */
static int find_wakeups(struct moment *m, uint64_t from, uint64_t to, struct error *err)
{
	const struct view_records r = {m->view,
				       m->asked,
				       {.from = from, .to = to, .kinds = WANT(EDGE)},
				       take_wakeup_of_moment,
				       m};
	int ret = m->given_up ? 1 : view_read_records(&r, err);

	m->given_up = ret > 0;
	return ret < 0 ? ret : 0;
}

/* Find the wake-up that changed the state of the lane at a time. */
static int find_wakeup(struct moment *m, uint64_t change, struct error *err)
{
	return find_wakeups(m, change > NEAR ? change - NEAR : 0, change + NEAR, err);
}

/* Find when the thread ran after its wait: at its end, or after time in the run queue. */
static int find_run(struct moment *m, struct error *err)
{
	struct moment next = {
		.view = m->view, .asked = m->asked, .lane = m->lane, .time = m->to + FINEST};
	int ret;

	if (next.time >= m->view->input.lanes.end)
		return 0;
	ret = find_state(&next, err);
	m->ran = next.cell.state == STATE_RUNNABLE ? next.to : m->to;
	return ret;
}

/* Read what is shown of a thread at the moment. */
static int find_thread_moment(struct moment *m, struct error *err)
{
	int ret;

	switch (m->cell.state) {
	case STATE_RUNNING:
		ret = find_cpu(m, err);
		return ret ? ret : find_wakeups(m, m->from, m->to, err);
	case STATE_RUNNABLE:
		return find_wakeup(m, m->from, err);
	case STATE_SLEEPING:
	case STATE_DISK:
		ret = find_wakeup(m, m->to, err);
		return ret ? ret : find_run(m, err);
	default:
		return find_wakeup(m, m->to, err);
	}
}

static int find_moment(struct moment *m, struct error *err)
{
	int ret = m->row ? view_choose_part(m->view, m->row, m->time, &m->lane, err) : 0;

	if (!ret)
		ret = find_state(m, err);
	return ret || is_cpu(&m->view->input.lanes, m->lane) ? ret : find_thread_moment(m, err);
}

const struct lane_thread *view_thread_of_lane(const struct lanes *l, uint64_t lane)
{
	return view_thread_of_id(l, lane_owners_find(&l->entities.owners, lane).thread);
}

char *view_write_thread_name(const struct lanes *l, const struct lane_thread *t,
			     char buf[VIEW_NAME_SIZE])
{
	const char *program = "";

	if (!t)
		return strcpy(buf, "an interrupt, or a thread without a name");
	if (t->process != LANES_NONE)
		program = process_name(&l->entities.processes.items[t->process].p);
	snprintf(buf, VIEW_NAME_SIZE, "%s %" PRIu64 " (%s)", t->name, t->tid, program);
	return buf;
}

static void write_facts(struct json *j, const struct moment *m)
{
	const struct lanes *l = &m->view->input.lanes;
	char text[VIEW_NAME_SIZE], length[48];
	bool mixed = m->cell.activity && m->cell.activity < CELL_FULL;

	json_key(j, "facts");
	json_array(j);
	snprintf(text, sizeof(text), "%s%s%s%s",
		 m->cell.state ? slice_state_word(m->cell.state) : "not known",
		 m->cell.wait ? ": " : "", m->cell.wait ? wait_class_word(m->cell.wait) : "",
		 mixed ? ", with others in this microsecond" : "");
	view_write_fact(j, "state", text);
	view_write_fact_time(j, "from", m->from - l->time);
	view_write_fact_time(j, "to", m->to - l->time);
	view_write_fact(j, "length", show_duration(m->to - m->from, length, sizeof(length)));
	if (is_cpu(l, m->lane) && m->cell.thread)
		view_write_fact(
			j, "thread",
			view_write_thread_name(l, view_thread_of_id(l, m->cell.thread), text));
	if (m->cpu) {
		snprintf(text, sizeof(text), "CPU %" PRIu64, m->cpu - 1);
		view_write_fact(j, "on", text);
	}
	if (m->woke_count) {
		snprintf(text, sizeof(text), "%s%" PRIu64 " times", m->given_up ? "at least " : "",
			 m->woke_count);
		view_write_fact(j, "woke others", text);
	}
	if (m->wakeup.time)
		view_write_fact(
			j, "woken by",
			view_write_thread_name(l, view_thread_of_lane(l, m->wakeup.from), text));
	json_array_end(j);
}

static void write_link(struct json *j, const char *what, const struct lane_thread *t,
		       const struct moment *m, uint64_t time)
{
	const struct lanes *l = &m->view->input.lanes;
	char name[VIEW_NAME_SIZE], text[VIEW_NAME_SIZE + 32];

	json_object(j);
	snprintf(text, sizeof(text), "%s%s", what, view_write_thread_name(l, t, name));
	json_key_text(j, "text", text);
	snprintf(text, sizeof(text), "%" PRIu64, t->lane);
	json_key_text(j, "lane", text);
	json_key_uint(j, "time", time - l->time);
	json_object_end(j);
}

static void write_links(struct json *j, const struct moment *m)
{
	const struct lanes *l = &m->view->input.lanes;
	const struct lane_thread *ran =
		is_cpu(l, m->lane) ? view_thread_of_id(l, m->cell.thread) : NULL;
	const struct lane_thread *waker =
		m->wakeup.time ? view_thread_of_lane(l, m->wakeup.from) : NULL;

	json_key(j, "links");
	json_array(j);
	if (ran && ran->lane)
		write_link(j, "", ran, m, m->time);
	if (waker)
		write_link(j, "woken by ", waker, m, m->wakeup.time);
	for (uint64_t i = 0; i < m->woke_count && i < WOKEN_MAX; i++) {
		const struct lane_thread *woken = view_thread_of_lane(l, m->woke[i].to);

		if (woken)
			write_link(j, "woke ", woken, m, m->woke[i].time);
	}
	json_array_end(j);
}

static int write_moment(const struct moment *m, FILE *out)
{
	const struct lanes *l = &m->view->input.lanes;
	const struct lane_thread *t = view_thread_of_lane(l, m->lane);
	char text[VIEW_NAME_SIZE];
	struct json j;

	json_begin(&j, out, false);
	json_object(&j);
	json_key_text(&j, "title",
		      is_cpu(l, m->lane) || !t ? "" : view_write_thread_name(l, t, text));
	write_facts(&j, m);
	write_links(&j, m);
	json_key(&j, "stack");
	if (t && m->ran) {
		/* its sample is taken when it runs, some microseconds after the switch */
		uint64_t to = m->to - l->time;
		const struct view_wait ended = {.time = to > NEAR ? to - NEAR : 0,
						.end = m->ran + SAMPLE_LATE - l->time};

		view_write_wait_stack(&j, m->view, m->asked, t, &ended);
	} else {
		json_array(&j);
		json_array_end(&j);
	}
	json_key(&j, "chain"); /* whether there may be one: see view_answer_chain() */
	json_bool(&j, t && m->cell.state);
	json_key_uint(&j, "from", m->from - l->time);
	json_key_uint(&j, "to", m->to - l->time);
	json_object_end(&j);
	return json_end(&j);
}

int view_find_wait(struct view_server *v, const struct http_request *q, struct view_wait *w,
		   struct error *err)
{
	struct moment m = {.view = v, .asked = q, .lane = w->lane, .time = w->time};
	int ret = 0;

	for (unsigned int i = 0; i < BEFORE_MAX && !ret && !http_request_expired(q); i++) {
		ret = find_state(&m, err);
		if (ret < 0 || m.cell.state == STATE_NONE)
			break;
		if (m.cell.state != STATE_RUNNING && m.cell.state != STATE_RUNNABLE &&
		    m.cell.state != STATE_PREEMPTED) {
			w->time = m.from;
			w->end = m.to;
			w->state = m.cell.state;
			w->wait = m.cell.wait;
			ret = find_wakeup(&m, m.to, err);
			w->wakeup = m.wakeup;
			return ret ? ret : 1;
		}
		if (m.from <= v->input.lanes.time)
			break;
		m.time = m.from - 1;
	}
	return ret;
}

static int read_moment(struct view_server *v, const struct http_request *q, struct moment *m)
{
	const struct lanes *l = &v->input.lanes;
	int ret = view_read_lane(v, q, &m->lane, &m->row);

	if (!ret)
		ret = http_request_number(q, "time", &m->time);
	if (ret < 0 || !lane_owners_find(&l->entities.owners, m->lane).kind ||
	    m->time >= l->end - l->time)
		return -EINVAL;
	m->view = v;
	m->asked = q;
	m->time += l->time;
	return 0;
}

static bool is_lane_with_acts(const struct moment *m)
{
	uint64_t kind = lane_owners_find(&m->view->input.lanes.entities.owners, m->lane).kind;

	return kind == LANE_RUNTIME || kind == LANE_HANDLERS;
}

int view_answer_at(void *context, const struct http_request *q, struct http_answer *a)
{
	struct view_server *v = context;
	struct error err = {""};
	struct moment m = {0};
	FILE *out;
	int ret;

	if (view_is_of_counter(v, q))
		return view_answer_counter(v, q, a);
	if (read_moment(v, q, &m) < 0)
		return http_answer_text(a, 400, "lane, time: of a lane and in the recording");
	ret = view_begin_reading(v, q);
	if (ret < 0)
		return ret;
	ret = is_lane_with_acts(&m) ? 0 : find_moment(&m, &err);
	pthread_mutex_unlock(v->reading);
	if (ret < 0)
		return view_answer_error(a, ret, &err);
	out = open_memstream(&a->body, &a->size);
	if (!out)
		return -ENOMEM;
	a->type = "application/json";
	ret = is_lane_with_acts(&m) ? view_write_act(&v->input.lanes, m.lane, m.time, out)
				    : write_moment(&m, out);
	return fclose(out) && !ret ? -ENOMEM : ret;
}
