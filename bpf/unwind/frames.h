/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * One step of the loop over a stack's frames, which stores the stack as words (event.h). The caller
 * provides the memory for the walk (struct user_walk).
 */
#ifndef SKEIN_BPF_UNWIND_FRAMES_H
#define SKEIN_BPF_UNWIND_FRAMES_H

#include "bpf/event.h"
#include "bpf/unwind/hotspot.h"
#include "bpf/unwind/python_layout.h"
#include "bpf/unwind/walk.h"

#define UNFINISHED_WORDS (sizeof(struct wire_unfinished) / sizeof(__u64))
#define STACK_WORDS (WIRE_STACK_BYTES / sizeof(__u64))
#define OUTER_WORDS (WIRE_OUTER_BYTES / sizeof(__u64))
#define WALK_WORDS \
	(WIRE_WAIT_WORDS + WIRE_MAX_KERNEL + WIRE_MAX_USER + 2 * WIRE_MAX_PYTHON + \
	 UNFINISHED_WORDS + STACK_WORDS + OUTER_WORDS + 1)

struct user_walk {
	struct native_walk walk;
	__u32 at; /* words written, including the kernel's frames and a struct wire_wait */
	__u32 first; /* index of the first user frame */
	__u32 most; /* maximum number of user frames to write */
	__u32 status; /* enum walk_status */
	__u64 begun; /* time at which the stack of a wait or a waker was begun, ns */
	/* the interpreter whose Python frames are walked after the native ones */
	struct python_process python;
	struct wire_sample sample; /* the record sent begins here */
	__u64 words[WALK_WORDS];
};

/*
 * Leave a frame that may be in the code of a JVM, whose pc is the last word, and write its words in
 * place of pc. Return as native_walk_step(); WALK_UNMAPPED: it is not.
 */
HOTSPOT_FUNCTION int user_walk_leave_java(struct user_walk *u)
{
	struct native_walk *w = u ? &u->walk : NULL;
	__u64 at, *to; /* 64 bits: Linux 6.1's verifier is less exact about halves of registers */
	int status;

	if (!w)
		return WALK_FINISHED;
	status = hotspot_walk_step(w);
	if (!w->java.found)
		return status;
	/* the index of the frame that user_walk_step() has just written */
	at = u->at - 1U;
	u->sample.java |= WIRE_JAVA_FRAMES | (w->java.fresh ? WIRE_JAVA_NEW : 0);
	keep_in_register(at);
	if (at > WALK_WORDS - 2 || at - u->first + 2 > u->most)
		return native_walk_end(w, WALK_END_DEPTH);
	to = &u->words[at];
	to[0] = w->java.words[0];
	to[1] = w->java.words[1];
	u->at = at + 2;
	return status;
}

#ifndef WALK_KNOWN_FRAMES
#define WALK_KNOWN_FRAMES 1 /* Java frames are tried before native ones, and known ones first */
#endif

/* Leave the current frame as hotspot_leave_known() does, and write its words. */
static __always_inline int user_walk_leave_known(struct user_walk *u)
{
	__u64 at = u->at, *to;
	int status;

	keep_in_register(at);
	if (at > WALK_WORDS - 2 || at - u->first + 2 > u->most)
		return WALK_JAVA;
	status = hotspot_leave_known(&u->walk);
	if (status == WALK_JAVA)
		return status;
	to = &u->words[at];
	to[0] = u->walk.java.words[0];
	to[1] = u->walk.java.words[1];
	u->at = at + 2;
	return status;
}

/*
 * Write the current frame, then leave it. java: frames of JVMs may come. Return 0 if there are more
 * frames.
 */
static __always_inline int user_walk_step(struct user_walk *u, bool java)
{
	struct native_walk *w = &u->walk;
	__u32 at = u->at;
	__u64 tag = w->exact && at != u->first ? (__u64)WIRE_TAG_EXACT << WIRE_TAG_SHIFT : 0;

	if (WALK_KNOWN_FRAMES && java && w->java_left) {
		u->status = user_walk_leave_known(u);
		if (u->status != WALK_JAVA)
			return u->status != WALK_CALLER;
	}
	if (at >= WALK_WORDS)
		return 1;
	u->words[at] = w->pc | tag;
	if (at - u->first >= u->most) {
		w->end = WALK_END_DEPTH;
		u->status = WALK_FINISHED;
		return 1;
	}
	u->at = at + 1;
	/* first, since the caller of a Java frame mostly is one, too */
	u->status = WALK_UNMAPPED;
	if (WALK_KNOWN_FRAMES && java && hotspot_expects_java(w))
		u->status = user_walk_leave_java(u);
	if (u->status == WALK_UNMAPPED) {
		u->status = native_walk_step(w);
		if (u->status == WALK_CALLER)
			return 0;
		if (java && w->hotspot && (u->status == WALK_JAVA || u->status == WALK_UNMAPPED))
			u->status = user_walk_leave_java(u);
	}
	if (u->status == WALK_UNMAPPED && w->settled) {
		/* outside of code, only the first frame is kept: the thread was sampled there */
		if (at != u->first)
			u->at = at;
		w->end = WALK_END_UNMAPPED;
		u->status = WALK_FINISHED;
	}
	if (u->status == WALK_UNMAPPED || u->status == WALK_PENDING)
		u->at = at;
	return u->status != WALK_CALLER;
}

#endif
