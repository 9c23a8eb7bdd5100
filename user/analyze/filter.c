// SPDX-License-Identifier: Apache-2.0
/*
 * A filter is implemented as a sink between a source and the receiving sink. The filter's sink
 * keeps the data of hosts, events, processes and threads that are needed to decide about a sample,
 * and passes on the records that are selected.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "analyze/filter_lanes.h"
#include "analyze/index.h"
#include "analyze/lane_owners.h"
#include "analyze/names.h"
#include "base/number_list.h"

#define LANE_RECORDS (WANT(SLICE) | WANT(EDGE))
#define SPAN_RECORDS (WANT(SPAN) | WANT(COUNTER))
#define NEEDED (WANT(HOST) | WANT(EVENT) | WANT(PROCESS) | WANT(THREAD))

/*
 * The conditions, in the order of their bits. X(NAME, member, "description for the error",
 * "option")
 */
#define CONDITIONS(X) \
	X(PID, pids, "process with pid", "--pid") \
	X(TID, tids, "thread with tid", "--tid") \
	X(COMM, comm, "process or thread named", "--comm") \
	X(CGROUP, cgroup, "process in control group", "--cgroup") \
	X(CONTAINER, container, "process in container", "--container") \
	X(SERVICE, service, "process of service", "--service") \
	X(EVENT, event, "event named", "--event")

/*
 * The words of --python. A sample matches a word if it has at least one flag of any, all flags of
 * all, and no flag of none. A JVM's threads may be collecting, too.
 */
#define ANY_PYTHON (SAMPLE_FLAG_PYTHON | SAMPLE_FLAG_UNREAD)
static const struct python_word {
	const char *word;
	uint64_t any, all, none;
} python_words[] = {
	{"any", ANY_PYTHON, 0, 0},
	{"gil", SAMPLE_FLAG_GIL, 0, 0},
	{"no-gil", SAMPLE_FLAG_PYTHON, 0, SAMPLE_FLAG_GIL},
	{"gc", SAMPLE_FLAG_COLLECTING, SAMPLE_FLAG_PYTHON, 0},
	{"unread", SAMPLE_FLAG_UNREAD, 0, 0},
	{NULL, 0, 0, 0},
};

const char *filter_python_word(unsigned int index)
{
	return python_words[index].word;
}

#define CONDITION_ENUM(NAME, member, what, option) CONDITION_##NAME,
enum condition { CONDITIONS(CONDITION_ENUM) CONDITION_COUNT };
#define BIT(NAME) (1u << CONDITION_##NAME)

struct seen_process {
	unsigned int matches; /* bits of the enum condition values that hold for the process */
	bool idle;
	bool has_selected_thread;
};

struct seen_thread {
	uint64_t process; /* process.id */
	unsigned int matches;
};

struct seen_event {
	uint64_t from, to; /* stamps of CLOCK_BOOTTIME, to is inclusive */
	unsigned int matches;
};

struct filter_source {
	struct source source;
	struct source *inner;
	struct filter f; /* the caller owns the texts */
	number_list pids, tids;
	const struct python_word *python; /* NULL without --python */
	unsigned int not_given; /* conditions that were not given, and so hold for everything */
};

/* One run of a filter source: the sink that receives the records of the inner source. */
struct filter_run {
	struct sink sink;
	const struct filter_source *filter;
	struct sink *to;
	unsigned int matched; /* conditions that held for something in the trace */
	bool add_up; /* make sums from samples */
	struct index hosts, events, processes, threads; /* by id */
	/* the hosts put so far; their texts are not kept, so these pointers are invalid */
	VECTOR(struct host) host_list;
	VECTOR(struct seen_event) event_list;
	VECTOR(struct seen_process) process_list;
	VECTOR(struct seen_thread) thread_list;
	bool wall[2]; /* for EVENT_WALL: there is an event of time on CPUs; of waiting */
	struct names sum_keys; /* event, thread, stack and flags of sums, as bytes */
	VECTOR(struct sum) sums;
	struct filter_lanes *lanes; /* NULL if the sink wants neither slices nor edges */
	struct lane_owners owners; /* empty if the sink wants neither spans nor counters */
};

