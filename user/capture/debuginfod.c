// SPDX-License-Identifier: Apache-2.0
/*
 * The owner's side of the debuginfod helper: one request at a time goes to the helper, and a file
 * that comes back is copied into the cache folder, some of it in each poll, before anybody uses it:
 * so the helper cannot change a file after its build-id was checked.
 */
#include "capture/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/queue.h"
#include "base/vector.h"
#include "capture/debuginfod_wire.h"

/* Bytes that one poll copies. */
#define COPY_BYTES (4u << 20)
/* After so many requests in a row that servers do not respond to, the others are not sent. */
#define SILENT_MAX 2
/* Helpers that die in a row before all requests are given up. */
#define ATTEMPTS_MAX 3

struct fetch {
	struct queue_item item;
	uint64_t token;
	enum debuginfod_what what;
	char build_id[BUILD_ID_MAX + 1];
};

/* A file that was delivered, until debuginfod_settle(). */
struct unsettled {
	uint64_t token;
	enum debuginfod_what what;
	bool cached; /* it came from the cache */
	char build_id[BUILD_ID_MAX + 1];
	char name[64]; /* its temporary name */
};

struct debuginfod {
	struct debuginfod_options options;
	struct debuginfod_child child;
	struct helper helper;
	struct queue waiting;
	struct fetch *current; /* NULL: the helper is idle */
	bool sent; /* current was sent to the present helper */
	uint64_t sequence;
	/* a file that is being copied: from the helper, to the cache; -1: none */
	struct {
		int from, to;
		uint64_t bytes;
		char name[64];
	} copy;
	VECTOR(struct unsettled) unsettled;
	unsigned int silent; /* requests in a row without a response */
	struct debuginfod_counts counts;
};

#define OUTCOME_TEXT(N, text) [DEBUGINFOD_##N] = text,

const char *debuginfod_outcome_text(enum debuginfod_outcome outcome)
{
	static const char *const texts[] = {DEBUGINFOD_OUTCOMES(OUTCOME_TEXT)};

	return texts[outcome];
}

uint64_t debuginfod_limit(const char *variable, uint64_t most)
{
	const char *text = getenv(variable);
	char *end;
	unsigned long long value;

	if (!text || *text < '0' || *text > '9')
		return most;
	value = strtoull(text, &end, 10);
	return *end || !value || value > most ? most : value;
}

