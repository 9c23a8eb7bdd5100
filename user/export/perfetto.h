/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the Perfetto export, for perfetto*.c only.
 * https://perfetto.dev/docs/reference/trace-packet-proto
 *
 * A trace consists of packets in any order: the reader sorts them by their time stamps, which are
 * all of CLOCK_BOOTTIME. Each stream (general packets, and the scheduler's events of each CPU)
 * therefore has a buffer of its own, and a full buffer is compressed and written as one packet.
 */
#ifndef SKEIN_EXPORT_PERFETTO_H
#define SKEIN_EXPORT_PERFETTO_H

#include <stdio.h>

#include "base/protobuf.h"
#include "export/timeline.h"

/* Field numbers. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_FTRACE_EVENTS = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_COMPRESSED = 50,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
	PACKET_TASK_STATE = 117
};

/* Interned data and defaults are valid within the sequence of packets with the same number. */
enum { SEQUENCE_TRACKS = 1, SEQUENCE_STATES, SEQUENCE_FIRST_EVENT };
enum { FLAG_SEQUENCE_BEGINS = 1, FLAG_SEQUENCE_GOES_ON };

/* A track number has the kind of the track in 8 bits and the id of its subject in the 56 below. */
#define TRACK(kind, id) ((uint64_t)TRACK_##kind << 56 | ((id) & ((1ULL << 56) - 1)))
enum {
	TRACK_THREAD = 1,
	TRACK_WAITS,
	TRACK_LOSSES,
	TRACK_CONCURRENCY,
	TRACK_LOST,
	TRACK_PROCESS,
	TRACK_SPANS,
	TRACK_VALUES
};

/* Field numbers of descriptors of tracks, and of events on tracks. */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS_OF = 3,
	TRACK_THREAD_OF = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8
};
enum {
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER_INT = 30,
	EVENT_COUNTER_REAL = 44,
	EVENT_CALLSTACK_IID = 56
};
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

/*
 * First tids of pseudo threads, one for each CPU (TID_INTERRUPT: for each kind of interrupt). The
 * kernel never assigns such large numbers.
 */
enum {
	TID_LOST = 0x7ff00000,
	TID_OTHER = 0x7ff10000,
	TID_OFFLINE = 0x7ff20000,
	TID_INTERRUPT = 0x7ff30000
};

struct perfetto_stream {
	struct protobuf buf;
	/* protobuf_begin() marks of the open packet, and of the bundle of events in it */
	size_t packet, bundle;
	bool open;
	bool lossy; /* of the open bundle */
};

/* The state of a lane, which is that of a CPU or a thread, as written so far. */
struct perfetto_lane {
	struct perfetto_stream events; /* of a CPU */
	uint32_t running; /* tid of the thread on a CPU */
	const char *comm; /* NULL until anything is written of the CPU */
	int64_t prev_state; /* state in which the thread leaves the CPU, as in sched_switch */
	bool goes_on; /* the thread keeps the CPU after the CPU's last tile */
	uint64_t last_end; /* end of a CPU's last tile or a thread's last stretch */
	int64_t shown; /* prev_state of the last stretch, or one of enum shown */
	bool ran; /* the last stretch is RUNNING */
	bool has_track, has_waits; /* the track of the thread, of its waits, is declared */
	struct stretch waiting; /* the last wait, not written yet; waiting.wait is 0 if none */
	uint32_t next_wait; /* index in waits + 1 of the next of this lane; 0: none */
};

/* A wait whose stack was taken. */
struct perfetto_wait {
	struct sample sample;
	uint32_t event; /* index in events */
	uint32_t lane; /* index of the thread's lane */
};

struct perfetto_process {
	uint32_t first; /* index of its first program */
	bool goes_on; /* another program follows in this process */
	uint64_t ended; /* ns: end of the last stretch of any of its threads; set at the end */
	bool leader_died; /* the thread whose tid is the pid has ended */
};

/* A time in which records of a CPU are lost. */
struct perfetto_gap {
	uint64_t time, end;
	uint64_t newest; /* latest start of this gap and all before it: key of a binary search */
	uint32_t lane; /* index of the CPU's lane */
};

/* A pseudo thread has a CPU from time to end, or until the next placeholder of that CPU. */
struct perfetto_placeholder {
	uint64_t time, end, cpu, tid;
	const char *comm;
};

/*
 * The sequence of packets of an event's samples. The arrays of bool show by profile index which
 * items have been interned in it so far.
 */