/*
 * Match a path of a control group. A pattern is a path, which may begin with the mount point of the
 * file system, and selects that group and all groups below; a pattern with a wildcard is a glob for
 * the whole path, without the mount point.
 */
static bool cgroup_matches(const char *pattern, const char *cgroup)
{
	static const char mount[] = "/sys/fs/cgroup";
	size_t length = strlen(mount);

	if (strpbrk(pattern, "*?["))
		return !fnmatch(pattern, cgroup, 0);
	if (!strncmp(pattern, mount, length) && (!pattern[length] || pattern[length] == '/'))
		pattern += length;
	length = strlen(pattern);
	while (length && pattern[length - 1] == '/')
		length--;
	return !strncmp(pattern, cgroup, length) && (!cgroup[length] || cgroup[length] == '/');
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

/* Return a mask (BIT()) of the given conditions that hold for a process. */
static unsigned int match_process(const struct filter_source *s, const struct process *p)
{
	const struct filter *f = &s->f;
	const char *container = text_or_empty(p->container);
	unsigned int matches = 0;

	if (f->pids && number_list_has(&s->pids, p->pid))
		matches |= BIT(PID);
	if (f->comm && !fnmatch(f->comm, text_or_empty(p->comm), 0))
		matches |= BIT(COMM);
	if (f->cgroup && cgroup_matches(f->cgroup, text_or_empty(p->cgroup)))
		matches |= BIT(CGROUP);
	if (f->container && *container && !strncmp(f->container, container, strlen(f->container)))
		matches |= BIT(CONTAINER);
	if (f->service && !fnmatch(f->service, text_or_empty(p->service), 0))
		matches |= BIT(SERVICE);
	return matches;
}

static unsigned int match_thread(const struct filter_source *s, const struct thread *t)
{
	unsigned int matches = 0;

	if (s->f.tids && number_list_has(&s->tids, t->tid))
		matches |= BIT(TID);
	if (s->f.comm && (!fnmatch(s->f.comm, text_or_empty(t->comm), 0) ||
			  !fnmatch(s->f.comm, text_or_empty(t->runtime_name), 0)))
		matches |= BIT(COMM);
	return matches;
}

/* Store item under id in list, replacing an older item of that id. Evaluates to 0 or -ENOMEM. */
#define STORE_SEEN(index, list, id, item) \
	({ \
		uint32_t at_ = index_get(index, id); \
		int ret_ = 0; \
		if (at_ != INDEX_NONE) { \
			(list)->items[at_] = (item); \
		} else { \
			ret_ = vector_push(list, item); \
			if (!ret_) \
				ret_ = index_put(index, id, (list)->count - 1); \
		} \
		ret_; \
	})

/*
 * Return whether the filter's event is this one, and keep what EVENT_WALL has found: times on CPUs,
 * and times of waiting.
 */
static bool is_event_selected(struct filter_run *r, const struct event *e)
{
	const char *name = text_or_empty(e->name);

	if (strcmp(r->filter->f.event, EVENT_WALL))
		return !strcmp(r->filter->f.event, name);
	if (strcmp(text_or_empty(e->unit), "ns") || !strcmp(name, EVENT_OFF_CPU_WAKERS))
		return false;
	r->wall[event_is_of_waits(name)] = true;
	return true;
}

static int store_seen_event(struct filter_run *r, const struct event *e)
{
	const struct filter *f = &r->filter->f;
	/*
	 * Use the start of the first host. Of several hosts, the first one has the earliest start,
	 * and all are on one time axis.
	 */
	uint64_t start = r->host_list.count ? r->host_list.items[0].start : 0;
	struct seen_event seen = {.from = start + f->from, .to = UINT64_MAX};

	if (f->to && f->to < UINT64_MAX - start)
		seen.to = start + f->to;
	if (f->event && is_event_selected(r, e))
		seen.matches = BIT(EVENT);
	r->matched |= seen.matches;
	return STORE_SEEN(&r->events, &r->event_list, e->id, seen);
}

static int store_seen(struct filter_run *r, enum record_kind kind, const void *record)
{
	const struct host *h = record;
	const struct process *p = record;
	const struct thread *t = record;
	struct seen_process process;
	struct seen_thread thread;

	switch (kind) {
	case KIND_HOST:
		return STORE_SEEN(&r->hosts, &r->host_list, h->id, *h);
	case KIND_EVENT:
		return store_seen_event(r, record);
	case KIND_PROCESS:
		process = (struct seen_process){match_process(r->filter, p), p->pid == 0, false};
		r->matched |= process.matches;
		return STORE_SEEN(&r->processes, &r->process_list, p->id, process);
	case KIND_THREAD:
		thread = (struct seen_thread){t->process, match_thread(r->filter, t)};
		r->matched |= thread.matches;
		return STORE_SEEN(&r->threads, &r->thread_list, t->id, thread);
	default:
		return 0;
	}
}

/*
 * Return whether a sample or sum of a thread passes. A thread or process that is missing in the
 * trace fulfils no given condition, and is not the idle thread. time 0 lies in every time range.
 */
static bool filter_passes(const struct filter_run *r, uint64_t event, uint64_t thread,
			  uint64_t flags, uint64_t time)
{
	const struct filter_source *s = r->filter;
	unsigned int matches = 0;
	uint32_t at = index_get(&r->threads, thread);
	struct seen_thread t = {0};
	struct seen_process p = {0};

	if (at != INDEX_NONE)
		t = r->thread_list.items[at];
	at = index_get(&r->processes, t.process);
	if (at != INDEX_NONE)
		p = r->process_list.items[at];
	if (p.idle && !s->f.idle)
		return false;
	if (s->python &&
	    (!(flags & s->python->any) || ~flags & s->python->all || flags & s->python->none))
		return false;
	if (s->f.no_collections && flags & SAMPLE_FLAG_COLLECTING)
		return false;
	at = index_get(&r->events, event);
	if (at != INDEX_NONE) {
		const struct seen_event *e = &r->event_list.items[at];

		if (time && (time < e->from || time > e->to))
			return false;
		matches = e->matches;
	}
	return (s->not_given | matches | t.matches | p.matches) == (1u << CONDITION_COUNT) - 1;
}

bool filter_selects(const struct source *s, const struct process *p, const struct thread *t)
{
	const struct filter_source *filter = (const struct filter_source *)s;
	unsigned int matches = match_process(filter, p) | match_thread(filter, t) | BIT(EVENT);

	if (!p->pid && p->id && !filter->f.idle)
		return false;
	return (filter->not_given | matches) == (1u << CONDITION_COUNT) - 1;
}

/* Return whether the conditions hold for a thread. Event, time and idleness are ignored. */
static bool filter_selects_thread(const struct filter_run *r, uint64_t thread)
{
	uint32_t at = index_get(&r->threads, thread);
	unsigned int matches = BIT(EVENT);

	if (at != INDEX_NONE) {
		const struct seen_thread *t = &r->thread_list.items[at];

		matches |= t->matches;
		at = index_get(&r->processes, t->process);
		if (at != INDEX_NONE)
			matches |= r->process_list.items[at].matches;
	}
	return (r->filter->not_given | matches) == (1u << CONDITION_COUNT) - 1;
}

/*
 * Process a record for the filter of lanes, which needs hosts, threads, lanes, slices and edges,
 * and the first record of a later kind as their end. Return true if the record is a slice or edge,
 * which needs no further processing, or after an error. *out is 0 or a negative errno.
 */
static bool filter_put_lanes(struct filter_run *r, enum record_kind kind, const void *record,
			     int *out, struct error *err)
{
	const struct slice *slice = record;
	const struct edge *edge = record;
	bool line = kind == KIND_SLICE || kind == KIND_EDGE;

	if (line)
		*out = filter_lanes_put(
			r->lanes, kind, record,
			filter_selects_thread(r, kind == KIND_SLICE ? slice->value : edge->value),
			err);
	else if (kind > KIND_EDGE)
		*out = filter_lanes_end(r->lanes, err);
	else
		*out = filter_lanes_entity(
			r->lanes, kind, record,
			kind == KIND_THREAD &&
				filter_selects_thread(r, ((const struct thread *)record)->id),
			err);
	return line || *out < 0;
}

/*
 * Return whether a span or counter passes: those of a thread if the thread is selected, those of a
 * process or its runtime if any thread of the process is, or the process itself. end 0: open.
 */
static bool filter_passes_span(const struct filter_run *r, uint64_t lane, uint64_t time,
			       uint64_t end)
{
	uint64_t start = r->host_list.count ? r->host_list.items[0].start : 0;
	const struct filter *f = &r->filter->f;
	const struct seen_process *p;
	struct lane_owner owner;
	uint32_t at;

	if ((end && end < start + f->from) || (f->to && time > start && time - start > f->to))
		return false;
	if ((r->filter->not_given | BIT(EVENT)) == (1u << CONDITION_COUNT) - 1)
		return true;
	owner = lane_owners_find(&r->owners, lane);
	if (owner.thread)
		return filter_selects_thread(r, owner.thread);
	at = index_get(&r->processes, owner.process);
	p = at == INDEX_NONE ? NULL : &r->process_list.items[at];
	return p && (p->has_selected_thread || (r->filter->not_given | p->matches | BIT(EVENT)) ==
						       (1u << CONDITION_COUNT) - 1);
}

/* Note what is needed to find whose a span or counter is. Return 0 or -ENOMEM. */
static int filter_note_owner(struct filter_run *r, enum record_kind kind, const void *record)
{
	const struct thread *t = record;
	uint32_t at;

	if (!(r->to->wants & SPAN_RECORDS))
		return 0;
	if (kind == KIND_THREAD && filter_selects_thread(r, t->id)) {
		at = index_get(&r->processes, t->process);
		if (at != INDEX_NONE)
			r->process_list.items[at].has_selected_thread = true;
	}
	return lane_owners_put(&r->owners, kind, record);
}

static int filter_add_sample(struct filter_run *r, const struct sample *s)
{
	uint64_t key[] = {s->event, s->thread, s->stack, s->flags & SAMPLE_FLAGS_OF_RUNTIME,
			  s->wait};
	struct sum empty = {.event = key[0],
			    .thread = key[1],
			    .stack = key[2],
			    .flags = key[3],
			    .wait = key[4]};
	uint32_t number;

	if (names_intern(&r->sum_keys, key, sizeof(key), &number) < 0)
		return -ENOMEM;
	if (number == r->sums.count && vector_push(&r->sums, empty) < 0)
		return -ENOMEM;
	r->sums.items[number].count++;
	r->sums.items[number].weight += s->weight;
	return 0;
}

/* Put the sums made from samples: after all samples and before accounts and losses. */
static int filter_put_sums(struct filter_run *r, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < r->sums.count && !ret; i++)
		ret = put_sum(r->to, &r->sums.items[i], err);
	r->sums.count = 0;
	names_free(&r->sum_keys);
	return ret;
}

