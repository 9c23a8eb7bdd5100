/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that run handlers. Only the server's own thread calls these functions. */
#ifndef SKEIN_HTTP_WORKERS_H
#define SKEIN_HTTP_WORKERS_H

#include <pthread.h>
#include <stdbool.h>

#include "http/request.h"

struct http_workers {
	pthread_mutex_t lock;
	pthread_cond_t given;
	struct http_request *waiting, *done; /* lists */
	bool stop;
	unsigned int count; /* threads there are to be */
	unsigned int started, busy; /* threads; requests given and not taken back */
	int wake; /* eventfd; each end of a handler adds to it */
	pthread_t threads[HTTP_WORKERS_MAX];
};

/*
 * Start count workers, at most HTTP_WORKERS_MAX. wake must stay open until they have stopped.
 * Return 0 or a negative errno.
 */
int http_workers_start(struct http_workers *w, unsigned int count, int wake);

/* Return whether a worker was free to take the request. */
bool http_workers_give(struct http_workers *w, struct http_request *q);

/* Take back the requests whose handlers have returned: a list, or NULL. */
struct http_request *http_workers_take(struct http_workers *w);

/* Wait until all handlers have returned. Their requests are still to be taken. */
void http_workers_stop(struct http_workers *w);

/* Start a thread that gets no signals: they are for the threads of the program. */
int http_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif
