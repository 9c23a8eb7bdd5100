/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the words of a sample to one path of frames: native frames and those of
 * Python come apart (bpf/event.h), and are put here in the order in which they
 * called each other. Pure: what lies at an address is asked of the caller.
 *
 * A native call of Python's evaluation loop ("loop" below) runs one segment of
 * Python frames, which follow it towards the leaf. Which loop runs which
 * segment is not told, only counted:
 *
 *   as many of both   each has its own
 *   one loop more     the innermost has linked no frame yet, or has just unlinked it: so it is
 *                     for some instructions at begin and end of every call, with hardly anything
 *                     called
 *   more loops yet    the outer ones are of a greenlet that does not run
 *   else              frames are missing (of a second interpreter that is mapped), or are another
 *                     thread's: up to 3.11 an interpreter that one thread has made and another
 *                     one runs tells the former's number. No Python frame is put, and the stack
 *                     ends in END_PYTHON
 *
 * and if either side lacks its outer end, from the innermost outwards.
 */
#ifndef SKEIN_CAPTURE_PATH_H
#define SKEIN_CAPTURE_PATH_H

#include "bpf/event.h"
#include "capture/intern.h"

enum path_kind { PATH_KERNEL, PATH_USER, PATH_PYTHON };

struct path_frame {
	uint64_t address; /* within the call that left the frame; of Python, the code object's */
	uint64_t place; /* of Python: PYTHON_PLACE() */
	uint8_t kind; /* enum path_kind */
	bool loop; /* an evaluation loop */
};

#define PATH_FRAMES (WIRE_MAX_KERNEL + WIRE_MAX_USER + WIRE_MAX_PYTHON)

enum path_code {
	PATH_UNMAPPED, /* no code: a walk that comes there has gone astray */
	PATH_CODE,
	PATH_LOOP,
};

/* Of the process of a stack. */
struct path_space {
	enum path_code (*code)(const void *context, uint64_t address);
	/* Whether code there lets go of one stack and goes on with another, as greenlet's does. */
	bool (*switches)(const void *context, uint64_t address);
	const void *context;
};

/* Large: not for the stack of a thread. */
struct path {
	enum stack_end end;
	bool loops; /* the user part has some, with frames of Python or not */
	unsigned int count;
	struct path_frame frames[PATH_FRAMES]; /* outermost first */
	/* while it is made, each innermost first */
	unsigned int user_count, loop_count, python_count, segment_count;
	bool native_whole, python_whole; /* up to the outermost frame */
	struct path_frame user[WIRE_MAX_USER];
	struct path_frame python[WIRE_MAX_PYTHON];
	uint16_t segments[WIRE_MAX_PYTHON + 1]; /* where in python[] the next one begins */
};

/*
 * The path of raw, of which only words, their counts and ends are used. What is malformed among
 * Python's words is left out, and the stack then ends in END_PYTHON.
 */
void path_make(struct path *ret, const struct raw_stack *raw, const struct path_space *space);

#endif