static int filter_run_put(struct sink *s, enum record_kind kind, const void *record,
			  struct error *err)
{
	struct filter_run *r = (struct filter_run *)s;
	const struct sample *sample = record;
	const struct counter *counter = record;
	const struct span *span = record;
	const struct sum *sum = record;
	int ret = store_seen(r, kind, record);

	if (!ret)
		ret = filter_note_owner(r, kind, record);
	if (kind == KIND_SAMPLE) {
		if (!filter_passes(r, sample->event, sample->thread, sample->flags, sample->time))
			return 0;
		ret = r->add_up ? filter_add_sample(r, sample) : 0;
	}
	if (ret < 0)
		return error_errno(err, ret, "cannot filter");
	if (r->lanes && filter_put_lanes(r, kind, record, &ret, err))
		return ret;
	if (kind == KIND_SUM && !filter_passes(r, sum->event, sum->thread, sum->flags, 0))
		return 0;
	if (kind == KIND_SPAN && !filter_passes_span(r, span->lane, span->time, span->end))
		return 0;
	if (kind == KIND_COUNTER &&
	    !filter_passes_span(r, counter->lane, counter->time, counter->time))
		return 0;
	if (kind > KIND_SUM)
		ret = filter_put_sums(r, err);
	return ret < 0 ? ret : sink_put(r->to, kind, record, err);
}

