// SPDX-License-Identifier: Apache-2.0
/* Where functions ran: marks on the lanes of the threads and CPUs whose samples have them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "cmd/view_samples.h"

#define COLUMNS_MAX 4096
#define CELLS_MAX (4u << 20) /* columns of all lanes of an answer, 4 bytes each */
#define NAME_SIZE 1024
#define LEVEL_ALL 63 /* all samples of a column have the function; 0: none has */
#define LEVEL_LETTER '0' /* of level 0; the others follow it in ASCII */

/* The samples of a lane in a column. */
struct mark_cell {
	uint16_t found, all; /* both are halved when all is full */
};

/*
 * The lanes of the page on which a sample is marked: that of its thread, CPU and process, and the
 * one that its thread shares with others.
 */
enum mark_kind { MARK_THREAD, MARK_CPU, MARK_PROCESS, MARK_SHARED, MARK_KIND_COUNT };

struct mark_lane {
	uint64_t number; /* after its letter: lane.id, number of a process, or of a row */
	enum mark_kind kind;
	struct mark_cell *cells; /* NULL: no sample, or no room for its marks */
	bool found; /* a sample has the function */
};

struct marks {
	const struct view_server *view;
	const struct http_request *asked;
	uint8_t *hits; /* by stack of view->names: 1 if it has the function */
	bool known; /* a function has such a name */
	uint64_t time, end; /* ns, both inclusive */
	unsigned int columns;
	enum lanes_by by; /* what lanes of threads show */
	struct index cpus; /* number of the CPU + 1 -> index in the rows of CPUs */
	struct index shared; /* lane.id of a thread -> number of the row that it shares */
	struct index by_number[MARK_KIND_COUNT]; /* number + 1 -> index in lanes */
	VECTOR(struct mark_lane) lanes;
	size_t cells; /* of all lanes */
	uint64_t found, all; /* samples */
	uint64_t threads; /* with the function */
	uint64_t left_out; /* lanes without room for their marks */
};

static bool frame_matches(const struct profile *p, uint32_t frame, const struct pattern *pattern)
{
	char name[NAME_SIZE];

	return pattern_matches(pattern, profile_frame_name(p, frame, name, sizeof(name))) ||
	       pattern_matches(pattern, profile_module_name(p, p->frames[frame].mapping));
}

/* Find the stacks that have a function, or a module, whose name matches. */
static int find_hits(struct marks *m, const struct pattern *pattern)
{
	const struct profile *p = m->view->names;
	uint8_t *frames = calloc((size_t)p->count.frames + 1, 1);

	m->hits = calloc((size_t)p->count.stacks + 1, 1);
	if (!frames || !m->hits) {
		free(frames);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < p->count.frames; i++) {
		frames[i] = frame_matches(p, i, pattern);
		m->known |= frames[i];
	}
	for (uint32_t i = 0; i < p->count.stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		m->hits[i] = (s->parent != PROFILE_NONE && m->hits[s->parent]) ||
			     (s->frame != PROFILE_NONE && frames[s->frame]);
	}
	free(frames);
	return 0;
}

/* In a trace of several hosts, the number of a CPU does not say whose it is: no marks there. */
static int find_cpus(struct marks *m)
{
	const lane_rows_t *cpus = &m->view->input.lanes.cpus;
	int ret = 0;

	for (size_t i = 0; i < cpus->count && m->view->names->count.hosts < 2 && !ret; i++)
		ret = index_put(&m->cpus, cpus->items[i].cpu + 1, (uint32_t)i);
	return ret;
}

/* Find which threads share a lane, as the page shows them. */
static int find_shared(struct marks *m)
{
	const lane_rows_t *rows = lanes_rows_by(&m->view->input.lanes, m->by);
	int ret = 0;

	for (size_t i = 0; i < rows->count; i++)
		for (size_t k = 0; k < rows->items[i].parts.count && !ret; k++)
			ret = rows->items[i].parts.count < 2
				      ? 0
				      : index_put(&m->shared, rows->items[i].parts.items[k].lane,
						  (uint32_t)i);
	return ret;
}

/* Find the lane of a number, which may be new. */
static int find_mark_lane(struct marks *m, enum mark_kind kind, uint64_t number, uint32_t *out)
{
	const struct mark_lane made = {.number = number, .kind = kind};

	*out = index_get(&m->by_number[kind], number + 1);
	if (*out != INDEX_NONE)
		return 0;
	if (vector_push(&m->lanes, made) < 0)
		return -ENOMEM;
	*out = (uint32_t)m->lanes.count - 1;
	return index_put(&m->by_number[kind], number + 1, *out);
}

