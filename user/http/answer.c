// SPDX-License-Identifier: Apache-2.0
/* Hand an answer to libmicrohttpd (answer.h). */
#include "http/answer.h"

#include <stdlib.h>
#include <string.h>

struct http_head_line {
	const char *name, *value;
};

static enum MHD_Result add_lines(struct MHD_Response *r, const struct http_head_line *lines,
				 size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (lines[i].value &&
		    MHD_add_response_header(r, lines[i].name, lines[i].value) != MHD_YES)
			return MHD_NO;
	return MHD_YES;
}

/* An answer is for this origin only: not for caches, other pages, or guesses at its type. */
static enum MHD_Result add_head(struct MHD_Response *r, const struct http_answer *a)
{
	bool again = a->status == 429 || a->status == 503;
	const struct http_head_line lines[] = {
		{"Content-Type", a->type ? a->type : "application/octet-stream"},
		{"Content-Security-Policy",
		 a->policy ? a->policy : "default-src 'none'; frame-ancestors 'none'"},
		{"X-Content-Type-Options", "nosniff"},
		{"Cache-Control", "no-store"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Retry-After", again ? "1" : NULL},
	};

	return add_lines(r, lines, sizeof(lines) / sizeof(lines[0]));
}

static enum MHD_Result send_response(struct MHD_Connection *mhd, struct MHD_Response *r,
				     const struct http_answer *a,
				     const struct http_refusal *refused)
{
	const struct http_head_line more[] = {{"Connection", refused ? "close" : NULL},
					      {"Allow", refused ? refused->allow : NULL}};
	enum MHD_Result ret = MHD_NO;

	if (add_head(r, a) == MHD_YES && add_lines(r, more, 2) == MHD_YES)
		ret = MHD_queue_response(mhd, a->status, r);
	MHD_destroy_response(r);
	return ret;
}

enum MHD_Result http_answer_send(struct MHD_Connection *mhd, struct http_answer *a)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		a->body ? a->size : 0, a->body ? a->body : "",
		a->body ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);

	if (!r)
		free(a->body);
	a->body = NULL;
	return r ? send_response(mhd, r, a, NULL) : MHD_NO;
}

enum MHD_Result http_refusal_send(struct MHD_Connection *mhd, const struct http_refusal *refused)
{
	struct http_answer a = {.status = refused->status, .type = "text/plain; charset=utf-8"};
	struct MHD_Response *r = MHD_create_response_from_buffer(
		strlen(refused->text), (void *)refused->text, MHD_RESPMEM_PERSISTENT);

	return r ? send_response(mhd, r, &a, refused) : MHD_NO;
}