/* Put the selected sums, in as few arrays as possible. */
static int filter_put_many_sums(struct filter_run *r, const struct sum *sums, size_t count,
				struct error *err)
{
	size_t first = 0;
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		const struct sum *s = &sums[i];

		if (filter_passes(r, s->event, s->thread, s->flags, 0))
			continue;
		ret = sink_put_many(r->to, KIND_SUM, &sums[first], i - first, err);
		first = i + 1;
	}
	return ret ? ret : sink_put_many(r->to, KIND_SUM, &sums[first], count - first, err);
}

static int filter_run_put_many(struct sink *s, enum record_kind kind, const void *records,
			       size_t count, struct error *err)
{
	struct filter_run *r = (struct filter_run *)s;
	const char *at = records;
	int ret = 0;

	if (kind == KIND_STACK) /* stacks belong to no thread */
		return sink_put_many(r->to, kind, records, count, err);
	if (kind == KIND_SUM && !r->lanes)
		return filter_put_many_sums(r, records, count, err);
	for (size_t i = 0; i < count && !ret; i++)
		ret = filter_run_put(s, kind, at + i * kinds[kind].size, err);
	return ret;
}

static int filter_run_tick(struct sink *s, uint64_t time, struct error *err)
{
	return sink_tick(((struct filter_run *)s)->to, time, err);
}

