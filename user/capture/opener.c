// SPDX-License-Identifier: Apache-2.0
/*
 * The recorder's side of the opener: a queue of requests that is fair among users, requests that
 * were sent and have no reply yet, and a child that can be replaced at any time. Every request is
 * kept until its reply arrives, so that a process that makes the child hang or die only delays the
 * requests of other processes.
 *
 * There are two children, each with such queues. A request that is likely to hang goes to the
 * second child (second_opener), so that it does not even delay the other requests. Such requests
 * are for files of file systems that a program or another machine serves, and for all files of a
 * user whose request has made a child hang.
 */
#include "capture/opener.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/fair.h"
#include "base/helper.h"
#include "base/limits.h"
#include "capture/opener_wire.h"
#include "capture/owners.h"
#include "capture/suspects.h"

#define NS_PER_S 1000000000ULL
/* time (ns) for which requests for a process that made a child hang fail without being sent */
#define AVOID_FOR (30 * NS_PER_S)
#define AVOID_MAX 64
#define QUEUE_MAX (8 << 20) /* bytes of requests */
/* maximum number of requests at a child; when one hangs, the later ones wait until the timeout */
#define SENT_MAX 16
#define PACKETS_PER_POLL 64
/* maximum number of children in a row that may die without having done anything */
#define ATTEMPTS_MAX 8
/* Once the second opener has been silent for this long (ns), opener_pending() ignores it. */
#define EXPECT_TIMEOUT (NS_PER_S / 2)

struct queued_request {
	struct queue_item item;
	uint32_t owner; /* uid of the requesting user */
	size_t size; /* bytes of message */
	struct opener_request message;
};

struct avoided {
	uint32_t pid;
	uint64_t until; /* requests for the process fail until this time, ns */
};

/* One child, with its requests. */
struct opener_helper {
	struct helper helper; /* zeroed in the second opener until it is needed */
	struct fair unsent; /* struct queued_request */
	struct queue sent; /* struct queued_request: sent to the child, without a reply yet */
	bool second_opener;
	/*
	 * a child died or hung and no request was blamed, and since then there was no message: the
	 * next death is blamed on the current request
	 */
	bool suspected;
};

/* The scan of all processes, which the child does between requests. */
struct opener_scan_state {
	unsigned int wanted; /* scans requested, including the current one */
	bool sent;
	uint32_t at; /* pid of the process on which the scan started last; 0: none yet */
	bool inside; /* the scan has not ended that process */
	bool reported; /* opener_events.process() was called for that process */
};

struct opener {
	struct opener_events events;
	struct opener_helper first_opener, second_opener;
	struct opener_scan_state
		scan; /* the scan of all processes, which the child of first_opener does */
	uint64_t cut_short; /* see opener_cut_short() */
	/* descriptors from this number on are reserved for the recorder itself */
	uint64_t descriptors;
	uint64_t refused; /* number of files that were not delivered for want of descriptors */
	struct owners owners;
	struct suspects suspects;
	struct avoided avoided[AVOID_MAX];
	unsigned int avoided_next;
	_Alignas(8) char packet[OPENER_MESSAGE_MAX];
};

static struct queued_request *take_queued_request(struct queue *q)
{
	return (struct queued_request *)queue_take(q);
}

static struct queued_request *first_queued_request(const struct queue *q)
{
	return (struct queued_request *)q->first;
}

static size_t request_bytes(const struct queued_request *a)
{
	return sizeof(*a) + a->size;
}

static bool has_pending_scan(const struct opener *o, const struct opener_helper *c)
{
	return c == &o->first_opener && o->scan.wanted;
}

/*
 * Set what is expected of the child's socket: a reply, if a sent request or scan has none yet, and
 * room to send, if a queued request or a scan waits to be sent.
 */
static void update_wake_events(struct opener *o, struct opener_helper *c)
{
	bool waits = c->sent.count < SENT_MAX && fair_next_owner(&c->unsent);

	if (!c->helper.kind.run)
		return;
	helper_expect(&c->helper, c->sent.first || (has_pending_scan(o, c) && o->scan.sent),
		      waits || (has_pending_scan(o, c) && !o->scan.sent));
}

