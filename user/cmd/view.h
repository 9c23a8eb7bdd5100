/* SPDX-License-Identifier: Apache-2.0 */
/* What skein view serves, for the files view*.c only. */
#ifndef SKEIN_CMD_VIEW_H
#define SKEIN_CMD_VIEW_H

#include <pthread.h>

#include "analyze/subject.h"
#include "base/json.h"
#include "cmd/export.h"
#include "cmd/timeline_input.h"
#include "http/server.h"
#include "trace/trace_timeline.h"
#include "view/timeline.h"

/* A trace that is shown. */
struct view_server {
	const char *path; /* of the trace */
	struct filter everything; /* selects all of it */
	enum lanes_by lanes; /* what lanes of threads show unless the page chooses */
	const struct html_shell *shell;
	char subject[SUBJECT_SIZE]; /* what the recording is of */
	char *kernel;
	char *boot; /* machine and boot; "" if not known, or if there are several */
	int64_t utc; /* begin of the recording, ns since 1970; 0: not known */
	int64_t realtime; /* ns to add to a time stamp to get that; 0: not known */
	bool lanes_known; /* the trace has scheduler records, and input is open */
	char *warning; /* what is missing, for the page; NULL: nothing */
	const struct view_server *above; /* the first of two traces; NULL: this is it */
	unsigned int traces; /* that the page shows */
	struct timeline_input input;
	/* One reader of inputs at a time, of all traces: each takes memory for a whole answer. */
	pthread_mutex_t *reading;
	struct profile *names; /* all entities of the trace, and no samples */
	struct view_folds *folds; /* profiles of which a part was read, see view_profile.c */
};

/* The traces of a server: one, or two below each other. */
#define VIEW_TRACES 2
struct view_traces {
	struct view_server items[VIEW_TRACES];
	unsigned int count;
	struct html_shell shell;
	pthread_mutex_t reading;
};

/*
 * Return the trace (struct view_server) that a request asks for with the parameter trace, a number
 * from 1 on, the first one without it; or NULL after filling the answer. traces: struct
 * view_traces.
 */
void *view_trace_of_request(void *traces, const struct http_request *q, struct http_answer *a);

/*
 * Set *after to the ns from the begin of one recording to that of another one, of the same boot by
 * its clock, of others by the time of day. Return false if that is not known.
 */
bool view_begins_after(const struct view_server *first, const struct view_server *second,
		       int64_t *after);

/*
 * Show the first trace alone: the second one cannot be shown for a reason, of which the first line
 * is said. Both are said to the user and on the page.
 */
void view_leave_second(struct view_traces *t, const char *reason);

/* Free what was read of a trace. */
void view_close(struct view_server *v);

/*
 * Read the profile of the trace with the samples of a fold, or without samples if that is NULL.
 * *damaged says whether some of the trace could not be read. Return 0 or a negative errno.
 */
struct view_fold;
int view_read_profile(const struct view_server *v, const struct view_fold *fold,
		      struct profile **out, bool *damaged, struct error *err);

/* The profiles of which a part was read. view_folds_free() accepts NULL. */
struct view_folds *view_folds_new(void);
void view_folds_free(struct view_folds *all);

/* The routes of the server; their context is a struct view_server. */
extern const struct http_route view_routes[];
extern const size_t view_route_count;

/*
 * Answer what the page asks of a range: its profile, its report, where a function ran, what a lane
 * did at a time, or what held a wait up. Each is one route, see view_routes.
 */
int view_answer_profile(void *context, const struct http_request *q, struct http_answer *a);
int view_answer_report(void *context, const struct http_request *q, struct http_answer *a);
int view_answer_marks(void *context, const struct http_request *q, struct http_answer *a);
int view_answer_at(void *context, const struct http_request *q, struct http_answer *a);
int view_answer_chain(void *context, const struct http_request *q, struct http_answer *a);

