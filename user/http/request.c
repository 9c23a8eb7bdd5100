// SPDX-License-Identifier: Apache-2.0
/* What a handler learns of its request, and how it is run (request.h). */
#include "http/request.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec used = {0};

	clock_gettime(clock, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Browsers close connections whole, so an end of the client's data is the end of the client. */
static bool client_is_gone(const struct http_request *q)
{
	struct pollfd p = {.fd = q->connection->fd, .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0;
}

bool http_request_abandoned(const struct http_request *q)
{
	return atomic_load(q->stopping) || client_is_gone(q);
}

bool http_request_expired(const struct http_request *q)
{
	return cpu_ns(q->clock) - q->began >= q->config->cpu_ms * UINT64_C(1000000) ||
	       http_request_abandoned(q);
}

const char *http_request_text(const struct http_request *q, const char *name)
{
	return http_target_find(&q->target, name);
}

const char *http_request_accept(const struct http_request *q)
{
	return q->accept ? q->accept : "";
}

int http_request_number(const struct http_request *q, const char *name, uint64_t *value)
{
	const char *text = http_target_find(&q->target, name);

	return text ? http_number_parse(text, value) : -ENOENT;
}

int http_answer_text(struct http_answer *a, unsigned int status, const char *format, ...)
{
	va_list arguments;
	char *body;
	int size;

	va_start(arguments, format);
	size = vasprintf(&body, format, arguments);
	va_end(arguments);
	if (size < 0)
		return -ENOMEM;
	free(a->body);
	*a = (struct http_answer){.status = status, .type = "text/plain; charset=utf-8"};
	a->body = body;
	a->size = (size_t)size;
	return 0;
}

/* Without memory for a text the answer is its status alone. */
static void answer_with_error(struct http_request *q, int code)
{
	unsigned int status = http_request_expired(q) ? 503 : 500;

	free(q->answer.body);
	q->answer = (struct http_answer){.status = status};
	http_answer_text(&q->answer, status, "%s",
			 status == 503 ? "this took too long" : strerrordesc_np(-code));
}

/* Return the context for the handler; NULL if the request has its answer without it. */
static void *context_of_request(struct http_request *q)
{
	const struct http_config *c = q->config;

	return c->context_of ? c->context_of(c->context, q, &q->answer) : c->context;
}

void http_request_run(struct http_request *q)
{
	void *context;
	int ret = 0;

	q->answer = (struct http_answer){.status = 200};
	pthread_getcpuclockid(pthread_self(), &q->clock);
	q->began = cpu_ns(q->clock);
	context = context_of_request(q);
	if (context || !q->config->context_of)
		ret = q->route->answer(context, q, &q->answer);
	if (ret < 0)
		answer_with_error(q, ret);
}

void http_request_free(struct http_request *q)
{
	if (!q)
		return;
	free(q->answer.body);
	free(q);
}
