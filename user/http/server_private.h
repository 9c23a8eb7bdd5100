/* SPDX-License-Identifier: Apache-2.0 */
/* The server, for the files that make one of it. */
#ifndef SKEIN_HTTP_SERVER_PRIVATE_H
#define SKEIN_HTTP_SERVER_PRIVATE_H

#include <microhttpd.h>

#include "http/connections.h"
#include "http/server.h"
#include "http/workers.h"

struct http_server {
	struct http_config config;
	struct http_connections connections;
	struct http_workers workers;
	struct MHD_Daemon *daemon;
	atomic_bool stopping;
	atomic_uint_fast64_t answered, refused; /* struct http_counts */
	bool working, looping; /* the workers and the thread have been started */
	int wake; /* eventfd that wakes the thread */
	pthread_t thread;
	uint16_t port;
	char token[HTTP_TOKEN_LENGTH + 1];
};

/* The callbacks of libmicrohttpd; cls is the server. */
void http_notice_connection(void *cls, struct MHD_Connection *mhd, void **context,
			    enum MHD_ConnectionNotificationCode code);
void *http_begin_request(void *cls, const char *target, struct MHD_Connection *mhd);
enum MHD_Result http_continue_request(void *cls, struct MHD_Connection *mhd, const char *url,
				      const char *method, const char *version, const char *upload,
				      size_t *upload_size, void **context);
void http_end_request(void *cls, struct MHD_Connection *mhd, void **context,
		      enum MHD_RequestTerminationCode code);
size_t http_leave_escaped(void *cls, struct MHD_Connection *mhd, char *text);

#endif