/*
 * Return -ENOENT if a given condition holds for nothing in the whole trace, since its option is
 * probably mistyped. --python is not checked.
 */
static int check_matched(const struct filter_run *r, struct error *err)
{
	const struct filter *f = &r->filter->f;

	if (event_is_of_waits(f->event) && !(r->matched & BIT(EVENT)))
		return error_set(err, -ENOENT,
				 "the trace has no stacks of waits: record with 'skein record -e "
				 "off-cpu'");
	if (event_is_of_hits(f->event) && !(r->matched & BIT(EVENT)))
		return error_set(err, -ENOENT,
				 "the trace has no stacks of %s: record with 'skein record -e %s'",
				 f->event,
				 strcmp(f->event, EVENT_EXCEPTIONS) ? "alloc" : "exceptions");
#define CHECK_MATCHED(NAME, member, what, option) \
	if (f->member && !(r->matched & BIT(NAME))) \
		return error_set(err, -ENOENT, "%s: the trace has no %s '%s'", option, what, \
				 f->member);
	CONDITIONS(CHECK_MATCHED)
#undef CHECK_MATCHED
	if (f->event && !strcmp(f->event, EVENT_WALL) && !(r->wall[0] && r->wall[1]))
		return error_set(err, -ENOENT,
				 "--event wall: this needs samples of CPU time and stacks of "
				 "waits: record with 'skein record -e cpu,off-cpu'");
	return 0;
}

static const struct sink_ops filter_run_ops = {
	.put = filter_run_put,
	.put_many = filter_run_put_many,
	.tick = filter_run_tick,
};

