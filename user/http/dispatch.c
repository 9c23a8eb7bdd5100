// SPDX-License-Identifier: Apache-2.0
/*
 * What becomes of a request, as libmicrohttpd reports its progress. All of this runs on the
 * server's one thread:
 *
 *   http_begin_request      its first line is there
 *   http_continue_request   its header is there (it is checked); then the whole of it (a worker
 *                           gets it, and the connection is suspended until server.c resumes it);
 *                           then the connection has been resumed (the answer is sent)
 *   http_end_request        the answer has been sent, or the connection has failed
 */
#include <stdlib.h>
#include <string.h>

#include "http/answer.h"
#include "http/check.h"
#include "http/server_private.h"

static const struct http_refusal bad_line = {.status = 400,
					     .text = "the first line cannot be read"},
				 no_route = {.status = 404, .text = "there is no such page"},
				 all_busy = {.status = 503, .text = "the server is busy"};

void http_notice_connection(void *cls, struct MHD_Connection *mhd, void **context,
			    enum MHD_ConnectionNotificationCode code)
{
	struct http_server *s = cls;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		http_connection_close(*context);
		return;
	}
	*context = http_connection_open(
		&s->connections,
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
}

/* Without memory, or without a place for the connection, there is no request to go on with. */
void *http_begin_request(void *cls, const char *target, struct MHD_Connection *mhd)
{
	struct http_server *s = cls;
	struct http_request *q;
	struct http_connection *c =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;

	if (!c || !target)
		return NULL;
	q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->mhd = mhd;
	q->connection = c;
	q->config = &s->config;
	q->stopping = &s->stopping;
	q->raw = (uintptr_t)target;
	q->raw_length = strlen(target);
	q->refused = http_target_parse(&q->target, target);
	return q;
}

/* Parameters are decoded in target.c; the library's own decoding would accept a NUL. */
size_t http_leave_escaped(void *cls, struct MHD_Connection *mhd, char *text)
{
	(void)cls;
	(void)mhd;
	return strlen(text);
}

static const struct http_route *find_route(const struct http_config *c, const char *path)
{
	for (size_t i = 0; i < c->route_count; i++)
		if (strcmp(c->routes[i].path, path) == 0)
			return &c->routes[i];
	return NULL;
}

static enum MHD_Result add_head_field(void *cls, enum MHD_ValueKind kind, const char *name,
				      const char *value)
{
	(void)kind;
	http_heads_add(cls, name, value);
	return MHD_YES;
}

/*
 * Return whether the target had a NUL, which ends it for the library. Its lines stay in one buffer,
 * the version is one blank after the target.
 */
static bool has_nul(const struct http_request *q, const char *version)
{
	return (uintptr_t)version - q->raw != q->raw_length + 1;
}

static const struct http_refusal *check_request(struct http_server *s, struct http_request *q,
						const char *method, const char *version)
{
	const struct http_refusal *refused;
	struct http_heads heads = {0};

	q->route = q->refused ? NULL : find_route(&s->config, q->target.text);
	refused = http_check_line(method, version, q->route && q->route->post);
	if (refused || q->refused)
		return refused ? refused : q->refused;
	if (has_nul(q, version))
		return &bad_line;
	heads.post = q->route && q->route->post;
	MHD_get_connection_values(q->mhd, MHD_HEADER_KIND, add_head_field, &heads);
	q->accept = heads.values[HTTP_ACCEPT];
	refused =
		http_check_heads(&heads, !q->route || q->route->open, &s->config.access, s->token);
	return !refused && !q->route ? &no_route : refused;
}

static enum MHD_Result refuse_request(struct http_server *s, struct http_request *q,
				      const struct http_refusal *refused)
{
	atomic_fetch_add(&s->refused, 1);
	http_connection_begin(&s->connections, q->connection, HTTP_SENDING);
	return http_refusal_send(q->mhd, refused);
}

static enum MHD_Result give_request(struct http_server *s, struct http_request *q)
{
	if (!http_workers_give(&s->workers, q))
		return refuse_request(s, q, &all_busy);
	q->stage = HTTP_GIVEN;
	http_connection_begin(&s->connections, q->connection, HTTP_BUSY);
	MHD_suspend_connection(q->mhd);
	return MHD_YES;
}

enum MHD_Result http_continue_request(void *cls, struct MHD_Connection *mhd, const char *url,
				      const char *method, const char *version, const char *upload,
				      size_t *upload_size, void **context)
{
	struct http_server *s = cls;
	struct http_request *q = *context;
	const struct http_refusal *refused;

	(void)url;
	(void)upload;
	*upload_size = 0;
	if (!q)
		return MHD_NO;
	switch (q->stage) {
	case HTTP_ARRIVED:
		refused = check_request(s, q, method, version);
		q->stage = HTTP_ACCEPTED;
		return refused ? refuse_request(s, q, refused) : MHD_YES;
	case HTTP_ACCEPTED:
		return give_request(s, q);
	default:
		atomic_fetch_add(&s->answered, 1);
		http_connection_begin(&s->connections, q->connection, HTTP_SENDING);
		return http_answer_send(mhd, &q->answer);
	}
}

void http_end_request(void *cls, struct MHD_Connection *mhd, void **context,
		      enum MHD_RequestTerminationCode code)
{
	struct http_server *s = cls;
	struct http_request *q = *context;

	(void)mhd;
	(void)code;
	if (q)
		http_connection_begin(&s->connections, q->connection, HTTP_WAITING);
	http_request_free(q);
	*context = NULL;
}