/*
 * Reply to a request with an error, without the child: a scan of a process is reported as over and
 * counts as cut short. Frees the request.
 */
static void fail_request(struct opener *o, struct queued_request *a, int cause)
{
	if (a->message.kind == OPENER_REQUEST_OPEN) {
		const struct open_reply reply = {.token = a->message.open.token, .fd = cause};

		o->events.opened(o->events.context, &reply);
	} else {
		o->cut_short++;
		o->events.scanned(o->events.context, a->message.pid);
	}
	free(a);
}

/* Move the sent requests back to the front of the queue, in their order. */
static void requeue_sent(struct opener *o, struct opener_helper *c)
{
	struct queue turned = {0};
	struct queued_request *a;

	while ((a = take_queued_request(&c->sent))) {
		struct queue one = {0};

		queue_put(&one, &a->item, a->item.bytes);
		queue_append(&one, &turned);
		turned = one;
	}
	while ((a = take_queued_request(&turned)))
		if (fair_return(&c->unsent, a->owner, 0, &a->item) < 0)
			fail_request(o, a, -ENOMEM);
	if (c == &o->first_opener)
		o->scan.sent = false;
}

/*
 * Make a user a suspect because the child hung over a request of this user (a), or while it scanned
 * a process of this user (a is NULL).
 */
static void mark_suspects(struct opener *o, struct opener_helper *c, const struct queued_request *a,
			  uint32_t owner)
{
	uint64_t device = a ? suspect_device(&a->message.open.id) : 0, now = c->helper.now;

	if (a)
		o->avoided[o->avoided_next++ % AVOID_MAX] =
			(struct avoided){a->message.pid, now + AVOID_FOR};
	suspects_add(&o->suspects, suspect_user(owner), now);
	if (!c->second_opener)
		return;
	fair_hold(&c->unsent, owner);
	/*
	 * The device of the file is blamed only if it is already a suspect. Otherwise its file
	 * system is local, and another file system on the path has made the child hang.
	 */
	if (suspects_has(&o->suspects, device, now))
		suspects_strike(&o->suspects, device, now);
}

/* The scan of all processes failed at the current process: leave the rest of this process out. */
static void fail_scanned_process(struct opener *o, int cause)
{
	o->scan.inside = false;
	o->cut_short++;
	if (cause == -ETIMEDOUT)
		mark_suspects(o, &o->first_opener, NULL,
			      owners_of(&o->owners, o->scan.at, 0, o->first_opener.helper.now));
	if (o->scan.reported)
		o->events.scanned(o->events.context, o->scan.at);
}

/*
 * Fail the request or the process of a scan that the child was working on. Return false if the
 * child was idle.
 */
static bool fail_current_request(struct opener *o, struct opener_helper *c, int cause)
{
	struct queued_request *a;

	if (c == &o->first_opener && o->scan.inside) {
		fail_scanned_process(o, cause);
		return true;
	}
	if (!c->sent.first)
		return false;
	a = take_queued_request(&c->sent);
	fair_served(&c->unsent, a->owner);
	if (cause == -ETIMEDOUT)
		mark_suspects(o, c, a, a->owner);
	fail_request(o, a, cause);
	return true;
}

/*
 * Give up a child that hangs (-ETIMEDOUT) or died (-EIO). A child may also have been killed from
 * outside, so a request is blamed only for the second death in a row.
 */
static void give_up_child(struct opener *o, struct opener_helper *c, int cause)
{
	helper_kill(&c->helper);
	c->suspected = (cause == -EIO && !c->suspected) || !fail_current_request(o, c, cause);
	if (!c->suspected)
		helper_received(&c->helper, true); /* blaming a request counts as progress */
	requeue_sent(o, c);
}

/* Fail all queued requests and the scan of all processes, because no child can be started now. */
static void fail_all_requests(struct opener *o, struct opener_helper *c)
{
	struct fair all = c->unsent;
	struct queued_request *a;

	/* A callback may queue more requests. */
	c->unsent = (struct fair){.now = all.now};
	while ((a = (struct queued_request *)fair_drain(&all)))
		fail_request(o, a, -EBUSY);
	if (!has_pending_scan(o, c))
		return;
	o->scan = (struct opener_scan_state){0};
	o->cut_short++;
	o->events.scanned(o->events.context, 0);
}