/* Make room for the marks of a lane, unless those of others take too much. */
static int make_cells(struct marks *m, struct mark_lane *l)
{
	if (l->cells || m->cells + m->columns > CELLS_MAX)
		return 0;
	l->cells = calloc(m->columns, sizeof(*l->cells));
	m->cells += m->columns;
	return l->cells ? 0 : -ENOMEM;
}

/* Count a sample in a cell: what is not all stays so, and what is not nothing, too. */
static void count_in_cell(struct mark_cell *c, bool hit)
{
	if (c->all == UINT16_MAX) {
		bool part = c->found < c->all;

		c->all /= 2;
		c->found = (uint16_t)((c->found + 1) / 2);
		if (part && c->found >= c->all)
			c->found = c->all - 1;
	}
	c->all++;
	c->found += hit;
}

/* A sample: in which column it is, and whether it has the function. */
struct marked_sample {
	unsigned int column;
	bool hit;
};

static int mark_on_lane(struct marks *m, enum mark_kind kind, uint64_t number,
			struct marked_sample s)
{
	struct mark_lane *l;
	uint32_t at;
	int ret = find_mark_lane(m, kind, number, &at);

	if (ret < 0)
		return ret;
	l = &m->lanes.items[at];
	ret = make_cells(m, l);
	if (l->cells)
		count_in_cell(&l->cells[s.column], s.hit);
	m->threads += s.hit && kind == MARK_THREAD && !l->found;
	l->found |= s.hit;
	return ret;
}

static int mark_on_thread(struct marks *m, const struct lane_thread *thread, struct marked_sample s)
{
	uint32_t row = index_get(&m->shared, thread->lane);
	int ret = 0;

	if (thread->lane)
		ret = mark_on_lane(m, MARK_THREAD, thread->lane, s);
	if (!ret && row != INDEX_NONE)
		ret = mark_on_lane(m, MARK_SHARED, row, s);
	if (!ret && thread->process != LANES_NONE)
		ret = mark_on_lane(m, MARK_PROCESS, thread->process, s);
	return ret;
}

static int take_marked_sample(void *context, const struct sample *s,
			      const struct lane_thread *thread)
{
	struct marks *m = context;
	uint32_t stack = profile_stack_by_id(m->view->names, s->stack);
	double each = (double)(m->end - m->time) / m->columns;
	struct marked_sample marked = {
		.column = (unsigned int)((double)(s->time - m->time) / each),
		.hit = stack != PROFILE_NONE && m->hits[stack],
	};
	uint32_t cpu = index_get(&m->cpus, s->cpu + 1);
	int ret = 0;

	if (marked.column >= m->columns) /* the end of the range belongs to it */
		marked.column = m->columns - 1;
	m->all++;
	m->found += marked.hit;
	if (thread)
		ret = mark_on_thread(m, thread, marked);
	if (!ret && cpu != INDEX_NONE)
		ret = mark_on_lane(m, MARK_CPU, m->view->input.lanes.cpus.items[cpu].lane, marked);
	return ret;
}

static bool marks_stop(void *context)
{
	return http_request_expired(((const struct marks *)context)->asked);
}

/* Return the name of the event whose samples say where functions ran. */
static const char *usual_event(const struct profile *p)
{
	for (uint32_t i = 0; i < p->count.events; i++)
		if (!event_is_of_waits(p->events[i].name) && !event_is_of_hits(p->events[i].name))
			return p->events[i].name;
	return p->count.events ? p->events[0].name : "";
}

static char level_letter(const struct mark_cell *c)
{
	unsigned int level = c->all ? (unsigned int)c->found * LEVEL_ALL / c->all : 0;

	if (c->found && !level)
		level = 1;
	if (level == LEVEL_ALL && c->found < c->all)
		level = LEVEL_ALL - 1;
	return (char)(LEVEL_LETTER + level);
}

static void write_mark_name(struct json *j, const struct marks *m, const struct mark_lane *l)
{
	char letter = l->kind == MARK_SHARED ? lanes_by_letter(m->by) : 'p';
	bool plain = l->kind == MARK_THREAD || l->kind == MARK_CPU;
	char name[32] = {letter};

	snprintf(name + !plain, sizeof(name) - 1, "%" PRIu64, l->number);
	json_text(j, name);
}

/* Write a lane: its name, the first column with a mark, the levels from there to the last mark. */
static void write_mark_lane(struct json *j, const struct marks *m, const struct mark_lane *l)
{
	char levels[COLUMNS_MAX + 1];
	unsigned int first = 0, end = m->columns;

	while (first < end && !l->cells[first].found)
		first++;
	while (end > first && !l->cells[end - 1].found)
		end--;
	for (unsigned int i = first; i < end; i++)
		levels[i - first] = level_letter(&l->cells[i]);
	levels[end - first] = '\0';
	json_array(j);
	write_mark_name(j, m, l);
	json_uint(j, first);
	json_text(j, levels);
	json_array_end(j);
}

