// SPDX-License-Identifier: Apache-2.0
/*
 * The threads that run handlers (workers.h). base/jobs.h waits for its jobs, and base/queue.h is
 * for one thread, so neither serves here.
 */
#include "http/workers.h"

#include <signal.h>
#include <sys/eventfd.h>

int http_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	ret = -pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

/* Each request that waits has a thread that is free, so their order does not matter. */
static struct http_request *next_request(struct http_workers *w)
{
	struct http_request *q;

	while (!w->waiting && !w->stop)
		pthread_cond_wait(&w->given, &w->lock);
	q = w->waiting;
	if (q)
		w->waiting = q->next;
	return q;
}

static void *run_handlers(void *context)
{
	struct http_workers *w = context;
	struct http_request *q;

	pthread_mutex_lock(&w->lock);
	while ((q = next_request(w))) {
		pthread_mutex_unlock(&w->lock);
		http_request_run(q);
		pthread_mutex_lock(&w->lock);
		q->next = w->done;
		w->done = q;
		/* It fails only if the counter is full, and then the server is awake anyway. */
		eventfd_write(w->wake, 1);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int http_workers_start(struct http_workers *w, unsigned int count, int wake)
{
	int ret = 0;

	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->given, NULL);
	w->wake = wake;
	w->count = count < HTTP_WORKERS_MAX ? count : HTTP_WORKERS_MAX;
	while (w->started < w->count && !ret) {
		ret = http_thread_start(&w->threads[w->started], run_handlers, w);
		w->started += !ret;
	}
	return ret;
}

bool http_workers_give(struct http_workers *w, struct http_request *q)
{
	bool is_free;

	pthread_mutex_lock(&w->lock);
	is_free = w->busy < w->count;
	if (is_free) {
		w->busy++;
		q->next = w->waiting;
		w->waiting = q;
		pthread_cond_signal(&w->given);
	}
	pthread_mutex_unlock(&w->lock);
	return is_free;
}

struct http_request *http_workers_take(struct http_workers *w)
{
	struct http_request *done;

	pthread_mutex_lock(&w->lock);
	done = w->done;
	w->done = NULL;
	for (struct http_request *q = done; q; q = q->next)
		w->busy--;
	pthread_mutex_unlock(&w->lock);
	return done;
}

void http_workers_stop(struct http_workers *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->given);
	pthread_mutex_unlock(&w->lock);
	for (unsigned int i = 0; i < w->started; i++)
		pthread_join(w->threads[i], NULL);
	w->started = 0;
}
