// SPDX-License-Identifier: Apache-2.0
/* What skein view answers of a range: the report of exactly that. */
#include "cmd/view_range.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/report.h"

#define EMPTY 204 /* there are no samples */
#define ROUND 4096 /* records that are read before looking whether the request has expired */

static const struct lane_thread *find_thread(const struct view_server *v, uint64_t lane)
{
	const struct lanes *l = &v->input.lanes;

	for (size_t i = 0; i < l->threads.count; i++)
		if (l->threads.items[i].lane == lane)
			return &l->entities.threads.items[l->threads.items[i].thread];
	return NULL;
}

static int select_process(struct view_choice *c, const struct view_server *v, uint64_t process)
{
	const struct lanes_entities *e = &v->input.lanes.entities;

	if (process >= e->processes.count)
		return -EINVAL;
	c->pid = e->processes.items[process].p.pid;
	c->by_pid = true;
	return 0;
}

static int select_thread(struct view_choice *c, const struct view_server *v, uint64_t lane)
{
	const struct lane_thread *t = find_thread(v, lane);

	if (!t)
		return -EINVAL;
	c->tid = t->tid;
	c->by_tid = true;
	return t->process == LANES_NONE ? 0 : select_process(c, v, t->process);
}

/* Read an optional number. Return 1 if it is there, 0 if not, or a negative errno. */
static int read_optional(const struct http_request *q, const char *name, uint64_t *value)
{
	int ret = http_request_number(q, name, value);

	return ret == -ENOENT ? 0 : ret < 0 ? ret : 1;
}

int view_read_choice(const struct view_server *v, const struct http_request *q,
		     struct view_choice *c)
{
	uint64_t process, lane;
	int ret;

	*c = (struct view_choice){0};
	ret = read_optional(q, "from", &c->from);
	if (ret >= 0)
		ret = read_optional(q, "to", &c->to);
	if (ret >= 0 && c->to && c->to < c->from)
		ret = -EINVAL;
	if (ret >= 0)
		ret = read_optional(q, "process", &process);
	if (v->lanes_known && c->to >= v->input.lanes.end - v->input.lanes.time)
		c->to = 0; /* the whole recording has exact sums */
	if (ret > 0)
		ret = select_process(c, v, process);
	if (ret >= 0)
		ret = read_optional(q, "lane", &lane);
	return ret > 0 ? select_thread(c, v, lane) : ret;
}

/* A source that ends when its request has expired. */
struct timed_source {
	struct source source;
	struct source *inner;
	const struct http_request *asked;
};

/* The sink between: it passes all on, and looks at the time now and then. */
struct timed_sink {
	struct sink sink;
	struct sink *to;
	const struct http_request *asked;
	uint64_t seen; /* records */
};

/* Return -ECANCELED if records have come since the last look, and the request has expired. */
static int look_at_time(struct timed_sink *s, uint64_t records, struct error *err)
{
	uint64_t before = s->seen / ROUND;

	s->seen += records;
	return s->seen / ROUND != before && http_request_expired(s->asked)
		       ? error_set(err, -ECANCELED,
				   "this took too long: a shorter range takes less time")
		       : 0;
}

static int timed_put(struct sink *sink, enum record_kind kind, const void *record,
		     struct error *err)
{
	struct timed_sink *s = (struct timed_sink *)sink;
	int ret = look_at_time(s, 1, err);

	return ret ? ret : sink_put(s->to, kind, record, err);
}

static int timed_put_many(struct sink *sink, enum record_kind kind, const void *records,
			  size_t count, struct error *err)
{
	struct timed_sink *s = (struct timed_sink *)sink;
	int ret = look_at_time(s, count, err);

	return ret ? ret : sink_put_many(s->to, kind, records, count, err);
}

static const struct sink_ops timed_sink_ops = {.put = timed_put, .put_many = timed_put_many};

