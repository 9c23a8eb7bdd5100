// SPDX-License-Identifier: Apache-2.0
/* What the network process answers, by path. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/record.h"
#include "serve/metrics.h"
#include "serve/network_child.h"
#include "serve/network_profile.h"
#include "serve/network_text.h"

#define HTML "text/html; charset=utf-8"
#define PLAIN "text/plain; version=0.0.4; charset=utf-8"
#define OPEN_METRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

static int answer_core_failure(struct http_answer *a, int code)
{
	if (code == -EAGAIN)
		return http_answer_text(a, 503, "skein serve does not record yet\n");
	return code;
}

static int answer_health(void *context, const struct http_request *q, struct http_answer *a)
{
	(void)context;
	(void)q;
	return http_answer_text(a, 200, "ok\n");
}

static int answer_ready(void *context, const struct http_request *q, struct http_answer *a)
{
	struct network_question question = {.kind = ASK_STATE};
	int fd, ret = ask_core(((struct network_child *)context)->asker, &question, q, &fd);

	if (fd >= 0)
		close(fd);
	return ret ? answer_core_failure(a, ret) : http_answer_text(a, 200, "ready\n");
}

/* Add the network process's own part. */
static void write_network_metrics(const struct metrics_page *m, const struct http_counts *c)
{
	metric_count(m, "skein_http_answered", "Requests that were answered.", c->answered);
	metric_count(m, "skein_http_refused", "Requests that were refused.", c->refused);
	metric_count(m, "skein_http_shut",
		     "Connections that were closed because they were late or too many.", c->shut);
	if (m->open)
		fputs("# EOF\n", m->out);
}

static int answer_metrics(void *context, const struct http_request *q, struct http_answer *a)
{
	const struct network_child *c = context;
	struct metrics_page m = {
		.open = strstr(http_request_accept(q), "application/openmetrics-text") != NULL};
	struct network_question question = {.kind = ASK_METRICS, .open_metrics = m.open};
	struct http_counts counts;
	struct network_text text;
	int ret = network_ask_text(c->asker, &question, q, METRICS_MAX, &text);

	if (ret)
		return answer_core_failure(a, ret);
	m.out = open_memstream(&a->body, &a->size);
	if (!m.out) {
		free(text.text);
		return -ENOMEM;
	}
	fwrite(text.text, 1, text.size, m.out);
	free(text.text);
	http_server_counts(c->http, &counts);
	write_network_metrics(&m, &counts);
	a->type = m.open ? OPEN_METRICS : PLAIN;
	return fclose(m.out) ? -ENOMEM : 0;
}

/* Answer with the windows, as write() shows them. */
static int answer_with_windows(const struct network_child *c, const struct http_request *q,
			       struct http_answer *a,
			       void (*write)(const struct network_windows *w, FILE *out))
{
	struct network_windows w = {0};
	int ret = network_windows_get(c->asker, q, &w);
	FILE *out = ret ? NULL : open_memstream(&a->body, &a->size);

	if (!ret && !out)
		ret = -ENOMEM;
	if (!ret) {
		write(&w, out);
		ret = fclose(out) ? -ENOMEM : 0;
	}
	vector_free(&w.list);
	return answer_core_failure(a, ret);
}

static int answer_windows(void *context, const struct http_request *q, struct http_answer *a)
{
	a->type = "application/json";
	return answer_with_windows(context, q, a, network_windows_write);
}

static int answer_index(void *context, const struct http_request *q, struct http_answer *a)
{
	a->type = HTML;
	a->policy = NETWORK_INDEX_POLICY;
	return answer_with_windows(context, q, a, network_index_write);
}

static int answer_pprof_index(void *context, const struct http_request *q, struct http_answer *a)
{
	(void)context;
	(void)q;
	return http_answer_text(a, 200,
				"profile?seconds=30   CPU time of all processes, in the next "
				"seconds\nprofile?last=1h      CPU time in the windows of the last "
				"hour\nwall?seconds=10      wall time of all threads, on CPUs and "
				"waiting, in the next seconds\n");
}

static int answer_pprof(void *context, const struct http_request *q, struct http_answer *a)
{
	static const struct network_profile_kind kind = {"pprof", "seconds", EVENT_CPU_CLOCK};

	return network_profile_answer(context, q, &kind, a);
}

static int answer_wall(void *context, const struct http_request *q, struct http_answer *a)
{
	static const struct network_profile_kind kind = {"pprof", "seconds", EVENT_WALL};

	return network_profile_answer(context, q, &kind, a);
}

static int answer_folded(void *context, const struct http_request *q, struct http_answer *a)
{
	static const struct network_profile_kind kind = {"folded", "last", EVENT_CPU_CLOCK};

	return network_profile_answer(context, q, &kind, a);
}

static int answer_flame_graph(void *context, const struct http_request *q, struct http_answer *a)
{
	static const struct network_profile_kind kind = {"html", "last", EVENT_CPU_CLOCK};
	int ret = network_profile_answer(context, q, &kind, a);

	if (!ret && a->status == 200) {
		a->type = HTML;
		a->policy = NETWORK_PAGE_POLICY;
	}
	return ret;
}

static int answer_trigger(void *context, const struct http_request *q, struct http_answer *a)
{
	struct network_question question = {.kind = ASK_FLIGHT};
	const char *reason = http_request_text(q, "reason");
	struct network_child *c = context;
	int fd, ret;

	if (!c->trusted)
		return http_answer_text(a, 403, "this needs --token-file or a unix socket\n");
	if (!reason)
		reason = "http";
	if (strlen(reason) >= sizeof(question.name))
		return http_answer_text(a, 400, "the reason is too long\n");
	strcpy(question.name, reason);
	ret = ask_core(c->asker, &question, q, &fd);
	if (fd >= 0)
		close(fd);
	switch (ret) {
	case 0:
		return http_answer_text(a, 202, "the flight recorder writes a trace\n");
	case -EINVAL:
		return http_answer_text(a, 400, "a reason has lower-case letters and hyphens\n");
	case -EAGAIN:
		return http_answer_text(a, 429, "the limit of traces is reached\n");
	case -ENODEV:
		return http_answer_text(a, 409, "there is no flight recorder: --keep TIME\n");
	default:
		return ret;
	}
}

const struct http_route network_routes[] = {
	{.path = "/", .answer = answer_index},
	{.path = "/healthz", .open = true, .answer = answer_health},
	{.path = "/readyz", .open = true, .answer = answer_ready},
	{.path = "/metrics", .answer = answer_metrics},
	{.path = "/windows", .answer = answer_windows},
	{.path = "/flamegraph", .answer = answer_flame_graph},
	{.path = "/folded", .answer = answer_folded},
	{.path = "/trigger", .post = true, .answer = answer_trigger},
	{.path = "/debug/pprof/", .answer = answer_pprof_index},
	{.path = "/debug/pprof/profile", .answer = answer_pprof},
	{.path = "/debug/pprof/wall", .answer = answer_wall},
};

const size_t network_route_count = sizeof(network_routes) / sizeof(network_routes[0]);
