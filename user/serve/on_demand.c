// SPDX-License-Identifier: Apache-2.0
/* What clients ask of a running service (on_demand.h). */
#include "serve/on_demand.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC 1000000000ULL
/* Samples of this age (ns) have the names that can be found; as for windows (window_sink.c). */
#define NAMES_TIME (3 * NSEC_PER_SEC)
/* Samples are passed on so long (ns) after their time at most. */
#define UNDER_WAY (1 * NSEC_PER_SEC)
/* Samples are counted at most so often (ns), however often a client asks. */
#define COUNT_TIME (4 * NSEC_PER_SEC)
/* Samples are counted so often (ns), also if no client asks. */
#define COUNT_TIME_MOST (60 * NSEC_PER_SEC)
/* So many samples are counted at once, however young they are. */
#define WAITING_MAX 200000
/* In the first counts after the start, listed functions are chosen each time. */
#define FIRST_CHOICES 6

static int keep_demand_account(struct on_demand *d, const struct account *a)
{
	for (size_t i = 0; i < d->accounts.count; i++)
		if (d->accounts.items[i].event == a->event && d->accounts.items[i].cpu == a->cpu) {
			d->accounts.items[i] = *a;
			return 0;
		}
	return vector_push(&d->accounts, *a);
}

/* A loss that goes on is put again under its id, with a larger count. */
static void count_demand_loss(struct on_demand *d, const struct loss *l)
{
	struct counted_loss *of = NULL;

	if (l->reason >= LOSS_COUNT)
		return;
	for (size_t i = 0; i < COUNTED_LOSSES && i < d->loss_count && !of; i++)
		if (d->losses[i].id == l->id)
			of = &d->losses[i];
	if (!of) {
		of = &d->losses[d->loss_count++ % COUNTED_LOSSES];
		*of = (struct counted_loss){.id = l->id};
	}
	d->lost[l->reason] += l->count > of->count ? l->count - of->count : 0;
	of->count = l->count;
}

static void fail_session(struct session *s, int code)
{
	s->failed = code;
	s->complete = true;
}

/* Return whether a session takes records. */
static bool is_session_open(const struct session *s)
{
	return s->number && !s->complete && !s->pending;
}

static void put_into_sessions(struct on_demand *d, enum record_kind kind, const void *record)
{
	uint64_t time = kind == KIND_SAMPLE ? ((const struct sample *)record)->time : 0;

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = &d->sessions[i];
		struct error err = {""};
		int ret;

		if (!is_session_open(s) || (time && (time < s->begin || time >= s->end)))
			continue;
		ret = window_trace_put(&s->trace, d->stores, kind, record, &err);
		if (ret < 0)
			fail_session(s, ret);
	}
}

int on_demand_put(struct on_demand *d, enum record_kind kind, const void *record)
{
	if (kind == KIND_ACCOUNT)
		return keep_demand_account(d, record);
	if (kind == KIND_GROUP_TIME) /* it counts from the begin of the source */
		return 0;
	put_into_sessions(d, kind, record);
	if (kind == KIND_LOSS)
		count_demand_loss(d, record);
	if (kind != KIND_SAMPLE)
		return 0;
	return vector_push(&d->functions.waiting, *(const struct sample *)record);
}

void on_demand_update(struct on_demand *d, enum record_kind kind, const void *record)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = &d->sessions[i];
		struct error err = {""};
		int ret;

		if (!is_session_open(s))
			continue;
		if (IN_EVERY_WINDOW >> kind & 1)
			ret = window_trace_put(&s->trace, d->stores, kind, record, &err);
		else
			ret = window_trace_update(&s->trace, d->stores, kind, record, &err);
		if (ret < 0)
			fail_session(s, ret);
	}
}

static void complete_session(struct on_demand *d, struct session *s)
{
	struct error err = {""};
	int ret = d->host ? window_trace_put_host(&s->trace, d->host, s->end, &err) : 0, closed;

	closed = window_trace_close(&s->trace, s->end, &err);
	fail_session(s, ret ? ret : closed);
}

/* Count the samples before a time, ns, and choose which functions are listed. */
static int count_until(struct on_demand *d, uint64_t until, bool choose, struct error *err)
{
	int ret = function_times_count(&d->functions, d->stores, until, err);

	if (ret)
		return ret;
	if (choose || d->choices < FIRST_CHOICES) {
		d->choices++;
		ret = cpu_times_choose(&d->functions.table, d->top);
	}
	cpu_times_settle(&d->functions.table);
	return ret ? error_errno(err, ret, "cannot choose functions") : 0;
}

int on_demand_tick(struct on_demand *d, uint64_t now, struct error *err)
{
	bool many = d->functions.waiting.count > WAITING_MAX;

	if (d->stores && pauses_tick(&d->pauses, d->stores) < 0)
		return error_set(err, -ENOMEM, "out of memory for pauses");
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = &d->sessions[i];
		struct error ignored = {""};
		int ret;

		if (!is_session_open(s))
			continue;
		if (s->wall ? s->asked : now >= s->end + UNDER_WAY) {
			complete_session(d, s);
			continue;
		}
		ret = sink_tick(s->trace.writer, now, &ignored);
		if (ret < 0)
			fail_session(s, ret);
	}
	if (!many && now < d->counted + COUNT_TIME_MOST)
		return 0;
	d->counted = now;
	return count_until(d, many ? now : now - NAMES_TIME, false, err);
}

int on_demand_end_groups(struct on_demand *d)
{
	return service_waits_add(&d->waits, &d->functions.table, d->groups);
}

int on_demand_count(struct on_demand *d, uint64_t now, struct error *err)
{
	if (!d->stores || now < d->counted + COUNT_TIME || now < NAMES_TIME)
		return 0;
	d->counted = now;
	return count_until(d, now - NAMES_TIME, false, err);
}

