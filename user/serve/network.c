// SPDX-License-Identifier: Apache-2.0
/* The core's side of the network process (network.h). */
#include "serve/network.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fork_server.h"
#include "base/helper.h"
#include "serve/network_child.h"
#include "serve/network_wire.h"
#include "serve/window_files.h"

#define QUESTIONS_PER_POLL 64
#define SESSION_LEAST 1000000ULL /* ns */
#define SESSION_MOST (3600ULL * 1000000000) /* ns */
#define WALL_MOST (NETWORK_WALL_SECONDS * 1000000000ULL) /* ns */

/* What a child is started with; the listener comes to it as the first reply. */
struct network_start {
	const char *token; /* NULL: none is needed */
	bool any_host;
};

struct network {
	struct network_options options;
	struct network_start start;
	struct fork_server *forks;
	struct helper helper;
	uint64_t generation; /* of the helper whose sessions run */
};

__attribute__((noreturn)) static void run_network_child(void *context, int socket, pid_t parent)
{
	const struct network_start *s = context;
	const struct http_config http = {
		.access = {.bearer = s->token, .no_token = !s->token, .any_host = s->any_host},
		.workers = HTTP_WORKERS_MAX,
		.cpu_ms = 10000,
	};

	network_child_run(socket, parent, &http);
}

static void end_all_sessions(struct network *n)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (n->options.demand->sessions[i].number)
			on_demand_end(&n->options.demand->sessions[i], NULL);
}

void network_close(struct network *n)
{
	if (!n)
		return;
	end_all_sessions(n);
	helper_close(&n->helper);
	fork_server_close(n->forks);
	free(n);
}

int network_fd(const struct network *n)
{
	return n->helper.poll;
}

uint64_t network_cpu(struct network *n)
{
	struct helper_cost cost = {.time_only = true};

	helper_add_cost(&n->helper, &cost);
	fork_server_add_cost(n->forks, &cost);
	return cost.cpu;
}

unsigned int network_pids(const struct network *n, pid_t out[NETWORK_PROCESSES])
{
	unsigned int count = 0;

	if (!n)
		return 0;
	if (helper_is_running(&n->helper))
		out[count++] = n->helper.pid;
	if (fork_server_pid(n->forks) > 0)
		out[count++] = fork_server_pid(n->forks);
	return count;
}

