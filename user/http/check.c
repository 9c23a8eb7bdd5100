// SPDX-License-Identifier: Apache-2.0
/* The checks of a request's header (check.h). */
#include "http/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/server.h"

static const char *const head_names[HTTP_HEADS] = {
	[HTTP_HOST] = "Host",
	[HTTP_ORIGIN] = "Origin",
	[HTTP_TOKEN] = HTTP_TOKEN_HEADER,
	[HTTP_AUTHORIZATION] = "Authorization",
	[HTTP_ACCEPT] = "Accept",
	[HTTP_SITE] = "Sec-Fetch-Site",
	[HTTP_MODE] = "Sec-Fetch-Mode",
	[HTTP_DESTINATION] = "Sec-Fetch-Dest",
	[HTTP_CONTENT_LENGTH] = "Content-Length",
	[HTTP_TRANSFER_ENCODING] = "Transfer-Encoding",
};

static const struct http_refusal
	bad_method = {.status = 405,
		      .text = "only GET and HEAD are answered",
		      .allow = "GET, HEAD"},
	no_post = {.status = 405, .text = "only POST is answered here", .allow = "POST"},
	bad_version = {.status = 505, .text = "only HTTP/1.0 and HTTP/1.1 are answered"},
	repeated_head = {.status = 400, .text = "a header field came twice"},
	no_host = {.status = 400, .text = "there is no Host"},
	foreign_host = {.status = 403, .text = "this Host is not this machine"},
	has_body = {.status = 400, .text = "a request must have no body"},
	foreign_origin = {.status = 403, .text = "the request comes from a page of another origin"},
	bad_token = {.status = 401, .text = "the token is missing or wrong"};

void http_heads_add(struct http_heads *h, const char *name, const char *value)
{
	for (size_t i = 0; i < HTTP_HEADS; i++) {
		if (strcasecmp(name, head_names[i]) != 0)
			continue;
		/* Several lines of Accept mean one list; its first line is enough. */
		h->repeated |= h->values[i] != NULL && i != HTTP_ACCEPT;
		if (!h->values[i])
			h->values[i] = value ? value : "";
		return;
	}
}

const struct http_refusal *http_check_line(const char *method, const char *version, bool post)
{
	if (post && strcmp(method, "POST") != 0)
		return &no_post;
	if (!post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return &bad_method;
	if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
		return &bad_version;
	return NULL;
}

/* Return whether a text is empty, or a colon and a port. */
static bool is_port(const char *text)
{
	size_t digits;

	if (!*text)
		return true;
	digits = strspn(text + 1, "0123456789");
	return *text == ':' && digits && digits <= 5 && !text[1 + digits] &&
	       atoi(text + 1) <= 65535;
}

bool http_host_is_local(const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);

		if (strncasecmp(host, names[i], length) == 0 && is_port(host + length))
			return true;
	}
	return false;
}

bool http_token_equal(const char *token, const char *given)
{
	size_t length = strlen(token);
	unsigned char differ = 0;

	if (!given || strlen(given) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		differ |= (unsigned char)(token[i] ^ given[i]);
	return !differ;
}

/* Return the token of "Bearer TOKEN" (RFC 6750), or NULL. */
static const char *bearer_of(const char *authorization)
{
	static const char scheme[] = "Bearer ";

	if (!authorization || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return NULL;
	authorization += sizeof(scheme) - 1;
	return authorization + strspn(authorization, " ");
}

static bool has_token(const struct http_heads *h, const struct http_access *a, const char *token)
{
	if (a->bearer)
		return http_token_equal(a->bearer, bearer_of(h->values[HTTP_AUTHORIZATION]));
	return a->no_token || http_token_equal(token, h->values[HTTP_TOKEN]);
}

/*
 * Return whether a browser says that the user followed a link, which shows the answer and hands it
 * to nobody.
 */
static bool is_navigation(const struct http_heads *h)
{
	const char *mode = h->values[HTTP_MODE], *destination = h->values[HTTP_DESTINATION];

	return mode && destination && strcmp(mode, "navigate") == 0 &&
	       strcmp(destination, "document") == 0;
}

static bool is_own_site(const struct http_heads *h, bool open)
{
	const char *site = h->values[HTTP_SITE];

	return !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0 ||
	       (open && is_navigation(h));
}

/* Other ports of this machine are foreign too: other users may have servers there. */
static bool is_own_origin(const struct http_heads *h)
{
	const char *origin = h->values[HTTP_ORIGIN];

	return !origin || (strncasecmp(origin, "http://", 7) == 0 &&
			   strcasecmp(origin + 7, h->values[HTTP_HOST]) == 0);
}

const struct http_refusal *http_check_heads(const struct http_heads *h, bool open,
					    const struct http_access *a, const char *token)
{
	if (h->repeated)
		return &repeated_head;
	if (!h->values[HTTP_HOST])
		return &no_host;
	if (!a->any_host && !http_host_is_local(h->values[HTTP_HOST]))
		return &foreign_host;
	if (h->values[HTTP_TRANSFER_ENCODING] ||
	    (h->values[HTTP_CONTENT_LENGTH] &&
	     !(h->post && strcmp(h->values[HTTP_CONTENT_LENGTH], "0") == 0)))
		return &has_body;
	if (!is_own_origin(h) || !is_own_site(h, open))
		return &foreign_origin;
	if (!open && !has_token(h, a, token))
		return &bad_token;
	return NULL;
}
