// SPDX-License-Identifier: Apache-2.0
/* The HTTP server: which requests it refuses, and what becomes of the others. */
#include "http_client.h"

#include "http/check.h"
#include "http/target.h"

static unsigned int target_status(struct http_target *t, const char *text)
{
	const struct http_refusal *refused = http_target_parse(t, text);

	return refused ? refused->status : 200;
}

START_TEST(parameters_are_decoded)
{
	struct http_target t;

	ck_assert_uint_eq(target_status(&t, "/a/b%20?x=1&y=a+b%2b%26%3d%C3%A9&empty=&flag&z==1"),
			  200);
	ck_assert_str_eq(t.text, "/a/b%20");
	ck_assert_str_eq(http_target_find(&t, "x"), "1");
	ck_assert_str_eq(http_target_find(&t, "y"), "a b+&=\xc3\xa9");
	ck_assert_str_eq(http_target_find(&t, "empty"), "");
	ck_assert_str_eq(http_target_find(&t, "flag"), "");
	ck_assert_str_eq(http_target_find(&t, "z"), "=1");
	ck_assert_ptr_null(http_target_find(&t, "X"));
	ck_assert_ptr_null(http_target_find(&t, ""));
	ck_assert_uint_eq(target_status(&t, "/?"), 200);
	ck_assert_uint_eq(t.count, 0);
}
END_TEST

static const char *const wrong_targets[] = {
	"",
	"a",
	"*",
	"http://localhost/",
	"/\x01",
	"/\x7f",
	"/\xc3\xa9",
	"/ a",
	"/?a=\t",
	"/?a=%",
	"/?a=%4",
	"/?a=%4g",
	"/?a=%g4",
	"/?a=%00",
	"/?a%00=1",
	"/?a=%0a",
	"/?a=%7f",
	"/?a=%ff",
	"/?a=%C2%85",
	"/?a=%C3",
	"/?a=%ED%A0%80",
	"/?a=1&a=2",
	"/?a=1&%61=2",
	"/?=1",
	"/?a=1&&b=2",
};

START_TEST(wrong_targets_are_refused)
{
	char text[HTTP_TARGET_MAX + 8] = "/?";
	struct http_target t;

	for (size_t i = 0; i < sizeof(wrong_targets) / sizeof(wrong_targets[0]); i++)
		ck_assert_msg(target_status(&t, wrong_targets[i]) == 400, "%s", wrong_targets[i]);
	for (int i = 0; i <= HTTP_PARAMETERS_MAX; i++) {
		ck_assert_uint_eq(target_status(&t, text), 200);
		snprintf(text + strlen(text), 8, "p%d&", i);
	}
	ck_assert_uint_eq(target_status(&t, text), 400);
	memset(text, '/', sizeof(text));
	text[HTTP_TARGET_MAX] = '\0';
	ck_assert_uint_eq(target_status(&t, text), 200);
	text[HTTP_TARGET_MAX] = '/';
	text[HTTP_TARGET_MAX + 1] = '\0';
	ck_assert_uint_eq(target_status(&t, text), 414);
}
END_TEST

START_TEST(numbers_are_digits)
{
	static const char *const junk[] = {"", " 1", "1 ", "+1", "-1", "0x1", "1.0", "1e3", "1,0"};
	uint64_t number = 5;

	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		ck_assert_int_eq(http_number_parse(junk[i], &number), -EINVAL);
	ck_assert_int_eq(http_number_parse("18446744073709551616", &number), -ERANGE);
	ck_assert_uint_eq(number, 5);
	ck_assert_int_eq(http_number_parse("18446744073709551615", &number), 0);
	ck_assert(number == UINT64_MAX);
	ck_assert_int_eq(http_number_parse("007", &number), 0);
	ck_assert_uint_eq(number, 7);
}
END_TEST

