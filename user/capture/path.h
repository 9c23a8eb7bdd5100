/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the words of a sample into one path of frames. Native frames and Python frames arrive
 * separately (bpf/event.h), and are put into the order in which they called each other. Pure
 * functions: the caller passes those that look up an address.
 *
 * A native call of Python's evaluation loop ("loop" below) runs one segment of Python frames, which
 * follow it towards the leaf. The sample does not contain which loop runs which segment; this is
 * inferred from the numbers of loops and segments:
 *
 *   equal numbers     each loop runs one segment
 *   one loop more     the innermost loop has not linked its frame yet, or has just unlinked it;
 *                     this is so for a few instructions at the start and end of every call, in
 *                     which it calls hardly anything
 *   several more      the outer loops belong to a greenlet that does not run
 *   no loops          in a complete stack: the Python frames are those of the parent of a process
 *                     that posix_spawn() is making. No Python frame is put
 *   otherwise         frames are missing (of a second interpreter that is mapped), or belong to
 *                     another thread: up to 3.11, if one thread has made an interpreter and another
 *                     thread runs it, the interpreter has the number of the former. No Python frame
 *                     is put, and the stack ends in END_PYTHON
 *
 * If the list of loops or that of segments lacks its outer end, loops and segments are matched from
 * the innermost outwards.
 */
#ifndef SKEIN_CAPTURE_PATH_H
#define SKEIN_CAPTURE_PATH_H

#include "bpf/event.h"
#include "capture/intern.h"

enum path_kind { PATH_KERNEL, PATH_USER, PATH_PYTHON, PATH_JAVA };

struct path_frame {
	/*
	 * native frame: an address within the call instruction of a caller, or the pc of the
	 * innermost frame and of a frame that a signal interrupted; PATH_PYTHON: address of the
	 * code object; PATH_JAVA: the frame's first word, with its tag
	 */
	uint64_t address;
	uint64_t place; /* PATH_PYTHON: PYTHON_PLACE(); PATH_JAVA: the frame's second word */
	uint8_t kind; /* enum path_kind */
	bool loop; /* the frame is an evaluation loop */
};

#define PATH_FRAMES (WIRE_MAX_KERNEL + WIRE_MAX_USER + WIRE_MAX_PYTHON)

enum path_code {
	PATH_UNMAPPED, /* not code: a stack walk that yields such an address has gone wrong */
	PATH_CODE,
	PATH_LOOP,
};

/* Lookups in the address space of a stack. */
struct path_space {
	enum path_code (*code)(const void *context, uint64_t address);
	/* Return whether the code there switches to another stack, as greenlet's does. */
	bool (*switches)(const void *context, uint64_t address);
	const void *context;
};

/* A path, and the work area of path_make(). Too large for a thread's stack. */
struct path {
	enum stack_end end;
	/* the user part has evaluation loops, whether Python frames belong to them or not */
	bool loops;
	unsigned int count;
	struct path_frame frames[PATH_FRAMES]; /* outermost first */
	/* work area of path_make(); each array innermost first */
	unsigned int user_count, loop_count, python_count, segment_count;
	bool native_whole, python_whole; /* complete up to the outermost frame */
	struct path_frame user[WIRE_MAX_USER];
	struct path_frame python[WIRE_MAX_PYTHON];
	uint16_t segments[WIRE_MAX_PYTHON + 1]; /* index in python[] at which each segment begins */
};

/*
 * Make the path of raw, of which only the words, their counts and ends are used. Malformed Python
 * words are left out, and the stack then ends in END_PYTHON.
 */
void path_make(struct path *out, const struct raw_stack *raw, const struct path_space *space);

#endif