static int filter_run(struct source *s, struct sink *to, struct error *err)
{
	struct filter_source *filter = (struct filter_source *)s;
	bool ranged = filter->f.from || filter->f.to;
	struct filter_run r = {
		.sink = {.ops = &filter_run_ops, .wants = WANTS(to->wants | NEEDED)},
		.filter = filter,
		.to = to,
		.add_up = ranged && (to->wants & WANT(SUM)),
	};
	int ret;

	if (to->wants & LANE_RECORDS) {
		ret = filter_lanes_new(&r.lanes, to, filter->f.from,
				       filter->f.to ? filter->f.to : UINT64_MAX, err);
		if (ret < 0)
			return ret;
		/*
		 * Read both slices and edges, even if the sink wants only one kind: the states of
		 * threads at the start of the range follow from all earlier slices and edges.
		 */
		r.sink.wants |= WANT(LANE) | (filter->f.from ? LANE_RECORDS : 0);
	}
	if (to->wants & SPAN_RECORDS)
		r.sink.wants |= WANT(LANE);
	if (r.add_up)
		r.sink.wants = (r.sink.wants & ~WANT(SUM)) | WANT(SAMPLE);
	ret = filter->inner->ops->run(filter->inner, &r.sink, err);
	if (!ret && r.lanes)
		ret = filter_lanes_end(r.lanes, err);
	if (!ret)
		ret = filter_put_sums(&r, err);
	if (!ret)
		ret = check_matched(&r, err);
	index_free(&r.hosts);
	index_free(&r.events);
	index_free(&r.processes);
	index_free(&r.threads);
	vector_free(&r.host_list);
	vector_free(&r.event_list);
	vector_free(&r.process_list);
	vector_free(&r.thread_list);
	names_free(&r.sum_keys);
	vector_free(&r.sums);
	filter_lanes_free(r.lanes);
	lane_owners_free(&r.owners);
	return ret;
}

static void filter_free(struct source *s)
{
	struct filter_source *filter = (struct filter_source *)s;

	vector_free(&filter->pids);
	vector_free(&filter->tids);
	source_free(filter->inner);
	free(filter);
}

static const struct source_ops filter_ops = {.run = filter_run, .free = filter_free};

static int find_python_word(struct filter_source *s, struct error *err)
{
	for (size_t i = 0; python_words[i].word; i++) {
		if (strcmp(python_words[i].word, s->f.python))
			continue;
		s->python = &python_words[i];
		return 0;
	}
	return error_set(err, -EINVAL, "--python: '%s' is none of any, gil, no-gil, gc, unread",
			 s->f.python);
}

/* Parse and check the conditions once, before any run. */
static int filter_prepare(struct filter_source *s, struct error *err)
{
	const struct filter *f = &s->f;
	int ret = 0;

#define NOT_GIVEN(NAME, member, what, option) \
	if (!f->member) \
		s->not_given |= BIT(NAME);
	CONDITIONS(NOT_GIVEN)
#undef NOT_GIVEN
	if (f->to && f->to < f->from)
		ret = error_set(err, -EINVAL, "--to lies before --from");
	if (!ret && f->pids)
		ret = number_list_parse(&s->pids, f->pids, "processes", HINT_COMM, err);
	if (!ret && f->tids)
		ret = number_list_parse(&s->tids, f->tids, "threads", HINT_COMM, err);
	if (!ret && f->python)
		ret = find_python_word(s, err);
	return ret;
}

int filter_check(const struct filter *f, struct error *err)
{
	struct filter_source s = {.f = *f};
	int ret = filter_prepare(&s, err);

	vector_free(&s.pids);
	vector_free(&s.tids);
	return ret;
}

uint64_t filter_time(const struct filter *f, const struct host *h)
{
	uint64_t whole = h->end > h->start ? h->end - h->start : 0;
	uint64_t to = f->to && (f->to < whole || !whole) ? f->to : whole;

	return to > f->from ? to - f->from : 0;
}

int filter_source(struct source **out, struct source *inner, const struct filter *f,
		  struct error *err)
{
	struct filter_source *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return error_errno(err, -ENOMEM, "cannot filter");
	s->source.ops = &filter_ops;
	s->f = *f;
	ret = filter_prepare(s, err);
	if (ret < 0) {
		filter_free(&s->source);
		return ret;
	}
	s->inner = inner;
	*out = &s->source;
	return 0;
}
