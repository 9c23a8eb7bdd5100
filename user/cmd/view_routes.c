// SPDX-License-Identifier: Apache-2.0
/* The routes of skein view: the page, the lanes of the trace, and how they look in a range. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/view.h"

#ifndef SKEIN_VERSION
#define SKEIN_VERSION "unknown"
#endif

#define TYPE_JSON "application/json"

int view_answer_error(struct http_answer *a, int ret, const struct error *err)
{
	return http_answer_text(a, ret == -EINVAL ? 400 : 503, "%s", err->text);
}

int view_begin_reading(struct view_server *v, const struct http_request *q)
{
	pthread_mutex_lock(v->reading);
	if (!http_request_expired(q))
		return 0;
	pthread_mutex_unlock(v->reading);
	return -ECANCELED;
}

/* The page holds nothing of the trace, so that it needs no token. */
static int answer_page(void *context, const struct http_request *q, struct http_answer *a)
{
	const struct view_server *v = context;

	(void)q;
	a->type = "text/html; charset=utf-8";
	a->policy = v->shell->policy;
	a->size = v->shell->size;
	a->body = malloc(a->size);
	if (!a->body)
		return -ENOMEM;
	memcpy(a->body, v->shell->page, a->size);
	return 0;
}

static int answer_trace(void *context, const struct http_request *q, struct http_answer *a)
{
	struct view_server *v = context;
	int64_t after = 0;
	bool known = v->above && view_begins_after(v->above, v, &after);
	const struct view_about about = {
		.version = SKEIN_VERSION,
		.subject = v->subject,
		.kernel = v->kernel ? v->kernel : "",
		.warning = v->warning ? v->warning : "",
		.utc = v->utc,
		.usual = v->lanes,
		.file = v->path,
		.traces = v->traces,
		.after = known ? &after : NULL,
	};
	const char *word = http_request_text(q, "by");
	enum lanes_by by = v->lanes;
	FILE *out;
	int ret;

	if (word && lanes_by_find(word, &by) < 0)
		return http_answer_text(a, 400, "by: what lanes of threads show");
	out = open_memstream(&a->body, &a->size);
	if (!out)
		return -ENOMEM;
	a->type = TYPE_JSON;
	ret = view_write_trace(&v->input.lanes, &about, by, out);
	return fclose(out) && !ret ? -ENOMEM : ret;
}

/* Read the numbers of a range and the columns of a window. Return 0 or a negative errno. */
static int read_window_request(const struct http_request *q, struct view_range *r)
{
	uint64_t columns = 0;
	int ret = http_request_number(q, "from", &r->from);

	if (!ret)
		ret = http_request_number(q, "to", &r->to);
	if (!ret)
		ret = http_request_number(q, "columns", &columns);
	r->columns = columns <= VIEW_COLUMNS_MAX ? (unsigned int)columns : 0;
	r->names = http_request_text(q, "lanes");
	return ret ? ret : r->names ? 0 : -ENOENT;
}

static bool window_expired(const void *request)
{
	return http_request_expired(request);
}

static int answer_window(void *context, const struct http_request *q, struct http_answer *a)
{
	struct view_server *v = context;
	struct error err = {""};
	struct view_range range;
	uint8_t *body = NULL;
	int ret;

	if (read_window_request(q, &range) < 0)
		return http_answer_text(a, 400, "from, to, columns: numbers; lanes: a list");
	range.expired = window_expired;
	range.context = q;
	ret = view_begin_reading(v, q);
	if (ret < 0)
		return ret;
	ret = view_window(&v->input.lanes, &range, &body, &a->size, &err);
	pthread_mutex_unlock(v->reading);
	if (ret < 0)
		return view_answer_error(a, ret, &err);
	a->type = "application/octet-stream";
	a->body = (char *)body;
	return 0;
}

const struct http_route view_routes[] = {
	{.path = "/", .open = true, .answer = answer_page},
	{.path = "/api/trace", .answer = answer_trace},
	{.path = "/api/window", .answer = answer_window},
	{.path = "/api/profile", .answer = view_answer_profile},
	{.path = "/api/report", .answer = view_answer_report},
	{.path = "/api/marks", .answer = view_answer_marks},
	{.path = "/api/at", .answer = view_answer_at},
	{.path = "/api/chain", .answer = view_answer_chain},
};
const size_t view_route_count = sizeof(view_routes) / sizeof(view_routes[0]);