/* Send a reply, with a descriptor that is closed here unless it is -1. */
static void send_network_reply(struct network *n, uint64_t number, int status, int fd)
{
	struct network_reply reply = {.number = number, .status = status};
	struct iovec part = {&reply, sizeof(reply)};
	union helper_descriptor room;
	struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};

	helper_attach_fd(&packet, &room, fd);
	/* A child that reads no replies is replaced. */
	if (n->helper.socket >= 0 &&
	    sendmsg(n->helper.socket, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		helper_kill(&n->helper);
	if (fd >= 0)
		close(fd);
}

/* Send a new child the socket on which it listens. */
static void send_listener(struct network *n)
{
	int fd = fcntl(n->options.listener, F_DUPFD_CLOEXEC, 3);

	if (fd >= 0)
		send_network_reply(n, 0, 0, fd);
	else
		helper_kill(&n->helper);
}

int network_open(struct network **out, const struct network_options *o, struct error *err)
{
	struct network *n = calloc(1, sizeof(*n));
	struct helper_kind kind = {
		.name = "the network process",
		.run = run_network_child,
		.context_size = sizeof(n->start),
		.niceness = 5, /* clients must not delay the recorder and its helpers */
		.attempts = 16,
	};
	int ret;

	if (!n)
		return error_errno(err, -ENOMEM, "cannot start the network process");
	n->options = *o;
	n->start = (struct network_start){o->token, o->any_host};
	kind.context = &n->start;
	/* A child that is started later must not have a copy of what the core has by then. */
	ret = fork_server_open(&n->forks, err);
	if (!ret) {
		kind.forks = n->forks;
		ret = helper_open(&n->helper, &kind, err);
	}
	if (ret < 0) {
		network_close(n);
		return ret;
	}
	n->generation = n->helper.generation;
	send_listener(n);
	*out = n;
	return 0;
}

/* Return a descriptor of a text for reading, or a negative errno. */
static int text_descriptor(const char *text, size_t size)
{
	int fd = memfd_create("skein", MFD_CLOEXEC | MFD_ALLOW_SEALING), ret = 0;

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < size && !ret;) {
		ssize_t bytes = write(fd, text + done, size - done);

		if (bytes < 0 && errno != EINTR)
			ret = -errno;
		done += bytes > 0 ? (size_t)bytes : 0;
	}
	if (!ret &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		ret = -errno;
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

/* Write a text as a question asks, and reply with it. */
static void reply_with_text(struct network *n, const struct network_question *question)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int fd = -ENOMEM;

	if (out) {
		if (question->kind == ASK_METRICS)
			n->options.write_metrics(n->options.context, out,
						 question->open_metrics != 0);
		else
			n->options.write_windows(n->options.context, out);
		fd = fclose(out) ? -ENOMEM : text_descriptor(text, size);
	}
	free(text);
	send_network_reply(n, question->number, fd < 0 ? fd : 0, fd < 0 ? -1 : fd);
}

/* Open a window. Its name comes from the network process: only that of a window is accepted. */
static int open_window(const struct network *n, const char *name)
{
	struct window_file parsed;
	char path[PATH_MAX];
	int fd;

	if (!window_files_parse(name, &parsed))
		return -ENOENT;
	if (snprintf(path, sizeof(path), "%s/%s", n->options.folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

static void begin_session(struct network *n, const struct network_question *question, uint64_t now)
{
	const struct session_request r = {question->number, question->ns,
					  question->kind == ASK_WALL};
	uint64_t most = r.wall ? WALL_MOST : SESSION_MOST;
	int ret = r.ns < SESSION_LEAST || r.ns > most || !r.number ? -EINVAL : 0;

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (n->options.demand->sessions[i].number == question->number)
			ret = -EINVAL;
	if (!ret)
		on_demand_begin(n->options.demand, &r, now, &ret);
	if (ret)
		send_network_reply(n, question->number, ret, -1);
}

static void cancel_session(struct network *n, uint64_t number)
{
	for (size_t i = 0; i < SESSIONS_MAX && number; i++)
		if (n->options.demand->sessions[i].number == number)
			on_demand_end(&n->options.demand->sessions[i], NULL);
}

static void answer_question(struct network *n, struct network_question *question, uint64_t now,
			    bool recording)
{
	int fd;

	question->name[NETWORK_NAME_MAX - 1] = '\0';
	switch (question->kind) {
	case ASK_STATE:
		send_network_reply(n, question->number, recording ? 0 : -EAGAIN, -1);
		break;
	case ASK_METRICS:
	case ASK_WINDOWS:
		reply_with_text(n, question);
		break;
	case ASK_SESSION:
	case ASK_WALL:
		begin_session(n, question, now);
		break;
	case ASK_CANCEL:
		cancel_session(n, question->number);
		break;
	case ASK_WINDOW:
		fd = open_window(n, question->name);
		send_network_reply(n, question->number, fd < 0 ? fd : 0, fd < 0 ? -1 : fd);
		break;
	case ASK_FLIGHT:
		send_network_reply(n, question->number,
				   n->options.trigger(n->options.context, question->name), -1);
		break;
	default:
		send_network_reply(n, question->number, -EINVAL, -1);
	}
}

/* Answer the questions that are there. Return whether the child is alive. */
static bool receive_questions(struct network *n, uint64_t now, bool recording)
{
	for (unsigned int i = 0; i < QUESTIONS_PER_POLL && n->helper.socket >= 0; i++) {
		struct network_question question;
		ssize_t bytes = recv(n->helper.socket, &question, sizeof(question), MSG_DONTWAIT);

		if (bytes < 0)
			return errno == EAGAIN || errno == EINTR;
		if (bytes != sizeof(question))
			return false;
		helper_received(&n->helper, true);
		answer_question(n, &question, now, recording);
	}
	return true;
}

static void reply_to_sessions(struct network *n)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = &n->options.demand->sessions[i];
		uint64_t number = s->number;
		int fd, failed = s->failed;

		if (!number || !s->complete)
			continue;
		on_demand_end(s, &fd);
		if (fd < 0 && !failed)
			failed = -EIO;
		send_network_reply(n, number, failed, fd);
	}
}

int network_poll(struct network *n, uint64_t now, bool recording, struct error *err)
{
	struct helper *h = &n->helper;
	int ret;

	helper_begin_poll(h, now);
	if (helper_is_running(h) && !receive_questions(n, now, recording) && helper_is_running(h))
		helper_kill(h);
	if (!helper_is_running(h))
		end_all_sessions(n);
	reply_to_sessions(n);
	ret = helper_restart(h, err);
	if (h->generation != n->generation) {
		end_all_sessions(n); /* those of the child before */
		send_listener(n);
	}
	n->generation = h->generation;
	helper_expect(h, false, false);
	return ret;
}
