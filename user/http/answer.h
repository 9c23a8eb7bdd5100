/* SPDX-License-Identifier: Apache-2.0 */
/* Hand an answer to libmicrohttpd. */
#ifndef SKEIN_HTTP_ANSWER_H
#define SKEIN_HTTP_ANSWER_H

#include <microhttpd.h>

#include "http/refusal.h"
#include "http/server.h"

/* Send an answer; its body is the library's afterwards, in any case. */
enum MHD_Result http_answer_send(struct MHD_Connection *mhd, struct http_answer *a);

/*
 * Send why a request is refused, and close the connection: what follows a request that was not
 * understood may be a part of it.
 */
enum MHD_Result http_refusal_send(struct MHD_Connection *mhd, const struct http_refusal *r);

#endif