static int timed_run(struct source *source, struct sink *to, struct error *err)
{
	const struct timed_source *s = (const struct timed_source *)source;
	struct timed_sink sink = {
		.sink = {.ops = &timed_sink_ops, .wants = to->wants}, .to = to, .asked = s->asked};

	return s->inner->ops->run(s->inner, &sink.sink, err);
}

static void timed_free(struct source *source)
{
	source_free(((struct timed_source *)source)->inner);
	free(source);
}

static const struct source_ops timed_ops = {.run = timed_run, .free = timed_free};

/* Like filtered_input_open(), and reading ends with -ECANCELED when the request has expired. */
static int timed_input_open(struct filtered_input *in, const char *path, const struct filter *f,
			    const struct http_request *q, struct error *err)
{
	struct timed_source *timed = calloc(1, sizeof(*timed));
	int ret = timed ? trace_open(&in->trace, path, err)
			: error_errno(err, -ENOMEM, "cannot read the records");

	in->path = path;
	in->filter = f;
	if (!ret)
		ret = trace_source(&timed->inner, in->trace, err);
	if (ret < 0) {
		free(timed);
		return ret;
	}
	timed->source.ops = &timed_ops;
	timed->asked = q;
	ret = filter_source(&in->source, &timed->source, f, err);
	if (ret < 0)
		timed_free(&timed->source);
	return ret;
}

static int write_report(FILE *out, const struct view_server *v, const struct profile *p,
			struct filtered_input *in, struct error *err)
{
	const struct report_options o = {.json = true,
					 .by = BY_NOTHING,
					 .limit = LIMIT_UNSET,
					 .least = REPORT_LEAST,
					 .filter = *in->filter};
	struct report r;
	int ret = report_make(&r, v->path, p, &o, err);

	if (ret < 0)
		return ret;
	ret = report_add_parts(&r, in, err);
	if (!ret)
		ret = report_json(&r, out, err);
	report_free(&r);
	return ret;
}

/* Read what is selected and write its report into the body of the answer. */
static int answer_selection(const struct view_server *v, const struct http_request *q,
			    const struct filter *f, struct http_answer *a, struct error *err)
{
	const struct profile_view view = {0};
	struct filtered_input in = {0};
	struct profile *p = NULL;
	int ret = timed_input_open(&in, v->path, f, q, err);
	FILE *out;

	if (!ret)
		ret = profile_read(&p, in.source, &view, err);
	out = ret ? NULL : open_memstream(&a->body, &a->size);
	if (!ret && !out)
		ret = error_errno(err, -ENOMEM, "cannot answer");
	if (!ret)
		ret = write_report(out, v, p, &in, err);
	if (out && fclose(out) && !ret)
		ret = error_errno(err, -ENOMEM, "cannot answer");
	profile_free(p);
	filtered_input_close(&in);
	return ret;
}

/* The answer is that of skein report --json with the same options. */
int view_answer_report(void *context, const struct http_request *q, struct http_answer *a)
{
	const struct view_server *v = context;
	struct filter f = v->everything;
	struct view_choice c;
	struct error err = {""};
	char pid[24], tid[24];
	int ret = view_read_choice(v, q, &c);

	if (ret < 0)
		return http_answer_text(a, 400, VIEW_RANGE_SENSELESS);
	snprintf(pid, sizeof(pid), "%" PRIu64, c.pid);
	snprintf(tid, sizeof(tid), "%" PRIu64, c.tid);
	f.from = c.from;
	f.to = c.to;
	f.pids = c.by_pid ? pid : NULL;
	f.tids = c.by_tid ? tid : NULL;
	ret = answer_selection(v, q, &f, a, &err);
	if (ret == -ENOENT) { /* nothing of what is selected was sampled */
		free(a->body);
		a->body = NULL;
		a->size = 0;
		a->status = EMPTY;
		return 0;
	}
	a->type = "application/json";
	return ret < 0 ? view_answer_error(a, ret, &err) : 0;
}