/* Return whether the parameter lane names a counter. */
bool view_is_of_counter(const struct view_server *v, const struct http_request *q);
/* Answer what that counter was at a time, as view_answer_at() does of other lanes. */
int view_answer_counter(const struct view_server *v, const struct http_request *q,
			struct http_answer *a);

/*
 * Wait until nobody else reads, and take v->reading. Return 0, or -ECANCELED without it if nobody
 * waits for the answer any more: a page that is zoomed gives most of its requests up.
 */
int view_begin_reading(struct view_server *v, const struct http_request *q);

/* Records that are read for a request, as long as it may take. */
struct view_records {
	struct view_server *view; /* whose v->reading is held */
	const struct http_request *asked;
	struct trace_timeline_query query;
	/* Take a record of a kind. Return 0, 1 if it is the last one wanted, or a negative errno.
	 */
	int (*take)(void *context, enum record_kind kind, const void *record);
	void *context;
};

/* Return 0, 1 if the request expired before all were read, or a negative errno. */
int view_read_records(const struct view_records *r, struct error *err);

/* A wait of a thread; times in ns. */
struct view_wait {
	uint64_t lane; /* lane.id of the thread */
	uint64_t time, end; /* within a cell of trace_window() */
	uint64_t state, wait; /* enum slice_state, enum wait_class */
	struct edge wakeup; /* that ended it; time 0: not known */
};

/*
 * Set *w, of which lane and time are set, to the wait of the thread at that time, or to its last
 * one before. v->reading must be held. Return 1, 0 if none is found (in the time of a request), or
 * a negative errno.
 */
int view_find_wait(struct view_server *v, const struct http_request *q, struct view_wait *w,
		   struct error *err);

/* Return the thread of a thread.id, or of a lane.id; NULL if there is none. */
const struct lane_thread *view_thread_of_id(const struct lanes *l, uint64_t id);
const struct lane_thread *view_thread_of_lane(const struct lanes *l, uint64_t lane);

/* Write "name tid (program)" of a thread, which may be NULL, to buf. Return buf. */
#define VIEW_NAME_SIZE 128
char *view_write_thread_name(const struct lanes *l, const struct lane_thread *t,
			     char buf[VIEW_NAME_SIZE]);

/*
 * Read the parameter lane: a lane.id, or the name of a lane that several threads share, which sets
 * *row; else *row is NULL. Return 0 or a negative errno.
 */
int view_read_lane(const struct view_server *v, const struct http_request *q, uint64_t *lane,
		   const struct lane_row **row);

/*
 * Set *lane to that of the thread of a row which ran at a time (ns); if none did, of one that could
 * run, or lived. It stays what it is if none lived. Return 0, or a negative errno with the cause in
 * *err. The caller holds v->reading.
 */
int view_choose_part(struct view_server *v, const struct lane_row *row, uint64_t time,
		     uint64_t *lane, struct error *err);

/*
 * Write the stack at which a thread waited, as an array of names, outermost first: that of the wait
 * after which it ran at a time from w->time to w->end (ns since the start of the recording, here).
 * Empty if the recording has none, or the time of the request is over.
 */
void view_write_wait_stack(struct json *j, const struct view_server *v,
			   const struct http_request *q, const struct lane_thread *t,
			   const struct view_wait *w);

/*
 * Write what went on at a time (ns) on a lane that has acts, and what came before and after. Return
 * 0 or a negative errno.
 */
int view_write_act(const struct lanes *l, uint64_t lane, uint64_t time, FILE *out);

/* Fill an answer with an error: 400 if the request made no sense, else 503. Return 0 or -ENOMEM. */
int view_answer_error(struct http_answer *a, int ret, const struct error *err);

/* Write a fact about a moment, and one that is a time, ns since the begin of the recording. */
void view_write_fact(struct json *j, const char *name, const char *value);
void view_write_fact_time(struct json *j, const char *name, uint64_t ns);

#endif
