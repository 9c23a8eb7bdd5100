/* SPDX-License-Identifier: Apache-2.0 */
/* Why a request is answered without a handler. */
#ifndef SKEIN_HTTP_REFUSAL_H
#define SKEIN_HTTP_REFUSAL_H

struct http_refusal {
	unsigned int status;
	const char *text; /* one line, for the client */
	const char *allow; /* of 405: the methods that are answered; else NULL */
};

#endif
