// SPDX-License-Identifier: Apache-2.0
/* The network process, and how its handlers ask the core (network_child.h). */
#include "serve/network_child.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/helper.h"

#define LOOK_AGAIN 200000000L /* ns between two looks whether the client is still there */

/* A handler that waits for a reply, on its stack. */
struct waiter {
	struct waiter *next;
	uint64_t number;
	bool replied;
	int64_t status;
	int fd; /* -1: none */
};

struct asker {
	pthread_mutex_t lock;
	pthread_cond_t replied;
	int socket;
	uint64_t last; /* number of the last question */
	struct waiter *waiters;
};

static int send_question(const struct asker *a, const struct network_question *question)
{
	return send(a->socket, question, sizeof(*question), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void remove_waiter(struct asker *a, const struct waiter *w)
{
	struct waiter **at = &a->waiters;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
}

/* Wait until there is a reply or the client is gone; the lock is held. */
static int await_core(struct asker *a, const struct waiter *w, const struct http_request *q)
{
	struct timespec until;

	while (!w->replied) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_AGAIN;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&a->replied, &a->lock, &until);
		if (!w->replied && http_request_abandoned(q))
			return -ECANCELED;
	}
	return 0;
}

int ask_core(struct asker *a, struct network_question *question, const struct http_request *q,
	     int *fd)
{
	struct waiter w = {.fd = -1};
	int ret;

	*fd = -1;
	pthread_mutex_lock(&a->lock);
	question->number = w.number = ++a->last;
	w.next = a->waiters;
	a->waiters = &w;
	ret = send_question(a, question);
	if (!ret)
		ret = await_core(a, &w, q);
	remove_waiter(a, &w);
	pthread_mutex_unlock(&a->lock);
	if (ret == -ECANCELED && (question->kind == ASK_SESSION || question->kind == ASK_WALL)) {
		question->kind = ASK_CANCEL;
		send_question(a, question);
	}
	if (ret)
		return ret;
	*fd = w.fd;
	return (int)w.status;
}

/* Give a reply to the handler that waits for it; without one, only its descriptor is closed. */
static void hand_over(struct asker *a, const struct network_reply *reply, int fd)
{
	struct waiter *w;

	pthread_mutex_lock(&a->lock);
	for (w = a->waiters; w && w->number != reply->number; w = w->next)
		;
	if (w) {
		w->replied = true;
		w->status = reply->status;
		w->fd = fd;
		pthread_cond_broadcast(&a->replied);
	}
	pthread_mutex_unlock(&a->lock);
	if (!w && fd >= 0)
		close(fd);
}

/* Receive a reply and its descriptor, -1: none. Return false when the core is gone. */
static bool receive_network_reply(int socket, struct network_reply *reply, int *fd)
{
	struct iovec part = {reply, sizeof(*reply)};
	char control[CMSG_SPACE(sizeof(int))];
	struct msghdr packet = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t bytes;

	do
		bytes = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC);
	while (bytes < 0 && errno == EINTR);
	if (bytes != sizeof(*reply))
		return false;
	*fd = helper_received_fd(&packet);
	return true;
}

/* Receive replies until the core is gone. */
static void receive_replies(struct asker *a)
{
	struct network_reply reply;
	int fd;

	while (receive_network_reply(a->socket, &reply, &fd))
		hand_over(a, &reply, fd);
}

static void init_asker(struct asker *a, int socket)
{
	pthread_condattr_t clock;

	a->socket = socket;
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&a->replied, &clock);
}

void network_child_run(int socket, pid_t parent, const struct http_config *http)
{
	struct asker asker = {.waiters = NULL};
	struct network_child child = {.asker = &asker, .trusted = http->access.any_host};
	struct http_config config = *http;
	struct network_reply first;
	struct error err = {""};

	/* All threads share one heap: each would keep the memory of its largest answer. */
	mallopt(M_ARENA_MAX, 1);
	if (!receive_network_reply(socket, &first, &config.listener) || config.listener < 0)
		_exit(1);
	if (network_confine(&socket, &config.listener, parent) < 0)
		_exit(HELPER_EXIT_UNCONFINED);
	init_asker(&asker, socket);
	config.routes = network_routes;
	config.route_count = network_route_count;
	config.context = &child;
	if (http_server_start(&child.http, &config, &err) < 0)
		_exit(1);
	receive_replies(&asker);
	_exit(0);
}