static int write_marks(struct marks *m, double share, FILE *out)
{
	struct json j;

	json_begin(&j, out, false);
	json_object(&j);
	json_key(&j, "known");
	json_bool(&j, m->known);
	json_key_uint(&j, "columns", m->columns);
	json_key_uint(&j, "found", m->found);
	json_key_uint(&j, "samples", m->all);
	json_key_uint(&j, "threads", m->threads);
	json_key_real(&j, "share", share);
	json_key(&j, "lanes");
	json_array(&j);
	for (size_t i = 0; i < m->lanes.count; i++) {
		const struct mark_lane *l = &m->lanes.items[i];

		if (l->found && l->cells)
			write_mark_lane(&j, m, l);
		m->left_out += l->found && !l->cells;
	}
	json_array_end(&j);
	json_key_uint(&j, "left_out", m->left_out);
	json_object_end(&j);
	return json_end(&j);
}

static void free_marks(struct marks *m)
{
	for (size_t i = 0; i < m->lanes.count; i++)
		free(m->lanes.items[i].cells);
	vector_free(&m->lanes);
	index_free(&m->cpus);
	index_free(&m->shared);
	for (int i = 0; i < MARK_KIND_COUNT; i++)
		index_free(&m->by_number[i]);
	free(m->hits);
}

/* Read the range, the columns and the choice of lanes. Return 0 or a negative errno. */
static int read_marks_request(const struct http_request *q, struct view_choice *c, struct marks *m)
{
	uint64_t start = m->view->names->count.hosts ? m->view->names->hosts[0].start : 0;
	const char *by = http_request_text(q, "by");
	uint64_t columns = 0;
	int ret = by ? lanes_by_find(by, &m->by) : 0;

	if (!ret)
		ret = http_request_number(q, "from", &c->from);
	if (!ret)
		ret = http_request_number(q, "to", &c->to);
	if (!ret)
		ret = http_request_number(q, "columns", &columns);
	if (ret || c->to <= c->from || !columns || columns > COLUMNS_MAX ||
	    c->to > INT64_MAX - start)
		return -EINVAL;
	m->columns = (unsigned int)columns;
	m->time = start + c->from;
	m->end = start + c->to;
	return 0;
}

/* Read the samples of the range, as far as the time of the request allows, and write the marks. */
static int answer_marks(struct marks *m, const struct view_choice *c, const struct pattern *pattern,
			struct http_answer *a, struct error *err)
{
	struct view_samples samples = {
		.view = m->view,
		.choice = *c,
		.columns = VIEW_COLUMN(stack) | VIEW_COLUMN(cpu),
		.take = take_marked_sample,
		.stop = marks_stop,
		.context = m,
	};
	FILE *out;
	int ret = find_hits(m, pattern);

	if (!ret)
		ret = find_cpus(m);
	if (!ret)
		ret = find_shared(m);
	if (ret < 0)
		return error_errno(err, ret, "cannot look for the function");
	if (m->known)
		ret = view_samples_read(&samples, err);
	if (ret < 0 || http_request_abandoned(m->asked))
		return ret < 0 ? ret : -ECANCELED;
	out = open_memstream(&a->body, &a->size);
	if (!out)
		return error_errno(err, -ENOMEM, "cannot answer");
	a->type = "application/json";
	ret = write_marks(m, m->known ? view_samples_share(&samples) : 1, out);
	return fclose(out) && !ret ? error_errno(err, -ENOMEM, "cannot answer") : ret;
}

int view_answer_marks(void *context, const struct http_request *q, struct http_answer *a)
{
	struct marks m = {.view = context, .asked = q, .by = LANES_BY_THREAD};
	const char *text = http_request_text(q, "text"), *event = http_request_text(q, "event");
	struct view_choice c = {.event = event ? event : usual_event(m.view->names)};
	struct error err = {""};
	struct pattern pattern;
	int ret;

	if (!text || pattern_parse(&pattern, text) < 0)
		return http_answer_text(a, 400,
					"the timeline finds plain texts of at most %d bytes: not "
					"* + ? ( ) [ ] { }",
					PATTERN_LENGTH_MAX);
	if (read_marks_request(q, &c, &m) < 0)
		return http_answer_text(a, 400,
					"from, to, columns: numbers, at most %d columns; by: "
					"what lanes of threads show",
					COLUMNS_MAX);
	ret = answer_marks(&m, &c, &pattern, a, &err);
	free_marks(&m);
	return ret < 0 ? view_answer_error(a, ret, &err) : 0;
}
