// SPDX-License-Identifier: Apache-2.0
/*
 * The recorder's side: a queue of requests, of which some are sent, and a child
 * that can be replaced at any time. Every request is kept until it is answered,
 * so that what one process did to the child costs the others nothing but time.
 */
#include "capture/opener.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/queue.h"
#include "capture/opener_wire.h"

#define NS_PER_S 1000000000ULL
#define AVOID_FOR (30 * NS_PER_S) /* a process that made the child hang */
#define AVOID_MAX 64
#define QUEUE_MAX (8 << 20) /* bytes of requests */
#define PACKETS_PER_POLL 64
#define SPARE_DESCRIPTORS 32 /* for what the recorder itself opens later: CPUs, journals, /proc */
#define ATTEMPTS_MAX 8 /* children in a row that may die without having done anything */

struct ask {
	struct queue_item item;
	size_t size; /* of message */
	struct opener_ask message;
};

struct avoided {
	uint32_t pid;
	uint64_t until;
};

struct opener {
	struct opener_events events;
	struct helper helper;
	struct queue unsent, sent; /* asks; sent: with the child, unanswered */

	/* The scan of all, which the child does between requests. */
	unsigned int scans; /* wanted, with the one going on */
	bool scan_sent;
	uint32_t scan_at; /* pid that it began or ended last */
	bool scan_inside; /* it has begun with scan_at ... */
	bool scan_told;	  /* ... and told of it */

	bool suspected; /* the last child died by itself, over nothing that it was blamed for */
	uint64_t cut_short;
	uint64_t descriptors; /* from this one on they are kept for the recorder itself */
	uint64_t refused;     /* files that were not taken for want of descriptors */
	struct avoided avoided[AVOID_MAX];
	unsigned int avoided_next;
	_Alignas(8) char packet[OPENER_MESSAGE_MAX];
};

static struct ask *take_ask(struct queue *q)
{
	return (struct ask *)queue_take(q);
}

static struct ask *first_ask(const struct queue *q)
{
	return (struct ask *)q->first;
}

static void put_ask(struct queue *q, struct ask *a)
{
	queue_put(q, &a->item, sizeof(*a) + a->size);
}

/* What was sent comes first again. */
static void unsend(struct opener *o)
{
	queue_append(&o->sent, &o->unsent);
	o->unsent = o->sent;
	o->sent = (struct queue){0};
	o->scan_sent = false;
}

/* Wake the caller when there is something to read, or room to send what is queued. */
static void watch(struct opener *o)
{
	bool asked = o->sent.first || o->scan_sent;

	helper_expect(&o->helper, asked, o->unsent.first || (o->scans && !o->scan_sent));
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
	if (!o->sent.first)
		return false;
	a = take_ask(&o->sent);
	if (cause == -ETIMEDOUT) {
		o->avoided[o->avoided_next++ % AVOID_MAX] =
			(struct avoided){a->message.pid, o->helper.now + AVOID_FOR};
	}
	fail(o, a, cause);
	return true;
}

/*
 * Give up a child that hangs (-ETIMEDOUT) or died (-EIO). A death may have come from outside: only
 * the second one in a row is held against the request.
 */
static void lose(struct opener *o, int cause)
{
	helper_lose(&o->helper);
	o->suspected = (cause == -EIO && !o->suspected) || !blame(o, cause);
	if (!o->suspected)
		helper_heard(&o->helper, true); /* one request is out of the way */
	unsend(o);
}

/* There may be no child for now: answer what was asked so far. */
static void refuse_all(struct opener *o)
{
	uint64_t left = o->unsent.count;

	while (left--)
		fail(o, take_ask(&o->unsent), -EBUSY);
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
		if (o->avoided[i].pid == pid && o->helper.now < o->avoided[i].until)
			return true;
	return false;
}