/* The functions below start the openers. */

static _Noreturn void run_opener_child(void *context, int socket, pid_t parent)
{
	(void)context;
	opener_child(socket, parent);
}

static int start_opener_child(struct opener *o, struct opener_helper *c, struct error *err)
{
	const struct helper_kind kind = {
		.name = c->second_opener ? "the opener of suspicious files" : "the opener",
		.run = run_opener_child,
		.forks = o->events.forks,
		.attempts = ATTEMPTS_MAX,
	};

	return helper_open(&c->helper, &kind, err);
}

/* Start the second opener, unless it has been started before. Return 0 or a negative errno. */
static int start_second_opener(struct opener *o)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct opener_helper *c = &o->second_opener;
	int ret;

	if (c->helper.kind.run)
		return 0;
	ret = start_opener_child(o, c, NULL);
	if (ret < 0)
		return ret;
	c->helper.now = o->first_opener.helper.now;
	if (epoll_ctl(o->first_opener.helper.poll, EPOLL_CTL_ADD, c->helper.poll, &event) == 0)
		return 0;
	ret = -errno;
	helper_close(&c->helper);
	return ret;
}

static void move_to_second_opener(struct opener *o, struct queued_request *a)
{
	int result = start_second_opener(o);

	a->message.anywhere = true;
	if (!result)
		result =
			fair_put(&o->second_opener.unsent, a->owner, 0, &a->item, request_bytes(a));
	if (result < 0)
		fail_request(o, a, result);
	else
		update_wake_events(o, &o->second_opener);
}

/* The functions below send requests. */

static bool is_request_avoided(const struct opener *o, const struct opener_helper *c,
			       const struct queued_request *a)
{
	uint64_t now = c->helper.now;
	size_t i;

	for (i = 0; i < AVOID_MAX; i++)
		if (o->avoided[i].pid == a->message.pid && now < o->avoided[i].until)
			return true;
	return suspects_avoids(&o->suspects, suspect_device(&a->message.open.id), now);
}

static bool is_request_suspect(const struct opener *o, const struct opener_helper *c,
			       const struct queued_request *a)
{
	uint64_t now = c->helper.now;

	return suspects_has(&o->suspects, suspect_user(a->owner), now) ||
	       suspects_has(&o->suspects, suspect_device(&a->message.open.id), now);
}

/*
 * Send a message. Return true if it was sent; false if sending must be tried again later. A dead
 * child is noticed by receive_packets().
 */
