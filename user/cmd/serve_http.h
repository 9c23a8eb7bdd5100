/* SPDX-License-Identifier: Apache-2.0 */
/* The part of skein serve that is asked over HTTP: its options, and what the metrics show. */
#ifndef SKEIN_CMD_SERVE_HTTP_H
#define SKEIN_CMD_SERVE_HTTP_H

#include <stddef.h>

#include "base/options.h"
#include "capture/capture.h"
#include "cmd/serve_memory.h"
#include "serve/flight.h"
#include "serve/listen.h"
#include "serve/network.h"
#include "serve/window_list.h"
#include "serve/window_sink.h"

struct serve_http_options {
	const char *listen, *token_file;
	uint64_t functions; /* listed of each service */
};

/* Rows of the table of options; at: offset of a struct serve_http_options in the options. */
#define SERVE_HTTP_OPTIONS(at) \
	{.name = "What is asked over HTTP", .type = OPTION_HEADING}, \
	{.name = "listen", .type = OPTION_TEXT, .arg = "ADDRESS", \
	 .help = "Where metrics, profiles and windows can be asked for: ADDRESS:PORT, PORT " \
		 "(of 127.0.0.1), unix:PATH, or none. On 127.0.0.1 every user of the " \
		 "machine can ask. Beyond this machine it needs --token-file. " \
		 "Default: " LISTEN_DEFAULT ", or the socket that systemd opened.", \
	 .offset = (at) + offsetof(struct serve_http_options, listen)}, \
	{.name = "token-file", .type = OPTION_TEXT, .arg = "FILE", \
	 .help = "A file whose first line is a token, which requests must send as " \
		 "'Authorization: Bearer TOKEN'; all but /healthz and /readyz.", \
	 .offset = (at) + offsetof(struct serve_http_options, token_file)}, \
	{.name = "functions", .type = OPTION_COUNT, .arg = "N", \
	 .help = "Functions of each service that the metrics list, by own time and with what " \
		 "they call; 500 of all services at most. Default: 10.", \
	 .offset = (at) + offsetof(struct serve_http_options, functions)}

struct serve_http {
	struct serve_http_options options;
	struct listen_address address;
	char *token; /* NULL: none */
	int listener; /* -1: none */
	bool inherited, bound; /* the listener is systemd's; it has been opened */
	struct on_demand demand;
	struct network *network; /* NULL: there is none */
	int wake; /* epoll of signals and of the network process; -1: not yet */
	const struct sink *windows; /* NULL: not yet */
	struct sink *waits; /* NULL: there is none */
	struct flight *flight; /* NULL: there is none */
	struct window_list list;
	struct capture_progress progress; /* the last one */
	/* of the run, for metrics; NULL: not yet */
	const struct serve_memory *memory;
	const struct governor *governor;
};

/* Check the options and listen. Return 0 or an exit status, after logging why. */
int serve_http_prepare(struct serve_http *h, const struct serve_http_options *o);
/*
 * Start the network process before there is anything that it should not have. folder: of windows,
 * must outlive h. signals: a descriptor that h->wake is to report, too. Return 0 or an exit status.
 */
int serve_http_start(struct serve_http *h, const char *folder, int signals);
/* Have a capture record waits for sessions of wall time, unless it does so anyway. */
struct serve_waits_calls {
	bool (*wanted)(void *context);
	void (*recorded)(void *context, int status, const char *reason);
};
void serve_http_use_waits(struct serve_http *h, const struct serve_waits_calls *calls,
			  struct capture_options *o);
/*
 * With such a capture, open a sink for its waits before *out, which it replaces and which must
 * outlive it. Return 0 or a negative errno. serve_http_waits_recorded() is for calls.recorded.
 */
int serve_http_open_waits(struct serve_http *h, struct sink **out, struct error *err);
void serve_http_close_waits(struct serve_http *h);
void serve_http_waits_recorded(struct serve_http *h, int status, const char *reason);
/*
 * Return whether the waits that have not ended are wanted, by a session or by others (flight); for
 * capture_waits.wants_open.
 */
bool serve_http_wants_open_waits(struct serve_http *h, bool flight);
/* Answer what was asked. */
void serve_http_poll(struct serve_http *h, const struct capture_progress *p);
void serve_http_end(struct serve_http *h);

#endif
