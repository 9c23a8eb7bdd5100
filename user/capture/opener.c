// SPDX-License-Identifier: Apache-2.0
/*
 * The recorder's side: a queue of requests, of which some are sent, and a child
 * that can be replaced at any time. Every request is kept until it is answered,
 * so that what one process did to the child costs the others nothing but time.
 */
#include "capture/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/opener_wire.h"

#define NS_PER_S 1000000000ULL
#define PATIENCE (2 * NS_PER_S)	  /* without a sign of life */
#define LONGEST_STEP NS_PER_S	  /* of waiting, between two polls: more was our own pause */
#define AVOID_FOR (30 * NS_PER_S) /* a process that made the child hang */
#define AVOID_MAX 64
#define LINGER_MAX 64	    /* killed children that the kernel does not let go yet */
#define QUEUE_MAX (8 << 20) /* bytes of requests */
#define PACKETS_PER_POLL 64
#define FRUITLESS_MAX 8 /* children in a row that died without having done anything */

struct ask {
	struct ask *next;
	size_t size; /* of message */
	struct opener_ask message;
};

struct queue {
	struct ask *head, **tail;
	uint64_t count;
	size_t bytes;
};

struct avoided {
	uint32_t pid;
	uint64_t until;
};

struct opener {
	struct opener_events events;
	int wake;   /* an epoll set: stays the same when the socket does not */
	int socket; /* -1: there is no child */
	int priority; /* nice value of the child, whatever the recorder's becomes */
	pid_t pid;

	struct queue unsent, sent; /* sent: with the child, unanswered */
	bool wants_room;	   /* wake is told to wait for room to send, too */

	/* The scan of all, which the child does between requests. */
	unsigned int scans; /* wanted, with the one going on */
	bool scan_sent;
	uint32_t scan_at; /* pid that it began or ended last */
	bool scan_inside; /* it has begun with scan_at ... */
	bool scan_told;	  /* ... and told of it */

	uint64_t now, waited; /* ns; waited: for a sign of life */
	bool waiting;	      /* since the last poll */
	unsigned int fruitless;
	uint64_t restarts, cut_short;
	struct avoided avoided[AVOID_MAX];
	unsigned int avoided_next;
	pid_t linger[LINGER_MAX];
	unsigned int lingering;
	_Alignas(8) char packet[OPENER_MESSAGE_MAX];
};

static struct ask *pop(struct queue *q)
{
	struct ask *a = q->head;

	q->head = a->next;
	if (!q->head)
		q->tail = &q->head;
	q->bytes -= sizeof(*a) + a->size;
	q->count--;
	return a;
}

static void push(struct queue *q, struct ask *a)
{
	a->next = NULL;
	*q->tail = a;
	q->tail = &a->next;
	q->bytes += sizeof(*a) + a->size;
	q->count++;
}

/* What was sent comes first again. */
static void unsend(struct opener *o)
{
	while (o->unsent.head)
		push(&o->sent, pop(&o->unsent));
	o->unsent = o->sent;
	if (!o->unsent.head)
		o->unsent.tail = &o->unsent.head;
	o->sent = (struct queue){.tail = &o->sent.head};
	o->scan_sent = false;
}

/* Wake the caller when there is something to read, or room to send what is queued. */
static void watch(struct opener *o)
{
	bool wants_room = o->unsent.head || (o->scans && !o->scan_sent);
	struct epoll_event event = {.events = EPOLLIN | (wants_room ? EPOLLOUT : 0U)};

	if (o->socket < 0 || wants_room == o->wants_room)
		return;
	o->wants_room = wants_room;
	(void)epoll_ctl(o->wake, EPOLL_CTL_MOD, o->socket, &event);
}

/* Answer a request without the child. */
static void fail(struct opener *o, struct ask *a, int cause)
{
	if (a->message.kind == ASK_OPEN) {
		const struct open_answer answer = {.token = a->message.open.token, .fd = cause};

		o->events.opened(o->events.context, &answer);
	} else {
		o->cut_short++;
		o->events.scanned(o->events.context, a->message.pid);
	}
	free(a);
}

/* The children */

static void reap(struct opener *o)
{
	unsigned int i = 0;

	while (i < o->lingering) {
		if (waitpid(o->linger[i], NULL, WNOHANG) == 0)
			i++;
		else
			o->linger[i] = o->linger[--o->lingering];
	}
}