/* True if it was taken; false to try again later. A dead child is seen when receiving. */
static bool send_ask(struct opener *o, const struct opener_ask *ask, size_t size)
{
	return send(o->helper.socket, ask, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

static void send_queued(struct opener *o)
{
	const struct opener_ask scan = {.kind = ASK_SCAN_ALL, .pid = o->scan_at};

	if (o->scans && !o->scan_sent)
		o->scan_sent = send_ask(o, &scan, sizeof(scan));
	while (o->unsent.first) {
		struct ask *a = first_ask(&o->unsent);

		if (is_avoided(o, a->message.pid))
			fail(o, take_ask(&o->unsent), -ETIMEDOUT);
		else if (send_ask(o, &a->message, a->size))
			put_ask(&o->sent, take_ask(&o->unsent));
		else
			break;
	}
}

/* Receiving */

static void take_opened(struct opener *o, const struct opener_tell *t, int fd)
{
	struct open_answer answer = t->opened;
	struct ask *a = first_ask(&o->sent);

	if (!a || a->message.kind != ASK_OPEN || a->message.open.token != answer.token) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fd >= 0 && (uint64_t)fd >= o->descriptors) {
		close(fd);
		fd = -1;
	}
	/* Without a free descriptor the kernel drops the one that came. */
	if (answer.fd == 0)
		answer.fd = fd >= 0 ? fd : -EMFILE;
	o->refused += answer.fd == -EMFILE;
	if (!answer.more)
		free(take_ask(&o->sent));
	o->events.opened(o->events.context, &answer);
}

static void take_end(struct opener *o, const struct opener_tell *t)
{
	bool told = !t->all || o->scan_told;

	if (!t->complete && told)
		o->cut_short++;
	if (t->all)
		o->scan_inside = false;
	else if (o->sent.first && first_ask(&o->sent)->message.kind == ASK_SCAN)
		free(take_ask(&o->sent));
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
	ssize_t n = recvmsg(o->helper.socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
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
		helper_heard(&o->helper, true);
		o->suspected = false;
		take_packet(o, (size_t)n, fd);
	}
	if (n > 0 || n == -EINTR)
		return 0;
	return n == -EAGAIN ? n : -EIO;
}

int opener_poll(struct opener *o, uint64_t now, struct error *err)
{
	int result = 0;

	helper_pass(&o->helper, now);
	if (helper_lives(&o->helper))
		result = receive_all(o);
	if (result == -EIO)
		lose(o, -EIO);
	else if (result == -EAGAIN && helper_is_stuck(&o->helper))
		lose(o, -ETIMEDOUT);
	result = helper_revive(&o->helper, err);
	if (!result && helper_is_exhausted(&o->helper))
		refuse_all(o);
	if (helper_lives(&o->helper))
		send_queued(o);
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
	put_ask(&o->unsent, a);
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

uint64_t opener_refused(const struct opener *o)
{
	return o->refused;
}

uint64_t opener_restarts(const struct opener *o)
{
	return o->helper.restarts;
}

uint64_t opener_cut_short(const struct opener *o)
{
	return o->cut_short;
}

void opener_add_cost(struct opener *o, struct helper_cost *ret)
{
	helper_add_cost(&o->helper, ret);
}

int opener_pid(const struct opener *o)
{
	return helper_lives(&o->helper) ? o->helper.pid : -1;
}

int opener_fd(const struct opener *o)
{
	return o->helper.poll;
}

static _Noreturn void run(void *context, int socket, pid_t parent)
{
	(void)context;
	opener_child(socket, parent);
}

/* Descriptors are given out from the lowest free one on: from here on few are left. */
static uint64_t first_spare(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur > SPARE_DESCRIPTORS ? limit.rlim_cur - SPARE_DESCRIPTORS : 0;
}

int opener_new(struct opener **ret, const struct opener_events *events, struct error *err)
{
	const struct helper_kind kind = {
		.name = "the opener",
		.run = run,
		.attempts = ATTEMPTS_MAX,
	};
	struct opener *o = calloc(1, sizeof(*o));
	int result;

	if (!o)
		return error_errno(err, -ENOMEM, "cannot start the opener");
	o->events = *events;
	o->descriptors = first_spare();
	result = helper_open(&o->helper, &kind, err);
	if (result < 0)
		free(o);
	else
		*ret = o;
	return result;
}

void opener_free(struct opener *o)
{
	if (!o)
		return;
	helper_close(&o->helper);
	unsend(o);
	while (o->unsent.first)
		free(take_ask(&o->unsent));
	free(o);
}