void on_demand_mark(struct on_demand *d)
{
	function_times_mark(&d->functions, d->stores);
}

int on_demand_end_window(struct on_demand *d, uint64_t now, struct error *err)
{
	int ret;

	d->counted = now;
	ret = count_until(d, now - NAMES_TIME, true, err);
	on_demand_mark(d);
	return ret;
}

/* Return the wall clock, ns since 1970. */
static uint64_t wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/* Open the trace of a session that begins now, ns. */
static int open_session(struct on_demand *d, struct session *s, uint64_t ns, uint64_t now)
{
	struct error err = {""};
	char path[PATH_MAX];
	int ret = 0;

	if (snprintf(path, sizeof(path), "%s/" SESSION_PREFIX "%llu.skein", d->folder,
		     (unsigned long long)s->number) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	s->pending = 0;
	s->begin = now;
	s->end = now + ns;
	ret = window_trace_open_at(&s->trace, path, now, wall_clock(), &err);
	if (!ret)
		ret = window_trace_describe(&s->trace, d->stores, d->host, &err);
	if (!ret && s->wall && d->wall.event.id)
		ret = window_trace_put(&s->trace, d->stores, KIND_EVENT, &d->wall.event, &err);
	return ret;
}

/* Return why a session cannot begin, a negative errno. *out: its place. */
static int find_session_place(struct on_demand *d, const struct session_request *r,
			      struct session **out)
{
	const struct session_waits *w = &d->wall;
	unsigned int wall = 0;

	*out = NULL;
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = &d->sessions[i];

		wall += s->number && s->wall;
		if (!s->number)
			*out = s;
	}
	if (!d->stores || !d->host)
		return -EAGAIN;
	if (!r->wall)
		return *out ? 0 : -EBUSY;
	if (w->refused)
		return w->refused;
	if (w->always && !w->event.id)
		return -ENOTSUP;
	if (w->over_budget && !w->always)
		return -EDQUOT;
	return *out && wall < WALL_SESSIONS_MAX ? 0 : -EBUSY;
}

struct session *on_demand_begin(struct on_demand *d, const struct session_request *r, uint64_t now,
				int *ret)
{
	struct session *s;

	*ret = find_session_place(d, r, &s);
	if (*ret)
		return NULL;
	*s = (struct session){.number = r->number, .wall = r->wall};
	if (r->wall && !d->wall.recorded && !d->wall.always)
		s->pending = r->ns;
	else
		*ret = open_session(d, s, r->ns, now);
	if (*ret)
		on_demand_end(s, NULL);
	return *ret ? NULL : s;
}

void on_demand_end(struct session *s, int *fd)
{
	if (fd)
		*fd = s->complete && !s->failed ? open(s->trace.path, O_RDONLY | O_CLOEXEC) : -1;
	if (s->trace.path[0])
		unlink(s->trace.path);
	window_trace_free(&s->trace);
	*s = (struct session){.number = 0};
}

/* Put the part of a wait that is in the time of a session into it. */
static int put_wait_into_session(struct on_demand *d, struct session *s, const struct sample *wait)
{
	const uint64_t left = wait->time - wait->length;
	const uint64_t from = left > s->begin ? left : s->begin;
	struct error err = {""};
	struct sample part = *wait;

	part.time = wait->time < s->end ? wait->time : s->end;
	/* One that has not ended comes again, unless this session asked for it. */
	if (part.time <= from || (wait->flags & SAMPLE_FLAG_NOT_ENDED && !s->asked))
		return 0;
	part.length = part.time - from;
	part.weight = (uint64_t)((double)wait->weight * (double)part.length / (double)wait->length);
	return window_trace_put(&s->trace, d->stores, KIND_SAMPLE, &part, &err);
}

void on_demand_put_waits(struct on_demand *d, enum record_kind kind, const void *record)
{
	if (kind == KIND_EVENT) {
		d->wall.event = *(const struct event *)record;
		d->wall.event.name = EVENT_OFF_CPU;
		d->wall.event.unit = "ns";
	}
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = &d->sessions[i];
		struct error err = {""};
		int ret;

		if (!s->wall || !is_session_open(s))
			continue;
		ret = kind == KIND_SAMPLE
			      ? put_wait_into_session(d, s, record)
			      : window_trace_put(&s->trace, d->stores, kind, record, &err);
		if (ret < 0)
			fail_session(s, ret);
	}
}

bool on_demand_wants_waits(struct on_demand *d)
{
	bool wanted = false;

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		wanted |= d->sessions[i].number && d->sessions[i].wall && !d->sessions[i].complete;
	d->wall.recorded &= wanted;
	return wanted;
}

void on_demand_waits_recorded(struct on_demand *d, int status, uint64_t now)
{
	d->wall.recorded = !status;
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = &d->sessions[i];
		int ret = status;

		if (!s->number || !s->pending)
			continue;
		if (!ret)
			ret = open_session(d, s, s->pending, now);
		if (ret)
			fail_session(s, ret);
	}
}

bool on_demand_wants_open_waits(struct on_demand *d, uint64_t now)
{
	bool wanted = false;

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = &d->sessions[i];

		if (s->wall && is_session_open(s) && now >= s->end + UNDER_WAY)
			wanted = s->asked = true;
	}
	return wanted;
}

void on_demand_free(struct on_demand *d)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (d->sessions[i].number)
			on_demand_end(&d->sessions[i], NULL);
	function_times_free(&d->functions);
	service_waits_free(&d->waits);
	pauses_free(&d->pauses);
	vector_free(&d->accounts);
}

void on_demand_clean(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, SESSION_PREFIX, strlen(SESSION_PREFIX)))
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
}
