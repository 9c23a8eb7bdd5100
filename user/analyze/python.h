/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a profile does with Python: the names that its frames are shown by, and the frames of
 * interpreters that are left out. Parts of profile.c; everybody else finds it done.
 */
#ifndef SKEIN_ANALYZE_PYTHON_H
#define SKEIN_ANALYZE_PYTHON_H

#include "analyze/names.h"
#include "analyze/profile.h"

/*
 * Name Python's functions, and its frames by function or by line, as "function (file.py:line)". Two
 * that differ in nothing but the folder of their file are named with the whole path. Texts are kept
 * in *texts. 0 or -ENOMEM.
 */
int python_name(struct profile *p, struct names *texts, bool by_line);

/*
 * Join frames of Python to each other where only the interpreter stands between them: loops that
 * run them, and what does nothing but call such a loop. 0 or -ENOMEM, and nothing changed.
 */
int python_fold(struct profile *p);

/*
 * Leave nothing but Python's frames in stacks that have some: what native and kernel functions do
 * counts as the Python function's that called them. 0 or -ENOMEM, and nothing changed.
 */
int python_alone(struct profile *p);

/* Samples of one event that have to do with Python, and frames of their stacks. */
struct python_share {
	uint64_t samples; /* of threads of interpreters */
	uint64_t gil, no_gil; /* held the interpreter's lock, or did not */
	uint64_t collecting; /* garbage */
	uint64_t unread; /* frames and state could not be read yet */
	uint64_t frames, named; /* Python's, in every sample's stack anew */
	uint64_t freed; /* of frames without a name: their code was gone before it was read */
};

/* 0 or -ENOMEM. */
int python_share_of(struct python_share *ret, const struct profile *p, uint32_t event);

#endif