START_TEST(hosts_of_this_machine)
{
	static const char *const own[] = {"localhost",	     "LocalHost:1", "127.0.0.1",
					  "127.0.0.1:65535", "[::1]",	    "[::1]:8080",
					  "localhost:80"};
	static const char *const foreign[] = {"",
					      "localhost.",
					      "localhost.evil.example",
					      "localhost:",
					      "localhost:65536",
					      "localhost:999999",
					      "localhost:80x",
					      "localhost:-1",
					      "localhost: 80",
					      "localhost:80:80",
					      "xlocalhost",
					      "127.0.0.1.nip.io",
					      "127.0.0.2",
					      "127.1",
					      "[::1",
					      "[::1].x",
					      "::1",
					      "evil.example",
					      "evil.example:localhost",
					      "localhost@evil.example",
					      "0.0.0.0"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		ck_assert_msg(http_host_is_local(own[i]), "%s", own[i]);
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		ck_assert_msg(!http_host_is_local(foreign[i]), "%s", foreign[i]);
}
END_TEST

START_TEST(tokens)
{
	const char *token = "0123456789abcdef0123456789abcdef";
	char given[40];

	ck_assert(http_token_equal(token, token));
	ck_assert(!http_token_equal(token, NULL));
	ck_assert(!http_token_equal(token, ""));
	ck_assert(!http_token_equal(token, "0123456789abcdef0123456789abcdef0"));
	ck_assert(!http_token_equal(token, "0123456789ABCDEF0123456789abcdef"));
	for (size_t i = 0; i < HTTP_TOKEN_LENGTH; i++) {
		strcpy(given, token);
		given[i] ^= 1;
		ck_assert(!http_token_equal(token, given));
		strcpy(given, token);
		given[i] = '\0';
		ck_assert(!http_token_equal(token, given));
	}
}
END_TEST

START_TEST(every_server_has_a_token_of_its_own)
{
	char first[HTTP_TOKEN_LENGTH + 1];

	start_patient();
	strcpy(first, http_server_token(server));
	ck_assert_uint_eq(strspn(first, "0123456789abcdef"), HTTP_TOKEN_LENGTH);
	stop();
	start_patient();
	ck_assert_str_ne(first, http_server_token(server));
	stop();
}
END_TEST

#define GET "GET /echo HTTP/1.1\r\n"
#define PAGE "GET / HTTP/1.1\r\n"
#define HOST "Host: localhost\r\n"
#define TOKEN HTTP_TOKEN_HEADER ": $\r\n" /* $ stands for the token */
#define NAVIGATE "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"

static const struct {
	int status;
	const char *text;
} requests[] = {
	{200, GET HOST TOKEN "\r\n"},
	{200, GET "hOST: LOCALHOST:1\r\n" TOKEN "\r\n"},
	{200, GET "Host: 127.0.0.1:99\r\n" TOKEN "\r\n"},
	{200, GET "Host: [::1]\r\n" TOKEN "\r\n"},
	{200, PAGE HOST "\r\n"},
	{200, "GET / HTTP/1.0\r\n" HOST "\r\n"},
	{200, GET HOST TOKEN "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n\r\n"},
	{200, GET "Host: localhost:80\r\n" TOKEN "Origin: http://localhost:80\r\n\r\n"},
	{200, PAGE HOST "Sec-Fetch-Site: none\r\n\r\n"},
	{200, PAGE HOST "Sec-Fetch-Site: cross-site\r\n" NAVIGATE "\r\n"},
	/* no Host, two, and foreign ones */
	{400, GET TOKEN "\r\n"},
	{400, "GET /echo HTTP/1.0\r\n" TOKEN "\r\n"},
	{400, GET HOST HOST TOKEN "\r\n"},
	{400, GET HOST "Host: evil.example\r\n" TOKEN "\r\n"},
	{403, GET "Host: evil.example\r\n" TOKEN "\r\n"},
	{403, GET "Host: localhost.evil.example\r\n" TOKEN "\r\n"},
	{403, PAGE "Host: evil.example:80\r\n\r\n"},
	{403, GET "Host:\r\n" TOKEN "\r\n"},
	/* other pages */
	{403, GET HOST TOKEN "Origin: http://evil.example\r\n\r\n"},
	{403, GET HOST TOKEN "Origin: http://localhost:81\r\n\r\n"},
	{403, GET HOST TOKEN "Origin: https://localhost\r\n\r\n"},
	{403, GET HOST TOKEN "Origin: null\r\n\r\n"},
	{403, GET HOST TOKEN "Origin:\r\n\r\n"},
	{403, PAGE HOST "Origin: null\r\n\r\n"},
	{400, GET HOST TOKEN "Origin: http://localhost\r\nOrigin: http://localhost\r\n\r\n"},
	{403, GET HOST TOKEN "Sec-Fetch-Site: cross-site\r\n\r\n"},
	{403, GET HOST TOKEN "Sec-Fetch-Site: same-site\r\n\r\n"},
	{403, GET HOST TOKEN "Sec-Fetch-Site: cross-site\r\n" NAVIGATE "\r\n"},
	{403, PAGE HOST "Sec-Fetch-Site: cross-site\r\n\r\n"},
	{403, PAGE HOST "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
			"Sec-Fetch-Dest: iframe\r\n\r\n"},
	{400, PAGE HOST "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n\r\n"},
	/* tokens */
	{401, GET HOST "\r\n"},
	{401, GET HOST HTTP_TOKEN_HEADER ":\r\n\r\n"},
	{401, GET HOST HTTP_TOKEN_HEADER ": 00000000000000000000000000000000\r\n\r\n"},
	{401, GET HOST HTTP_TOKEN_HEADER ": $$\r\n\r\n"},
	{400, GET HOST TOKEN TOKEN "\r\n"},
	{401, GET HOST "Cookie: " TOKEN "\r\n"},
	{401, "GET /echo?" HTTP_TOKEN_HEADER "=$ HTTP/1.1\r\n" HOST "\r\n"},
	/* bodies */
	{400, GET HOST TOKEN "Content-Length: 0\r\n\r\n"},
	{400, GET HOST TOKEN "Content-Length: 4\r\n\r\nbody"},
	{400, GET HOST TOKEN "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{400, GET HOST TOKEN "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{400, GET HOST TOKEN "Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody!"},
	{400, GET HOST TOKEN "Content-Length: -1\r\n\r\n"},
	/* methods and versions */
	{405, "POST /echo HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{405, "POST /echo HTTP/1.1\r\n" HOST TOKEN "Content-Length: 4\r\n\r\nbody"},
	{405,
	 "POST /echo HTTP/1.1\r\n" HOST TOKEN "Content-Length: 4\r\nExpect: 100-continue\r\n\r\n"},
	{405, "OPTIONS /echo HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{405, "OPTIONS * HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{405, "TRACE / HTTP/1.1\r\n" HOST "\r\n"},
	{405, "get / HTTP/1.1\r\n" HOST "\r\n"},
	{405, "CONNECT localhost:80 HTTP/1.1\r\n" HOST "\r\n"},
	{400, "GET http://localhost/ HTTP/1.1\r\n" HOST "\r\n"},
	{505, "GET / HTTP/2.0\r\n" HOST "\r\n"},
	/* paths */
	{404, "GET /unknown HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{404, "GET /unknown HTTP/1.1\r\n" HOST "\r\n"},
	{404, "GET /echo/ HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{404, "GET /../echo HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{404, "GET /%65cho HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{404, "GET /echo%00 HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{404, "GET //echo HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{400, "GET /\x01 HTTP/1.1\r\n" HOST "\r\n"},
	{400, "GET /\xff HTTP/1.1\r\n" HOST "\r\n"},
	{400, "GET /echo?text=%00 HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{400, "GET /echo?text=%zz HTTP/1.1\r\n" HOST TOKEN "\r\n"},
	{400, "GET /echo?number=1x HTTP/1.1\r\n" HOST TOKEN "\r\n"},
};

/* Put the token for each $. */
static void fill_token(const char *text, char *out, size_t size)
{
	size_t used = 0;

	for (; *text && used + HTTP_TOKEN_LENGTH < size; text++) {
		if (*text == '$') {
			memcpy(out + used, http_server_token(server), HTTP_TOKEN_LENGTH);
			used += HTTP_TOKEN_LENGTH;
		} else {
			out[used++] = *text;
		}
	}
	out[used] = '\0';
}

/* What a page of this server may do, what caches and other pages may not. */
static void check_protection(const char *head)
{
	static const char *const lines[] = {
		"X-Content-Type-Options: nosniff\r\n", "Cache-Control: no-store\r\n",
		"Referrer-Policy: no-referrer\r\n", "Cross-Origin-Resource-Policy: same-origin\r\n",
		"Content-Security-Policy: "};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(strstr(head, lines[i]), "%s in %s", lines[i], head);
	ck_assert(!strcasestr(head, "Access-Control") && !strcasestr(head, "Set-Cookie"));
}

START_TEST(requests_are_checked)
{
	start_patient();
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		char text[1024];
		struct reply r;

		fill_token(requests[i].text, text, sizeof(text));
		r = request_bytes(text, strlen(text));
		ck_assert_msg(r.status == requests[i].status, "%d, not %d: %s%s", r.status,
			      requests[i].status, text, r.body);
		/* The library itself answers a request without Host, or of a wrong version. */
		if (r.status != 400 && r.status != 505)
			check_protection(r.head);
		ck_assert((r.status == 405) == (strstr(r.head, "Allow: GET, HEAD\r\n") != NULL));
	}
	stop();
}
END_TEST

/* The library sees the first part only: of a path, of a query, of a version. */
START_TEST(nul_in_the_first_line)
{
	static const char *const lines[] = {"GET /echo@ HTTP/1.1",	  "GET /echo@/x HTTP/1.1",
					    "GET /echo@?text=1 HTTP/1.1", "GET /@ HTTP/1.1",
					    "GET /echo?text=1@ HTTP/1.1", "GET @/echo HTTP/1.1",
					    "GET /echo?te@xt=1 HTTP/1.1"};

	start_patient();
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[256], filled[512];
		size_t length;

		snprintf(text, sizeof(text), "%s\r\n" HOST TOKEN "\r\n", lines[i]);
		fill_token(text, filled, sizeof(filled));
		length = strlen(filled);
		*strchr(filled, '@') = '\0';
		ck_assert_int_eq(request_bytes(filled, length).status, 400);
	}
	stop();
}
END_TEST

START_TEST(large_headers_are_refused)
{
	size_t size = 65536;
	char *text = malloc(size);

	start_patient();
	memset(text, 'a', size);
	memcpy(text, PAGE HOST "X: ", strlen(PAGE HOST "X: "));
	memcpy(text + size - 4, "\r\n\r\n", 4);
	ck_assert_int_eq(request_bytes(text, size).status, 431);
	memset(text, 'a', size);
	memcpy(text, "GET /", 5);
	ck_assert_int_eq(request_bytes(text, size).status, 414);
	ck_assert_int_eq(request("GET /", "").status, 200);
	free(text);
	stop();
}
END_TEST

START_TEST(answers)
{
	struct reply r;

	start_patient();
	r = request("GET /", "");
	ck_assert_str_eq(r.body, "<p>page</p>");
	ck_assert(strstr(r.head, "Content-Type: text/html; charset=utf-8\r\n"));
	ck_assert(strstr(r.head, "Content-Security-Policy: default-src 'self'\r\n"));
	r = request("GET /echo?text=a%20b&number=18446744073709551615", "");
	ck_assert_str_eq(r.body, "a b|18446744073709551615");
	ck_assert(strstr(r.head, "Content-Security-Policy: default-src 'none'"));
	r = request("GET /failure", "");
	ck_assert_int_eq(r.status, 500);
	ck_assert_str_eq(r.body, "No such file or directory");
	r = request("GET /later", "");
	ck_assert_int_eq(r.status, 429);
	ck_assert(strstr(r.head, "Retry-After: 1\r\n"));
	stop();
}
END_TEST

/* The context that a parameter chooses: itself, or none. */
static void *chosen_context(void *context, const struct http_request *q, struct http_answer *a)
{
	const char *text = http_request_text(q, "page");

	if (!text)
		return context;
	if (*text)
		return (void *)text;
	http_answer_text(a, 400, "page: one that is there");
	return NULL;
}

START_TEST(a_request_chooses_its_context)
{
	struct http_config c = {.routes = routes, .route_count = 1};
	struct error err = {0};
	struct reply r;

	c.context = "usual";
	c.context_of = chosen_context;
	ck_assert_msg(http_server_start(&server, &c, &err) == 0, "%s", err.text);
	ck_assert_str_eq(request("GET /", "").body, "usual");
	ck_assert_str_eq(request("GET /?page=other", "").body, "other");
	r = request("GET /?page=", "");
	ck_assert_int_eq(r.status, 400);
	ck_assert_str_eq(r.body, "page: one that is there");
	stop();
}
END_TEST

START_TEST(head_has_no_body)
{
	struct reply r;
	int fd;

	start_patient();
	fd = dial();
	put_request(fd, "HEAD /", "");
	r = read_reply(fd, false);
	ck_assert_int_eq(r.status, 200);
	ck_assert(strstr(r.head, "Content-Length: 11\r\n"));
	put_request(fd, "GET /", ""); /* on the same connection: nothing is left of the first */
	ck_assert_str_eq(read_reply(fd, true).body, "<p>page</p>");
	close(fd);
	stop();
}
END_TEST

START_TEST(pipelined_requests_are_answered_in_their_order)
{
	char text[8192] = "", line[64], filled[8192];
	int fd;

	start_patient();
	fd = dial();
	for (int i = 0; i < 20; i++) {
		snprintf(line, sizeof(line), "GET /echo?number=%d HTTP/1.1\r\n", i);
		strcat(strcat(text, line), HOST TOKEN "\r\n");
	}
	fill_token(text, filled, sizeof(filled));
	put_text(fd, filled);
	for (int i = 0; i < 20; i++) {
		snprintf(line, sizeof(line), "-|%d", i);
		ck_assert_str_eq(read_reply(fd, true).body, line);
	}
	close(fd);
	/* Nothing that follows a refused request is a request. */
	fd = dial();
	put_text(fd, GET HOST "\r\n" PAGE HOST "\r\n");
	ck_assert_int_eq(read_reply(fd, true).status, 401);
	ck_assert(is_ended(fd));
	close(fd);
	stop();
}
END_TEST

SUITE("http", parameters_are_decoded, wrong_targets_are_refused, numbers_are_digits,
      hosts_of_this_machine, tokens, every_server_has_a_token_of_its_own, requests_are_checked,
      nul_in_the_first_line, large_headers_are_refused, answers, a_request_chooses_its_context,
      head_has_no_body, pipelined_requests_are_answered_in_their_order)
