/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes that skein knows, as data: USDT notes and functions of language runtimes and servers,
 * with what they report. A new runtime is new rows.
 */
#ifndef SKEIN_BASE_PROBES_H
#define SKEIN_BASE_PROBES_H

#include <stdbool.h>
#include <stdint.h>

/* Most arguments of a probe; the notes seen have at most 9, and the ninth is never needed. */
#define PROBE_ARGUMENTS_MAX 8
/* Texts that a probe reads from the process, and most bytes of each. */
#define PROBE_TEXTS_MAX 2
#define PROBE_TEXT_BYTES 96

/* Most probes of the user: globs of notes and of functions. */
#define PROBE_PATTERNS_MAX 64

/* How a probe is found in a file. */
enum probe_origin {
	PROBE_NOTE, /* a USDT note: provider and name */
	/*
	 * a function: name is its symbol without a suffix that GCC appends (".part.0"), demangled
	 * without parameters; the probe is at its entry
	 */
	PROBE_FUNCTION,
	PROBE_RETURN, /* the same function's return instructions */
};

/* Parts of -e; a row belongs to one or more of them. */
enum probe_part {
	PROBE_PART_GC = 1, /* -e gc: collections and pauses of every runtime */
	PROBE_PART_JVM = 2, /* -e jvm: also safepoints, VM operations, threads */
	PROBE_PART_PYTHON = 4, /* -e python */
	PROBE_PART_CLASSES = 8, /* the rest: words of their own, as in -e jvm,classes */
	PROBE_PART_JIT = 16,
	PROBE_PART_EXCEPTIONS = 32,
	PROBE_PART_DEOPT = 64,
	PROBE_PART_ALLOC = 128,
	PROBE_PART_MONITORS = 256,
	PROBE_PART_OTHERS = 512, /* runtimes and servers that have only rows: Ruby, PostgreSQL */
};

/* What a probe reports; rows of several origins and releases may report the same. */
enum probe_meaning {
	PROBE_MEANS_NOTHING, /* a probe of the user */
	PROBE_STOP_BEGIN,
	PROBE_STOP_END, /* a stop of the world for a collection */
	PROBE_COLLECTION_BEGIN,
	PROBE_COLLECTION_END, /* of one memory manager, per pool */
	PROBE_PAUSE_BEGIN,
	PROBE_PAUSE_END, /* a named pause */
	PROBE_PHASE_BEGIN,
	PROBE_PHASE_END, /* a named concurrent phase */
	PROBE_SAFEPOINT_BEGIN,
	PROBE_SAFEPOINT_END,
	PROBE_OPERATION_REQUEST,
	PROBE_OPERATION_BEGIN,
	PROBE_OPERATION_END,
	PROBE_THREAD_START,
	PROBE_THREAD_STOP,
	PROBE_CLASS_LOADED,
	PROBE_COMPILE_BEGIN,
	PROBE_COMPILE_END,
	PROBE_EXCEPTION_MADE,
	PROBE_EXCEPTION_CAUGHT,
	PROBE_DEOPTIMIZED,
	PROBE_ALLOCATED,
	PROBE_MONITOR_ENTER,
	PROBE_MONITOR_ENTERED,
	PROBE_PYTHON_COLLECTION_BEGIN,
	PROBE_PYTHON_COLLECTION_END,
	/* of rows without a meaning of their own: begin and end pair per thread as a span */
	PROBE_BEGIN,
	PROBE_END,
	PROBE_INSTANT,
	/* of the user: a mark in the recording; the recording begins or resumes; ends or pauses */
	PROBE_MARK,
	PROBE_START,
	PROBE_STOP,
	PROBE_CAUSE, /* the cause for which a thread collects, as text, or that it does not */
};

/* Return whether a hit means something for the recording itself. */
static inline bool probe_is_cue(enum probe_meaning meaning)
{
	return meaning >= PROBE_MARK && meaning <= PROBE_STOP;
}

/* Return whether a hit wakes the recorder, since it begins or ends the recording. */
static inline bool probe_wakes(enum probe_meaning meaning)
{
	return meaning == PROBE_START || meaning == PROBE_STOP;
}

/* Events of which the stacks of hits are taken; number + 1 of each is in probe_row.stacks. */
enum hit_event {
	HIT_EXCEPTION, /* an exception is made: EVENT_EXCEPTIONS */
	HIT_ALLOCATION, /* an object is allocated in the slow path: EVENT_ALLOCATIONS */
	HIT_EVENTS,
};

struct probe_row {
	enum probe_origin origin;
	const char *provider; /* of a note; for a function the runtime: hotspot, python */
	const char *name;
	unsigned int parts; /* enum probe_part */
	enum probe_meaning meaning;
	/*
	 * Texts: index of the argument with the address, and of that with the length in bytes, each
	 * + 1. Length 0: the text ends with a NUL. Address 0: no text.
	 */
	struct {
		uint8_t address, length;
	} texts[PROBE_TEXTS_MAX];
	uint8_t arguments; /* how many are sent: the first ones */
	/* of a function: bits, which of the arguments are addresses of 8 bytes to be sent instead
	 */
	uint8_t pointers;
	uint8_t stacks; /* 1 + enum hit_event; 0: no stacks of its hits are taken */
	const char *reports; /* in words, for doctor --probes */
	const char *rate; /* how often to expect it, in words */
};

extern const struct probe_row probe_rows[];
extern const unsigned int probe_row_count;

/* Return whether stacks are taken of an event, with these parts. */
bool probe_parts_have_stacks(unsigned int parts, enum hit_event event);
/* Return the name of the event of the samples that these stacks are. */
const char *hit_event_name(enum hit_event event);

#endif