static bool send_request(struct opener_helper *c, const struct opener_request *request, size_t size)
{
	return send(c->helper.socket, request, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

/*
 * Send the request for the scan of all processes, unless it was sent. The scan leaves out the
 * mappings of users whose requests have hung (suspects.h), except root, and at most
 * OPENER_AVOIDED_MAX users. After a restart of the child, the scan goes on after the process on
 * which it started last.
 */
static void send_scan(struct opener *o, struct opener_helper *c)
{
	struct opener_request scan = {.kind = OPENER_REQUEST_SCAN_ALL, .pid = o->scan.at};

	suspects_users(&o->suspects, c->helper.now, scan.avoided, OPENER_AVOIDED_MAX);
	if (!o->scan.sent)
		o->scan.sent = send_request(c, &scan, sizeof(scan));
}

/*
 * Send the next request of a user, or fail it if it is avoided, or move it to the second opener if
 * it is suspect. Return false if sending has to be tried again later.
 */
static bool send_queued_request(struct opener *o, struct opener_helper *c, struct fair_owner *w)
{
	struct queued_request *a = (struct queued_request *)fair_first(w);

	if (is_request_avoided(o, c, a)) {
		fail_request(o, (struct queued_request *)fair_take(&c->unsent, w), -ETIMEDOUT);
		return true;
	}
	if (!c->second_opener && is_request_suspect(o, c, a)) {
		move_to_second_opener(o, (struct queued_request *)fair_take(&c->unsent, w));
		return true;
	}
	if (c->sent.count >= SENT_MAX || !send_request(c, &a->message, a->size))
		return false;
	if (!c->sent.first)
		fair_begin(&c->unsent);
	fair_take(&c->unsent, w);
	queue_put(&c->sent, &a->item, request_bytes(a));
	return true;
}

static void send_queued_requests(struct opener *o, struct opener_helper *c)
{
	struct fair_owner *w;

	if (has_pending_scan(o, c))
		send_scan(o, c);
	do
		w = fair_next_owner(&c->unsent);
	while (w && send_queued_request(o, c, w));
}

/* The functions below receive replies. */

/* Remove the request that the child has replied to, the oldest sent one, and return it. */
static struct queued_request *take_finished_request(struct opener_helper *c)
{
	struct queued_request *a = take_queued_request(&c->sent);

	fair_served(&c->unsent, a->owner);
	return a;
}

static void handle_opened(struct opener *o, struct opener_helper *c, const struct opener_reply *t,
			  int fd)
{
	struct open_reply reply = t->opened;
	struct queued_request *a = first_queued_request(&c->sent);

	if (!a || a->message.kind != OPENER_REQUEST_OPEN || a->message.open.token != reply.token) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (reply.fd == -EREMOTE && !c->second_opener) {
		suspects_add(&o->suspects, suspect_device(&a->message.open.id), c->helper.now);
		move_to_second_opener(o, take_finished_request(c));
		return;
	}
	if (fd >= 0 && (uint64_t)fd >= o->descriptors) {
		close(fd);
		fd = -1;
	}
	/* Without a free descriptor, the kernel drops the descriptor that came with the packet. */
	if (reply.fd == 0)
		reply.fd = fd >= 0 ? fd : -EMFILE;
	o->refused += reply.fd == -EMFILE;
	if (!reply.more)
		free(take_finished_request(c));
	o->events.opened(o->events.context, &reply);
}

static void handle_scan_end(struct opener *o, struct opener_helper *c, const struct opener_reply *t)
{
	bool reported = !t->all || o->scan.reported;

	if (!t->complete && reported)
		o->cut_short++;
	if (t->all)
		o->scan.inside = false;
	else if (c->sent.first &&
		 first_queued_request(&c->sent)->message.kind == OPENER_REQUEST_SCAN)
		free(take_finished_request(c));
	if (reported)
		o->events.scanned(o->events.context, t->pid);
}

static void handle_scan_done(struct opener *o)
{
	if (o->scan.wanted)
		o->scan.wanted--;
	o->scan.sent = false;
	o->scan.at = 0;
	o->events.scanned(o->events.context, 0);
}

/*
 * Process one record of a packet; its texts follow it, up to end. fd: the descriptor that came with
 * the packet, or -1.
 */
static void handle_reply(struct opener *o, struct opener_helper *c, struct opener_reply *t,
			 const char *end, int fd)
{
	const char *at = t->texts, *texts[2];
	size_t i;

	for (i = 0; i < 2; i++)
		texts[i] = at < end ? opener_text(&at, end) : "";
	switch (t->kind) {
	case OPENER_REPLY_OPENED:
		handle_opened(o, c, t, fd);
		break;
	case OPENER_REPLY_BEGIN:
		o->scan.at = t->pid;
		o->scan.inside = true;
		o->scan.reported = false;
		break;
	case OPENER_REPLY_PROCESS:
		o->scan.reported |= t->all;
		t->process.comm = texts[0];
		t->process.exe = texts[1];
		o->events.process(o->events.context, &t->process);
		break;
	case OPENER_REPLY_THREAD:
		t->thread.comm = texts[0];
		o->events.thread(o->events.context, &t->thread);
		break;
	case OPENER_REPLY_MAPPING:
		t->mapping.path = texts[0];
		o->events.mapping(o->events.context, &t->mapping);
		break;
	case OPENER_REPLY_END:
		handle_scan_end(o, c, t);
		break;
	case OPENER_REPLY_DONE:
		handle_scan_done(o);
		break;
	}
}

static void handle_packet(struct opener *o, struct opener_helper *c, size_t size, int fd)
{
	size_t at = 0;

	while (size - at >= offsetof(struct opener_reply, texts)) {
		struct opener_reply *t = (struct opener_reply *)(o->packet + at);

		if (t->size < offsetof(struct opener_reply, texts) || t->size > size - at)
			break;
		handle_reply(o, c, t, o->packet + at + t->size, fd);
		at += t->size;
	}
}

/*
 * Read a packet. Return its size, 0 if the child has closed the socket, or a negative errno,
 * -EAGAIN if there is no packet. *fd: the descriptor in the packet, or -1.
 */
static int receive_packet(struct opener *o, const struct opener_helper *c, int *fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {o->packet, sizeof(o->packet)};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(c->helper.socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*fd = -1;
	if (n <= 0)
		return n < 0 ? -errno : 0;
	*fd = helper_received_fd(&message);
	return (int)n;
}

/*
 * Process the replies that have arrived, at most PACKETS_PER_POLL packets. Return 0 if there may be
 * more, -EAGAIN if there are no more, -EIO if the child is dead.
 */
static int receive_packets(struct opener *o, struct opener_helper *c)
{
	unsigned int i;
	int fd, n = 0;

	for (i = 0; i < PACKETS_PER_POLL; i++) {
		n = receive_packet(o, c, &fd);
		if (n <= 0)
			break;
		helper_received(&c->helper, true);
		c->suspected = false;
		handle_packet(o, c, (size_t)n, fd);
	}
	if (n > 0 || n == -EINTR)
		return 0;
	return n == -EAGAIN ? n : -EIO;
}

static int poll_opener_helper(struct opener *o, struct opener_helper *c, uint64_t now,
			      struct error *err)
{
	int ret = 0;

	if (!c->helper.kind.run)
		return 0;
	helper_begin_poll(&c->helper, now);
	c->unsent.now = now;
	if (helper_is_running(&c->helper))
		ret = receive_packets(o, c);
	if (ret == -EIO)
		give_up_child(o, c, -EIO);
	else if (ret == -EAGAIN && helper_is_stuck(&c->helper))
		give_up_child(o, c, -ETIMEDOUT);
	ret = helper_restart(&c->helper, err);
	if (!ret && helper_is_exhausted(&c->helper))
		fail_all_requests(o, c);
	if (helper_is_running(&c->helper))
		send_queued_requests(o, c);
	update_wake_events(o, c);
	return ret;
}

int opener_poll(struct opener *o, uint64_t now, struct error *err)
{
	int ret = poll_opener_helper(o, &o->first_opener, now, err);

	return ret ? ret : poll_opener_helper(o, &o->second_opener, now, err);
}

/* The functions below queue requests. */

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

/*
 * Make room for this many bytes by dropping queued requests of the user with the most bytes. Return
 * false if there is no room, and owner itself is that user.
 */
static bool make_queue_room(struct opener *o, uint32_t owner, size_t bytes)
{
	struct opener_helper *c = o->second_opener.unsent.bytes > o->first_opener.unsent.bytes
					  ? &o->second_opener
					  : &o->first_opener;

	while (o->first_opener.unsent.bytes + o->first_opener.sent.bytes +
		       o->second_opener.unsent.bytes + o->second_opener.sent.bytes + bytes >
	       QUEUE_MAX) {
		struct fair_owner *w = fair_largest_owner(&c->unsent);

		if (!w || w->uid == owner)
			return false;
		fail_request(o, (struct queued_request *)fair_take(&c->unsent, w), -ENOBUFS);
	}
	return true;
}

static int queue_request(struct opener *o, const struct opener_request *request)
{
	const struct open_request *r = &request->open;
	const char *path = or_empty(r->path), *build_id = or_empty(r->build_id);
	const char *debuglink = or_empty(r->debuglink);
	size_t size = sizeof(*request) + strlen(path) + strlen(build_id) + strlen(debuglink) + 3;
	uint32_t owner = opener_owner(o, request->pid, request->open.fallback_pids[0]);
	struct queued_request *a;

	if (strlen(path) >= OPENER_PATH_MAX || strlen(build_id) > OPENER_BUILD_ID_MAX ||
	    strlen(debuglink) > OPENER_NAME_MAX)
		return -ENAMETOOLONG;
	if (!make_queue_room(o, owner, sizeof(*a) + size))
		return -ENOBUFS;
	a = malloc(sizeof(*a) + size);
	if (!a)
		return -ENOMEM;
	a->owner = owner;
	a->size = size;
	a->message = *request;
	size = add_text(a->message.texts, 0, path);
	size = add_text(a->message.texts, size, build_id);
	add_text(a->message.texts, size, debuglink);
	if (fair_put(&o->first_opener.unsent, owner, 0, &a->item, request_bytes(a)) < 0) {
		free(a);
		return -ENOMEM;
	}
	update_wake_events(o, &o->first_opener);
	return 0;
}

uint32_t opener_owner(struct opener *o, uint32_t pid, uint32_t parent)
{
	return owners_of(&o->owners, pid, parent, o->first_opener.helper.now);
}

int opener_open(struct opener *o, const struct open_request *r)
{
	struct opener_request request = {.kind = OPENER_REQUEST_OPEN, .pid = r->pid, .open = *r};
	struct timespec boot;

	if (!request.open.seen && clock_gettime(CLOCK_BOOTTIME, &boot) == 0)
		request.open.seen = (uint64_t)boot.tv_sec * NS_PER_S + (uint64_t)boot.tv_nsec;
	return queue_request(o, &request);
}

int opener_scan(struct opener *o, uint32_t pid)
{
	const struct opener_request request = {.kind = OPENER_REQUEST_SCAN, .pid = pid};

	if (pid)
		return queue_request(o, &request);
	/*
	 * A requested scan that has not begun yet will also see everything that a further scan
	 * would.
	 */
	o->scan.wanted = o->scan.sent || o->scan.at ? 2 : 1;
	update_wake_events(o, &o->first_opener);
	return 0;
}

/* Return the number of requests to which the second opener is still expected to reply. */
static uint64_t expected_replies(const struct opener_helper *c)
{
	if (!c->helper.kind.run || c->helper.silence >= EXPECT_TIMEOUT)
		return 0;
	return c->sent.count + (fair_next_owner(&c->unsent) ? c->unsent.count : 0);
}

uint64_t opener_pending(const struct opener *o)
{
	return o->first_opener.sent.count + o->first_opener.unsent.count + o->scan.wanted +
	       expected_replies(&o->second_opener);
}

uint64_t opener_refused(const struct opener *o)
{
	return o->refused;
}

uint64_t opener_restarts(const struct opener *o)
{
	return o->first_opener.helper.restarts + o->second_opener.helper.restarts;
}

uint64_t opener_cut_short(const struct opener *o)
{
	return o->cut_short;
}

void opener_add_cost(struct opener *o, struct helper_cost *out)
{
	helper_add_cost(&o->first_opener.helper, out);
	helper_add_cost(&o->second_opener.helper, out);
}

int opener_pid(const struct opener *o)
{
	return helper_is_running(&o->first_opener.helper) ? o->first_opener.helper.pid : -1;
}

unsigned int opener_pids(const struct opener *o, pid_t out[static 2])
{
	unsigned int count = 0;

	if (helper_is_running(&o->first_opener.helper))
		out[count++] = o->first_opener.helper.pid;
	if (helper_is_running(&o->second_opener.helper))
		out[count++] = o->second_opener.helper.pid;
	return count;
}

int opener_fd(const struct opener *o)
{
	return o->first_opener.helper.poll;
}

int opener_new(struct opener **out, const struct opener_events *events, struct error *err)
{
	struct opener *o = calloc(1, sizeof(*o));
	int ret;

	if (!o)
		return error_errno(err, -ENOMEM, "cannot start the opener");
	o->events = *events;
	o->descriptors = limits_first_spare();
	o->second_opener.second_opener = true;
	ret = start_opener_child(o, &o->first_opener, err);
	if (ret < 0)
		free(o);
	else
		*out = o;
	return ret;
}

static void stop_opener_helper(struct opener_helper *c)
{
	struct queued_request *a;

	helper_close(&c->helper);
	while ((a = take_queued_request(&c->sent)))
		free(a);
	while ((a = (struct queued_request *)fair_drain(&c->unsent)))
		free(a);
}

void opener_free(struct opener *o)
{
	if (!o)
		return;
	stop_opener_helper(&o->second_opener);
	stop_opener_helper(&o->first_opener);
	suspects_free(&o->suspects);
	free(o);
}
