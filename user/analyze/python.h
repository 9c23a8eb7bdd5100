/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handle Python in a profile: names for Python frames, and removing the frames of interpreters.
 * These are steps of profile.c; other code sees the result.
 */
#ifndef SKEIN_ANALYZE_PYTHON_H
#define SKEIN_ANALYZE_PYTHON_H

#include "analyze/names.h"
#include "analyze/profile.h"

/*
 * Name Python functions, and Python frames by function or by line, as "function (file.py:line)".
 * Names that differ only in the folder of the file have the whole path. The texts are kept in
 * *texts. Return 0 or -ENOMEM.
 */
int python_name_frames(struct profile *p, struct names *texts, bool by_line);

/*
 * Join Python frames to each other where only frames of the interpreter are between them:
 * evaluation loops that run these frames, and functions that do nothing but call such a loop.
 * Return 0, or -ENOMEM with nothing changed.
 */
int python_fold(struct profile *p);

/* Return whether a function of the interpreter only runs Python code, or passes a call on. */
bool python_is_trampoline(const char *name);

/*
 * Leave only the Python frames, and the mark of the stack's end, in stacks that have Python frames:
 * samples of native and kernel functions count for the Python function that called them. Return 0,
 * or -ENOMEM with nothing changed.
 */
int python_alone(struct profile *p);

/* The samples of one event that belong to Python threads, and the Python frames of their stacks. */
struct python_share {
	uint64_t samples; /* samples of threads that run Python */
	uint64_t gil, no_gil; /* samples of threads that held the interpreter's lock, or did not */
	uint64_t collecting; /* samples of threads that collected garbage */
	uint64_t unread; /* samples whose frames and state could not be read yet */
	uint64_t frames, named; /* Python frames, counted once for every sample */
	uint64_t freed; /* frames whose code or process was gone before the name was read */
};

/* Compute the share of an event. Return 0 or -ENOMEM. */
int python_share_of(struct python_share *out, const struct profile *p, uint32_t event);

#endif
