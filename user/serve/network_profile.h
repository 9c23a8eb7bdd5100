/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles over HTTP: of the next seconds, or of windows. */
#ifndef SKEIN_SERVE_NETWORK_PROFILE_H
#define SKEIN_SERVE_NETWORK_PROFILE_H

#include "serve/network_child.h"

/* The page of a flame graph has scripts and styles of its own, and loads nothing. */
#define NETWORK_PAGE_POLICY \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " \
	"img-src data: blob:; frame-ancestors 'none'"

/* What a path answers with. */
struct network_profile_kind {
	const char *format; /* of export_formats */
	const char *usual; /* "seconds" or "last": which holds if the request has none */
	const char *event; /* the same for event: EVENT_CPU_CLOCK or EVENT_WALL */
};

/*
 * Answer with a profile: of the next seconds=N, of the windows of last=TIME, or of window=NAME;
 * with event=wall of wall time. Return 0 or a negative errno.
 */
int network_profile_answer(struct network_child *c, const struct http_request *q,
			   const struct network_profile_kind *kind, struct http_answer *a);

#endif
