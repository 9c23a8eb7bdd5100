/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the Perfetto format, for the files perfetto*.c alone.
 * https://perfetto.dev/docs/reference/trace-packet-proto
 *
 * A trace is packets, and their order does not matter: the reader sorts them by their stamps,
 * which all are of CLOCK_BOOTTIME. So each stream (the packets at large, the scheduler's events of
 * each CPU) has a buffer of its own, and a full one is deflated and written as one packet.
 */
#ifndef SKEIN_EXPORT_PERFETTO_H
#define SKEIN_EXPORT_PERFETTO_H

#include <stdio.h>

#include "base/protobuf.h"
#include "export/timeline.h"

/* Field numbers. */
enum { TRACE_PACKET = 1 };
enum { PACKET_FTRACE_EVENTS = 1, PACKET_PROCESS_TREE = 2, PACKET_CLOCK_SNAPSHOT = 6,
       PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_TRACK_EVENT = 11,
       PACKET_INTERNED_DATA = 12, PACKET_SEQUENCE_FLAGS = 13, PACKET_SYSTEM_INFO = 45,
       PACKET_COMPRESSED = 50, PACKET_DEFAULTS = 59, PACKET_TRACK_DESCRIPTOR = 60,
       PACKET_PERF_SAMPLE = 66, PACKET_TASK_STATE = 117 };

/* What is interned, and what a sequence of packets begins with, is known under its number. */
enum { SEQUENCE_TRACKS = 1, SEQUENCE_STATES, SEQUENCE_FIRST_EVENT };
enum { FLAG_SEQUENCE_BEGINS = 1, FLAG_SEQUENCE_GOES_ON };

/* Numbers of tracks: what they are of, and the id of that below. */
#define TRACK(kind, id) ((uint64_t)TRACK_##kind << 56 | ((id) & ((1ULL << 56) - 1)))
enum { TRACK_THREAD = 1, TRACK_WAITS, TRACK_LOSSES, TRACK_CROWD, TRACK_LOST };

/* Threads that are none, told apart from others by numbers that no kernel gives. */
enum { TID_LOST = 0x7ff00000, TID_OTHER = 0x7ff10000, TID_OFFLINE = 0x7ff20000,
       TID_INTERRUPT = 0x7ff30000 };

struct stream {
	struct protobuf buf;
	size_t packet, bundle; /* marks of an open bundle */
	bool open;
	bool lossy; /* of the open bundle */
};

/* A CPU, or a thread, as far as the reader has been told. One for each lane. */
struct perfetto_lane {
	struct stream events; /* of a CPU */
	uint32_t running; /* tid on a CPU */
	const char *comm; /* NULL: nothing told of the CPU yet */
	int64_t left; /* how it leaves: prev_state */
	bool goes_on; /* it does not leave */
	uint64_t last_end; /* of a CPU's last tile, or a thread's last stretch */
	int64_t shown; /* prev_state of that, or one of enum shown */
	bool ran; /* its last stretch is RUNNING */
	bool has_waits;
};

struct perfetto_process {
	uint32_t first; /* index of its first program */
	bool goes_on; /* another program follows in this process */
	uint64_t ended; /* ns: none of its threads was told of later; at the end */
	bool leader_died;
};

/* Records of a CPU are lost. */
struct gap {
	uint64_t time, end;
	uint64_t newest; /* time of the newest gap so far: what they are searched by */
	uint32_t lane; /* index of the CPU's lane */
};

/* A thread that is none got a CPU, which it keeps to the end, or until it gets it once more. */
struct placeholder {
	uint64_t time, end, cpu, tid;
	const char *comm;
};

/* One event's samples: what their sequence has interned so far, by indexes of the profile. */
struct perfetto_event {
	bool begun;
	bool *stacks, *frames, *mappings, *functions, *sources;
	bool ends[END_COUNT + 2], no_mapping;
	struct index totals; /* CPU -> index in weights */
	VECTOR(uint64_t) weights;
};

struct perfetto {
	struct timeline timeline;
	FILE *out;
	struct stream packets;
	struct protobuf deflated;
	struct perfetto_lane *lanes; /* by index of timeline.lanes */
	size_t lane_count;
	struct perfetto_process *processes; /* by index of the profile */
	bool leaders_freed;
	VECTOR(struct gap) gaps; /* as they came, which is nearly in order of time */
	VECTOR(struct placeholder) placeholders;
	struct perfetto_event *events; /* by index of the profile; the last: of no known event */
	VECTOR(uint64_t) path;
	uint64_t names_told; /* wait classes: mask */
	int error; /* sticky, the first */
};

/* perfetto.c: buffers. Failures are kept in p->error. */
void perfetto_fail(struct perfetto *p, int rc);
/* A packet of a sequence, with a stamp (0: none); end it with perfetto_end(). */
size_t perfetto_packet(struct perfetto *p, uint64_t time, unsigned int sequence);
void perfetto_end(struct perfetto *p, size_t mark);
/* Text of the trace, cleaned, as a field. */
void perfetto_text(struct perfetto *p, struct protobuf *buf, unsigned int field, const char *text);
void perfetto_flush(struct perfetto *p, struct stream *s);

/* perfetto_sched.c: CPUs and the states of threads. */
int perfetto_tile(struct timeline *t, struct timeline_lane *cpu, const struct tile *tile);
int perfetto_stretch(struct timeline *t, struct timeline_lane *lane, const struct stretch *s);
void perfetto_sched_end(struct perfetto *p);

/* perfetto_tracks.c: slices, instants and counters of skein's own. */
void perfetto_wait(struct perfetto *p, struct timeline_lane *lane, const struct stretch *s);
void perfetto_losses(struct perfetto *p);
void perfetto_crowds(struct perfetto *p);

/* perfetto_stacks.c: samples. */
int perfetto_sample(struct timeline *t, const struct sample *s);
void perfetto_stacks_free(struct perfetto *p);

#endif
