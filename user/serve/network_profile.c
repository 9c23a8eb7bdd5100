// SPDX-License-Identifier: Apache-2.0
/* Profiles over HTTP (network_profile.h). */
#include "serve/network_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/options.h"
#include "export/export.h"
#include "export/gzip.h"
#include "serve/network_text.h"
#include "trace/sequence.h"
#include "trace/trace.h"

#define NSEC_PER_SEC 1000000000ULL
#define PROFILES_MAX 4 /* of windows, at the same time */
#define LOOK_EVERY 4096 /* records between two looks at the client and at the CPU time */
#define SECONDS_USUAL 30 /* as Go's net/http/pprof */
#define SECONDS_MOST 3600
#define LAST_USUAL (300 * NSEC_PER_SEC)

/* What a request wants, and where it comes from. */
struct profile_request {
	struct network_child *child;
	const struct http_request *q;
	const struct network_profile_kind *kind;
	bool wall; /* of wall time */
	uint64_t seconds; /* the next ones; 0: windows */
	uint64_t last; /* ns: windows that ended in that time */
	const char *window; /* one window; NULL: those of last */
	struct network_windows windows;
	int fd; /* of the trace that is open; -1: none is */
};

/* Read which time is meant. Return 0, or -EINVAL with the answer filled. */
static int parse_profile_time(struct profile_request *p, struct http_answer *a)
{
	const uint64_t most = p->wall ? NETWORK_WALL_SECONDS : SECONDS_MOST;
	const char *last = http_request_text(p->q, "last");
	int seconds = http_request_number(p->q, "seconds", &p->seconds);
	struct error err = {""};

	p->window = http_request_text(p->q, "window");
	if ((seconds != -ENOENT) + (last != NULL) + (p->window != NULL) > 1) {
		http_answer_text(a, 400, "one of seconds, last and window is enough\n");
		return -EINVAL;
	}
	if (seconds != -ENOENT && (seconds || !p->seconds || p->seconds > most)) {
		http_answer_text(a, 400, "seconds is a number from 1 to %" PRIu64 "\n", most);
		return -EINVAL;
	}
	if (p->wall && (last || p->window)) {
		http_answer_text(a, 400,
				 "wall time is of the next seconds: seconds=N, not last or "
				 "window\n");
		return -EINVAL;
	}
	if (last && (parse_duration(last, &p->last, &err) < 0 || !p->last)) {
		http_answer_text(a, 400, "last is a time such as 90s, 5m or 1h\n");
		return -EINVAL;
	}
	if (seconds == -ENOENT && !last && !p->window) {
		p->seconds = strcmp(p->kind->usual, "seconds") && !p->wall ? 0 : SECONDS_USUAL;
		p->last = p->seconds ? 0 : LAST_USUAL;
	}
	return 0;
}

/* Read what is meant. Return 0, or -EINVAL with the answer filled. */
static int parse_profile_request(struct profile_request *p, struct http_answer *a)
{
	const char *event = http_request_text(p->q, "event");

	if (!event)
		event = p->kind->event;
	p->wall = !strcmp(event, EVENT_WALL);
	if (!p->wall && strcmp(event, EVENT_CPU_CLOCK) != 0) {
		http_answer_text(a, 400, "event is " EVENT_CPU_CLOCK " or " EVENT_WALL "\n");
		return -EINVAL;
	}
	return parse_profile_time(p, a);
}

/* Keep the windows that are wanted. */
static void choose_windows(struct profile_request *p)
{
	uint64_t now = (uint64_t)time(NULL), length = p->last / NSEC_PER_SEC;
	uint64_t from = length < now ? now - length : 0;
	size_t kept = 0;

	for (size_t i = 0; i < p->windows.list.count; i++) {
		const struct window_file *w = &p->windows.list.items[i];

		/* A flight has the samples of windows once more. */
		if (p->window ? !strcmp(w->name, p->window) : !w->reason[0] && w->end > from)
			p->windows.list.items[kept++] = *w;
	}
	p->windows.list.count = kept;
}

static void close_part(struct profile_request *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/* Open a window for sequence_source_of(), which has at most one open. */
static int open_part(void *context, size_t number, struct trace **out, struct error *err)
{
	struct profile_request *p = context;
	struct network_question question = {.kind = ASK_WINDOW};
	const char *name = p->windows.list.items[number].name;
	int ret;

	close_part(p);
	if (strlen(name) >= sizeof(question.name))
		return -ENOENT;
	strcpy(question.name, name);
	ret = ask_core(p->child->asker, &question, p->q, &p->fd);
	if (!ret && p->fd < 0)
		ret = -EIO;
	return ret ? ret : trace_open_fd(out, p->fd, name, err);
}

static const struct export_format *find_format(const struct profile_request *p)
{
	return export_format_named(p->kind->format);
}

/* A sink that passes everything on as long as the request has not expired. */
struct patient_sink {
	struct sink sink;
	struct sink *to;
	const struct http_request *q;
	unsigned int records;
};

static int patient_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	struct patient_sink *p = (struct patient_sink *)s;

	if (++p->records % LOOK_EVERY == 0 && http_request_expired(p->q))
		return error_set(err, -ECANCELED, "this took too long: ask for less time");
	return sink_put(p->to, kind, record, err);
}