/* Write the path of debuginfod-find to buf. Return 0 or -ENOENT. */
static int find_program(char *buf, size_t size)
{
	const char *folders = getenv("PATH"), *end;

	for (folders = folders ? folders : "/usr/bin:/bin"; *folders;
	     folders = *end ? end + 1 : end) {
		end = folders + strcspn(folders, ":");
		if (*folders != '/') /* the helper's working directory is its own folder */
			continue;
		if (snprintf(buf, size, "%.*s/%s", (int)(end - folders), folders,
			     DEBUGINFOD_PROGRAM) < (int)size &&
		    access(buf, X_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

bool debuginfod_is_installed(void)
{
	char path[4096];

	return find_program(path, sizeof(path)) == 0;
}

static bool is_url(const char *text, size_t length)
{
	static const char *const schemes[] = {"http://", "https://", "file:///"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (length > strlen(schemes[i]) && !strncmp(text, schemes[i], strlen(schemes[i])))
			return true;
	return false;
}

int debuginfod_choose_urls(const char **out, const char *given, struct error *err)
{
	const char *urls = given && *given ? given : getenv(DEBUGINFOD_URLS);
	size_t length;
	unsigned int count = 0;

	for (const char *at = urls ? urls : ""; *at; at += length) {
		at += strspn(at, " ");
		length = strcspn(at, " ");
		if (length && !is_url(at, length))
			return error_set(err, -EINVAL,
					 "'%.*s' is no address of a debuginfod server, such as "
					 "https://debuginfod.debian.net",
					 (int)length, at);
		count += length > 0;
	}
	if (!count)
		return error_set(err, -EINVAL,
				 "which debuginfod servers? Name them, as in "
				 "--debuginfod=https://debuginfod.debian.net, or in the "
				 "environment variable " DEBUGINFOD_URLS
				 " (sudo removes it: sudo --preserve-env=" DEBUGINFOD_URLS ")");
	*out = urls;
	return 0;
}

static _Noreturn void run_child(void *context, int socket, pid_t parent)
{
	debuginfod_child_main(context, socket, parent);
}

int debuginfod_new(struct debuginfod **out, const struct debuginfod_options *o, struct error *err)
{
	struct debuginfod *d = calloc(1, sizeof(*d));
	struct helper_kind kind = {.name = "the helper that runs " DEBUGINFOD_PROGRAM,
				   .run = run_child,
				   .attempts = ATTEMPTS_MAX};
	int ret = -ENOMEM;

	if (!d)
		return error_errno(err, ret, "debuginfod");
	d->options = *o;
	d->helper.socket = d->copy.from = d->copy.to = d->child.folder = -1;
	d->child.urls = o->urls;
	ret = find_program(d->child.program, sizeof(d->child.program));
	if (ret < 0) {
		error_set(err, ret, DEBUGINFOD_PROGRAM " is not installed");
		error_hint(err, DEBUGINFOD_PACKAGES);
		goto fail;
	}
	ret = d->child.folder = debuginfod_cache_open(o->folder, err);
	if (ret < 0)
		goto fail;
	kind.context = &d->child;
	ret = helper_open(&d->helper, &kind, err);
	if (ret < 0)
		goto fail;
	*out = d;
	return 0;
fail:
	debuginfod_free(d);
	return ret;
}

/* Remove the folder of a helper that has ended. */
static void remove_helper_folder(const struct debuginfod *d, pid_t child)
{
	char name[64];

	snprintf(name, sizeof(name), FETCH_FOLDER_PREFIX "%d-%d", (int)getpid(), (int)child);
	debuginfod_cache_remove_folder(d->child.folder, name);
}

static void end_copy(struct debuginfod *d)
{
	if (d->copy.from >= 0)
		close(d->copy.from);
	if (d->copy.to >= 0)
		close(d->copy.to);
	d->copy.from = d->copy.to = -1;
}

void debuginfod_free(struct debuginfod *d)
{
	pid_t child;

	if (!d)
		return;
	child = d->helper.pid;
	helper_close(&d->helper);
	if (d->copy.to >= 0)
		(void)unlinkat(d->child.folder, d->copy.name, 0);
	end_copy(d);
	while (d->unsettled.count)
		debuginfod_settle(d, d->unsettled.items[0].token, false);
	vector_free(&d->unsettled);
	for (struct fetch *f; (f = (struct fetch *)queue_take(&d->waiting));)
		free(f);
	free(d->current);
	if (child > 0)
		remove_helper_folder(d, child);
	if (d->child.folder >= 0)
		close(d->child.folder);
	free(d);
}

int debuginfod_fetch(struct debuginfod *d, uint64_t token, const char *build_id,
		     enum debuginfod_what what)
{
	size_t length = strlen(build_id);
	struct fetch *f;

	if (length < 4 || length > BUILD_ID_MAX || length % 2 ||
	    build_id[strspn(build_id, "0123456789abcdef")])
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->token = token;
	f->what = what;
	strcpy(f->build_id, build_id);
	queue_put(&d->waiting, &f->item, sizeof(*f));
	d->counts.requested++;
	helper_wake(&d->helper);
	return 0;
}

void debuginfod_settle(struct debuginfod *d, uint64_t token, bool right)
{
	for (size_t i = 0; i < d->unsettled.count; i++) {
		struct unsettled u = d->unsettled.items[i];

		if (u.token != token)
			continue;
		if (!u.cached)
			debuginfod_cache_settle(d->child.folder, u.name, u.build_id, u.what, right);
		else if (!right)
			debuginfod_cache_drop(d->child.folder, u.build_id, u.what);
		d->unsettled.items[i] = d->unsettled.items[--d->unsettled.count];
		d->counts.outcomes[DEBUGINFOD_FOUND] -= !right;
		d->counts.outcomes[DEBUGINFOD_OTHER] += !right;
		return;
	}
}

/* Pass the result of the current request on. The receiver owns fd. */
static void end_fetch(struct debuginfod *d, int fd, enum debuginfod_outcome outcome,
		      const char *why)
{
	struct fetch *f = d->current;

	d->current = NULL;
	d->sent = false;
	d->silent = outcome == DEBUGINFOD_SILENT ? d->silent + 1 : 0;
	d->counts.outcomes[outcome]++;
	d->options.fetched(d->options.context, f->token, fd, outcome, why);
	free(f);
}

/* Pass a file on that is in the cache folder, and expect to hear whether it is the right one. */
static void deliver(struct debuginfod *d, int fd, const char *name)
{
	struct unsettled u = {
		.token = d->current->token, .what = d->current->what, .cached = !name};

	strcpy(u.build_id, d->current->build_id);
	snprintf(u.name, sizeof(u.name), "%s", name ? name : "");
	if (vector_push(&d->unsettled, u) < 0) {
		close(fd);
		if (name)
			(void)unlinkat(d->child.folder, name, 0);
		end_fetch(d, -1, DEBUGINFOD_FAILED, "out of memory");
		return;
	}
	d->counts.cached += u.cached;
	end_fetch(d, fd, DEBUGINFOD_FOUND, "");
}

static void fail_copy(struct debuginfod *d, int error)
{
	(void)unlinkat(d->child.folder, d->copy.name, 0);
	end_copy(d);
	end_fetch(d, -1, DEBUGINFOD_FAILED, strerror(-error));
}

/* Copy the next part of a file. */
static void advance_copy(struct debuginfod *d)
{
	uint64_t end = d->copy.bytes + COPY_BYTES;
	ssize_t n = 1;
	int fd;

	while (n > 0 && d->copy.bytes < end) {
		n = copy_file_range(d->copy.from, NULL, d->copy.to, NULL,
				    (size_t)(end - d->copy.bytes), 0);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			d->copy.bytes += (uint64_t)n;
	}
	if (n < 0) {
		fail_copy(d, -errno);
		return;
	}
	if (d->copy.bytes > FETCH_BYTES_MAX) {
		fail_copy(d, -EFBIG);
		return;
	}
	helper_wake(&d->helper);
	if (n > 0)
		return;
	d->counts.bytes += d->copy.bytes;
	fd = openat(d->child.folder, d->copy.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		fail_copy(d, -errno);
		return;
	}
	end_copy(d);
	deliver(d, fd, d->copy.name);
}

/* Begin to copy a file of the helper, which may send any descriptor. Takes ownership of fd. */
static void begin_copy(struct debuginfod *d, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		end_fetch(d, -1, DEBUGINFOD_FAILED, "the helper sent no file");
		return;
	}
	d->copy.from = fd;
	d->copy.bytes = 0;
	d->copy.to = debuginfod_cache_create(d->child.folder, d->copy.name);
	if (d->copy.to < 0)
		fail_copy(d, d->copy.to);
	else
		helper_wake(&d->helper);
}

static void handle_fetch_reply(struct debuginfod *d, struct debuginfod_reply *r, int fd)
{
	bool mine = d->current && d->sent && r->sequence == d->sequence;

	r->why[sizeof(r->why) - 1] = '\0';
	helper_received(&d->helper, mine && r->done);
	if (mine && r->done && r->outcome == DEBUGINFOD_FOUND && fd >= 0) {
		d->sent = false;
		begin_copy(d, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (mine && r->done)
		end_fetch(d, -1,
			  r->outcome < DEBUGINFOD_OUTCOME_COUNT && r->outcome != DEBUGINFOD_FOUND
				  ? (enum debuginfod_outcome)r->outcome
				  : DEBUGINFOD_FAILED,
			  r->why);
}

/* Receive one message. Return false if none has arrived or the helper is gone. */
static bool receive_reply(struct debuginfod *d)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct debuginfod_reply reply;
	struct iovec part = {&reply, sizeof(reply)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(d->helper.socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fd = n < 0 ? -1 : helper_received_fd(&message);

	if (n == sizeof(reply)) {
		handle_fetch_reply(d, &reply, fd);
		return true;
	}
	if (fd >= 0)
		close(fd);
	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		helper_kill(&d->helper);
	return false;
}

/* Let the next request begin: from the cache, if it has the file. */
static void begin_fetch(struct debuginfod *d)
{
	int fd;

	d->current = (struct fetch *)queue_take(&d->waiting);
	if (!d->current)
		return;
	fd = debuginfod_cache_get(d->child.folder, d->current->build_id, d->current->what);
	if (fd >= 0)
		deliver(d, fd, NULL);
	else if (d->silent >= SILENT_MAX)
		end_fetch(d, -1, DEBUGINFOD_SILENT, "earlier requests had no response either");
	if (d->waiting.first)
		helper_wake(&d->helper);
}

static void send_current(struct debuginfod *d)
{
	struct debuginfod_request r = {.sequence = ++d->sequence, .what = d->current->what};

	strcpy(r.build_id, d->current->build_id);
	d->sent = send(d->helper.socket, &r, sizeof(r), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(r);
}

/* Replace a helper that died or hangs; its request has failed. */
static void mend_helper(struct debuginfod *d, pid_t before)
{
	struct error err = {""};

	if (helper_is_stuck(&d->helper))
		helper_kill(&d->helper);
	if (!helper_is_running(&d->helper)) {
		if (before > 0)
			remove_helper_folder(d, before);
		if (d->sent)
			end_fetch(d, -1, DEBUGINFOD_FAILED, "its helper process was lost");
		if (helper_restart(&d->helper, &err) < 0 && d->current && d->copy.to < 0)
			end_fetch(d, -1, DEBUGINFOD_FAILED, err.text);
	}
}

void debuginfod_poll(struct debuginfod *d, uint64_t now)
{
	pid_t before = d->helper.pid;

	helper_begin_poll(&d->helper, now);
	while (helper_is_running(&d->helper) && receive_reply(d))
		;
	if (d->copy.to >= 0)
		advance_copy(d);
	if (!d->current)
		begin_fetch(d);
	mend_helper(d, before);
	if (d->current && !d->sent && d->copy.to < 0 && helper_is_running(&d->helper))
		send_current(d);
	helper_expect(&d->helper, d->sent, false);
}

int debuginfod_fd(const struct debuginfod *d)
{
	return d->helper.poll;
}

const struct debuginfod_counts *debuginfod_counts(const struct debuginfod *d)
{
	return &d->counts;
}