/*
 * Kill the child without waiting for it: a request that a FUSE server has taken
 * and does not answer cannot even be killed until that server ends.
 */
static void stop(struct opener *o)
{
	if (o->socket < 0)
		return;
	(void)epoll_ctl(o->wake, EPOLL_CTL_DEL, o->socket, NULL);
	close(o->socket);
	o->socket = -1;
	kill(o->pid, SIGKILL);
	o->linger[o->lingering++] = o->pid;
	reap(o);
}

static int start(struct opener *o, struct error *err)
{
	struct epoll_event event = {.events = EPOLLIN};
	pid_t parent = getpid(), pid;
	int pair[2], result;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_errno(err, -errno, "cannot make a socket pair for the opener");
	result = epoll_ctl(o->wake, EPOLL_CTL_ADD, pair[0], &event) < 0 ? -errno : 0;
	pid = result < 0 ? -1 : fork();
	if (pid == 0)
		opener_child(pair[1], parent);
	if (pid < 0) {
		result = result < 0 ? result : -errno;
		close(pair[0]);
		close(pair[1]);
		return error_errno(err, result, "cannot start the opener");
	}
	close(pair[1]);
	(void)setpriority(PRIO_PROCESS, (id_t)pid, o->priority);
	o->socket = pair[0];
	o->pid = pid;
	o->wants_room = false;
	o->waited = 0;
	return 0;
}

/* What was the child doing? Finish that without it: false if it was idle. */
static bool blame(struct opener *o, int cause)
{
	struct ask *a;

	if (o->scan_inside) {
		o->scan_inside = false;
		o->cut_short++;
		if (o->scan_told)
			o->events.scanned(o->events.context, o->scan_at);
		return true;
	}
	if (!o->sent.head)
		return false;
	a = pop(&o->sent);
	if (cause == -ETIMEDOUT) {
		o->avoided[o->avoided_next++ % AVOID_MAX] =
			(struct avoided){a->message.pid, o->now + AVOID_FOR};
	}
	fail(o, a, cause);
	return true;
}

/*
 * Put a new child in the place of one that hangs (-ETIMEDOUT) or died (-EIO).
 * A death may have come from outside: only the second one in a row is held
 * against the request.
 */
static int replace(struct opener *o, int cause, struct error *err)
{
	stop(o);
	o->restarts++;
	if ((cause == -ETIMEDOUT || o->fruitless) && blame(o, cause))
		o->fruitless = 0;
	else
		o->fruitless++;
	unsend(o);
	if (o->fruitless > FRUITLESS_MAX)
		return error_set(err, cause, "the opener died %u times in a row", o->fruitless);
	return 0;
}

/* There may be no child for now: answer what was asked so far. */
static void refuse_all(struct opener *o)
{
	uint64_t left = o->unsent.count;

	while (left--)
		fail(o, pop(&o->unsent), -EBUSY);
	if (!o->scans)
		return;
	o->scans = 0;
	o->scan_at = 0;
	o->cut_short++;
	o->events.scanned(o->events.context, 0);
}

/* Sending */

static bool is_avoided(const struct opener *o, uint32_t pid)
{
	size_t i;

	for (i = 0; i < AVOID_MAX; i++)
		if (o->avoided[i].pid == pid && o->now < o->avoided[i].until)
			return true;
	return false;
}