static int patient_finish(struct sink *s, struct error *err)
{
	struct sink *to = ((struct patient_sink *)s)->to;

	return to->ops->finish(to, err);
}

/* Write what a source has in the wanted format, as the body of the answer. */
static int write_profile(const struct profile_request *p, struct source *source,
			 struct http_answer *a, struct error *err)
{
	static const struct sink_ops ops = {.put = patient_put, .finish = patient_finish};
	struct patient_sink patient = {.sink = {.ops = &ops}, .q = p->q};
	const struct export_format *format = find_format(p);
	const struct export_options options = {.services = true, .wall = p->wall};
	FILE *body = open_memstream(&a->body, &a->size), *out = NULL;
	struct sink *sink = NULL;
	int ret = body ? 0 : -ENOMEM;

	if (!ret)
		out = format->gzip ? gzip_stream(body) : body;
	if (!ret && !out)
		ret = -ENOMEM;
	if (!ret)
		ret = format->sink(&sink, out, &options, err);
	if (!ret) {
		patient.to = sink;
		patient.sink.wants = sink->wants;
		ret = pipe_join(source, &patient.sink, err);
	}
	sink_free(sink);
	if (out && out != body && fclose(out) && !ret)
		ret = -ENOMEM;
	if (body && fclose(body) && !ret)
		ret = -ENOMEM;
	return ret;
}

static int profile_of_windows(struct profile_request *p, struct http_answer *a, struct error *err)
{
	struct source *source = NULL;
	int ret = network_windows_get(p->child->asker, p->q, &p->windows);

	if (!ret)
		choose_windows(p);
	if (!ret && !p->windows.list.count)
		return http_answer_text(a, 404, "there is no window of that time\n");
	if (!ret)
		ret = sequence_source_of(&source, open_part, p, p->windows.list.count, err);
	if (!ret)
		ret = write_profile(p, source, a, err);
	source_free(source);
	return ret;
}

/* Answer why a session could not begin or end. Return 0, or the code if it has no answer here. */
static int answer_no_session(struct http_answer *a, int code)
{
	switch (code) {
	case -EBUSY:
		return http_answer_text(a, 429, "there are too many sessions: try again later\n");
	case -EAGAIN:
		return http_answer_text(a, 503, "skein serve does not record yet\n");
	case -EDQUOT:
		return http_answer_text(a, 503,
					"the CPU budget is used up, and wall time would take more: "
					"try again later, or raise cpu-budget\n");
	case -ENODEV:
		return http_answer_text(a, 409,
					"switches are recorded without stacks of waits: events or "
					"keep-events needs off-cpu or all\n");
	case -ENOTSUP:
		return http_answer_text(a, 501,
					"the kernel takes no stacks of waits: the log of skein "
					"serve has the reason\n");
	default:
		return code;
	}
}

static int profile_of_session(struct profile_request *p, struct http_answer *a, struct error *err)
{
	struct network_question question = {.kind = p->wall ? ASK_WALL : ASK_SESSION,
					    .ns = p->seconds * NSEC_PER_SEC};
	struct trace *t = NULL;
	struct source *source = NULL;
	int ret = ask_core(p->child->asker, &question, p->q, &p->fd);

	if (ret)
		return answer_no_session(a, ret);
	ret = p->fd < 0 ? -EIO : trace_open_fd(&t, p->fd, "the session", err);
	if (!ret)
		ret = trace_source(&source, t, err);
	if (!ret)
		ret = write_profile(p, source, a, err);
	source_free(source);
	trace_close(t);
	return ret;
}

int network_profile_answer(struct network_child *c, const struct http_request *q,
			   const struct network_profile_kind *kind, struct http_answer *a)
{
	struct profile_request p = {.child = c, .q = q, .kind = kind, .fd = -1};
	struct error err = {""};
	int ret;

	if (parse_profile_request(&p, a) < 0)
		return 0;
	a->type = find_format(&p)->gzip ? "application/octet-stream" : "text/plain; charset=utf-8";
	if (p.seconds)
		ret = profile_of_session(&p, a, &err);
	else if (atomic_fetch_add(&c->profiles, 1) < PROFILES_MAX)
		ret = profile_of_windows(&p, a, &err);
	else
		ret = http_answer_text(a, 429,
				       "too many profiles are being made: try again later\n");
	if (!p.seconds)
		atomic_fetch_sub(&c->profiles, 1);
	close_part(&p);
	vector_free(&p.windows.list);
	if (ret < 0 && err.text[0])
		return http_answer_text(a, ret == -ECANCELED ? 503 : 500, "%s\n", err.text);
	return ret;
}
