// SPDX-License-Identifier: Apache-2.0
/* What skein view answers of a range: the profile and the report of exactly that. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/report.h"
#include "cmd/view.h"

#define EMPTY 204 /* there are no samples */

/* A writer of what was read of a selection. */
typedef int selection_writer(FILE *out, const struct view_server *v, const struct profile *p,
			     struct filtered_input *in, struct error *err);

/* A range, which process or thread it is limited to, and what is written of it. */
struct view_selection {
	struct filter filter;
	char pid[24], tid[24]; /* texts of the filter */
	selection_writer *write;
};

static const struct lane_thread *find_thread(const struct view_server *v, uint64_t lane)
{
	const struct lanes *l = &v->input.lanes;

	for (size_t i = 0; i < l->threads.count; i++)
		if (l->threads.items[i].lane == lane)
			return &l->entities.threads.items[l->threads.items[i].thread];
	return NULL;
}

static int select_process(struct view_selection *s, const struct view_server *v, uint64_t process)
{
	const struct lanes_entities *c = &v->input.lanes.entities;

	if (process >= c->processes.count)
		return -EINVAL;
	snprintf(s->pid, sizeof(s->pid), "%" PRIu64, c->processes.items[process].p.pid);
	s->filter.pids = s->pid;
	return 0;
}

static int select_thread(struct view_selection *s, const struct view_server *v, uint64_t lane)
{
	const struct lane_thread *t = find_thread(v, lane);

	if (!t)
		return -EINVAL;
	snprintf(s->tid, sizeof(s->tid), "%" PRIu64, t->tid);
	s->filter.tids = s->tid;
	return t->process == LANES_NONE ? 0 : select_process(s, v, t->process);
}

/* Read an optional number. Return 1 if it is there, 0 if not, or a negative errno. */
static int read_optional(const struct http_request *q, const char *name, uint64_t *value)
{
	int ret = http_request_number(q, name, value);

	return ret == -ENOENT ? 0 : ret < 0 ? ret : 1;
}

static int read_selection(const struct view_server *v, const struct http_request *q,
			  struct view_selection *s)
{
	uint64_t process, lane;
	int ret = read_optional(q, "from", &s->filter.from);

	if (ret >= 0)
		ret = read_optional(q, "to", &s->filter.to);
	if (ret >= 0)
		ret = read_optional(q, "process", &process);
	if (v->lanes_known && s->filter.to >= v->input.lanes.end - v->input.lanes.time)
		s->filter.to = 0; /* the whole recording has exact sums */
	if (ret > 0)
		ret = select_process(s, v, process);
	if (ret >= 0)
		ret = read_optional(q, "lane", &lane);
	return ret > 0 ? select_thread(s, v, lane) : ret;
}

static int write_profile(FILE *out, const struct view_server *v, const struct profile *p,
			 struct filtered_input *in, struct error *err)
{
	const struct export_options o = {.from = in->filter->from, .to = in->filter->to};

	(void)v;
	return html_write_profile(out, p, &o, err);
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

/* Read what is selected and write it into the body of the answer. */
static int answer_selection(const struct view_server *v, const struct http_request *q,
			    const struct view_selection *s, struct http_answer *a,
			    struct error *err)
{
	const struct profile_view view = {0};
	struct filtered_input in = {0};
	struct profile *p = NULL;
	int ret = filtered_input_open(&in, v->path, &s->filter, err);
	FILE *out;

	if (!ret)
		ret = filtered_input_read_profile(&p, &in, &view, err);
	if (!ret && http_request_expired(q))
		ret = error_set(err, -ECANCELED, "given up: a shorter range takes less time");
	out = ret ? NULL : open_memstream(&a->body, &a->size);
	if (!ret && !out)
		ret = error_errno(err, -ENOMEM, "cannot answer");
	if (!ret)
		ret = s->write(out, v, p, &in, err);
	if (out && fclose(out) && !ret)
		ret = error_errno(err, -ENOMEM, "cannot answer");
	profile_free(p);
	filtered_input_close(&in);
	return ret;
}

static int answer_range(struct view_server *v, const struct http_request *q,
			selection_writer *write, struct http_answer *a)
{
	struct view_selection s = {.filter = v->everything, .write = write};
	struct error err = {""};
	int ret = read_selection(v, q, &s);

	if (ret < 0)
		return http_answer_text(a, 400,
					"from, to, process, lane: numbers, of what is there");
	ret = answer_selection(v, q, &s, a, &err);
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

int view_answer_profile(void *context, const struct http_request *q, struct http_answer *a)
{
	return answer_range(context, q, write_profile, a);
}

/* The answer is that of skein report --json with the same options. */
int view_answer_report(void *context, const struct http_request *q, struct http_answer *a)
{
	return answer_range(context, q, write_report, a);
}
