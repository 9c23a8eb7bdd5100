/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder: a sink in front of that of windows, which keeps the last part of everything
 * in a trace in memory (the ring), and writes a copy of it, a flight, into the folder of windows
 * when something asks for it: a trigger (trigger.h), or flight_trigger().
 *
 * The ring is an ordinary trace with trace_writer_retain(), in a file of tmpfs. Windows and flights
 * may be made for different records (record_choice.h).
 *
 * If the ring cannot be written, the flight recorder is off from then on, and windows go on.
 */
#ifndef SKEIN_SERVE_FLIGHT_H
#define SKEIN_SERVE_FLIGHT_H

#include "base/pipe.h"
#include "serve/record_choice.h"
#include "serve/trigger.h"
#include "serve/window_files.h"

struct flight;

struct flight_options {
	const char *folder; /* of windows; must outlive the flight recorder */
	const char *ring; /* path of the ring's file; must outlive it, too */
	uint64_t keep, after; /* ns before and after a trigger that a flight shows */
	uint64_t memory; /* bytes that the ring may take */
	struct record_choice records; /* of what is put, what flights get */
	struct window_budget budget;
	const trigger_list *triggers; /* must outlive it */
	struct trigger_limits limits;
};

/* What has become of triggers so far. */
struct flight_counts {
	uint64_t written; /* flights */
	uint64_t
		joined; /* triggers while a flight was about to be written, which shows them, too */
	uint64_t suppressed; /* triggers that the limits did not allow */
	uint64_t failed; /* flights that could not be written */
	bool off; /* the ring failed */
	char last[PATH_MAX]; /* path of the last flight */
	char condition[TRIGGER_TEXT_SIZE]; /* for which that was written */
	char refused[TRIGGER_TEXT_SIZE]; /* the condition that was suppressed last */
	char problem[256]; /* what failed last */
};

/*
 * Make a flight recorder in front of the sink of windows, which it does not free. The path of the
 * ring must not exist (flight_ring_prepare()). Return 0 or a negative errno.
 */
int flight_new(struct flight **out, struct sink *windows, const struct flight_options *o,
	       struct error *err);
/* Return its sink, for a source. sink_free() frees the flight recorder. */
struct sink *flight_sink(struct flight *f);

/*
 * Write a flight, named after the reason (flight_reason_is_valid()), with what comes in the next
 * flight_options.after. Call this on the thread of the sink, and not from a callback of it. Return
 * 0: a flight with this moment will be written; -EINVAL: no such reason; -EAGAIN: suppressed by the
 * limits; -EIO: the flight recorder is off.
 */
int flight_trigger(struct flight *f, const char *reason);

/*
 * For capture_waits.wants_open: return whether a flight is to be written after the next tick, so
 * that waits which have not ended are wanted.
 */
bool flight_wants_open_waits(struct flight *f);
/* From now on that budget holds for windows and flights. */
void flight_change_budget(struct flight *f, const struct window_budget *budget);
/*
 * Look for triggers, begin to write the flight that is due, and take the result of one. Call this
 * several times a second, between the rounds of the source.
 */
void flight_poll(struct flight *f);
void flight_get_counts(const struct flight *f, struct flight_counts *out);

/*
 * Write the path of the ring in a runtime folder to out, of PATH_MAX bytes, make its folder, and
 * remove what an earlier service has left there. The folder of windows, which only one service may
 * have, gives the ring its place. Return 0 or a negative errno.
 */
int flight_ring_prepare(char *out, const char *runtime, const char *folder, struct error *err);
/* Remove what a service has left there, if anything. */
void flight_ring_remove(const char *runtime, const char *folder);
/* Return whether the folder is in memory. */
bool flight_ring_in_memory(const char *ring);

#endif
