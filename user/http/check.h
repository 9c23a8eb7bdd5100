/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of a request's header. libmicrohttpd alone accepts nearly all of what is refused here:
 *
 * - methods other than GET and HEAD, or POST where that is asked for, and versions other than
 * HTTP/1.0 and 1.1;
 * - anything but exactly one Host, and a Host that is not of this machine: a page of the name
 *   evil.example may let that name point to 127.0.0.1 (DNS rebinding), but its browser then sends
 *   the name. Any port is accepted, because `ssh -L` may use another one at its other end;
 * - an Origin other than this server's, and a Sec-Fetch-Site that says that another page sent the
 *   request. An open route may be the target of a link, which is a navigation, from anywhere;
 * - any body, because two lengths that contradict each other split one request into two;
 * - two tokens, or one that is wrong or missing for a route that is not open.
 *
 * A configuration may relax the rules of Host and token (struct http_access).
 */
#ifndef SKEIN_HTTP_CHECK_H
#define SKEIN_HTTP_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "http/refusal.h"

/* The headers that matter here. */
enum http_head {
	HTTP_HOST,
	HTTP_ORIGIN,
	HTTP_TOKEN,
	HTTP_AUTHORIZATION,
	HTTP_ACCEPT,
	HTTP_SITE,
	HTTP_MODE,
	HTTP_DESTINATION,
	HTTP_CONTENT_LENGTH,
	HTTP_TRANSFER_ENCODING,
	HTTP_HEADS
};

struct http_heads {
	const char *values[HTTP_HEADS]; /* NULL if absent */
	bool repeated; /* one of them came twice */
	bool post; /* they are of a POST, which may have a body of no bytes */
};

/* Note a header field. The value must stay as it is while h is used. */
void http_heads_add(struct http_heads *h, const char *name, const char *value);

/* Return why a request line is refused, or NULL. post: whether the route takes POST only. */
const struct http_refusal *http_check_line(const char *method, const char *version, bool post);

/*
 * Return why a header is refused, or NULL. open: whether the route needs no token; token is the
 * random one, which counts unless a has another or asks for none.
 */
struct http_access;
const struct http_refusal *http_check_heads(const struct http_heads *h, bool open,
					    const struct http_access *a, const char *token);

/* Return whether a Host is localhost, 127.0.0.1 or [::1], with any port or none. */
bool http_host_is_local(const char *host);

/*
 * Compare in a time that depends on the length of given, but not on how much of it is right. given
 * may be NULL.
 */
bool http_token_equal(const char *token, const char *given);

#endif