/* True if it was taken; false to try again later. A dead child is seen when receiving. */
static bool send_ask(struct opener *o, const struct opener_ask *ask, size_t size)
{
	return send(o->socket, ask, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

static void send_queued(struct opener *o)
{
	const struct opener_ask scan = {.kind = ASK_SCAN_ALL, .pid = o->scan_at};

	if (o->scans && !o->scan_sent)
		o->scan_sent = send_ask(o, &scan, sizeof(scan));
	while (o->unsent.head) {
		struct ask *a = o->unsent.head;

		if (is_avoided(o, a->message.pid))
			fail(o, pop(&o->unsent), -ETIMEDOUT);
		else if (send_ask(o, &a->message, a->size))
			push(&o->sent, pop(&o->unsent));
		else
			break;
	}
}

/* Receiving */

static void take_opened(struct opener *o, const struct opener_tell *t, int fd)
{
	struct open_answer answer = t->opened;
	struct ask *a = o->sent.head;

	if (!a || a->message.kind != ASK_OPEN || a->message.open.token != answer.token) {
		if (fd >= 0)
			close(fd);
		return;
	}
	/* Without a free descriptor the kernel drops the one that came. */
	if (answer.fd == 0)
		answer.fd = fd >= 0 ? fd : -EMFILE;
	if (!answer.more)
		free(pop(&o->sent));
	o->events.opened(o->events.context, &answer);
}

static void take_end(struct opener *o, const struct opener_tell *t)
{
	bool told = !t->all || o->scan_told;

	if (!t->complete && told)
		o->cut_short++;
	if (t->all)
		o->scan_inside = false;
	else if (o->sent.head && o->sent.head->message.kind == ASK_SCAN)
		free(pop(&o->sent));
	if (told)
		o->events.scanned(o->events.context, t->pid);
}

static void take_done(struct opener *o)
{
	if (o->scans)
		o->scans--;
	o->scan_sent = false;
	o->scan_at = 0;
	o->events.scanned(o->events.context, 0);
}

/* Take one record; its texts lie behind it, up to end. */
static void take(struct opener *o, struct opener_tell *t, const char *end, int fd)
{
	const char *at = t->texts, *texts[3];
	size_t i;

	for (i = 0; i < 3; i++)
		texts[i] = at < end ? opener_text(&at, end) : "";
	switch (t->kind) {
	case TELL_OPENED:
		take_opened(o, t, fd);
		break;
	case TELL_BEGIN:
		o->scan_at = t->pid;
		o->scan_inside = true;
		o->scan_told = false;
		break;
	case TELL_PROCESS:
		o->scan_told |= t->all;
		t->process.comm = texts[0];
		t->process.exe = texts[1];
		t->process.cgroup = texts[2];
		o->events.process(o->events.context, &t->process);
		break;
	case TELL_THREAD:
		t->thread.comm = texts[0];
		o->events.thread(o->events.context, &t->thread);
		break;
	case TELL_MAPPING:
		t->mapping.path = texts[0];
		o->events.mapping(o->events.context, &t->mapping);
		break;
	case TELL_END:
		take_end(o, t);
		break;
	case TELL_DONE:
		take_done(o);
		break;
	}
}

static void take_packet(struct opener *o, size_t size, int fd)
{
	size_t at = 0;

	while (size - at >= offsetof(struct opener_tell, texts)) {
		struct opener_tell *t = (struct opener_tell *)(o->packet + at);

		if (t->size < offsetof(struct opener_tell, texts) || t->size > size - at)
			break;
		take(o, t, o->packet + at + t->size, fd);
		at += t->size;
	}
}

/* Read a packet: its size, 0 at the end, -EAGAIN if there is none; *fd is -1 without one. */
static int receive(struct opener *o, int *fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {o->packet, sizeof(o->packet)};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(o->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c;

	*fd = -1;
	if (n <= 0)
		return n < 0 ? -errno : 0;
	c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return (int)n;
}

/* Take what is there: 0, -EAGAIN if nothing more is, -EIO if the child is dead. */
static int receive_all(struct opener *o)
{
	unsigned int i;
	int fd, n = 0;

	for (i = 0; i < PACKETS_PER_POLL; i++) {
		n = receive(o, &fd);
		if (n <= 0)
			break;
		o->waited = 0;
		o->fruitless = 0;
		take_packet(o, (size_t)n, fd);
	}
	if (n > 0 || n == -EINTR)
		return 0;
	return n == -EAGAIN ? n : -EIO;
}

static void pass_time(struct opener *o, uint64_t now)
{
	uint64_t step = now > o->now ? now - o->now : 0;

	if (o->waiting)
		o->waited += step < LONGEST_STEP ? step : LONGEST_STEP;
	else
		o->waited = 0;
	o->now = now;
}

int opener_poll(struct opener *o, uint64_t now, struct error *err)
{
	int result = 0;

	pass_time(o, now);
	reap(o);
	if (o->socket >= 0)
		result = receive_all(o);
	if (result == -EIO || (result == -EAGAIN && o->waited >= PATIENCE)) {
		result = replace(o, result == -EIO ? -EIO : -ETIMEDOUT, err);
		if (result < 0)
			goto out;
	}
	result = 0;
	if (o->socket < 0 && o->lingering == LINGER_MAX)
		refuse_all(o);
	else if (o->socket < 0)
		result = start(o, err);
	if (o->socket >= 0)
		send_queued(o);
out:
	o->waiting = o->sent.head || o->scan_sent;
	watch(o);
	return result;
}

/* Asking */

static size_t add_text(char *to, size_t at, const char *text)
{
	size_t size = strlen(text) + 1;

	if (to)
		memcpy(to + at, text, size);
	return at + size;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int queue(struct opener *o, const struct opener_ask *ask)
{
	const struct open_request *r = &ask->open;
	const char *path = or_empty(r->path), *build_id = or_empty(r->build_id);
	const char *debuglink = or_empty(r->debuglink);
	size_t size = sizeof(*ask) + strlen(path) + strlen(build_id) + strlen(debuglink) + 3;
	struct ask *a;

	if (strlen(path) >= OPENER_PATH_MAX || strlen(build_id) > OPENER_BUILD_ID_MAX ||
	    strlen(debuglink) > OPENER_NAME_MAX)
		return -ENAMETOOLONG;
	if (o->sent.bytes + o->unsent.bytes + sizeof(*a) + size > QUEUE_MAX)
		return -ENOBUFS;
	a = malloc(sizeof(*a) + size);
	if (!a)
		return -ENOMEM;
	a->size = size;
	a->message = *ask;
	size = add_text(a->message.texts, 0, path);
	size = add_text(a->message.texts, size, build_id);
	add_text(a->message.texts, size, debuglink);
	push(&o->unsent, a);
	watch(o);
	return 0;
}

int opener_open(struct opener *o, const struct open_request *r)
{
	struct opener_ask ask = {.kind = ASK_OPEN, .pid = r->pid, .open = *r};
	struct timespec boot;

	if (!ask.open.seen && clock_gettime(CLOCK_BOOTTIME, &boot) == 0)
		ask.open.seen = (uint64_t)boot.tv_sec * NS_PER_S + (uint64_t)boot.tv_nsec;
	return queue(o, &ask);
}

int opener_scan(struct opener *o, uint32_t pid)
{
	const struct opener_ask ask = {.kind = ASK_SCAN, .pid = pid};

	if (pid)
		return queue(o, &ask);
	/* One that has not begun sees all that another one would. */
	o->scans = o->scan_sent || o->scan_at ? 2 : 1;
	watch(o);
	return 0;
}

uint64_t opener_pending(const struct opener *o)
{
	return o->sent.count + o->unsent.count + o->scans;
}

uint64_t opener_restarts(const struct opener *o)
{
	return o->restarts;
}

uint64_t opener_cut_short(const struct opener *o)
{
	return o->cut_short;
}

int opener_pid(const struct opener *o)
{
	return o->socket < 0 ? -1 : o->pid;
}

int opener_fd(const struct opener *o)
{
	return o->wake;
}

int opener_new(struct opener **ret, const struct opener_events *events, struct error *err)
{
	struct opener *o = calloc(1, sizeof(*o));
	int result = -ENOMEM;

	if (!o)
		return error_errno(err, result, "cannot start the opener");
	o->events = *events;
	o->sent.tail = &o->sent.head;
	o->unsent.tail = &o->unsent.head;
	o->socket = -1;
	o->priority = getpriority(PRIO_PROCESS, 0);
	o->wake = epoll_create1(EPOLL_CLOEXEC);
	if (o->wake < 0) {
		result = error_errno(err, -errno, "cannot start the opener");
		goto out;
	}
	result = start(o, err);
	if (result < 0)
		goto out;
	*ret = o;
	o = NULL;
out:
	opener_free(o);
	return result;
}

void opener_free(struct opener *o)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	unsigned int tries = 100;

	if (!o)
		return;
	stop(o);
	/* As a rule it is gone in no time; one that the kernel keeps is left to init. */
	while (reap(o), o->lingering && tries--)
		nanosleep(&pause, NULL);
	unsend(o);
	while (o->unsent.head)
		free(pop(&o->unsent));
	if (o->wake >= 0)
		close(o->wake);
	free(o);
}
