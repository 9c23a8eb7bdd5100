/* SPDX-License-Identifier: Apache-2.0 */
/* What goes on in runtimes at the moment, and the names of it; shared by the files runtime_*.c. */
#ifndef SKEIN_CAPTURE_RUNTIME_STATE_H
#define SKEIN_CAPTURE_RUNTIME_STATE_H

#include "base/cache.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/vector.h"
#include "capture/runtime_events.h"

/* Bounds of what is open at a time; what exceeds them is counted as unpaired. */
#define RUNTIME_DEPTH 128 /* spans of one lane */
#define RUNTIME_OPEN (1U << 17) /* spans of all lanes */
#define RUNTIME_THREADS (1U << 16)
#define RUNTIME_CONCURRENT 16 /* concurrent phases of one process */
#define RUNTIME_POOLS 24 /* memory pools of a collection */
#define RUNTIME_CAUSES 4 /* threads of one process whose causes are known */
#define RUNTIME_REQUESTS 8 /* requests for VM operations that have not begun */
#define RUNTIME_NAME_BYTES 256
#define RUNTIME_COUNTED (1U << 20) /* spans of one process that are remembered */

/* A memory pool before and after a collection, bytes. */
struct pool_usage {
	char name[PROBE_TEXT_BYTES];
	uint64_t before, after, committed;
	bool ended;
};

/* The cause for which a thread collects; "": none. */
struct thread_cause {
	uint32_t tid;
	char text[PROBE_TEXT_BYTES];
};

/* The cause and the pools of a collection that goes on. */
struct collection {
	char cause[PROBE_TEXT_BYTES];
	uint32_t begun, ended; /* notes of pools so far */
	uint32_t count; /* pools kept */
	struct pool_usage pools[RUNTIME_POOLS];
};

/* A span whose end has not come. */
struct open_span {
	uint64_t time; /* ns */
	uint64_t key; /* hash of what begin and end have in common; 0: only the kind */
	uint64_t stack_pointer; /* of the thread at the begin */
	/* the generation that Python collects; of a pause or phase, its begin by the JVM's clock */
	int64_t number;
	char *name; /* NULL: the word of the kind */
	char *args; /* a JSON object, or NULL */
	struct collection *collection; /* of HotSpot's memory managers, else NULL */
	enum span_kind kind;
	enum span_origin origin;
};

/* The open spans of one lane, outermost first. */
struct track {
	uint64_t lane; /* lane.id; 0: none yet */
	uint64_t epoch; /* of struct runtime_events, in which they began */
	uint64_t last_end; /* of the spans that were put, ns */
	uint64_t begun; /* kinds with a begin since then: 1 << enum span_kind */
	uint32_t excused; /* ends without a begin that are no loss */
	uint32_t overflow; /* begins that were dropped because the track was full */
	VECTOR(struct open_span) open;
};

/* A thread that runs concurrent phases, and their lane. */
struct concurrent {
	uint32_t tid; /* of the thread, while one of its spans is open */
	struct track track;
};

struct operation_request {
	uint64_t key; /* hash of the operation's name; 0: unused */
	uint32_t tid;
	char thread[RUNTIME_NAME_BYTES]; /* name */
};

/* A span of a kind that a JVM counts, too. */
struct counted_span {
	uint64_t time, end; /* ns; the end of those that are no pauses is their begin */
	uint64_t manager; /* of a collection: runtime_key() of its memory manager */
	enum span_kind kind;
};

/* The lock of a Python interpreter. */
struct gil {
	struct track track; /* only its lane is used */
	uint64_t epoch; /* of the schedule; another one makes the members below invalid */
	uint64_t contended; /* time since which threads wait for the present holder, ns */
	uint64_t uncontended; /* time at which the last one that waited began to run, ns */
	uint64_t last_end; /* of the spans that were put, ns */
	uint32_t waiting; /* threads */
};

/* The runtime of a process: what goes on in its VM thread, and in its concurrent phases. */
struct runtime_lanes {
	struct runtime_events *events; /* to which this belongs */
	uint64_t id; /* process.id */
	uint32_t pid;
	uint64_t since; /* time of the first event, ns */
	uint64_t lane; /* lane.id of the process; 0: none yet */
	struct track vm; /* what its VM thread does */
	uint32_t vm_thread; /* tid; 0: not known yet */
	int64_t clock; /* ns to add to the JVM's own clock; 0: not known yet */
	uint64_t operation_end; /* of the last one in the open safepoint, ns; 0: none */
	bool reached; /* an operation has begun in the open safepoint */
	struct operation_request requests[RUNTIME_REQUESTS];
	uint32_t next_request;
	struct thread_cause causes[RUNTIME_CAUSES]; /* of the threads that last set one */
	uint32_t next_cause;
	struct concurrent *concurrent; /* RUNTIME_CONCURRENT, or NULL */
	struct gil *gil; /* NULL: no thread has waited for one */
	VECTOR(struct counted_span) counted; /* RUNTIME_COUNTED at most */
	size_t pausing; /* position + 1 in it of the pause that goes on; 0: none */
	UT_hash_handle hh;
};

struct runtime_thread {
	uint64_t lane; /* lane.id */
	uint64_t process; /* process.id */
	uint32_t tid;
	bool old; /* the thread may have run before its process's first event */
	struct track track;
	UT_hash_handle hh;
};

struct runtime_events {
	struct runtime_events_context c;
	struct runtime_lanes *processes; /* by process.id */
	struct runtime_thread *threads; /* by lane.id */
	uint64_t epoch; /* grows when events are lost */
	/* how many events were lost, modulo 2^32: before the last event, and as far as is known */
	uint32_t lost, lost_in_all;
	size_t open; /* spans of all tracks */
	struct cache *names; /* hash of a text to its name.id */
	struct {
		FILE *out;
		char *text;
		size_t size;
		struct json json;
	} args; /* the JSON object that is being made */
	struct {
		uint64_t time, end; /* ns */
		uint64_t count;
	} unpaired; /* since they were last reported */
};

/*
 * runtime_names.c: find the name.id of a text, which is emitted if it is new. NULL or "" is 0.
 * Return 0 or a negative errno.
 */
int runtime_name(struct runtime_events *r, const char *text, uint64_t *out, struct error *err);
/* Begin a JSON object; the caller adds members, then calls runtime_args_end(). */
struct json *runtime_args_begin(struct runtime_events *r);
/* Return the object, which the caller frees; NULL without memory. */
char *runtime_args_end(struct runtime_events *r);
/* Return the hash of a text, never 0. */
uint64_t runtime_key(const char *text);
/* Return the bytes of a name in memory of its own; NULL if it is empty, or without memory. */
char *runtime_text(const char *text);

#endif