struct perfetto_event {
	bool begun;
	bool *stacks, *frames, *mappings, *functions, *sources;
	bool ends[END_COUNT + 2], no_mapping;
	struct index totals; /* CPU -> index in weights, which are sums per CPU */
	VECTOR(uint64_t) weights;
};

struct perfetto {
	struct timeline timeline;
	FILE *out;
	struct perfetto_stream packets;
	struct protobuf deflated;
	struct perfetto_lane *lanes; /* by index of timeline.lanes */
	size_t lane_count;
	struct perfetto_process *processes; /* by profile index */
	bool leaders_freed;
	VECTOR(struct perfetto_gap) gaps; /* as their tiles came: nearly in the order of time */
	VECTOR(struct perfetto_placeholder) placeholders;
	/* by profile index; the last one is for samples of no known event */
	struct perfetto_event *events;
	VECTOR(uint64_t) path;
	VECTOR(struct perfetto_wait) waits; /* by lane and time, once they are sorted */
	bool waits_sorted;
	uint64_t names_interned; /* bit per enum wait_class: its name is interned */
	int error; /* the first error; sticky */
};

/* perfetto.c: buffers. Errors are kept in p->error. */
void perfetto_fail(struct perfetto *p, int rc);
/*
 * Begin a packet of a sequence, with a time stamp (ns; 0: none). Pass the result to
 * perfetto_end_packet().
 */
size_t perfetto_begin_packet(struct perfetto *p, uint64_t time, unsigned int sequence);
void perfetto_end_packet(struct perfetto *p, size_t mark);
/* Write a text, cleaned by text_clean(), as a field. */
void perfetto_text(struct perfetto *p, struct protobuf *buf, unsigned int field, const char *text);
void perfetto_flush(struct perfetto *p, struct perfetto_stream *s);

/* perfetto_sched.c: CPUs and the states of threads. */
int perfetto_tile(struct timeline *t, struct timeline_lane *cpu, const struct tile *tile);
int perfetto_stretch(struct timeline *t, struct timeline_lane *lane, const struct stretch *s);
void perfetto_sched_end(struct perfetto *p);

/* perfetto_tracks.c: slices, instants and counters of skein's own. */
/*
 * Begin to declare a track, to be ended by perfetto_end_track() with the result and *packet. name
 * may be NULL.
 */
size_t perfetto_begin_track(struct perfetto *p, uint64_t track, const char *name, size_t *packet);
void perfetto_end_track(struct perfetto *p, size_t mark, size_t packet);
/* Declare the track of a thread, once. */
void perfetto_declare_thread(struct perfetto *p, const struct timeline_lane *lane);
/* The same for an event on a track; type: TYPE_BEGIN and so on. */
size_t perfetto_begin_event(struct perfetto *p, uint64_t time, uint64_t track, unsigned int type,
			    size_t *packet);
void perfetto_end_event(struct perfetto *p, size_t mark, size_t packet);
/* perfetto_spans.c: spans and counters. */
void perfetto_write_spans(struct perfetto *p);
/* kept is the wait's sample with its stack; NULL: none was taken. */
void perfetto_write_wait(struct perfetto *p, struct timeline_lane *lane, const struct stretch *s,
			 const struct perfetto_wait *kept);
void perfetto_write_losses(struct perfetto *p);
void perfetto_write_concurrency(struct perfetto *p);

/* perfetto_waits.c: the stacks of waits. */
/* Return whether the samples of an event are the stacks of waits. */
bool perfetto_event_is_of_waits(const struct perfetto *p, const struct perfetto_event *e);
/* Keep a sample of such an event for the wait that it belongs to. */
void perfetto_keep_wait(struct perfetto *p, const struct perfetto_event *e, const struct sample *s);
/* Note a stretch of waiting; write the wait before it. */
void perfetto_wait_began(struct perfetto *p, struct timeline_lane *lane, const struct stretch *s);
/* Write the wait after which a thread runs, with the stack that was taken in that run. */
void perfetto_wait_ended(struct perfetto *p, struct timeline_lane *lane, const struct stretch *run);
/* Write all waits after which no run came. */
void perfetto_waits_end(struct perfetto *p);

/* perfetto_stacks.c: samples. */
int perfetto_sample(struct timeline *t, const struct sample *s);
/* Return the number of the sequence of an event's packets. */
unsigned int perfetto_sequence_of(const struct perfetto *p, const struct perfetto_event *e);
/* Return the id of a stack in the sequence of its event; the first call interns the stack. */
uint64_t perfetto_intern_stack(struct perfetto *p, struct perfetto_event *e, uint32_t stack);
void perfetto_stacks_free(struct perfetto *p);

#endif
